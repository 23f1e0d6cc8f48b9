"""Knows how the four experiments of Wiegreffe & Pinter 2019 are run, each a step that is kept as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from assay import resolve
from assay.changes.shown import jsd, tvd
from assay.lab import Lab
from assay.suites.jain_data import Material
from assay.suites.jain_runs import asked
from assay.suites.pham_runs import Run, label
from assay.trials.attention_models import Bench, Made, Recipe, bench
from assay.trials.guided_mlp import GUIDES, guided_mlp
from assay.trials.seed_variance import seed_variance
from assay.trials.trained_adversary import MOVED, Select, trained_adversary
from assay.trials.uniform_attention import uniform_attention
from assay.types import Estimate

GUIDE_LAMBDA = 1e-3
"""Of the adversary that guides, as in table 3, where its attention has moved."""
SHOWN = 40
"""Texts whose trained adversarial attention is kept for heatmaps."""
UNIFORM_SEEDS = 2
"""Seeds beside the base's with which the uniform model is trained too."""


@dataclass(frozen=True, eq=False, slots=True)
class Setup:
    """What every experiment works with."""

    lab: Lab
    material: Material
    recipe: Recipe
    seed: int
    seeds: tuple[int, ...]
    lambdas: tuple[float, ...]
    epochs: int
    """Of adversaries, at most."""
    select_on: Select
    limit: int
    """Texts that are attacked one by one."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.material.sets.labels

    @property
    def trial(self) -> dict[str, Any]:
        """What every trial is told: models are made in one place, so that none is made twice."""
        lab = self.lab
        return {"recipe": self.recipe, "out": lab.folder, "workers": lab.workers, "progress": lab.tell}

    def key(self, **more: Any) -> dict[str, Any]:
        """Of a step."""
        return {"data": self.material.sets.key, "recipe": asdict(self.recipe), "seed": self.seed, **more}

    @property
    def adversary(self) -> dict[str, Any]:
        """Settings of every trained adversary of the sweep."""
        return {"epochs": self.epochs, "patience": min(10, self.epochs), "select_on": self.select_on}


def estimate(kept: Mapping[str, Any]) -> Estimate:
    """An estimate from what a step keeps of it."""
    return Estimate(**kept)


# --------------------------------------------------------------------------------------------- the steps


def uniform(s: Setup) -> dict[str, Any]:
    """Base and uniform models: F1 of both, their difference, and per text JSD and TVD between them."""
    seeds = (s.seed, *s.seeds[:UNIFORM_SEEDS])

    def make() -> dict[str, Any]:
        done = uniform_attention(*s.material.sets.each, seeds=seeds, **s.trial)
        kept = {k: asdict(getattr(done, k)) for k in ("base", "uniform", "difference", "over_seeds", "base_accuracy")}
        first = [dict(r.values or {}) for r in done.records if r.replicate == str(s.seed)]
        return {**kept, "texts": first}

    found: dict[str, Any] = s.lab.step("uniform attention", s.key(seeds=list(seeds)), make)
    return found


def seeds(s: Setup) -> dict[str, Any]:
    """Other seeds against the base: per text the median JSD and mean change; a point per seed."""

    def make() -> dict[str, Any]:
        done = seed_variance(*s.material.sets.each, seeds=s.seeds, base_seed=s.seed, **s.trial)
        return {
            "jsd": asdict(done.jsd),
            "f1": asdict(done.f1),
            "points": [asdict(p) for p in done.points],
            "failed": list(done.failed),
            "texts": [dict(r.values) for r in done.records if r.values is not None],
        }

    found: dict[str, Any] = s.lab.step("seeds", s.key(seeds=list(s.seeds)), make)
    return found


def guide_lambda(swept: Mapping[str, Any]) -> float | None:
    """The lambda nearest to the paper's 1e-3 at which attention has moved; None when it has at none."""
    far = [p["weight"] / 2 for p in swept["points"] if p["jsd"]["value"] > MOVED]
    return min(far, key=lambda v: (abs(v - GUIDE_LAMBDA), v), default=None)


