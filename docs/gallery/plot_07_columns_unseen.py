"""
Two columns of four
===================

A generative model can leave columns away: the others are integrated out, exactly. On the left only the petals of the
iris are known, on the right only the sepals; one fit serves both.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from suffit import QDA, figures

iris = load_iris(as_frame=True)
X, y = iris.data.rename(columns=lambda c: c.removesuffix(" (cm)")), iris.target_names[iris.target]
model = QDA().fit(X, y)
figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 9), layout="constrained")
figures.boundary(model, X, y, ["petal length", "petal width"], top)
figures.boundary(model, X, y, ["sepal length", "sepal width"], bottom)
