"""A function as a model: what it is handed, what it may return, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.models.black_box import BlackBox
from assay.types import (
    DROP,
    FILL,
    HIDE,
    MASK,
    UNK,
    BadInput,
    CannotDo,
    Edit,
    Example,
    Model,
    Noise,
    Probe,
    ProbeFailed,
)


def by_length(texts: list[str]) -> list[list[float]]:
    """p(long) = length / (length + 10)."""
    return [[10 / (len(t) + 10), len(t) / (len(t) + 10)] for t in texts]


BOX = BlackBox(by_length, labels=("short", "long"), name="by length")
EXAMPLE = Example("1", {"text": "Well,  don't  stop (now)."})


def texts(codes: list[int], fills: tuple[str, ...] = ()) -> str:
    x = BOX.read(EXAMPLE)
    return str(BOX.texts(Probe(x, Edit(np.array([codes], dtype=np.int32), fills)))[0])


def test_words_are_cut_out_and_spacing_is_tidied() -> None:
    x = BOX.read(EXAMPLE)
    assert x.words == ("Well", ",", "don't", "stop", "(", "now", ")", ".")
    assert isinstance(BOX, Model)
    assert texts([0] * 8) == "Well,  don't  stop (now)."
    assert texts([0, 0, DROP, 0, 0, 0, 0, 0]) == "Well, stop (now)."
    assert texts([DROP, DROP, 0, 0, 0, 0, 0, 0]) == "don't  stop (now)."
    assert texts([0, 0, 0, 0, DROP, DROP, DROP, 0]) == "Well,  don't  stop ."
    assert texts([DROP] * 8) == ""
    assert texts([0, 0, UNK, MASK, 0, FILL, 0, 0], ("later",)) == "Well,  [UNK]  [MASK] (later)."


def test_answers_are_log_probabilities_in_order() -> None:
    x, y = BOX.read(EXAMPLE), BOX.read(Example("2", {"text": "hi"}))
    one, two = BOX.answer([Probe(x, Edit.none(x, 2)), Probe(y, Edit.none(y))])
    n = len(EXAMPLE.fields["text"])
    np.testing.assert_allclose(np.exp(one.logp[:, 0, 1]), [n / (n + 10)] * 2, rtol=1e-12)
    np.testing.assert_allclose(np.exp(two.logp[0, 0]), [10 / 12, 2 / 12], rtol=1e-12)
    assert one.choice.tolist() == [[1], [1]]


def test_probability_zero_and_one_stay_finite() -> None:
    box = BlackBox(lambda texts: [[0.0, 1.0]] * len(texts))
    x = box.read(EXAMPLE)
    logp = box.answer([Probe(x, Edit.none(x))])[0].logp[0, 0]
    assert logp.tolist() == pytest.approx([np.log(1e-12), 0.0])
    assert box.labels == ("0", "1")


def test_identity_comes_from_the_name_only() -> None:
    assert BlackBox(by_length).fingerprint is None
    assert BlackBox(by_length, name="a").fingerprint == BlackBox(lambda t: by_length(t), name="a").fingerprint
    assert BlackBox(by_length, name="a").fingerprint != BlackBox(by_length, name="b").fingerprint


def test_several_fields_arrive_as_dicts() -> None:
    seen: list[Any] = []

    def predict(rows: list[dict[str, str]]) -> np.ndarray:
        seen.extend(rows)
        return np.full((len(rows), 3), 1 / 3)

    box = BlackBox(predict, fields=("premise", "hypothesis"))
    x = box.read(Example("1", {"premise": "a b", "hypothesis": "c d", "note": "unread"}))
    box.answer([Probe(x, Edit(np.array([[0, DROP, 0, 0]], dtype=np.int32)))])
    assert seen[-1] == {"premise": "a", "hypothesis": "c d"}
    with pytest.raises(BadInput, match="no field 'hypothesis', which black box predict reads; it has premise"):
        box.read(Example("1", {"premise": "a"}))
    with pytest.raises(BadInput, match="declare them, BlackBox"):
        BOX.read(Example("1", {"premise": "a", "hypothesis": "b"}))


def test_scikit_learn_pipeline() -> None:
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    assert sklearn is not None
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    data = ["good film", "great film", "bad film", "dull film"]
    pipe = make_pipeline(CountVectorizer(), LogisticRegression()).fit(data, ["pos", "pos", "neg", "neg"])
    box = BlackBox(pipe)
    assert box.labels == ("neg", "pos")
    x = box.read(Example("1", {"text": "a good film"}))
    edited = box.answer([Probe(x, Edit(np.array([[0, 0, 0], [0, DROP, 0]], dtype=np.int32)))])[0]
    np.testing.assert_allclose(np.exp(edited.logp[:, 0]), pipe.predict_proba(["a good film", "a film"]), rtol=1e-9)


def test_text_classification_pipeline_by_its_own_label_order() -> None:
    class Config:
        id2label = {0: "no", 1: "yes"}  # noqa: RUF012  # as the library has it

    class Inner:
        config = Config()

    class Pipeline:
        task = "text-classification"
        model = Inner()

        def __call__(self, rows: list[str], top_k: None) -> list[list[dict[str, Any]]]:
            return [[{"label": "yes", "score": 0.9}, {"label": "no", "score": 0.1}] for _ in rows]

    box = BlackBox(Pipeline())
    x = box.read(EXAMPLE)
    assert box.labels == ("no", "yes")
    np.testing.assert_allclose(np.exp(box.answer([Probe(x, Edit.none(x))])[0].logp[0, 0]), [0.1, 0.9])


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ([[0.5, np.nan]], r"row 0 \('a good film'\): rows must be probabilities"),
        ([[0.5, 0.6]], "rows must be probabilities"),
        ([[-0.5, 1.5]], "rows must be probabilities"),
        ([0.5], r"returned shape \[1\], expected \[1, classes\]"),
        ([[0.4, 0.6], [0.4, 0.6]], r"returned shape \[2, 2\]"),
        ([[0.7]], r"return the probability of every class, \[1 - p, p\]"),
    ],
)
def test_what_is_no_probability_is_refused(returned: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        BlackBox(lambda rows: returned)


def test_a_later_bad_row_is_named() -> None:
    box = BlackBox(lambda rows: [[0.5, 0.5] if "stop" in r or "film" in r else [9, 9] for r in rows])
    x = box.read(EXAMPLE)
    with pytest.raises(BadInput, match="for row 1 \\(\"Well,  don't"):
        box.answer([Probe(x, Edit(np.array([[0] * 8, [0, 0, 0, DROP, 0, 0, 0, 0]], dtype=np.int32)))])


def test_what_a_string_cannot_show_is_refused() -> None:
    x = BOX.read(EXAMPLE)
    with pytest.raises(CannotDo, match="use the removal delete, unk or mask"):
        BOX.answer([Probe(x, Edit(np.full((1, 8), HIDE, dtype=np.int32)))])
    with pytest.raises(CannotDo, match="probabilities only, not dot"):
        BOX.answer([Probe(x, Edit.none(x), frozenset({"dot"}))])
    with pytest.raises(CannotDo, match="not noise"):
        BOX.answer([Probe(x, Edit.none(x), noise=Noise(0.1, np.array([1])))])
    with pytest.raises(BadInput, match="no word pieces"):
        BOX.read(EXAMPLE, "piece")
    with pytest.raises(BadInput, match="no text in text"):
        BOX.read(Example("2", {"text": " "}))
    with pytest.raises(BadInput, match="must be callable"):
        BlackBox(3)


def test_failure_inside_the_function_is_told_in_one_line() -> None:
    def predict(rows: list[str]) -> Any:
        raise ValueError("first line\nsecond line")

    with pytest.raises(ProbeFailed, match=r"black box predict failed on 1 text\(s\): ValueError: first line$"):
        BlackBox(predict)


def test_size_is_roughly_the_words_left() -> None:
    x = BOX.read(EXAMPLE)
    codes = np.zeros((3, 8), dtype=np.int32)
    codes[1, :3] = DROP
    codes[2] = DROP
    assert BOX.size(Probe(x, Edit(codes))).tolist() == [8, 8, 1]
