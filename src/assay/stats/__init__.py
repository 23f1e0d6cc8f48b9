"""The only home of uncertainty: estimates with intervals, correlations with reasons, tests of differences.

Every draw comes from a Generator made of an explicit seed, so the same records give the same report.
"""

from assay.stats.correlation import Correlation, kendall, pearson, spearman
from assay.stats.distance import jsd, tvd
from assay.stats.estimates import bootstrap, mean, paired, proportion
from assay.stats.significance import holm, sign_flip_test
from assay.stats.summaries import auc, f1_of_means, summary

__all__ = [
    "Correlation",
    "auc",
    "bootstrap",
    "f1_of_means",
    "holm",
    "jsd",
    "kendall",
    "mean",
    "paired",
    "pearson",
    "proportion",
    "sign_flip_test",
    "spearman",
    "summary",
    "tvd",
]
