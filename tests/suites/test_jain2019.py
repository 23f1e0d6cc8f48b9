"""Jain & Wallace 2019 as an experiment: cells against single predictions, printed numbers against one another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from assay import resolve
from assay.exhibit import Exhibit, Table
from assay.lab import Lab
from assay.suites import jain_published as printed
from assay.suites.jain2019 import jain2019
from assay.suites.jain_attention import _exception
from assay.suites.jain_data import NEAREST, SNLI, SST, class_counts, material
from assay.suites.jain_runs import Bout, apart
from assay.types import DROP, BadInput, Edit, Estimate, Example, Floats, Model, Probe, Target

LIMIT = 6
SMALL = {"limit": LIMIT, "rows": 120, "epochs": 2, "steps": 40, "times": 10}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the experiment keeps its steps."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def exhibit(folder: Path) -> Exhibit:
    """The whole experiment on a few texts."""
    return jain2019(Lab(folder, workers=1), **SMALL)


def table(exhibit: Exhibit, name: str) -> Table:
    """The first table with this number or title."""
    return next(t for t in exhibit.tables if name in (t.id, t.title))


def model_of(folder: Path, encoder: str) -> Model:
    """The trained model of this encoder."""
    models = [resolve.model(str(p)) for p in (folder / "models").iterdir()]
    return next(m for m in models if m.name.startswith(encoder))


def texts() -> tuple[Example, ...]:
    """The texts that the experiment explains."""
    return material("builtin").sets.test.examples[:LIMIT]


def probabilities(model: Model, example: Example, gone: int | None = None) -> Floats:
    """What the model says without one word."""
    x = model.read(example)
    edit = Edit.none(x)
    if gone is not None:
        edit.codes[0, np.flatnonzero(x.free)[gone]] = DROP
    (reading,) = model.answer([Probe(x, edit)])
    return np.asarray(np.exp(reading.logp[0, 0]))


def attention(model: Model, example: Example) -> Floats:
    """Weights of the words."""
    x = model.read(example)
    (reading,) = model.answer([Probe(x, Edit.none(x), frozenset({"attention"}))])
    return np.asarray(reading["attention"][0])[x.free]


# ------------------------------------------------------------------------------------------------- our numbers


def test_every_table_and_figure_of_the_paper_is_there(exhibit: Exhibit) -> None:
    """By the paper's own count, with a series for what was measured."""
    assert {"T1", "T2"} <= {t.id for t in exhibit.tables}
    assert {f.id for f in exhibit.figures} == {"F2", "F3", "F4", "F5", "F6 to F8"}
    for t in exhibit.tables:
        assert t.rows, t.title
        assert {len(row) for _, row in t.rows} == {len(t.columns)}, t.title
    for f in exhibit.figures:
        assert f.series, f.title
        assert all(len(s.x) == len(s.y) for s in f.series), f.title
    assert exhibit.heatmaps
    assert exhibit.nearest == SST


def test_attention_against_leave_one_out_equals_scipy_on_single_predictions(exhibit: Exhibit, folder: Path) -> None:
    """One cell of table 2: words deleted one by one, |change of p|, Kendall's tau-b of scipy."""
    model = model_of(folder, "bilstm")
    taus = []
    for example in texts():
        full = probabilities(model, example)
        y, n = int(full.argmax()), model.read(example).size
        fall = [abs(full[y] - probabilities(model, example, i)[y]) for i in range(n)]
        taus.append(kendalltau(attention(model, example), np.round(fall, 9)).statistic)
    ours = dict(table(exhibit, "T2").rows)["all"][6].ours
    assert isinstance(ours, Estimate)
    assert ours.n == LIMIT
    assert ours.value == pytest.approx(float(np.mean(taus)), abs=0.02)


