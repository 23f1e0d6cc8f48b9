"""Knows how SVG is written: elements, escaped text, the look of the i-th series. Knows no figure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width

INK = "#1c1e21"
PALETTE = ("#0072b2", "#bd4d08", "#00795a", "#a8457e", "#7d6000", "#5b53b8", "#5a5f66")
"""After Okabe and Ito (2008), darkened to a contrast of 4.5 on white; a page may override them as --c0 ... --c6."""
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 3")
SHAPES = ("circle", "square", "triangle", "diamond", "down", "cross", "plus")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def text(value: str) -> str:
    """Text that is only text, in HTML and in XML.

    >>> text("<b>&\\x00")
    '&lt;b&gt;&amp;�'
    """
    return escape(_FORBIDDEN.sub("\ufffd", value))


def tag(name: str, *children: str, **attributes: str | float) -> str:
    """One element. ``class_`` is class, ``stroke_width`` is stroke-width; children are SVG already.

    >>> tag("path", d="M0 0", stroke_width=1.5)
    '<path d="M0 0" stroke-width="1.5"/>'
    """
    pairs = (f' {k.rstrip("_").replace("_", "-")}="{_value(v)}"' for k, v in attributes.items())
    head = f"<{name}{''.join(pairs)}"
    return f"{head}>{''.join(children)}</{name}>" if children else f"{head}/>"


def _value(value: str | float) -> str:
    return text(value) if isinstance(value, str) else short(value)


def short(value: float) -> str:
    """A place on paper: two decimals are a hundredth of a pixel.

    >>> short(12.0), short(3.14159)
    ('12', '3.14')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def write(content: str, x: float, y: float, anchor: str = "start", **more: str | float) -> str:
    """A line of text."""
    return tag("text", text(content), x=x, y=y, text_anchor=anchor, **more)


def width_of(content: str, size: float = 12.5) -> float:
    """About how wide a text is; wide letters count double."""
    return sum(1.0 if east_asian_width(c) in "WF" else 0.62 for c in content) * size


def fit(content: str, room: float) -> str:
    """The text, or its beginning with '…' when the room is too small.

    >>> fit("short", 100), fit("a long name of something", 60)
    ('short', 'a long…')
    """
    one_line = " ".join(content.split())
    if width_of(one_line) <= room:
        return one_line
    while one_line and width_of(one_line + "…") > room:
        one_line = one_line[:-1]
    return one_line.rstrip() + "…"


def group(index: int, *children: str) -> str:
    """Everything of the i-th series: its colour reaches the children as currentColor."""
    return tag("g", *children, class_=f"s{index % len(PALETTE)}", color=PALETTE[index % len(PALETTE)])


def dash(index: int) -> str:
    """How the line of the i-th series is broken."""
    return DASHES[index % len(DASHES)]


def path(d: str, index: int = 0, **more: str | float) -> str:
    """A line in the series' colour and dash."""
    broken: dict[str, str | float] = {"stroke_dasharray": dash(index)} if dash(index) else {}
    return tag("path", d=d, **{"fill": "none", "stroke": "currentColor", "stroke_width": 2.0, **broken, **more})


def joined(points: Sequence[tuple[float, float]]) -> str:
    """'M x y L x y ...'."""
    return "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)


def marker(index: int, x: float, y: float, said: str = "", r: float = 4.0) -> str:
    """The mark of the i-th series at a place; ``said`` shows on hovering."""
    title = (tag("title", text(said)),) if said else ()
    shape = SHAPES[(index + index // len(PALETTE)) % len(SHAPES)]
    look: dict[str, str | float] = {"fill": "currentColor", "class_": "mark"}
    if shape == "circle":
        return tag("circle", *title, cx=x, cy=y, r=r, **look)
    if shape == "square":
        return tag("rect", *title, x=x - 0.9 * r, y=y - 0.9 * r, width=1.8 * r, height=1.8 * r, **look)
    return tag("path", *title, d=_outline(shape, x, y, 1.25 * r), **look)


def _outline(shape: str, x: float, y: float, r: float) -> str:
    """Closed shapes around a place; cross and plus are thick, so that they are filled like the others."""
    t, h = 0.3 * r, 0.8 * r
    if shape in ("cross", "plus"):
        arms = [
            (-t, -h),
            (t, -h),
            (t, -t),
            (h, -t),
            (h, t),
            (t, t),
            (t, h),
            (-t, h),
            (-t, t),
            (-h, t),
            (-h, -t),
            (-t, -t),
        ]
        turn = 0.7071 if shape == "cross" else 0.0
        around = [
            (a * 1.2 * turn - b * 1.2 * turn, a * 1.2 * turn + b * 1.2 * turn) if turn else (a, b) for a, b in arms
        ]
    else:
        around = {
            "triangle": [(0.0, -r), (r, h), (-r, h)],
            "down": [(0.0, r), (r, -h), (-r, -h)],
            "diamond": [(0.0, -r), (r, 0.0), (0.0, r), (-r, 0.0)],
        }[shape]
    return joined([(x + a, y + b) for a, b in around]) + "Z"
