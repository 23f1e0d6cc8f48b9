"""The explained score in torch equals the one in numpy; gradients equal finite differences; pieces become features."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from assay.answers.asked import Asked, score
from assay.answers.batch import Batch, Change, Out, gated
from assay.ask import value
from assay.models.packing import Encoding
from assay.models.torch import TorchModel, device_of, dtype_of
from assay.types import (
    DROP,
    FILL,
    HIDE,
    MASK,
    OWN,
    PAD,
    UNK,
    ZERO,
    AssayError,
    BadInput,
    CannotDo,
    Edit,
    Example,
    Input,
    Noise,
    Place,
    Probe,
    Reading,
    Target,
)

OUTPUTS = ("loss", "prob", "logit", "logprob", "logodds")


class Letters(TorchModel):
    """A small smooth network; a word's pieces are its letters, and < > stand around the text."""

    pad_id: int | None = 0
    unk_id: int | None = 1
    mask_id: int | None = 2
    abilities = frozenset({"hide", "attention", "attend", "hold"})

    def __init__(self, heads: int = 1, head: str = "softmax") -> None:
        source = torch.Generator().manual_seed(3)
        net = nn.ParameterDict(
            {
                "table": torch.randn(40, 5, generator=source),
                "query": torch.randn(5, generator=source),
                "out": torch.randn(5, heads * 3, generator=source),
            }
        )
        self.heads = heads
        super().__init__(net, name="letters", labels=("a", "b", "c"), head=head, device="cpu")

    def read(self, example: Example, unit: str = "word") -> Input:
        places, at = [Place("", 0, 0, "<")], 0
        for word in example.fields["text"].split():
            places.append(Place("text", at, at + len(word)))
            at += len(word) + 1
        places.append(Place("", 0, 0, ">"))
        return Input(example, unit, tuple(places), np.array([not p.special for p in places]))

    def encode(self, x: Input) -> Encoding:
        pairs = [(i, k) for k, w in enumerate(x.words) for i in self.word_ids(w)]
        ids, owner = np.array(pairs, dtype=np.int64).T
        return Encoding(ids, owner, {"kind": (ids % 2).astype(np.int64)})

    def word_ids(self, word: str) -> list[int]:
        return [3 + ord(c) % 37 for c in word]

    def lookup(self, batch: Batch) -> Tensor:
        return self.net.get_parameter("table")[batch.ids]

    def identity(self) -> Any:
        return self.heads

    def forward(
        self,
        batch: Batch,
        change: Change | None = None,
        attention: Tensor | None = None,
        hold: bool = False,
        keep: frozenset[str] = frozenset(),
    ) -> Out:
        e = torch.tanh(gated(self.lookup(batch), batch, change))
        weights = (e @ self.net.get_parameter("query")).masked_fill(~batch.seen, float("-inf")).softmax(-1)
        weights = weights if attention is None else attention.to(weights)
        weights = weights.detach() if hold else weights
        z = (weights.unsqueeze(-1) * e).sum(1) @ self.net.get_parameter("out")
        return Out(z.view(len(z), self.heads, 3), attention=weights)


MODEL = Letters()


def reading(text: str = "abc de f") -> Input:
    return MODEL.read(Example("1", {"text": text}))


def every_code(x: Input) -> Edit:
    """One row per code at the second word, one with nothing left, one with nothing seen."""
    codes = np.zeros((11, x.n), dtype=np.int32)
    for row, code in enumerate((DROP, HIDE, ZERO, UNK, PAD, MASK, FILL, FILL + 1), start=1):
        codes[row, 2] = code
    codes[9, :] = DROP
    codes[10, :] = HIDE
    return Edit(codes, ("q", "xyz"))


# ------------------------------------------------------------------------------------------------- score


