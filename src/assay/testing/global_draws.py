"""Global random states: seen, compared and put back, so that a hidden draw shows."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def state() -> dict[str, Any]:
    """The global states of Python, numpy and (when it is there) torch, as values that can be compared."""
    numpy: Any = np.random.get_state()  # noqa: NPY002  # this is what must not change
    found: dict[str, Any] = {"random": random.getstate(), "numpy": (numpy[1].tobytes(), *numpy[2:])}
    if (torch := sys.modules.get("torch")) is not None:
        found["torch"] = bytes(torch.random.get_rng_state().numpy().tobytes())
    return found


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """All global generators seeded for a while, then put back as they were."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    torch = sys.modules.get("torch")
    kept = None if torch is None else torch.random.get_rng_state()
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # the contract needs it, and puts it back
    if torch is not None:
        torch.random.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        if torch is not None:
            torch.random.set_rng_state(kept)
