"""The store: exact round trips, one writer, nothing half-written after kill -9, errors that say what is safe."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.store import (
    FILE,
    Store,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    explanation_key,
    export,
    record_key,
    schema,
    to_pandas,
)
from assay.types import AssayError, BadInput, Cost, Example, Explanation, Input, Mark, Place, Record, Target

ODD = "na\u00efve \U0001f600 \u202eright-to-left \x00 \ud800 '; DROP TABLE records; --"


def make(words: str = "good film", scores: tuple[float, ...] = (1.0, -2.0), **changed: Any) -> Explanation:
    example = Example("e1", {"text": words}, 1, (Mark("text", 0, 4, 0.5, "pos", 3),))
    first = words.split(" ", 1)[0]
    places = (Place("", 0, 0, "[CLS]"), Place("text", 0, len(first)), Place("text", len(first) + 1, len(words)))
    x = Input(example, "word", places, np.array([False, True, True]), "the last 3 words")
    given: dict[str, Any] = {
        "model": "toy",
        "method": "lime(samples=9)",
        "labels": ("neg", "pos"),
        "probabilities": (0.25, 0.75),
    }
    given |= {"notes": {"delta": 0.1}, "cost": Cost(3, 2, 9, 0.5)} | changed
    return Explanation(x, target=Target((1,)), values=np.array([math.nan, *scores]), **given)


def number(value: float = 0.5, **changed: Any) -> Record:
    given: dict[str, Any] = {"example": "e1", "method": "lime", "values": {"area": value}, "cost": Cost(1, 1, 5, 0.25)}
    return Record("deletion", **(given | changed))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "run") as made:
        yield made


# -------------------------------------------------------------------------------------------- round trips


def assert_same(a: Explanation, b: Explanation) -> None:
    assert a.values.tobytes() == b.values.tobytes()
    assert (a.x.example, a.x.unit, a.x.places, a.x.cut) == (b.x.example, b.x.unit, b.x.places, b.x.cut)
    assert a.x.free.tolist() == b.x.free.tolist()
    assert (a.model, a.method, a.target, a.labels, a.cost) == (b.model, b.method, b.target, b.labels, b.cost)
    assert np.array(a.probabilities).tobytes() == np.array(b.probabilities).tobytes()
    assert dict(a.notes) == dict(b.notes)


def test_an_explanation_comes_back_bit_for_bit(store: Store) -> None:
    tiny = np.nextafter(0.1, 1)
    words = ODD.replace(" ", "_") + " x"
    made = make(words, (tiny, math.inf), model=ODD, method=ODD, labels=(ODD, "pos"), notes={ODD: [1, None, "x"]})
    store.put(explanations=[("k", made)])
    found = store.explanation("k")
    assert found is not None
    assert_same(found, made)
    assert store.explanation("other") is None
    assert [e.content for e in store.examples()] == [made.example.content]


def test_records_keep_nan_infinity_none_and_odd_text(store: Store) -> None:
    rows = [
        number(values={"a": math.nan, "b": -math.inf, ODD: 1e-320}, detail={"curve": np.array([0.1, math.nan])}),
        number(values=None, reason=ODD, method=ODD, other=ODD, replicate="\x00json:trap"),
        number(values={}),
    ]
    store.put(records=[(str(i), r) for i, r in enumerate(rows)])
    first, second, third = store.records()
    assert first.values is not None
    assert first.detail is not None
    assert math.isnan(first.values["a"])
    assert (first.values["b"], first.values[ODD]) == (-math.inf, 1e-320)
    assert first.detail["curve"][0] == 0.1
    assert math.isnan(first.detail["curve"][1])
    assert second == rows[1]
    assert third == rows[2]
    assert store.counts() == {"examples": 0, "explanations": 0, "records": 3, "failures": 1}


anything = st.text(st.characters(exclude_categories=()))  # lone surrogates too


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(anything, st.floats(), max_size=4), anything, anything)
def test_any_record_survives(values: dict[str, float], reason: str, method: str) -> None:
    made = Record("t", "e", method, values=values, reason=reason)
    with tempfile.TemporaryDirectory() as folder, Store.create(folder) as store:
        store.put(records=[("k", made)])
        (found,) = store.records(method=method)
        assert repr(found) == repr(made)  # repr: NaN equals itself there


def test_meta_and_filters(store: Store) -> None:
    store.set_meta("plan", {"seed": 1, "nan": math.nan})
    store.set_meta("plan", {"seed": 2})
    assert store.get_meta("plan") == {"seed": 2}
    assert store.get_meta("absent", 5) == 5
    store.put(records=[("1", number(method="a")), ("2", number(method="b"))], model="m1")
    store.put(records=[("3", number(method="a"))], explanations=[("4", make())], model="m2")
    assert [r.method for r in store.records(method="a", model="m2")] == ["a"]
    assert len(list(store.records("deletion"))) == 3
    assert list(store.records("other")) == []
    assert [f.key for f in store.filed_records(keys=["3", "1", "nowhere"])] == ["1", "3"]
    assert len(list(store.explanations("m2"))) == 1
    assert list(store.explanations("m1")) == []
    assert store.has(["1", "4", "5", *map(str, range(100, 1300))]) == {"1", "4"}


def test_keys_tell_models_rules_and_tests_apart() -> None:
    base = ("model", "example", "own|word|", "lime@1(seed=0)")
    parts = ("model_fp", "example_content", "target_rule", "method_key")
    plain = dict(zip(parts, base, strict=True))
    variants = [plain, *({**plain, p: plain[p] + "x"} for p in parts)]
    keys = {explanation_key(**v) for v in variants}
    keys |= {record_key(**v, test_key="deletion@1()") for v in variants}
    keys |= {record_key(*base, "deletion@1()", "other"), record_key(*base, "deletion@1()", "", "other")}
    assert len(keys) == 12


def test_a_second_model_never_reads_the_first_ones_answers(store: Store) -> None:
    mine, theirs = (explanation_key(fp, make().example.content, "own", "lime@1()") for fp in ("aa", "bb"))
    store.put(explanations=[(mine, make())])
    assert store.has([mine, theirs]) == {mine}
    assert store.explanation(theirs) is None


# -------------------------------------------------------------------------- one transaction, same key again


def test_the_same_again_is_ignored_and_rounding_is_the_same(store: Store) -> None:
    for shift in (0.0, 1e-7):
        store.put([("k", make(scores=(1.0 + shift, -2.0), cost=Cost(9)))], [("r", number(0.5 + shift))])
    store.put(records=[("r", number(values=None, reason="out of memory"))])
    assert next(store.records()).values == {"area": 0.5}
    assert store.counts()["explanations"] == 1


def test_a_failure_gives_way_to_numbers(store: Store) -> None:
    store.put(records=[("r", number(values=None, reason="out of memory"))])
    store.put(records=[("r", number(0.25))])
    assert [r.values for r in store.records()] == [{"area": 0.25}]


def test_other_content_under_a_key_is_refused_and_the_whole_put_undone(store: Store) -> None:
    store.put([("k", make())], [("r", number(0.5))])
    for explanations, records in [
        ([("new", make()), ("k", make(scores=(1.0, 2.0)))], []),
        ([("new", make()), ("k", make("bad film"))], []),
        ([("new", make())], [("r", number(0.6))]),
        ([("new", make())], [("r", number(values={"else": 0.5}))]),
    ]:
        with pytest.raises(BadInput, match="stored with other"):
            store.put(explanations, records)
        assert store.has(["new", "k", "r"]) == {"k", "r"}
    with pytest.raises(TypeError, match="cannot be stored"):
        store.put(records=[("x", number()), ("y", number(detail={"a": object()}))])
    assert store.has(["x", "y"]) == set()
    with pytest.raises(BadInput, match="stored with other"):
        store.put(records=[("x", number(0.1)), ("x", number(0.2))])
    store.put([("x", make()), ("x", make())])
    assert store.counts()["explanations"] == 2


# ----------------------------------------------------------------------------------------------- processes

WRITER = """
import sys
from assay.store import Store
from assay.types import Record
with Store.create(sys.argv[1]) as store:
    for i in range(10**6):
        made = [Record("t", str(i), values={"v": float(j)}, detail={"pad": "x" * 2000}) for j in range(10)]
        store.put(records=[(f"{i}-{j}", r) for j, r in enumerate(made)])
        print(i, flush=True)
