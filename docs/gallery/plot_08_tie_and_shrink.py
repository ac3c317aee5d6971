"""
Between LDA and QDA
===================

How far covariances should be shared, and shrunk, is chosen by leave-one-out: 70 settings, no refit.
"""

from sklearn.datasets import load_wine

from suffit import GDA, figures

X, y = load_wine(return_X_y=True)
Z = (X - X.mean(axis=0)) / X.std(axis=0)
model = GDA(tie="loo", shrinkage="loo").fit(Z, y)
figures.selection(model)
