"""Summary -> what may be trusted, in plain words. The rules are here, each with its reason and its paper.

Faithfulness is a degree with conditions, never a bare pass (Jacovi & Goldberg 2020); agreement with marked evidence
is plausibility and stands apart; agreement between methods is evidence, not a score (Neely 2021).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from assay.grid import Grid, Lead, grid_of, leads
from assay.summary import CONTROL, Cell, Summary

Level = Literal["supported", "mixed", "not supported", "worse than random", "control", "untested"]

ALPHA = 0.05
"""A difference counts when its Holm-corrected p is below this and its interval excludes zero."""
FEWEST_TESTS = 2
"""One metric alone never supports a method: metrics have homes of their own (Pham 2022)."""
FEWEST_EXAMPLES = 30
"""Below this a verdict says that it rests on few examples."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one method may be used for on this model and data, and why."""

    method: str
    level: Level
    headline: str
    may: str
    may_not: str
    why: str
    next: str
    evidence: tuple[str, ...]


def judge(summary: Summary, grid: Grid | None = None) -> tuple[Verdict, ...]:
    """One verdict per method, in the order of the summary; ``grid`` is made from the summary when not given."""
    found = grid_of(summary) if grid is None else grid
    return tuple(_judge(summary, found, m) for m in summary.methods)


def _judge(summary: Summary, grid: Grid, method: str) -> Verdict:
    facts = summary.meta.get("methods", {}).get(method, {})
    if facts.get("family") == "control":
        return _control(method)
    cells = [c for c in summary.cells if c.method == method and c.headline and c.against_control is not None]
    faithful = [c for c in cells if _declared(summary, c).get("asks") == "faithfulness"]
    if not faithful:
        return _untested(summary, method)
    better = [c for c in faithful if _side(c) > 0]
    worse = [c for c in faithful if _side(c) < 0]
    away = [c for c in better if not _at_home(summary, c)]
    ahead = leads(grid, method)
    gone = [lead.kind for lead in ahead if lead.vanishes]
    level = _capped(_level(len(faithful), len(better), len(worse)), gone)
    return Verdict(
        method,
        level,
        _headline(level, method, len(better), len(faithful), gone),
        _may(level, summary, better),
        _may_not(level, facts, bool(away)) + _first_only_at_home(grid, method),
        _why(summary, faithful, better, worse, away, method, ahead),
        _next(level, summary, bool(away), facts),
        tuple(_sentence(summary, c) for c in faithful) + tuple(map(_led, ahead)) + _aside(summary, method, cells),
    )


# -------------------------------------------------------------------------------------------------- rules


def _side(cell: Cell) -> int:
    """+1 better than random, -1 worse, 0 undecided: interval and corrected p must agree."""
    d = cell.against_control
    if d is None or d.low is None or d.high is None or cell.p is None or cell.p >= ALPHA:
        return 0
    return 1 if d.low > 0 else -1 if d.high < 0 else 0


def _level(tests: int, better: int, worse: int) -> Level:
    if worse and not better:
        return "worse than random"
    if better == tests and tests >= FEWEST_TESTS:
        return "supported"
    return "mixed" if better else "not supported"


def _capped(level: Level, gone: list[str]) -> Level:
    """A lead over random that is there at home only may be the operator's and not the method's: never ``supported``.

    Pham 2022: which method wins follows the way the metric takes words away; Ju 2022 calls it a logic trap.
    """
    return "mixed" if level == "supported" and gone else level


def _at_home(summary: Summary, cell: Cell) -> bool:
    """The test removes words the way the method does: it favours the method (Pham 2022, Ju 2022)."""
    mine, test = summary.meta.get("methods", {}).get(cell.method, {}), _declared(summary, cell)
    own = mine.get("home", mine.get("removal"))
    return own is not None and own == test.get("home", test.get("removal"))


# -------------------------------------------------------------------------------------------------- words


def _declared(summary: Summary, cell: Cell) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = summary.meta.get("tests", {}).get(cell.test, {})
    return facts


def _control(method: str) -> Verdict:
    return Verdict(
        method,
        "control",
        f"{method} is the control: it knows nothing of the model, and every other method must beat it.",
        "Reading how far chance alone goes on each test.",
        "Explaining anything.",
        "Its scores are drawn, not computed.",
        "",
        (),
    )


def _untested(summary: Summary, method: str) -> Verdict:
    reasons = [g.reason for g in summary.gaps if g.method == method]
    if CONTROL not in summary.methods:
        reasons.append(f"the run has no '{CONTROL}' control to compare with")
    return Verdict(
        method,
        "untested",
        f"{method} was not tested here.",
        "Nothing yet.",
        "Any claim about why the model decided so.",
        "; ".join(dict.fromkeys(reasons)) or "no faithfulness test gave a number for it",
        "assay audit MODEL DATA --methods random," + method,
        (),
    )


def _headline(level: Level, method: str, better: int, tests: int, gone: list[str]) -> str:
    if level == "mixed" and better == tests and gone:
        return f"{method} is ahead of random only where words are taken away its own way ({', '.join(gone)})."
    return {
        "supported": f"{method} points at words this model depends on: better than random on all {tests} "
        "faithfulness tests.",
        "mixed": f"{method} is better than random on {better} of {tests} faithfulness tests only."
        if tests > 1
        else f"{method} passed the one faithfulness test that was run: one test alone never supports a method.",
        "not supported": f"Nothing here shows that {method} is better than a random order of the words.",
        "worse than random": f"{method} points away from what this model depends on: a random order does better.",
    }[level]


