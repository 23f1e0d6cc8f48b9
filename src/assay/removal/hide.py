"""Knows what it means to hide words from attention."""

from __future__ import annotations

from assay.registry import removal
from assay.types import HIDE, Asking, Bools, Edit, Input, Variants


@removal("hide", needs={"hide"}, paper="Hase et al. 2021, The out-of-distribution problem in explainability")
def hide(x: Input, keep: Bools) -> Asking:
    """Hides each word from attention: it keeps its position, and no other position sees it.

    One row per question. Needs a model with an attention mask. Position ids do not move, unlike with
    ``delete``, so the gap itself remains visible to the model.
    """
    yield from ()
    return Variants.plain(Edit.where_gone(x, keep, HIDE))
