"""One file per change: training, attacks, repairs and controls, each from a model (or data) to a model."""
