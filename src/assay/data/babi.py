"""Knows bAbI's task files: numbered sentences, and questions with their answer and the sentences that tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.data.marks import join_tokens
from assay.data.rows import lines
from assay.data.splits import split_of
from assay.registry import dataset
from assay.types import BadInput, Dataset, Example, Mark


@dataclass(frozen=True, slots=True)
class _Asked:
    place: str
    context: tuple[str, ...]
    question: str
    answer: str
    supporting: tuple[int, ...]
    """Positions in the context."""


@dataset("babi", paper="Weston et al. 2015")
def babi(path: Path | str, *, split: str = "", labels: Sequence[str] | None = None) -> Dataset:
    """qaN_NAME_{train,test}.txt: fields ``context`` (the story so far) and ``question``, the answer as the class.

    Marks: the supporting sentences. Classes are the answers of the file, sorted; give ``labels`` so that two files of a
    task share them. A list of answers ("milk,football") is a class of its own.
    """
    path = Path(path)
    asked = list(_asked(path))
    if not asked:
        raise BadInput(f"{path}: no questions in it; expected lines such as '3 Where is Mary?\\tbathroom\\t1'")
    classes = tuple(labels) if labels else tuple(sorted({q.answer for q in asked}))
    split = split or split_of(path.stem)
    examples = []
    for i, q in enumerate(asked):
        if q.answer not in classes:
            raise BadInput(f"{q.place}: answer '{q.answer}' is not one of {', '.join(classes)}")
        context, spans = join_tokens(q.context)
        marks = tuple(Mark("context", *spans[k]) for k in sorted(q.supporting))
        fields = {"context": context, "question": q.question}
        examples.append(Example(f"{split or path.stem}-{i}", fields, classes.index(q.answer), marks))
    return Dataset(path.name, tuple(examples), classes, split, {"dropped": {}})


def _asked(path: Path) -> Iterator[_Asked]:
    story: dict[int, str] = {}
    for number, line in lines(path):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        first, _, rest = line.strip().partition(" ")
        if not first.isdecimal() or not rest:
            raise BadInput(f"{place}: expected a number and a sentence, found '{line:.40}'")
        if int(first) == 1:
            story = {}
        if "\t" not in rest:
            story[int(first)] = rest.strip()
            continue
        yield _question(rest, story, place)


def _question(text: str, story: dict[int, str], place: str) -> _Asked:
    question, answer, *told = (part.strip() for part in text.split("\t"))
    order = list(story)
    if not story or not question or not answer:
        raise BadInput(f"{place}: expected 'question<tab>answer<tab>supporting lines' after a story")
    try:
        supporting = tuple(order.index(int(k)) for k in (told[0].split() if told else ()))
    except ValueError as error:
        raise BadInput(f"{place}: supporting lines '{told[0]}' are not among the story's {order}") from error
    return _Asked(place, tuple(story.values()), question, answer, supporting)
