"""Jain & Wallace 2019, Attention is not explanation: every table and figure, our number beside the paper's."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from assay import stats
from assay.exhibit import Entry, Exhibit, Table
from assay.lab import Lab
from assay.registry import suite
from assay.suites import jain_published as printed
from assay.suites.jain_attention import PLANTED, attended, reported
from assay.suites.jain_correlation import correlated
from assay.suites.jain_data import Material, class_counts, material
from assay.suites.jain_runs import AVERAGE, Bout, bout
from assay.types import BadInput

SMALL_LIMIT, LIMIT = 120, 500
SMALL_EPOCHS, QUESTION_EPOCHS = 6, 30
EPSILON, QUESTION_EPSILON = 0.01, 0.05
"""What the paper prints for classification and for question answering."""


@suite("jain2019", paper="Jain & Wallace 2019, Attention is not explanation")
def jain2019(
    lab: Lab,
    *,
    data: str = "builtin",
    limit: int | None = None,
    encoder: Literal["bilstm", "cnn", "average"] = "bilstm",
    attention: Literal["additive", "dot"] = "additive",
    sizes: Literal["small", "code", "paper"] = "small",
    settings: Literal["paper", "code"] = "paper",
    epochs: int = 0,
    rows: int = 0,
    vectors: str = "",
    epsilon: float = 0.0,
    steps: int = 500,
    times: int = 100,
) -> Exhibit:
    """Does attention agree with other measures of importance, and would other attention have changed the answer?

    The paper's answers: not much, and mostly no. Tables 1 and 2, figures 2 to 8 and appendix E, on ``builtin``,
    ``builtin:planted`` (one word decides a class: the paper's exception), ``builtin:stories``, ``sst``, ``imdb``,
    ``agnews``, ``20news_sports``, ``snli``, ``babi:1`` to ``babi:3`` or any data with train and test. ``encoder``,
    ``attention``: the model; a word-by-word one (average) is always trained beside it. ``sizes``: ours for one core,
    or the code's or paper's. ``settings``: penalty and reported epsilon of adversaries as the paper or its code has
    them. ``epochs``, ``rows``, ``vectors``: training (0, '' = the default). ``epsilon``: 0 = the paper's (.01, .05 for
    questions). ``steps``, ``times``: of adversaries, permutations.
    """
    if epochs < 0 or not 0 <= epsilon < 1:
        raise BadInput(f"expected epochs >= 0 and 0 <= epsilon < 1 (0: the default), got {epochs} and {epsilon}")
    found = material(data, rows)
    recipe = found.recipe(sizes, epochs or usual_epochs(found, sizes), vectors)
    near = epsilon or (QUESTION_EPSILON if found.asks else EPSILON)
    tests = {
        "permutation": f"permutation(times={times})",
        "adversary": f"adversarial-attention(epsilon={near}, settings={settings}, steps={steps})",
        "erasure": "erasure",
    }
    most = limit or (SMALL_LIMIT if found.small else LIMIT)
    made = bout(lab, found, recipe, encoder, attention, most, tests, near, settings)
    parts = (correlated(made), attended(made))
    return Exhibit(
        "jain2019",
        f"Jain & Wallace 2019, Attention is not explanation ({encoder}, {attention})",
        f"{found.sets.test.name} ({found.sets.test.split or 'test'})",
        "" if found.same else found.nearest,
        told(made, recipe.label, recipe.epochs, attention),
        tuple(f for p in parts for f in p.findings),
        (_table1(made), *(t for p in parts for t in p.tables)),
        tuple(f for p in parts for f in p.figures),
        tuple(h for p in parts for h in p.heatmaps),
        (*notes(made), *(n for p in parts for n in p.notes)),
        {name: round(s, 1) for name, s in lab.seconds.items()},
    )


def usual_epochs(found: Material, sizes: str) -> int:
    """The papers' 8 for their sizes; fewer for small ones, more for questions."""
    return QUESTION_EPOCHS if found.asks else 8 if sizes != "small" else SMALL_EPOCHS


def _table1(made: Bout) -> Table:
    sets, main = made.material.sets, made.main
    length, train, test, score = printed.T1.get(made.material.nearest, ("", "", "", ""))
    rows: list[tuple[str, tuple[Entry, ...]]] = [
        ("average length in words", (Entry(round(float(np.mean(made.material.lengths)), 1), length),)),
        ("train, texts per class", (Entry(class_counts(sets.train), train),)),
        ("test, texts per class", (Entry(class_counts(sets.test), test),)),
        (f"accuracy, {main.encoder}", (Entry(stats.mean(main.right), score if main.encoder == "bilstm" else ""),)),
    ]
    rows += [
        (f"{name}, {main.encoder}", (Entry(round(v, 4)),)) for name, v in main.scores.items() if name != "accuracy"
    ]
    if main.encoder != AVERAGE:
        rows.append((f"accuracy, {AVERAGE}", (Entry(stats.mean(made.average.right)),)))
    note = "The paper's test score is called F1; its value on SST is that of accuracy (micro F1) in the stored results."
    return Table("T1", "Data and how good the models are", ("value",), tuple(rows), note)


def told(made: Bout, recipe: str, epochs: int, attention: str) -> dict[str, Any]:
    """What was done."""
    return {
        **made.material.told,
        "model": f"{made.main.encoder} encoder, {attention} attention, sizes and vectors: {recipe}, {epochs} epochs",
        "explained texts": f"{len(made.data)} of the test set, in hashed order",
        "gradient": "d p / d embedding . embedding, sizes, attention held constant",
        "leave-one-out": "words deleted, size of the change of the predicted class's probability",
        "adversaries": f"5 per text, {made.settings} settings, reported within epsilon = {reported(made)}",
        "attended field": "all but " + made.material.query if made.material.query else "the text",
        "seed": made.lab.seed,
    }


def notes(made: Bout) -> tuple[str, ...]:
    """What a reader must know before comparing."""
    out = [
        "Models here are smaller and their word vectors are not the paper's (FastText, GloVe 840B), unless sizes and "
        "vectors were given: orderings are what can be compared, not levels.",
    ]
    if not made.material.same:
        out.append(f"The numbers beside ours are the paper's for {made.material.nearest}.")
    if made.material.word.startswith(PLANTED):
        said = "what it says of permutation and adversaries should fail for that class."
        out.append(f"One word decides the positive class here, as in the paper's diagnoses: {said}")
    if len(made.labels) > 2:
        out.append("More than two classes: leave-one-out looks at the predicted class; the paper's code sums over all.")
    if made.main.encoder == "average":
        out.append("With the average encoder as the model there is nothing to set beside it: figure 8 is left out.")
    return tuple(out)
