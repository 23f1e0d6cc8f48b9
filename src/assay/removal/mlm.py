"""Knows what it means to put the likeliest word of a language model in the place of words."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from assay.registry import removal
from assay.removal.fills import ORDERS, Guesses, Source
from assay.types import Asking, Bools, Input, ModelName, Variants, full_keep


@removal("mlm", needs={"replace"}, paper="Pham et al. 2022, Double trouble")
def mlm(
    x: Input,
    keep: Bools,
    *,
    lm: ModelName = "builtin:mlm",
    same: Literal["allow", "skip"] = "allow",
    order: Literal["at-once", "left-to-right"] = "at-once",
    pieces: Literal["whole", "all"] = "whole",
) -> Asking:
    """Puts the language model's likeliest word in each word's place: the text stays fluent.

    One row per question; every gap is one mask token, filled by a whole word of the vocabulary. Where the fill is the
    word itself nothing was taken away, and a score that stays says nothing of the word: ``same`` skip takes the second
    fill instead (as the deletion test with BERT of Pham et al. 2022 does). ``order``: all gaps from one look, or from
    left to right, each fill seen by the next (their LIME with BERT), which costs as many looks as there are gaps.
    Neighbouring gaps filled at once need not fit one another. ``pieces`` all also offers word endings, pasted as they
    are ("##ing"), as the code of Pham et al. does.
    """

    def likeliest(guesses: Guesses, rows: Any, features: Any, _: Any) -> Any:
        if same == "allow":
            return np.zeros(len(rows), dtype=np.int64)
        return guesses.is_own[rows, features, 0].astype(np.int64)

    gone = ~full_keep(x, keep)
    edit = yield from ORDERS[order](x, gone, Source(lm, 1 if same == "allow" else 2, pieces), likeliest)
    return Variants.plain(edit)
