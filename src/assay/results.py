"""What explain and audit give back: views for notebooks, pandas, JSON and files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from assay import registry
from assay.exhibit import Exhibit
from assay.store import Store
from assay.stored import of_cases
from assay.summary import Summary
from assay.types import (
    AssayError,
    BadInput,
    Example,
    Explanation,
    Floats,
    Input,
    Place,
    Record,
    Target,
    UnknownName,
)
from assay.verdict import Verdict


class Explanations(Mapping[str, Explanation]):
    """Several methods' explanations of one example, by method name."""

    def __init__(self, found: Mapping[str, Explanation], gaps: Mapping[str, str]) -> None:
        self._found = dict(found)
        self.gaps = dict(gaps)
        """Methods that gave none, with the reason."""

    def __getitem__(self, name: str) -> Explanation:
        if name not in self._found:
            reason = self.gaps.get(name)
            hint = f": {reason}" if reason else registry.did_you_mean(name, list(self._found))
            raise UnknownName(f"no explanation by '{name}'{hint}")
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def to_pandas(self) -> Any:
        """One row per word, one column per method."""
        import pandas as pd

        first = next(iter(self._found.values()))
        return pd.DataFrame({"word": first.words} | {n: e.scores for n, e in self._found.items()})

    def to_json(self) -> dict[str, Any]:
        """Plain values: words once, scores and notes by method, gaps with reasons."""
        first = next(iter(self._found.values()))
        return {
            "id": first.example.id,
            "model": first.model,
            "fields": dict(first.example.fields),
            "unit": first.x.unit,
            "target": first.target_name,
            "target_key": first.target.key,
            "labels": list(first.labels),
            "probabilities": list(first.probabilities),
            "cut": first.x.cut,
            "words": list(first.words),
            "places": [[p.field, p.start, p.end, p.name] for p in first.x.places],
            "free": first.x.free.tolist(),
            "methods": {
                n: {"scores": e.scores.tolist(), "values": _numbers(e.values), "notes": dict(e.notes)}
                for n, e in self._found.items()
            },
            "gaps": self.gaps,
        }  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write ``to_json()`` to a file."""
        write(Path(path), json.dumps(self.to_json(), ensure_ascii=False, indent=1))

    @staticmethod
    def load(path: str | Path) -> Explanations:
        """Read what ``save`` wrote."""
        try:
            table = json.loads(Path(path).read_text(encoding="utf-8"))
            return _read_explanations(table)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{path} holds no explanations as Assay writes them: {error}") from error

    def _repr_html_(self) -> str:
        return "".join(e._repr_html_() for e in self._found.values())


def _numbers(values: Floats) -> list[float | None]:
    """NaN, where a method computes none, as null."""
    return [None if np.isnan(v) else float(v) for v in values]


def _read_explanations(table: Mapping[str, Any]) -> Explanations:
    index, against = (None if part is None else tuple(part) for part in table["target_key"])
    places = tuple(Place(*p) for p in table["places"])
    example = Example(table["id"], table["fields"])
    x = Input(example, table["unit"], places, np.array(table["free"], dtype=bool), table["cut"])
    found = {
        name: Explanation(
            x, table["model"], name, Target(index, against),
            np.array([np.nan if v is None else v for v in one["values"]], dtype=np.float64),
            tuple(table["labels"]), tuple(table["probabilities"]), one["notes"],
        )
        for name, one in table["methods"].items()
    }  # fmt: skip
    return Explanations(found, table["gaps"])


def write(path: Path, text: str) -> None:
    """Write a file; a lone surrogate, which has no bytes, becomes a question mark."""
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}") from error


@dataclass(frozen=True, eq=False, slots=True)
class Audit:
    """A finished (or interrupted) run: verdicts first, then every number."""

    folder: Path
    summary: Summary
    verdicts: tuple[Verdict, ...]

    @property
    def records(self) -> list[Record]:
        """Every record of these cases, in the order of the data."""
        with Store.open(self.folder) as store:
            return of_cases(store, self.summary.meta)[0]

    @property
    def explanations(self) -> list[Explanation]:
        """Every explanation of these cases, in the order of the data."""
        with Store.open(self.folder) as store:
            return of_cases(store, self.summary.meta)[1]

    def to_pandas(self) -> Any:
        """One row per record and value."""
        from assay.store import to_pandas

        return to_pandas(self.records)

    def to_json(self) -> dict[str, Any]:
        """Verdicts, table, gaps and settings as plain values."""
        from assay.report.json import to_json

        return to_json(self.summary, self.verdicts)

    def to_markdown(self) -> str:
        """The report as Markdown."""
        from assay.report.markdown import markdown

        return markdown(self.summary, self.verdicts)

    def to_html(self, text: bool = True) -> str:
        """The report as one self-contained page; ``text=False`` leaves all texts out."""
        from assay.report.html import render

        return render(self.summary, self.verdicts, text=text)

    def save(self, path: str | Path) -> None:
        """Write the report (.html, .md or .json by suffix) or export the records (.csv, .parquet, .jsonl)."""
        path = Path(path)
        made = {".html": self.to_html, ".md": self.to_markdown, ".json": self._json_text}.get(path.suffix)
        if made is not None:
            write(path, made())
            return
        from assay.store import export

        with Store.open(self.folder) as store:
            export(store, path)

    def _json_text(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1)

    def _repr_html_(self) -> str:
        from assay.report.notebook import fragment

        return fragment(self.summary, self.verdicts)


@dataclass(frozen=True, eq=False, slots=True)
class Reproduction:
    """A paper's experiments run again: findings, tables and figures, one exhibit per data set and setting."""

    folder: Path
    exhibits: tuple[Exhibit, ...]
    command: str

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        from assay.report.exhibit_json import to_json

        return {"command": self.command, "exhibits": [to_json(e) for e in self.exhibits]}

    def to_markdown(self) -> str:
        """Findings and tables as Markdown."""
        from assay.report.exhibit_markdown import markdown

        return "\n\n".join(markdown(e, command=self.command) for e in self.exhibits)

    def to_html(self) -> str:
        """One self-contained page with an index over the exhibits."""
        from assay.report.exhibit_html import render

        return render(self.exhibits, command=self.command)

    def save(self, path: str | Path) -> None:
        """Write the page, .html, .md or .json by suffix."""
        path = Path(path)
        text = {".html": self.to_html, ".md": self.to_markdown}.get(path.suffix)
        made = text() if text else json.dumps(self.to_json(), ensure_ascii=False, indent=1)
        write(path, made)

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(f.claim)}: <b>{f.holds}</b></li>" for e in self.exhibits for f in e.findings)
        return f"<ul>{items}</ul>"
