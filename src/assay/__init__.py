"""Assay tests whether an explanation of a text model can be trusted."""

__version__ = "0.1.0"
