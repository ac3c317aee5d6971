"""
One column, two classes
=======================

The density of each class times its prior, and over them the posterior: where both classes are normal with the same
variance it is the logistic function.
"""

from suffit import LDA, figures, simulate

X, y = simulate("gaussian", separation=2.5, columns=1).sample(300, random_state=0)
model = LDA().fit(X, y)
figures.densities(model, X, row=7)

# %%
# With variances of their own the log-odds are quadratic: the wider class wins on both sides.

from suffit import QDA

X, y = simulate("own covariances", separation=1.0, columns=1).sample(300, random_state=0)
figures.densities(QDA().fit(X, y), X)
