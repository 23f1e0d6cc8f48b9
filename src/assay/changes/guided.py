"""A word-by-word classifier whose attention is given from outside: are the weights worth anything without context?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from assay.changes.attention_fit import Progress, Schedule, attention_model, fit_attention, fresh
from assay.changes.encoded import Encoded, Labelled
from assay.changes.quality import labels_of, measured, training_notes
from assay.changes.shown import ATTENTION, Ragged, shown, spread
from assay.models.attention_layers import Shape, Sizes, sized
from assay.models.attention_rnn import AttentionRNN
from assay.types import BadInput, Dataset, Floats, Seed

SEED = Seed(0)


def train_guided(
    like: AttentionRNN,
    data: Dataset,
    dev: Dataset,
    guide: Mapping[str, Floats],
    *,
    sizes: Sizes = "small",
    schedule: Schedule | None = None,
    select: Literal["accuracy", "auc", "f1"] = "accuracy",
    vectors: Any = None,
    seed: Seed = SEED,
    progress: Progress | None = None,
) -> AttentionRNN:
    """Embedding -> Linear -> tanh for each word alone, then sum_t w_t h_t with the guide's weights, then Linear.

    ``guide``: example id -> a weight for every attended word of ``like`` (see ``guide_weights``), of training and
    held-out examples alike. No trained part sees a neighbour, so only the weights carry context (the "diagnostic" of
    Wiegreffe & Pinter 2019). The model reads as ``like`` does and, asked without a guide, attends uniformly.
    """
    like, schedule = attention_model(like), schedule or Schedule()
    labels_of(data, dev)
    old = like.net.shape
    shape = sized(Shape(old.vocab, old.outputs, "average", "uniform", old.query), sizes)
    model = fresh(like, seed, shape, vectors=vectors)
    train, held = Encoded(model, data), Encoded(model, dev)
    weights, held_weights = ragged(guide, data), ragged(guide, dev)

    def loss(labelled: Labelled) -> Tensor:
        attention = spread(weights, labelled.rows, model.text(labelled.batch).attend)
        out = model.forward(labelled.batch, attention=attention, keep=ATTENTION)
        return gold_loss(out.logits[:, 0], labelled, train, model.head)

    def score() -> float:
        return measured(shown(model, held, held_weights).logp, held.gold)[select]

    done = fit_attention(
        model, train, loss, select=lambda epoch: score(), schedule=schedule, seed=seed, progress=progress
    )
    scores = measured(shown(model, held, held_weights).logp, held.gold)
    model.notes = training_notes(done, data, scores, len(dev), {"sizes": sizes, "guided": True, "select": select})
    return model


def gold_loss(logits: Tensor, labelled: Labelled, data: Encoded, head: str) -> Tensor:
    """Mean cross-entropy; with one logit the second class counts N/N+ - 1 times (Jain & Wallace 2019)."""
    if head == "binary":
        gold = labelled.gold.to(logits.dtype)
        weight = logits.new_tensor(len(data.gold) / max(1, int(data.gold.sum())) - 1)
        return binary_cross_entropy_with_logits(logits[:, 1], gold, pos_weight=weight)
    return cross_entropy(logits, labelled.gold)


def ragged(guide: Mapping[str, Floats], data: Dataset) -> Ragged:
    """The guide's arrays in the order of the examples."""
    for e in data.examples:
        if e.id not in guide:
            raise BadInput(f"{data.name} ({data.split}): the guide has no weights for example {e.id}")
    return [guide[e.id] for e in data.examples]


def guide_weights(model: AttentionRNN, data: Dataset, scores: Mapping[str, Floats]) -> tuple[dict[str, Floats], int]:
    """Any method's scores as attention: |score| / sum |score| over the attended words; and how many maps were flat.

    ``scores``: example id -> one score per free word (or per feature). A word without a score (NaN) weighs nothing.
    A map of zeros says nothing: it weighs all words alike and is counted.
    """
    out, flat = {}, 0
    for e in data.examples:
        if e.id not in scores:
            raise BadInput(f"{data.name} ({data.split}): no scores for example {e.id}")
        x = model.read(e)
        try:
            size = np.abs(np.nan_to_num(x.spread(np.asarray(scores[e.id]))))
        except ValueError as error:
            raise BadInput(f"{data.name}: example {e.id}: {error}") from error
        mine = np.array([p.field != model.reader.query and not p.special for p in x.places])
        kept = size[mine]
        total = float(kept.sum())
        flat += total == 0
        out[e.id] = kept / total if total > 0 else np.full(len(kept), 1 / len(kept))
    return out, flat
