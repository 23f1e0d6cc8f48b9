"""Knows tables 4, A3 and A5: how far texts break, how good the fills are, what a new classification head changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay import stats
from assay.exhibit import Entry, Heatmap, Table, claim
from assay.suites import pham_published as printed
from assay.suites.pham_people import marked_data
from assay.suites.pham_runs import Part, Run, Stage, filled, label, marginal, measured
from assay.trials.randomisation import randomisation
from assay.types import Estimate, Finding, content_key

FEW_RANDOM = 60
HEADS = 3


def broken(stage: Stage) -> Part:
    """Table 4: drop in accuracy when one word is deleted, replaced, or as many go as LIME takes."""
    data = replace(stage.whole, examples=stage.whole.examples[: stage.limit])
    cut = f"accuracy-drop(samples={stage.samples})"
    swapped = f"accuracy-drop(removal={filled(stage.cast.lm, 'at-once', 'allow')}, samples=2)"
    run = measured(stage, "accuracy-drop", data, ["random"], [cut, swapped])
    names = [label("tests", t, stage.lab.seed) for t in (cut, swapped)]
    drops = {
        printed.LOO: run.column("", names[0], "drop_one"),
        printed.IM: run.column("", names[1], "drop_one"),
        printed.LIME: run.column("", names[0], "drop_lime"),
    }
    paper = printed.T4.get(stage.nearest, {})
    body = tuple(
        (row, (Entry(stats.mean([100 * v for v in found.values()]), (*paper.get(row, ()), "")[0]),))
        for row, found in drops.items()
    )
    note = "percentage points, all examples; IM: one word replaced by the likeliest fill, which may be the word itself"
    table = Table("T4", "Drop in accuracy on the texts that a method asks about", ("drop",), body, note)
    return Part((table,), findings=_broken(run, drops))


def _broken(run: Run, drops: Mapping[str, Mapping[str, float]]) -> tuple[Finding, ...]:
    more = run.gap(drops[printed.LIME], drops[printed.LOO], 100.0)
    less = run.gap(drops[printed.LOO], drops[printed.IM], 100.0)
    return (
        claim("LIME's texts break the classifier far more than leaving one word out", more, "16.38 against 3.52 points",
              above=1.0, subject="accuracy drop", why="points of LIME minus LOO; holds above 1 point"),
        claim("Replacing a word hurts no more than deleting it", less, "3.52 against 2.20 points", above=-0.5,
              subject="accuracy drop", why="points of LOO minus IM; holds when IM's is at most half a point larger"),
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------- fills


def fill_quality(stage: Stage) -> Part:
    """Table A3 for both language models."""
    data = marked_data(stage)
    models = {"first": stage.cast.lm, "second": stage.cast.second}
    tests = {which: f"fill-quality(lm={lm!r})" for which, lm in models.items()}
    run = measured(stage, "fill-quality", data, ["random"], [*tests.values()])
    paper = {"first": printed.A3.get(stage.nearest, ())}
    body = []
    for which, t in tests.items():
        said = (*paper.get(which, ()), *[""] * len(QUALITY))
        cells = (Entry(run.mean("", label("tests", t), v, scale), said[i]) for i, (v, _, scale) in enumerate(QUALITY))
        body.append((f"{which} language model", tuple(cells)))
    note = "a word of several pieces can never be put back and counts as no match; the paper's is BERT-base"
    titles = tuple(title for _, title, _ in QUALITY)
    table = Table("A3", "Is the likeliest fill the word itself?", titles, tuple(body), note)
    return Part((table,), notes=_weaker(stage, run.mean("", label("tests", tests["first"]), "match", 100.0)))


QUALITY = (
    ("match", "match, all words (%)", 100.0),
    ("match_evidence", "match, highlights (%)", 100.0),
    ("probability", "probability where it matches", 1.0),
    ("mass", "mass of the top 10 (%)", 100.0),
    ("one_piece", "words of one piece (%)", 100.0),
)
"""What is shown of fills: value, column, scale."""


def _weaker(stage: Stage, match: Estimate) -> tuple[str, ...]:
    """What the quality of the fills does to every number made with them."""
    if stage.nearest not in printed.A3 or match.n == 0:
        return ()
    paper = float(printed.A3[stage.nearest][0].removesuffix(" %"))
    if abs(match.value - paper) < 2:
        return ()
    texts, held = ("more", "less") if match.value < paper else ("less", "more")
    return (
        f"The language model puts {match.value:.0f} % of the words back, the paper's {paper:.0f} %: IM and the tests "
        f"with fills change texts {texts} here, and IM's scores are {held} held near zero than there.",
    )


# -------------------------------------------------------------------------------------------- randomisation


def new_heads(stage: Stage) -> Part:
    """Table A5: the classifier's last weights drawn anew, with the original label fixed and with each copy's own."""
    methods = {printed.LOO: "leave-one-out", printed.IM: marginal(stage.cast.lm)}
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    findings: list[Finding] = []
    for own in (True, False):
        found = _changes(stage, [*methods.values()], own)
        by = {row: [f for f in found if f["method"] == label("methods", m)] for row, m in methods.items()}
        rows += _rows(stage, by, own)
        findings.append(_less(by, own))
    flips = stats.mean([f["label_flip"] for f in found], clusters=[f["example"] for f in found])
    note = (
        f"{HEADS} heads per text, words whose sign changes (%), mean |difference| of maps scaled to [-1, 1]; the paper "
        f"lets each copy explain its own label, which flips every sign where the label flips (share of flips: {flips})."
        " Evidence, not a score: noise changes most (Binder et al. 2023)."
    )
    titles = ("sign changes (%)", "|difference|", "Spearman")
    table = Table("A5", "A new classification head", titles, tuple(rows), note)
    return Part((table,), heatmaps=_under_heads(found, by), findings=tuple(findings))


def _changes(stage: Stage, methods: Sequence[str], own: bool) -> list[dict[str, Any]]:
    data = stage.few(FEW_RANDOM)
    content = content_key(sorted(e.content for e in data.examples))
    asked = {"methods": list(methods), "model": stage.cast.model.fingerprint, "own": own, "data": content}

    def make() -> list[dict[str, Any]]:
        made = randomisation(stage.cast.model, data, methods, seeds=HEADS, own_label=own, seed=stage.lab.seed)
        words = {e.id: stage.cast.model.read(e).free_words for e in data.examples}
        return [
            {"example": r.example, "method": r.method, "head": r.replicate, **dict(r.values),
             "maps": [(r.detail or {}).get(k) for k in ("original", "copy")], "words": list(words[r.example])}
            for r in made if r.values is not None
        ]  # fmt: skip

    found: list[dict[str, Any]] = stage.lab.step("new-heads", asked, make)
    return found


def _rows(stage: Stage, by: Mapping[str, list[dict[str, Any]]], own: bool) -> list[tuple[str, tuple[Entry, ...]]]:
    paper = printed.A5.get(stage.nearest, {}) if own else {}
    out: list[tuple[str, tuple[Entry, ...]]] = []
    for row, found in by.items():
        said = (*paper.get(row, ()), "", "")
        made = (_mean(found, "sign_change", 100.0), _mean(found, "difference"), _mean(found, "spearman"))
        cells = (Entry(made[0], said[0]), Entry(made[1], said[1]), Entry(made[2]))
        out.append((f"{row}, {'own label' if own else 'label fixed'}", cells))
    return out


def _mean(found: Sequence[Mapping[str, Any]], value: str, scale: float = 1.0) -> Estimate:
    here = [f for f in found if value in f]
    return stats.mean([scale * f[value] for f in here], clusters=[f["example"] for f in here])


def _less(by: Mapping[str, list[dict[str, Any]]], own: bool) -> Finding:
    loo, im = ({(f["example"], f["head"]): f["sign_change"] for f in by[row]} for row in (printed.LOO, printed.IM))
    shared = [k for k in loo if k in im]
    gap = stats.paired([100 * loo[k] for k in shared], [100 * im[k] for k in shared], clusters=[k[0] for k in shared])
    how = "each copy explains its own label, as the paper does" if own else "the original label is explained throughout"
    return claim(f"IM changes less than LOO under a new head ({'own label' if own else 'label fixed'})", gap,
                 "71.41 against 62.27 %" if own else "", subject="randomisation",
                 why=f"points of sign changes, LOO minus IM; {how}")  # fmt: skip


def _under_heads(found: Sequence[Mapping[str, Any]], by: Mapping[str, list[dict[str, Any]]]) -> tuple[Heatmap, ...]:
    """Two texts under all heads (figures A6 to A11, lower halves)."""
    shown = list(dict.fromkeys(f["example"] for f in found))[:2]
    out = []
    for example in shown:
        rows: list[tuple[str, tuple[float, ...]]] = []
        words: list[str] = []
        for row, mine in by.items():
            here = [f for f in mine if f["example"] == example]
            words = here[0]["words"] if here else words
            rows += [(row, tuple(here[0]["maps"][0]))] if here else []
            rows += [(f"{row}, {f['head']}", tuple(f["maps"][1])) for f in here]
        out.append(Heatmap("Maps under three new heads, label fixed (figures A6 to A11)", tuple(words), tuple(rows)))
    return tuple(out)
