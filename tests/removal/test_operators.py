"""Removal operators: what they edit, and that an operator may ask another model, at once or step after step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay.align import places
from assay.ask import each_left_out, outcomes, score
from assay.engine import Engine
from assay.registry import bind, entries
from assay.types import (
    DROP,
    FILL,
    HIDE,
    KEEP,
    MASK,
    PAD,
    UNK,
    ZERO,
    Asking,
    Bools,
    Edit,
    Example,
    Input,
    Place,
    Probe,
    Reading,
    Target,
    Variants,
    full_keep,
)

CODES = {"delete": DROP, "unk": UNK, "pad": PAD, "mask": MASK, "zero": ZERO, "hide": HIDE}


def text(*words: str) -> Input:
    """A special token and then words."""
    example = Example("1", {"text": " ".join(words)})
    found = (Place("", 0, 0, "[CLS]"), *places(example))
    return Input(example, "word", found, np.array([not p.special for p in found]))


def after(x: Input, edit: Edit, row: int) -> tuple[str, ...]:
    """What a row of an edit says."""
    out = []
    for word, code in zip(x.words[1:], edit.codes[row, 1:].tolist(), strict=True):
        if code != DROP:
            out.append(word if code == KEEP else edit.fills[code - FILL] if code >= FILL else "_")
    return tuple(out)


class Words:
    """A sum of word weights as the log-odds of class 1, and the record of every text it was shown."""

    name, head = "words", "softmax"
    fingerprint: str | None = "words"
    labels: tuple[str, ...] = ("no", "yes")
    can: frozenset[str] = frozenset()

    def __init__(self, weights: dict[str, float]) -> None:
        self.weights, self.shown = weights, list[tuple[str, ...]]()

    def read(self, example: Example, unit: str = "word") -> Input:
        return text(*example.fields["text"].split())

    def size(self, probe: Probe) -> np.ndarray:
        return np.full(probe.rows, probe.x.n)

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        out = []
        for p in probes:
            texts = [after(p.x, p.edit, i) for i in range(p.rows)]
            self.shown += texts
            z = np.array([sum(self.weights.get(w, 0.0) for w in t) for t in texts])
            out.append(Reading({"logits": np.stack([np.zeros_like(z), z], axis=-1)[:, None, :]}))
        return out


class Guesser(Words):
    """A language model: for a masked word the probabilities of its vocabulary, from the word to its left."""

    can = frozenset({"guess"})
    vocabulary = ("fine", "bad", "plain")
    after_fine, else_ = (0.0, 0.25, 0.75), (0.5, 0.25, 0.25)

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        out = []
        for p in probes:
            texts = [after(p.x, p.edit, i) for i in range(p.rows)]
            self.shown += texts
            table = [[self.else_, *(self._given(w) for w in t)] for t in texts]
            out.append(Reading({"guess": np.array(table)}))
        return out

    def _given(self, left: str) -> tuple[float, ...]:
        return self.after_fine if left == "fine" else self.else_


def marginal(lm: Guesser) -> Any:
    """Every fill of a masked word with its probability: one word gone per question."""

    def operator(x: Input, keep: Bools) -> Asking:
        gone = ~full_keep(x, keep)
        guess: Reading = yield Probe(x, Edit.where_gone(x, keep, MASK), frozenset({"guess"}), to=lm)
        owner = np.repeat(np.arange(len(gone)), len(lm.vocabulary))
        fill = np.tile(np.arange(len(lm.vocabulary)), len(gone))
        codes = np.where(gone[owner], FILL + fill[:, None], KEEP).astype(np.int32)
        weight = guess["guess"][owner, gone.argmax(axis=1)[owner] - 1, fill]
        return Variants(Edit(codes, lm.vocabulary), owner, weight)

    return operator


def left_to_right(lm: Guesser) -> Any:
    """Masked words get their likeliest fill one after another, each seen by the next."""

    def operator(x: Input, keep: Bools) -> Asking:
        codes = Edit.where_gone(x, keep, MASK).codes.copy()
        while (codes == MASK).any():
            guess: Reading = yield Probe(x, Edit(codes.copy(), lm.vocabulary), frozenset({"guess"}), to=lm)
            for row in np.flatnonzero((codes == MASK).any(axis=1)):
                at = int((codes[row] == MASK).argmax())
                codes[row, at] = FILL + int(guess["guess"][row, at - 1].argmax())
        return Variants.plain(Edit(codes, lm.vocabulary))

    return operator


@pytest.mark.parametrize("name", sorted(CODES))
def test_an_operator_edits_what_is_gone_and_nothing_else(name: str) -> None:
    x = text("a", "good", "film")
    keep = np.array([[True, False, True], [False, False, False]])
    variants = Engine(Words({})).ask(bind("removals", name)(x, keep))
    code = CODES[name]
    assert variants.edit.codes.tolist() == [[KEEP, KEEP, code, KEEP], [KEEP, code, code, code]]
    assert variants.owner.tolist() == [0, 1]
    assert variants.weight.tolist() == [1.0, 1.0]


def test_every_operator_declares_the_token_it_needs() -> None:
    own = [e for e in entries("removals") if e.module.startswith("assay.removal.") and e.name in CODES]
    assert {e.name: set(e.facts.get("needs", ())) for e in own} == {n: set() if n == "delete" else {n} for n in CODES}


def test_fills_are_averaged_as_probabilities_with_their_weights() -> None:
    """One word gone, first in its text: p = .5 s(2) + .25 s(-1) + .25 s(0), the hand value of marginalisation."""
    model, lm = Words({"fine": 2.0, "bad": -1.0}), Guesser({})
    x = text("good", "film")
    keep = np.array([[False, True]])
    p = Engine(model).ask(score(x, Target((1,)), "prob", keep, marginal(lm)))
    s = [1 / (1 + np.exp(-z)) for z in (2.0, -1.0, 0.0)]
    assert p.tolist() == pytest.approx([0.5 * s[0] + 0.25 * s[1] + 0.25 * s[2]])


def test_a_fill_that_is_surely_the_word_itself_changes_nothing() -> None:
    model, lm = Words({"fine": 2.0, "bad": -1.0, "plain": 0.5}), Guesser({})
    lm.else_ = (0.0, 0.0, 1.0)
    x = text("plain", "film")
    keep = np.array([[True, True], [False, True]])
    whole, gone = Engine(model).ask(score(x, Target((1,)), "logodds", keep, _only(lm)))
    assert gone == pytest.approx(whole)


def _only(lm: Guesser) -> Any:
    """Marginal fills for rows in which something is gone, the text itself for the others."""
    fill = marginal(lm)

    def operator(x: Input, keep: Bools) -> Asking:
        some = np.flatnonzero(~full_keep(x, keep).all(axis=1))
        made: Variants = yield from fill(x, keep[some])
        rest = np.setdiff1d(np.arange(len(keep)), some)
        codes = np.vstack([np.zeros((len(rest), x.n), dtype=np.int32), made.edit.codes])
        owner = np.concatenate([rest, some[made.owner]])
        return Variants(Edit(codes, made.edit.fills), owner, np.concatenate([np.ones(len(rest)), made.weight]))

    return operator


def test_fills_from_left_to_right_see_each_other() -> None:
    """All gone: 'fine' first, then given 'fine' the likeliest is 'plain', and after 'plain' 'fine' again."""
    model, lm = Words({}), Guesser({})
    Engine(model).ask(outcomes(text("so", "good", "film"), np.zeros((1, 3), dtype=bool), left_to_right(lm)))
    assert model.shown == [("fine", "plain", "fine")]
    assert lm.shown == [("_", "_", "_"), ("fine", "_", "_"), ("fine", "plain", "_")]


def test_rows_with_different_gaps_are_filled_side_by_side() -> None:
    model, lm = Words({}), Guesser({})
    x = text("so", "good", "film")
    Engine(model).ask(outcomes(x, np.vstack([np.eye(3, dtype=bool), each_left_out(x)[:1]]), left_to_right(lm)))
    assert sorted(model.shown) == sorted(
        [("so", "fine", "plain"), ("fine", "good", "fine"), ("fine", "plain", "film"), ("fine", "good", "film")]
    )
