"""Errors a user can mend, and the key under which content is filed."""

from __future__ import annotations

import hashlib
import json


class AssayError(Exception):
    """Something a user can mend: the message names the place and the remedy, in one line."""


class UnknownName(AssayError):
    """A name that no registry entry has."""


class BadInput(AssayError):
    """A text, file, label or setting that cannot be used."""


class CannotDo(AssayError):
    """A model lacks what a method or test needs."""


class Interrupted(AssayError):
    """The user stopped it; the message says what is safe."""


class ProbeFailed(AssayError):
    """The model could not answer a question (raised at the ``yield`` that asked it)."""


def content_key(*parts: object) -> str:
    """A short stable hash of JSON-like values; the same on every machine and in every process."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
