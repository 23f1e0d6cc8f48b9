"""Docs are made from the registry and say what the program says."""

import importlib.util
from pathlib import Path

from assay import registry

ROOT = Path(__file__).parents[1]


def builder():
    spec = importlib.util.spec_from_file_location("docs_make", ROOT / "docs" / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_entry_has_a_page_with_its_paper_and_settings(tmp_path):
    builder().build(tmp_path)
    for entry in registry.entries():
        page = (tmp_path / entry.kind / f"{entry.name}.md").read_text(encoding="utf-8")
        assert entry.summary[:40] in page.replace("\n", " ")
        for name in registry.parameters(entry.load()):
            assert f"`{name}`" in page
        if entry.kind in ("methods", "tests"):
            assert entry.facts.get("paper"), entry.name
            assert entry.facts["paper"] in page


def test_commands_page_has_every_command(tmp_path):
    builder().build(tmp_path)
    page = (tmp_path / "commands.md").read_text(encoding="utf-8")
    for name in ("audit", "explain", "train classifier", "report", "check", "run", "list", "show"):
        assert f"## assay {name}" in page


def test_readme_shows_both_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_public_names_are_exactly_all():
    import assay

    for name in assay.__all__:
        assert getattr(assay, name) is not None
