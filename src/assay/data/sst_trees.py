"""Knows the Stanford Sentiment Treebank: sentences as trees whose every phrase has one of five classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from assay.data.marks import Span, join_tokens
from assay.data.rows import lines, present
from assay.data.splits import choose
from assay.registry import dataset
from assay.types import BadInput, Dataset, Example, Mark

BINARY = ("negative", "positive")
FINE = ("very negative", "negative", "neutral", "positive", "very positive")
Node = tuple[int, int, int]
"""Tokens [start, end) and their class 0 to 4; the last node of a sentence is its root."""
_ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


@dataset("sst-trees", paper="Socher et al. 2013")
def sst_trees(path: Path | str, *, split: str = "", fine: bool = False) -> Dataset:
    """A file of trees '(3 (2 It) (4 (4 works) (2 .)))', one per line, or a folder with train.txt, dev.txt, test.txt.

    Two classes without neutral sentences (counted as dropped), or five with ``fine``. Marks: phrases of at most half
    the sentence that are polar, with the polarity as label; weight 1 for the outer classes, 0.5 for the inner ones.
    """
    path = present(path)
    if path.is_dir():
        home = path / "trees" if (path / "trees").is_dir() else path
        split = choose([p.stem for p in home.glob("*.txt")], split, str(path))
        path = home / f"{split}.txt"
    examples, dropped = [], Counter[str]()
    for number, line in lines(path):
        if not line.strip():
            continue
        tokens, nodes = parse_tree(line, f"{path}:{number}")
        gold = nodes[-1][2] if fine else binary(nodes[-1][2])
        if gold is None:
            dropped["neutral"] += 1
            continue
        text, spans = join_tokens(tokens)
        marks = polar_marks(nodes, spans)
        examples.append(Example(f"{split or path.stem}-{number - 1}", {"text": text}, gold, marks))
    if not examples and not dropped:
        raise BadInput(f"{path}: no rows in it; expected at least one tree")
    labels = FINE if fine else BINARY
    return Dataset(path.name, tuple(examples), labels, split or path.stem, {"dropped": dict(dropped)})


def binary(label: int) -> int | None:
    """1 for positive, 0 for negative, None for neutral."""
    return None if label == 2 else int(label > 2)


def parse_tree(line: str, place: str) -> tuple[list[str], list[Node]]:
    """Tokens and nodes (children before parents) of one tree.

    >>> parse_tree("(3 (2 It) (4 works))", "here")
    (['It', 'works'], [(0, 1, 2), (1, 2, 4), (0, 2, 3)])
    """
    tokens: list[str] = []
    nodes: list[Node] = []
    open_nodes: list[tuple[int, int]] = []
    words = line.replace("(", " ( ").replace(")", " ) ").split()
    at = 0
    while at < len(words):
        if words[at] == "(":
            label = words[at + 1] if at + 1 < len(words) else ""
            if label not in ("0", "1", "2", "3", "4"):
                raise BadInput(f"{place}: expected a class 0 to 4 after '(' in the tree, found '{label}'")
            open_nodes.append((len(tokens), int(label)))
            at += 1
        elif words[at] == ")" and open_nodes:
            start, number = open_nodes.pop()
            nodes.append((start, len(tokens), number))
        elif open_nodes:
            tokens.append(_ESCAPED.get(words[at], words[at].replace("\\/", "/")))
        else:
            raise BadInput(f"{place}: brackets of the tree do not pair up at '{words[at]}'")
        at += 1
    if open_nodes or not tokens:
        raise BadInput(f"{place}: the tree ends before its brackets close")
    return tokens, nodes


def polar_marks(nodes: Sequence[Node], spans: Sequence[Span]) -> tuple[Mark, ...]:
    """Polar phrases of at most half the sentence, as Pham et al. (2022) take them for human highlights.

    They cut the phrase scores at 0.7 and 0.3; with five classes the edges are 0.8 and 0.2 (weight 1) or 0.6 and 0.4.
    """
    return tuple(
        Mark("text", spans[a][0], spans[b - 1][1], 1.0 if number in (0, 4) else 0.5, BINARY[int(number > 2)])
        for a, b, number in nodes
        if number != 2 and 2 * (b - a) <= len(spans)
    )
