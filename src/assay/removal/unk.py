"""Knows what it means to put the unknown-word token in the place of words."""

from __future__ import annotations

from assay.registry import removal
from assay.types import UNK, Asking, Bools, Edit, Input, Variants


@removal("unk", needs={"unk"}, paper="Pham et al. 2022, Double trouble")
def unk(x: Input, keep: Bools) -> Asking:
    """Puts one unknown-word token in each word's place: length and order of the words stay.

    One row per question. A model that seldom met the token in training may read it as evidence of its own. A
    word of several pieces becomes one token.
    """
    yield from ()
    return Variants.plain(Edit.where_gone(x, keep, UNK))
