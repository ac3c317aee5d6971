"""
Counts are not normal
=====================

Poisson counts of two classes. Their posterior is logistic in the count; a Gaussian model of the same counts, with a
variance for each class, bends it back on the left.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffit import GDA, PoissonNB, figures

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 2000)
X = {"calls": rng.poisson(np.where(y == 1, 9.0, 3.0))}
classes = np.where(y == 1, "busy", "quiet")
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
figures.densities(PoissonNB().fit(np.c_[X["calls"]], classes), np.c_[X["calls"]], ax=left)
figures.densities(GDA().fit(np.c_[X["calls"]], classes), np.c_[X["calls"]], ax=right)
left.set_xlabel("calls: PoissonNB")
right.set_xlabel("calls: GDA")
