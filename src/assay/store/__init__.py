"""One SQLite file per run: explanations and records under their keys, crash safe, with one writer."""

from assay.store.export import export, to_pandas
from assay.store.file import FILE, FiledExplanation, FiledRecord, Store
from assay.store.keys import explanation_key, record_key
from assay.store.lock import StoreBusy
from assay.store.schema import StoreDamaged, StoreFull

__all__ = [
    "FILE",
    "FiledExplanation",
    "FiledRecord",
    "Store",
    "StoreBusy",
    "StoreDamaged",
    "StoreFull",
    "explanation_key",
    "export",
    "record_key",
    "to_pandas",
]
