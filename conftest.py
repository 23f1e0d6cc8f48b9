"""Settings for every test: no hub, one cache of built-in models, real data where it is present."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same cases in every run, and no clock: a loaded machine is no failure.
settings.register_profile("assay", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("assay")

ROOT = Path(__file__).parent
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("ASSAY_CACHE", str(ROOT / ".cache" / "assay"))


@pytest.fixture
def real_data() -> Path:
    """Folder of real data sets, or a skip that says what is missing."""
    folder = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data sets: {folder} is absent (set ASSAY_DATA)")
    return folder
