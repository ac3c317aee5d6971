"""Texts: how they are read, cut into tokens, and counted."""
