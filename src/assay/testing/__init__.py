"""The contract suite: what every method, test and removal operator must keep, ours and those of plugins."""

from assay.testing.checking import check
from assay.testing.result import Result

__all__ = ["Result", "check"]
