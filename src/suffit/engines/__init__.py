"""Fits over rows that are not in memory as one table: in parts, from record batches, in databases and on clusters.

Every engine does the same three things: it takes a sample of all rows (``sample.RowSample``), chooses from it what a
fit chooses from values (``parts.plan``), and adds up the sums of the parts (``parts.collect``, ``parts.total``).
"""
