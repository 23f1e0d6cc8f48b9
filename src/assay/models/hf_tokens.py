"""How a Hugging Face tokenizer cuts named texts into pieces, with special tokens, offsets and segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from assay import align
from assay.models.packing import Encoding, Int64s
from assay.types import BadInput, Place


@dataclass(frozen=True, eq=False)
class Pieces:
    """All fields of one example as the model reads them; ``field`` is -1 for a special token."""

    ids: list[int]
    field: list[int]
    offsets: list[tuple[int, int]]
    types: list[int]

    def take(self, keep: Sequence[bool]) -> Pieces:
        """Those pieces only."""
        at = [i for i, k in enumerate(keep) if k]
        ids, field = [self.ids[i] for i in at], [self.field[i] for i in at]
        return Pieces(ids, field, [self.offsets[i] for i in at], [self.types[i] for i in at])

    def of(self, field: int) -> list[int]:
        """Indices of a field's pieces."""
        return [i for i, f in enumerate(self.field) if f == field]

    def owners(self, field: int, spans: Sequence[tuple[int, int]]) -> Int64s:
        """For each piece of a field its span; a piece of none (a lone space mark) joins the next, else the last."""
        found = align.owner_of_pieces([self.offsets[i] for i in self.of(field)], spans)
        after = -1
        for i in range(len(found) - 1, -1, -1):
            after = found[i] = found[i] if found[i] >= 0 else after
        if len(spans) and (found < 0).any():
            before = found.max(initial=-1)
            found[found < 0] = before if before >= 0 else 0
        return found


