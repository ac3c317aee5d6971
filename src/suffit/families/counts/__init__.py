"""Counts that are shares of a whole: categories, bins, words."""
