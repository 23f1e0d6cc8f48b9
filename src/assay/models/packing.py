"""Turns edits (small integers per feature) into token ids, vectorised; knows no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from assay.answers.batch import Batch
from assay.types import DROP, FILL, HIDE, KEEP, MASK, PAD, UNK, ZERO, Edit

Int64s = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Encoding:
    """The untouched input as P pieces: their ids, the feature each belongs to (-1: none), further rows of ids."""

    ids: Int64s
    owner: Int64s
    extra: Mapping[str, Int64s] = field(default_factory=dict)

    def pieces_of(self, n: int) -> Int64s:
        """[n]: how many pieces each feature has."""
        return np.bincount(self.owner[self.owner >= 0], minlength=n).astype(np.int64)

    @cached_property
    def first(self) -> NDArray[np.bool_]:
        """[P]: True for the first piece of its feature (a piece of none is never first)."""
        out = np.zeros(len(self.ids), dtype=bool)
        owned = np.flatnonzero(self.owner >= 0)
        out[owned[np.unique(self.owner[owned], return_index=True)[1]]] = True
        return out


@dataclass(frozen=True, eq=False)
class Block:
    """One probe's edit, ready to be laid out: what it edits and the ids that stand in."""

    encoding: Encoding
    edit: Edit
    stand_in: Mapping[int, Sequence[int]]
    """Code -> the ids that replace a feature: UNK, PAD, MASK and every fill that occurs."""


def sizes(encoding: Encoding, codes: NDArray[np.int32], fill_sizes: Sequence[int]) -> Int64s:
    """[m]: tokens per row, without building ids; a row of nothing is fed one token."""
    per = encoding.pieces_of(codes.shape[1])
    table = np.array([0, 0, 0, 0, 1, 1, 1, *fill_sizes], dtype=np.int64)
    whole = (codes == KEEP) | (codes == HIDE) | (codes == ZERO)
    tokens = np.where(whole, per, table[codes] * (per > 0)).sum(axis=1)
    return np.asarray(np.maximum(1, tokens + int((encoding.owner < 0).sum())), dtype=np.int64)


def lay_out(blocks: Sequence[Block], lengths: Sequence[Int64s], filler: int, device: torch.device) -> Batch:
    """All rows of all blocks, right-padded with ``filler``.

    A row of nothing, or of nothing that may be seen, holds one ``filler`` of no feature: no network can attend to
    nothing, and what it would make of that would depend on the padding.
    """
    total = sum(len(m) for m in lengths)
    longest = max((int(m.max()) for m in lengths if len(m)), default=1)
    names = sorted({k for b in blocks for k in b.encoding.extra})
    ids = np.full((total, longest), filler, dtype=np.int64)
    owner = np.full((total, longest), -1, dtype=np.int64)
    hidden = np.zeros((total, longest), dtype=bool)
    zeroed = np.zeros((total, longest), dtype=bool)
    extra = {k: np.zeros((total, longest), dtype=np.int64) for k in names}
    top = 0
    for block in blocks:
        rows, pieces, at, values, codes = _place(block)
        ids[top + rows, at] = values
        owner[top + rows, at] = block.encoding.owner[pieces]
        hidden[top + rows, at] = codes == HIDE
        zeroed[top + rows, at] = codes == ZERO
        for k, array in block.encoding.extra.items():
            extra[k][top + rows, at] = array[pieces]
        top += block.edit.rows
    real = np.arange(longest) < np.concatenate([np.asarray(m) for m in lengths])[:, None]
    blind = ~(real & ~hidden).any(axis=1)
    ids[blind], owner[blind], hidden[blind], real[blind, 1:] = filler, -1, False, False
    gate = torch.from_numpy(1.0 - zeroed.astype(np.float32)).to(device) if zeroed.any() else None
    return Batch(
        ids=torch.from_numpy(ids).to(device),
        real=torch.from_numpy(real).to(device),
        seen=torch.from_numpy(real & ~hidden).to(device),
        owner=torch.from_numpy(owner).to(device),
        n=max((b.edit.codes.shape[1] for b in blocks), default=0),
        gate=gate,
        extra={k: torch.from_numpy(a).to(device) for k, a in extra.items()},
    )


def _place(block: Block) -> tuple[Int64s, Int64s, Int64s, Int64s, NDArray[np.int32]]:
    """For every token of every row: its row, the piece it comes from, its column, its id, its code."""
    encoding = block.encoding
    if not len(encoding.ids):
        none = np.zeros(0, dtype=np.int64)
        return none, none, none, none, none.astype(np.int32)
    codes = np.where(encoding.owner >= 0, block.edit.codes[:, np.maximum(encoding.owner, 0)], KEEP).astype(np.int32)
    counts = _counts(codes, encoding, block.stand_in)
    flat = np.repeat(np.arange(counts.size), counts.ravel())
    rows, pieces = np.divmod(flat, counts.shape[1])
    per_row = counts.sum(axis=1)
    at = np.arange(len(flat)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    starts = np.cumsum(counts.ravel()) - counts.ravel()
    rank = np.arange(len(flat)) - starts[flat]
    code = codes[rows, pieces]
    values = encoding.ids[pieces].copy()
    replaced = code >= UNK
    if replaced.any():
        values[replaced] = _stand_ins(block.stand_in)[code[replaced], rank[replaced]]
    return rows, pieces, at, values, code


def _counts(codes: NDArray[np.int32], encoding: Encoding, stand_in: Mapping[int, Sequence[int]]) -> Int64s:
    """[m, P]: tokens that each piece becomes; a replaced feature stands where its first piece stood."""
    table = np.ones(max([MASK, *stand_in]) + 1, dtype=np.int64)
    table[DROP] = 0
    for code, ids in stand_in.items():
        table[code] = len(ids)
    counts = table[codes]
    return np.asarray(np.where((codes >= UNK) & ~encoding.first, 0, counts), dtype=np.int64)


def _stand_ins(stand_in: Mapping[int, Sequence[int]]) -> Int64s:
    """[codes, longest]: ids by code and rank."""
    table = np.zeros((max(stand_in) + 1, max(1, *(len(v) for v in stand_in.values()))), dtype=np.int64)
    for code, ids in stand_in.items():
        table[code, : len(ids)] = ids
    return table


TOKENS = {UNK: "unk", PAD: "pad", MASK: "mask"}
"""Codes that put a special token in a feature's place -> the capability they need."""
__all__ = ["FILL", "TOKENS", "Block", "Encoding", "Int64s", "lay_out", "sizes"]
