"""Trains a model to fill the hole of a question with an entity of its passage."""

from __future__ import annotations

from assay.align import words
from assay.changes.attention_fit import Progress, Schedule, fit_attention
from assay.changes.encoded import Encoded
from assay.changes.quality import labels_of, training_notes
from assay.models.attention_cloze import ClozeRNN, cloze
from assay.models.attention_layers import Attention, Encoder, Shape, Sizes, sized
from assay.models.attention_net import new_net
from assay.models.attention_rnn import AttentionRNN
from assay.models.attention_text import Reader, Vocabulary
from assay.registry import change
from assay.types import Dataset, Seed

SEED = Seed(0)


@change("train-cloze", paper="Jain & Wallace 2019; Hermann et al. 2015", purpose="training")
def train_cloze(
    data: Dataset,
    dev: Dataset,
    *,
    encoder: Encoder = "bilstm",
    attention: Attention = "additive",
    sizes: Sizes = "small",
    epochs: int = 8,
    lr: float = 5e-3,
    rows: int = 32,
    decay: float = 1e-5,
    min_count: int = 1,
    seed: Seed = SEED,
    progress: Progress | None = None,
) -> ClozeRNN:
    """Train attention over the first field given the last; answers that the text lacks are masked in training too.

    Mean cross-entropy over the answers of the passage; the epoch of best held-out accuracy is kept. Labels are the
    names of the entities (``cnn-cloze``), so an entity never seen in training cannot be answered. The saved folder
    is an ordinary attention model: ``cloze(load(folder))`` masks again.
    """
    labels = labels_of(data, dev)
    fields = tuple(data.examples[0].fields)
    texts = ([text[a:b] for a, b in words(text)] for e in data.examples for text in e.fields.values())
    reader = Reader(Vocabulary.of(texts, min_count=min_count), fields, fields[-1])
    shape = sized(Shape(len(reader.vocabulary), len(labels), encoder, attention, query=True), sizes)
    model = cloze(AttentionRNN(new_net(shape, seed), reader, labels=labels, name=f"{encoder}-{attention}-cloze"))
    train, held = Encoded(model, data), Encoded(model, dev)
    done = fit_attention(
        model,
        train,
        train.loss,
        select=lambda epoch: held.score("accuracy"),
        schedule=Schedule(epochs, lr, rows, decay),
        seed=seed,
        progress=progress,
    )
    settings = {"sizes": sizes, "lr": lr, "rows": rows, "decay": decay, "masked": "entities not in the passage"}
    model.notes = training_notes(done, data, held.scores(), len(dev), settings)
    return model
