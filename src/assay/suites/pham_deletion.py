"""Knows tables 1, 1b, A1 and A4: deletion by cutting and by fills, sizes of maps, ten fills against a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay import stats
from assay.exhibit import Entry, Heatmap, Table, claim
from assay.grid import crossing
from assay.grid.crossing import Crossing
from assay.suites import pham_published as printed
from assay.suites.pham_runs import Part, Run, Stage, filled, label, marginal, measured
from assay.types import Explanation, Finding

IM2, LOO_ZERO = "IM, second language model", "LOO, zero embedding"
BY_DELETE, BY_LM, BY_SECOND = "Deletion", "Deletion with fills", "Deletion with the second model's fills"
AUC = "auc_paper"
THRESHOLD, MANY = 1e-4, 200
"""The released code's threshold of input marginalisation, and the most fills that are counted here."""
FEW_THRESHOLD = 40
"""Examples for the comparison with the threshold, which costs twenty times ten fills."""


def methods(stage: Stage) -> dict[str, str]:
    """Row -> method."""
    return {
        printed.IM: marginal(stage.cast.lm),
        IM2: marginal(stage.cast.second),
        printed.LOO_PAD: "leave-one-out(removal=pad)",
        printed.LOO_UNK: "leave-one-out(removal=unk)",
        printed.LOO_EMPTY: "leave-one-out",
        LOO_ZERO: "leave-one-out(removal=zero)",
        printed.RANDOM: "random",
    }


def tests(stage: Stage) -> dict[str, str]:
    """Column -> test; curves stop where the paper's do."""
    return {
        BY_DELETE: "deletion(until=0.2)",
        BY_LM: f"deletion(removal={filled(stage.cast.lm)}, until=0.2)",
        BY_SECOND: f"deletion(removal={filled(stage.cast.second)}, until=0.2)",
    }


def table_run(stage: Stage) -> Run:
    """The run that tables 1, 1b and A1 and the examples are read from."""
    every = [*methods(stage).values()]
    return measured(stage, "deletion", stage.few(stage.limit), every, [*tests(stage).values(), "magnitude"])


def deleted(stage: Stage) -> Part:
    """Table 1 with both language models, their crossings, and sizes of maps."""
    run = table_run(stage)
    rows = {row: label("methods", m, stage.lab.seed) for row, m in methods(stage).items()}
    columns = {column: label("tests", t, stage.lab.seed) for column, t in tests(stage).items()}
    rows = {row: m for row, m in rows.items() if m in run.meta["methods"]}
    table = _table_one(stage, run, rows, columns)
    findings = [*_crossings(stage, run, rows, columns), *_same_lm(run, rows, columns)]
    sizes, smaller = _sizes(stage, run, rows)
    gaps = run.meta["inapplicable"]
    notes = tuple(f"Table 1 does without {name}: {why}" for name, why in gaps.items())
    return Part((*table, sizes), findings=(*findings, *smaller), notes=notes)


def _table_one(stage: Stage, run: Run, rows: Mapping[str, str], columns: Mapping[str, str]) -> tuple[Table, Table]:
    paper = printed.T1.get(stage.nearest, {})
    second = printed.T1B if stage.nearest == printed.SST else {}
    first = tuple(
        (row, tuple(Entry(run.mean(m, columns[c], AUC), _at(paper.get(row, ()), i))
                    for i, c in enumerate((BY_DELETE, BY_LM))))
        for row, m in rows.items() if row != IM2
    )  # fmt: skip
    other = tuple(
        (row, tuple(Entry(run.mean(m, columns[c], AUC), _at(second.get(as_im(row), ()), i))
                    for i, c in enumerate((BY_DELETE, BY_SECOND))))
        for row, m in rows.items() if row != printed.IM
    )  # fmt: skip
    note = (
        "the paper's AUC, lower is better; only texts that the classifier gets right. LOO_zero of the paper puts the "
        "[PAD] token there; the zero embedding is what that name says. Fills from left to right, each seen by the next."
    )
    return (
        Table("T1", "Deletion and Deletion with fills", (BY_DELETE, BY_LM), first, note),
        Table("T1b", "The same with the second language model", (BY_DELETE, BY_SECOND), other,
              "the paper's second model is RoBERTa, as language model and as classifier; here the classifier stays"),
    )  # fmt: skip


def _at(row: tuple[str, ...], i: int) -> str:
    return row[i] if i < len(row) else ""


def as_im(row: str) -> str:
    """The paper's row for one of ours."""
    return printed.IM if row == IM2 else row


# ------------------------------------------------------------------------------------------------- crossing


def crossed(run: Run, loo: str, im: str, by_delete: str, by_fills: str) -> Crossing:
    """The crossing of two methods under two deletion tests, by the paper's AUC."""
    chosen = {t: {**run.meta["tests"][t], "headline": AUC} for t in (by_delete, by_fills)}
    meta: dict[str, Any] = {**run.meta, "tests": chosen}
    operators = [chosen[t]["removal"] for t in (by_delete, by_fills)]
    return crossing(run.records, meta, loo, im, operators[0], operators[1], kind=None)


