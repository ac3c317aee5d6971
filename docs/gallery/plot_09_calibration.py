"""
Probabilities that mean what they say
=====================================

Naive Bayes counts shared evidence twice and is too sure. A temperature, fitted on leave-one-out scores, mends it.
"""

from sklearn.datasets import load_breast_cancer

from suffit import GaussianNB, figures

X, y = load_breast_cancer(return_X_y=True)
model = GaussianNB(calibrate="temperature").fit(X, y)
figures.calibration(model)

# %%

model.calibration_
