"""The engine: nothing asked twice, equal lengths packed, failures raised where they were asked and nowhere else."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import pytest

from assay.ask import all_then_each_left_out, attempt, outcomes, predict, score, together, value
from assay.engine import Done, Engine
from assay.testing.toys import Recorder, Toy
from assay.types import (
    DROP,
    FILL,
    KEEP,
    MASK,
    Asking,
    Bools,
    Edit,
    Example,
    Input,
    Noise,
    Probe,
    ProbeFailed,
    Reading,
    Target,
    Variants,
)

WORDS = {"good": 2.0, "fine": 0.5, "dull": -1.0, "bad": -2.5}
YES = Target((1,))


def toy(**settings: Any) -> Toy:
    return Toy(WORDS, **settings)


def read(model: Any, text: str = "good but dull", name: str = "e1") -> Input:
    return model.read(Example(name, {"text": text}))


def delete(x: Input, keep: Bools) -> Asking:
    yield from ()
    return Variants.plain(Edit.where_gone(x, keep, DROP))


def leave_one_out(x: Input) -> Generator[Any, Any, Any]:
    f = yield from score(x, YES, "logit", all_then_each_left_out(x), delete)
    return f[0] - f[1:]


class Picky(Toy):
    """Fails on any batch with a row that lacks the word ``good``."""

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        for p in probes:
            at = [i for i, w in enumerate(p.x.words) if w == "good"]
            if (p.edit.codes[:, at] == DROP).any():
                raise RuntimeError("no good")
        return super().answer(probes)


class NotANumber(Toy):
    """Answers NaN for rows that lack the word ``good``."""

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        out = []
        for p, r in zip(probes, super().answer(probes), strict=True):
            lacks = (p.edit.codes[:, [i for i, w in enumerate(p.x.words) if w == "good"]] == DROP).any(axis=1)
            out.append(Reading({"logits": np.where(lacks[:, None, None], np.nan, r["logits"])}, r.head))
        return out


# ------------------------------------------------------------------------------------------ asking once


def test_scores_are_the_weights() -> None:
    model = toy()
    assert Engine(model).ask(leave_one_out(read(model))) == pytest.approx([2.0, 0.0, -1.0])


def test_a_row_asked_twice_reaches_the_model_once() -> None:
    model = Recorder(toy())
    x = read(model)

    def case() -> Asking:
        one = yield from leave_one_out(x)
        two, three = yield from together([leave_one_out(x), leave_one_out(x)])
        twice: Reading = yield Probe(x, Edit.none(x, 2))
        return one, two, three, twice

    one, two, three, twice = Engine(model).ask(case())
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)
    assert twice["logits"][:, 0, 1] == pytest.approx([1.3, 1.3])  # 0.3 + 2 - 1
    assert len(model.rows) == len(set(model.rows)) == 4


def test_rows_are_not_shared_between_cases() -> None:
    model = Recorder(toy())
    xs = [read(model, name=n) for n in ("a", "b")]
    done = list(Engine(model).run((x.example.id, leave_one_out(x)) for x in xs))
    assert len(done) == 2
    assert len(model.rows) == 8


def test_cost_tells_rows_from_fresh_rows() -> None:
    model = toy()
    x = read(model)

    def case() -> Asking:
        first = yield Probe(x, Edit.none(x))
        second = yield Probe(x, Edit.where_gone(x, all_then_each_left_out(x), DROP))
        return first.cost, second.cost

    first, second = Engine(model).ask(case())
    assert (first.rows, first.fresh, first.tokens) == (1, 1, 4)
    assert (second.rows, second.fresh, second.tokens) == (4, 3, 9)


@pytest.mark.parametrize(
    "change",
    [
        {"scale": np.array([0.0])},
        {"scale": np.array([0.0]), "how": (("base", "pad"),)},
        {"scale": np.array([0.5])},
        {"noise": Noise(0.5, np.array([1]))},
        {"noise": Noise(0.5, np.array([2]))},
        {"noise": Noise(0.1, np.array([1]))},
        {"attention": np.array([[0.1, 0.2, 0.3, 0.4]])},
        {"attention": np.array([[0.4, 0.3, 0.2, 0.1]])},
        {"edit": Edit(np.array([[KEEP, FILL, KEEP, KEEP]], dtype=np.int32), ("fine",))},
        {"edit": Edit(np.array([[KEEP, FILL, KEEP, KEEP]], dtype=np.int32), ("bad",))},
        {"edit": Edit(np.array([[KEEP, MASK, KEEP, KEEP]], dtype=np.int32))},
    ],
)
def test_whatever_changes_the_answer_makes_another_question(change: dict[str, Any]) -> None:
    """Every question is asked after all the others of this list, and must not get one of their answers."""
    model = toy(bend=0.1)
    x = read(model)
    others = [m for m in test_whatever_changes_the_answer_makes_another_question.pytestmark if m.name == "parametrize"]

    def probe(given: dict[str, Any]) -> Probe:
        return Probe(x, **{"edit": Edit.none(x), **given})

    def case() -> Asking:
        for other in others[0].args[1]:
            yield probe(other)
        return (yield probe(change))

    np.testing.assert_array_equal(Engine(model).ask(case())["logits"], model.answer([probe(change)])[0]["logits"])


def test_wanted_arrays_depend_on_target_and_output() -> None:
    model = toy()
    x = read(model)

    def case() -> Asking:
        out = {}
        for target in (Target((0,)), YES, Target((1,), (0,))):
            for output in ("logit", "prob", "logprob", "logodds"):
                out[target, output] = yield Probe(x, Edit.none(x), frozenset({"dot"}), target, output)
        return out

    p = 1 / (1 + np.exp(-1.3))
    expected = {"logit": 1.0, "prob": p * (1 - p), "logprob": 1 - p, "logodds": 1.0}
    contrast = {"logit": 2.0, "prob": 2 * p * (1 - p), "logprob": 1.0, "logodds": 1.0}
    for (target, output), reading in Engine(model).ask(case()).items():
        q = {"logprob": p}.get(output, expected[output])
        slope = contrast[output] if target.against else expected[output] if target.index == (1,) else -q
        np.testing.assert_allclose(reading["dot"][0], slope * np.array([0.3, 2.0, 0.0, -1.0]), atol=1e-12)


def test_memory_of_answers_dies_with_the_case() -> None:
    model = toy()
    alive: list[weakref.ref[Any]] = []  # an array that lives as long as its Input

    def cases() -> Any:
        for i in range(60):
            x = read(model, name=str(i))
            alive.append(weakref.ref(x.free))
            yield i, leave_one_out(x)

    most = 0
    for n, _ in enumerate(Engine(model, window=8).run(cases())):
        if n % 20 == 19:
            gc.collect()
            most = max(most, sum(ref() is not None for ref in alive))
    assert 0 < most <= 2 * 8 + 2


# ---------------------------------------------------------------------------------------------- packing


def test_batches_hold_one_length_and_keep_to_the_budget() -> None:
    model = Recorder(toy())
    texts = ["good " * n for n in (1, 2, 3, 5, 5, 3, 9, 9, 9)]
    cases = [(i, leave_one_out(read(model, t, str(i)))) for i, t in enumerate(texts)]
    done = list(Engine(model, budget=24).run(cases))
    assert len(done) == len(texts)
    for batch in model.batches:
        lengths = np.concatenate([model.size(p) for p in batch])
        assert len(set(lengths.tolist())) == 1
        assert lengths.sum() <= 24 or len(lengths) == 1
    full = [sum(p.rows for p in b) for b in model.batches]
    assert max(full) > 1


def test_a_row_longer_than_the_budget_goes_alone() -> None:
    model = Recorder(toy())
    x = read(model, "good " * 30)
    assert Engine(model, budget=4).ask(leave_one_out(x)) == pytest.approx([2.0] * 30)
    assert {sum(p.rows for p in b) for b in model.batches} == {1}


@pytest.mark.parametrize("budget", [1, 7, 64, 100_000])
@pytest.mark.parametrize("window", [1, 3, 64])
def test_results_depend_neither_on_budget_nor_on_window(budget: int, window: int) -> None:
    model = toy(bend=0.2)
    texts = ["good but dull", "bad", "fine fine good bad", "dull " * 7, "good"]
    cases = [(t, leave_one_out(read(model, t, t))) for t in texts]
    got = {d.key: d.result for d in Engine(model, budget=budget, window=window).run(cases)}
    assert set(got) == set(texts)
    for text in texts:
        w = np.array([WORDS.get(t, 0.0) for t in text.split()])
        s = 0.3 + w.sum()
        np.testing.assert_allclose(got[text], w + 0.2 * (2 * s * w - w**2), atol=1e-9)


def test_cases_are_drawn_as_they_are_needed() -> None:
    model = toy()
    drawn: list[int] = []

    def cases() -> Any:
        for i in range(100):
            drawn.append(i)
            yield i, leave_one_out(read(model, name=str(i)))

    running = Engine(model, window=4).run(cases())
    next(running)
    assert len(drawn) <= 5
    running.close()
    assert len(drawn) <= 5


def test_a_case_that_asks_nothing_is_done() -> None:
    def silent() -> Asking:
        yield from ()
        return 7

    def empty_list() -> Asking:
        got = yield []
        return got

    model = toy()
    assert Engine(model).ask(silent()) == 7
    assert Engine(model).ask(empty_list()) == []
    assert Engine(model).ask(together([])) == []


# ---------------------------------------------------------------------------------------------- failure


@pytest.mark.parametrize("kind", [Picky, NotANumber])
def test_a_bad_row_fails_alone(kind: type[Toy]) -> None:
    """Two methods on one example, one of which asks a bad row; and other examples in the same batches."""
    model = kind(WORDS)
    bad, fine = read(model, "good but dull", "e-bad"), read(model, "dull but fine", "e-fine")

    def case() -> Asking:
        whole = predict(bad)
        return (yield from together([attempt(leave_one_out(bad)), attempt(whole)]))

    done = {d.key: d for d in Engine(model).run([("bad", case()), ("fine", leave_one_out(fine))])}
    broken, whole = done["bad"].result
    assert "e-bad" in broken.reason
    assert isinstance(broken.error, ProbeFailed)
    assert value(whole.result, YES, "logit") == pytest.approx([1.3])
    assert done["fine"].result == pytest.approx([-1.0, 0.0, 0.5])


def test_the_bad_row_alone_is_found_in_a_batch() -> None:
    """A batch of 1 + n rows, one bad: the n good ones are answered, each row at most log2 deep."""
    model = Recorder(Picky(WORDS))
    x = read(model, "good " + "but " * 15)

    def case() -> Asking:
        keep = all_then_each_left_out(x)
        edits = [Edit.where_gone(x, keep[[i]], DROP) for i in range(len(keep))]
        return (yield from together([attempt(_one(Probe(x, e))) for e in edits]))

    out = Engine(model).ask(case())
    assert [bool(o.reason) for o in out] == [False, True] + [False] * 15
    assert len(model.batches) <= 2 + 2 * 4  # one for the whole text, then halving 16


def _one(probe: Probe) -> Asking:
    return (yield probe)


def test_the_message_names_model_example_and_cause() -> None:
    model = Picky(WORDS, name="picky")
    with pytest.raises(ProbeFailed, match="picky on example e1: RuntimeError: no good") as caught:
        Engine(model).ask(leave_one_out(read(model)))
    assert isinstance(caught.value.__cause__, RuntimeError)
    model = NotANumber(WORDS, name="nan")
    with pytest.raises(ProbeFailed, match="nan answers NaN or infinite logits on example e1"):
        Engine(model).ask(leave_one_out(read(model)))


def test_a_generator_may_catch_what_failed_and_go_on() -> None:
    model = Picky(WORDS)
    x = read(model)

    def stubborn() -> Asking:
        try:
            yield from leave_one_out(x)
        except ProbeFailed:
            return (yield from predict(x))

    def by_list() -> Asking:
        try:
            yield [Probe(x, Edit.none(x)), Probe(x, Edit.where_gone(x, ~np.eye(3, dtype=bool), DROP))]
        except ProbeFailed:
            return "caught"

    assert Engine(model).ask(stubborn())["logits"][0, 0, 1] == pytest.approx(1.3)
    assert Engine(model).ask(by_list()) == "caught"
    outcome, text = Engine(model).ask(together([attempt(stubborn()), attempt(by_list())]))
    assert (outcome.reason, text.result) == ("", "caught")


def test_what_a_model_cannot_give_fails_at_its_yield_only() -> None:
    model = toy().without("dot")
    x = read(model)
    wants = _one(Probe(x, Edit.none(x), frozenset({"dot"})))
    refused, fine = Engine(model).ask(together([attempt(wants), attempt(leave_one_out(x))]))
    assert refused.reason == "toy on example e1: cannot give dot"
    assert fine.result == pytest.approx([2.0, 0.0, -1.0])


def test_a_question_without_rows_is_refused_at_its_yield() -> None:
    model = toy()
    x = read(model)
    with pytest.raises(ProbeFailed, match="without rows"):
        Engine(model).ask(_one(Probe(x, Edit(np.zeros((0, x.n), dtype=np.int32)))))


def test_a_model_that_loses_rows_is_told_so() -> None:
    class Loses(Toy):
        def answer(self, probes: Sequence[Probe]) -> list[Reading]:
            return [Reading({"logits": r["logits"][:0]}, r.head) for r in super().answer(probes)]

    model = Loses(WORDS)
    with pytest.raises(ProbeFailed, match="answered"):
        Engine(model).ask(leave_one_out(read(model)))


def test_a_fault_in_one_case_is_reported_and_the_others_go_on() -> None:
    model = toy()

    def faulty() -> Asking:
        yield from predict(read(model))
        raise ZeroDivisionError("mine")

    done: list[Done[str]] = list(Engine(model).run([("a", faulty()), ("b", leave_one_out(read(model)))]))
    by = {d.key: d for d in done}
    assert isinstance(by["a"].error, ZeroDivisionError)
    assert by["b"].error is None


def test_ctrl_c_inside_the_model_stops_the_run() -> None:
    class Interrupted(Toy):
        def answer(self, probes: Sequence[Probe]) -> list[Reading]:
            raise KeyboardInterrupt

    model = Interrupted(WORDS)
    with pytest.raises(KeyboardInterrupt):
        Engine(model).ask(attempt(leave_one_out(read(model))))


# ----------------------------------------------------------------------------- other models, operators that ask


class FillIn(Toy):
    """A toy language model: for a masked feature it offers 'fine' (1/4) and 'bad' (3/4); after 'bad', 'fine' only."""

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        return [Reading({"logp": np.stack([self._offer(p, r) for r in range(p.rows)])}) for p in probes]

    def _offer(self, p: Probe, row: int) -> np.ndarray:
        codes = p.edit.codes[row]
        at = int(np.flatnonzero(codes == MASK)[0])
        before = p.edit.fills[codes[at - 1] - FILL] if codes[at - 1] >= FILL else p.x.words[at - 1]
        p_fine = 1.0 if before == "bad" else 0.25
        with np.errstate(divide="ignore"):
            return np.log(np.array([[p_fine, 1 - p_fine]]))


FILLS = ("fine", "bad")


def marginal(lm: Any, x: Input, keep: Bools) -> Asking:
    """Every single gap filled with each word the language model offers, weighted by its probability."""
    codes = Edit.where_gone(x, keep, MASK).codes
    gaps = [np.flatnonzero(row == MASK) for row in codes]
    asked = np.flatnonzero([len(g) for g in gaps])
    offers: Reading = yield Probe(x, Edit(codes[asked]), to=lm)
    rows, owner, weight = [], [], []
    for i, g in enumerate(gaps):
        p = np.exp(offers.logp[np.flatnonzero(asked == i)[0], 0]) if len(g) else np.array([1.0])
        for k, w in enumerate(p):
            row = codes[i].copy()
            row[g] = FILL + k
            rows.append(row)
            owner.append(i)
            weight.append(w)
    return Variants(Edit(np.stack(rows), FILLS), np.array(owner), np.array(weight))


def left_to_right(lm: Any, x: Input, keep: Bools) -> Asking:
    """The gaps of one row filled one after the other, each time with the likeliest word."""
    codes = Edit.where_gone(x, keep, MASK).codes.copy()
    while (codes == MASK).any():
        offer: Reading = yield Probe(x, Edit(codes, FILLS), to=lm)
        for row, best in enumerate(offer.logp[:, 0].argmax(axis=1)):
            codes[row, np.flatnonzero(codes[row] == MASK)[0]] = FILL + best
    return Variants.plain(Edit(codes, FILLS))


def test_an_operator_may_ask_another_model_and_weigh_its_fills() -> None:
    model, lm = Recorder(toy()), Recorder(FillIn(WORDS, name="lm"))
    x = read(model, "good but")

    def case() -> Asking:
        keep = np.array([[True, True], [False, True]])
        reading = yield from outcomes(x, keep, lambda x, keep: marginal(lm, x, keep))
        return reading

    reading = Engine(model).ask(case())

    def sigmoid(z: float) -> float:
        return float(1 / (1 + np.exp(-z)))

    expected = 0.25 * sigmoid(0.3 + 0.5) + 0.75 * sigmoid(0.3 - 2.5)
    assert np.exp(reading.logp[:, 0, 1]) == pytest.approx([sigmoid(2.3), expected])
    assert value(reading, YES, "logodds")[1] == pytest.approx(np.log(expected / (1 - expected)))
    assert all(p.to is lm for p in lm.probes)
    assert len(lm.rows) == 1
    assert len(model.rows) == 3


def test_an_operator_may_fill_step_after_step() -> None:
    model, lm = Recorder(toy()), Recorder(FillIn(WORDS, name="lm"))
    x = read(model, "good good good")

    def case() -> Asking:
        f = yield from score(x, YES, "logit", np.zeros((1, 3), dtype=bool), lambda x, keep: left_to_right(lm, x, keep))
        return f

    # bad first (3/4), then fine (1 after bad), then bad again
    assert Engine(model).ask(case()) == pytest.approx([0.3 - 2.5 + 0.5 - 2.5])
    assert len(lm.rows) == 3


def test_two_models_in_one_pool_do_not_share_answers() -> None:
    one, two = toy(), Toy({"good": -7.0}, name="other")
    x = read(one)

    def case() -> Asking:
        return (yield [Probe(x, Edit.none(x)), Probe(x, Edit.none(x), to=two)])

    a, b = Engine(one).ask(case())
    assert a["logits"][0, 0, 1] == pytest.approx(1.3)
    assert b["logits"][0, 0, 1] == pytest.approx(-6.7)


def test_total_counts_what_reached_the_model() -> None:
    model = toy()
    engine = Engine(model)
    engine.ask(leave_one_out(read(model)))
    assert (engine.total.rows, engine.total.tokens) == (4, 4 + 3 * 3)
