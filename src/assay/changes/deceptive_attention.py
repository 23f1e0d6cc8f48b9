"""An attack: a model that decides by words it seems not to look at; the positive control for tests of attention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from assay.changes.attention_fit import Progress, Schedule, attention_model, fit_attention, fresh
from assay.changes.encoded import Encoded, Labelled
from assay.changes.guided import gold_loss
from assay.changes.quality import labels_of, measured, training_notes
from assay.changes.shown import Ragged, shown, spread
from assay.models.attention_rnn import AttentionRNN
from assay.registry import change
from assay.types import BadInput, Dataset, Floats, Seed

SEED = Seed(1)
FLOOR = 1e-6
"""Least share of attention that is taken to be left, so that the logarithm stays finite."""
Words = str | Iterable[str] | Callable[[str], bool]
"""Impermissible words: a list, 'he, she, him' in one string, or a function of the word."""


@dataclass(frozen=True, slots=True)
class Deception:
    """Accuracy, mean attention on impermissible words (of texts that have any), and accuracy without that attention."""

    accuracy: float
    f1: float
    mass: float
    flow_accuracy: float
    """With the impermissible attention set to zero and nothing put in its place."""
    texts: int
    """How many texts hold an impermissible word."""


@change(
    "deceptive-attention",
    paper="Pruthi et al. 2020, Learning to Deceive with Attention-Based Explanations",
    purpose="attack",
)
def deceptive_attention(
    model: AttentionRNN,
    data: Dataset,
    dev: Dataset,
    *,
    words: Any,
    weight: float = 1.0,
    start: Literal["fresh", "model"] = "fresh",
    epochs: int = 8,
    patience: int | None = None,
    lr: float = 5e-3,
    rows: int = 32,
    decay: float = 1e-5,
    seed: Seed = SEED,
    progress: Progress | None = None,
) -> AttentionRNN:
    """A model trained to be right while its attention leaves out the impermissible ``words``.

    loss = CE - weight * mean log(1 - attention on impermissible words). ``start`` fresh: drawn anew in the shape of
    ``model`` (the paper), or from the model's own weights. Success: accuracy as before, mass near 0; an encoder that
    reads neighbours carries the words' meaning to others, so attention does not show what decided. ``weight`` 0 is the
    honest twin. The epoch kept has the lowest loss on ``dev``. Known failure: an encoder of single words (average)
    cannot deceive without losing accuracy. Texts of impermissible words only are trained on without the penalty.
    ``model.notes['deception']`` holds what came of it on ``dev``.
    """
    like, banned = attention_model(model), impermissible(words)
    labels_of(data, dev)
    made = fresh(like, seed)
    if start == "model":
        made.net.load_state_dict(like.net.state_dict())
    made.name = f"{like.name} (deceptive attention)"
    train, held = Encoded(made, data), Encoded(made, dev)
    marks, held_marks = banned_words(made, data, banned), banned_words(made, dev, banned)
    if not any(m.any() for m in marks):
        raise BadInput(f"deceptive-attention: no impermissible word occurs in {data.name}; give words that do")

    def loss(labelled: Labelled, of: Encoded = train, banned_in: Ragged = marks) -> Tensor:
        out = made.forward(labelled.batch)
        attend = made.text(labelled.batch).attend
        right = gold_loss(out.logits[:, 0], labelled, of, made.head)
        return right + weight * deception_loss(out.attention, spread(banned_in, labelled.rows, attend), attend)

    def score() -> float:
        parts = np.array_split(np.argsort(held.lengths, kind="stable"), max(1, len(held.lengths) // 256))
        each = [float(loss(held.batch(rows), held, held_marks)) * len(rows) for rows in parts if len(rows)]
        return -sum(each) / len(held.lengths)

    schedule = Schedule(epochs, lr, rows, decay, patience)
    done = fit_attention(made, train, loss, select=lambda e: score(), schedule=schedule, seed=seed, progress=progress)
    settings = {"weight": weight, "start": start, "lr": lr, "rows": rows, "decay": decay}
    made.notes = training_notes(done, data, held.scores(), len(dev), settings)
    found = deception(made, dev, words)
    made.notes["deception"] = {k: getattr(found, k) for k in Deception.__slots__}
    return made


def deception_loss(attention: Tensor | None, banned: Tensor, attend: Tensor) -> Tensor:
    """Mean of -log(1 - attention on impermissible words); rows without any permitted word count 0.

    >>> a, b = torch.tensor([[0.75, 0.25]]), torch.tensor([[1.0, 0.0]])
    >>> round(float(deception_loss(a, b, torch.tensor([[True, True]]))), 4)  # ln 4
    1.3863
    """
    if attention is None:  # an attention model always has one
        raise TypeError("the model gave no attention")
    left = (attention * (1 - banned)).sum(-1)
    possible = (attend & (banned == 0)).any(-1)
    return torch.where(possible, -left.clamp_min(FLOOR).log(), torch.zeros_like(left)).mean()


def impermissible(words: Words) -> Callable[[str], bool]:
    """Is this word impermissible? Lists are compared without regard to case.

    >>> impermissible("he, she")("She"), impermissible(["he"])("the")
    (True, False)
    """
    if callable(words):
        return words
    listed = words.split(",") if isinstance(words, str) else list(words)
    known = {w.strip().casefold() for w in listed if w.strip()}
    if not known:
        raise BadInput("deceptive-attention: words is empty; give a list of impermissible words, or a function")
    return lambda word: word.casefold() in known


def banned_words(model: AttentionRNN, data: Dataset, banned: Callable[[str], bool]) -> Ragged:
    """1 for each attended word that is impermissible, else 0."""
    out: list[Floats] = []
    for e in data.examples:
        x = model.read(e)
        mine = [w for w, p in zip(x.words, x.places, strict=True) if p.field and p.field != model.reader.query]
        out.append(np.array([float(banned(w)) for w in mine]))
    return out


def deception(model: AttentionRNN, data: Dataset, words: Words) -> Deception:
    """What a model's attention shows of impermissible words, and what its answers owe to attending them.

    Low ``mass`` with unchanged accuracy: attention hides them. ``flow_accuracy`` far below accuracy: the answer runs
    through the attention on them after all. Needs an attention model; attention models attend single words here.
    """
    model = attention_model(model)
    encoded, marks = Encoded(model, data), banned_words(model, data, impermissible(words))
    own = shown(model, encoded)
    looked = own.attention
    cut: Sequence[Floats] = [a * (1 - m) for a, m in zip(looked, marks, strict=True)]
    having = [float(a @ m) for a, m in zip(looked, marks, strict=True) if m.any()]
    scores = measured(own.logp, encoded.gold)
    flow = measured(shown(model, encoded, cut).logp, encoded.gold)
    mass = float(np.mean(having)) if having else 0.0
    return Deception(scores["accuracy"], scores["f1"], mass, flow["accuracy"], len(having))
