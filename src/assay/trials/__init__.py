"""Experiments that train: each makes models or data and gives records."""
