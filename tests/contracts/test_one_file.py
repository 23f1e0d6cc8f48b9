"""One new file, and nothing else touched: it is listed, bound, run and put through the contracts; also as a plugin."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import assay
from assay.registry import ROOMS

METHOD = '''"""Knows how to score a word by its fall, twice."""

from assay.ask import Scores, all_then_each_left_out, score
from assay.registry import method
from assay.types import Input, Output, Removal, Target


@method("twice-the-fall", family="removal", paper="Somebody 2026, A method of one file")
def twice(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Scores:
    """Twice the fall of the score without the word.

    a_i = 2 (f(x) - f(x without i)). High: the word supports the target.
    """
    f = yield from score(x, target, output, all_then_each_left_out(x), removal)
    return 2 * (f[0] - f[1:])
'''

PROOF = """
import json, sys
import assay
from assay.engine import Engine
from assay.registry import bind, entries, find
from assay.testing import check
from assay.testing.toys import Toy
from assay.types import Example, Target

entry = find("methods", "twice-the-fall")
imported = sorted(m for m in ("torch", entry.module) if m in sys.modules)
toy = Toy({"good": 2.0, "dull": -1.0})
x = toy.read(Example("1", {"text": "good but dull"}))
bound = bind("methods", "twice-the-fall(output=logit)")
scores = Engine(toy).ask(bound(x, Target((1,)))).tolist()
results = check(entry)
print(json.dumps({
    "home": assay.__file__, "listed": [e.name for e in entries("methods")], "module": entry.module,
    "plugin": entry.plugin, "imported": imported, "key": bound.key, "scores": scores,
    "broken": [str(r) for r in results if not r.ok], "contracts": len(results),
}))
"""


def prove(*paths: Path) -> dict:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", PROOF], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_works(found: dict) -> None:
    assert "twice-the-fall" in found["listed"]
    assert "random" in found["listed"]
    assert found["imported"] == [], "listing must import neither torch nor the new module"
    assert found["key"] == "twice-the-fall@1(output='logit', removal=delete@1())"
    assert found["scores"] == pytest.approx([4.0, 0.0, -2.0])
    assert found["broken"] == []
    assert found["contracts"] >= 18


def test_a_file_in_the_room(tmp_path: Path) -> None:
    shutil.copytree(Path(assay.__file__).parent, tmp_path / "assay", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "assay" / ROOMS["methods"] / "twice_the_fall.py").write_text(METHOD, encoding="utf-8")
    found = prove(tmp_path)
    assert Path(found["home"]).is_relative_to(tmp_path)
    assert (found["module"], found["plugin"]) == (f"assay.{ROOMS['methods']}.twice_the_fall", "")
    assert_works(found)


def distribution(folder: Path, module: str) -> Path:
    """A package as pip would leave it, with one entry point."""
    package, info = folder / "their_package", folder / "their_package-1.0.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('listing must not import a plugin')\n", encoding="utf-8")
    (package / "mine.py").write_text(METHOD, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[assay]\ntheirs = {module}\n", encoding="utf-8")
    return folder


def test_a_plugin_in_another_package(tmp_path: Path) -> None:
    folder = distribution(tmp_path, "their_package.mine")
    code = "from assay.registry import find; e = find('methods', 'twice-the-fall'); print(e.plugin, e.module)"
    env = {**os.environ, "PYTHONPATH": str(folder)}
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert listed.stdout.split() == ["theirs", "their_package.mine"], listed.stderr
    (folder / "their_package" / "__init__.py").write_text("", encoding="utf-8")
    found = prove(folder)
    assert (found["module"], found["plugin"]) == ("their_package.mine", "theirs")
    assert_works(found)


def test_a_plugin_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = distribution(tmp_path, "gone.away")
    code = "from assay.registry import entries; entries('methods')"
    env = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert "plugin 'theirs' names the module gone.away, which is not installed" in done.stderr


def test_a_file_under_development_can_be_checked(tmp_path: Path) -> None:
    """Not listed anywhere yet: by its path, and wrong on purpose."""
    path = tmp_path / "in_progress_method.py"
    path.write_text(METHOD.replace("2 * (f[0] - f[1:])", "2 * (f[1:] - f[0])"), encoding="utf-8")
    code = f"from assay.testing import check; print(*[r.contract for r in check({str(path)!r}) if not r.ok])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert {"sign", "weights"} <= set(done.stdout.split()), done.stderr
    assert "no-hidden-scale" not in done.stdout
