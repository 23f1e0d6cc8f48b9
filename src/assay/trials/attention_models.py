"""Makes the models that the attention trials compare: many small trainings, side by side, each made once and kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay import stats
from assay.registry import did_you_mean
from assay.trials.roar_jobs import one_thread, run_all
from assay.types import AssayError, BadInput, Dataset, Estimate, Floats, Seed, content_key

Progress = Callable[[str, float], None]
"""Called with what is being made and the share that is done."""
BASE_SEED = 10
"""Wiegreffe & Pinter's seed of the base model, its uniform twin, guides and adversaries."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How every model of a trial is trained; ``code`` and ``paper`` are Jain & Wallace's, ``small`` suits one core."""

    sizes: Literal["small", "code", "paper"] = "small"
    epochs: int = 4
    lr: float = 5e-3
    rows: int = 32
    decay: float = 1e-5
    min_count: int = 1
    digits: bool = False
    vectors: str = ""
    """Where word vectors begin: glove, minilm, a file, or '' = drawn at random."""
    query: str | None = None

    @staticmethod
    def of(given: str | Recipe) -> Recipe:
        """By name: ``small`` learns its word vectors, ``minilm`` and ``glove`` begin with known ones, which sharpens
        attention; ``code`` and ``paper`` are Jain & Wallace's sizes.

        >>> Recipe.of("code").epochs, Recipe.of("minilm").vectors
        (8, 'minilm')
        """
        if isinstance(given, Recipe):
            return given
        if given not in RECIPES:
            raise BadInput(f"unknown recipe '{given}'{did_you_mean(given, list(RECIPES))}")
        return RECIPES[given]

    @property
    def label(self) -> str:
        """For tables: sizes and vectors."""
        return f"{self.sizes}, {self.vectors or 'vectors from scratch'}"


RECIPES = {
    "small": Recipe(),
    "minilm": Recipe(lr=2e-3, vectors="minilm"),
    "glove": Recipe(lr=2e-3, vectors="glove"),
    "code": Recipe("code", epochs=8, lr=1e-3),
    "paper": Recipe("paper", epochs=8, lr=1e-3),
}


@dataclass(frozen=True, eq=False)
class Sets:
    """What is learnt from, what the epoch is chosen on, what is reported."""

    train: Dataset
    dev: Dataset
    test: Dataset

    @cached_property
    def key(self) -> str:
        """Key of what the sets say."""
        return content_key([[(e.id, list(e.fields.items()), e.gold) for e in d.examples] for d in self.each])

    @property
    def each(self) -> tuple[Dataset, Dataset, Dataset]:
        """The three of them."""
        return self.train, self.dev, self.test

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""
        from assay.changes.quality import labels_of

        return labels_of(self.train, self.dev)

    @property
    def gold(self) -> NDArray[np.int64]:
        """Right answers of the test set."""
        from assay.changes.quality import golds

        return golds(self.test, self.labels)


@dataclass(frozen=True, eq=False, slots=True)
class Job:
    """One model to be made: plain (own attention), guided, or an adversary of the model in ``base``."""

    kind: Literal["plain", "guided", "adversary"]
    sets: Sets
    recipe: Recipe
    seed: int
    folder: Path
    settings: Mapping[str, Any]
    base: Path | None = None
    guide: Mapping[str, Floats] | None = None
    show: tuple[str, ...] = ("test",)


@dataclass(frozen=True, eq=False, slots=True)
class Made:
    """A finished model: its folder, what it says of the sets asked for, how long it took; or why there is none."""

    folder: Path
    shown: Mapping[str, Any]
    """Set -> ``assay.changes.shown.Shown``."""
    notes: Mapping[str, Any]
    reason: str = ""

    @property
    def seconds(self) -> float:
        """Of training."""
        return float(self.notes.get("seconds", 0.0))

    @property
    def test(self) -> Any:
        """What it says of the test set."""
        return self.shown["test"]


# ------------------------------------------------------------------------------------- in a worker process


def make(job: Job) -> Made:
    """Train, or load what was trained before, and show; whatever goes wrong becomes a reason."""
    try:
        with one_thread():
            return _made(job)
    except AssayError as error:
        return Made(job.folder, {}, {}, str(error))
    except Exception as error:  # one failed training must not take the others with it: it is recorded
        return Made(job.folder, {}, {}, f"{type(error).__name__}: {error}")


def _made(job: Job) -> Made:
    from assay.changes.encoded import Encoded
    from assay.changes.guided import ragged
    from assay.changes.shown import shown
    from assay.models.attention_rnn import is_folder, load

    if not is_folder(job.folder):
        _kept(_trained(job), job.folder)
    model = load(job.folder, device="cpu")
    out = {}
    for name in job.show:
        data: Dataset = getattr(job.sets, name)
        out[name] = shown(model, Encoded(model, data), None if job.guide is None else ragged(job.guide, data))
    return Made(job.folder, out, model.notes)


def _kept(model: Any, folder: Path) -> None:
    """Written beside and moved: a folder is whole or not there."""
    beside = folder.with_name(f"{folder.name}.{os.getpid()}")
    model.save(beside)
    shutil.rmtree(folder, ignore_errors=True)
    beside.replace(folder)


def _trained(job: Job) -> Any:
    from assay.changes.attention_fit import Schedule
    from assay.changes.guided import train_guided
    from assay.changes.train import train_attention
    from assay.changes.trained_adversary import trained_adversary
    from assay.changes.word_vectors import word_vectors
    from assay.models.attention_rnn import load

    r, seed = job.recipe, Seed(job.seed)
    vectors = word_vectors(r.vectors)
    select: Literal["auc", "accuracy"] = "auc" if len(job.sets.labels) == 2 else "accuracy"
    if job.base is None:
        return train_attention(
            job.sets.train, job.sets.dev, sizes=r.sizes, epochs=r.epochs, lr=r.lr, rows=r.rows, decay=r.decay,
            hidden_words=0.0, select=select, query=r.query, digits=r.digits, min_count=r.min_count, vectors=vectors,
            seed=seed, device="cpu", **job.settings,
        )  # fmt: skip
    base = load(job.base, device="cpu")
    if job.guide is not None:
        schedule = Schedule(r.epochs, r.lr, r.rows, r.decay)
        return train_guided(
            base, job.sets.train, job.sets.dev, job.guide, sizes=r.sizes, schedule=schedule, select=select,
            vectors=vectors, seed=seed,
        )  # fmt: skip
    return trained_adversary(
        base, job.sets.train, job.sets.dev, lr=r.lr, rows=r.rows, decay=r.decay, vectors=vectors, seed=seed,
        **job.settings,
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------- the bench


@dataclass(frozen=True, eq=False, slots=True)
class Bench:
    """Where the models of a trial are made: same sets, same recipe; a model asked for twice is made once."""

    sets: Sets
    recipe: Recipe
    home: Path
    workers: int
    progress: Progress | None

    def plain(self, seed: int, *, show: tuple[str, ...] = ("test",), **settings: Any) -> Job:
        """A model with an attention of its own (``attention``, ``encoder`` among the settings)."""
        return self._job("plain", seed, settings, show=show)

    def guided(self, base: Path, guide: Mapping[str, Floats], seed: int) -> Job:
        """A word-by-word model under these weights, which reads as the base does."""
        return self._job("guided", seed, {}, base=base, guide=guide)

    def adversary(self, base: Path, seed: int, *, show: tuple[str, ...] = ("test",), **settings: Any) -> Job:
        """A model that answers as the base does and attends to other words."""
        return self._job("adversary", seed, settings, base=base, show=show)

    def _job(self, kind: Any, seed: int, settings: Mapping[str, Any], **more: Any) -> Job:
        parts = [kind, self.sets.key, asdict(self.recipe), seed, dict(settings)]
        if more.get("base") is not None:
            parts.append(Path(more["base"]).resolve().name)
        if more.get("guide") is not None:
            parts.append({k: np.asarray(v).round(9).tolist() for k, v in more["guide"].items()})
        folder = self.home / f"{kind}-{content_key(*parts)[:16]}"
        return Job(kind, self.sets, self.recipe, seed, folder, settings, **more)

    def run(self, jobs: Sequence[Job], what: str) -> list[Made]:
        """All of them, in order, as many at a time as there are workers."""
        out: dict[int, Made] = {}
        lost = Made(self.home, {}, {}, "")
        for number, done in enumerate(run_all(make, jobs, self.workers, lambda r: replace(lost, reason=r)), 1):
            out[done.number] = done.result
            if self.progress is not None:
                self.progress(what, number / len(jobs))
        return [out[i] for i in range(len(jobs))]

    def must(self, jobs: Sequence[Job], what: str) -> list[Made]:
        """The same, for models without which there is nothing to report."""
        made = self.run(jobs, what)
        for m in made:
            if m.reason:
                raise AssayError(f"{what}: a training failed ({m.reason})")
        return made


@contextmanager
def bench(
    train: Dataset,
    dev: Dataset,
    test: Dataset,
    *,
    recipe: str | Recipe = "small",
    out: str | Path | None = None,
    workers: int = 2,
    progress: Progress | None = None,
) -> Iterator[Bench]:
    """A bench that keeps its models in ``out``/models, or forgets them at the end."""
    if out is not None:
        home = Path(out) / "models"
        home.mkdir(parents=True, exist_ok=True)
        yield Bench(Sets(train, dev, test), Recipe.of(recipe), home, workers, progress)
        return
    with TemporaryDirectory(prefix="assay-attention-") as folder:
        yield Bench(Sets(train, dev, test), Recipe.of(recipe), Path(folder), workers, progress)


# ------------------------------------------------------------------------------------------------- scores


def f1(choice: NDArray[Any], gold: NDArray[Any], classes: int = 2) -> float:
    """F1 of the second of two classes; the mean over classes of more.

    >>> f1(np.array([1, 1, 0]), np.array([1, 0, 0]))
    0.6666666666666666
    """
    which = (1,) if classes == 2 else range(classes)
    each = []
    for c in which:
        both = ((choice == c) & (gold == c)).sum()
        each.append(float(2 * both / max(1, (choice == c).sum() + (gold == c).sum())))
    return float(np.mean(each))


def f1_estimate(choice: NDArray[Any], gold: NDArray[Any], classes: int) -> Estimate:
    """F1 with an interval over test examples."""
    return stats.bootstrap(lambda c, g: f1(c, g, classes), [choice, gold], draws=1000)


def f1_difference(a: NDArray[Any], b: NDArray[Any], gold: NDArray[Any], classes: int) -> Estimate:
    """F1 of one model minus that of another on the same examples, with an interval over them."""
    return stats.bootstrap(lambda x, y, g: f1(x, g, classes) - f1(y, g, classes), [a, b, gold], draws=1000)
