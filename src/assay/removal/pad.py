"""Knows what it means to put the padding token in the place of words."""

from __future__ import annotations

from assay.registry import removal
from assay.types import PAD, Asking, Bools, Edit, Input, Variants


@removal("pad", needs={"pad"}, paper="Pham et al. 2022, Double trouble")
def pad(x: Input, keep: Bools) -> Asking:
    """Puts one padding token in each word's place; the model attends to it as to any other token.

    One row per question. Pham et al. 2022 call this "zero", but the padding token's embedding need not be zero
    and positions beside it see it: for an embedding of zeros use ``zero``, for a word that no position sees use
    ``hide``.
    """
    yield from ()
    return Variants.plain(Edit.where_gone(x, keep, PAD))
