"""Knows figures 3 to 5 and appendix E: does other attention change the answer, and which would not?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay import stats
from assay.exhibit import Entry, Figure, Heatmap, Series, Table, claim
from assay.suites.jain_correlation import binned
from assay.suites.jain_runs import Bout, apart
from assay.suites.pham_runs import Part
from assay.types import Estimate, Finding

PERMUTATION, ADVERSARY, ERASURE = "permutation", "adversary", "erasure"
LN2 = 0.6931
BINS = 4
"""Equal bins of the largest attention weight on [0, 1], as in the paper's violins."""
PEAK, STILL = 0.5, 0.05
"""A largest weight above the one while the answer moves by less than the other: the paper's striking texts."""
MANY, FAR, MOST, WEAK = 0.25, 0.6, 0.8, 0.2
"""Our reading of 'many' texts, a JSD 'close to .69', 'the large majority', and a fall that is 'weak'."""
SHOWN = 2
PLANTED = "builtin:planted"


def attended(bout: Bout) -> Part:
    """Permutation, adversaries and erasure."""
    tables = (_table(bout), _erasure(bout))
    figures = (_figure3(bout), _figure4(bout), _figure5(bout))
    findings = (_permutation(bout), *_adversaries(bout))
    if bout.material.word.startswith(PLANTED):
        findings += _exception(bout)
    return Part(tables, figures, _heatmaps(bout), findings, _conicity(bout))


def by_class(bout: Bout) -> dict[str, list[str]]:
    """Predicted class -> its texts."""
    predicted = bout.predicted()
    order = [n for n in (*bout.labels, "all") if n in predicted.values()]
    return {n: [e for e, c in predicted.items() if c == n] for n in order}


def column(bout: Bout, test: str, name: str, texts: Sequence[str]) -> list[float]:
    """The numbers of these texts, without those that have none."""
    found = bout.values(test, name)
    return [found[e] for e in texts if not np.isnan(found.get(e, float("nan")))]


def largest(bout: Bout, texts: Sequence[str]) -> list[float]:
    """The largest JSD of each text, 0 where no adversary is close enough, as the paper counts."""
    found, jsd = bout.values(ADVERSARY, "found"), bout.values(ADVERSARY, "jsd")
    return [jsd[e] if found[e] == 1.0 else 0.0 for e in texts if not np.isnan(found.get(e, float("nan")))]


# ------------------------------------------------------------------------------------------------- tables


def _table(bout: Bout) -> Table:
    columns = ("median change under permutation", "an adversary is close enough", "epsilon-max JSD where there is one",
               "epsilon-max JSD, 0 where there is none", "conicity of the states")  # fmt: skip
    rows = []
    groups = by_class(bout)
    for name, texts in {**groups, **({} if "all" in groups else {"all": list(bout.predicted())})}.items():
        values = (
            column(bout, PERMUTATION, "median", texts), column(bout, ADVERSARY, "found", texts),
            column(bout, ADVERSARY, "jsd", texts), largest(bout, texts), column(bout, PERMUTATION, "conicity", texts),
        )  # fmt: skip
        rows.append((name, tuple(Entry(stats.mean(v, skipped=len(texts) - len(v))) for v in values)))
    note = (
        f"By predicted class; means with 95 % intervals. Change = total variation distance; epsilon {reported(bout)}. "
        "The paper counts texts without an adversary as JSD 0; here they are told apart."
    )
    return Table("", "Attention exchanged: permutation and adversaries", columns, tuple(rows), note)


def reported(bout: Bout) -> float:
    """The epsilon within which an adversary counts."""
    return max(bout.epsilon, 0.05) if bout.settings == "code" else bout.epsilon


def _erasure(bout: Bout) -> Table:
    orders = {"attention": "fraction", "gradient at the weights": "fraction_gradient",
              "attention times gradient": "fraction_product", "at random": "fraction_random"}  # fmt: skip
    texts = list(bout.predicted())
    rows = tuple((name, (Entry(stats.mean(column(bout, ERASURE, v, texts))),)) for name, v in orders.items())
    note = "Share of weights set to zero, in this order, until the decision flips (1: never); lower names them better."
    return Table("", "Erasure after the softmax (Serrano & Smith 2019)", ("share erased",), rows, note)


# ------------------------------------------------------------------------------------------------ figures


def _violins(bout: Bout, test: str, name: str, id_: str, title: str, y: str, note: str) -> Figure:
    top, found = bout.values(test, "max_attention"), bout.values(test, name)
    series = []
    for group, texts in by_class(bout).items():
        there = [e for e in texts if not np.isnan(found.get(e, float("nan")))]
        at = tuple(min(int(top[e] * BINS), BINS - 1) / BINS for e in there)
        series.append(Series(group, at, tuple(round(found[e], 6) for e in there)))
    return Figure(id_, title, "violin", "largest attention weight, from (4 equal bins)", y, tuple(series), note)


def _figure3(bout: Bout) -> Figure:
    alike = stats.mean(column(bout, PERMUTATION, "conicity", list(bout.predicted())))
    note = f"Mean conicity of the states: {alike}. Near 1 all states say the same, and no weights could matter."
    return _violins(bout, PERMUTATION, "median", "F3", "Change of the answer when attention is permuted",
                    "median change over permutations", note)  # fmt: skip


