"""Gaussian columns, every row under the sums of all the others."""
