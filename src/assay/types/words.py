"""Words that signatures share: arrays, units, outputs, and marks for parameters that name another thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NewType

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]

Unit = Literal["word", "piece", "spacy"]
"""What one feature is. Words are found without the model, so two models and a person mean the same."""
Output = Literal["loss", "prob", "logit", "logprob", "logodds"]
"""What is differentiated or differenced; high always supports the target (``loss`` is minus the loss)."""
Head = Literal["softmax", "binary", "multilabel"]
"""How logits become probabilities. ``binary``: one logit z kept as the two columns (-z, z)."""
Seed = NewType("Seed", int)
"""Annotation of a parameter that seeds draws: who has one is random, who has none is deterministic."""


@dataclass(frozen=True, slots=True)
class Names:
    """Marks a parameter that names another thing: the registry replaces the name by the thing itself."""

    kind: str


Removal = Annotated[Any, Names("removals")]
"""A removal operator, called as ``removal(x, keep)``: a generator that returns Variants."""
Method = Annotated[Any, Names("methods")]
"""An attribution method, called as ``method(x, target)``: a generator that returns scores."""
ModelName = Annotated[Any, Names("models")]
"""Another model than the explained one (a masked language model, say)."""
