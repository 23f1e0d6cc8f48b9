"""Knows tables 3 and A2 and figures 2, 3, A12 to A16: maps against what people highlighted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay import resolve, stats
from assay.exhibit import Entry, Heatmap, Table, claim
from assay.measures import highlights
from assay.suites import pham_published as printed
from assay.suites.pham_runs import Part, Run, Stage, filled, label, marginal, measured, right_ones
from assay.types import Dataset, Estimate, Explanation, Finding

MARKED = {"sst2": "sst", "snli": "esnli"}
"""Data sets whose highlights are filed under another name (the same texts)."""
PROXIES = {0.5: "class edges .6 / .4", 1.0: "class edges .8 / .2"}
"""Weight of a phrase of the treebank -> where that cuts its score; the paper cuts at .7 / .3."""
FEW_LIME = 100
COLUMNS = ("IoU", "precision", "recall", "F1", "threshold", "F1, honest threshold")


def marked_data(stage: Stage) -> Dataset:
    """Examples with highlights that the classifier gets right."""
    name = MARKED.get(stage.data)
    if name is None:
        return stage.few(stage.limit)
    whole = resolve.matched(resolve.distinct(resolve.data(name, split="dev")).sample(None), stage.cast.model)
    right = right_ones(stage.lab, stage.cast.model, whole, stage.limit)
    return replace(right, examples=tuple(right.examples))


def specs(stage: Stage, data: Dataset) -> dict[str, str]:
    """What counts as highlighted -> test."""
    named = {m.label for e in data.examples for m in e.rationale if m.label}
    labels = f"labels='{','.join(stage.cast.model.labels)}'" if named else ""
    weights = {m.weight for e in data.examples for m in e.rationale}
    if len(weights) < 2:
        return {"": f"highlights({labels})" if labels else "highlights"}
    return {
        PROXIES.get(w, f"weight {w:g}"): f"highlights(weight={w}{', ' + labels if labels else ''})"
        for w in sorted(weights)
    }


@dataclass(frozen=True, eq=False, slots=True)
class Agreed:
    """One method against people's highlights."""

    row: str
    method: str
    details: Mapping[str, Mapping[str, Any]]

    @property
    def table(self) -> highlights.Table:
        """The paper's table: threshold chosen on these very examples."""
        return highlights.paper_table([*self.details.values()])

    def at_best(self, name: str) -> dict[str, float]:
        """Example -> value at the method's own best threshold."""
        tau = self.table.tau[0]
        return {e: float(d[name][list(d["x"]).index(tau)]) for e, d in self.details.items()}

    @property
    def entries(self) -> list[Estimate | float]:
        """IoU, precision, recall, F1, threshold, honest F1."""
        iou, p, r = ([*self.at_best(name).values()] for name in ("iou", "precision", "recall"))
        f1 = stats.bootstrap(stats.f1_of_means, [p, r], draws=500)
        honest = highlights.honest_table([*self.details.values()]).f1 if len(p) > 1 else float("nan")
        return [stats.mean(iou), stats.mean(p), stats.mean(r), f1, self.table.tau[0], honest]


def people(stage: Stage) -> Part:
    """Agreement of IM and LOO, and of LIME with and without fills on fewer examples."""
    data = marked_data(stage)
    if not any(e.rationale for e in data.examples):
        return Part(notes=(f"{stage.data} has no highlights: tables 3 and A2 are left out",))
    plain = {printed.IM: marginal(stage.cast.lm), printed.LOO: "leave-one-out"}
    fills = filled(stage.cast.lm, "at-once", "allow")
    lime = {
        printed.LIME: f"lime(samples={stage.samples}, bow=true)",
        printed.LIME_BERT: f"lime(samples={stage.samples}, bow=true, removal={fills})",
    }
    every = specs(stage, data)
    run = measured(stage, "people", data, [*plain.values()], [*every.values()])
    few = replace(data, examples=data.examples[:FEW_LIME])
    run_lime = measured(stage, "people-lime", few, [*lime.values()], [*every.values()])
    parts = []
    for proxy, test in every.items():
        found = [*_agreed(stage, run, plain, test), *_agreed(stage, run_lime, lime, test)]
        parts.append((proxy, [a for a in found if a.details]))
    tables = tuple(t for proxy, found in parts for t in (_table(stage, proxy, found), _coverage(stage, proxy, found)))
    findings = tuple(f for proxy, found in parts for f in _findings(proxy, found))
    return Part(tables, heatmaps=_cards(run, parts[0][1]), findings=findings)


