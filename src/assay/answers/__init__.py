"""One file per kind of answer, over any differentiable model."""