def _figure5(bout: Bout) -> Figure:
    return _violins(bout, ADVERSARY, "jsd", "F5", "Largest JSD at the same answer by largest weight",
                    "epsilon-max JSD", _feasible(bout))  # fmt: skip


def _figure4(bout: Bout) -> Figure:
    series = tuple(
        Series(name, *binned(np.array(column(bout, ADVERSARY, "jsd", texts)), 0.0, 0.7, 14))
        for name, texts in by_class(bout).items()
    )
    return Figure("F4", "Largest JSD of attention at the same answer", "histogram", "epsilon-max JSD (at most .693)",
                  "texts", series, _feasible(bout))  # fmt: skip


def _feasible(bout: Bout) -> str:
    texts = list(bout.predicted())
    share = stats.mean(column(bout, ADVERSARY, "found", texts))
    return f"Texts with an adversary within {reported(bout)}: {share}; the others are not drawn."


def _conicity(bout: Bout) -> tuple[str, ...]:
    return (
        "Attention is part of what it is changed in: permutations and adversaries are evidence about the weights, not "
        "about causes (Grimsley et al. 2020); where conicity is high, small changes are no surprise (Mohankumar et al. "
        "2020).",
    )


# ----------------------------------------------------------------------------------------------- heatmaps


def _heatmaps(bout: Bout) -> tuple[Heatmap, ...]:
    """Appendix E: of each class the texts whose attention can go farthest."""
    details, jsd = bout.main.run.details("", bout.tests[ADVERSARY]), bout.values(ADVERSARY, "jsd")
    tvd = bout.values(ADVERSARY, "tvd")
    out = []
    for name, texts in by_class(bout).items():
        short = [e for e in texts if e in details and details[e]["adversarial"] and len(details[e]["words"]) <= 40]
        for e in sorted(short, key=lambda e: (-jsd[e], e))[:SHOWN]:
            d = details[e]
            rows = (("original", tuple(d["original"])), ("adversarial", tuple(d["adversarial"])))
            notes = (f"JSD of attention {jsd[e]:.3f}", f"change of the answer {tvd[e]:.4f}")
            out.append(Heatmap(f"{name}: other attention, same answer (appendix E)", tuple(d["words"]), rows, notes))
    return tuple(out)


# ----------------------------------------------------------------------------------------------- findings


def _permutation(bout: Bout) -> Finding:
    top, median = bout.values(PERMUTATION, "max_attention"), bout.values(PERMUTATION, "median")
    peaked = [e for e in median if top.get(e, 0.0) > PEAK and not np.isnan(median[e])]
    share = stats.mean([float(median[e] < STILL) for e in peaked]) if len(peaked) > 1 else None
    return claim(
        f"Many texts with a weight above {PEAK} hardly notice a permutation", share, "many (figure 3)", above=MANY,
        subject="permutation",
        why=f"of {len(peaked)} texts with such a weight, the share that moves by less than {STILL}; holds above {MANY}",
    )  # fmt: skip


def _adversaries(bout: Bout) -> tuple[Finding, ...]:
    texts = list(bout.predicted())
    found, jsd, top = (bout.values(ADVERSARY, n) for n in ("found", "jsd", "max_attention"))
    far = stats.mean([float(v >= FAR) for v in largest(bout, texts)])
    there = [e for e in texts if found.get(e) == 1.0]
    peaked, flat = ([jsd[e] for e in there if (top[e] > PEAK) is side] for side in (True, False))
    epsilon = reported(bout)
    return (
        claim("Most texts have an attention almost as different as possible with the same answer", far,
              "close to .69 for most (figure 4)", above=0.5, subject="adversary",
              why=f"share of all texts whose largest JSD within {epsilon} is at least {FAR}; holds above a half"),
        claim("Where attention is peaked, adversaries are only a little nearer", apart(peaked, flat),
              "weakly decreasing (figure 5)", above=-WEAK, subject="adversary",
              why=f"mean JSD of {len(peaked)} texts with a weight above {PEAK} minus that of the other {len(flat)}; "
              f"holds above -{WEAK}"),
        claim("For the large majority of texts some other attention gives the same answer",
              stats.mean(column(bout, ADVERSARY, "found", texts)), "", above=MOST, subject="adversary",
              why=f"share of texts with an adversary within {epsilon}; holds above {MOST}"),
    )  # fmt: skip


def _exception(bout: Bout) -> tuple[Finding, ...]:
    """One word decides the positive class, as in the paper's diagnoses: there attention cannot be exchanged."""
    groups = by_class(bout)
    negative, positive = (groups.get(n, []) for n in bout.labels)
    moved = [column(bout, PERMUTATION, "median", g) for g in (positive, negative)]
    reach = [largest(bout, g) for g in (negative, positive)]
    return (
        claim("Exception: permutation moves the answer in the class that one word decides", apart(*moved),
              "Diabetes, class 1 (figure 3)", subject="exception", why=_said("median change", positive=moved[0],
              negative=moved[1])),
        claim("Exception: no far adversary exists in the class that one word decides", apart(*reach),
              "Diabetes, class 1 (figure 4)", subject="exception", why=_said("epsilon-max JSD (0: none)",
              positive=reach[1], negative=reach[0])),
    )  # fmt: skip


def _said(what: str, **groups: Sequence[float]) -> str:
    means: Mapping[str, Estimate] = {k: stats.mean(v) for k, v in groups.items()}
    return f"{what}: " + ", ".join(f"{k} {e}" for k, e in means.items()) + "; difference of the means"