"""


def started(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)


def killed_after(folder: Path, rounds: int) -> int:
    """Kill -9 a writer that has said ``rounds`` times that it committed; returns the last round it said."""
    with started(folder) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(rounds)]
        time.sleep(0.003 * (rounds % 5))  # somewhere inside the next transaction
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read().splitlines()
    return max(int(s) for s in said if s.strip())


@pytest.mark.parametrize("rounds", [1, 7, 33])
def test_kill_9_loses_at_most_the_transaction_in_flight(tmp_path: Path, rounds: int) -> None:
    last = killed_after(tmp_path, rounds)
    with Store.open(tmp_path, write=True) as store:  # the dead writer's lock is taken over
        assert store.check() == ()
        found = [r.example for r in store.records()]
        complete = set(found)
        assert all(found.count(e) == 10 for e in complete)
        assert set(map(str, range(last + 1))) <= complete
        assert len(complete) <= last + 2
        store.put(records=[("after", number())])
        assert store.has(["after"]) == {"after"}


def test_a_second_writer_is_turned_away_and_readers_are_not(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            with pytest.raises(StoreBusy, match=f"process {process.pid} on ") as error:
                Store.open(tmp_path, write=True)
            assert "\n" not in str(error.value)
            with Store.open(tmp_path) as reader:
                assert reader.counts()["records"] >= 10
                with pytest.raises(BadInput, match="open for reading"):
                    reader.put(records=[("k", number())])
        finally:
            process.kill()


def test_a_second_writer_in_the_same_process_too(store: Store) -> None:
    with pytest.raises(StoreBusy, match=str(os.getpid())):
        Store.open(store.path.parent, write=True)
    store.close()
    Store.open(store.path.parent, write=True).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    """A worker that outlives its killed driver must not keep the next driver out."""
    script = """