@dataclass(frozen=True, eq=False)
class Cutter:
    """A tokenizer with what has to be known of it; ``typed`` when the model reads token types."""

    tokenizer: Any
    typed: bool

    def pieces(self, texts: Sequence[str]) -> Pieces:
        """One or two texts as the library joins them; further ones follow in the second segment, each after a
        separator token."""
        made = self._fast(texts) if self.tokenizer.is_fast else self._slow(texts)
        return made if len(texts) <= 2 else self._extended(made, texts)

    def _fast(self, texts: Sequence[str]) -> Pieces:
        made = self.tokenizer(*texts[:2], return_offsets_mapping=True, truncation=False, verbose=False)
        field = [-1 if s is None else int(s) for s in made.sequence_ids()]
        types = list(made.get("token_type_ids", [0] * len(field)))
        return Pieces(list(made["input_ids"]), field, [(int(a), int(b)) for a, b in made["offset_mapping"]], types)

    def _slow(self, texts: Sequence[str]) -> Pieces:
        """Word by word, because a tokenizer without offsets cannot say where a piece stood."""
        parts = [self._plain(text) for text in texts[:2]]
        marks = [[-1 - i] for i in range(len(parts))]
        template = self.tokenizer.build_inputs_with_special_tokens(*marks)
        ids: list[int] = []
        field: list[int] = []
        offsets: list[tuple[int, int]] = []
        for token in template:
            part = parts[-1 - token] if token < 0 else ([token], [(0, 0)])
            ids += part[0]
            field += [-1 - token if token < 0 else -1] * len(part[0])
            offsets += part[1]
        types = [0] * len(ids)
        if "token_type_ids" in self.tokenizer.model_input_names:
            types = self.tokenizer.create_token_type_ids_from_sequences(*(p[0] for p in parts))
        return Pieces(ids, field, offsets, list(types))

    def _plain(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Ids and offsets of a text without special tokens."""
        if self.tokenizer.is_fast:
            made = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
            return list(made["input_ids"]), [(int(a), int(b)) for a, b in made["offset_mapping"]]
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        for start, end in align.words(text):
            lead = " " if start and text[start - 1].isspace() else ""
            mine = self.tokenizer.encode(lead + text[start:end], add_special_tokens=False)
            ids += mine
            offsets += [(start, end)] * len(mine)
        return ids, offsets

    def _extended(self, made: Pieces, texts: Sequence[str]) -> Pieces:
        separator = self.tokenizer.sep_token_id
        if separator is None:
            raise BadInput(f"{len(texts)} fields need a separator token, this tokenizer has none: join them into two")
        at = len(made.ids) - self._trailing
        kind = made.types[-1] if made.types else 0
        ids, field, offsets = made.ids[:at], made.field[:at], made.offsets[:at]
        for number, text in enumerate(texts[2:], start=2):
            more, spans = self._plain(text)
            ids += [separator, *more]
            field += [-1] + [number] * len(more)
            offsets += [(0, 0), *spans]
        types = made.types[:at] + [kind] * (len(ids) - at) + made.types[at:]
        return Pieces(ids + made.ids[at:], field + made.field[at:], offsets + made.offsets[at:], types)

    @cached_property
    def _trailing(self) -> int:
        """Special tokens after a pair's second text."""
        pair = self._fast(("a", "a")) if self.tokenizer.is_fast else self._slow(("a", "a"))
        return pair.field[::-1].index(1)

    @cached_property
    def lead(self) -> str:
        """What to put before a lone word so that it is cut as inside a sentence (a space, for byte-level BPE)."""
        inside = self._plain("a b")[0]
        return next((lead for lead in ("", " ") if inside[1:] == self._plain(lead + "b")[0]), "")

    def word(self, word: str) -> list[int]:
        """The ids of a word inside a sentence."""
        ids = list(self.tokenizer.encode(self.lead + word, add_special_tokens=False))
        if not ids:
            raise BadInput(f"the tokenizer makes nothing of the fill word {word!r}")
        return ids


def shorten(pieces: Pieces, texts: Mapping[str, str], longest: int | None) -> tuple[list[int], str]:
    """Where each field ends so that the whole fits (in characters), and what was left out, in words.

    The field with the most pieces loses its last word until the rest fits.
    """
    ends = [len(text) for text in texts.values()]
    if longest is None or len(pieces.ids) <= longest:
        return ends, ""
    spans = [align.words(text) for text in texts.values()]
    counts = [np.bincount(pieces.owners(f, s), minlength=len(s)).tolist() if s else [] for f, s in enumerate(spans)]
    left, lost = [sum(c) for c in counts], [0] * len(counts)
    over = len(pieces.ids) - longest
    while over > 0 and any(counts):
        field = max((f for f, c in enumerate(counts) if c), key=lambda f: left[f])
        gone = counts[field].pop()
        left[field] -= gone
        lost[field] += 1
        over -= gone
        ends[field] = spans[field][len(counts[field]) - 1][1] if counts[field] else 0
    parts = [f"the last {k} words of {name}" for k, name in zip(lost, texts, strict=True) if k]
    return ends, f"{' and '.join(parts)} (the model takes {longest} tokens)"


def features(pieces: Pieces, texts: Mapping[str, str], ends: Sequence[int], unit: str, name: Any) -> list[Place]:
    """Special tokens and words (or pieces) in reading order; ``name`` gives a special token's text."""
    out: list[Place] = []
    done: set[int] = set()
    fields = list(texts)
    for i, field in enumerate(pieces.field):
        if field < 0:
            out.append(Place("", 0, 0, name(pieces.ids[i])))
        elif unit == "piece":
            out.append(Place(fields[field], *_tight(texts[fields[field]], *pieces.offsets[i])))
        elif field not in done:
            done.add(field)
            spans = align.words(texts[fields[field]], unit)
            out += [Place(fields[field], a, b) for a, b in spans if b <= ends[field]]
    return out


def _tight(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its front (byte-level pieces carry the space before a word)."""
    while start < end - 1 and text[start].isspace():
        start += 1
    return start, end


def encoding(pieces: Pieces, places: Sequence[Place], fields: Sequence[str], unit: str, typed: bool) -> Encoding:
    """Pieces with the feature (index into ``places``) that owns each."""
    owner = np.full(len(pieces.ids), -1, dtype=np.int64)
    if unit == "piece":
        owner[:] = np.arange(len(pieces.ids))
    else:
        special = [i for i, p in enumerate(places) if p.special]
        owner[pieces.of(-1)] = special
        for number, field in enumerate(fields):
            mine = np.array([i for i, p in enumerate(places) if p.field == field], dtype=np.int64)
            found = pieces.owners(number, [(places[i].start, places[i].end) for i in mine])
            if len(mine):
                owner[pieces.of(number)] = mine[found]
    extra = {"token_type_ids": np.array(pieces.types, dtype=np.int64)} if typed else {}
    return Encoding(np.array(pieces.ids, dtype=np.int64), owner, extra)
