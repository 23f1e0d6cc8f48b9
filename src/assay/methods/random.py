"""Knows how to score words without looking at the model: the control every method must beat."""

from __future__ import annotations

from assay.ask import Scores, rng
from assay.registry import method
from assay.types import Input, Seed, Target

SEED = Seed(0)


@method("random", family="control", paper="DeYoung et al. 2020, ERASER")
def random(x: Input, target: Target, *, seed: Seed = SEED) -> Scores:
    """Uniform random scores in [0, 1), the same for every model and target.

    a_i ~ U(0, 1). High and low mean nothing: a method whose test results do not differ from this one's carries no
    information that the test can see. The draw depends on the seed and the example only, so the control is paired.

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> one, other = (explain("good but dull", model=Additive(seed=s), method="random").scores for s in (0, 1))
    >>> len(one), (one == other).all()
    (3, np.True_)
    """
    yield from ()
    return rng(seed, x, "random").random(x.size)
