"""Knows axes: ranges with a margin, ticks at round numbers, and how values become places on paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight map from values [low, high] to places [start, end] on paper.

    >>> Scale(0, 10, 100, 0)(2.5)
    75.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: where values lie, and the ticks (value, text) it shows."""

    scale: Scale
    ticks: tuple[tuple[float, str], ...]
    label: str = ""


def step_for(low: float, high: float, most: int) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that needs at most ``most`` steps from low to high.

    >>> step_for(0, 1, 5), step_for(0, 730, 5), step_for(-0.04, 0.03, 4)
    (0.2, 200.0, 0.02)
    """
    raw = (high - low) / most
    power = 10.0 ** floor(log10(raw))
    return next(power * s for s in STEPS if power * s >= raw * (1 - 1e-9))


def ticks(low: float, high: float, most: int = 6) -> tuple[tuple[float, str], ...]:
    """Round numbers within [low, high] and how they are written.

    >>> [text for _, text in ticks(-0.31, 0.62)]
    ['−0.2', '0.0', '0.2', '0.4', '0.6']
    """
    step = step_for(low, high, most)
    whole = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    return tuple((k * step, tick_text(k * step, step)) for k in whole)


def tick_text(value: float, step: float) -> str:
    """As many decimals as the step needs; powers of ten for the very large and very small."""
    if step >= 1e5 or step < 1e-5:
        return f"{value:.3g}".replace("-", "−")
    decimals = next((d for d in range(8) if abs(round(step, d) - step) < 1e-6 * step), 8)
    text = f"{value:,.{decimals}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def span(values: Iterable[float], *, zero: bool = False, margin: float = 0.04) -> tuple[float, float]:
    """Lowest and highest finite value with a margin; zero belongs to it when asked, and when it lies near anyway.

    >>> span([2.0, 4.0], zero=True), span([0.5]), span([])
    ((0.0, 4.16), (0.0, 0.52), (0.0, 1.0))
    """
    finite = [float(v) for v in values if isfinite(v)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    flat = high - low <= 1e-9 * max(abs(low), abs(high))  # what differs by rounding only does not differ
    if zero or 0 <= low <= 0.5 * (high - low) or flat:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return 0.0, 1.0
    room = margin * (high - low)
    return low - room if low else low, high + room if high else high


def numeric(values: Iterable[float], start: float, end: float, label: str, *, zero: bool = False) -> Axis:
    """An axis of numbers."""
    low, high = span(values, zero=zero)
    return Axis(Scale(low, high, start, end), ticks(low, high), label)


def ordinal(groups: Sequence[str], start: float, end: float, label: str, most: int = 14) -> Axis:
    """An axis of named places 0, 1, 2 ...; with many, not every one is named."""
    every = ceil(len(groups) / most) if groups else 1
    shown = tuple((float(i), name) for i, name in enumerate(groups) if i % every == 0)
    return Axis(Scale(-0.5, max(len(groups), 1) - 0.5, start, end), shown, label)