def test_gradient_is_that_of_the_probability_with_attention_held(exhibit: Exhibit, folder: Path) -> None:
    """Another cell, asked for anew: |d p / d e . e| with constant attention, scipy's tau."""
    model = model_of(folder, "average")
    taus = []
    for example in texts():
        x = model.read(example)
        y = int(probabilities(model, example).argmax())
        how = (("hold", True),)
        (reading,) = model.answer([Probe(x, Edit.none(x), frozenset({"dot"}), Target((y,)), "prob", how=how)])
        taus.append(kendalltau(attention(model, example), np.abs(reading["dot"][0])[x.free]).statistic)
    ours = dict(table(exhibit, "T2").rows)["all"][3].ours
    assert isinstance(ours, Estimate)
    assert ours.value == pytest.approx(float(np.mean(taus)), abs=0.02)


def test_differences_of_tau_are_those_of_the_means(exhibit: Exhibit) -> None:
    """Figures 6 to 8 follow from the table of every pair, all texts having all taus."""
    rows = dict(table(exhibit, "Mean tau of every pair of methods, all texts").rows)
    al, ag, gl = ([e.ours.value for e in row if isinstance(e.ours, Estimate)] for row in rows.values())
    series = {s.name[:2]: s.y[0] for s in exhibit.figures[2].series if "paper" not in s.name}
    assert series["F6"] == pytest.approx(gl[0] - al[0], abs=1e-9)
    assert series["F7"] == pytest.approx(gl[0] - ag[0], abs=1e-9)
    assert series["F8"] == pytest.approx(al[1] - al[0], abs=1e-9)


def test_accuracy_in_table_1_is_that_of_the_trained_model(exhibit: Exhibit, folder: Path) -> None:
    """Counted again over the whole test set, one prediction at a time."""
    model, test = model_of(folder, "bilstm"), material("builtin").sets.test
    right = [int(probabilities(model, e).argmax()) == e.gold for e in test.examples[:50]]
    kept = exhibit.tables[0].rows[3][1][0].ours
    assert isinstance(kept, Estimate)
    assert kept.n == len(test)
    again = jain2019(Lab(folder, workers=1), **SMALL)
    assert again.tables[0].rows == exhibit.tables[0].rows
    assert abs(float(np.mean(right)) - kept.value) < 4 * (0.25 / 50) ** 0.5


def test_adversaries_keep_the_answer(exhibit: Exhibit, folder: Path) -> None:
    """Appendix E: the second row of a heatmap, imposed on the model, gives the same answer within epsilon."""
    model = model_of(folder, "bilstm")
    shown = exhibit.heatmaps[0]
    example = next(e for e in texts() if model.read(e).free_words == shown.words)
    x = model.read(example)
    rows = np.zeros((2, x.n))
    rows[:, x.free] = [scores for _, scores in shown.rows]
    (reading,) = model.answer([Probe(x, Edit.none(x, 2), attention=rows)])
    p = np.exp(reading.logp[:, 0])
    assert abs(p[0] - p[1]).sum() / 2 <= 0.01 + 1e-5


def test_findings_follow_from_their_intervals(exhibit: Exhibit) -> None:
    """Each says why; without an interval nothing is decided."""
    assert {f.subject for f in exhibit.findings} == {"correlation", "permutation", "adversary"}
    for f in exhibit.findings:
        assert f.why, f.claim
        if f.ours is None or f.ours.low is None:
            assert f.holds == "undecided", f.claim


def test_a_finished_experiment_is_read_not_made_again(exhibit: Exhibit, folder: Path) -> None:
    """The same command again begins no step and shows the same."""
    begun: list[str] = []
    lab = Lab(folder, workers=1, tell=lambda step, share: begun.append(step) if share == 0.0 else None)
    again = jain2019(lab, **SMALL)
    assert not begun
    assert (again.tables, again.figures, again.findings) == (exhibit.tables, exhibit.figures, exhibit.findings)


# ------------------------------------------------------------------------------------------ the exception, data


