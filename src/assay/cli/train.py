"""assay train: a classifier from labelled data, as an ordinary model folder."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from assay.cli import options, progress


@click.group()
def train() -> None:
    """Train a model that the other commands take."""


@train.command()
@click.argument("data", default="builtin")
@click.option("--model", default="attention-rnn", show_default=True,
              help="attention-rnn (small, from scratch), builtin:minilm, or an encoder (folder, hub id).")  # fmt: skip
@click.option("--out", type=click.Path(file_okay=False), required=True, help="Folder of the trained model.")
@click.option("--dev", help="Split that chooses the epoch (default: dev, else a tenth of the training data).")
@click.option("--epochs", type=click.IntRange(min=1), help="Passes over the data (default: the family's own).")
@click.option("--encoder", type=click.Choice(["bilstm", "cnn", "average"]), default="bilstm", help="Of attention-rnn.")
@click.option("--attention", type=click.Choice(["additive", "dot", "uniform"]), default="additive", help="Likewise.")
@options.reading
@options.limit(None)
@options.seed
@options.as_json
@options.quiet
def classifier(data: str, model: str, out: str, dev: str | None, epochs: int | None, encoder: str, attention: str,
               split: str | None, columns: tuple[str, ...], labels: str | None, limit: int | None, seed: int,
               as_json: bool, quiet: bool) -> None:  # fmt: skip
    """Train a classifier on DATA (its train split unless --split says otherwise)."""
    from assay import api

    with progress.share_bar("training", quiet or as_json) as tell:
        made = api.train(data, model=model, out=out, split=split or "train", dev=dev, columns=options.mapping(columns),
                         labels=options.names(labels), limit=limit, seed=seed, epochs=epochs, encoder=encoder,
                         attention=attention, progress=tell)  # fmt: skip
    _told(asdict(made), as_json, "accuracy")


@train.command()
@click.argument("data", default="builtin")
@click.option(
    "--model",
    "encoder",
    default="",
    help="Encoder to adapt: builtin:minilm, a folder, a hub id (default: small, from scratch).",
)
@click.option("--out", type=click.Path(file_okay=False), required=True, help="Folder of the trained model.")
@click.option("--dev", help="Split that is held out (default: dev, else a tenth of the training data).")
@click.option("--epochs", type=click.IntRange(min=1), help="Passes over the data.")
@options.reading
@options.limit(None)
@options.seed
@options.as_json
@options.quiet
def mlm(data: str, encoder: str, out: str, dev: str | None, epochs: int | None, split: str | None,
        columns: tuple[str, ...], labels: str | None, limit: int | None, seed: int, as_json: bool,
        quiet: bool) -> None:  # fmt: skip
    """Train a masked language model on DATA's texts: what the mlm operators fill gaps with."""
    from assay import api

    with progress.share_bar("training", quiet or as_json) as tell:
        made = api.train_lm(
            data,
            encoder=encoder,
            out=out,
            split=split or "train",
            dev=dev,
            columns=options.mapping(columns),
            limit=limit,
            seed=seed,
            epochs=epochs,
            progress=tell,
        )
    _told(asdict(made), as_json, "top1")


def _told(row: dict[str, Any], as_json: bool, figure: str) -> None:
    if as_json:
        click.echo(json.dumps(row, default=str))
    else:
        click.echo(f"{row['folder']}: {figure} {row[figure]:.3f} on held-out data, {row['seconds']:.0f} s")
