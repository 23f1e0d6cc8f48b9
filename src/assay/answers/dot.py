"""Gradient dotted with (embedding - base)."""

from __future__ import annotations

from assay.answers.asked import Arrays, Asked
from assay.registry import answer


@answer("dot", paper="Li et al. 2016; Sundararajan et al. 2017")
def dot(asked: Asked) -> Arrays:
    """Gradient of the explained score dotted with (embedding - base), summed over the pieces of a feature.

    d_i = sum over pieces p of i of  grad_{e_p} f . (e_p - base): signed, high supports the target. The gradient
    is taken where the network stood (after noise and scale), the embedding is the clean one; so a mean over scales
    is integrated gradients and a mean over noise is SmoothGrad. Settings: ``base`` zero | pad | mask | unk;
    ``hold`` True treats attention as constant (Jain & Wallace 2019).
    """
    slope = asked.slope
    return {"dot": asked.features((slope.gradient * slope.away).sum(-1))}
