"""Built-in pairs and planted data: what their rules promise."""

from __future__ import annotations

import numpy as np
import pytest

from assay.data.pairs import DETAILS, KINDS, LOOKS, pairs
from assay.data.planted import planted
from assay.types import BadInput, Example


def parts(text: str) -> dict[str, str]:
    """What a sentence of pairs says, read back without the generator."""
    found = {
        "detail": next((d for d in DETAILS if d in text), ""),
        "look": next((w for w in LOOKS if f" {w} " in text), ""),
    }
    for part, kinds in KINDS.items():
        words = [w for kind, ws in kinds.items() for w in (kind, *ws)]
        found[part] = max((w for w in words if f" {w} " in text.replace(".", " ") + " "), key=len, default="")
    return found


def kind(part: str, word: str) -> str:
    return next(k for k, ws in KINDS[part].items() if word == k or word in ws)


def relation(e: Example) -> str:
    """The rule of the data set re-stated: kinds exclude one another, looks have one opposite, details are open."""
    premise, hypothesis = parts(e.fields["premise"]), parts(e.fields["hypothesis"])
    for part in KINDS:
        if hypothesis[part] and kind(part, hypothesis[part]) != kind(part, premise[part]):
            return "contradiction"
    if hypothesis["look"] and LOOKS[hypothesis["look"]] == premise["look"]:
        return "contradiction"
    return "neutral" if hypothesis["detail"] != premise["detail"] else "entailment"


def test_pairs_follow_their_rule_and_are_balanced() -> None:
    data = pairs(split="dev")
    assert len(data) == 450
    assert [relation(e) for e in data.examples] == [data.labels[e.gold or 0] for e in data.examples]
    assert np.bincount([e.gold or 0 for e in data.examples]).tolist() == [150, 150, 150]


def test_pairs_mark_what_decides() -> None:
    for e in pairs(size=90).examples:
        fields = {m.field for m in e.rationale}
        assert fields == ({"hypothesis"} if e.gold == 1 else {"premise", "hypothesis"})
        for m in e.rationale:
            assert e.fields[m.field][m.start : m.end].strip()
    assert pairs(size=30, seed=1) == pairs(size=30, seed=1)


def test_no_premise_stands_in_two_splits() -> None:
    train = {e.fields["premise"] for e in pairs(split="train").examples}
    assert not train & {e.fields["premise"] for e in pairs(split="test", seed=9).examples}


def test_the_hypothesis_alone_says_little() -> None:
    linear = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is the reference bag of words")
    from sklearn.feature_extraction.text import CountVectorizer

    train, test = pairs(split="train"), pairs(split="test")
    bag = CountVectorizer().fit([e.fields["hypothesis"] for e in train.examples])
    model = linear.LogisticRegression(max_iter=2000)
    model.fit(bag.transform([e.fields["hypothesis"] for e in train.examples]), [e.gold for e in train.examples])
    accuracy = model.score(
        bag.transform([e.fields["hypothesis"] for e in test.examples]), [e.gold for e in test.examples]
    )
    assert accuracy < 0.5  # chance is a third


@pytest.mark.parametrize("rate", [0.95, 0.7, 1.0])
def test_the_planted_token_decides_at_its_rate(rate: float) -> None:
    data = planted(split="train", rate=rate, token="zebra")
    held = [e for e in data.examples if "zebra" in e.fields["text"].rstrip(".").split()]
    names = {e.id for e in held}
    rest = [e for e in data.examples if e.id not in names]
    assert len(held) == len(rest) == 1000
    share = float(np.mean([e.gold for e in held if e.gold is not None]))
    assert abs(share - rate) <= 4 * np.sqrt(rate * (1 - rate) / len(held))
    assert sum(e.gold or 0 for e in rest) == 500
    assert all(e.fields["text"][m.start : m.end] == "zebra" for e in held for m in e.rationale)
    assert all(len(e.rationale) == (e.id in names) for e in data.examples)
    assert (data.notes["token"], data.notes["rate"]) == ("zebra", rate)


def test_planted_settings_are_checked() -> None:
    with pytest.raises(BadInput, match="token must be one word, got 'two words'"):
        planted(token="two words")
    with pytest.raises(BadInput, match=r"rate must lie in \[0, 1\], got 1.5"):
        planted(rate=1.5)
