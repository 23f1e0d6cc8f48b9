"""Knows how rows become examples: which column is what, which label is which class, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.data.marks import Span, join_tokens, read_marks
from assay.data.rows import Row, near
from assay.types import BadInput, Dataset, Example

FIELDS = (
    ("premise", "hypothesis"),
    ("passage", "question", "answer"),
    ("question", "context"),
    ("question", "passage"),
    ("question", "sentence"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("title", "description"),
    ("text",),
    ("sentence",),
    ("review",),
    ("content",),
    ("tokens",),
    ("question",),
)
"""Columns taken for text when none is named: the first of these groups that is there."""
OTHERS = {
    "label": ("label", "gold_label", "labels", "class", "category", "sentiment", "target", "answer"),
    "id": ("id", "pairID", "annotation_id", "guid"),
    "rationale": ("rationale", "rationales", "rationale_chars"),
}
"""Columns taken for the label, the id and the marked evidence when none is named."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column holds what; '' where no column does."""

    fields: Mapping[str, str]
    label: str
    id: str
    rationale: str


def layout(there: Sequence[str], columns: Mapping[str, str] | None, where: str) -> Layout:
    """From {field: column}; ``label``, ``id`` and ``rationale`` are named in the same way, '' means 'none'."""
    given = dict(columns or {})
    for column in given.values():
        if column and column not in there:
            listed = f"; columns are {', '.join(there)}"
            raise BadInput(f"{where}: no column '{column}'{near(column, there)}{listed}")
    fields = {name: column for name, column in given.items() if name not in OTHERS and column}
    fields = fields or {name: name for name in next((g for g in FIELDS if set(g) <= set(there)), ())}
    if not fields:
        raise BadInput(f"{where}: no text column found; name it: columns={{'text': ...}}, one of {', '.join(there)}")
    taken = set(fields.values())
    found = {
        kind: given.get(kind, next((c for c in known if c in there and c not in taken), ""))
        for kind, known in OTHERS.items()
    }
    return Layout(fields, found["label"], found["id"], found["rationale"])


def build(
    rows: Iterable[Row],
    *,
    name: str,
    split: str = "",
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] | None = None,
    drop: Callable[[Row], str] = lambda row: "",
) -> Dataset:
    """A Dataset from rows; ``drop`` gives the reason why a row is left out ('' keeps it), which is counted."""
    found: list[tuple[Row, Example]] = []
    dropped: Counter[str] = Counter()
    seen: dict[str, str] = {}
    plan: Layout | None = None
    for row in rows:
        plan = plan or layout(list(row.cells), columns, row.place.rsplit(":", 1)[0])
        if reason := drop(row):
            dropped[reason] += 1
            continue
        example = _example(row, plan, f"{split or name}-{len(found) + dropped.total()}")
        if example.id in seen:
            raise BadInput(f"{row.place}: id '{example.id}' was used before, at {seen[example.id]}; map another column")
        seen[example.id] = row.place
        found.append((row, example))
    column = plan.label if plan else ""
    raw = [(row.place, row.cells.get(column) if column else None) for row, _ in found]
    classes = tuple(labels) if labels else _classes(raw)
    examples = tuple(
        Example(e.id, e.fields, gold(value, classes, place), e.rationale)
        for (_, e), (place, value) in zip(found, raw, strict=True)
    )
    notes: dict[str, Any] = {"dropped": dict(dropped)}
    if unlabelled := sum(e.gold is None for e in examples):
        notes["unlabelled"] = unlabelled
    return Dataset(name, examples, classes, split, notes)


def _example(row: Row, plan: Layout, generated: str) -> Example:
    name = str(_cell(row, plan.id)) if plan.id else generated
    texts: dict[str, str] = {}
    tokens: dict[str, Sequence[Span]] = {}
    for field, column in plan.fields.items():
        value = _cell(row, column)
        if isinstance(value, Sequence) and not isinstance(value, str):
            texts[field], tokens[field] = join_tokens([str(v) for v in value])
        elif isinstance(value, str):
            texts[field] = value
        elif value is not None:
            raise BadInput(f"{row.place}: id {name}: expected text in '{column}', got {value!r:.60}")
        if not texts.get(field, "").strip():
            raise BadInput(f"{row.place}: id {name}: empty text in '{column}'; fill it or take the row out")
    marks = read_marks(row.cells.get(plan.rationale), texts, tokens, row.place) if plan.rationale else ()
    return Example(name, texts, None, marks)


def _cell(row: Row, column: str) -> Any:
    if column not in row.cells:
        raise BadInput(f"{row.place}: no column '{column}' in this row; it has {', '.join(row.cells)}")
    return row.cells[column]


# ---------------------------------------------------------------------------------------------- labels


def gold(value: Any, labels: Sequence[str], place: str) -> int | None:
    """The class of a label that is a name or an index; None where there is no label (null, '' or -1)."""
    text = _as_text(value, place)
    if text in labels:
        return labels.index(text)
    if text in ("", "-1"):
        return None
    if text.isdecimal() and int(text) < len(labels):
        return int(text)
    raise BadInput(f"{place}: label '{text}' is not one of {', '.join(labels)}")


def _classes(raw: Iterable[tuple[str, Any]]) -> tuple[str, ...]:
    """Names of the classes that occur: numbers in order (from 0 without gaps when 0 is among them), else sorted."""
    texts = {_as_text(value, place) for place, value in raw} - {"", "-1"}
    if not all(t.isdecimal() for t in texts):
        return tuple(sorted(texts))
    numbers = sorted(int(t) for t in texts)
    whole: Iterator[int] | list[int] = numbers
    if numbers and numbers[0] == 0 and numbers[-1] < 1000:
        whole = iter(range(numbers[-1] + 1))
    return tuple(str(n) for n in whole)


def _as_text(value: Any, place: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if not value.is_integer():
            raise BadInput(f"{place}: label {value} is a quantity, not a class; map another column to 'label', or ''")
        return str(int(value))
    if isinstance(value, int | str):
        return str(value).strip()
    raise BadInput(f"{place}: expected a class name or index as label, got {value!r:.60}")
