"""Generative against discriminative: simulated data with a known answer, and models side by side on real data."""
