"""The training loop: schedule, selection, determinism and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from assay.training import Epoch, Step, Stream, buckets, fit
from assay.types import AssayError, BadInput


def line(weight: float = 0.0) -> nn.Linear:
    net = nn.Linear(1, 1, bias=False)
    nn.init.constant_(net.weight, weight)
    return net


def towards(net: nn.Linear, goal: float, *, name: str = "loss", turns: int = 1, after: int = 0) -> Stream:
    def loss(batch: float) -> Tensor:
        return (net.weight - goal).pow(2).sum() * batch

    optimiser = torch.optim.SGD(net.parameters(), lr=0.25)
    return Stream(lambda rng: [1.0, 1.0], loss, optimiser, name=name, turns=turns, after=after)


def test_gradient_descent_in_closed_form() -> None:
    net = line()
    done = fit(net, [towards(net, 8.0)], epochs=2)  # each update halves the distance: 8 (1 - 2^-4)
    assert net.weight.item() == pytest.approx(7.5)
    assert done.steps == 4
    assert done.kept == 2
    assert done.epochs[0].losses["loss"] == pytest.approx((64 + 16) / 2)


def test_the_best_epoch_is_kept_and_ties_go_to_the_first() -> None:
    net = line()
    scores = {1: 0.5, 2: 0.9, 3: 0.9}
    done = fit(net, [towards(net, 8.0)], epochs=3, select=lambda e: scores[e.number])
    assert done.kept == 2
    assert done.best.score == 0.9
    assert net.weight.item() == pytest.approx(7.5)
    assert not net.training


def test_select_may_use_the_losses_and_patience_stops() -> None:
    net = line(8.0)
    done = fit(net, [towards(net, 8.0)], epochs=50, select=lambda e: -e.losses["loss"], patience=3)
    assert len(done.epochs) == 4
    assert done.kept == 1


def test_streams_take_turns_and_the_first_one_leads() -> None:
    net = line()
    seen: list[str] = []
    lead = Stream(lambda rng: range(4), lambda b: net.weight.sum(), torch.optim.SGD(net.parameters(), lr=0), turns=2)
    other = towards(net, 0.0, name="entropy", turns=3)
    fit(net, [lead, other], epochs=1, on_step=lambda s: seen.append(s.stream))
    assert seen == ["loss", "loss", *["entropy"] * 3, "loss", "loss", *["entropy"] * 3]


def test_a_stream_may_join_later() -> None:
    net = line()
    seen: list[str] = []
    streams = [towards(net, 1.0), towards(net, 0.0, name="late", after=3)]
    fit(net, streams, epochs=3, on_step=lambda s: seen.append(s.stream))
    assert seen == ["loss", "loss", "loss", *["loss", "late"] * 3]


def test_streams_with_optimisers_of_their_own_do_not_share_moments() -> None:
    net = line(1.0)

    def adam(lr: float, sign: float, name: str) -> Stream:
        optimiser = torch.optim.Adam(net.parameters(), lr=lr)
        return Stream(lambda rng: [0], lambda b: sign * net.weight.sum(), optimiser, name=name)

    fit(net, [adam(0.1, 1.0, "down"), adam(0.02, -1000.0, "up")], epochs=1)
    assert net.weight.item() == pytest.approx(1 - 0.1 + 0.02, abs=1e-6)  # Adam's first step is its learning rate


def test_clipping_bounds_the_update() -> None:
    net = line()
    stream = Stream(
        lambda rng: [0], lambda b: 100 * net.weight.sum(), torch.optim.SGD(net.parameters(), lr=1.0), clip=0.5
    )
    fit(net, [stream], epochs=1)
    assert net.weight.item() == pytest.approx(-0.5, abs=1e-5)


def test_same_seed_same_weights_and_no_global_generator_touched() -> None:
    def trained(seed: int) -> Tensor:
        net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 1))
        for i, p in enumerate(net.parameters()):
            nn.init.constant_(p, 0.1 * (i + 1))
        data = torch.arange(32, dtype=torch.float32).reshape(8, 4) / 32
        stream = Stream(
            lambda rng: torch.from_numpy(rng.permutation(8)).reshape(4, 2),
            lambda rows: (net(data[rows]) - rows[:, None]).pow(2).mean(),
            torch.optim.Adam(net.parameters(), lr=0.01),
        )
        before = torch.get_rng_state()
        fit(net, [stream], epochs=2, seed=seed)
        assert torch.equal(before, torch.get_rng_state())
        return torch.cat([p.detach().flatten() for p in net.parameters()])

    first, again, other = trained(3), trained(3), trained(4)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_loss_that_is_no_number_stops_the_training() -> None:
    net = line()
    stream = Stream(lambda rng: [0], lambda b: net.weight.sum() * math.nan, torch.optim.SGD(net.parameters(), lr=0.1))
    with pytest.raises(AssayError, match="training stopped: loss is nan at epoch 1, update 1; try a smaller"):
        fit(net, [stream], epochs=1)


@pytest.mark.parametrize("which", ["lead", "other"])
def test_an_empty_stream_is_refused(which: str) -> None:
    net = line()
    empty = Stream(lambda rng: [], lambda b: net.weight.sum(), torch.optim.SGD(net.parameters(), lr=0.1), name="nil")
    full = towards(net, 1.0)
    with pytest.raises(BadInput, match="'nil' has no batches"):
        fit(net, [empty, full] if which == "lead" else [full, empty], epochs=1)


def test_no_epochs_is_refused() -> None:
    net = line()
    with pytest.raises(BadInput, match="at least one epoch"):
        fit(net, [towards(net, 1.0)], epochs=0)


def test_progress_names_the_epoch() -> None:
    net = line()
    steps: list[Step] = []
    fit(net, [towards(net, 8.0)], epochs=2, on_step=steps.append)
    assert [(s.epoch, s.epochs, s.step) for s in steps] == [(1, 2, 1), (1, 2, 2), (2, 2, 3), (2, 2, 4)]
    assert steps[0].loss == pytest.approx(64.0)
    assert Epoch(1, {}).score is None


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(1, 8), st.integers(50, 200), st.integers(0, 9)
)
def test_buckets_hold_every_row_once_within_both_limits(lengths: list[int], rows: int, tokens: int, seed: int) -> None:
    out = buckets(lengths, rows=rows, rng=np.random.default_rng(seed), tokens=tokens)
    assert sorted(i for b in out for i in b.tolist()) == list(range(len(lengths)))
    assert all(len(b) <= rows for b in out)
    assert all(len(b) * max(lengths[i] for i in b) <= tokens for b in out)


def test_buckets_without_noise_waste_no_padding_on_equal_lengths() -> None:
    lengths = [5] * 8 + [9] * 8
    out = buckets(lengths, rows=4, rng=np.random.default_rng(0))
    assert all(len({lengths[i] for i in b}) == 1 for b in out)
    other = buckets(lengths, rows=4, rng=np.random.default_rng(1))
    assert [b.tolist() for b in out] != [b.tolist() for b in other]
