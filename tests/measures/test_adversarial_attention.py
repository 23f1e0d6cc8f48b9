"""Adversaries: cases solved by hand, both ways of decoding, the optimiser against torch's, batches, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from assay.answers.adversary import Linear, ThroughTheModel
from assay.answers.descent import TINY, Aim, Amsgrad, attention_of, descend, distance_slope, tvd
from assay.case import applicable
from assay.engine import Engine
from assay.models.additive import Additive
from assay.models.attention_layers import Shape
from assay.models.attention_net import new_net
from assay.models.attention_rnn import AttentionRNN
from assay.models.attention_text import SPECIALS, Reader, Vocabulary
from assay.registry import bind
from assay.stats import jsd
from assay.types import OWN, BadInput, Edit, Example, Probe

Make = Callable[..., Any]
LN2 = float(np.log(2))


def ask(model: Any, text: str, test: str = "adversarial-attention") -> tuple[dict[str, float], dict[str, Any]]:
    x = model.read(Example("1", {"text": text}))
    values, detail = Engine(model).ask(bind("tests", test)(x, OWN))
    return values, detail


# ------------------------------------------------------------------------------------------ solved by hand


@pytest.mark.parametrize("settings", ["paper", "code"])
def test_half_and_half_replaces_the_middle(attending: Make, settings: str) -> None:
    """s = (2, 0, 1), a = (0, 0, 1): (1/2, 1/2, 0) has the same logit and JSD ln 2."""
    model = attending({"a": (2.0, 0.0), "b": (0.0, 0.0), "c": (1.0, 1.0)})
    values, detail = ask(model, "a b c", f"adversarial-attention(settings={settings})")
    assert values["found"] == 1.0
    assert 0.6 < values["jsd"] <= LN2 + 1e-6
    assert values["tvd"] <= (0.01 if settings == "paper" else 0.05) + 1e-6
    assert values["max_attention"] == pytest.approx(1.0)
    assert detail["words"] == ["a", "b", "c"]
    z = np.array(detail["adversarial"]) @ [2.0, 0.0, 1.0]
    assert abs(1 / (1 + np.exp(-z)) - 1 / (1 + np.exp(-1.0))) == pytest.approx(values["tvd"], abs=1e-5)


def test_where_only_one_word_gives_the_logit_there_is_no_adversary(attending: Make) -> None:
    """s = (2, 0, 0), a = (1, 0, 0): any weight elsewhere lowers the logit, so only near-copies are feasible.

    TVD <= .01 allows about .095 of weight elsewhere (p' = .105 at z = 2), which is JSD .034 and no more.
    """
    model = attending({"a": (2.0, 1.0), "b": (0.0, 0.0), "c": (0.0, 0.0)})
    values, _ = ask(model, "a b c")
    moved = 1.0 - np.log(1 / (1 / (1 + np.exp(-2.0)) - 0.01) - 1) / -2.0
    most = float(jsd([1.0, 0.0], [1.0 - moved, moved]))
    assert values.get("jsd", 0.0) <= most + 1e-3 < 0.05


def test_identical_states_make_everything_adversarial(attending: Make) -> None:
    model = attending({"a": (1.0, 8.0), "b": (1.0, 1.0), "c": (1.0, 1.0), "d": (1.0, 1.0)})
    values, _ = ask(model, "a b c d")
    assert values["feasible"] == 1.0
    assert values["jsd"] > 0.3


def test_farthest_of_three_words_by_brute_force(attending: Make) -> None:
    """A grid over the simplex knows how far one can go within epsilon; of twenty starts one comes close, none beyond.

    The feasible strip has two far ends: starts on the nearer side stay there, as gradient steps do.
    """
    s, a = np.array([1.5, -1.0, 0.2]), np.array([0.5, 0.3, 0.2])
    model = attending(dict(zip("abc", zip(s, a, strict=True), strict=True)))
    values, _ = ask(model, "a b c", "adversarial-attention(k=20)")
    steps = np.linspace(0, 1, 401)
    grid = np.array([(u, v, 1 - u - v) for u in steps for v in steps if u + v <= 1 + 1e-12]).clip(0)
    p, own = 1 / (1 + np.exp(-grid @ s)), 1 / (1 + np.exp(-a @ s))
    best = float(jsd(grid[np.abs(p - own) <= 0.01], a).max())
    assert best - 0.05 <= values["jsd"] <= best + 0.01


def test_no_feasible_candidate_is_told_apart_from_distance_zero(attending: Make) -> None:
    """One step from random starts ends nowhere near the prediction: jsd is absent, not 0."""
    model = attending({"a": (40.0, 1.0), "b": (-40.0, 1.0), "c": (-40.0, 0.001)})
    values, detail = ask(model, "a b c", "adversarial-attention(steps=1, k=2, lr=0.0001)")
    assert (values["found"], values["feasible"]) == (0.0, 0.0)
    assert "jsd" not in values
    assert detail["adversarial"] == []
    assert len(detail["jsds"]) == 2


# ------------------------------------------------------------------------------------- descent, in parts


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_amsgrad_is_torchs() -> None:
    z = drawn(4, 3)
    theirs = z.clone().requires_grad_(True)
    optimiser = torch.optim.Adam([theirs], lr=0.05, amsgrad=True)
    ours, mine = z.clone(), Amsgrad(z, 0.05)
    for step in range(40):
        gradient = torch.sin(ours * (step + 1)) + ours
        theirs.grad = torch.sin(theirs.detach() * (step + 1)) + theirs.detach()
        optimiser.step()
        mine.step(ours, gradient)
    torch.testing.assert_close(ours, theirs.detach())


def test_slope_of_the_distances_agrees_with_autograd() -> None:
    a = drawn(3, 2, 5).double().softmax(-1).requires_grad_(True)
    o = drawn(2, 5, seed=1).double().softmax(-1)

    def divergence(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        m = (p + q) / 2
        return ((p * (p / m).log()).sum(-1) + (q * (q / m).log()).sum(-1)) / 2

    loss = divergence(a, o.expand_as(a)).sum()
    loss = loss + 0.3 * sum(divergence(a[i], a[j]).sum() for i in range(3) for j in range(i))
    (wanted,) = torch.autograd.grad(loss, a)
    torch.testing.assert_close(distance_slope(a.detach(), o, 0.3), wanted, atol=1e-8, rtol=1e-6)


@pytest.mark.parametrize("head", ["binary", "softmax", "multilabel"])
def test_slope_of_the_penalty_agrees_with_autograd(head: str) -> None:
    z = drawn(2, 5, 1, seed=2)
    scores = torch.cat([-z, z], -1) if head == "binary" else drawn(2, 5, 3, seed=2)
    decoder = Linear(scores, drawn(2, scores.shape[-1], seed=3), (1, scores.shape[-1]), head)
    a = drawn(4, 2, 5, seed=4).softmax(-1).requires_grad_(True)
    original = decoder.probabilities(drawn(1, 2, 5, seed=5).softmax(-1)).detach()
    far = tvd(decoder.probabilities(a), original)
    (wanted,) = torch.autograd.grad(torch.relu(far - 0.02).sum(), a)
    torch.testing.assert_close(decoder.pull(a.detach(), original, 0.02), wanted, atol=1e-6, rtol=1e-4)


def test_weights_of_paper_and_code() -> None:
    assert Aim(settings="paper").weights(1) == (500.0, 0.0)
    assert Aim(settings="code").weights(2) == (500.0, 0.5)
    assert Aim(settings="paper").weights(2) == (250.0, 0.5)


def test_masked_rows_and_empty_rows_stay_finite_and_apart() -> None:
    places = torch.tensor([[True, True, False, False], [False] * 4, [True] * 4])
    z = drawn(2, 3, 4)
    a = attention_of(z, places)
    torch.testing.assert_close(a.sum(-1), torch.tensor([[1.0, 0.0, 1.0]] * 2))
    scores = drawn(3, 4, 2, seed=1)
    original = attention_of(drawn(3, 4, seed=2), places)
    together = descend(z, original, places, Linear(scores, torch.zeros(3, 2), (1, 2), "softmax"), Aim(steps=50))
    assert torch.isfinite(together).all()
    assert (together[:, ~places] == 0).all()
    alone = descend(z[:, :1, :2], original[:1, :2], places[:1, :2],
                    Linear(scores[:1, :2], torch.zeros(1, 2), (1, 2), "softmax"), Aim(steps=50))  # fmt: skip
    torch.testing.assert_close(together[:, :1, :2], alone, atol=1e-5, rtol=1e-4)
    assert TINY > 0


# --------------------------------------------------------------------------- through models, in batches


def recurrent(query: bool) -> AttentionRNN:
    fields = ("premise", "hypothesis") if query else ("text",)
    reader = Reader(Vocabulary(("a", "bad", "film", "good", "not", "the")), fields, "hypothesis" if query else "")
    net = new_net(Shape(6 + len(SPECIALS), 3 if query else 1, query=query, embed=6, width=8, align=5), 3)
    with torch.no_grad():
        net.embedding.weight.mul_(10)
    return AttentionRNN(net, reader, labels=("no", "maybe", "yes") if query else ("no", "yes"), device="cpu")


def test_the_linear_shortcut_changes_nothing() -> None:
    """The same descent with the states projected once and through the whole decoder."""
    model = recurrent(False)
    x = model.read(Example("1", {"text": "the film not bad a good film"}))
    batch = model.batch([Probe(x, Edit.none(x))])
    held = model.held(batch)
    linear = held.place_logits()
    assert linear is not None
    ones, none = torch.ones(1, 1), torch.zeros(1, x.n)
    short = Linear(linear[0].flatten(2), linear[1].flatten().expand(1, -1), (1, 2), "binary")
    long = ThroughTheModel(held, batch, none, ones, "binary")
    start, places = 3 * drawn(4, 1, x.n), held.attend
    with torch.no_grad():
        torch.testing.assert_close(short.probabilities(start.softmax(-1)), long.probabilities(start.softmax(-1)))
        one, two = (descend(start, held.attention, places, d, Aim(steps=60)) for d in (short, long))
    torch.testing.assert_close(one, two, atol=1e-3, rtol=1e-2)


def test_a_pair_model_goes_through_its_decoder_and_its_query_is_left_alone() -> None:
    model = recurrent(True)
    x = model.read(Example("1", {"premise": "the film not bad", "hypothesis": "a good film"}))
    values, detail = Engine(model).ask(bind("tests", "adversarial-attention(steps=200)")(x, OWN))
    assert detail["words"] == ["the", "film", "not", "bad"]
    assert values["found"] == 1.0
    assert values["jsd"] > 0.05


def test_an_example_has_the_same_adversary_alone_and_in_a_crowd() -> None:
    model = recurrent(False)
    texts = ["a bad film", "the film not bad a good film", "not good", "the " * 400]
    test = bind("tests", "adversarial-attention(steps=20, k=2)")
    xs = [model.read(Example(str(i), {"text": t})) for i, t in enumerate(texts)]
    done = {d.key: d.result for d in Engine(model).run((i, test(x, OWN)) for i, x in enumerate(xs))}
    for i, x in enumerate(xs):
        alone = Engine(model, budget=1).ask(test(x, OWN))
        np.testing.assert_allclose(done[i][1]["jsds"], alone[1]["jsds"], atol=1e-4)
    crowd = model.answer([Probe(x, Edit.none(x), frozenset({"adversary"}), how=(("k", 2), ("steps", 3))) for x in xs])
    assert [r["adversary"].shape for r in crowd] == [(1, 2, x.n) for x in xs]
    assert all(np.allclose(r["adversary"].sum(-1), 1.0, atol=1e-5) for r in crowd)


def test_rows_of_near_lengths_share_their_steps() -> None:
    model = recurrent(False)
    calls: list[int] = []
    answer = model.answer
    model.answer = lambda probes: calls.append(len(probes)) or answer(probes)  # type: ignore[func-returns-value,method-assign]  # counts calls
    xs = [model.read(Example(str(i), {"text": "the " * i})) for i in range(2, 12)]
    probes = [Probe(x, Edit.none(x), frozenset({"adversary"}), how=(("steps", 2),)) for x in xs]

    def one(probe: Probe) -> Any:
        reading = yield probe
        return reading

    assert len(list(Engine(model).run((i, one(p)) for i, p in enumerate(probes)))) == 10
    assert calls == [10]


def test_wrong_settings_and_models_without_attention_are_told(attending: Make) -> None:
    model = attending({"a": (2.0, 0.9), "b": (-2.0, 0.1)})
    for settings, words in (("k=0", "k >= 1"), ("steps=0", "steps >= 1"), ("epsilon=2.0", "epsilon < 1")):
        with pytest.raises(BadInput, match=words):
            ask(model, "a b", f"adversarial-attention({settings})")
    with pytest.raises(BadInput, match="settings cannot be"):
        bind("tests", "adversarial-attention(settings=book)")
    reason = applicable(bind("tests", "adversarial-attention"), Additive(weights={"a": 1.0}))
    assert reason == "needs adversary, attend, attention, which additive cannot give"
