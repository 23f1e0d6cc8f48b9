"""Knows an exhibit as plain JSON values and back: nothing is lost, a number that is none is null."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from assay.exhibit import Entry, Exhibit, Figure, Heatmap, Number, Series, Table
from assay.types import BadInput, Estimate, Finding

FORMAT = 1
"""Grows when a name changes its meaning."""
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_json(exhibit: Exhibit) -> dict[str, Any]:
    """Everything an exhibit shows, ready for ``json.dumps(..., allow_nan=False)``.

    A NaN becomes null, an infinity the text "inf" or "-inf". Where null already means "there is none" (a bound of an
    interval) a NaN is the text "nan"; an entry says its ``kind``, so that no number, no text and NaN stay apart.

    >>> table = Table("", "t", ("c",), (("r", (Entry(math.nan),)),))
    >>> to_json(Exhibit("e", "E", "d", "", {}, (), (table,)))["tables"][0]["rows"]
    [{'name': 'r', 'entries': [{'kind': 'number', 'ours': None, 'published': ''}]}]
    """
    return {
        "format": FORMAT,
        "name": exhibit.name,
        "title": exhibit.title,
        "data": exhibit.data,
        "nearest": exhibit.nearest,
        "settings": _plain(exhibit.settings),
        "findings": [{**asdict(f), "ours": _estimate(f.ours)} for f in exhibit.findings],
        "tables": [_table(t) for t in exhibit.tables],
        "figures": [{**asdict(f), "series": [_series(s) for s in f.series]} for f in exhibit.figures],
        "heatmaps": [_heatmap(h) for h in exhibit.heatmaps],
        "notes": list(exhibit.notes),
        "seconds": {str(k): _out(float(v)) for k, v in exhibit.seconds.items()},
    }


def from_json(value: Mapping[str, Any]) -> Exhibit:
    """The exhibit that ``to_json`` wrote; ``from_json(to_json(e)) == e`` when the settings are JSON values."""
    if value.get("format") != FORMAT:
        raise BadInput(
            f"exhibit: format {value.get('format')!r} is not {FORMAT}; read it with the version of Assay that wrote it"
        )
    try:
        return _exhibit(value)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"exhibit: {type(error).__name__} {error}; expected what to_json of assay wrote") from error


def _exhibit(v: Mapping[str, Any]) -> Exhibit:
    return Exhibit(
        v["name"],
        v["title"],
        v["data"],
        v["nearest"],
        dict(v["settings"]),
        tuple(Finding(**{**f, "ours": _read_estimate(f["ours"])}) for f in v["findings"]),
        tuple(_read_table(t) for t in v["tables"]),
        tuple(Figure(**{**f, "series": tuple(map(_read_series, f["series"]))}) for f in v["figures"]),
        tuple(_read_heatmap(h) for h in v["heatmaps"]),
        tuple(v["notes"]),
        {k: _in(s) for k, s in v["seconds"].items()},
    )


# ------------------------------------------------------------------------------------------------ numbers


def _out(number: float) -> float | str | None:
    """A number that is surely one: NaN is null."""
    if isinstance(number, float) and not math.isfinite(number):
        return None if math.isnan(number) else "inf" if number > 0 else "-inf"
    return number


def _in(number: float | str | None) -> float:
    return math.nan if number is None else _WORDS[number] if isinstance(number, str) else number


def _bound(number: float | None) -> float | str | None:
    """A number that may be missing: null is None, so NaN has a word."""
    return "nan" if number is not None and math.isnan(number) else None if number is None else _out(number)


def _estimate(e: Estimate | None) -> dict[str, Any] | None:
    if e is None:
        return None
    return {**asdict(e), "value": _out(e.value), "low": _bound(e.low), "high": _bound(e.high)}


def _read_estimate(v: Mapping[str, Any] | None) -> Estimate | None:
    if v is None:
        return None
    low, high = (None if v[k] is None else _in(v[k]) for k in ("low", "high"))
    return Estimate(**{**v, "value": _in(v["value"]), "low": low, "high": high})


# ------------------------------------------------------------------------------------------------- pieces


def _entry(e: Entry) -> dict[str, Any]:
    ours = e.ours
    if isinstance(ours, Estimate):
        return {"kind": "estimate", "ours": _estimate(ours), "published": e.published}
    if ours is None or isinstance(ours, str):
        return {"kind": "none" if ours is None else "text", "ours": ours, "published": e.published}
    return {"kind": "number", "ours": _out(ours), "published": e.published}


def _read_entry(v: Mapping[str, Any]) -> Entry:
    kind, ours = v["kind"], v["ours"]
    read: Number = _read_estimate(ours) if kind == "estimate" else _in(ours) if kind == "number" else ours
    return Entry(read, v["published"])


def _table(t: Table) -> dict[str, Any]:
    rows = [{"name": name, "entries": [_entry(e) for e in entries]} for name, entries in t.rows]
    return {"id": t.id, "title": t.title, "columns": list(t.columns), "rows": rows, "note": t.note}


def _read_table(v: Mapping[str, Any]) -> Table:
    rows = tuple((r["name"], tuple(map(_read_entry, r["entries"]))) for r in v["rows"])
    return Table(v["id"], v["title"], tuple(v["columns"]), rows, v["note"])


def _series(s: Series) -> dict[str, Any]:
    return {"name": s.name, **{k: [_out(v) for v in getattr(s, k)] for k in ("x", "y", "low", "high")}}


def _read_series(v: Mapping[str, Any]) -> Series:
    return Series(v["name"], *(tuple(map(_in, v[k])) for k in ("x", "y", "low", "high")))


def _heatmap(h: Heatmap) -> dict[str, Any]:
    rows = [{"name": name, "scores": [_out(s) for s in scores]} for name, scores in h.rows]
    return {"title": h.title, "words": list(h.words), "rows": rows, "notes": list(h.notes)}


def _read_heatmap(v: Mapping[str, Any]) -> Heatmap:
    rows = tuple((r["name"], tuple(map(_in, r["scores"]))) for r in v["rows"])
    return Heatmap(v["title"], tuple(v["words"]), rows, tuple(v["notes"]))


def _plain(value: Any) -> Any:
    """Settings as JSON values: sequences become lists, a number that is none null, anything else its text."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_plain(v) for v in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)
