"""Knows AG News as it is distributed: class, title, description without a header line."""

from __future__ import annotations

from pathlib import Path

from assay.data.examples import build
from assay.data.rows import Row, some, table_rows
from assay.registry import dataset
from assay.types import BadInput, Dataset

LABELS = ("World", "Sports", "Business", "Sci/Tech")


@dataset("agnews", paper="Zhang et al. 2015")
def agnews(path: Path | str, *, split: str = "") -> Dataset:
    """{train,test}.csv of ag_news_csv: classes 1 to 4; the text is title and description, joined by a space."""
    path = Path(path)
    rows = (_row(row) for row in some(table_rows(path, ",", header=("class", "title", "description")), path))
    return build(rows, name=path.name, split=split, columns={"text": "text", "label": "label"}, labels=LABELS)


def _row(row: Row) -> Row:
    if row.cells["class"] not in ("1", "2", "3", "4"):
        raise BadInput(f"{row.place}: class '{row.cells['class']}' is not one of 1, 2, 3, 4 ({', '.join(LABELS)})")
    text = f"{row.cells['title']} {row.cells['description']}"
    return Row(row.place, {"text": text, "label": LABELS[int(row.cells["class"]) - 1]})
