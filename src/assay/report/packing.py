"""Knows how values travel inside a page: compact JSON that no text can break out of."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import floor, isfinite, log10
from typing import Any

from assay.heat import largest
from assay.summary import ExampleView

_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_LONE = re.compile("[\ud800-\udfff]")


def safe_json(value: Any) -> str:
    """JSON in which ``<``, ``>``, ``&``, line separators and lone surrogates are escaped; NaN must not occur.

    >>> safe_json("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign, escaped in _UNSAFE.items():
        text = text.replace(sign, escaped)
    return _LONE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def reading_order(e: ExampleView) -> list[int]:
    """Words field after field: the order in which the page meets them."""
    names = list(e.fields)
    return sorted(range(len(e.words)), key=lambda i: (names.index(e.places[i][0]), e.places[i][1]))


def pack_scores(scores: Sequence[float], digits: int = 4) -> list[int | None]:
    """[exponent, whole numbers ...]: score = number * 10 ** exponent, so many digits for the largest score.

    >>> pack_scores([0.12345, -0.5, float("nan"), 0.0])
    [-4, 1234, -5000, None, 0]
    """
    top = largest(scores)
    exponent = floor(log10(top)) - digits + 1 if top > 0 else 0
    return [exponent, *(round(s * 10.0**-exponent) if isfinite(s) else None for s in scores)]
