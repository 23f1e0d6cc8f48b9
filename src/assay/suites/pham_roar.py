"""Knows tables 2 and A6 and figure 4: retraining without what leave-one-out and marginalisation call important."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay import resolve, stats
from assay.exhibit import Entry, Figure, Series, Table, claim
from assay.suites import pham_published as printed
from assay.suites.pham_models import trained_on
from assay.suites.pham_runs import Part, Stage, filled, label, marginal
from assay.trials.roar import CONTROL, RATES, SEEDS, TEST, areas, roar, t_test
from assay.types import Dataset, Estimate, Finding, Record, content_key

LOO = "leave-one-out"
CLASSIFIER = "bag"
FEWEST = 3
"""Seeds that an interval over seeds needs: two that happen to agree would look certain."""
POINTS = 100.0
Curves = Mapping[tuple[str, str, float], Mapping[str, float]]
"""(test, row, rate) -> seed -> accuracy in %."""
PART = {"delete": ("T2", "ROAR: words deleted"), "fills": ("T2", "ROAR with fills: words replaced by the likeliest")}


def retrained(stage: Stage, lime: bool = False) -> Part:
    """ROAR by deletion and by fills. ``lime``: LIME against LIME with fills (table A6), else LOO against IM."""
    rows = lime_rows(stage) if lime else loo_rows(stage)
    found = {kind: curves(records(stage, rows, operator, lime), rows) for kind, operator in operators(stage).items()}
    tables = tuple(_table(kind, found[kind], rows, lime) for kind in found)
    control = (_control_table(found["delete"], rows),) if controlled(stage, lime) else ()
    figures = tuple(_figure(kind, found[kind], rows) for kind in found)
    findings = _lime_findings(found) if lime else _findings(found)
    told = {"ROAR": f"{stage.roar_rows} training rows, classifier {CLASSIFIER}, {stage.seeds} seeds"}
    return Part((*tables, *control), figures, findings=findings, settings=told)


def loo_rows(stage: Stage) -> dict[str, str]:
    """Row -> method."""
    return {printed.LOO: LOO, printed.IM: marginal(stage.cast.lm), printed.RANDOM: "random"}


def lime_rows(stage: Stage) -> dict[str, str]:
    """Row -> method."""
    few = max(50, stage.samples // 5)
    fills = filled(stage.cast.lm, "at-once", "allow")
    return {
        printed.LIME: f"lime(samples={few})",
        printed.LIME_BERT: f"lime(samples={few}, removal={fills})",
        printed.RANDOM: "random",
    }


def operators(stage: Stage) -> dict[str, str]:
    """How the words leave the texts."""
    return {"delete": "delete", "fills": filled(stage.cast.lm, "at-once", "allow")}


def datasets(stage: Stage, lime: bool = False) -> tuple[Dataset, Dataset]:
    """Training rows and all evaluated examples; LIME costs most and gets a third of the rows."""
    rows = stage.roar_rows // 3 if lime else stage.roar_rows
    train = resolve.distinct(resolve.data(trained_on(stage.data), split="train")).sample(rows)
    train = resolve.matched(train, stage.cast.model)
    small = stage.data.startswith("builtin")
    return train, stage.whole.sample(stage.roar_rows if small else None)


def controlled(stage: Stage, lime: bool) -> bool:
    """Is the costly control of the places run too? Not for LIME and not on built-in data."""
    return not lime and not stage.data.startswith("builtin")


def records(stage: Stage, rows: Mapping[str, str], operator: str, lime: bool) -> list[Record]:
    """Records of one operator; explanations are shared by both."""
    train, dev = datasets(stage, lime)
    names = [m for m in rows.values() if m != "random"]
    asked = {"methods": names, "model": stage.cast.model.fingerprint, "rows": len(train), "dev": len(dev)}
    folder = stage.lab.place("roar-lime" if lime else "roar", asked)
    content = content_key(sorted(e.content for d in (train, dev) for e in d.examples))

    control = operator == "delete" and controlled(stage, lime)

    def make() -> list[dict[str, object]]:
        made = roar(
            stage.cast.model, train, dev, names, removal=operator, rates=RATES, seeds=SEEDS[: stage.seeds],
            classifier=CLASSIFIER, control=control, seed=stage.lab.seed, out=folder, workers=stage.lab.workers,
            progress=lambda what, share: stage.lab.tell(f"roar: {what}", share),
        )  # fmt: skip
        return [{"test": r.test, "method": r.method, "replicate": r.replicate, "reason": r.reason,
                 "values": dict(r.values or {}), "detail": dict(r.detail or {})} for r in made]  # fmt: skip

    kept = stage.lab.step("roar", asked | {"operator": operator, "seeds": stage.seeds, "content": content}, make)
    return [
        Record(k["test"], method=k["method"], replicate=k["replicate"], values=k["values"] or None,
               reason=k["reason"], detail=k["detail"] or None)
        for k in kept
    ]  # fmt: skip


def curves(found: Sequence[Record], rows: Mapping[str, str]) -> Curves:
    """Accuracies in % by test, row, rate and seed; the untouched data belongs to every row."""
    by_label = {label("methods", method): row for row, method in rows.items()}
    out: dict[tuple[str, str, float], dict[str, float]] = {}
    for r in found:
        if r.values is None or r.detail is None:
            continue
        whose = list(rows) if not r.method else [by_label[r.method]]
        for row in whose:
            key = (r.test, row, float(r.detail["rate"]))
            out.setdefault(key, {})[r.replicate] = POINTS * r.values["accuracy"]
    return out


# -------------------------------------------------------------------------------------------------- showing


def _values(found: Curves, row: str, rate: float, test: str = TEST) -> list[float]:
    return list(found.get((test, row, rate), {}).values())


def _table(kind: str, found: Curves, rows: Mapping[str, str], lime: bool) -> Table:
    number, title = PART[kind]
    paper = printed.T2[kind]
    body = [
        (row, tuple(Entry(stats.mean(_values(found, row, rate)), paper[row][i]) for i, rate in enumerate(RATES)))
        for row in rows
    ]
    if not lime:
        body.append((P_ROW, tuple(Entry(_p(found, rate), paper[P_ROW][i]) for i, rate in enumerate(RATES))))
    note = "accuracy in %, mean over seeds; lower = more of what the label hangs on was named"
    return Table("A6" if lime else number, title, tuple(f"{r:.0%}" for r in RATES), tuple(body), note)


P_ROW = "p, LOO against IM"


def _p(found: Curves, rate: float) -> float | str:
    one, two = _values(found, printed.LOO, rate), _values(found, printed.IM, rate)
    if not rate or min(len(one), len(two)) < 2:
        return ""
    with warnings.catch_warnings():  # one side without any spread: the test holds, its variance is just zero
        warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
        p = t_test(one, two).welch
    return "" if p is None else round(p, 3)


def _control_table(found: Curves, rows: Mapping[str, str]) -> Table:
    body = tuple(
        (row, tuple(Entry(stats.mean(_values(found, row, rate, CONTROL))) for rate in RATES[1:])) for row in rows
    )
    note = (
        "accuracy in % of a classifier that sees only where words were removed: what lies above the majority class "
        "(about 50 %) is the label leaking through the places, and lifts the curves of T2"
    )
    return Table("", "ROAR control: the places alone", tuple(f"{r:.0%}" for r in RATES[1:]), body, note)


def _figure(kind: str, found: Curves, rows: Mapping[str, str]) -> Figure:
    series = []
    for row in rows:
        made = [stats.mean(_values(found, row, rate)) for rate in RATES]
        ends = [(m.value if m.low is None else m.low, m.value if m.high is None else m.high) for m in made]
        x, y = tuple(100 * r for r in RATES), tuple(m.value for m in made)
        series.append(Series(row, x, y, tuple(e[0] for e in ends), tuple(e[1] for e in ends)))
    return Figure("F4", PART[kind][1], "line", "words removed (%)", "accuracy (%)", tuple(series))


# ------------------------------------------------------------------------------------------------- findings


def difference(found: Curves, one: str, other: str) -> Estimate:
    """Mean of one - other over seeds (rates averaged within a seed, so that n counts seeds)."""
    gaps: dict[str, list[float]] = {}
    for rate in RATES[1:]:
        first, second = found.get((TEST, one, rate), {}), found.get((TEST, other, rate), {})
        for seed in first.keys() & second.keys():
            gaps.setdefault(seed, []).append(first[seed] - second[seed])
    means = [sum(g) / len(g) for _, g in sorted(gaps.items())]
    made = stats.paired(means, [0.0] * len(means))
    return made if made.n >= FEWEST else replace(made, low=None, high=None, how=f"fewer than {FEWEST} seeds")


def _findings(found: Mapping[str, Curves]) -> tuple[Finding, ...]:
    out = []
    for kind, paper in (("delete", "74.59/68.94/67.89 against 89.22/87.75/85.62"), ("fills", "76.79 against 89.38")):
        for row in (printed.LOO, printed.IM):
            out.append(
                claim(
                    f"Removing what {row} names hurts far more than removing at random ({PART[kind][1]})",
                    difference(found[kind], printed.RANDOM, row), paper, above=1.0, subject="ROAR",
                    why="accuracy points that random removal keeps and this one loses, mean of 10, 20 and 30 %, "
                    "interval over seeds; holds above 1 point",
                )
            )  # fmt: skip
        out.append(
            claim(
                f"IM is no better than LOO under retraining ({PART[kind][1]})",
                difference(found[kind], printed.IM, printed.LOO), "equal within noise; only ROAR-10 % differs (p .037)",
                above=-1.0, subject="ROAR",
                why="accuracy points left after IM's removal minus after LOO's; holds when IM is not more than 1 point "
                "better (below -1)",
            )
        )  # fmt: skip
    return tuple(out)


def _lime_findings(found: Mapping[str, Curves]) -> tuple[Finding, ...]:
    return tuple(
        claim(
            f"LIME with fills is better than LIME under retraining ({PART[kind][1]})",
            difference(found[kind], printed.LIME, printed.LIME_BERT), "75.51/75.30/77.45 against 73.99/72.22/70.82",
            subject="ROAR of LIME", why="accuracy points left after LIME's removal minus after LIME_BERT's",
        )
        for kind in found
    )  # fmt: skip


__all__ = ["areas", "curves", "datasets", "difference", "lime_rows", "loo_rows", "records", "retrained"]
