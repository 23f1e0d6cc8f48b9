"""Knows the shell of every page: one file, no network, and only its own style and script may act."""

from __future__ import annotations

import base64
import functools
import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from assay import heat


@dataclass(frozen=True, slots=True)
class Page:
    """What a page is made of; files stand beside this one."""

    template: str
    sheets: tuple[str, ...]
    scripts: tuple[str, ...]
    """One scope, in this order: a later file may call an earlier one."""
    steps: str = ""
    """Further style, made by arithmetic: the steps of a colour, say."""

    def render(self, **shown: Any) -> str:
        """The page as text. What is shown is escaped, and a lone surrogate, which no file can hold, becomes '?'."""
        style, script = _style(self.sheets, self.steps), _script(self.scripts)
        whole = {"style": Markup(style), "script": Markup(script), "policy": policy(style, script)}
        page = _template(self.template).render(**whole, **shown)
        return page.encode("utf-8", "replace").decode("utf-8")


def policy(style: str, script: str) -> str:
    """Content security policy: nothing is loaded, and only this very style and script may act."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _read(name: str) -> str:
    return (resources.files("assay.report") / name).read_text(encoding="utf-8").replace("\r\n", "\n")


@functools.cache
def _style(sheets: tuple[str, ...], steps: str) -> str:
    """The sheets, with the two colours of every heatmap in Assay."""
    hot, cold = (" ".join(map(str, c)) for c in (heat.SUPPORTS, heat.OPPOSES))
    return f":root{{--hot:{hot};--cold:{cold}}}\n{''.join(map(_read, sheets))}{steps}\n"


@functools.cache
def _script(files: tuple[str, ...]) -> str:
    return '(() => {\n"use strict";\n' + "\n".join(map(_read, files)) + "})();\n"


@functools.cache
def _template(name: str) -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_read(name))
