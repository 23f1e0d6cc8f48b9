"""Tests of explanations: named numbers that say how far a heatmap can be trusted. One file per test."""