def guides(s: Setup, weight: float) -> dict[str, Any]:
    """The word-by-word model under each guide: F1 and choices; and the F1 of the base itself."""
    more: dict[str, Any] = {"weight": weight, "epochs": s.epochs, "other_seed": s.seeds[0], "seed": s.seed}

    def make() -> dict[str, Any]:
        train, dev, test = s.material.sets.each
        done = guided_mlp(train, dev, test, guides=GUIDES, **more, **s.trial)
        choices = {r.method: r.detail["choices"] for r in done.records if r.detail is not None}
        order = [e.id for e in s.material.sets.test.examples]
        return {
            "base_f1": asdict(done.base_f1),
            "rows": {r.guide: {"f1": asdict(r.f1), "accuracy": asdict(r.accuracy)} for r in done.rows},
            "choices": {name: [found[e] for e in order] for name, found in choices.items()},
            "failed": {r.method: r.reason for r in done.records if r.reason},
        }

    found: dict[str, Any] = s.lab.step("guides", s.key(**more), make)
    return found


def sweep(s: Setup) -> dict[str, Any]:
    """One trained adversary per lambda: F1, JSD, TVD, both per text; and the attention of the telling one."""
    weights = [2 * v for v in s.lambdas]

    def make() -> dict[str, Any]:
        train, dev, test = s.material.sets.each
        curve = trained_adversary(train, dev, test, weights=weights, seed=s.seed, **s.adversary, **s.trial)
        points = [asdict(p) for p in curve.points]
        with bench(*s.material.sets.each, **s.trial) as b:
            base = b.must([b.plain(s.seed, attention="additive")], "the base")[0]
            made = {p.weight: _again(b, s, base, p.weight) for p in curve.points}
        best = curve.best or max(curve.points, key=lambda p: p.jsd.value)
        return {
            "base": str(base.folder.relative_to(s.lab.folder)),
            "choice": base.test.choice.tolist(),
            "base_f1": asdict(curve.base_f1),
            "points": points,
            "texts": [{"jsd": jsd(base.test, m.test), "tvd": tvd(base.test, m.test)} for m in made.values()],
            "best": [p.weight for p in curve.points].index(best.weight),
            "attention": [a.round(6).tolist() for a in made[best.weight].test.attention[:SHOWN]],
            "convexity": [curve.convexity, curve.by_class],
            "failed": list(curve.failed),
        }

    found: dict[str, Any] = s.lab.step("trained adversaries", s.key(weights=weights, **s.adversary), make)
    return found


def _again(b: Bench, s: Setup, base: Made, weight: float) -> Made:
    """The adversary that the sweep made, read from its folder."""
    return b.must([b.adversary(base.folder, s.seed, weight=weight, **s.adversary)], "trained adversaries")[0]


def one_by_one(s: Setup, base: str, epsilon: float, steps: int) -> tuple[Run, str]:
    """Jain & Wallace's adversaries of single texts, of the same base; and the test's label in the records."""
    test = f"adversarial-attention(epsilon={epsilon}, steps={steps})"
    model = resolve.model(str(s.lab.folder / base), device=s.lab.device, dtype=s.lab.dtype)
    data = replace(s.material.sets.test, examples=s.material.sets.test.examples[: s.limit])
    run = asked(s.lab, s.material, model, data, "adversaries of single texts", ("attention",), (test,))
    return run, label("tests", test, s.lab.seed)


def moved(points: Sequence[Mapping[str, Any]], best: int) -> bool:
    """Whether the telling adversary's mean JSD is above the paper's .4."""
    return float(points[best]["jsd"]["value"]) > MOVED


__all__ = ["Setup", "estimate", "guide_lambda", "guides", "moved", "one_by_one", "seeds", "sweep", "uniform"]
