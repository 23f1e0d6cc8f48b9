"""Assay tests whether an explanation of a text model can be trusted.

>>> import assay
>>> assay.__version__
'0.1.0'
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Read when torch is first imported: threads that spin while they wait make a busy machine several times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if TYPE_CHECKING:
    from assay.api import audit, check, entries, explain, load, reproduce, run, show, train
    from assay.results import Audit, Explanations
    from assay.types import AssayError, Dataset, Example, Explanation, Mark, Record

__all__ = [
    "AssayError",
    "Audit",
    "Dataset",
    "Example",
    "Explanation",
    "Explanations",
    "Mark",
    "Record",
    "audit",
    "check",
    "entries",
    "explain",
    "load",
    "reproduce",
    "run",
    "show",
    "train",
]

_HOMES = {n: "assay.types" for n in ("AssayError", "Dataset", "Example", "Explanation", "Mark", "Record")}
_HOMES |= {n: "assay.results" for n in ("Audit", "Explanations")}


def __getattr__(name: str) -> Any:
    """Import on first use: ``import assay`` itself stays instant."""
    if name not in __all__:
        raise AttributeError(f"module 'assay' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_HOMES.get(name, "assay.api")), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
