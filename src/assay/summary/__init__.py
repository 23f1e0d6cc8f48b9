"""Records and explanations -> the tables that terminal, report and verdict show; every number with its interval."""

from assay.summary.making import summarise
from assay.summary.shapes import CONTROL, Cell, Curve, ExampleView, Gap, Said, Summary

__all__ = ["CONTROL", "Cell", "Curve", "ExampleView", "Gap", "Said", "Summary", "summarise"]