class _Planted(Bout):
    """A bout whose numbers are given: positive texts p*, negative ones n*."""

    def values(self, test: str, name: str) -> dict[str, float]:
        given = {"median": (0.3, 0.01), "found": (1.0, 1.0), "jsd": (0.1, 0.6)}[name]
        return {f"{side}{i}": given[k] + i / 1000 * (name != "found") for k, side in enumerate("pn") for i in range(9)}

    def predicted(self) -> dict[str, str]:
        return {f"{s}{i}": {"p": "positive", "n": "negative"}[s] for s in "pn" for i in range(9)}


def test_the_exception_is_seen_when_it_is_there(tmp_path: Path) -> None:
    """Permutation moves only the positive class, and only there adversaries stay near: both findings hold."""
    found = material("builtin:planted", rows=20)
    bout = _Planted(Lab(tmp_path), found, found.sets.test, None, None, {}, 0.01, "paper")  # type: ignore[arg-type]  # asks no model
    moved, reach = _exception(bout)
    assert (moved.holds, reach.holds) == ("yes", "yes")
    assert moved.ours is not None
    assert moved.ours.value == pytest.approx(0.29)
    assert reach.ours is not None
    assert reach.ours.value == pytest.approx(0.5)


def test_a_question_is_not_attended(tmp_path: Path) -> None:
    """Stories: scores only for the words of the story, one group of texts, the paper's epsilon for questions."""
    got = jain2019(Lab(tmp_path, workers=1), data="builtin:stories", encoder="average", limit=4, rows=60, epochs=1,
                   steps=5, times=3)  # fmt: skip
    assert got.nearest == "bAbI 1"
    assert [name for name, _ in table(got, "T2").rows] == ["all"]
    assert "0.05" in got.settings["adversaries"]
    stories = {e.fields["context"] for e in material("builtin:stories").sets.test.examples}
    for shown in got.heatmaps:
        assert "Where" not in shown.words
        assert any(shown.words[0] == s.split()[0] for s in stories)
    assert not any("F8" in s.name for f in got.figures for s in f.series)


def test_groups_apart() -> None:
    """Difference of means of two groups; too few texts give none."""
    one, other = np.arange(10.0), np.arange(10.0) + 5
    found = apart(one.tolist(), other.tolist())
    assert found is not None
    assert found.value == pytest.approx(-5.0)
    assert apart([1.0], [0.0, 1.0]) is None


def test_sets_share_no_id_and_are_counted() -> None:
    """Guides are filed by id; counts per class are in the order of the labels."""
    sets = material("builtin", rows=50).sets
    ids = [e.id for d in sets.each for e in d.examples]
    assert len(ids) == len(set(ids))
    assert len(sets.train) == 50
    data = replace(
        sets.test, examples=tuple(replace(e, gold=int(i < 3)) for i, e in enumerate(sets.test.examples[:10]))
    )
    assert class_counts(data) == "7 / 3"


def test_wrong_settings_are_told() -> None:
    """One line with what was expected."""
    with pytest.raises(BadInput, match="rows must be 0"):
        material("builtin", rows=-1)
    with pytest.raises(BadInput, match="epsilon"):
        jain2019(Lab(Path("nowhere")), epsilon=2.0)


# ------------------------------------------------------------------------------------------------- printed


def test_printed_numbers_agree_with_one_another() -> None:
    """Overall means lie between those of the classes; SNLI is the exception to gradient - LOO; average is higher."""
    for nearest in (SST, "IMDB", "20News", "AG News"):
        grad = [float(row[0][0].partition(" ")[0]) for row in printed.T2[nearest]]
        mine = printed.overall("bilstm", nearest)
        assert mine is not None
        assert min(grad) - 0.01 <= mine[1] <= max(grad) + 0.01, nearest
        assert all(v is not None and v > 0 for v in printed.gaps("bilstm", nearest)), nearest
    first, second, beyond = printed.gaps("bilstm", SNLI)
    assert first is not None
    assert second is not None
    assert beyond is not None
    assert first < 0 > second
    assert beyond > 0
    assert printed.T1[SST] == ("19", "3034 / 3321", "863 / 862", ".81")
    assert set(NEAREST.values()) <= set(printed.T1)
