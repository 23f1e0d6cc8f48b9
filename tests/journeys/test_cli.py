"""The command line as typed: output, exit codes, messages."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib

import pytest

ASSAY = [sys.executable, "-m", "assay"]


def assay(*args, **more):
    return subprocess.run([*ASSAY, *map(str, args)], capture_output=True, text=True, check=False, **more)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """One small audit through the command line."""
    folder = tmp_path_factory.mktemp("cli") / "run"
    done = assay("audit", "builtin:planted", "builtin:planted", "--limit", 6, "--methods", "leave-one-out,gradient",
                 "--tests", "deletion,agreement", "--out", folder)  # fmt: skip
    return folder, done


def test_audit_prints_a_table_and_the_report(demo):
    folder, done = demo
    assert done.returncode == 0, done.stderr
    assert "leave-one-out" in done.stdout
    assert "report:" in done.stdout
    assert (folder / "report.html").stat().st_size > 5000


@pytest.mark.parametrize("kind", ["json", "md"])
def test_report_goes_to_standard_output(demo, kind):
    done = assay("report", demo[0], "--format", kind)
    assert done.returncode == 0
    assert "leave-one-out" in done.stdout
    if kind == "json":
        assert json.loads(done.stdout)["verdicts"]


def test_audit_json_is_json_and_nothing_else(tmp_path):
    done = assay("audit", "builtin:planted", "builtin:planted", "--limit", 3, "--methods", "leave-one-out",
                 "--tests", "deletion", "--json", "--out", tmp_path / "r")  # fmt: skip
    assert json.loads(done.stdout)["verdicts"]
    assert done.stderr == ""


def test_dry_run_says_probes_tokens_minutes(tmp_path):
    done = assay("audit", "builtin:planted", "builtin:planted", "--limit", 50, "--dry-run", "--out", tmp_path / "r")
    assert done.returncode == 0
    assert all(word in done.stdout for word in ("probes", "tokens", "minutes"))
    assert not (tmp_path / "r").exists()


def test_explain_shows_every_method_and_says_what_does_not_apply():
    done = assay("explain", "a wonderful film", "--method", "all", "--model", "builtin")
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in ("gradient", "lime", "attention"))


def test_explain_json_and_html(tmp_path):
    done = assay("explain", "a wonderful <b>film</b>", "--method", "gradient", "--json", "--html", tmp_path / "e.html")
    read = json.loads(done.stdout)
    assert len(read["words"]) == len(read["methods"]["gradient"]["scores"])
    assert "<b>film" not in (tmp_path / "e.html").read_text(encoding="utf-8").split("for <i>")[1]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["audit", "builtin", "builtin", "--methods", "leave-one-uot"], "did you mean 'leave-one-out'"),
        (["audit", "builtin", "builtin", "--tests", "deletoin"], "did you mean 'deletion'"),
        (["audit", "builtin:reviws", "builtin"], "did you mean 'builtin:reviews'"),
        (["audit", "builtin", "builtin:reviws"], "reviews"),
        (["audit", "builtin", "no-such-file.csv"], "no-such-file.csv"),
        (["audit", "./no-model-here", "builtin"], "no model folder"),
        (["explain", "  "], "empty"),
        (["explain", "text", "--target", "postive"], "did you mean 'positive'"),
        (["explain", "text", "--target", "7"], "outside the model's 2 classes"),
        (["explain", "text", "--method", "leave-one-out(removal=dellete)"], "did you mean 'delete'"),
        (["explain", "text", "--method", "leave-one-out(output=logits)"], "did you mean"),
        (["explain", "text", "--method", "leave-one-out(samples=3)"], "has no setting 'samples'"),
        (["show", "limee"], "did you mean 'lime'"),
        (["list", "metods"], "did you mean 'methods'"),
        (["run", "missing.toml"], "missing.toml"),
        (["report", "no-run-here"], "no-run-here"),
        (["explain", "text", "--device", "cuda"], "cuda"),
    ],
)
def test_errors_are_one_clear_line(args, message, tmp_path):
    more = ["--out", tmp_path / "r"] if args[0] == "audit" else []
    done = assay(*args, *more)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.startswith("assay: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_a_page_that_cannot_be_written_is_one_clear_line(demo, tmp_path):
    nowhere = tmp_path / "no" / "page.html"
    explained = assay("explain", "good", "--model", "builtin:additive", "--method", "random", "--html", nowhere)
    for done in (explained, assay("report", demo[0], "--out", nowhere)):
        assert done.returncode == 1
        assert done.stderr.splitlines() == [
            f"assay: cannot write {nowhere}: No such file or directory; name a file in a folder you may write to"
        ]


PLAN = """
seed = 5
[data.few]
read = "builtin:planted"
limit = 2
[model.toy]
load = "builtin:additive"
[cases.one]
model = "toy"
data = "few"
methods = ["random"]
"""


@pytest.mark.parametrize(
    ("flags", "limit", "seed"), [([], 2, 5), (["--seed", "0"], 2, 0), (["--limit", "3", "--seed", "7"], 3, 7)]
)
def test_flags_of_run_replace_what_the_plan_says_and_only_then(tmp_path, flags, limit, seed):
    (tmp_path / "plan.toml").write_text(PLAN)
    done = assay("run", tmp_path / "plan.toml", "--out", tmp_path / "r", "--quiet", *flags)
    assert done.returncode == 0, done.stderr
    made = tomllib.loads((tmp_path / "r" / "plan.toml").read_text())
    assert (made["data"]["few"]["limit"], made["seed"]) == (limit, seed)


def test_control_c_says_what_is_safe_and_resumes(tmp_path):
    store = tmp_path / "r" / "store.sqlite"
    args = [
        *ASSAY,
        "audit",
        "builtin:planted",
        "builtin:planted",
        "--limit",
        "300",
        "--out",
        str(store.parent),
        "--quiet",
    ]
    with subprocess.Popen(args, stderr=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 240
            while time.monotonic() < deadline and _stored(store) < 3:
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            message = process.communicate(timeout=120)[1]
        finally:
            process.kill()
    assert process.returncode == 130
    assert "everything finished is stored" in message
    assert "Traceback" not in message
    assert 3 <= _stored(store) < 300


def _stored(store):
    import sqlite3

    if not store.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as link:
            return link.execute("select count(distinct example) from records").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.parametrize("args", [["--help"], ["list"], ["audit", "--help"]])
def test_help_and_list_import_no_torch(args):
    script = (
        "import sys\nfrom assay.cli import cli\n"
        f"cli({args!r}, standalone_mode=False)\n"
        "bad = {'torch', 'transformers', 'scipy', 'pandas'} & set(sys.modules)\n"
        "sys.exit(str(bad) if bad else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr


def test_every_command_and_option_has_help():
    from assay.cli import cli

    for name, command in cli.commands.items():
        assert command.help, name


def test_list_shows_every_entry():
    from assay import registry

    done = assay("list")
    for entry in registry.entries():
        if entry.kind != "answers":
            assert entry.name in done.stdout


def test_train_classifier_makes_a_folder_that_audit_takes(tmp_path):
    done = assay("train", "classifier", "builtin:planted", "--out", tmp_path / "m", "--epochs", 1, "--quiet")
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    again = assay("explain", "some words here", "--model", tmp_path / "m", "--method", "gradient", "--json")
    assert again.returncode == 0, again.stderr
