"""The main job as a user meets it: audit, stop, go on, read again."""

import json
import subprocess
import sys

import numpy as np
import pytest

import assay
from assay import api
from assay.driver import run as run_plan
from assay.types import AssayError, BadInput, Dataset, Example

FAST = {"methods": ["random", "leave-one-out", "gradient"], "tests": ["deletion", "agreement", "planted-recovery"]}


def rows(audit):
    """All records as comparable values, bit by bit."""
    return sorted(
        (r.test, r.example, r.method, r.other, json.dumps(dict(r.values or {}), sort_keys=True), r.reason)
        for r in audit.records
    )


def assert_same_table(a, b):
    """The same records; numbers to 1e-6, because other rows in a batch change the last bits of float32."""
    one, two = rows(a), rows(b)
    assert [(*r[:4], r[5]) for r in one] == [(*r[:4], r[5]) for r in two]
    for x, y in zip(one, two, strict=True):
        assert json.loads(x[4]) == pytest.approx(json.loads(y[4]), abs=1e-6)
    for x, y in zip(a.summary.cells, b.summary.cells, strict=True):
        assert (x.method, x.test, x.value) == (y.method, y.test, y.value)
        assert x.estimate.value == pytest.approx(y.estimate.value, abs=1e-6)


def test_audit_gives_verdicts_tables_and_a_report(tmp_path):
    done = assay.audit("builtin:planted", "builtin:planted", **FAST, limit=12, out=tmp_path / "run")
    assert {v.method: v.level for v in done.verdicts}["random"] == "control"
    assert done.summary.cell("leave-one-out", "deletion").estimate.n == 12
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "leave-one-out" in page
    assert len(done.to_pandas()) >= 12 * 3
    assert json.loads(json.dumps(done.to_json()))["verdicts"]


def test_the_same_plan_twice_gives_identical_records(tmp_path):
    a = assay.audit("builtin:planted", "builtin:planted", **FAST, limit=8, out=tmp_path / "a")
    b = assay.audit("builtin:planted", "builtin:planted", **FAST, limit=8, out=tmp_path / "b")
    assert rows(a) == rows(b)
    for x, y in zip(a.explanations, b.explanations, strict=True):
        assert np.array_equal(x.values, y.values, equal_nan=True)


def test_stopped_half_way_and_resumed_gives_the_same_table(tmp_path):
    plan = api.audit_plan("builtin:planted", "builtin:planted", **FAST, limit=10)
    whole = api.run(plan, out=tmp_path / "whole")
    events = run_plan(plan, tmp_path / "half")
    for event in events:
        if event.kind == "case" and event.done == 4:
            events.close()
            break
    part = api.load(tmp_path / "half")
    assert 0 < len(part.records) < len(whole.records)
    resumed = api.run(plan, out=tmp_path / "half")
    assert_same_table(resumed, whole)


