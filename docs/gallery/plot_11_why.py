"""
Why this class?
===============

What each column adds to the log-odds of one flower. The bars add up to the total, exactly.
"""

from sklearn.datasets import load_iris

from suffit import LDA

iris = load_iris(as_frame=True)
X, y = iris.data.rename(columns=lambda c: c.removesuffix(" (cm)")), iris.target_names[iris.target]
model = LDA().fit(X, y)
model.explain(X, ("virginica", "versicolor")).plot(133)

# %%
# The whole model on a sheet of paper: read the points of every column, add them up, and find the probability.

model.nomogram(X[y != "setosa"], ("virginica", "versicolor"))