def _agreed(stage: Stage, run: Run, methods: Mapping[str, str], test: str) -> list[Agreed]:
    name = label("tests", test, stage.lab.seed)
    labels = {row: label("methods", m, stage.lab.seed) for row, m in methods.items()}
    return [Agreed(row, m, run.details(m, name)) for row, m in labels.items()]


# -------------------------------------------------------------------------------------------------- showing


def _titled(title: str, proxy: str) -> str:
    return f"{title} ({proxy})" if proxy else title


def _table(stage: Stage, proxy: str, found: Sequence[Agreed]) -> Table:
    paper = printed.T3.get(stage.nearest, {})
    body = tuple((a.row, tuple(Entry(v, _at(paper.get(a.row, ()), i)) for i, v in enumerate(a.entries))) for a in found)
    note = (
        "F1 = harmonic mean of mean precision and mean recall, as the paper computes it; each method at the threshold "
        "that suits it best on these examples; the honest F1 chooses it on one half and judges on the other"
    )
    return Table("T3", _titled("Agreement with people's highlights", proxy), COLUMNS, body, note)


def _at(row: Sequence[str], i: int) -> str:
    return row[i] if i < len(row) else ""


def _coverage(stage: Stage, proxy: str, found: Sequence[Agreed]) -> Table:
    paper = printed.A2.get(stage.nearest, {})
    body = [(a.row, (Entry(_percent([*a.at_best("coverage").values()]), _at(paper.get(a.row, ()), 0)),)) for a in found]
    human = [100 * float(np.mean(d["evidence"])) for d in found[0].details.values()]
    body.append((printed.HUMAN, (Entry(stats.mean(human), _at(paper.get(printed.HUMAN, ()), 0)),)))
    return Table("A2", _titled("Words highlighted (%)", proxy), ("coverage",), tuple(body))


def _percent(values: Sequence[float]) -> Estimate:
    return stats.mean([100 * v for v in values])


def _cards(run: Run, found: Sequence[Agreed], most: int = 3) -> tuple[Heatmap, ...]:
    """People's words and two cut maps, on the texts where the two differ most."""
    by = {a.row: a for a in found}
    im, loo = by[printed.IM], by[printed.LOO]
    one, two = im.at_best("iou"), loo.at_best("iou")
    shown = sorted(one, key=lambda e: (-abs(one[e] - two.get(e, 0.0)), e))[:most]
    return tuple(_card(run, e, (im, loo)) for e in shown if e in two)


def _card(run: Run, example: str, found: Sequence[Agreed]) -> Heatmap:
    maps = [run.maps(a.method)[example] for a in found]
    evidence = found[0].details[example]["evidence"]
    rows = [(printed.HUMAN, tuple(float(v) for v in evidence))]
    rows += [(a.row, _cut(made, a.table.tau[0])) for a, made in zip(found, maps, strict=True)]
    notes = tuple(
        f"{a.row}: " + ", ".join(f"{name} {a.at_best(name)[example]:.2f}" for name in ("iou", "precision", "recall"))
        for a in found
    )
    return Heatmap(f"{maps[0].target_name}: cut maps against highlights (figures 2, 3, A12 to A16)", maps[0].words,
                   tuple(rows), notes)  # fmt: skip


def _cut(made: Explanation, tau: float) -> tuple[float, ...]:
    return tuple(float(v) for v in highlights.shown(made.scores, [tau])[0])


# ------------------------------------------------------------------------------------------------- findings


def _gap(one: Agreed, other: Agreed, name: str) -> Estimate:
    a, b = one.at_best(name), other.at_best(name)
    shared = [e for e in a if e in b]
    return stats.paired([a[e] for e in shared], [b[e] for e in shared])


def _findings(proxy: str, found: Sequence[Agreed]) -> list[Finding]:
    by = {a.row: a for a in found}
    why = "LOO minus IM over the same examples, each at its own best threshold"
    out = []
    for name, paper in (("recall", ".6077 against .5245 (SST)"), ("iou", ".2756 against .2377 (SST)")):
        gap = _gap(by[printed.LOO], by[printed.IM], name)
        said = _titled(f"LOO agrees more with people than IM: {name}", proxy)
        out.append(claim(said, gap, paper, subject="people", why=why))
    if printed.LIME in by and printed.LIME_BERT in by:
        gap = _gap(by[printed.LIME], by[printed.LIME_BERT], "iou")
        out.append(
            claim(_titled("Fills do not bring LIME nearer to people", proxy), gap, ".3193 against .3170 IoU",
                  above=-0.02, subject="people", why="IoU of LIME minus LIME with fills; holds when above -0.02")
        )  # fmt: skip
    return out