@pytest.mark.parametrize("head", ["softmax", "binary", "multilabel"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_torch_score_equals_numpy_score(head: str, output: str) -> None:
    rng = np.random.default_rng(0)
    heads = 2
    logits = rng.normal(0, 4, (7, heads, 3)).astype(np.float32)
    if head == "binary":
        z = logits[..., :1]
        logits = np.concatenate([-z, z], axis=-1)
    given = Reading({"logits": logits}, head)
    for target in (OWN, Target((1, 0)), Target((1, 0), (0, 1)), Target(None, (0, 0))):
        index = given.choice if target.index is None else np.broadcast_to(np.array(target.index), (7, heads))
        ours = score(torch.from_numpy(logits), torch.from_numpy(index.copy()), [target.against] * 7, output, head)
        np.testing.assert_allclose(ours.numpy(), value(given, target, output), rtol=1e-10, atol=1e-10)


def test_score_of_rows_with_and_without_contrast() -> None:
    logits = np.random.default_rng(1).normal(size=(2, 1, 3)).astype(np.float32)
    given = Reading({"logits": logits})
    index = torch.ones(2, 1, dtype=torch.int64)
    ours = score(torch.from_numpy(logits), index, [None, (2,)], "logodds", "softmax").numpy()
    assert ours[0] == pytest.approx(value(given, Target((1,)), "logodds")[0], abs=1e-10)
    assert ours[1] == pytest.approx(value(given, Target((1,), (2,)), "logodds")[1], abs=1e-10)


def test_saturated_logits_keep_finite_log_odds_and_gradient() -> None:
    z = torch.tensor([[[60.0, -60.0]]], requires_grad=True)
    at = score(z, torch.zeros(1, 1, dtype=torch.int64), [None], "logodds", "softmax")
    (slope,) = torch.autograd.grad(at.sum(), z)
    assert at.item() == pytest.approx(120.0)
    assert slope.flatten().tolist() == pytest.approx([1.0, -1.0])


def test_unknown_output_and_target_are_named() -> None:
    x = reading()
    with pytest.raises(BadInput, match="unknown output 'odds'"):
        MODEL.answer([Probe(x, Edit.none(x), frozenset({"dot"}), output="odds")])
    with pytest.raises(BadInput, match=r"target \(7,\) does not fit"):
        MODEL.answer([Probe(x, Edit.none(x), frozenset({"dot"}), Target((7,)))])


# --------------------------------------------------------------------------------------------- gradients


def moved_score(model: Letters, probe: Probe, row: int, nudge: Tensor) -> float:
    """f at (embeddings + nudge), in double precision."""
    twin = Letters(model.heads, model.head)
    twin.net.double()
    batch = twin.batch([probe.take(np.array([row]))])
    logits = twin.forward(batch, lambda e: e + nudge).logits.numpy()
    return float(value(Reading({"logits": logits}, model.head), probe.target, probe.output)[0])


@pytest.mark.parametrize(("output", "heads"), list(product(OUTPUTS, (1, 2))))
def test_gradients_equal_finite_differences(output: str, heads: int) -> None:
    model = Letters(heads)
    x = reading()
    probe = Probe(x, every_code(x), frozenset({"dot", "norm"}), Target((1,) * heads, (2,) * heads), output)
    got = model.answer([probe])[0]
    for row in (0, 3, 8):
        batch = model.batch([probe.take(np.array([row]))])
        e = gated(model.lookup(batch), batch, None)[0].double()
        slope = torch.zeros_like(e)
        for p, d in product(range(e.shape[0]), range(e.shape[1])):
            step = torch.zeros(1, *e.shape, dtype=torch.float64)
            step[0, p, d] = 1e-5
            up, down = (moved_score(model, probe, row, s) for s in (step, -step))
            slope[p, d] = (up - down) / 2e-5
        for feature in range(x.n):
            mine = batch.owner[0] == feature
            assert got["dot"][row, feature] == pytest.approx((slope * e)[mine].sum().item(), abs=2e-4)
            assert got["norm"][row, feature] == pytest.approx(slope[mine].pow(2).sum().sqrt().item(), abs=2e-4)


def test_integrated_gradients_from_any_base_are_complete() -> None:
    x = reading()
    steps = 200
    scale = (np.arange(steps) + 0.5) / steps
    for base in ("zero", "pad", "mask", "unk"):
        how = (("base", base),)
        along = Probe(x, Edit.none(x, steps), frozenset({"dot"}), Target((0,)), scale=scale, how=how)
        ends = Probe(x, Edit.none(x, 2), target=Target((0,)), scale=np.array([1.0, 0.0]), how=how)
        total = MODEL.answer([along])[0]["dot"].astype(np.float64).mean(0).sum()
        full, none = MODEL.answer([ends])[0]["logits"][:, 0, 0]
        assert total == pytest.approx(full - none, abs=1e-4)


def test_scale_one_changes_nothing_and_mixes_with_probes_without_scale() -> None:
    x = reading()
    plain = Probe(x, Edit.none(x))
    one = replace(plain, scale=np.ones(1))
    mixed = MODEL.answer([plain, one])
    np.testing.assert_allclose(mixed[0]["logits"], mixed[1]["logits"], atol=1e-6)


def test_held_attention_lets_no_gradient_through() -> None:
    """With attention constant the logit is sum_t a_t tanh(e_t) . o, whose gradient is a_t (1 - tanh^2) o."""
    x = reading()
    probe = Probe(x, Edit.none(x), frozenset({"dot", "attention"}), Target((1,)), how=(("hold", True),))
    got = MODEL.answer([probe])[0]
    batch = MODEL.batch([probe])
    e = MODEL.lookup(batch)[0]
    weights = MODEL.forward(batch).attention
    assert weights is not None
    slope = weights[0].unsqueeze(-1) * (1 - torch.tanh(e) ** 2) * MODEL.net.get_parameter("out")[:, 1]
    np.testing.assert_allclose(got["dot"], batch.sum_pieces((slope * e).sum(-1)[None]).numpy(), atol=1e-5)
    free = MODEL.answer([replace(probe, how=())])[0]
    assert np.abs(free["dot"] - got["dot"]).max() > 1e-3
    np.testing.assert_allclose(free["attention"], got["attention"], atol=1e-6)


# ------------------------------------------------------------------------------------------------- noise


def test_noise_depends_on_the_seed_alone() -> None:
    x, y = reading(), reading("a much longer text than that")
    noise = Noise(0.1, np.array([5, 6, 5]))
    probe = Probe(x, Edit.none(x, 3), noise=noise)
    alone = MODEL.answer([probe])[0]["logits"]
    among = MODEL.answer([Probe(y, Edit.none(y)), probe])[1]["logits"]
    np.testing.assert_allclose(alone, among, atol=1e-5)
    np.testing.assert_allclose(alone[0], alone[2], atol=1e-6)
    assert np.abs(alone[0] - alone[1]).max() > 1e-4


def test_noise_has_the_stated_spread() -> None:
    x = reading()
    probe = Probe(x, Edit.none(x, 400), noise=Noise(0.25, np.arange(400)))
    batch = MODEL.batch([probe])
    clean = MODEL.lookup(batch)
    change = Asked(MODEL, batch, [probe], frozenset()).change
    assert change is not None
    drawn = (change(clean) - clean).std().item()
    assert drawn == pytest.approx(0.25 * (clean[0].max() - clean[0].min()).item(), rel=0.02)


# -------------------------------------------------------------------------------------- edits, packing


def test_codes_become_ids() -> None:
    x = reading()
    batch = MODEL.batch([Probe(x, every_code(x))])
    start, end = MODEL.word_ids("<")[0], MODEL.word_ids(">")[0]
    a, b, c = MODEL.word_ids("abc")
    d, e = MODEL.word_ids("de")
    f = MODEL.word_ids("f")[0]
    q = MODEL.word_ids("q")[0]
    wanted = {
        0: [start, a, b, c, d, e, f, end],
        1: [start, a, b, c, f, end],
        2: [start, a, b, c, d, e, f, end],
        3: [start, a, b, c, d, e, f, end],
        4: [start, a, b, c, 1, f, end],
        5: [start, a, b, c, 0, f, end],
        6: [start, a, b, c, 2, f, end],
        7: [start, a, b, c, q, f, end],
        8: [start, a, b, c, *MODEL.word_ids("xyz"), f, end],
        9: [0],
        10: [0],
    }
    for row, ids in wanted.items():
        assert batch.ids[row, : batch.lengths[row]].tolist() == ids
    assert batch.owner[8].tolist() == [0, 1, 1, 1, 2, 2, 2, 3, 4]
    assert batch.owner[4].tolist() == [0, 1, 1, 1, 2, 3, 4, -1, -1]
    assert batch.seen[2].tolist() == [True] * 4 + [False] * 2 + [True] * 2 + [False]
    assert batch.gate is not None
    assert batch.gate[3].tolist() == [1, 1, 1, 1, 0, 0, 1, 1, 1]
    assert batch.extra["kind"][1].tolist() == [i % 2 for i in wanted[1]] + [0] * 3


def test_size_counts_tokens_without_building_ids() -> None:
    x = reading()
    probe = Probe(x, every_code(x))
    lengths = MODEL.batch([probe]).lengths.numpy()
    np.testing.assert_array_equal(MODEL.size(probe)[:10], lengths[:10])
    assert MODEL.size(probe)[10] == MODEL.size(probe)[0]  # hidden tokens are still read


def test_a_row_answers_the_same_whatever_it_is_batched_with() -> None:
    x, y = reading(), reading("some other much longer text here")
    probe = Probe(x, every_code(x), frozenset({"dot", "norm", "attention"}), Target((2,)))
    other = Probe(y, Edit.none(y, 2), probe.want, Target((0,)))
    _, together = MODEL.answer([other, probe])
    for row in range(probe.rows):
        alone = MODEL.answer([probe.take(np.array([row]))])[0]
        for name in ("logits", "dot", "norm", "attention"):
            np.testing.assert_allclose(together[name][row], alone[name][0], atol=1e-5)
    assert together["dot"].shape == (probe.rows, x.n)


def test_imposed_attention_comes_back() -> None:
    x = reading()
    weights = np.array([[0.1, 0.3, 0.2, 0.4, 0.0]])
    probe = Probe(x, Edit.none(x), frozenset({"attention"}), attention=weights)
    np.testing.assert_allclose(MODEL.answer([probe])[0]["attention"], weights, atol=1e-6)


def test_a_change_of_parameters_changes_the_fingerprint() -> None:
    twin = Letters()
    assert twin.fingerprint == MODEL.fingerprint
    moved = Letters()
    moved.net.get_parameter("out").data[0, 0] += 1e-3
    assert moved.fingerprint != MODEL.fingerprint
    assert Letters(heads=2).fingerprint != MODEL.fingerprint


# ------------------------------------------------------------------------------------------------ refusals


def test_what_a_model_lacks_is_refused_by_name() -> None:
    class Bare(Letters):
        mask_id = None
        abilities = frozenset()

    bare, x = Bare(), reading()
    with pytest.raises(CannotDo, match="no mask token"):
        bare.answer([Probe(x, every_code(x).take(np.array([6])))])
    for probe, lack in (
        (Probe(x, Edit.none(x), frozenset({"attention"})), "attention"),
        (Probe(x, every_code(x).take(np.array([2]))), "hide"),
        (Probe(x, Edit.none(x), how=(("hold", True),)), "hold"),
        (Probe(x, Edit.none(x), attention=np.ones((1, x.n))), "attend"),
    ):
        with pytest.raises(CannotDo, match=lack):
            bare.answer([probe])
    with pytest.raises(CannotDo, match="no mask token: use base zero"):
        bare.answer([Probe(x, Edit.none(x), frozenset({"dot"}), how=(("base", "mask"),))])


@pytest.mark.parametrize(
    ("want", "how", "words"),
    [
        ("dot", ("base", "one"), "base cannot be 'one'"),
        ("dot", ("layer", 1), "unknown setting layer"),
        ("norm", ("sharp", 1), "unknown setting sharp"),
    ],
)
def test_wrong_settings_are_named(want: str, how: tuple[str, Any], words: str) -> None:
    x = reading()
    with pytest.raises(BadInput, match=words):
        MODEL.answer([Probe(x, Edit.none(x), frozenset({want}), how=(how,))])


def test_device_and_dtype() -> None:
    assert dtype_of("auto") is torch.float32
    assert device_of("cpu").type == "cpu"
    with pytest.raises(BadInput, match="dtype cannot be 'int8'"):
        dtype_of("int8")
    with pytest.raises(AssayError, match="device 'tpu' is not available here"):
        device_of("tpu")
    if not torch.cuda.is_available():
        with pytest.raises(AssayError, match="device 'cuda' is not available here; there are: auto, cpu"):
            device_of("cuda")
