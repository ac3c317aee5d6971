"""
Probabilities that mean what they say
=====================================

Naive Bayes counts shared evidence twice and is too sure. A temperature, fitted on leave-one-out scores, mends it.
"""

from sklearn.datasets import load_breast_cancer

from suffit import GaussianNB
from suffit.explain.plots import plot_calibration

X, y = load_breast_cancer(return_X_y=True)
model = GaussianNB(calibrate="temperature").fit(X, y)
plot_calibration(model.calibration_)

# %%

model.calibration_
