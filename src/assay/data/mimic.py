"""Knows MIMIC-III's notes and diagnosis codes, and the two questions that Jain & Wallace ask of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

from assay.data.rows import Row, some, table_rows
from assay.registry import dataset
from assay.types import BadInput, Dataset, Example

Task = Literal["diabetes", "anemia"]
LABELS: dict[str, tuple[str, str]] = {"diabetes": ("no diabetes", "diabetes"), "anemia": ("chronic", "acute")}
SUMMARY = "Discharge summary"
CODES = "DIAGNOSES_ICD.csv"


@dataset("mimic", paper="Johnson et al. 2016; Jain & Wallace 2019")
def mimic(
    path: Path | str, *, codes: str = "", task: Task = "diabetes", category: str = SUMMARY, split: str = ""
) -> Dataset:
    """NOTEEVENTS.csv with DIAGNOSES_ICD.csv (``codes``, else beside it): one text per hospital stay.

    ``diabetes``: has the stay a code that begins with 250.00? ``anemia``: 285.1 (acute) against 285.2x (chronic); stays
    with both or neither are counted as dropped. The released recipe calls the acute kind class 1, the paper the chronic
    kind; this follows the recipe. Notes of other categories are dropped; several notes of one stay are joined in order.
    Jain & Wallace's splits are lists of stays that are not part of the data.
    """
    path = Path(path)
    known = _codes(Path(codes) if codes else path.parent / CODES)
    texts, dropped = _texts(path, category)
    examples = []
    for stay, text in texts.items():
        gold = label_of(known.get(stay, ()), task)
        if gold is None:
            dropped[f"not {task}: neither or both kinds of code" if task == "anemia" else "no codes"] += 1
        else:
            examples.append(Example(f"stay-{stay}", {"text": text}, gold))
    return Dataset(f"mimic-{task}", tuple(examples), LABELS[task], split, {"dropped": dict(dropped)})


def label_of(codes: tuple[str, ...], task: Task) -> int | None:
    """The class of a stay with these codes (with or without the point); None when it has none.

    >>> label_of(("25000", "4019"), "diabetes"), label_of(("2851",), "anemia"), label_of(("2851", "28521"), "anemia")
    (1, 1, None)
    """
    plain = [c.replace(".", "").strip() for c in codes]
    if task == "diabetes":
        return int(any(c.startswith("25000") for c in plain)) if plain else None
    acute, chronic = any(c.startswith("2851") for c in plain), any(c.startswith("2852") for c in plain)
    return None if acute == chronic else int(acute)


def _codes(path: Path) -> dict[str, tuple[str, ...]]:
    out: dict[str, list[str]] = {}
    for row in some(table_rows(path, ","), path):
        out.setdefault(_cell(row, "HADM_ID"), []).append(_cell(row, "ICD9_CODE"))
    return {stay: tuple(c for c in codes if c) for stay, codes in out.items()}


def _texts(path: Path, category: str) -> tuple[dict[str, str], Counter[str]]:
    out: dict[str, str] = {}
    dropped: Counter[str] = Counter()
    for row in some(table_rows(path, ","), path):
        stay, text = _cell(row, "HADM_ID"), " ".join(_cell(row, "TEXT").split())
        if category and _cell(row, "CATEGORY").strip() != category:
            dropped[f"not a {category.lower()}"] += 1
        elif not stay or not text:
            dropped["no stay" if not stay else "no text"] += 1
        else:
            out[stay] = f"{out[stay]} {text}" if stay in out else text
    return out, dropped


def _cell(row: Row, column: str) -> str:
    named = {name.upper(): value for name, value in row.cells.items()}
    if column not in named:
        raise BadInput(f"{row.place}: no column '{column}'; columns are {', '.join(row.cells)}")
    return str(named[column])
