"""LIME against the lime package: the same samples give the same weights, and the package's own run gives ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from lime.lime_text import LimeTextExplainer  # type: ignore[import-untyped]  # ships no types

from assay.methods.lime import surrogate

TEXT = "the film was not as dull as its quiet title suggests to me"
WEIGHT = {"not": 1.5, "dull": -2.0, "quiet": 0.4, "film": 0.1, "suggests": -0.3}


def probability(texts: Sequence[str]) -> np.ndarray:
    """Any function of a text; 'not' turns what 'dull' says."""
    out = []
    for text in texts:
        there = text.split()
        z = sum(WEIGHT.get(w, 0.0) for w in there) + (1.2 if {"not", "dull"} <= set(there) else 0.0)
        out.append(1 / (1 + np.exp(-z)))
    return np.stack([1 - np.array(out), np.array(out)], axis=1)


def run(bow: bool, samples: int, width: float) -> tuple[dict[int, float], float, float, np.ndarray, np.ndarray]:
    """The package's coefficients by word number, its intercept and score; and the samples it drew with the answers."""
    explainer = LimeTextExplainer(bow=bow, kernel_width=width, random_state=7)
    seen: dict[str, Any] = {}

    def watch(data: np.ndarray, labels: np.ndarray, distances: np.ndarray, *rest: Any, **named: Any) -> Any:
        seen.update(data=data, labels=labels)
        return inner(data, labels, distances, *rest, **named)

    inner = explainer.base.explain_instance_with_data
    explainer.base.explain_instance_with_data = watch
    found = explainer.explain_instance(TEXT, probability, num_features=100, num_samples=samples)
    return dict(found.as_map()[1]), found.intercept[1], found.score, seen["data"], seen["labels"][:, 1]


@pytest.mark.parametrize("bow", [True, False])
@pytest.mark.parametrize(("samples", "width"), [(1000, 25.0), (60, 10.0)])
def test_weights_on_the_same_samples(bow: bool, samples: int, width: float) -> None:
    theirs, intercept, score, z, f = run(bow, samples, width)
    ours, start, r2 = surrogate(z == 1, f, width, 1.0)
    assert len(ours) == (12 if bow else 13)
    assert ours == pytest.approx([theirs[i] for i in range(len(ours))], abs=1e-6)
    assert start == pytest.approx(intercept, abs=1e-6)
    assert r2 == pytest.approx(score, abs=1e-6)


def test_the_package_draws_as_we_do() -> None:
    """First the text itself, then at least one word gone, 7 of 13 on average (within 5 standard errors)."""
    *_, z, _ = run(False, 3000, 25.0)
    gone = 13 - z[1:].sum(axis=1)
    assert z[0].all()
    assert gone.min() == 1
    assert gone.max() == 13
    assert abs(gone.mean() - 7) < 5 * np.sqrt((13**2 - 1) / 12 / 2999)
