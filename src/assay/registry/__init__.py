"""Everything that can be named: declared by decorators, listed by reading source, bound to settings on use.

One file in a room is one entry: a function or class under one of the decorators. A plugin in another package does the
same and names its modules under the entry-point group ``assay``.
"""

from assay.registry.binding import Bound, Loader, Parameter, Spec, bind, bind_entry, parameters, value_of
from assay.registry.declare import Entry, answer, change, dataset, family, method, removal, suite, test
from assay.registry.listing import GROUP, ROOMS, did_you_mean, entries, find, read_source, refresh

__all__ = [
    "GROUP",
    "ROOMS",
    "Bound",
    "Entry",
    "Loader",
    "Parameter",
    "Spec",
    "answer",
    "bind",
    "bind_entry",
    "change",
    "dataset",
    "did_you_mean",
    "entries",
    "family",
    "find",
    "method",
    "parameters",
    "read_source",
    "refresh",
    "removal",
    "suite",
    "test",
    "value_of",
]
