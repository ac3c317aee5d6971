"""Draw the figures of the documentation: ``scripts/figures``."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import suffit

HERE = Path(__file__).resolve().parent
BLUE, RED, GREY = "#2c6fbb", "#c44e52", "#555555"


def poisson_is_logistic() -> None:
    """E3: counts that are Poisson in both classes have an exactly logistic posterior, though nothing is Gaussian."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=200_000)
    X = rng.poisson(np.where(y == 1, 9.0, 3.0))[:, None]
    grid = np.arange(0, 21)[:, None]
    fits = {
        "Poisson naive Bayes": (suffit.PoissonNB(alpha=0).fit(X, y), {"color": "black", "lw": 2.4}),
        "logistic regression": (LogisticRegression(C=1e6).fit(X, y), {"color": "#e8a33d", "lw": 2, "ls": (0, (4, 3))}),
        "GDA, shared variance": (suffit.GDA(tie=1).fit(X, y), {"color": "#3a923a", "lw": 1.8}),
        "GDA, own variances": (suffit.GDA().fit(X, y), {"color": "#8755a8", "lw": 1.8}),
    }
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 6.4), sharex=True, height_ratios=[1, 1.6])
    for c, (colour, name, shift) in enumerate([(BLUE, "class 0, rate 3", -0.2), (RED, "class 1, rate 9", 0.2)]):
        share = np.bincount(X[y == c, 0], minlength=21)[:21] / (y == c).sum()
        top.bar(grid[:, 0] + shift, share, width=0.4, color=colour, alpha=0.75, label=name)
    top.set_ylabel("share of the class")
    top.legend(frameon=False)
    for name, (model, style) in fits.items():
        bottom.plot(grid[:, 0], model.predict_proba(grid)[:, 1], label=name, **style)
    bottom.axhline(0.5, color=GREY, lw=0.7, ls=":")
    bottom.set_xlabel("count x")
    bottom.set_ylabel("p(class 1 | x)")
    bottom.set_xticks(range(0, 21, 2))
    bottom.legend(frameon=False, loc="center right")
    top.set_title("Poisson in both classes: the posterior is logistic, though nothing is Gaussian", fontsize=11)
    for axes in (top, bottom):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(HERE / "poisson-is-logistic.png", dpi=110)
    plt.close(figure)


def explaining() -> None:
    """A waterfall of one flower, and the nomogram of the model, for docs/explaining.md."""
    iris = load_iris(as_frame=True)
    X, y = iris.data.rename(columns=lambda c: c.removesuffix(" (cm)")), iris.target_names[iris.target]
    model = suffit.LDA().fit(X, y)
    pair = ("virginica", "versicolor")
    near = X[y != "setosa"]
    for name, figure in {
        "waterfall": model.explain(X, pair).plot(133),
        "nomogram": model.nomogram(near, pair),
    }.items():
        figure.savefig(HERE / f"{name}.png", dpi=110)
        plt.close(figure)


if __name__ == "__main__":
    poisson_is_logistic()
    explaining()
