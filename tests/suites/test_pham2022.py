"""Pham 2022 as an experiment: cells against arithmetic of their own, printed numbers against one another, resuming."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import registry, resolve
from assay.changes.train import train_attention
from assay.changes.train_mlm import train_mlm
from assay.exhibit import Exhibit, Table
from assay.lab import Lab
from assay.suites import pham_published as printed
from assay.suites.pham2022 import PARTS, chosen, pham2022
from assay.suites.pham_models import described, training_rows
from assay.suites.pham_roar import curves, difference
from assay.trials import roar_jobs
from assay.types import DROP, BadInput, Dataset, Edit, Estimate, Example, Floats, Model, Probe, Record

LIMIT = 8
SMALL: dict[str, Any] = {"roar_rows": 30, "seeds": 1, "samples": 20}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """A small classifier and two smaller language models of the built-in reviews."""
    home = tmp_path_factory.mktemp("models")
    reviews = {s: resolve.data("builtin:reviews", split=s) for s in ("train", "dev")}
    few = replace(reviews["train"], examples=reviews["train"].examples[:300])
    held = replace(reviews["dev"], examples=reviews["dev"].examples[:60])
    train_attention(few, held, encoder="average", epochs=6).save(home / "model")
    for name, width in (("lm", 32), ("second", 16)):
        train_mlm(few, held, out=home / name, layers=1, width=width, epochs=2, vocabulary=800)
    return {"model": str(home / "model"), "lm": str(home / "lm"), "second_lm": str(home / "second")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the experiment keeps its steps."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def exhibit(made: Mapping[str, Any], folder: Path) -> Exhibit:
    """All parts on a few texts; retraining only long enough to give numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roar_jobs, "UPDATES", 5)
        return pham2022(Lab(folder, workers=1), limit=LIMIT, **SMALL, parts=",".join(PARTS), **made)


def table(exhibit: Exhibit, name: str) -> Table:
    """The first table with this number."""
    return next(t for t in exhibit.tables if t.id == name)


def right_texts(model: Model) -> list[Example]:
    """The texts that the experiment explains: the first that the classifier gets right, in hashed order."""
    data: Dataset = resolve.matched(resolve.distinct(resolve.data("builtin")).sample(None), model)
    right = (e for e in data.examples if int(says(model, e).argmax()) == e.gold)
    return [next(right) for _ in range(LIMIT)]


def says(model: Model, example: Example, gone: Sequence[int] = ()) -> Floats:
    """Probabilities of the classes when these words are cut out."""
    x = model.read(example)
    edit = Edit.none(x)
    edit.codes[0, np.flatnonzero(x.free)[list(gone)]] = DROP
    (reading,) = model.answer([Probe(x, edit)])
    return np.asarray(np.exp(reading.logp[0, 0]))


# ------------------------------------------------------------------------------------------------- our numbers


def test_every_part_shows_what_the_paper_shows(exhibit: Exhibit) -> None:
    """Tables by the paper's own count, and the figures with their series."""
    assert {"T1", "T1b", "T2", "T3", "T4", "A1", "A2", "A3", "A4", "A5", "A6", "A17"} <= {t.id for t in exhibit.tables}
    assert {f.id for f in exhibit.figures} == {"F4", ""}
    for t in exhibit.tables:
        assert t.rows, t.title
        assert {len(row) for _, row in t.rows} == {len(t.columns)}, t.title
    assert all(len(scores) == len(h.words) for h in exhibit.heatmaps for _, scores in h.rows)
    assert exhibit.nearest == printed.SST


def test_leave_one_out_under_deletion_equals_the_sum_by_hand(exhibit: Exhibit, made: Mapping[str, Any]) -> None:
    """One cell of table 1 recomputed from single predictions: log-odds, order, trapezoids."""
    model = resolve.model(made["model"])
    areas = []
    for example in right_texts(model):
        n = model.read(example).size
        full = says(model, example)
        y = int(full.argmax())
        odds = [math.log(p[y] / (1 - p[y])) for p in (says(model, example, [i]) for i in range(n))]
        order = np.argsort(np.round(odds, 7), kind="stable").tolist()
        m = max(2, math.ceil(0.2 * (n - 1) - 1e-9))
        fall = [says(model, example, order[: min(k, n)])[y] for k in range(1, m + 1)]
        areas.append(sum((a + b) / 2 / m for a, b in pairwise(fall)))
    ours = dict(table(exhibit, "T1").rows)[printed.LOO_EMPTY][0].ours
    assert isinstance(ours, Estimate)
    assert ours.n == LIMIT
    assert ours.value == pytest.approx(float(np.mean(areas)), abs=1e-5)


def test_the_crossing_is_the_sum_of_both_leads(exhibit: Exhibit) -> None:
    """Interaction = (IM - LOO under Deletion) + (LOO - IM under fills), from the table's own means."""
    rows = dict(table(exhibit, "T1").rows)
    loo, im = (
        [e.ours.value for e in rows[name] if isinstance(e.ours, Estimate)] for name in (printed.LOO_EMPTY, printed.IM)
    )
    found = next(f for f in exhibit.findings if f.claim.startswith("Crossing, first"))
    assert found.ours is not None
    assert found.ours.value == pytest.approx((im[0] - loo[0]) + (loo[1] - im[1]), abs=1e-9)


