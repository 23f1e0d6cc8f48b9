"""An attention model that can only answer with a word of the text: entities that the passage lacks are masked."""

from __future__ import annotations

import torch
from torch import Tensor

from assay.answers.batch import NOTHING
from assay.models.attention_rnn import AttentionRNN
from assay.models.attention_text import UNK
from assay.models.torch import Batch, Change, Out
from assay.types import BadInput

MASKED = -1e4
"""Logit of an answer that the text does not hold: its probability is exactly 0 in float32."""


class ClozeRNN(AttentionRNN):
    """Attention over the passage given the question; the classes are words, and only those of the passage compete.

    Jain & Wallace 2019 mask entities that are not in the passage. The mask follows the text as it is edited: an entity
    whose every mention was taken away can no longer be the answer. A text without any of the classes is not masked.
    """

    def forward(
        self,
        batch: Batch,
        change: Change | None = None,
        attention: Tensor | None = None,
        hold: bool = False,
        keep: frozenset[str] = NOTHING,
    ) -> Out:
        """As an attention model does, with the logits of absent answers at ``MASKED``."""
        out = super().forward(batch, change, attention, hold, keep)
        there = self.present(batch).unsqueeze(1)
        return Out(out.logits.masked_fill(~there, MASKED), out.attention, out.maps, out.states)

    def present(self, batch: Batch) -> Tensor:
        """[B, classes] bool: which answers the attended field holds."""
        answers = torch.tensor([self.word_ids(label)[-1] for label in self.labels], device=batch.ids.device)
        ids = batch.ids.masked_fill(~self.text(batch).attend, -1)
        found = (ids.unsqueeze(2) == answers.where(answers != UNK, -2)).any(1)
        return found | ~found.any(1, keepdim=True)


def cloze(model: AttentionRNN) -> ClozeRNN:
    """The same net, answering with words of the text only; the labels must be words (their last word counts)."""
    if model.head != "softmax":
        raise BadInput(f"{model.name} has two classes and one logit; a cloze model needs a logit for each answer")
    return ClozeRNN(
        model.net, model.reader, labels=model.labels, name=model.name, notes=model.notes, device=str(model.device)
    )
