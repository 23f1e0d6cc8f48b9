"""Assay tests whether an explanation of a text model can be trusted.

>>> import assay
>>> assay.__version__
'0.1.0'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from assay.api import Audit, Explanations, audit, check, entries, explain, load, run, show, train
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
    "run",
    "show",
    "train",
]

_TYPES = {"AssayError", "Dataset", "Example", "Explanation", "Mark", "Record"}


def __getattr__(name: str) -> Any:
    """Import on first use: ``import assay`` itself stays instant."""
    if name not in __all__:
        raise AttributeError(f"module 'assay' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module("assay.types" if name in _TYPES else "assay.api"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