def test_findings_follow_from_their_intervals(exhibit: Exhibit) -> None:
    """Each says why; without an interval nothing is decided."""
    assert len(exhibit.findings) >= 15
    for f in exhibit.findings:
        assert f.why, f.claim
        if f.ours is None or f.ours.low is None:
            assert f.holds == "undecided", f.claim


def test_a_finished_experiment_is_read_not_made_again(exhibit: Exhibit, made: Mapping[str, Any], folder: Path) -> None:
    """The same command again: no step is announced as begun, and every table is the same."""
    begun: list[str] = []
    lab = Lab(folder, workers=1, tell=lambda step, share: begun.append(step) if share == 0 else None)
    again = pham2022(lab, limit=LIMIT, **SMALL, parts="deletion,people,roar", **made)
    assert begun == []
    assert table(again, "T1") == table(exhibit, "T1")
    assert table(again, "T2") == table(exhibit, "T2")


def test_training_rows_and_those_that_choose_the_epoch_are_apart() -> None:
    """No example is in both."""
    train, held = training_rows("builtin", 200)
    assert not {e.content for e in train.examples} & {e.content for e in held.examples}
    assert len(held) == 70  # a tenth of 200 + 500, rounded down


def test_models_are_told_by_how_they_were_trained(made: Mapping[str, Any]) -> None:
    """A folder that says how it was made is told so, any other by its name: no path of a machine in a report."""
    assert described(made["lm"]).startswith("trained from scratch on 300 rows of reviews, held-out top1 0.")
    assert described("somewhere/else/my-bert") == "my-bert"


# ---------------------------------------------------------------------------------------------- retraining


def roar_records(seeds: int) -> list[Record]:
    """Accuracies by hand: LOO 3 points below random at every rate."""
    out = []
    for seed, base in (("42", 0.90), ("100", 0.80), ("200", 0.70))[:seeds]:
        out.append(Record("roar", replicate=seed, values={"accuracy": base}, detail={"rate": 0.0}))
        for rate in (0.1, 0.2, 0.3):
            for method, less in (("random", 0.02), ("leave-one-out", 0.05)):
                detail = {"rate": rate}
                out.append(
                    Record("roar", method=method, replicate=seed, values={"accuracy": base - less}, detail=detail)
                )
    return out


def test_retrained_accuracies_are_compared_within_seeds() -> None:
    """The seeds' levels cancel: the difference has no spread."""
    rows = {printed.LOO: "leave-one-out", printed.RANDOM: "random"}
    found = curves(roar_records(3), rows)
    assert found["roar", printed.LOO, 0.0] == {"42": 90.0, "100": 80.0, "200": 70.0}
    gap = difference(found, printed.RANDOM, printed.LOO)
    assert gap.n == 3
    assert (gap.value, gap.low, gap.high) == pytest.approx((3.0, 3.0, 3.0))
    two = difference(curves(roar_records(2), rows), printed.RANDOM, printed.LOO)
    assert (two.n, two.low, two.high) == (2, None, None)  # two seeds that agree by chance must not look certain


# ------------------------------------------------------------------------------------------ printed numbers


@pytest.mark.parametrize("data", [printed.SST, printed.ESNLI, printed.MULTIRC])
def test_printed_f1_is_that_of_the_printed_means(data: str) -> None:
    """The paper's F1 is the harmonic mean of its averaged precision and recall, to the last digit."""
    for row, (_, p, r, f1) in printed.T3[data].items():
        both = float(p) * float(r)
        assert 2 * both / (float(p) + float(r)) == pytest.approx(float(f1), abs=1.01e-4), row


def test_printed_table_one_has_the_paper_s_winners() -> None:
    """LOO_empty wins under Deletion and IM under Deletion with fills, in every setting."""
    for rows in (*printed.T1.values(), printed.T1B):
        assert min(rows, key=lambda r: float(rows[r][0])) == printed.LOO_EMPTY
        assert min(rows, key=lambda r: float(rows[r][1])) == printed.IM


def test_printed_retraining_stands_far_below_random() -> None:
    """At least eight points, at every rate, by deletion and by fills."""
    for rows in printed.T2.values():
        for i in (1, 2, 3):
            low = max(float(rows[r][i].split()[0]) for r in (printed.LOO, printed.IM))
            assert float(rows[printed.RANDOM][i]) - low > 8


# --------------------------------------------------------------------------------------------------- names


def test_parts_are_named_or_refused() -> None:
    """A typo is told with the nearest name; 'all' leaves out what must be asked for."""
    assert chosen("all") == [p for p in PARTS if p != "roar-lime"]
    assert "roar" not in chosen("all", printed.ESNLI)
    with pytest.raises(BadInput, match="no part 'deletoin'; did you mean 'deletion'"):
        chosen("deletoin")
    with pytest.raises(BadInput, match="parts is empty"):
        chosen(" , ")


def test_the_suite_is_listed() -> None:
    """By name, with its paper."""
    assert registry.find("suites", "pham2022").facts["paper"].startswith("Pham et al. 2022")
