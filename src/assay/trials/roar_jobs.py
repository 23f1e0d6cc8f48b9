"""Knows how to retrain a classifier many times: independent jobs, one thread each, in several processes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar

from assay.registry import Spec, did_you_mean, parameters
from assay.types import AssayError, BadInput, Dataset, Model, Seed, content_key

J = TypeVar("J")

UPDATES = 200
"""Fewest updates of the small classifiers: few examples are seen more often."""
NAMED: Mapping[str, Mapping[str, Any]] = {
    "bag": {"encoder": "average", "attention": "uniform", "epochs": 2, "lr": 5e-3, "rows": 32, "hidden_words": 0.0},
    "cnn": {"encoder": "cnn", "attention": "additive", "epochs": 2, "lr": 5e-3, "rows": 32, "hidden_words": 0.0},
    "bilstm": {"encoder": "bilstm", "attention": "additive", "epochs": 2, "lr": 5e-3, "rows": 32, "hidden_words": 0.0},
}
"""Small classifiers by name; ``bag`` averages word vectors and is the quickest."""
CHECKED = 500
"""Training examples on which the epoch to keep is chosen: the evaluated examples have no part in training."""


@dataclass(frozen=True, slots=True)
class Classifier:
    """What is retrained: bag, cnn, bilstm, attention-rnn with settings, or an encoder's folder or hub id."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(spec: str | Mapping[str, Any] | Classifier) -> Classifier:
        """From ``bag``, ``bag(epochs=3)``, a table with a name, or a folder.

        >>> Classifier.of("bag(epochs=3)").settings["epochs"], Classifier.of("cnn").settings["encoder"]
        (3, 'cnn')
        """
        if isinstance(spec, Classifier):
            return spec
        given = Spec(spec) if isinstance(spec, str) and Path(spec).is_dir() else Spec.parse(spec)
        settings = {**NAMED.get(given.name, {}), **given.settings}
        small = given.name in (*NAMED, "attention-rnn")
        _known(given.name, settings, small)
        return Classifier(given.name, settings)

    @property
    def small(self) -> bool:
        """True when it is trained from scratch."""
        return self.name in (*NAMED, "attention-rnn")

    @property
    def label(self) -> str:
        """Its name, with the settings that are not those of the name."""
        own = NAMED.get(self.name, {})
        told = ", ".join(f"{k}={v}" for k, v in self.settings.items() if own.get(k) != v)
        shown = Path(self.name).name if not self.small else self.name
        return f"{shown}({told})" if told else shown


def _known(name: str, settings: Mapping[str, Any], small: bool) -> None:
    from assay.changes import train

    there = list(parameters(train.train_attention if small else train.train_transformer))
    for key in settings:
        if key not in there or key in ("seed", "progress", "out"):
            raise BadInput(f"classifier {name} has no setting '{key}'{did_you_mean(key, there)}")


@dataclass(frozen=True, slots=True)
class Job:
    """One retraining: learn from ``train``, be judged on ``dev``, drawn from ``seed``."""

    classifier: Classifier
    train: Dataset
    dev: Dataset
    seed: int

    @property
    def key(self) -> str:
        """What fixes the result."""
        return content_key("retrain", recipe(self.classifier, self.train, self.dev), self.seed)


def recipe(classifier: Classifier, train: Dataset, dev: Dataset) -> str:
    """Key of a classifier and what it learns from and is judged on."""
    texts = [[(list(e.fields.items()), e.gold) for e in d.examples] for d in (train, dev)]
    settings = sorted((k, str(v)) for k, v in classifier.settings.items())
    return content_key(classifier.name, settings, texts)


@dataclass(frozen=True, slots=True)
class Ended:
    """What a job came to: numbers, or the reason why there are none."""

    values: Mapping[str, float] | None
    reason: str
    seconds: float


def retrain(job: Job) -> Ended:
    """Train and judge: accuracy and F1 on ``dev``; a failure is a reason, never an exception."""
    return ended(lambda: judged(trained(job.classifier, job.train, job.seed), job.dev))


def ended(work: Callable[[], Any]) -> Ended:
    """Run it; whatever goes wrong becomes a reason."""
    start = time.perf_counter()
    try:
        with one_thread():
            values = work()
        return Ended(values, "", time.perf_counter() - start)
    except AssayError as error:
        return Ended(None, str(error), time.perf_counter() - start)
    except Exception as error:  # one failed training must not take the others with it: it is recorded
        return Ended(None, f"{type(error).__name__}: {error}", time.perf_counter() - start)


def trained(classifier: Classifier, train: Dataset, seed: int) -> Model:
    """The classifier trained from the seed; of its epochs the one that fits a part of its training data best."""
    from assay.changes.train import minilm_folder, train_attention, train_transformer

    part = replace(train, examples=train.examples[:CHECKED])
    if classifier.small:
        settings = dict(classifier.settings)
        if classifier.name in NAMED:
            rows = int(settings["rows"])
            settings["epochs"] = max(int(settings["epochs"]), math.ceil(UPDATES * rows / max(1, len(train))))
        return train_attention(train, part, seed=Seed(seed), **settings)
    from assay.models import hf_text

    encoder = str(minilm_folder()) if classifier.name == "builtin:minilm" else classifier.name
    with TemporaryDirectory(prefix="assay-roar-") as folder:
        done = train_transformer(
            encoder, train, part, out=Path(folder) / "model", seed=Seed(seed), **classifier.settings
        )
        return hf_text.load(str(done.folder))


def judged(model: Any, dev: Dataset) -> dict[str, float]:
    """Accuracy and F1 of a torch model on labelled data."""
    from assay.changes.encoded import Encoded

    scores = Encoded(model, dev).scores()
    return {name: scores[name] for name in ("accuracy", "f1")}


# ------------------------------------------------------------------------------------------------ processes


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread inside: the sum of two halves is not the sum of one whole, and seeds must repeat."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True, slots=True)
class Numbered(Generic[J]):
    """A finished job with its number."""

    number: int
    result: J


def run_all(
    function: Callable[[Any], J], jobs: Sequence[Any], workers: int, lost: Callable[[str], J]
) -> Iterator[Numbered[J]]:
    """Results as they finish; ``workers`` processes, or this one when there is one. ``lost`` makes a dead job's result.

    Processes are spawned: a script that calls this needs ``if __name__ == "__main__":``, or workers=1.
    """
    if workers < 1:
        raise BadInput(f"workers must be 1 or more, got {workers}")
    if workers == 1 or len(jobs) < 2:
        yield from (Numbered(i, function(job)) for i, job in enumerate(jobs))
        return
    pool = ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn"))
    try:
        numbers = {pool.submit(function, job): i for i, job in enumerate(jobs)}
        for future in as_completed(numbers):
            try:
                yield Numbered(numbers[future], future.result())
            except BrokenProcessPool:
                yield Numbered(numbers[future], lost(DEAD))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


DEAD = (
    "a worker process ended abruptly: out of memory, or a script without if __name__ == '__main__'; "
    "use workers=1, or run again with the same out"
)
