"""Operators that ask a language model, on one whose fills are known: a table from the word on the left to offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.align import places
from assay.ask import all_then_each_left_out, each_left_out
from assay.engine import Engine
from assay.registry import bind
from assay.removal.fills import inverse_cdf, spread_draws
from assay.testing.toys import Recorder, Toy
from assay.types import DROP, FILL, KEEP, MASK, AssayError, BadInput, Example, Input, Model, Probe, Reading, Variants

OFFERS = {"": {"fine": 0.5, "bad": 0.3}, "fine": {"plain": 0.6, "fine": 0.2}, "plain": {"bad": 0.9}}
"""By the word on the left ('' for every other word); what is missing to one lies outside the vocabulary."""


class Table:
    """A language model that reads words without special tokens, so its features are not those of the toys."""

    name, fingerprint, labels, head, can = "table", "table", (), "softmax", frozenset({"fill"})

    def __init__(self, offers: Mapping[str, Mapping[str, float]] = OFFERS, *, sees: int | None = None) -> None:
        self.offers, self.sees = offers, sees
        self.vocabulary = sorted({w for given in offers.values() for w in given})
        self.shown: list[tuple[str, ...]] = []
        self._read: dict[int, Input] = {}

    def read(self, example: Example, unit: str = "word") -> Input:
        if id(example) not in self._read:
            found = places(example, unit)[: self.sees]
            cut = "" if self.sees is None else "the rest of text"
            self._read[id(example)] = Input(example, unit, found, np.ones(len(found), dtype=bool), cut)
        return self._read[id(example)]

    def word(self, number: int) -> str:
        return self.vocabulary[number]

    def size(self, probe: Probe) -> NDArray[np.int64]:
        return np.full(probe.rows, probe.x.n, dtype=np.int64)

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        return [self._reading(p) for p in probes]

    def _reading(self, p: Probe) -> Reading:
        top = dict(p.how)["top"]
        shape = p.edit.codes.shape
        ids, prob = np.full((*shape, top), -1), np.zeros((*shape, top))
        own, own_p = np.full(shape, -1), np.full(shape, np.nan)
        for row in range(p.rows):
            words = said(p.x, p.edit.codes[row], p.edit.fills)
            self.shown.append(tuple(words))
            for at in np.flatnonzero(p.edit.codes[row] == MASK):
                given = self.offers.get(words[at - 1] if at else "", self.offers[""])
                for k, word in enumerate(sorted(given, key=lambda w: -given[w])[:top]):
                    ids[row, at, k], prob[row, at, k] = self.vocabulary.index(word), given[word]
                if p.x.words[at] in self.vocabulary:
                    own[row, at] = self.vocabulary.index(p.x.words[at])
                    own_p[row, at] = given.get(p.x.words[at], 0.0)
        return Reading({"fill": ids, "fill_p": prob, "own": own, "own_p": own_p})


def said(x: Input, codes: NDArray[np.int32], fills: Sequence[str]) -> list[str]:
    """A row as words; a gap is '_'."""
    return [w if c == KEEP else fills[c - FILL] if c >= FILL else "_" for w, c in zip(x.words, codes, strict=True)]


TOY = Toy({"fine": 1.0})


def read(*texts: str) -> Input:
    return TOY.read(Example("1", {f"field{i}": t for i, t in enumerate(texts)}))


def run(spec: str, x: Input, keep: Any, lm: Table | None = None) -> Variants:
    operator = bind("removals", spec, {"models": lambda _: lm or Table()})
    made: Variants = Engine(TOY).ask(operator(x, np.array(keep, dtype=bool)))
    return made


def texts(x: Input, made: Variants) -> list[str]:
    return [" ".join(said(x, row, made.edit.fills)[1:]) for row in made.edit.codes]


# --------------------------------------------------------------------------------------------------- mlm


def test_the_likeliest_word_takes_the_place_of_a_word() -> None:
    x = read("so good film")
    made = run("mlm", x, [[1, 1, 1], [1, 0, 1], [0, 1, 0]])
    assert texts(x, made) == ["so good film", "so fine film", "fine good fine"]
    assert made.owner.tolist() == [0, 1, 2]
    assert made.weight.tolist() == [1.0, 1.0, 1.0]


def test_a_fill_that_is_the_word_itself_leaves_the_text_untouched() -> None:
    """So the engine recognises the text it has asked about before."""
    x = read("so fine film")
    made = run("mlm", x, [[1, 0, 1]])
    assert made.edit.codes.tolist() == [[KEEP] * 4]


def test_skip_takes_the_second_fill_where_the_first_is_the_word_itself() -> None:
    x = read("so fine film")
    made = run("mlm(same=skip)", x, [[1, 0, 1], [1, 1, 0]])
    assert texts(x, made) == ["so bad film", "so fine plain"]


def test_at_once_every_gap_is_filled_from_one_look() -> None:
    x, lm = read("so good film"), Table()
    assert texts(x, run("mlm", x, [[0, 0, 0]], lm)) == ["fine fine fine"]
    assert lm.shown == [("_", "_", "_")]


def test_from_left_to_right_each_fill_is_seen_by_the_next_and_rows_go_side_by_side() -> None:
    x, lm = read("so good film"), Table()
    made = run("mlm(order=left-to-right)", x, [[0, 0, 0], [1, 0, 0], [1, 1, 1]], lm)
    assert texts(x, made) == ["fine plain bad", "so fine plain", "so good film"]
    assert lm.shown == [
        ("_", "_", "_"),
        ("so", "_", "_"),
        ("fine", "_", "_"),
        ("so", "fine", "_"),
        ("fine", "plain", "_"),
    ]


def test_gaps_in_several_fields() -> None:
    x = read("so good", "a film")
    assert texts(x, run("mlm", x, [[1, 0, 1, 0]])) == ["so fine a fine"]


def test_nothing_taken_away_asks_the_language_model_nothing() -> None:
    x, lm = read("so good"), Table()
    for spec in ("mlm", "mlm(order=left-to-right)", "mlm-sample", "mlm-marginal"):
        made = run(spec, x, [[1, 1], [1, 1]], lm)
        assert made.edit.codes.tolist() == [[KEEP] * 3] * 2
        assert made.owner.tolist() == [0, 1]
    assert lm.shown == []


@pytest.mark.parametrize("spec", ["mlm", "mlm(order=left-to-right)", "mlm-sample", "mlm-marginal"])
def test_a_word_that_the_language_model_cuts_off_is_refused_with_the_reason(spec: str) -> None:
    x = read("so good film")
    with pytest.raises(BadInput, match=r"example 1: table cannot fill 'film': it leaves out the rest of text"):
        run(spec, x, [[1, 1, 0]], Table(sees=2))


def test_words_that_only_the_model_sees_may_stay() -> None:
    x = read("so good film")
    assert texts(x, run("mlm", x, [[1, 0, 1]], Table(sees=2))) == ["so fine film"]


def test_a_language_model_that_offers_nothing_is_refused() -> None:
    x = read("so good")
    for spec in ("mlm", "mlm-sample", "mlm-marginal", "mlm-marginal(original=leave-out)"):
        with pytest.raises(AssayError, match="offers no word"):
            run(spec, x, [[1, 0]], Table({"": {}}))


def test_equal_questions_of_two_operators_are_asked_once() -> None:
    """The language model reads an example into one Input, so the engine knows what was asked before."""
    x, lm = read("so good film"), Table()
    operator = bind("removals", "mlm-marginal", {"models": lambda _: lm})

    def twice() -> Any:
        yield from operator(x, each_left_out(x))
        yield from operator(x, all_then_each_left_out(x))

    Engine(TOY).ask(twice())
    assert len(lm.shown) == 3


# -------------------------------------------------------------------------------------------- mlm-marginal


def test_one_gap_has_every_fill_with_its_renormalised_probability() -> None:
    x = read("so good film")
    made = run("mlm-marginal", x, [[1, 0, 1]])
    assert texts(x, made) == ["so fine film", "so bad film"]
    assert made.weight.tolist() == pytest.approx([0.5 / 0.8, 0.3 / 0.8])
    assert made.detail["fills"] == {2: [("fine", 0.5), ("bad", 0.3)]}
    assert made.detail["mass"] == pytest.approx({2: 0.8})
    assert made.detail["left_out"] == {2: 0.0}


def test_top_and_threshold_bound_the_fills_and_the_likeliest_always_counts() -> None:
    x = read("so good film")
    assert texts(x, run("mlm-marginal(top=1)", x, [[1, 0, 1]])) == ["so fine film"]
    assert texts(x, run("mlm-marginal(threshold=0.4)", x, [[1, 0, 1]])) == ["so fine film"]
    assert texts(x, run("mlm-marginal(threshold=0.9)", x, [[1, 0, 1]])) == ["so fine film"]
    assert len(run("mlm-marginal(threshold=0.3)", x, [[1, 0, 1]]).weight) == 2


def test_the_original_can_be_left_out_and_its_mass_is_told() -> None:
    x = read("so fine film")
    kept = run("mlm-marginal", x, [[1, 0, 1]])
    assert kept.edit.codes[0].tolist() == [KEEP] * 4
    assert kept.weight.tolist() == pytest.approx([0.625, 0.375])
    left = run("mlm-marginal(original=leave-out, top=1)", x, [[1, 0, 1]])
    assert texts(x, left) == ["so bad film"]
    assert left.weight.tolist() == [1.0]
    assert left.detail["left_out"] == {2: 0.5}


def test_several_gaps_are_drawn_jointly_with_equal_weights_that_sum_to_one() -> None:
    x = read("so good film")
    made = run("mlm-marginal(top=8)", x, [[1, 0, 0], [1, 1, 1], [1, 0, 1]])
    assert np.bincount(made.owner, made.weight).tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert (made.weight[made.owner == 0] == 1 / 8).all()
    first = [t.split()[1] for t, o in zip(texts(x, made), made.owner, strict=True) if o == 0]
    assert first.count("fine") == 5, "8 spread draws from (.625, .375) give 5 and 3"
    assert set(made.detail["fills"]) == {2}, "fills are told for questions with one gap"


# ---------------------------------------------------------------------------------------------- mlm-sample


def test_samples_follow_the_distribution_and_the_seed() -> None:
    x = read("so good film")
    made = run("mlm-sample(samples=8)", x, [[1, 0, 1], [1, 1, 1]])
    assert made.owner.tolist() == [0] * 8 + [1]
    assert made.weight.tolist() == pytest.approx([1 / 8] * 8 + [1.0])
    assert texts(x, made)[:8].count("so fine film") == 5
    again, other = (run(f"mlm-sample(samples=8, seed={s})", x, [[0, 0, 0]]) for s in (0, 1))
    assert texts(x, again) == texts(x, run("mlm-sample(samples=8)", x, [[0, 0, 0]]))
    assert texts(x, again) != texts(x, other)


def test_equal_questions_meet_equal_draws_whatever_stands_beside_them() -> None:
    x = read("so good film")
    alone = texts(x, run("mlm-sample", x, [[1, 0, 0]]))
    beside = run("mlm-sample", x, [[0, 0, 0], [1, 0, 0]])
    assert [t for t, o in zip(texts(x, beside), beside.owner, strict=True) if o == 1] == alone


def test_samples_from_left_to_right_follow_the_joint_distribution() -> None:
    """First fine (5/8) or bad; after fine plain (3/4) or fine; after any other word fine or bad as before."""
    x = read("good film")
    made = run("mlm-sample(samples=4000, order=left-to-right)", x, [[0, 0]])
    said_so = texts(x, made)
    assert said_so.count("fine plain") / 4000 == pytest.approx(5 / 8 * 3 / 4, abs=0.03)
    assert said_so.count("bad bad") / 4000 == pytest.approx(3 / 8 * 3 / 8, abs=0.03)


def test_settings_out_of_range_are_refused() -> None:
    x = read("so good")
    for spec in ("mlm-sample(samples=0)", "mlm-sample(top=0)", "mlm-marginal(top=0)", "mlm-marginal(threshold=1.0)"):
        with pytest.raises(BadInput, match="must be 1 or more"):
            run(spec, x, [[1, 0]])


# ------------------------------------------------------------------------------------------------- pieces


def test_spread_draws_put_one_draw_in_every_part() -> None:
    u = spread_draws(3, read("so good film"), 10)
    assert np.sort((u * 10).astype(int), axis=0).tolist() == [[i] * 4 for i in range(10)]


def test_inverse_cdf_never_picks_what_has_no_weight() -> None:
    p = np.array([[0.5, 0.0, 0.5, 0.0]] * 5)
    assert inverse_cdf(p, np.array([0.0, 0.499, 0.5, 0.999, 1.0])).tolist() == [0, 0, 2, 2, 2]


def test_a_table_is_a_model_and_a_row_of_gaps_holds_masks_only() -> None:
    """The question to the language model has masks where words are gone and the text elsewhere."""
    lm = Table()
    assert isinstance(lm, Model)
    x, asked = read("so good"), Recorder(lm)
    asked.word = lm.word  # type: ignore[attr-defined]  # a recorder passes on what models have, this is more
    Engine(TOY).ask(bind("removals", "mlm", {"models": lambda _: asked})(x, np.array([[False, True]])))
    (probe,) = asked.probes
    assert probe.edit.codes.tolist() == [[MASK, KEEP]]
    assert DROP not in probe.edit.codes
