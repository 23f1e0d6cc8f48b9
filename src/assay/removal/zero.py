"""Knows what it means to set the embeddings of words to zero."""

from __future__ import annotations

from assay.registry import removal
from assay.types import ZERO, Asking, Bools, Edit, Input, Variants


@removal("zero", needs={"zero"}, paper="Li et al. 2016, Understanding neural networks through representation erasure")
def zero(x: Input, keep: Bools) -> Asking:
    """Sets the looked-up embeddings of each word to zero; position and type embeddings stay.

    One row per question. Length stays, and the pieces of a word stay apart. Needs a model whose embeddings can
    be reached; the zero vector is seldom near any word, so the input is out of distribution.
    """
    yield from ()
    return Variants.plain(Edit.where_gone(x, keep, ZERO))
