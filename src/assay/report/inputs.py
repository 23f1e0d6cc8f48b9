"""Knows the tests of model and input: what a language model's fills are worth here, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping

from assay.report.figures import facts
from assay.report.tables import Column, Entry, Table, of_estimate
from assay.summary import Cell, Summary

FILLS = "mlm"
"""What operators that put a language model's words in the place of others call their home."""
WEAK = {"match": 0.3, "mass": 0.6}
"""Below these shares fills are not words that could stand there."""
MEANING: Mapping[str, str] = {
    "match": "of the words: the likeliest fill is the word itself",
    "match_evidence": "the same, of the words that people marked",
    "mass": "of the probability lies on the ten likeliest fills",
    "probability": "mean probability of a likeliest fill that is the word itself",
    "one_piece": "of the words are one piece of the vocabulary: only these can be put back",
    "seen": "of the words does the language model see",
}


def tables(summary: Summary) -> list[Table]:
    """What the language model can do here, and every other test of the inputs; empty ones are left out."""
    fills = [c for c in summary.of_inputs if _asks(summary, c) == "fills"]
    other = [c for c in summary.of_inputs if _asks(summary, c) != "fills"]
    made = [
        _table("fills", "What the language model can do here", fills, "A fill is the word that the language model puts "
               "in the place of another. Neither high nor low is good: a weak model's fills are no words that could "
               "stand there, a perfect one's change nothing."),
        _table("inputs", "The model and its inputs, whatever the explanation", other, "Tests that look at no map."),
    ]  # fmt: skip
    return [t for t in made if t.rows]


def _asks(summary: Summary, cell: Cell) -> str:
    return str(facts(summary, "tests", cell.test).get("asks") or "")


def _table(name: str, title: str, cells: list[Cell], note: str) -> Table:
    """One row per value; the test is named where there are several, the meaning where it is known."""
    several, known = len({c.test for c in cells}) > 1, any(c.value in MEANING for c in cells)
    heads = [*(["test"] if several else []), "value", "mean", *(["of what"] if known else [])]
    order = list(MEANING)
    ranked = sorted(cells, key=lambda c: (c.test, order.index(c.value) if c.value in order else -c.headline))
    rows = []
    for c in ranked:
        entries = {"test": Entry(c.test), "value": Entry(c.value), "mean": of_estimate(c.estimate)}
        rows.append(tuple((entries | {"of what": Entry(MEANING.get(c.value, ""))})[h] for h in heads))
    return Table(name, title, tuple(Column(h, numeric=h == "mean") for h in heads), tuple(rows), note)


def warnings(summary: Summary) -> list[str]:
    """What must be said before a number that was made with fills is believed."""
    users = [n for kind in ("methods", "tests") for n in _users(summary, kind)]
    tested = dict.fromkeys(c.test for c in summary.of_inputs if _asks(summary, c) == "fills")
    if users and not tested:
        return [f"{', '.join(users)}: made with a language model's fills, and nothing here says how good these are. "
                "Add fill-quality to the tests."]  # fmt: skip
    return [w for t in tested if (w := _weak(summary, t, users))]


def _users(summary: Summary, kind: str) -> list[str]:
    declared: Mapping[str, Mapping[str, object]] = summary.meta.get(kind) or {}
    return [name for name, of in declared.items() if of.get("home", of.get("removal")) == FILLS]


def _weak(summary: Summary, test: str, users: list[str]) -> str:
    found = {c.value: c.estimate.value for c in summary.of_inputs if c.test == test and c.estimate.n}
    low = {name: found[name] for name, least in WEAK.items() if name in found and found[name] < least}
    if not low:
        return ""
    said = {"match": "puts {:.0f} % of the words back (30 % is the least)",
            "mass": "has {:.0f} % of its probability on its ten likeliest fills (60 % is the least)"}  # fmt: skip
    why = " and ".join(said[name].format(100 * value) for name, value in low.items())
    whom = f" Do not lean on {', '.join(users)}." if users else ""
    return f"Language model too weak for its fills: it {why}.{whom}"
