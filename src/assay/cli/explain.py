"""assay explain: one text, one or all methods, as a coloured heatmap, HTML or JSON."""

from __future__ import annotations

import json

import click

from assay.cli import files, options
from assay.types import BadInput


@click.command()
@click.argument("texts", nargs=-1, required=True, metavar="TEXT | FIELD=TEXT...")
@click.option("--model", default="builtin", show_default=True, help="Which model.")
@click.option("--method", "methods", default="all", show_default=True, help="Methods, with commas between, or all.")
@click.option("--target", default="own", show_default=True, help="Class: name, index, or 'A rather than B'.")
@click.option("--unit", type=click.Choice(["word", "piece", "spacy"]), default="word", show_default=True)
@click.option("--html", "html_path", type=click.Path(dir_okay=False), help="Write the heatmaps to this file.")
@options.seed
@options.as_json
@click.option("--hold", multiple=True, metavar="FIELD", help="Never take words of this field away.")
@options.device
@options.dtype
@options.trust
def explain(texts: tuple[str, ...], model: str, methods: str, target: str, unit: str, html_path: str | None,
            seed: int, as_json: bool, hold: tuple[str, ...], device: str, dtype: str,
            trust_remote_code: bool) -> None:  # fmt: skip
    """Explain one TEXT; several fields are written FIELD=TEXT (premise='A man sleeps.' hypothesis='...')."""
    from assay import api

    found = api.explain(fields(texts), model=model, method=list(options.names(methods)), target=target, unit=unit,
                        seed=seed, hold=hold, device=device, dtype=dtype,
                        trust_remote_code=trust_remote_code)  # fmt: skip
    if html_path:
        page = f'<!doctype html><meta charset="utf-8"><title>assay explain</title>{found._repr_html_()}'
        files.write(html_path, page)
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1))
        return
    from rich.console import Console

    from assay.report.terminal import heatmaps

    Console().print(heatmaps(list(found.values())))
    for name, reason in found.gaps.items():
        click.echo(f"{name}: {reason}", err=True)
    if html_path:
        click.echo(f"written to {html_path}", err=True)


def fields(texts: tuple[str, ...]) -> str | dict[str, str]:
    """One plain text, or named fields when every argument is FIELD=TEXT."""
    if len(texts) == 1 and not texts[0].partition("=")[0].isidentifier():
        return texts[0]
    out = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        if not equals or not name.isidentifier():
            if len(texts) == 1:
                return texts[0]
            raise BadInput(f"several texts must each be FIELD=TEXT; '{text}' is not")
        out[name] = rest
    return out
