"""Fewer rows than columns: counts by row instead of p × p moments, and covariances of low rank."""