def _may(level: Level, summary: Summary, better: list[Cell]) -> str:
    if level == "supported":
        how = sorted({str(o) for c in better if (o := _declared(summary, c).get("removal"))})
        return "Showing which words the prediction depends on, on average over texts like these" + (
            f", when words are taken away by {' or '.join(how)}." if how else "."
        )
    if level == "mixed":
        return f"Only what its passed tests ask: {', '.join(c.test for c in better)}."
    return "Nothing: do not show it as a reason."


def _may_not(level: Level, facts: Mapping[str, Any], away: bool) -> str:
    text = "Proof for a single text, a claim of cause, or a sign that the model reasons as a person would."
    if facts.get("family") == "gradient":
        text += " Evidence from gradients alone: a model can be made to fake them (Wang 2020)."
    if facts.get("family") == "attention":
        text += " A claim that attention is the reason: other weights may give the same answer (Jain & Wallace 2019)."
    if level == "supported" and not away:
        text += (
            " A comparison with methods that remove words differently: every test it passed removes words its own way."
        )
    return text


def _why(
    summary: Summary,
    faithful: list[Cell],
    better: list[Cell],
    worse: list[Cell],
    away: list[Cell],
    method: str,
    ahead: tuple[Lead, ...],
) -> str:
    n = min(c.against_control.n for c in faithful if c.against_control is not None)
    undecided = len(faithful) - len(better) - len(worse)
    parts = [f"{len(better)} better, {undecided} undecided, {len(worse)} worse than random, paired over {n} examples"]
    if n < FEWEST_EXAMPLES:
        parts.append(f"few examples: fewer than {FEWEST_EXAMPLES}")
    if better and not away:
        parts.append("all passed tests remove words the way the method does, which favours it (Pham 2022)")
    elif len(away) < len(better):
        home = " and ".join(c.test for c in better if c not in away)
        parts.append(f"{home} removes words the way the method does, which favours it (Pham 2022)")
    parts += _ground(ahead)
    missing = sum(g.count for g in summary.gaps if g.method == method and g.example)  # else it does not apply
    if missing:
        parts.append(f"{missing} number{'s' * (missing > 1)} could not be computed (see the gaps)")
    return "; ".join(parts) + "."


def _ground(ahead: tuple[Lead, ...]) -> list[str]:
    """Where the lead over random comes from, when the grid has the method at home and away."""
    won = [lead for lead in ahead if lead.at_home.low is not None and lead.at_home.low > 0]
    gone = [lead.kind for lead in won if lead.vanishes]
    stays = [lead.kind for lead in won if not lead.vanishes]
    out = [f"supported away from home too in {', '.join(stays)}"] if stays else []
    return out + ([f"the whole lead vanishes away from home in {', '.join(gone)} (Pham 2022)"] if gone else [])


def _first_only_at_home(grid: Grid, method: str) -> str:
    """First of all methods under its own operator and nowhere else: no ground to call it the best (Ju 2022)."""
    kinds = []
    for table in grid.tables:
        wins = [o for o in table.operators if table.best(o) == method]
        if wins and method in table.methods and wins == [table.homes[method]]:
            kinds.append(f"{table.kind} (under {wins[0]})")
    return f" Calling it the best: it comes first only at home in {', '.join(kinds)}." if kinds else ""


def _next(level: Level, summary: Summary, away: bool, facts: Mapping[str, Any]) -> str:
    model, data = summary.meta.get("model_ref", "MODEL"), summary.meta.get("data_ref", "DATA")
    if level in ("supported", "mixed") and not away and facts.get("removal"):
        other = "mask" if facts.get("removal") != "mask" else "delete"
        return f"assay audit {model} {data} --tests 'deletion(removal={other})'"
    if level == "mixed":
        return f"assay audit {model} {data} --limit {2 * int(summary.meta.get('n', 100))}"
    if level == "supported":
        return ""
    return f"assay list methods; then assay audit {model} {data} --methods all"


def _sentence(summary: Summary, cell: Cell) -> str:
    d = cell.against_control
    if d is None or d.low is None or d.high is None:
        return f"{cell.test}: too few examples for an interval"
    word = {1: "better than random", -1: "worse than random", 0: "not distinguishable from random"}[_side(cell)]
    home = ", on its home ground" if _at_home(summary, cell) else ""
    return f"{cell.test}: {word} by {d.value:+.3f} [{d.low:+.3f}, {d.high:+.3f}], n = {d.n}{home}"


def _led(lead: Lead) -> str:
    home, away, less = lead.at_home, lead.elsewhere, lead.shrinks
    around = "" if less.low is None or less.high is None else f" [{less.low:+.3f}, {less.high:+.3f}]"
    return (
        f"{lead.kind}: ahead of random by {home.value:+.3f} at home ({lead.operator}) and {away.value:+.3f} away "
        f"({', '.join(lead.away)}); home adds {less.value:+.3f}{around}, n = {home.n}"
    )


def _aside(summary: Summary, method: str, cells: list[Cell]) -> tuple[str, ...]:
    """Plausibility and stability: told, never part of the level."""
    out = []
    for cell in summary.cells:
        asks = summary.meta.get("tests", {}).get(cell.test, {}).get("asks")
        if cell.method == method and cell.headline and cell.estimate.n and asks in ("plausibility", "stability"):
            out.append(f"{asks} ({cell.test}): {cell.estimate}, n = {cell.estimate.n}; not part of the level")
    return tuple(out)
