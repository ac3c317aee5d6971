"""
A line or a curve
=================

One covariance for all classes gives a linear boundary, one for each a quadratic one. Here the classes do differ in
their covariances.
"""

import matplotlib.pyplot as plt

from suffit import LDA, QDA, figures, simulate

truth = simulate("own covariances", separation=1.5)
X, y = truth.sample(300, random_state=0)
figure, axes = plt.subplots(2, 1, figsize=(6.5, 8), layout="constrained")
for model, ax in zip((LDA(), QDA()), axes, strict=True):
    figures.boundary(model.fit(X, y), X, y, ax=ax)
    ax.set_title(f"{type(model).__name__}: error {truth.error(model):.3f}, at best {truth.bayes_error:.3f}")
