"""The only home of uncertainty: estimates with intervals, correlations with reasons, tests of differences.

Every draw comes from a Generator made of an explicit seed, so the same records give the same report.
"""

from assay.stats.correlation import Correlation, kendall, pearson, spearman
from assay.stats.distance import jsd, tvd
from assay.stats.estimates import bootstrap, mean, paired, proportion
from assay.stats.significance import holm, sign_flip_test

__all__ = [
    "Correlation",
    "bootstrap",
    "holm",
    "jsd",
    "kendall",
    "mean",
    "paired",
    "pearson",
    "proportion",
    "sign_flip_test",
    "spearman",
    "tvd",
]
