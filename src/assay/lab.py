"""Where an experiment works: a folder that keeps what each step made, so that a stopped experiment goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.types import AssayError, content_key

Tell = Callable[[str, float], None]
"""Called with the step at work and the share of it that is done."""


@dataclass(eq=False, slots=True)
class Lab:
    """A folder of steps. A step is a function of plain settings whose plain result is kept under their key."""

    folder: Path
    seed: int = 0
    device: str = "auto"
    dtype: str = "auto"
    workers: int = 2
    tell: Tell = lambda step, share: None
    seconds: dict[str, float] = field(default_factory=dict)
    """Where the time went, by step; a step that was kept shows what it took when it was made."""

    def step(self, name: str, settings: Mapping[str, Any], make: Callable[[], Any]) -> Any:
        """The kept result of this step with these settings, or what ``make`` gives now (JSON values)."""
        path = self.folder / "steps" / f"{name}-{content_key(name, settings, self.seed)[:12]}.json"
        if path.is_file():
            try:
                kept = json.loads(path.read_text(encoding="utf-8"))
            except json.JSONDecodeError as error:
                raise AssayError(f"{path} is damaged ({error}); delete it and run the same command again") from error
        else:
            self.tell(name, 0.0)
            start = time.perf_counter()
            made = make()
            kept = {"settings": dict(settings), "seconds": round(time.perf_counter() - start, 2), "result": made}
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            part.write_text(json.dumps(kept, default=_plain), encoding="utf-8")
            part.replace(path)
            kept = json.loads(path.read_text(encoding="utf-8"))  # a resumed run and a fresh one see the same values
        self.seconds[name] = self.seconds.get(name, 0.0) + kept["seconds"]
        self.tell(name, 1.0)
        return kept["result"]

    def place(self, name: str, settings: Mapping[str, Any]) -> Path:
        """A folder for something a step makes that is no JSON (a trained model, a run)."""
        return self.folder / f"{name}-{content_key(name, settings, self.seed)[:12]}"


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"a step's result must be plain values, got {type(value).__name__}")
