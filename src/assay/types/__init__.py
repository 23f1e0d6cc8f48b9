"""The core values that every room shares: frozen data, no torch, no behaviour beyond small views.

data -> Example -> (a model reads) Input -> (a method asks) Probe -> Reading -> Explanation -> (a test) Record
"""

from assay.types.errors import AssayError, BadInput, CannotDo, Interrupted, ProbeFailed, UnknownName, content_key
from assay.types.examples import Dataset, Example, Mark, Place
from assay.types.inputs import DROP, FILL, HIDE, KEEP, MASK, PAD, UNK, ZERO, Edit, Input, full_keep
from assay.types.questions import OWN, Asking, Asks, Cost, Model, Noise, Probe, Reading, Target, Variants
from assay.types.results import Estimate, Explanation, Finding, Record, target_name
from assay.types.words import Bools, Floats, Head, Ints, Method, ModelName, Names, Output, Removal, Seed, Unit

__all__ = [
    "DROP",
    "FILL",
    "HIDE",
    "KEEP",
    "MASK",
    "OWN",
    "PAD",
    "UNK",
    "ZERO",
    "Asking",
    "Asks",
    "AssayError",
    "BadInput",
    "Bools",
    "CannotDo",
    "Cost",
    "Dataset",
    "Edit",
    "Estimate",
    "Example",
    "Explanation",
    "Finding",
    "Floats",
    "Head",
    "Input",
    "Interrupted",
    "Ints",
    "Mark",
    "Method",
    "Model",
    "ModelName",
    "Names",
    "Noise",
    "Output",
    "Place",
    "Probe",
    "ProbeFailed",
    "Reading",
    "Record",
    "Removal",
    "Seed",
    "Target",
    "Unit",
    "UnknownName",
    "Variants",
    "content_key",
    "full_keep",
    "target_name",
]
