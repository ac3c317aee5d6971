"""Outliers: rows whose features say nothing about their class, at a rate ε."""

from __future__ import annotations

from scipy.special import softmax

from ..data.arrays import Array


def with_outliers(P: Array, log_prior: Array, outlier_rate: float) -> Array:
    """p(c | x) of rows of which a share is outliers, whose class is all but unknown."""
    return (1 - outlier_rate) * P + outlier_rate * softmax(log_prior, axis=-1) if outlier_rate else P
