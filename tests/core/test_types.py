"""The core values: features and scores, edits, fair samples, keys; and that nothing heavy is imported with them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.testing.toys import Toy
from assay.types import (
    DROP,
    KEEP,
    Cost,
    Dataset,
    Edit,
    Estimate,
    Example,
    Explanation,
    Mark,
    Probe,
    Target,
    content_key,
    full_keep,
    target_name,
)

X = Toy({}).read(Example("1", {"text": "one two", "more": "three"}))  # [CLS] one two three


def test_features_places_and_words() -> None:
    assert (X.n, X.size) == (4, 3)
    assert X.words == ("[CLS]", "one", "two", "three")
    assert X.free_words == ("one", "two", "three")
    assert [p.special for p in X.places] == [True, False, False, False]


def test_held_fields_are_no_longer_free() -> None:
    held = X.hold("text")
    assert held.free_words == ("three",)
    assert held.words == X.words
    assert X.size == 3


def test_spread_puts_free_scores_in_their_places() -> None:
    np.testing.assert_array_equal(X.spread(np.array([1.0, 2.0, 3.0])), [np.nan, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(X.spread(np.array([9.0, 1.0, 2.0, 3.0])), [9.0, 1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"expected 3 scores \(free features\) or 4 \(all\), got shape \(2,\)"):
        X.spread(np.zeros(2))


def test_full_keep_never_takes_what_is_not_free() -> None:
    assert full_keep(X, np.array([True, False, True])).tolist() == [[True, True, False, True]]
    assert full_keep(X, np.zeros((2, 4), dtype=bool)).tolist() == [[True, False, False, False]] * 2
    with pytest.raises(ValueError, match=r"keep has 2 columns, expected 3 \(free\) or 4"):
        full_keep(X, np.ones((1, 2), dtype=bool))


def test_edits() -> None:
    edit = Edit.where_gone(X, np.array([[True, False, True]]), DROP)
    assert edit.codes.tolist() == [[KEEP, KEEP, DROP, KEEP]]
    assert Edit.none(X, 2).codes.tolist() == [[KEEP] * 4] * 2
    two = Edit(np.arange(8, dtype=np.int32).reshape(2, 4), ("a",))
    assert two.take(np.array([1])).codes.tolist() == [[4, 5, 6, 7]]
    assert two.take(np.array([1])).fills == ("a",)


def test_a_probe_takes_rows_of_everything_it_holds() -> None:
    probe = Probe(X, Edit.none(X, 3), scale=np.array([0.1, 0.2, 0.3]), attention=np.arange(12.0).reshape(3, 4))
    part = probe.take(np.array([2, 0]))
    assert part.rows == 2
    assert part.scale is not None
    assert part.scale.tolist() == [0.3, 0.1]
    assert part.attention is not None
    assert part.attention[:, 0].tolist() == [8.0, 0.0]


ids = st.lists(st.text(max_size=5), unique=True, max_size=30)


@given(ids, st.integers(0, 30), st.integers(0, 30))
def test_a_smaller_sample_is_part_of_a_larger_one(names: list[str], a: int, b: int) -> None:
    data = Dataset("d", tuple(Example(n, {"text": n}) for n in names))
    small, large = sorted((a, b))
    few, many = data.sample(small).examples, data.sample(large).examples
    assert many[: len(few)] == few
    assert len(few) == min(small, len(names))


@given(ids, st.randoms(use_true_random=False))
def test_a_sample_does_not_depend_on_the_order_of_the_file(names: list[str], shuffle: object) -> None:
    rows = [Example(n, {"text": n}) for n in names]
    mixed = list(rows)
    shuffle.shuffle(mixed)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    assert Dataset("a", tuple(rows)).sample(5).examples == Dataset("b", tuple(mixed)).sample(5).examples
    assert sorted(e.id for e in Dataset("a", tuple(mixed)).sample(None).examples) == sorted(names)


def test_content_is_what_an_example_says_not_what_it_is_called() -> None:
    one = Example("1", {"text": "a"}, 1)
    assert one.content == Example("2", {"text": "a"}, 1).content
    others = [
        Example("1", {"text": "b"}, 1),
        Example("1", {"text": "a"}, 0),
        Example("1", {"body": "a"}, 1),
        Example("1", {"text": "a"}, 1, (Mark("text", 0, 1),)),
    ]
    assert len({e.content for e in [one, *others]}) == 5


def test_the_order_of_fields_is_part_of_the_content() -> None:
    assert Example("1", {"a": "x", "b": "y"}).content != Example("1", {"b": "y", "a": "x"}).content


def test_keys_are_the_same_in_every_process() -> None:
    here = content_key("a", 1, 2.5, None, ["ü"], {"b": 1, "a": 2})
    code = "from assay.types import content_key; print(content_key('a', 1, 2.5, None, ['ü'], {'a': 2, 'b': 1}))"
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert here == there


def test_explanations_show_free_words_only() -> None:
    values = np.array([9.0, 1.0, -2.0, 3.0])
    e = Explanation(X, "toy", "<m>", Target((1,), (0,)), values, ("no", "yes"))
    assert e.scores.tolist() == [1.0, -2.0, 3.0]
    assert e.target_name == "yes rather than no"
    assert "&lt;m&gt;" in e._repr_html_()
    assert e._repr_html_().count("<span") == 3


def test_target_names() -> None:
    assert target_name(Target(), ()) == "own prediction"
    assert target_name(Target((2,)), ("a",)) == "2"


def test_costs_add_up_and_estimates_print() -> None:
    assert Cost(1, 2, 3, 0.5) + Cost(10, 20, 30, 1.0) == Cost(11, 22, 33, 1.5)
    assert str(Estimate(0.5, 0.25, 0.75, 0.95, 10)) == "0.500 [0.250, 0.750]"
    assert str(Estimate(0.5, None, None, 0.95, 1)) == "0.500"
    assert str(Estimate(0.0, None, None, 0.95, 0)) == "no data"


HEAVY = ("torch", "transformers", "scipy", "sklearn", "spacy", "pandas", "datasets")


@pytest.mark.parametrize(
    "code",
    [
        "import assay",
        "import assay.types, assay.ask, assay.engine, assay.plan, assay.align, assay.stats",
        "from assay import registry; assert registry.entries('methods') and registry.entries()",
        "import assay.testing.toys",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(code: str) -> None:
    shown = f"import sys; {code}; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True).stdout
    assert out.split() == []
