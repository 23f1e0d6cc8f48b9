"""Scores of readings against their formulas, averages against hand values, and combining generators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from assay.ask import (
    all_then_each_left_out,
    attempt,
    average,
    each_left_out,
    predict,
    rng,
    together,
    value,
)
from assay.engine import Engine
from assay.testing.toys import Toy
from assay.types import (
    OWN,
    Asking,
    BadInput,
    Edit,
    Example,
    Noise,
    Probe,
    ProbeFailed,
    Reading,
    Target,
    Variants,
)

OUTPUTS = ("loss", "prob", "logit", "logprob", "logodds")
logits = hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 2), st.integers(2, 5)),
                    elements=st.floats(-20, 20))  # fmt: skip


def plain(z: np.ndarray, head: str, output: str, index: int) -> float:
    """One head, one row, straight from the definition."""
    p = np.exp(z) / np.exp(z).sum() if head == "softmax" else 1 / (1 + np.exp(-z))
    q = float(p[index])
    rest = float(np.delete(p, index).sum()) if head == "softmax" else 1 - q
    table = {"loss": np.log(q), "logprob": np.log(q), "prob": q, "logit": z[index], "logodds": np.log(q / rest)}
    return float(table[output])


@pytest.mark.parametrize("output", OUTPUTS)
@given(z=logits, data=st.data())
def test_value_of_a_softmax_head(output: str, z: np.ndarray, data: Any) -> None:
    index = tuple(data.draw(st.integers(0, z.shape[2] - 1)) for _ in range(z.shape[1]))
    got = value(Reading({"logits": z}), Target(index), output)
    want = [sum(plain(z[r, h], "softmax", output, i) for h, i in enumerate(index)) for r in range(len(z))]
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("z", [-3.0, 0.0, 2.5])
def test_value_of_a_binary_head(output: str, z: float) -> None:
    reading = Reading({"logits": np.array([[[-z, z]]])}, "binary")
    for label in (0, 1):
        want = plain(np.array([-z, z]), "binary", output, label)
        assert value(reading, Target((label,)), output) == pytest.approx([want])


@pytest.mark.parametrize("output", OUTPUTS)
@given(z=hnp.arrays(np.float64, (2, 1, 3), elements=st.floats(-15, 15)), label=st.integers(0, 2))
def test_value_of_a_multilabel_head(output: str, z: np.ndarray, label: int) -> None:
    got = value(Reading({"logits": z}, "multilabel"), Target((label,)), output)
    np.testing.assert_allclose(
        got, [plain(z[r, 0], "multilabel", output, label) for r in range(2)], rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("gap", [50.0, 500.0])
@pytest.mark.parametrize("head", ["softmax", "binary", "multilabel"])
def test_log_odds_of_a_saturated_prediction_are_finite_and_right(head: str, gap: float) -> None:
    z = np.array([[[0.0, gap]]]) if head == "softmax" else np.array([[[-gap, gap]]])
    reading = Reading({"logits": z.astype(np.float32)}, head)
    assert value(reading, Target((1,)), "logodds") == pytest.approx([gap])
    assert value(reading, Target((0,)), "logodds") == pytest.approx([-gap])


def test_log_odds_of_a_saturated_prediction_among_three() -> None:
    reading = Reading({"logits": np.array([[[50.0, 0.0, 0.0]]])})
    assert value(reading, Target((0,)), "logodds") == pytest.approx([50 - np.log(2)])


def test_own_target_is_each_rows_choice_and_near_ties_go_left() -> None:
    z = np.array([[[0.0, 2.0, 1.0]], [[3.0, 3.0 + 1e-9, 0.0]]])
    reading = Reading({"logits": z})
    assert reading.choice.tolist() == [[1], [0]]
    assert value(reading, OWN, "logit") == pytest.approx([2.0, 3.0])


def test_contrast_is_a_difference_and_its_log_odds_are_of_two_classes_alone() -> None:
    reading = Reading({"logits": np.array([[[1.0, 3.0, -2.0]]])})
    target = Target((1,), (0,))
    assert value(reading, target, "logit") == pytest.approx([2.0])
    assert value(reading, target, "logprob") == pytest.approx([2.0])
    assert value(reading, target, "logodds") == pytest.approx([2.0])
    p = np.exp([1.0, 3.0, -2.0]) / np.exp([1.0, 3.0, -2.0]).sum()
    assert value(reading, target, "prob") == pytest.approx([p[1] - p[0]])


def test_a_target_that_does_not_fit_is_refused() -> None:
    reading = Reading({"logits": np.zeros((1, 1, 2))})
    for index in ((2,), (-1,), (0, 0)):
        with pytest.raises(BadInput, match=r"1 head\(s\) of 2 classes"):
            value(reading, Target(index), "logit")
    with pytest.raises(BadInput, match="unknown output 'odds'"):
        value(reading, Target((0,)), "odds")


def test_a_model_of_probabilities_has_no_logit() -> None:
    reading = Reading({"logp": np.log(np.array([[[0.2, 0.8]]]))})
    assert value(reading, Target((1,)), "logodds") == pytest.approx([np.log(4)])
    with pytest.raises(BadInput, match="use output prob, logprob or logodds"):
        value(reading, Target((1,)), "logit")


# -------------------------------------------------------------------------------------------- averaging


def test_average_is_of_probabilities() -> None:
    p = np.array([[[0.9, 0.1]], [[0.5, 0.5]], [[0.2, 0.8]]])
    edit = Edit(np.zeros((3, 2), dtype=np.int32))
    variants = Variants(edit, np.array([0, 0, 1]), np.array([0.25, 0.75, 1.0]))
    got = average(Reading({"logp": np.log(p)}), variants, 2)
    np.testing.assert_allclose(np.exp(got.logp[:, 0]), [[0.6, 0.4], [0.2, 0.8]], atol=1e-12)


def test_average_of_logits_and_a_weight_of_zero() -> None:
    z = np.array([[[0.0, 2.0]], [[0.0, -4.0]], [[0.0, 99.0]]])
    edit = Edit(np.zeros((3, 1), dtype=np.int32))
    variants = Variants(edit, np.array([0, 0, 0]), np.array([0.5, 0.5, 0.0]))
    got = average(Reading({"logits": z}), variants, 1)
    assert got["logits"][0, 0] == pytest.approx([0.0, -1.0])
    p = (1 / (1 + np.exp(-2.0)) + 1 / (1 + np.exp(4.0))) / 2
    assert np.exp(got.logp[0, 0, 1]) == pytest.approx(p)


def test_plain_variants_are_not_touched() -> None:
    reading = Reading({"logits": np.ones((2, 1, 2))})
    assert average(reading, Variants.plain(Edit(np.zeros((2, 3), dtype=np.int32))), 2) is reading


def test_keep_matrices() -> None:
    x = Toy({}).read(Example("1", {"text": "a b c"}))
    assert each_left_out(x).astype(int).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert all_then_each_left_out(x).astype(int).tolist() == [[1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_draws_depend_on_seed_example_and_purpose_only() -> None:
    one, two = Toy({"a": 1.0}), Toy({"a": 2.0}, name="other")
    x, same = one.read(Example("1", {"text": "a b"})), two.read(Example("2", {"text": "a b"}))
    other = one.read(Example("1", {"text": "a c"}))
    draw = rng(0, x, "p").random(4).tolist()
    assert rng(0, same, "p").random(4).tolist() == draw
    assert all(r.random(4).tolist() != draw for r in (rng(1, x, "p"), rng(0, x, "q"), rng(0, other, "p")))


# ------------------------------------------------------------------------------------- combining generators

MODEL = Toy({"good": 2.0})
X = MODEL.read(Example("1", {"text": "good day"}))


def asks(times: int, result: Any = None) -> Asking:
    for _ in range(times):
        yield Probe(X, Edit.none(X))
    return result


def fails(after: int, error: Exception) -> Asking:
    yield from asks(after)
    raise error


def test_together_returns_results_in_order_whatever_their_length() -> None:
    got = Engine(MODEL).ask(together([asks(3, "a"), asks(0, "b"), asks(1, "c")]))
    assert got == ["a", "b", "c"]


def test_together_nests() -> None:
    def lists() -> Asking:
        pair = yield [Probe(X, Edit.none(X)), Probe(X, Edit.none(X, 3))]
        return [r.rows for r in pair]

    inner = together([asks(2, "a"), together([lists(), asks(1, "b")])])
    assert Engine(MODEL).ask(together([inner, asks(1, "c")])) == [["a", [[1, 3], "b"]], "c"]


def test_together_pools_the_questions_of_one_step() -> None:
    first = together([asks(1), asks(1), together([asks(1), asks(1)])]).send(None)
    assert len(first) == 4


def test_a_fault_in_together_is_raised_to_its_owner() -> None:
    with pytest.raises(KeyError):
        Engine(MODEL).ask(together([asks(1), fails(1, KeyError("x"))]))


def test_attempt_turns_failure_into_a_reason() -> None:
    engine = Engine(MODEL)
    assert engine.ask(attempt(fails(1, BadInput("too short")))).reason == "too short"
    outcome = engine.ask(attempt(fails(0, KeyError("x"))))
    assert (outcome.result, outcome.reason) == (None, "KeyError: 'x'")
    assert isinstance(outcome.error, KeyError)


def test_attempt_counts_what_was_asked_also_before_a_failure() -> None:
    engine = Engine(MODEL)
    ok = engine.ask(attempt(asks(3, "done")))
    assert (ok.result, ok.reason, ok.cost.rows, ok.cost.fresh) == ("done", "", 3, 1)
    assert engine.ask(attempt(fails(2, BadInput("x")))).cost.rows == 2


def test_ctrl_c_is_not_a_reason() -> None:
    with pytest.raises(KeyboardInterrupt):
        Engine(MODEL).ask(attempt(fails(1, KeyboardInterrupt())))  # type: ignore[arg-type]  # it is no Exception


BAD = Noise(1.0, np.array([1]))


def refused() -> Asking:
    yield Probe(X, Edit.none(X), noise=BAD)
    return "never"


def test_a_failed_question_reaches_its_asker_through_every_level() -> None:
    """together inside attempt inside together: only the one whose question failed has a reason."""
    engine = Engine(MODEL.without("noise"))
    inner = together([attempt(refused()), attempt(asks(2, "fine"))])
    outer = engine.ask(together([attempt(inner), asks(1, "beside")]))
    assert outer[1] == "beside"
    assert outer[0].reason == ""
    broken, fine = outer[0].result
    assert "cannot give noise" in broken.reason
    assert fine.result == "fine"


def test_a_failed_question_can_be_caught_at_its_yield_below_attempt() -> None:
    def careful() -> Asking:
        try:
            yield Probe(X, Edit.none(X), noise=BAD)
        except ProbeFailed:
            reading = yield from predict(X)
            return value(reading, Target((1,)), "logit")[0]

    got = Engine(MODEL.without("noise")).ask(together([attempt(careful()), attempt(refused())]))
    assert got[0].result == pytest.approx(2.3)
    assert got[1].result is None
