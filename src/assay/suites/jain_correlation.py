"""Knows table 2 and figures 2 and 6 to 8: does attention agree with gradients and leaving words out?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay import stats
from assay.exhibit import Entry, Figure, Series, Table, claim
from assay.measures.attention_correlation import ALPHA, Pair, Scored, length_bin, pair
from assay.suites import jain_published as printed
from assay.suites.jain_runs import ATTENTION, AVERAGE, GRADIENT, LOO, Bout, Player, apart
from assay.suites.pham_runs import Part, label
from assay.types import Estimate, Finding, Floats

AG, AL, GL = (ATTENTION, GRADIENT), (ATTENTION, LOO), (GRADIENT, LOO)
PAIRS = {AL: "attention with leave-one-out", AG: "attention with gradient", GL: "gradient with leave-one-out"}
"""In the order of the released results."""
BINS = 20
Taus = Mapping[str, Pair]
"""Text -> how two methods agree on it."""


def correlated(bout: Bout) -> Part:
    """All that the paper says of rank correlation."""
    main, average = agreement(bout.main), agreement(bout.average)
    tables = (_table2(bout, main, average), _every_pair(bout, main, average), _by_length(main))
    figures = (*_histograms(bout, main), _differences(bout, main, average))
    return Part(tables, figures, findings=_findings(bout, main, average))


def agreement(player: Player) -> dict[tuple[str, str], dict[str, Pair]]:
    """Pair of methods -> text -> Kendall's tau-b of their sizes over the attended words."""
    maps = {name: player.run.maps(label("methods", name)) for name in (ATTENTION, GRADIENT, LOO)}
    shared = [e for e in maps[ATTENTION] if all(e in m for m in maps.values())]
    cases = {e: Scored("", {name: m[e].scores for name, m in maps.items()}) for e in shared}
    return {names: {e: pair(case, *names) for e, case in cases.items()} for names in PAIRS}


def taus(found: Taus, chosen: Sequence[str] | None = None) -> Floats:
    """Tau of these texts; NaN where a side has no order."""
    return np.array([found[e].tau for e in (found if chosen is None else chosen)])


def significant(found: Taus, chosen: Sequence[str]) -> Floats:
    """1 where p <= 0.05, 0 where not, NaN where there is no tau."""
    return np.array([float("nan") if np.isnan(found[e].tau) else float(found[e].p <= ALPHA) for e in chosen])


def _groups(bout: Bout) -> dict[str, list[str]]:
    """Predicted class -> its texts, and all of them."""
    predicted = bout.predicted()
    names = [n for n in bout.labels if n in predicted.values()]
    return {**{n: [e for e, c in predicted.items() if c == n] for n in names}, "all": list(predicted)}


# ------------------------------------------------------------------------------------------------- tables


def _table2(bout: Bout, main: Mapping[tuple[str, str], Taus], average: Mapping[tuple[str, str], Taus]) -> Table:
    columns = [("gradient", main[AG], bout.main.encoder), ("gradient", average[AG], AVERAGE),
               ("leave-one-out", main[AL], bout.main.encoder)]  # fmt: skip
    heads = tuple(f"{what}, {encoder}: {v}" for what, _, encoder in columns for v in ("tau", "std", "significant"))
    rows = []
    for name, texts in _groups(bout).items():
        cells = _printed2(bout, name)
        row = [e for (_, found, _), cell in zip(columns, cells, strict=True) for e in _three(found, texts, cell)]
        rows.append((name, tuple(row)))
    note = (
        "By the class that the model chose. Mean Kendall tau-b with a 95 % interval over texts, population standard "
        "deviation, share with p <= .05 (which says mostly how long a text is: see the table by length). Texts where "
        "one side has no order have no tau and are counted as skipped."
    )
    return Table("T2", "Attention against gradient and leave-one-out", heads, tuple(rows), note)


def _printed2(bout: Bout, name: str) -> tuple[printed.Cell, ...]:
    """What the paper prints for the class (its classes 0 and 1), or for all where it prints one row."""
    rows = printed.T2.get(bout.material.nearest, ())
    at = 0 if len(rows) == 1 and name == "all" else bout.labels.index(name) if name in bout.labels else -1
    good = 0 <= at < len(rows) and (len(rows) == 1) == (name == "all") and bout.main.encoder == "bilstm"
    return rows[at] if good else (("", ""),) * 3


def _three(found: Taus, texts: Sequence[str], cell: printed.Cell) -> tuple[Entry, Entry, Entry]:
    values = taus(found, [e for e in texts if e in found])
    known = values[~np.isnan(values)]
    std = float(known.std()) if len(known) else None
    sure = stats.mean(significant(found, [e for e in texts if e in found]))
    return Entry(stats.mean(values), cell[0]), Entry(std, cell[0].partition(" ± ")[2]), Entry(sure, cell[1])


def _every_pair(bout: Bout, main: Mapping[tuple[str, str], Taus], average: Mapping[tuple[str, str], Taus]) -> Table:
    players = {bout.main.encoder: main} | {AVERAGE: average}
    rows = []
    for k, (names, title) in enumerate(PAIRS.items()):
        entries = []
        for encoder, found in players.items():
            known = printed.overall(encoder, bout.material.nearest)
            entries.append(Entry(stats.mean(taus(found[names])), f"{known[k]:.3f}" if known else ""))
        rows.append((title, tuple(entries)))
    note = "Agreement is evidence, not a quality score: all pairs are shown (Neely et al. 2021)."
    return Table("", "Mean tau of every pair of methods, all texts", tuple(players), tuple(rows), note)