def test_killed_and_resumed_gives_the_same_table(tmp_path):
    script = (
        "import os, signal, sys\n"
        "from assay import api\n"
        "from assay.driver import run\n"
        f"fast = {FAST}\n"
        "plan = api.audit_plan('builtin:planted', 'builtin:planted', **fast, limit=10)\n"
        "for event in run(plan, sys.argv[1]):\n"
        "    if event.kind == 'case' and event.done == 5:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    code = subprocess.run([sys.executable, "-c", script, str(tmp_path / "killed")], check=False).returncode
    assert code == -9
    plan = api.audit_plan("builtin:planted", "builtin:planted", **FAST, limit=10)
    resumed = api.run(plan, out=tmp_path / "killed")
    whole = api.run(plan, out=tmp_path / "whole")
    assert_same_table(resumed, whole)


def test_more_examples_of_the_same_plan_go_on_where_it_ended(tmp_path):
    assay.audit("builtin:planted", "builtin:planted", **FAST, limit=4, out=tmp_path / "run")
    more = assay.audit("builtin:planted", "builtin:planted", **FAST, limit=8, out=tmp_path / "run")
    fresh = assay.audit("builtin:planted", "builtin:planted", **FAST, limit=8, out=tmp_path / "fresh")
    assert_same_table(more, fresh)


def test_another_plan_in_the_same_folder_is_refused(tmp_path):
    assay.audit("builtin:planted", "builtin:planted", **FAST, limit=3, out=tmp_path / "run")
    with pytest.raises(BadInput, match="another plan"):
        assay.audit("builtin:planted", "builtin:planted", methods=["random"], tests=[], limit=3, out=tmp_path / "run")


def test_two_models_in_one_store_never_mix(tmp_path):
    from assay.plan import CasesNode, DataNode, ModelNode, Plan

    def plan(*models):
        return Plan(
            (DataNode("d", "builtin:reviews", limit=5),),
            tuple(ModelNode(m, f"builtin:{m}") for m in models),
            tuple(CasesNode(m, m, "d", ("leave-one-out",), ("deletion",)) for m in models),
        )

    both = plan("reviews", "additive")
    api.run(both, out=tmp_path / "both")
    for name in ("reviews", "additive"):
        alone = api.run(plan(name), out=tmp_path / name)
        mixed = api.load(tmp_path / "both", cases=name)
        assert mixed.to_json()["cells"] == alone.to_json()["cells"]


def test_a_nameless_black_box_is_audited(tmp_path):
    def predict(texts):
        p = np.array([0.9 if "good" in t else 0.2 for t in texts])
        return np.stack([1 - p, p], axis=1)

    data = Dataset("mine", tuple(Example(str(i), {"text": f"a good day number {i} here"}, 1) for i in range(6)))
    done = assay.audit(predict, data, methods=["leave-one-out", "gradient"], tests=["deletion"], out=tmp_path / "r")
    assert done.summary.cell("leave-one-out", "deletion") is not None
    reasons = {g.method: g.reason for g in done.summary.gaps}
    assert "needs" in reasons["gradient"]


def test_a_bad_example_is_a_counted_gap_and_loses_nothing(tmp_path):
    def predict(texts):
        return [[float("nan"), float("nan")] if "poison" in t else [0.3, 0.7] for t in texts]

    texts = ["fine text one", "the poison text", "fine text two", ""]
    data = Dataset("odd", tuple(Example(str(i), {"text": t}) for i, t in enumerate(texts)))
    done = assay.audit(predict, data, methods=["leave-one-out"], tests=["deletion"], limit=None, out=tmp_path / "r")
    gaps = " ".join(g.reason for g in done.summary.gaps)
    assert "nan" in gaps
    assert "example 3 has no text" in gaps
    assert done.summary.cell("leave-one-out", "deletion").estimate.n == 2


def test_wrong_label_set_names_both(tmp_path):
    data = Dataset("three", (Example("1", {"text": "a good film"}, 2),), ("a", "b", "c"))
    with pytest.raises(AssayError, match=r"3 labels \(a, b, c\).*2"):
        assay.audit("builtin:planted", data, **FAST, out=tmp_path / "r")


def test_plan_file_runs(tmp_path):
    plan = api.audit_plan("builtin:planted", "builtin:planted", **FAST, limit=3)
    (tmp_path / "plan.toml").write_text(plan.to_toml(), encoding="utf-8")
    done = assay.run(tmp_path / "plan.toml", out=tmp_path / "r")
    assert done.summary.meta["n"] == 3


def test_a_method_that_always_fails_is_stopped_and_counted(tmp_path, monkeypatch):
    from assay import registry
    from assay.methods import leave_one_out

    def broken(x, target, **settings):
        raise ZeroDivisionError("planted")
        yield

    monkeypatch.setattr(leave_one_out, registry.find("methods", "leave-one-out").attribute, broken)
    events = []
    done = assay.audit("builtin:planted", "builtin:planted", methods=["random", "leave-one-out"], tests=["deletion"],
                       limit=100, out=tmp_path / "r", on_event=events.append)  # fmt: skip
    assert any(e.kind == "stopped" and "leave-one-out" in e.message for e in events)
    (gap,) = [g for g in done.summary.gaps if "ZeroDivisionError: planted" in g.reason]
    assert gap.count >= 10
    assert done.summary.cell("random", "deletion").estimate.n == 100


def test_dry_run_counts_what_the_run_then_asks():
    plan = api.audit_plan("builtin:planted", "builtin:planted", methods=["random", "leave-one-out"], tests=[], limit=6)
    cost = api.estimate(plan, sample=6)
    data = api.resolve.data("builtin:planted").sample(6)
    words = [api.resolve.model("builtin:planted").read(e).size for e in data.examples]
    assert cost["probes"] == sum(n + 1 for n in words)  # each word left out once, and the whole once
