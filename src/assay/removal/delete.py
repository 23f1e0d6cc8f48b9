"""Knows what it means to cut words out."""

from __future__ import annotations

from assay.registry import removal
from assay.types import DROP, Asking, Bools, Edit, Input, Variants


@removal("delete", paper="Li et al. 2016, Understanding neural networks through representation erasure")
def delete(x: Input, keep: Bools) -> Asking:
    """Cuts the words out: the text becomes shorter and later words move up.

    One row per question, row i = x without {j : keep_ij = 0}. Nothing is left that says a word was there, so
    the model sees a shorter and often ungrammatical text; a score that changes may come from that strangeness
    and not from the missing word (Feng et al. 2018; Hase et al. 2021).
    """
    yield from ()
    return Variants.plain(Edit.where_gone(x, keep, DROP))
