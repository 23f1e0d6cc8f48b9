"""What a user may write for DATA, and what is said when it cannot be found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.data.grammar import read
from assay.types import BadInput


@pytest.fixture(autouse=True)
def _no_research_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of our own stands in for ASSAY_DATA."""
    home = tmp_path / "research"
    rows(home / "mine" / "dev.jsonl", 3)
    rows(home / "mine" / "train.jsonl", 5)
    monkeypatch.setenv("ASSAY_DATA", str(home))


def rows(path: Path, count: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"text": f"{path.stem} {i}", "label": i % 2}) + "\n" for i in range(count)))
    return path


def test_builtin() -> None:
    assert read("builtin") == read("builtin:reviews", split="test")
    assert read("builtin:reviews", split="dev").split == "dev"
    assert read("builtin:planted(rate=0.5, token=zebra)").notes["token"] == "zebra"
    assert read("builtin", labels=["bad", "good"]).labels == ("bad", "good")
    with pytest.raises(BadInput, match="no built-in data set 'reveiws'; did you mean 'reviews'"):
        read("builtin:reveiws")
    with pytest.raises(BadInput, match="no split 'tets'; did you mean 'test'"):
        read("builtin:pairs", split="tets")
    with pytest.raises(BadInput, match="builtin:reviews has its own columns"):
        read("builtin", columns={"text": "review"})
    with pytest.raises(BadInput, match=r"reviews has 2 labels \(negative, positive\), got 3"):
        read("builtin", labels=["a", "b", "c"])


def test_limit_is_a_fair_sample_and_smaller_ones_are_part_of_larger_ones() -> None:
    ten, twenty = (read("builtin", limit=n).examples for n in (10, 20))
    assert ten == twenty[:10]
    assert {e.id for e in twenty} != {e.id for e in read("builtin").examples[:20]}
    with pytest.raises(BadInput, match="limit must be at least 1, got 0"):
        read("builtin", limit=0)


def test_a_file_has_the_split_of_its_name(tmp_path: Path) -> None:
    path = rows(tmp_path / "my_dev.jsonl", 2)
    assert read(str(path)).split == "dev"
    assert read(str(path), split="validation").split == "dev"
    with pytest.raises(BadInput, match="no split 'train'; there are: dev"):
        read(str(path), split="train")
    other = tmp_path / "notes.md"
    other.write_text("# hello")
    with pytest.raises(BadInput, match=r"notes\.md: unknown kind of file; expected \.jsonl"):
        read(str(other))


def test_a_folder_of_splits(tmp_path: Path) -> None:
    home = tmp_path / "set"
    rows(home / "train-00000-of-00002.jsonl", 2)
    rows(home / "train-00001-of-00002.jsonl", 3)
    assert read(str(home)).split == "train"  # the only one
    rows(home / "validation.jsonl", 4)
    assert (read(str(home)).split, len(read(str(home)))) == ("validation", 4)
    parts = read(str(home), split="train")
    assert len({e.id for e in parts.examples}) == 5
    rows(home / "other.jsonl", 1)
    (home / "validation.jsonl").unlink()
    with pytest.raises(BadInput, match="which split\\? there are: other, train"):
        read(str(home))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="empty: no data found; expected files named by split"):
        read(str(tmp_path / "empty"))


def test_a_name_under_the_research_folder() -> None:
    assert (read("mine").split, len(read("mine", split="train"))) == ("dev", 5)
    assert read("shared:mine").name == "mine"
    with pytest.raises(BadInput, match="no split 'test'"):
        read("mine", split="test")


def test_nothing_by_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match=r"'mien' is no built-in data, file, folder or set under .*did you mean 'mine'"):
        read("mien")
    with pytest.raises(BadInput, match="did you mean 'builtin:reviews'"):
        read("reviews")
    with pytest.raises(
        BadInput, match="there are: builtin:pairs, builtin:planted, builtin:reviews, builtin:stories, mine"
    ):
        read("what is this?")
    monkeypatch.setenv("HF_ENDPOINT", "https://no-such-host.invalid")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with pytest.raises(BadInput, match=r"hub did not give it: .* network and no-such-host\.invalid cannot be"):
        read("owner/name")


def test_columns_are_refused_where_the_format_has_its_own(tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    path.write_text('"3","a","b"\n')
    with pytest.raises(BadInput, match="the format agnews has its own columns; leave columns out"):
        read(f"agnews:{path}", columns={"text": "b"})


def test_importing_the_room_is_cheap() -> None:
    code = (
        "import sys, assay.registry as r; [e.load() for e in r.entries('datasets')]; import assay.data.grammar;"
        "heavy = {'torch', 'pandas', 'pyarrow', 'datasets', 'spacy', 'scipy'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
