"""
Which errors, and how many of each
==================================

Confusions of held-out rows, and the trade between finding a class and raising false alarms.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from suffit import LDA, QDA, GaussianNB, figures

cancer = load_breast_cancer()
X, y = cancer.data, cancer.target_names[cancer.target]
learn, test = slice(None, None, 2), slice(1, None, 2)
models = {"LDA": LDA(), "QDA": QDA(), "naive Bayes": GaussianNB()}
probabilities = {name: model.fit(X[learn], y[learn]).predict_proba(X[test]) for name, model in models.items()}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
figures.confusion(y[test], models["LDA"].predict(X[test]), ax=left).set_title("LDA")
figures.roc(y[test], probabilities, ax=right)
