"""Length of the gradient."""

from __future__ import annotations

from assay.answers.asked import Arrays, Asked
from assay.registry import answer


@answer("norm", paper="Wallace et al. 2019 (AllenNLP Interpret)")
def norm(asked: Asked) -> Arrays:
    """l2 norm of the explained score's gradient with respect to a feature's embeddings.

    g_i = sqrt(sum over pieces p of i of |grad_{e_p} f|^2): never negative, high = the score is steep there,
    whichever way. It knows nothing of the embedding itself, so it can be large for a word without influence.
    """
    squares = asked.slope.gradient.pow(2).sum(-1)
    return {"norm": asked.columns(asked.batch.sum_pieces(squares).sqrt())}
