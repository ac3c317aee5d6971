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

from .classes import class_ellipses, covariances, projection
from .comparisons import learning_curves, robustness, scores
from .gaussian import gaussian_contours, gaussian_surface
from .models import boundary, densities
from .nomograms import nomogram
from .predictions import calibration, confusion, reliability, roc
from .settings import selection
from .terms import waterfall
from .trees import tree

__all__ = [
    "boundary",
    "calibration",
    "class_ellipses",
    "confusion",
    "covariances",
    "densities",
    "gaussian_contours",
    "gaussian_surface",
    "learning_curves",
    "nomogram",
    "projection",
    "reliability",
    "robustness",
    "roc",
    "scores",
    "selection",
    "tree",
    "waterfall",
]
