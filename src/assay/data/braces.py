"""Knows how evidence is written inside a text: 'a {truly dull} film' marks the words in braces."""

from __future__ import annotations

from assay.types import Mark


def unbrace(text: str, field: str = "text", label: str | None = None) -> tuple[str, tuple[Mark, ...]]:
    """The text without its braces, and a mark for each stretch that stood in them.

    >>> unbrace("a {truly dull} film")
    ('a truly dull film', (Mark(field='text', start=2, end=12, weight=1.0, label=None, votes=None),))
    """
    plain, marks, length, start = [], [], 0, -1
    for c in text:
        if c == "{":
            start = length
        elif c == "}":
            marks.append(Mark(field, start, length, label=label))
            start = -1
        else:
            plain.append(c)
            length += 1
    if start >= 0 or any(m.start < 0 for m in marks):
        raise ValueError(f"braces do not pair up in {text!r}")
    return "".join(plain), tuple(marks)
