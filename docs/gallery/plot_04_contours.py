"""
Normal densities of two columns
===============================

Contours hold the named shares of the probability. The diagonal of the covariance stretches, what is beside it turns.
"""

import matplotlib.pyplot as plt

from suffit import figures

figure, axes = plt.subplots(2, 2, figsize=(8, 7.5), layout="constrained")
figures.gaussian_contours(ax=axes[0, 0]).set_title("Σ = I")
figures.gaussian_contours(cov=[1.0, 0.3], ax=axes[0, 1]).set_title("Σ = diag(1, 0.3)")
figures.gaussian_contours(cov=[[1, 0.8], [0.8, 1]], ax=axes[1, 0]).set_title("Σ = [[1, .8], [.8, 1]]")
figures.gaussian_contours((-1, -1.5), [[1, -0.5], [-0.5, 1]], axes[1, 1]).set_title("Σ = [[1, −.5], [−.5, 1]]")

# %%
# The same as a surface:

figures.gaussian_surface(cov=[[1, 0.8], [0.8, 1]])
