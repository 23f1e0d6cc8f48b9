"""Knows what being at home is worth: to the methods of an operator, and to one method's lead over random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import Literal

import numpy as np

from assay import stats
from assay.grid.tables import Grid, Table, difference, flipped, gap
from assay.summary import CONTROL
from assay.types import Estimate


@dataclass(frozen=True, slots=True)
class Advantage:
    """How much one operator favours the methods that take words away its way."""

    kind: str
    operator: str
    home: tuple[str, ...]
    away: tuple[str, ...]
    estimate: Estimate
    """Above zero: favours home."""
    p: float | None
    """By sign flips, Holm-corrected over the operators of the kind."""

    @property
    def favours(self) -> Literal["home", "away", "undecided"]:
        """Only when interval and corrected p agree."""
        e = self.estimate
        if e.low is None or e.high is None or self.p is None or self.p >= 1 - e.level:
            return "undecided"
        return "home" if e.low > 0 else "away" if e.high < 0 else "undecided"


def home_advantage(found: Grid) -> tuple[Advantage, ...]:
    """Per kind and operator: what methods at home gain there over methods away, beyond what they gain elsewhere.

    For example e, method m and operator o let v(e, m, o) be the test's value, turned so that higher is better. With
    H = methods whose own operator is o, A = methods with another operator of their own, and means over both,

        D(e, q) = mean over H of v(e, m, q) - mean over A of v(e, m, q)
        I(e, o) = D(e, o) - mean over the other operators q of D(e, q)

    The estimate is the mean of I(e, o) over complete examples with a bootstrap interval; p flips its signs. How good a
    method is everywhere and how hard an operator hits all methods both cancel: only their interaction is left.

    High: the operator favours its own. Zero: no home advantage. If each of k operators is home to one method and being
    at home is worth h, the estimate is h k / (k - 1), for the rivals' own home games count too (2 h for two).
    Methods that take no words away are in neither group: a method that reads nothing gains nothing anywhere, so an
    operator that hits harder would look like a home. For the same reason methods of very unequal quality can show an
    advantage where operators differ much in strength: read the crossing of two methods beside it (Pham 2022).
    Homes are told by name: operators that are one on this model (``Table.twins``) hide each other's advantage.
    """
    return tuple(a for table in found.tables for a in _of_table(table))


def _of_table(table: Table) -> list[Advantage]:
    made = [a for o in table.operators if (a := _advantage(table, o)) is not None]
    adjusted = stats.holm([nan if a.p is None else a.p for a in made])
    return [replace(a, p=None if a.p is None else float(p)) for a, p in zip(made, adjusted, strict=True)]


def _advantage(table: Table, operator: str) -> Advantage | None:
    own = [m for m in table.methods if table.homes[m] is not None]
    home = tuple(m for m in own if table.homes[m] == operator)
    away = tuple(m for m in own if table.homes[m] != operator)
    if not home or not away:
        return None
    others = [o for o in table.operators if o != operator]
    elsewhere = np.mean([gap(table, home, away, o) for o in others], axis=0)
    gain = gap(table, home, away, operator) - elsewhere
    return Advantage(table.kind, operator, home, away, difference(gain, table.skipped), flipped(gain))


# --------------------------------------------------------------------------------------------------- leads


@dataclass(frozen=True, slots=True)
class Lead:
    """How far a method is ahead of the random control at home and away, on one kind of test (above zero: ahead)."""

    kind: str
    operator: str
    away: tuple[str, ...]
    at_home: Estimate
    elsewhere: Estimate
    """Mean over the other operators."""
    shrinks: Estimate
    """At home minus elsewhere, paired."""

    @property
    def vanishes(self) -> bool:
        """Ahead of random at home, and not told apart from random (or behind it) elsewhere."""
        home, away = self.at_home.low, self.elsewhere.low
        return home is not None and home > 0 and (away is None or away <= 0)


def leads(found: Grid, method: str) -> tuple[Lead, ...]:
    """The method's lead over the control, per kind of test that it meets both at home and away."""
    return tuple(_lead(t, method) for t in found.tables if method in t.methods and _has_both(t, method))


def _has_both(table: Table, method: str) -> bool:
    return CONTROL in table.methods and table.homes[method] in table.operators and bool(table.examples)


def _lead(table: Table, method: str) -> Lead:
    operator = str(table.homes[method])
    away = tuple(o for o in table.operators if o != operator)
    home = gap(table, [method], [CONTROL], operator)
    elsewhere = np.mean([gap(table, [method], [CONTROL], o) for o in away], axis=0)
    estimates = [difference(v, table.skipped) for v in (home, elsewhere, home - elsewhere)]
    return Lead(table.kind, operator, away, *estimates)
