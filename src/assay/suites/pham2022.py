"""Pham et al. 2022, Double trouble: every table and figure, our number beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay import resolve
from assay.exhibit import Exhibit
from assay.lab import Lab
from assay.registry import did_you_mean, suite
from assay.suites import pham_published as printed
from assay.suites.pham_deletion import deleted, thresholded
from assay.suites.pham_fills import broken, fill_quality, new_heads
from assay.suites.pham_models import cast
from assay.suites.pham_people import people
from assay.suites.pham_roar import retrained
from assay.suites.pham_runs import Part, Stage, right_ones
from assay.suites.pham_texts import texts
from assay.types import BadInput

PARTS: Mapping[str, Callable[[Stage], Part]] = {
    "deletion": deleted,
    "texts": texts,
    "fills": fill_quality,
    "accuracy": broken,
    "people": people,
    "threshold": thresholded,
    "randomisation": new_heads,
    "roar": retrained,
    "roar-lime": lambda stage: retrained(stage, lime=True),
}
"""Parts by name; what they show: T1 T1b A1 | F1 A17 | A3 | T4 | T3 A2 | A4 | A5 | T2 F4 | A6."""
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    printed.SST: ("roar-lime",),
    printed.ESNLI: ("roar-lime", "roar", "threshold"),
    printed.MULTIRC: ("roar-lime", "roar", "threshold", "randomisation"),
}
"""Parts that ``all`` leaves out: the paper does not show them for that data set, or they cost hours; name them."""
SMALL_LIMIT, LIMIT, LONG_LIMIT = 40, 300, 30
SMALL_ROWS, ROWS = 300, 6000


@suite(
    "pham2022",
    paper="Pham et al. 2022, Double Trouble: How to not explain a text classifier's decisions using counterfactuals "
    "synthesized by masked language models?",
)
def pham2022(
    lab: Lab,
    *,
    data: str = "builtin",
    limit: int | None = None,
    model: str = "",
    lm: str = "",
    second_lm: str = "",
    roar_rows: int = 0,
    seeds: int = 0,
    samples: int = 0,
    parts: str = "all",
) -> Exhibit:
    """Do explanations by a language model's fills (input marginalisation) beat leaving words out?

    The paper's answer: no; each test of faithfulness favours the method that removes words its way. Tables 1 to 4, A1
    to A6 and the figures, on ``builtin``, ``sst2``, ``sst``, ``esnli``, ``snli`` or ``multirc``. ``model``: classifier
    (default: small and built in, or MiniLM fine-tuned here); ``lm``, ``second_lm``: masked language models (default:
    trained here); ``roar_rows``, ``seeds``: retraining; ``samples``: copies per text for LIME; ``parts``: names of
    PARTS with commas between (``all`` leaves out what the paper does not show for that data, and LIME's retraining).
    """
    stage = staged(lab, data, limit, model, lm, second_lm, roar_rows, seeds, samples)
    made = {name: PARTS[name](stage) for name in chosen(parts, stage.nearest)}
    return Exhibit(
        "pham2022",
        "Pham et al. 2022, Double trouble",
        f"{stage.whole.name} ({stage.whole.split or 'all'})",
        "" if data in ("sst2", "sst", "esnli", "multirc") else stage.nearest,
        {**settings(stage), **{k: v for p in made.values() for k, v in p.settings.items()}},
        tuple(f for p in made.values() for f in p.findings),
        tuple(t for p in made.values() for t in p.tables),
        tuple(f for p in made.values() for f in p.figures),
        tuple(h for p in made.values() for h in p.heatmaps),
        (*notes(stage), *(n for p in made.values() for n in p.notes)),
        {name: round(s, 1) for name, s in lab.seconds.items()},
    )


def chosen(parts: str, nearest: str = printed.SST) -> list[str]:
    """The named parts, in their own order.

    >>> chosen("roar, deletion")
    ['deletion', 'roar']
    """
    if parts == "all":
        return [name for name in PARTS if name not in LEFT_OUT[nearest]]
    asked = [p.strip() for p in parts.split(",") if p.strip()]
    for name in asked:
        if name not in PARTS:
            raise BadInput(f"pham2022 has no part '{name}'{did_you_mean(name, list(PARTS))}")
    if not asked:
        raise BadInput(f"parts is empty; write all, or some of: {', '.join(PARTS)}")
    return [name for name in PARTS if name in asked]


def staged(
    lab: Lab, data: str, limit: int | None, model: str, lm: str, second: str, rows: int, seeds: int, samples: int
) -> Stage:
    """Models and examples of the experiment."""
    small = data.startswith("builtin")
    whole = resolve.data(data, split=None if small else "dev")
    actors = cast(lab, data, model, lm, second)
    whole = resolve.matched(resolve.distinct(whole).sample(None), actors.model)
    right = right_ones(lab, actors.model, whole, None)
    most = limit or (SMALL_LIMIT if small else LONG_LIMIT if data == "multirc" else LIMIT)
    return Stage(
        lab, actors, data, printed.NEAREST.get(data, printed.SST), whole, right, most,
        seeds or (3 if small else 5), rows or (SMALL_ROWS if small else ROWS), samples or (100 if small else 500),
    )  # fmt: skip


def settings(stage: Stage) -> dict[str, Any]:
    """What was done, and where it differs from the paper."""
    accuracy = f"{len(stage.right) / max(1, len(stage.whole)):.3f} on {len(stage.whole)} examples"
    return {
        **stage.cast.told,
        "accuracy of the classifier": accuracy,
        "explained examples": f"{min(stage.limit, len(stage.right))} that the classifier gets right, in hashed order",
        "unit": "words found by Assay's rules (the paper: spaCy tokens)",
        "LIME": f"{stage.samples} samples (the paper: 1000), fills at once (the paper: from left to right)",
        "seed": stage.lab.seed,
    }


def notes(stage: Stage) -> tuple[str, ...]:
    """Deviations that a reader must know before comparing."""
    out = [
        "The paper's classifier and language model are BERT-base; smaller ones are used here, so levels differ and "
        "orderings are what can be compared. Table A3 says how good the fills are.",
        "Deletion with fills: words are filled from left to right at every step of the curve; the paper fills in the "
        "order of the scores and keeps earlier fills.",
        "Fills are whole words of the vocabulary; the paper's code also pastes word endings.",
    ]
    if stage.nearest == printed.SST and not stage.data.startswith("builtin"):
        out.append(
            "Highlights: the treebank's phrases carry five classes here, not scores, so the paper's cuts at .7 and .3 "
            "become class edges; both nearest edges are shown."
        )
    if stage.nearest == printed.ESNLI and not stage.data.startswith("builtin"):
        out.append("Highlights: words marked by at least two of three people; no neutral pairs are marked.")
    if stage.data.startswith("builtin"):
        out.append(f"Built-in data: the numbers beside ours are the paper's for {stage.nearest}.")
    return tuple(out)
