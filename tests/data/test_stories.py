"""Built-in stories: answered again from their text alone, by a reader that knows nothing of the generator."""

from __future__ import annotations

from collections import Counter

import pytest

from assay.data.grammar import read
from assay.data.stories import LEFT, PLACES, TOOK, WENT, stories
from assay.types import BadInput, Example


def sentences(e: Example) -> list[str]:
    return [s + "." for s in e.fields["context"].rstrip(".").split(". ")]


def answer(told: list[str], question: str) -> str | None:
    """Follow the story sentence by sentence; None when it does not tell."""
    at: dict[str, str] = {}
    holder: dict[str, str] = {}
    been: dict[str, list[str]] = {}
    for sentence in told:
        who, rest = sentence.rstrip(".").split(" ", 1)
        verb, last = rest.rsplit(" the ", 1)
        if verb in WENT:
            at[who] = last
            for thing, person in holder.items():
                if person == who:
                    been[thing].append(last)
        elif verb in TOOK:
            holder[last] = who
            path = been.setdefault(last, [])
            if who in at and path[-1:] != [at[who]]:
                path.append(at[who])
        else:
            assert verb in LEFT
            assert holder.pop(last) == who
    words = question.rstrip("?").split()
    if words[1] == "was":
        path = been.get(words[3], [])
        here = [i for i, place in enumerate(path) if place == words[-1]]
        return path[here[0] - 1] if len(here) == 1 and here[0] > 0 else None
    if words[-2] == "the":
        return (been.get(words[-1]) or [None])[-1]
    return at.get(words[-1])


@pytest.mark.parametrize("facts", [1, 2, 3])
def test_the_story_tells_the_answer(facts: int) -> None:
    data = stories(split="dev", facts=facts)
    found = [answer(sentences(e), e.fields["question"]) for e in data.examples]
    assert found == [data.labels[e.gold or 0] for e in data.examples]


@pytest.mark.parametrize("facts", [1, 2, 3])
def test_exactly_so_many_sentences_are_marked_and_they_suffice(facts: int) -> None:
    for e in stories(split="dev", facts=facts).examples:
        marked = [e.fields["context"][m.start : m.end] for m in e.rationale]
        assert len(marked) == facts
        assert all(s in sentences(e) for s in marked)
        if not any(verb in s for s in marked for verb in LEFT):  # one that was put down must have been taken
            assert answer(marked, e.fields["question"]) == PLACES[e.gold or 0]


@pytest.mark.parametrize("facts", [1, 2, 3])
def test_without_the_last_marked_sentence_the_answer_is_another(facts: int) -> None:
    changed = 0
    examples = stories(split="dev", facts=facts).examples
    for e in examples:
        last = e.fields["context"][e.rationale[-1].start : e.rationale[-1].end]
        if LEFT[0] in last or LEFT[1] in last or LEFT[2] in last:
            continue
        told = sentences(e)
        del told[len(told) - 1 - told[::-1].index(last)]
        try:
            changed += answer(told, e.fields["question"]) != PLACES[e.gold or 0]
        except (AssertionError, KeyError):
            changed += 1  # somebody puts down what nobody took
    assert changed > 0.6 * len(examples)


def test_places_are_asked_equally_often_and_splits_share_no_text() -> None:
    data = stories(split="test", size=60, facts=2)
    assert set(Counter(e.gold for e in data.examples).values()) == {10}
    one, two = (
        {tuple(e.fields.values()) for e in stories(split=s, seed=k, size=300).examples}
        for s, k in (("train", 0), ("test", 5))
    )
    assert not one & two


def test_the_same_seed_gives_the_same_stories() -> None:
    assert stories(seed=3, size=20) == stories(seed=3, size=20)
    assert stories(seed=3, size=20).examples != stories(seed=4, size=20).examples


def test_they_are_read_by_name() -> None:
    data = read("builtin:stories(facts=2, size=5)", split="dev")
    assert (len(data), data.split, list(data.examples[0].fields)) == (5, "dev", ["context", "question"])


def test_four_facts_are_refused() -> None:
    with pytest.raises(BadInput, match="facts must be 1, 2 or 3, got 4"):
        stories(facts=4)
