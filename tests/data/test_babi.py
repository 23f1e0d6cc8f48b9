"""bAbI task files: stories grow and begin anew, supporting lines are marked, broken lines are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.data.babi import babi
from assay.data.grammar import read
from assay.types import BadInput

STORY = """1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Daniel went back to the hallway.
5 Where is Daniel? \thallway\t4
1 Sandra took the milk.
2 Sandra went to the garden.
3 Where is the milk? \tgarden\t2 1
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "qa1_single-supporting-fact_test.txt"
    made.write_text(STORY, encoding="utf-8")
    return made


def test_questions_come_with_the_story_so_far(path: Path) -> None:
    data = babi(path)
    assert (data.split, data.labels) == ("test", ("bathroom", "garden", "hallway"))
    assert [e.fields["question"] for e in data.examples] == ["Where is Mary?", "Where is Daniel?", "Where is the milk?"]
    assert data.examples[1].fields["context"] == (
        "Mary moved to the bathroom. John went to the hallway. Daniel went back to the hallway."
    )
    assert [data.labels[e.gold or 0] for e in data.examples] == ["bathroom", "hallway", "garden"]


def test_supporting_sentences_are_marked_across_questions(path: Path) -> None:
    marked = [[e.fields["context"][m.start : m.end] for m in e.rationale] for e in babi(path).examples]
    assert marked == [
        ["Mary moved to the bathroom."],
        ["Daniel went back to the hallway."],
        ["Sandra took the milk.", "Sandra went to the garden."],
    ]


def test_labels_can_be_shared_between_files(path: Path) -> None:
    rooms = ("bathroom", "bedroom", "garden", "hallway")
    assert [e.gold for e in babi(path, labels=rooms).examples] == [0, 3, 2]
    assert read(f"babi:{path}").labels == ("bathroom", "garden", "hallway")
    with pytest.raises(BadInput, match=r":3: answer 'bathroom' is not one of garden"):
        babi(path, labels=("garden",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Mary moved.\n", r":1: expected a number and a sentence"),
        ("1 Mary moved.\n2 Where is Mary?\tbath\t7\n", r":2: supporting lines '7' are not among"),
        ("1 Where is Mary?\tbath\t1\n", r":1: expected 'question<tab>answer"),
        ("1 Mary moved.\n", "no questions in it"),
    ],
)
def test_broken_files_are_told_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "qa1_train.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        babi(path)
