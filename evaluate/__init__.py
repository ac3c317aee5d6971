"""The evaluation on real tables: ``scripts/evaluate``."""
