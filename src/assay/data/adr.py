"""Knows the tweets about adverse drug reactions as Jain & Wallace distribute them: text, label, split in one table."""

from __future__ import annotations

from pathlib import Path

from assay.data.examples import build
from assay.data.rows import Row, some, table_rows
from assay.data.splits import choose
from assay.registry import dataset
from assay.types import BadInput, Dataset

LABELS = ("no reaction", "adverse reaction")
COLUMNS = ("text", "label", "exp_split")


@dataset("adr", paper="Nikfarjam et al. 2015; Jain & Wallace 2019")
def adr(path: Path | str, *, split: str = "") -> Dataset:
    """adr_dataset.csv with the columns text, label (0 or 1) and exp_split (train, test)."""
    path = Path(path)
    rows = list(some(table_rows(path, ","), path))
    missing = [c for c in COLUMNS if c not in rows[0].cells]
    if missing:
        raise BadInput(f"{path}: no column '{missing[0]}'; columns are {', '.join(rows[0].cells)}")
    split = choose({str(r.cells["exp_split"]) for r in rows}, split, str(path))
    mine = [_row(i, r) for i, r in enumerate(rows) if r.cells["exp_split"] == split]
    return build(
        mine,
        name=path.name,
        split=split,
        columns={"text": "text", "label": "label", "id": "id"},
        labels=LABELS,
        drop=lambda row: "" if str(row.cells["text"]).strip(' "') else "no text",
    )


def _row(number: int, row: Row) -> Row:
    if row.cells["label"] not in ("0", "1"):
        raise BadInput(f"{row.place}: label '{row.cells['label']}' is not 0 or 1")
    return Row(row.place, {"id": f"adr-{number}", "text": row.cells["text"], "label": row.cells["label"]})