def _by_length(main: Mapping[tuple[str, str], Taus]) -> Table:
    found = main[AG]
    bins: dict[str, list[str]] = {}
    for e in sorted(found, key=lambda e: found[e].words):
        bins.setdefault(length_bin(found[e].words), []).append(e)
    rows = tuple(
        (name, (Entry(stats.mean(taus(found, texts))), Entry(stats.mean(significant(found, texts)))))
        for name, texts in bins.items()
    )
    return Table("", "Attention with gradient by number of words", ("tau", "significant"), rows)


# ------------------------------------------------------------------------------------------------ figures


def binned(values: Floats, low: float, high: float, bins: int = BINS) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Middles of equal bins and how many values each holds; NaN is in none.

    >>> binned(np.array([0.1, 0.9, 1.0]), 0.0, 1.0, 2)
    ((0.25, 0.75), (1.0, 2.0))
    """
    count, edges = np.histogram(values[~np.isnan(values)], bins, (low, high))
    return tuple(((edges[:-1] + edges[1:]) / 2).round(6).tolist()), tuple(count.astype(float).tolist())


def _histograms(bout: Bout, main: Mapping[tuple[str, str], Taus]) -> tuple[Figure, ...]:
    groups = {n: t for n, t in _groups(bout).items() if n != "all" or bout.material.asks}
    out = []
    for names in (AG, AL):
        series = tuple(
            Series(n, *binned(taus(main[names], [e for e in texts if e in main[names]]), -1.0, 1.0))
            for n, texts in groups.items()
        )
        out.append(Figure("F2", f"Tau of {PAIRS[names]}", "histogram", "Kendall's tau", "texts", series))
    return tuple(out)


def _differences(bout: Bout, main: Mapping[tuple[str, str], Taus], average: Mapping[tuple[str, str], Taus]) -> Figure:
    ours = (gap(main[GL], main[AL]), gap(main[GL], main[AG]), gap(average[AL], main[AL]))
    names = ("(gradient, LOO) - (attention, LOO)", "(gradient, LOO) - (attention, gradient)",
             f"(attention, LOO): average - {bout.main.encoder}")  # fmt: skip
    theirs = printed.gaps(bout.main.encoder, bout.material.nearest)
    series = []
    for k, (name, mine, paper) in enumerate(zip(names, ours, theirs, strict=True)):
        if k == 2 and bout.main.encoder == AVERAGE:
            continue
        around = () if mine.low is None or mine.high is None else ((mine.low,), (mine.high,))
        series.append(Series(f"F{6 + k} {name}", (float(k),), (mine.value,), *around))
        if paper is not None:
            series.append(Series(f"F{6 + k} the paper's, {bout.material.nearest}", (float(k),), (round(paper, 3),)))
    return Figure("F6 to F8", "Differences of mean tau", "bars", "", "difference of mean tau", tuple(series),
                  "The paper's text names the figures 6 and 7 the other way round than its results.")  # fmt: skip


def gap(one: Taus, other: Taus) -> Estimate:
    """Mean of one tau minus another over the texts that have both."""
    shared = [e for e in one if e in other]
    return stats.paired(taus(one, shared), taus(other, shared))


# ----------------------------------------------------------------------------------------------- findings


def _findings(
    bout: Bout, main: Mapping[tuple[str, str], Taus], average: Mapping[tuple[str, str], Taus]
) -> tuple[Finding, ...]:
    encoder, nearest = bout.main.encoder, bout.material.nearest
    known, other = printed.overall(encoder, nearest), printed.overall(AVERAGE, nearest)
    out = [_more_agreement(bout, main, names, known) for names in (AL, AG)]
    if encoder != AVERAGE:
        said = f"{other[1]:.2f} against {known[1]:.2f} ({nearest})" if known and other else ""
        out.insert(0, claim(
            f"Attention agrees with gradients less in the {encoder} than in the word-by-word model",
            gap(average[AG], main[AG]), said, subject="correlation",
            why=f"mean over texts of tau (average encoder) - tau ({encoder}); the paper: about .3 to .4 lower",
        ))  # fmt: skip
    return (*out, _longer(main[AG]))


def _more_agreement(
    bout: Bout, main: Mapping[tuple[str, str], Taus], names: tuple[str, str], known: tuple[float, float, float] | None
) -> Finding:
    k = list(PAIRS).index(names)
    said = f"{known[2]:.2f} against {known[k]:.2f} ({bout.material.nearest})" if known else ""
    if bout.main.encoder == AVERAGE:
        text = f"Word by word, {PAIRS[names]} agrees more than gradient with leave-one-out"
        return claim(text, gap(main[names], main[GL]), said, subject="correlation", why="mean difference of tau; the "
                     "paper does not mention that the order turns round for this encoder, its results do")  # fmt: skip
    exception = " (SNLI is the known exception)" if bout.material.nearest == "SNLI" else ""
    return claim(f"Gradient and leave-one-out agree more than {PAIRS[names]}", gap(main[GL], main[names]), said,
                 subject="correlation", why=f"mean difference of tau over texts{exception}")  # fmt: skip


def _longer(found: Taus) -> Finding:
    known = [p for p in found.values() if not np.isnan(p.tau)]
    middle = float(np.median([p.words for p in known])) if known else 0.0
    sides = [[float(p.p <= ALPHA) for p in known if (p.words > middle) is long] for long in (True, False)]
    return claim(
        "A significant tau is more frequent in longer texts", apart(*sides),
        ".48 at 19 words (SST), 1.00 at 179 (IMDB)", subject="correlation",
        why=f"share with p <= .05 among texts of more than {middle:g} words minus that among the others",
    )  # fmt: skip
