"""Any function from texts to probabilities as a Model; edits become strings, nothing else is known of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay import align
from assay.registry import family
from assay.types import (
    DROP,
    FILL,
    KEEP,
    MASK,
    UNK,
    AssayError,
    BadInput,
    CannotDo,
    Example,
    Floats,
    Input,
    Probe,
    ProbeFailed,
    Reading,
    content_key,
)

TINY = 1e-12
"""Probabilities of 0 are taken as this, so that logarithms are finite."""
LITERAL = {UNK: "[UNK]", MASK: "[MASK]"}
Texts = list[Any]
"""A string per row, or a dict of strings by field when ``fields`` were declared."""


@family("black-box")
class BlackBox:
    """A model that is only a function: texts in, class probabilities out.

    ``predict`` takes a list of strings and gives [rows, classes] probabilities; a scikit-learn classifier (its
    ``predict_proba``) and a transformers text-classification pipeline will do too. With ``fields`` it gets a list of
    dicts. Without a ``name`` it has no identity, so its results cannot be resumed.

    >>> from assay.types import Edit
    >>> box = BlackBox(lambda texts: [[0.2, 0.8] if "good" in t else [0.7, 0.3] for t in texts], labels=("no", "yes"))
    >>> x = box.read(Example("1", {"text": "a good film"}))
    >>> np.exp(box.answer([Probe(x, Edit.where_gone(x, ~np.eye(3, dtype=bool), DROP))])[0].logp[:, 0, 1]).round(1)
    array([0.8, 0.3, 0.8])
    """

    head = "softmax"
    budget = 16384
    can = frozenset({"logp", "choice", "unk", "mask", "replace"})

    def __init__(
        self,
        predict: Any,
        labels: Sequence[str] | None = None,
        name: str | None = None,
        fields: Sequence[str] | None = None,
    ) -> None:
        self._predict, found = _as_function(predict)
        self.fields = None if fields is None else tuple(fields)
        self.name = name or f"black box {getattr(predict, '__name__', type(predict).__name__)}"
        self.labels: tuple[str, ...] = tuple(labels or found)
        tried = "a good film" if self.fields is None else dict.fromkeys(self.fields, "a good film")
        classes = self._ask([tried]).shape[1]
        self.labels = self.labels or tuple(str(i) for i in range(classes))
        self.fingerprint = None if name is None else content_key("black-box", name, self.labels, self.fields)

    def read(self, example: Example, unit: str = "word") -> Input:
        """Words of the declared fields, all free."""
        if unit == "piece":
            raise BadInput(f"{self.name} has no word pieces: use unit word or spacy")
        names = self.fields or tuple(example.fields)
        if self.fields is None and len(names) > 1:
            raise BadInput(
                f"example {example.id} has fields {', '.join(names)}: declare them, BlackBox(..., fields=...)"
            )
        if missing := [n for n in names if n not in example.fields]:
            there = ", ".join(example.fields)
            raise BadInput(f"example {example.id} has no field '{missing[0]}', which {self.name} reads; it has {there}")
        places = tuple(p for p in align.places(example, unit) if p.field in names)
        if not places:
            raise BadInput(f"example {example.id} has no text in {', '.join(names)}: leave it out")
        return Input(example, unit, places, np.ones(len(places), dtype=bool))

    def size(self, probe: Probe) -> NDArray[np.int64]:
        """Words per row, up to the next power of two: how it pads is its own affair, so rough groups will do."""
        words = np.maximum(1, (probe.edit.codes != DROP).sum(axis=1))
        return np.asarray(2 ** np.ceil(np.log2(words)), dtype=np.int64)

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        """All rows of all probes in one call of the function."""
        for probe in probes:
            self._refuse(probe)
        logp = np.log(np.maximum(self._ask([t for p in probes for t in self.texts(p)]), TINY))
        ends = np.cumsum([p.rows for p in probes])
        parts = zip(ends, probes, strict=True)
        return [Reading({"logp": logp[end - p.rows : end, None, :]}, self.head) for end, p in parts]

    def texts(self, probe: Probe) -> Texts:
        """What the function is given, row by row."""
        names = self.fields or tuple(dict.fromkeys(p.field for p in probe.x.places))
        columns = {name: _strings(probe, name) for name in names}
        if self.fields is None:
            return columns[names[0]]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _refuse(self, probe: Probe) -> None:
        asked = set(probe.want) - self.can
        asked |= {n for n in ("scale", "noise", "attention") if getattr(probe, n) is not None}
        if asked:
            raise CannotDo(f"{self.name} gives probabilities only, not {', '.join(sorted(asked))}")
        allowed = np.isin(probe.edit.codes, (KEEP, DROP, UNK, MASK)) | (probe.edit.codes >= FILL)
        if not allowed.all():
            raise CannotDo(f"{self.name} reads strings: use the removal delete, unk or mask")

    def _ask(self, texts: Texts) -> Floats:
        try:
            given = np.asarray(self._predict(texts), dtype=np.float64)
        except AssayError:
            raise
        except Exception as error:  # whatever a stranger's function raises, the question failed
            line = (str(error).strip().splitlines() or [""])[0][:200]
            raise ProbeFailed(f"{self.name} failed on {len(texts)} text(s): {type(error).__name__}: {line}") from error
        return _checked(given, texts, len(self.labels), self.name)


def _as_function(predict: Any) -> tuple[Callable[[Texts], Any], tuple[str, ...]]:
    """The function to call and the labels it names, if it does."""
    if hasattr(predict, "predict_proba"):
        return predict.predict_proba, tuple(str(c) for c in getattr(predict, "classes_", ()))
    if getattr(predict, "task", None) in ("text-classification", "sentiment-analysis"):
        names = predict.model.config.id2label
        labels = tuple(str(names[i]) for i in sorted(names))
        return lambda texts: _from_pipeline(predict(texts, top_k=None), labels), labels
    if callable(predict):
        return predict, ()
    raise BadInput(f"a black box must be callable or have predict_proba, got {type(predict).__name__}")


def _from_pipeline(given: list[list[dict[str, Any]]], labels: tuple[str, ...]) -> list[list[float]]:
    rows = [{d["label"]: float(d["score"]) for d in row} for row in given]
    return [[row[label] for label in labels] for row in rows]


def _strings(probe: Probe, field: str) -> list[str]:
    """One field's text per row: what is dropped is cut out and the spacing tidied; an untouched row is the text."""
    text = probe.x.example.fields[field]
    columns = [i for i, p in enumerate(probe.x.places) if p.field == field]
    spans = [(probe.x.places[i].start, probe.x.places[i].end) for i in columns]
    return [_string(text, spans, row, probe.edit.fills) for row in probe.edit.codes[:, columns]]


