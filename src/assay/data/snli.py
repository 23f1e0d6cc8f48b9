"""Knows SNLI and MultiNLI as they are distributed: JSON lines with gold_label, sentence1, sentence2."""

from __future__ import annotations

from pathlib import Path

from assay.data.examples import build
from assay.data.rows import json_rows, some
from assay.registry import dataset
from assay.types import Dataset

LABELS = ("entailment", "neutral", "contradiction")
COLUMNS = {"premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"}


@dataset("snli", paper="Bowman et al. 2015")
def snli(path: Path | str, *, split: str = "") -> Dataset:
    """snli_1.0_{train,dev,test}.jsonl; pairs without a gold label ('-': no agreement) are dropped and counted."""
    path = Path(path)
    rows = some(json_rows(path), path)
    return build(
        rows,
        name=path.name,
        split=split,
        columns=COLUMNS,
        labels=LABELS,
        drop=lambda row: "no gold label" if row.cells.get("gold_label") == "-" else "",
    )