import os, sys, time
from assay.store import Store
store = Store.create(sys.argv[1])
if os.fork() == 0:
    os.close(1)
    time.sleep(5)
    os._exit(0)
print("ready", flush=True)
time.sleep(5)
"""
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.2)
        process.kill()
        process.wait()
        with Store.open(tmp_path, write=True) as store:
            assert store.check() == ()


# ------------------------------------------------------------------------------------- damaged, full, read-only


def test_what_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no run"):
        Store.open(tmp_path)
    path = tmp_path / FILE
    path.write_bytes(b"PK\x03\x04 surely no database" * 100)
    for write in (False, True):
        with pytest.raises(StoreDamaged, match="not a store of Assay; nothing was changed"):
            Store.open(tmp_path, write=write)
    assert path.read_bytes().startswith(b"PK")
    path.unlink()
    with sqlite3.connect(path) as foreign:
        foreign.execute("CREATE TABLE addresses (name TEXT)")
    foreign.close()
    with pytest.raises(StoreDamaged, match="not a store"):
        Store.open(tmp_path, write=True)
    with pytest.raises(BadInput, match="already holds"):
        Store.create(tmp_path)


def test_a_truncated_file_is_named_as_damaged(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        store.put(records=[(str(i), number(float(i), detail={"pad": "x" * 500})) for i in range(300)])
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(StoreDamaged, match="damaged") as error, Store.open(tmp_path) as store:
        list(store.records())
    assert "\n" not in str(error.value)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(StoreDamaged):
        Store.open(tmp_path, write=True)


def test_check_finds_scores_that_do_not_fit(store: Store) -> None:
    store.put([("k", make())])
    assert store.check() == ()
    store._db.execute("UPDATE explanations SET scores = zeroblob(8)")
    assert store.check() == ("explanation k has not one score per feature",)


def test_a_full_disk_keeps_what_was_there(store: Store) -> None:
    store.put(records=[("before", number())])
    store._db.execute(f"PRAGMA max_page_count = {store._db.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(StoreFull, match="all earlier results are safe") as error:
        store.put(records=[(str(i), number(detail={"pad": "x" * 3000})) for i in range(50)])
    assert "\n" not in str(error.value)
    assert store.counts()["records"] == 1
    store._db.execute("PRAGMA max_page_count = 1000000")
    store.put(records=[("after", number())])
    assert store.has(["before", "after"]) == {"before", "after"}


@contextmanager
def nobody() -> Iterator[None]:
    """Root may write anywhere: become somebody who may not."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no write bit on this system")
def test_a_folder_nobody_may_write_to_can_be_read() -> None:
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "run"
        with Store.create(folder) as store:
            store.put(records=[("k", number())])
        Path(top).chmod(0o755)
        folder.chmod(0o555)
        (folder / FILE).chmod(0o444)
        (folder / "store.lock").chmod(0o444)
        try:
            with nobody():
                with Store.open(folder) as store:
                    assert store.has(["k"]) == {"k"}
                refusals: list[Callable[[], Store]] = [
                    lambda: Store.open(folder, write=True),
                    lambda: Store.create(folder / "new"),
                ]
                for refused in refusals:
                    with pytest.raises(BadInput, match="Permission denied") as error:
                        refused()
                    assert "\n" not in str(error.value)
        finally:
            folder.chmod(0o755)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(BadInput, match="cannot make"):
        Store.create(tmp_path / "run")


def test_create_refuses_a_run_and_mends_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"")  # killed before the tables were there
    assert not Store.exists(tmp_path)
    Store.create(tmp_path).close()
    with pytest.raises(BadInput, match="already holds a run"):
        Store.create(tmp_path)


