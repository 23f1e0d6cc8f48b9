"""Wiegreffe & Pinter 2019, Attention is not not explanation: four tests of attention, our number beside the paper's."""

from __future__ import annotations

from typing import Any, Literal

from assay.exhibit import Exhibit
from assay.lab import Lab
from assay.registry import suite
from assay.suites import wiegreffe_published as printed
from assay.suites import wiegreffe_runs as runs
from assay.suites.jain2019 import usual_epochs
from assay.suites.jain_data import SST, Material, material
from assay.suites.wiegreffe_adversary import adversary_part
from assay.suites.wiegreffe_models import guides_part, seeds_part, statistics, uniform_part
from assay.suites.wiegreffe_runs import Setup
from assay.trials.attention_models import BASE_SEED
from assay.trials.seed_variance import SEEDS
from assay.types import BadInput

SMALL_ROWS, SMALL_EPOCHS, SMALL_SEEDS, SMALL_LIMIT = 2000, 6, 3, 60
ADVERSARY_EPOCHS, SMALL_ADVERSARY = 40, 10
LIMIT = 300


@suite("wiegreffe2019", paper="Wiegreffe & Pinter 2019, Attention is not not explanation")
def wiegreffe2019(
    lab: Lab,
    *,
    data: str = "builtin",
    limit: int | None = None,
    sizes: Literal["small", "code", "paper"] = "small",
    settings: Literal["paper", "code"] = "paper",
    epochs: int = 0,
    adversary_epochs: int = 0,
    rows: int = 0,
    seeds: int = 0,
    lambdas: str = "",
    vectors: str = "",
    epsilon: float = 0.01,
    steps: int = 500,
) -> Exhibit:
    """Is attention needed, is it stable, does it help without its model, can a whole model be trained to fake it?

    Tables 1 to 5 and figures 2, 3, 5 and 6 for a BiLSTM with additive attention, on ``builtin``, ``sst``, ``imdb``,
    ``agnews``, ``20news_sports`` or any data with train and test. ``sizes``: ours for one core, or the code's or
    paper's. ``settings``: the epoch of an adversary is chosen on held-out data, or (code) by its training loss.
    ``epochs``, ``adversary_epochs``, ``rows``, ``vectors``: training (0, '' = the default). ``seeds``: how many beside
    the base's, at most the paper's 8. ``lambdas``: of adversaries, on the paper's scale, with spaces between ('' = the
    paper's grid, four on built-in data). ``epsilon``, ``steps``: of the adversaries of single texts.
    """
    found = material(data, rows or (SMALL_ROWS if data.startswith("builtin") else 0))
    s = setup(lab, found, limit, sizes, settings, epochs, adversary_epochs, seeds, lambdas, vectors)
    even, drift, swept = runs.uniform(s), runs.seeds(s), runs.sweep(s)
    chosen = runs.guide_lambda(swept)
    led = runs.guides(s, 2 * (runs.GUIDE_LAMBDA if chosen is None else chosen))
    single, test = runs.one_by_one(s, swept["base"], epsilon, steps)
    parts = (
        uniform_part(s, even),
        seeds_part(s, drift),
        guides_part(s, led, chosen),
        adversary_part(s, swept, single, test, {"uniform": even, "seeds": drift}),
    )
    return Exhibit(
        "wiegreffe2019",
        "Wiegreffe & Pinter 2019, Attention is not not explanation",
        f"{found.sets.test.name} ({found.sets.test.split or 'test'})",
        "" if found.same and found.nearest in printed.T2 else nearest(found),
        told(s, settings),
        tuple(f for p in parts for f in p.findings),
        (statistics(s, runs.estimate(even["base_accuracy"])), *(t for p in parts for t in p.tables)),
        tuple(f for p in parts for f in p.figures),
        tuple(h for p in parts for h in p.heatmaps),
        (*notes(s), *(n for p in parts for n in p.notes)),
        {name: round(t, 1) for name, t in lab.seconds.items()},
    )


def setup(
    lab: Lab, found: Material, limit: int | None, sizes: str, settings: str, epochs: int, adversary: int, seeds: int,
    lambdas: str, vectors: str,
) -> Setup:  # fmt: skip
    """Everything that was left open is chosen here."""
    if min(epochs, adversary, seeds) < 0 or seeds > len(SEEDS):
        raise BadInput(f"expected epochs, adversary_epochs >= 0 and 0 <= seeds <= {len(SEEDS)} (0: the default)")
    small = found.small
    usual = SMALL_EPOCHS if small and not found.asks and sizes == "small" else usual_epochs(found, sizes)
    return Setup(
        lab, found, found.recipe(sizes, epochs or usual, vectors), BASE_SEED + lab.seed,
        tuple(v + lab.seed for v in SEEDS[: seeds or (SMALL_SEEDS if small else len(SEEDS))]),
        grid(lambdas) if lambdas else usual_lambdas(found),
        adversary or (SMALL_ADVERSARY if small else ADVERSARY_EPOCHS),
        "train-loss" if settings == "code" else "dev", limit or (SMALL_LIMIT if small else LIMIT),
    )  # fmt: skip


def usual_lambdas(found: Material) -> tuple[float, ...]:
    """The paper's grid of the data set; few on built-in data."""
    return printed.FEW if found.small else printed.LAMBDAS.get(found.nearest, printed.LAMBDAS[SST])


def grid(text: str) -> tuple[float, ...]:
    """Lambdas in rising order.

    >>> grid("1e-3 0")
    (0.0, 0.001)
    """
    try:
        found = tuple(sorted({float(v) for v in text.replace(",", " ").split()}))
    except ValueError as error:
        raise BadInput(f"lambdas must be numbers with spaces between, as '0 5e-4 1e-3', got '{text}'") from error
    if len(found) < 2 or found[0] < 0:
        raise BadInput(f"lambdas must be two numbers or more, none below 0, got '{text}'")
    return found


def nearest(found: Material) -> str:
    """The paper's data set whose numbers stand beside ours."""
    return found.nearest if found.nearest in printed.T2 else ""


def told(s: Setup, settings: str) -> dict[str, Any]:
    """What was done."""
    return {
        **s.material.told,
        "model": f"BiLSTM, additive attention, sizes and vectors: {s.recipe.label}, {s.recipe.epochs} epochs",
        "seeds": f"base {s.seed}, others {', '.join(map(str, s.seeds))}",
        "epoch of a model": "best on held-out data (the paper's code chooses on the test set)",
        "adversaries": f"up to {s.epochs} epochs, epoch chosen "
        + ("by training loss, as the code does" if settings == "code" else "on held-out data"),
        "lambdas": "on the paper's scale: " + ", ".join(f"{v:g}" for v in s.lambdas),
        "F1": "of the second class" if len(s.labels) == 2 else "mean over classes",
        "adversaries of single texts": f"{min(s.limit, len(s.material.sets.test))} texts",
    }


def notes(s: Setup) -> tuple[str, ...]:
    """What a reader must know before comparing."""
    out = [
        "TVD here is half the sum of |p - p'| over all classes. The paper's numbers are half of that: they are shown "
        "doubled, and adversaries are trained with twice the paper's lambda.",
        "Intervals are over test texts: another training may give other numbers.",
    ]
    if not s.material.same and nearest(s.material):
        out.append(f"The numbers beside ours are the paper's for {s.material.nearest}.")
    if not nearest(s.material):
        out.append(f"The paper has no {s.material.nearest}: nothing stands beside our numbers.")
    return tuple(out)
