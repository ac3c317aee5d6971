"""The model file: a fitted model as sums and settings, in a format that cannot run code."""
