"""Figures of generative models, drawn with matplotlib (``pip install "suffit[plot]"``).

Every function takes ``ax=``, draws into it, and returns it; without one it makes its own.

Examples
--------
>>> import matplotlib; matplotlib.use("Agg")
>>> from suffit import LDA, figures, simulate
>>> X, y = simulate("gaussian").sample(100, random_state=0)
>>> figures.boundary(LDA().fit(X, y), X, y).get_xlabel()
'x0'
"""

from .gaussian import gaussian_contours, gaussian_surface
from .models import boundary, class_ellipses, densities, projection
from .scores import confusion, roc

__all__ = [
    "boundary",
    "class_ellipses",
    "confusion",
    "densities",
    "gaussian_contours",
    "gaussian_surface",
    "projection",
    "roc",
]
