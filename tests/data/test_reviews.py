"""Built-in reviews: balanced, reproducible, split by text, with evidence that a bag of words cannot use alone."""

from __future__ import annotations

import numpy as np
import pytest

from assay.data import review_phrases
from assay.data.reviews import reviews
from assay.types import BadInput, Dataset


def texts(data: Dataset) -> list[str]:
    return [e.fields["text"] for e in data.examples]


@pytest.mark.parametrize(("split", "size"), [("train", 2000), ("dev", 400), ("test", 400), ("natural", 300)])
def test_sizes_balance_length_and_marks(split: str, size: int) -> None:
    data = reviews(split=split)
    assert len(data) == len(set(texts(data))) == len({e.id for e in data.examples}) == size
    assert data.labels == ("negative", "positive")
    assert sum(e.gold == 1 for e in data.examples) == size // 2
    for e in data.examples:
        text = e.fields["text"]
        assert 8 <= len(text.split()) <= 25, text
        assert e.rationale, text
        for m in e.rationale:
            assert 0 <= m.start < m.end <= len(text)
            assert text[m.start : m.end].strip() == text[m.start : m.end]
            assert m.label == data.labels[e.gold or 0]


def test_the_same_seed_gives_the_same_reviews_and_another_seed_others() -> None:
    assert reviews(seed=3, size=50) == reviews(seed=3, size=50)
    assert set(texts(reviews(seed=3, size=50))) != set(texts(reviews(seed=4, size=50)))
    assert reviews(size=50).examples == reviews(size=100).examples[:50]


def test_no_seed_puts_a_test_review_among_the_training_reviews() -> None:
    trained = set(texts(reviews(split="train")))
    for seed in range(5):
        assert not trained & set(texts(reviews(split="test", seed=seed)))


def test_evidence_alone_decides_by_the_stated_rule() -> None:
    """The rule re-stated independently: the opinion word of the mark, turned round when a negator stands with it."""
    negators = {"not", "never", "hardly", "anything", "far", "no"}
    polarity = {w: sign for sign, ws in zip((1, 0), review_phrases.ADJECTIVES, strict=True) for w in ws}
    polarity |= {w: sign for sign, vs in zip((1, 0), review_phrases.VERBS, strict=True) for v in vs for w in v}
    polarity |= {w: sign for sign, ns in zip((1, 0), review_phrases.NOUNS, strict=True) for w in ns}
    for e in reviews(split="test").examples:
        (mark,) = e.rationale
        evidence = e.fields["text"][mark.start : mark.end].lower().split()
        turned = bool(negators & set(evidence)) or evidence[:2] == ["by", "no"]
        assert polarity[evidence[-1]] ^ turned == e.gold, e.fields["text"]


def test_a_bag_of_words_does_not_solve_it() -> None:
    linear = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is the reference bag of words")
    from sklearn.feature_extraction.text import CountVectorizer

    train, test = reviews(split="train"), reviews(split="test")
    bag = CountVectorizer().fit(texts(train))
    model = linear.LogisticRegression(max_iter=1000).fit(bag.transform(texts(train)), [e.gold for e in train.examples])
    accuracy = model.score(bag.transform(texts(test)), np.array([e.gold for e in test.examples]))
    assert 0.5 < accuracy < 0.9


def test_there_are_many_templates_and_some_are_kept_for_testing() -> None:
    frames = [f for fs in review_phrases.FRAMES.values() for f in fs]
    assert len(set(frames)) * len(set(review_phrases.CLAUSES)) >= 150
    kept = "no surprise here: <c>."  # the fifth of a five
    assert review_phrases.FRAMES["plain"].index(kept) % 5 == 4
    assert not any(t.startswith("No surprise here") for t in texts(reviews(split="train")))
    assert any(t.startswith("No surprise here") for t in texts(reviews(split="test")))


def test_an_unknown_split_names_the_known() -> None:
    with pytest.raises(BadInput, match="builtin:reviews has no split 'tset'; did you mean 'test'"):
        reviews(split="tset")