def _crossings(stage: Stage, run: Run, rows: Mapping[str, str], columns: Mapping[str, str]) -> list[Finding]:
    paper = {printed.SST: ".4241 against .4732 by deletion, .4922 against .5065 by fills",
             printed.ESNLI: ".2506 against .3912 by deletion, .2816 against .3328 by fills"}  # fmt: skip
    out = []
    for row, column, which in ((printed.IM, BY_LM, "first"), (IM2, BY_SECOND, "second")):
        if row not in rows:
            continue
        found = crossed(run, rows[printed.LOO_EMPTY], rows[row], columns[BY_DELETE], columns[column])
        published = paper.get(stage.nearest, "") if which == "first" else ""
        out += [
            Finding(
                f"Crossing, {which} language model: LOO_empty is better under Deletion, IM under Deletion with fills",
                found.interaction, published, found.holds, _why(found), "crossing",
            ),
            claim(
                f"Interaction, {which} language model: each test favours the method that removes words its way",
                found.interaction, "", subject="crossing",
                why=f"sum of both leads per example, p = {_p(found.p)} by sign flips, {found.interaction.n} examples",
            ),
        ]  # fmt: skip
    return out


def _why(found: Crossing) -> str:
    return (
        f"LOO_empty ahead by {found.under_a} under Deletion, IM ahead by {found.under_b} under Deletion with fills, "
        f"paired over {found.interaction.n} examples; holds when both are above zero"
    )


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _same_lm(run: Run, rows: Mapping[str, str], columns: Mapping[str, str]) -> list[Finding]:
    """Is it the very language model that is favoured, or fills at all?"""
    if IM2 not in rows:
        return []

    def lead(im: str, column: str) -> dict[str, float]:
        mine, other = (run.column(rows[r], columns[column], AUC) for r in (im, printed.LOO_EMPTY))
        return {e: other[e] - mine[e] for e in mine if e in other}

    own = run.gap(lead(printed.IM, BY_LM), lead(printed.IM, BY_SECOND))
    why = "IM's lead over LOO_empty when the test's fills come from IM's own language model minus from the other one"
    said = "The test favours IM more when both use the same language model"
    return [claim(said, own, "", subject="crossing", why=why)]


# ---------------------------------------------------------------------------------------------------- sizes


def _sizes(stage: Stage, run: Run, rows: Mapping[str, str]) -> tuple[Table, tuple[Finding, ...]]:
    paper = printed.A1.get(stage.nearest, {})
    pairs = ((printed.LOO, rows[printed.LOO_EMPTY]), (printed.IM, rows[printed.IM]))
    scaled, raw = ({row: run.column(m, "magnitude", v) for row, m in pairs} for v in ("mean", "raw"))
    body = tuple(
        (row, (Entry(stats.mean([*scaled[row].values()]), _at(paper.get(row, ()), 0)),
               Entry(stats.mean([*raw[row].values()]))))
        for row, _ in pairs
    )  # fmt: skip
    table = Table("A1", "Mean |score|", ("scaled to [-1, 1]", "raw (log-odds)"), body)
    said = "Scores of IM are smaller than those of LOO"
    units = (("scaled to [-1, 1], as in the paper", scaled, ".22 against .17 (SST)"), ("in log-odds", raw, ""))
    found = tuple(
        claim(f"{said}, {unit}", run.gap(values[printed.LOO], values[printed.IM]), paper_said, subject="size",
              why="mean |a| of LOO_empty minus IM over the same texts")
        for unit, values, paper_said in units
    )  # fmt: skip
    return table, found


# ------------------------------------------------------------------------------------------------ threshold


def thresholded(stage: Stage) -> Part:
    """Table A4: ten fills against all fills above a threshold, and two heatmaps side by side."""
    both = {"top 10": marginal(stage.cast.lm), "threshold": marginal(stage.cast.lm, top=MANY, threshold=THRESHOLD)}
    columns = {c: t for c, t in tests(stage).items() if c != BY_SECOND}
    run = measured(stage, "threshold", stage.few(FEW_THRESHOLD), [*both.values()], [*columns.values()])
    labels = {row: label("methods", m, stage.lab.seed) for row, m in both.items()}
    body = tuple(
        (row, tuple(Entry(run.mean(m, label("tests", t, stage.lab.seed), AUC), printed.A4[row][i])
                    for i, t in enumerate(columns.values())))
        for row, m in labels.items()
    )  # fmt: skip
    ten, every = (run.maps(m) for m in labels.values())
    r = {e: pearson(ten[e], every[e]) for e in ten if e in every}
    told = stats.mean([*r.values()])
    note = f"fills of at least {THRESHOLD:g}, at most {MANY} of them; Pearson of the two maps {told} (paper .72)"
    tables = (Table("A4", "IM with ten fills and with a threshold", tuple(columns), body, note),)
    found = claim("Ten fills give much the same map as a threshold", told, ".72", above=0.5, subject="fills",
                  why="mean Pearson correlation of the two maps of a text; holds above 0.5")  # fmt: skip
    shown = sorted(r, key=lambda e: r[e])[:: max(1, len(r) // 3)][:3]
    return Part(tables, heatmaps=tuple(_two(ten[e], every[e], r[e]) for e in shown), findings=(found,))


def pearson(one: Explanation, other: Explanation) -> float:
    """Correlation of two maps of a text; NaN where one has one value for all words."""
    a, b = one.scores, other.scores
    if len(a) < 2 or np.ptp(a) < 1e-12 or np.ptp(b) < 1e-12:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _two(one: Explanation, other: Explanation, r: float) -> Heatmap:
    rows = (("ten fills", tuple(one.scores.tolist())), ("threshold", tuple(other.scores.tolist())))
    return Heatmap(f"Ten fills and threshold, Pearson {r:.2f} (figures A1 to A5)", one.words, rows)
