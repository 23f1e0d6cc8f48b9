"""What a Hugging Face classifier can do, found out on one short row and never read off its class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from assay.models.torch import GRADED, Batch
from assay.types import HIDE, AssayError, Edit, Example, Input, Probe

if TYPE_CHECKING:
    from assay.models.hf_text import HFText

TRIED = "a good film that was seen by many people"


def try_out(model: HFText) -> None:
    """Find out what the network can do, on one short row."""
    x = model.read(Example("tried", {"text": TRIED}))
    batch = model.batch([Probe(x, Edit.none(x))])
    plain = _attempted(lambda: model.forward(batch).logits.detach())
    if plain is None or not torch.isfinite(plain).all():
        model.forward(batch)  # raises the network's own error, if it has one
        raise AssayError(f"{model.name} gives no finite logits for '{TRIED}': its weights are broken")
    found: set[str] = set()
    model.lacking = frozenset() if _changes(model, batch, plain) else GRADED
    if _hides(model, x, plain):
        found.add("hide")
    maps = _shown(model, batch, plain)
    if maps:
        found.add("attention")
        model.decoder = maps[0].shape[-1] > 1 and bool((maps[0][..., 0, 1:] == 0).all())
        model.depth, model.heads = len(maps), maps[0].shape[1]
    if maps and model.shows == "interface" and not model.lacking:
        found.add("hold")
        if _imposes(model, batch, plain):
            found |= {"attend", "states", "pull", "adversary"}
    model.abilities = frozenset(found)


def _attempted(run: Callable[[], Any]) -> Any:
    """What ``run`` gives, or None when the network cannot do it."""
    try:
        return run()
    except Exception:  # whatever it raises, this network cannot do it: that is the question asked here
        return None


def _close(a: Tensor, b: Tensor) -> bool:
    tolerance = 1e-4 if a.dtype == torch.float32 else 3e-2
    return bool(torch.allclose(a.float(), b.float(), rtol=tolerance, atol=tolerance))


def _changes(model: HFText, batch: Batch, plain: Tensor) -> bool:
    """Is the lookup passed through exactly once, and does changing it change the logits, with a gradient?"""
    calls: list[Tensor] = []

    def change(e: Tensor) -> Tensor:
        calls.append((e * 0.5).detach().requires_grad_(True))
        return calls[-1]

    def run() -> bool:
        z = model.forward(batch, change).logits
        (slope,) = torch.autograd.grad(z.float().pow(2).sum(), calls[0])
        return len(calls) == 1 and not torch.equal(z, plain) and bool(torch.isfinite(slope).all())

    return bool(_attempted(run))


def _hides(model: HFText, x: Input, plain: Tensor) -> bool:
    codes = np.zeros((2, x.n), dtype=np.int32)
    codes[0, np.flatnonzero(x.free)[1]] = HIDE
    codes[1, x.free] = HIDE
    z = _attempted(lambda: model.forward(model.batch([Probe(x, Edit(codes))])).logits)
    return z is not None and bool(torch.isfinite(z).all()) and not torch.equal(z[:1], plain)


def _imposes(model: HFText, batch: Batch, plain: Tensor) -> bool:
    """Does own attention give the same logits and other attention others, with a gradient, in the outermost layers?"""

    def run(layer: int) -> bool:
        held = model.held(replace(batch, where={"layer": layer}))
        other = held.attention.flip(1).detach().requires_grad_(True)
        same, changed = held.logits(held.attention.unsqueeze(0))[0], held.logits(other.unsqueeze(0))[0]
        (slope,) = torch.autograd.grad(changed.float().pow(2).sum(), other)
        return _close(same, plain) and not torch.equal(changed, plain) and bool(torch.isfinite(slope).all())

    return all(_attempted(partial(run, layer)) for layer in {0, model.depth - 1})


def _shown(model: HFText, batch: Batch, plain: Tensor) -> tuple[Tensor, ...]:
    """Attention maps by our function if the network calls it and its logits stay, else as the network gives them."""
    for way in ("interface", "outputs"):
        model.shows = way
        out = _attempted(lambda: model.forward(batch, keep=frozenset({"attention"})))
        if out is not None and out.maps and _close(out.logits, plain) and all(m.dim() == 4 for m in out.maps):
            return tuple(out.maps)
    model.shows = ""
    return ()
