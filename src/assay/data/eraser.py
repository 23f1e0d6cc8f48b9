"""Knows ERASER folders: {train,val,test}.jsonl with evidence by token, and the documents beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from assay.data.examples import build
from assay.data.marks import join_tokens
from assay.data.rows import Row, json_rows, lines, present, some
from assay.data.splits import choose
from assay.registry import dataset
from assay.types import BadInput, Dataset

Document = Callable[[str, str], list[str]]
"""(name, place of the row that asks) -> tokens."""


@dataset("eraser", paper="DeYoung et al. 2020")
def eraser(path: Path | str, *, split: str = "", labels: Sequence[str] | None = None) -> Dataset:
    """An ERASER data set with its evidence as marks.

    Fields: ``document`` (or ``premise`` and ``hypothesis``, from document names that end so), and ``query`` unless it
    is the same for all rows, as for movies.
    """
    home = present(path)
    split = choose([p.stem for p in home.glob("*.jsonl") if p.stem != "docs"], split, str(path))
    file = home / f"{split}.jsonl"
    rows = list(some(json_rows(file), file))
    document = _documents(home)
    ask = len({row.cells.get("query") for row in rows}) > 1
    shaped = [_shaped(row, document, ask) for row in rows]
    fields = [name for name in shaped[0].cells if name not in ("id", "label", "rationale")]
    columns = {name: name for name in [*fields, "id", "label", "rationale"]}
    return build(shaped, name=home.name, split=split, columns=columns, labels=labels)


def _documents(home: Path) -> Document:
    listed = home / "docs.jsonl"
    kept = {r.cells["docid"]: str(r.cells["document"]).split() for r in json_rows(listed)} if listed.exists() else {}

    def document(name: str, place: str) -> list[str]:
        file = home / "docs" / name
        if name not in kept:
            if not file.is_file():
                raise BadInput(f"{place}: document '{name}' is not in {listed if listed.exists() else file.parent}")
            kept[name] = [token for _, line in lines(file) for token in line.split()]
        return kept[name]

    return document


def _shaped(row: Row, document: Document, ask: bool) -> Row:
    cells = row.cells
    if "annotation_id" not in cells or "classification" not in cells:
        raise BadInput(f"{row.place}: expected annotation_id and classification, found {', '.join(cells)}")
    evidence = [e for group in cells.get("evidences") or [] for e in group]
    names = cells.get("docids") or sorted({e["docid"] for e in evidence}) or [cells["annotation_id"]]
    texts: dict[str, Any] = {}
    marks: dict[str, list[list[int]]] = {}
    for name in sorted(names, key=lambda n: not n.endswith("premise")):
        field = next((f for f in ("premise", "hypothesis") if name.endswith(f)), "document")
        text, spans = join_tokens(document(name, row.place))
        texts[field] = f"{texts[field]} {text}" if field in texts else text
        shift = len(texts[field]) - len(text)
        mine = [(e["start_token"], e["end_token"]) for e in evidence if e["docid"] == name]
        marks.setdefault(field, []).extend([spans[a][0] + shift, spans[b - 1][1] + shift] for a, b in mine if a < b)
    if ask:
        texts["query"] = cells.get("query")
    found = {"id": cells["annotation_id"], "label": cells["classification"], "rationale": marks}
    return Row(row.place, texts | found)
