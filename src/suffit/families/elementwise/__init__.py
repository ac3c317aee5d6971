"""Independent columns: a family says T(x) and solve(n, t), and the shape does the rest."""

from .shape import Elementwise, Natural

__all__ = ["Elementwise", "Natural"]
