"""A paper's experiments as users call them: every data set and setting named, one exhibit each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from assay import registry
from assay.lab import Lab
from assay.results import Reproduction

SWEPT = ("encoder", "attention")
"""Settings of a suite that may hold several values with commas between: one exhibit each."""


def reproduce(
    name: str,
    *,
    data: str = "builtin",
    out: str | Path,
    seed: int = 0,
    workers: int = 2,
    device: str = "auto",
    dtype: str = "auto",
    settings: Mapping[str, Any] | None = None,
    command: str = "",
    tell: Callable[[str, float], None] | None = None,
) -> Reproduction:
    """Run a paper's experiments on each named data set; steps that the folder holds already are not repeated."""
    given = dict(settings or {})
    swept = [(k, str(given.pop(k)).split(",")) for k in SWEPT if k in given]
    chosen = [("data", data.split(",")), *swept]
    folder = Path(out)
    exhibits = []
    for values in product(*(v for _, v in chosen)):
        one = dict(zip((k for k, _ in chosen), values, strict=True))
        bound = registry.bind("suites", registry.Spec(name, given | one), {})
        lab = Lab(folder, seed, device, dtype, workers, tell or (lambda step, share: None))
        exhibits.append(bound(lab))
    done = Reproduction(folder, tuple(exhibits), command or f"assay reproduce {name} --data {data}")
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in ("html", "md", "json"):
        done.save(folder / f"report.{suffix}")
    return done