def _string(text: str, spans: Sequence[tuple[int, int]], codes: NDArray[np.int32], fills: Sequence[str]) -> str:
    if (codes == KEEP).all():
        return text
    out, last = "", -1
    for i, (code, (start, end)) in enumerate(zip(codes.tolist(), spans, strict=True)):
        if code == DROP:
            continue
        gap = text[spans[last][1] if last >= 0 else 0 : start]
        if last != i - 1:  # something between was cut out
            gap = " " if out and any(c.isspace() for c in gap) else ""
        word = text[start:end] if code == KEEP else LITERAL[code] if code in LITERAL else fills[code - FILL]
        out, last = out + gap + word, i
    return out


def _checked(given: Floats, texts: Texts, classes: int, name: str) -> Floats:
    """Probabilities that sum to one, or an error that names the row."""
    wanted = f"[{len(texts)}, {classes or 'classes'}]"
    if given.ndim != 2 or given.shape[0] != len(texts) or (classes and given.shape[1] != classes):
        raise BadInput(
            f"{name} returned shape {list(given.shape)}, expected {wanted}: one row of probabilities per text"
        )
    if given.shape[1] < 2:
        raise BadInput(f"{name} returned one column: return the probability of every class, [1 - p, p]")
    bad = ~np.isfinite(given).all(axis=1) | (given < 0).any(axis=1) | (np.abs(given.sum(axis=1) - 1) > 1e-3)
    if bad.any():
        row = int(bad.argmax())
        values = np.array2string(given[row][:5], precision=4)
        raise BadInput(f"{name} returned {values} for row {row} ({str(texts[row])[:60]!r}): rows must be probabilities")
    return np.asarray(given / given.sum(axis=1, keepdims=True))
