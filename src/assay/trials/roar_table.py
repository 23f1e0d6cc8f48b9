"""Knows what retraining records add up to: curves, their area against random removal, and whether it is chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay import stats
from assay.types import BadInput, Estimate, Record

RANDOM = "random"


@dataclass(frozen=True, slots=True)
class TTest:
    """Mean of a - b and its two-sided p-values: paired over seeds, and Welch's for two samples."""

    difference: float
    paired: float | None
    """None when the samples differ in size, or hold less than two."""
    welch: float | None


def t_test(a: Sequence[float], b: Sequence[float]) -> TTest:
    """Could the difference of two sets of retrained accuracies be chance? Small p: hardly.

    Paired (Student): the same seed gives both, so what the seed does to both cancels. Welch: two independent samples
    of unequal spread (Pham et al. 2022 report a two-sample test). Five seeds say little about the data: neither p-value
    knows how much another sample of examples would change. Without any spread p is 1 for equal means and else 0.

    >>> t_test([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    TTest(difference=-2.0, paired=0.0741..., welch=0.2208...)
    """
    from scipy import stats as library

    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if not len(first) or not len(second):
        raise BadInput("a t-test needs numbers on both sides")
    difference = float(first.mean() - second.mean())
    paired = welch = None
    if len(first) == len(second) >= 2:
        flat = np.ptp(first - second) < 1e-12
        paired = _certain(difference) if flat else float(library.ttest_rel(first, second).pvalue)
    if min(len(first), len(second)) >= 2:
        flat = np.ptp(first) < 1e-12 and np.ptp(second) < 1e-12
        welch = _certain(difference) if flat else float(library.ttest_ind(first, second, equal_var=False).pvalue)
    return TTest(difference, paired, welch)


def _certain(difference: float) -> float:
    return 1.0 if abs(difference) < 1e-12 else 0.0


def relative_area(rates: Sequence[float], curve: Sequence[float], random: Sequence[float], floor: float) -> float:
    """Area between the random curve and a method's, as a share of the area between random and ``floor``.

    sum 1/2 dx (d_i + d_i+1) over d = random - curve, divided by the same over random - floor (Madsen et al. 2022).
    High: removing what the method names hurts as much as removing all; 0: as random; negative: worse than random.
    ``floor``: accuracy without any words (the share of the most frequent class). Known failure: removal that tells
    the label by its places lifts the curve, so a faithful method may look worse than random (see the control).

    >>> round(relative_area([0.0, 0.5, 1.0], [0.9, 0.5, 0.5], [0.9, 0.7, 0.5], 0.5), 9)
    0.5
    """
    x, p, b = (np.asarray(v, dtype=np.float64) for v in (rates, curve, random))
    if not len(x) == len(p) == len(b) >= 2 or (np.diff(x) <= 0).any():
        raise BadInput(f"an area needs two or more rising rates with a value each, got {list(rates)}")
    whole = float(np.trapezoid(b - floor, x))
    if whole <= 0:
        return float("nan")
    return float(np.trapezoid(b - p, x)) / whole


# ------------------------------------------------------------------------------------------------- records


@dataclass(frozen=True, slots=True)
class Row:
    """One point of one curve, over seeds."""

    test: str
    removal: str
    method: str
    rate: float
    accuracy: Estimate
    std: float | None
    """Standard deviation over seeds."""
    against_random: TTest | None
    """None for random itself, at rate 0, and where there is no random curve."""
    failed: int
    """Retrainings that gave no number."""

    @property
    def cells(self) -> dict[str, Any]:
        """Plain values for a table or JSON."""
        other = self.against_random
        return {
            "test": self.test, "removal": self.removal, "method": self.method, "rate": self.rate,
            "accuracy": self.accuracy.value, "low": self.accuracy.low, "high": self.accuracy.high,
            "std": self.std, "seeds": self.accuracy.n, "failed": self.failed,
            "minus random": None if other is None else other.difference,
            "p paired": None if other is None else other.paired,
            "p Welch": None if other is None else other.welch,
        }  # fmt: skip


Point = tuple[str, str, str, float]
"""test, removal, method, rate."""


def summary_table(records: Sequence[Record]) -> list[Row]:
    """Rows by test, removal, method and rate: mean accuracy over seeds, and the difference to random removal."""
    points: dict[Point, list[Record]] = {}
    for r in records:
        if r.detail is not None and "rate" in r.detail:
            key = (r.test, str(r.detail["removal"]), r.method, float(r.detail["rate"]))
            points.setdefault(key, []).append(r)
    return [_row(key, found, points) for key, found in sorted(points.items())]


def _row(key: Point, found: Sequence[Record], points: Mapping[Point, Sequence[Record]]) -> Row:
    test, removal, method, rate = key
    mine = _by_seed(found)
    values = list(mine.values())
    base = _by_seed(points.get((test, removal, RANDOM, rate), ()))
    shared = [s for s in mine if s in base]
    compared = method not in ("", RANDOM) and bool(shared)
    return Row(
        *key,
        stats.mean(values, skipped=len(found) - len(values)),
        float(np.std(values, ddof=1)) if len(values) > 1 else None,
        t_test([mine[s] for s in shared], [base[s] for s in shared]) if compared else None,
        len(found) - len(values),
    )


def _by_seed(found: Sequence[Record]) -> dict[str, float]:
    return {r.replicate: r.values["accuracy"] for r in found if r.values is not None}


def areas(records: Sequence[Record]) -> dict[tuple[str, str, str], float]:
    """(test, removal, method) -> relative area of the mean curves that start, with random, at the untouched data."""
    rows = summary_table(records)
    floors = {float(r.detail["majority"]) for r in records if r.detail is not None and "majority" in r.detail}
    out = {}
    for test, removal, method in sorted({(r.test, r.removal, r.method) for r in rows}):
        curve, random = (_curve(rows, test, removal, m) for m in (method, RANDOM))
        rates = sorted(set(curve) & set(random))
        if method not in ("", RANDOM) and len(rates) > 1 and rates[0] == 0 and len(floors) == 1:
            mine, base = ([c[r] for r in rates] for c in (curve, random))
            out[test, removal, method] = relative_area(rates, mine, base, next(iter(floors)))
    return out


def _curve(rows: Sequence[Row], test: str, removal: str, method: str) -> dict[float, float]:
    """Rate -> mean accuracy; the untouched data (rate 0) belongs to every curve."""
    mine = (r for r in rows if r.removal == removal and ((r.test, r.method) == (test, method) or r.method == ""))
    return {r.rate: r.accuracy.value for r in mine if r.accuracy.n}
