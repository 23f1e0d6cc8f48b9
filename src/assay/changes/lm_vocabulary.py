"""Learns a lower-cased vocabulary of words, word endings and letters from texts; the same for the same texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from assay.types import BadInput

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = 1000
"""Most letters kept, the commonest first; a word with another letter is unknown."""
ENDINGS = range(2, 7)
"""Lengths of word endings that are counted."""


def learned(texts: Iterable[str], size: int) -> dict[str, int]:
    """Piece -> id: special tokens, letters, the commonest words, the endings that most words share.

    A fill is one piece, so words come first: endings (each shared by three words at least) get what is left, an eighth
    of the room at least. Any word of known letters can be spelled. Ties go by the alphabet, so nothing is random (the
    trainers of the tokenizers library break ties differently in every run).

    >>> vocabulary = learned(["Seen a film.", "A film!"], 60)
    >>> [w for w in vocabulary if len(w) > 1 and w[0] not in "[#"]
    ['film', 'seen']
    """
    words = Counter(word for text in texts for word in _words(text))
    letters = Counter(c for word, count in words.items() for c in word * min(count, 9))
    kept = sorted(_first(letters, LETTERS))
    out = [*SPECIAL, *kept, *(f"##{c}" for c in kept)]
    room = size - len(out)
    if room < 1:
        raise BadInput(f"a vocabulary of {size} has no room for words beside {len(out)} letters: make it larger")
    endings = Counter(f"##{word[-k:]}" for word in words for k in ENDINGS if len(word) > k)
    shared = Counter({e: count for e, count in endings.items() if count >= 3})
    long = Counter({w: count for w, count in words.items() if len(w) > 1})
    out += _first(long, max(room * 7 // 8, room - len(shared)))
    out += _first(shared, size - len(out))
    return {piece: i for i, piece in enumerate(out)}


def _first(counts: Counter[str], most: int) -> list[str]:
    """The commonest, ties by the alphabet."""
    return sorted(counts, key=lambda w: (-counts[w], w))[:most]


def _words(text: str) -> list[str]:
    """Words as an uncased BERT tokenizer finds them."""
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    found = BertPreTokenizer().pre_tokenize_str(BertNormalizer(lowercase=True).normalize_str(text))
    return [word for word, _ in found]
