"""Builds the reference: one page per method, test, operator, data set, model family and change, from their source.

    python docs/make.py [FOLDER]      (default: docs/build)

Nothing here is kept by hand: a new file in a room, or a plugin, has its page the next time this runs.
"""

import sys
from pathlib import Path

import click

from assay import registry
from assay.cli import cli


def page(entry: registry.Entry) -> str:
    """One entry as Markdown: what it says of itself, its settings, what it declares."""
    lines = [f"# {entry.name}", "", f"*{entry.kind}, version {entry.version}, `{entry.module}`*", "", entry.doc, ""]
    settings = registry.parameters(entry.load())
    if settings:
        lines += ["| setting | default | may be |", "|---|---|---|"]
        for p in settings.values():
            may = ", ".join(f"`{c}`" for c in p.choices) or (f"one of the {p.names}" if p.names else "")
            lines.append(f"| `{p.name}` | {'required' if p.required else f'`{p.default}`'} | {may} |")
        lines.append("")
    for name, value in sorted(entry.facts.items()):
        if value not in ("", None, False, (), set(), (None, None)):
            shown = ", ".join(sorted(value)) if isinstance(value, set | frozenset) else value
            lines.append(f"* {name}: {shown}")
    return "\n".join(lines) + "\n"


def commands() -> str:
    """The help of every command, as the program prints it."""
    parts = ["# Commands", ""]
    todo = [("assay", cli)]
    while todo:
        name, command = todo.pop(0)
        with click.Context(command, info_name=name) as context:
            parts += [f"## {name}", "", "```text", command.get_help(context), "```", ""]
        todo += [(f"{name} {n}", c) for n, c in getattr(command, "commands", {}).items()]
    return "\n".join(parts)


def build(folder: Path) -> list[Path]:
    """Write all pages and an index; returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [folder / "commands.md"]
    made[0].write_text(commands(), encoding="utf-8")
    index = ["# Reference", "", "* [Commands](commands.md)", ""]
    for kind in registry.ROOMS:
        found = registry.entries(kind)
        if found:
            index += [f"## {kind}", ""]
        for entry in found:
            path = folder / kind / f"{entry.name}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(page(entry), encoding="utf-8")
            index.append(f"* [{entry.name}]({kind}/{entry.name}.md): {entry.summary}")
            made.append(path)
        index.append("")
    made.append(folder / "index.md")
    made[-1].write_text("\n".join(index), encoding="utf-8")
    return made


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "build"
    print(f"{len(build(target))} pages in {target}")
