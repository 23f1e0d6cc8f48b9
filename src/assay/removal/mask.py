"""Knows what it means to put the mask token in the place of words."""

from __future__ import annotations

from assay.registry import removal
from assay.types import MASK, Asking, Bools, Edit, Input, Variants


@removal("mask", needs={"mask"}, paper="Hase et al. 2021, The out-of-distribution problem in explainability")
def mask(x: Input, keep: Bools) -> Asking:
    """Puts one mask token in each word's place: what a masked language model was trained to read.

    One row per question. Fair where the classifier met masks in training (fine-tuning with random masking),
    otherwise as strange to it as any other token. A word of several pieces becomes one token.
    """
    yield from ()
    return Variants.plain(Edit.where_gone(x, keep, MASK))