# ------------------------------------------------------------------------------------------------ versions


def test_old_stores_are_migrated_and_newer_ones_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.create(tmp_path) as store:
        store.put(records=[("k", number())])
    with monkeypatch.context() as later:
        step = ("ALTER TABLE meta ADD COLUMN note TEXT DEFAULT ''", "CREATE INDEX later ON records (example)")
        later.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
        with pytest.raises(BadInput, match="open it once for writing"):
            Store.open(tmp_path)
        with Store.open(tmp_path, write=True) as store:
            assert store.has(["k"]) == {"k"}
        with Store.open(tmp_path) as store:
            assert store._db.execute("SELECT count(note) FROM meta").fetchone() == (0,)
    for write in (False, True):
        with pytest.raises(BadInput, match=r"newer Assay \(store version 2, this one knows 1\)"):
            Store.open(tmp_path, write=write)


def test_a_broken_migration_leaves_the_old_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store.create(tmp_path).close()
    with monkeypatch.context() as later:
        step = ("CREATE TABLE half (a)", "CREATE TABLE half (a)")
        later.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
        with pytest.raises(AssayError):
            Store.open(tmp_path, write=True)
    with Store.open(tmp_path, write=True) as store:
        tables = [n for (n,) in store._db.execute("SELECT name FROM sqlite_master")]
    assert "records" in tables
    assert "half" not in tables


# -------------------------------------------------------------------------------------------------- export

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1+1"]


def filled(store: Store) -> Store:
    rows = [number(math.nan), number(values=None, reason="=HYPERLINK(1)"), number(-1.5, example="-7"), number(math.inf)]
    rows += [number(method=f) for f in FORMULAS] + [number(method="\ud800")]
    store.put([("e", make("=good -3"))], [(str(i), r) for i, r in enumerate(rows)], model="toy")
    return store


def test_csv_cells_cannot_run(store: Store, tmp_path: Path) -> None:
    numbers, words = export(filled(store), tmp_path / "out.csv")
    with numbers.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [r["method"] for r in rows[4:-1]] == ["'" + f for f in FORMULAS]
    assert rows[-1]["method"] == "\\ud800"
    assert (rows[1]["reason"], rows[1]["value"]) == ("'=HYPERLINK(1)", "nan")
    assert (rows[2]["example"], float(rows[2]["value"])) == ("-7", -1.5)
    assert rows[3]["value"] == "inf"
    with words.open(encoding="utf-8", newline="") as file:
        found = [(r["word"], r["score"]) for r in csv.DictReader(file)]
    assert found == [("[CLS]", "nan"), ("'=good", "1.0"), ("-3", "-2.0")]


def test_json_is_strict_json(store: Store, tmp_path: Path) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    (one,) = export(filled(store), tmp_path / "out.json")
    (two,) = export(store, tmp_path / "out.jsonl")
    whole = json.loads(one.read_text(), parse_constant=refuse)
    assert whole == [json.loads(line, parse_constant=refuse) for line in two.read_text().splitlines()]
    assert [o["values"] for o in whole[:4]] == [{"area": None}, None, {"area": -1.5}, {"area": "Infinity"}]
    assert whole[-1]["scores"] == [None, 1.0, -2.0]
    assert whole[-1]["words"] == ["[CLS]", "=good", "-3"]


def test_parquet_and_pandas_hold_the_same(store: Store, tmp_path: Path) -> None:
    import pandas

    numbers, words = export(filled(store), tmp_path / "out.parquet")
    table = pandas.read_parquet(numbers)
    frame = to_pandas(store.records())
    pandas.testing.assert_frame_equal(table[list(frame.columns)], frame, check_dtype=False)
    assert frame["value"][2] == -1.5
    assert frame["reason"][1] == "=HYPERLINK(1)"
    assert pandas.read_parquet(words)["score"].tolist()[1:] == [1.0, -2.0]


def test_an_empty_store_exports_headers(store: Store, tmp_path: Path) -> None:
    numbers, words = export(store, tmp_path / "out.csv")
    assert numbers.read_text().startswith("key,model,test")
    assert words.read_text().startswith("key,model,example")
    assert json.loads(export(store, tmp_path / "out.json")[0].read_text()) == []


def test_export_says_what_it_cannot(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"\.json, \.jsonl, \.csv, \.parquet"):
        export(store, tmp_path / "out.xlsx")
    with pytest.raises(AssayError, match="the run itself is safe"):
        export(store, tmp_path / "nowhere" / "out.csv")
    assert list(tmp_path.glob(".*part")) == []
