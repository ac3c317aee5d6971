"""Draw the figures of the documentation: ``scripts/figures``, or some: ``scripts/figures models tuning``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import suffit
from suffit import figures
from suffit.comparison.matrix import TableMatrix

HERE = Path(__file__).resolve().parent
BLUE, RED, GREY = "#2c6fbb", "#c44e52", "#555555"


def save(name: str, picture: Axes | Figure, dpi: int = 110) -> None:
    """Write a figure, or that of its axes, as PNG."""
    figure = picture if isinstance(picture, Figure) else picture.figure
    figure.savefig(HERE / f"{name}.png", dpi=dpi)
    plt.close(figure)


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
        "GDA, own variances": (suffit.GDA().fit(X, y), {"color": "#8755a8", "lw": 1.8, "ls": "-."}),
    }
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 6.4), sharex=True, height_ratios=[1, 1.6])
    for c, (colour, name, shift) in enumerate([(BLUE, "class 0, rate 3", -0.2), (RED, "class 1, rate 9", 0.2)]):
        share = np.bincount(X[y == c, 0], minlength=21)[:21] / (y == c).sum()
        top.bar(grid[:, 0] + shift, share, width=0.4, color=colour, alpha=0.75, hatch="///" * c, ec="white", label=name)
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


def flowers() -> tuple[pd.DataFrame, np.ndarray]:
    """Fisher's irises with short names."""
    iris = load_iris(as_frame=True)
    return iris.data.rename(columns=lambda c: c.removesuffix(" (cm)")), iris.target_names[iris.target]


def explaining() -> None:
    """A waterfall of one flower, and nomograms of the model, for docs/explaining.md."""
    X, y = flowers()
    model = suffit.LDA().fit(X, y)
    pair = ("virginica", "versicolor")
    save("waterfall", model.explain(X, pair).plot(133))
    save("nomogram", model.nomogram(X[y != "setosa"], pair))
    save("nomogram-rest", model.nomogram(X, "versicolor"))


def deciding() -> None:
    """C8: the threshold that costs ask for is where new rows cost least; rejecting covers."""
    rng = np.random.default_rng(0)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = (rng.random(n) < 0.3).astype(int)
        return rng.normal(size=(n, 2)) + 1.3 * y[:, None], y

    X, y = draw(200_000)
    model = suffit.GaussianNB().fit(*draw(2_000))
    p = model.predict_proba(X)[:, 1]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    grid = np.linspace(0.005, 0.995, 199)
    for miss, colour in ((1, BLUE), (5, "#3a923a"), (20, RED)):
        paid = [np.where(p >= t, y == 0, miss * (y == 1)).mean() for t in grid]
        left.plot(grid, paid, color=colour)
        cost = [[0, 1], [miss, 0]]
        at = (1 / (1 + miss), suffit.mean_cost(y, model.decide(X, cost).labels, cost=cost))
        left.plot(*at, "o", color=colour)
        left.annotate(f"a miss costs {miss}", at, (8, -14), textcoords="offset points", color=colour)
    left.set(xlabel="threshold on p(class 1 | x)", ylabel="mean cost of new rows", ylim=(0, 1.2))
    left.set_title("A false alarm costs 1: decide(X, cost) goes to the dots", fontsize=11)
    costs = np.linspace(0.005, 0.495, 50)
    decisions = [model.decide(X, reject=cost) for cost in costs]
    wrong = [(d.labels[~d.rejected] != y[~d.rejected]).mean() for d in decisions]
    right.plot(costs, [d.rejected.mean() for d in decisions], color=GREY, label="share of rows rejected")
    right.plot(costs, wrong, color=RED, ls="--", label="errors among the rest")
    right.plot(costs, costs, color="black", lw=0.8, ls=":", label="the cost of a rejection")
    right.set(xlabel="reject", ylim=(0, 1))
    right.set_title("decide(X, reject=…): errors stay below the cost", fontsize=11)
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(HERE / "deciding.png", dpi=110)
    plt.close(figure)


def tuning() -> None:
    """What was tried and what was taken, and calibration before and after, for docs/tuning.md."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    tied = suffit.GDA(tie="loo", shrinkage="loo").fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    digits, of_digits = load_digits(return_X_y=True)
    smoothed = suffit.BernoulliNB(alpha="loo", binarize=7).fit(digits, of_digits)
    figure, (left, right) = plt.subplots(1, 2, figsize=(12.5, 4.3), layout="constrained", width_ratios=[1, 1.5])
    figures.selection(smoothed, left).set_title("BernoulliNB(alpha='loo') on digits", fontsize=11)
    figures.selection(tied, right).set_title("GDA(tie='loo', shrinkage='loo') on wine", fontsize=11)
    figure.savefig(HERE / "selection.png", dpi=110)
    plt.close(figure)
    figure, both = plt.subplots(1, 2, figsize=(11.5, 4.6), layout="constrained")
    for axes, method in zip(both, ("temperature", "isotonic"), strict=True):
        found = suffit.GaussianNB(calibrate=method).fit(digits, of_digits)
        figures.calibration(found, axes).set_title(f"GaussianNB(calibrate={method!r}) on digits", fontsize=11)
    figure.savefig(HERE / "calibration.png", dpi=110)
    plt.close(figure)


def comparing() -> None:
    """Seven models on 569 tumours, for docs/comparing.md."""
    cancer = load_breast_cancer(as_frame=True)
    found = suffit.compare(cancer.data, cancer.target_names[cancer.target])
    figure = found.plot()
    figure.savefig(HERE / "comparison.png", dpi=90)
    plt.close(figure)
    print(found)


def gaussians() -> None:
    """G10: the normal density of two columns under one covariance and mean after another, for docs/pictures.md."""
    matrices = {
        "Σ = I": 1.0, "Σ = 0.6·I": 0.6, "Σ = 2·I": 2.0, "Σ = diag(1, 0.3)": [1.0, 0.3],
        "Σ = [[1, .3], [.3, .5]]": [[1, 0.3], [0.3, 0.5]],
        "Σ = [[1, .5], [.5, 1]]": [[1, 0.5], [0.5, 1]], "Σ = [[1, −.5], [−.5, 1]]": [[1, -0.5], [-0.5, 1]],
        "Σ = [[1, .8], [.8, 1]]": [[1, 0.8], [0.8, 1]], "Σ = [[1, −.8], [−.8, 1]]": [[1, -0.8], [-0.8, 1]],
        "Σ = [[3, .8], [.8, 1]]": [[3, 0.8], [0.8, 1]],
    }  # fmt: skip
    means = {"μ = (1, 0)": (1.0, 0.0), "μ = (−.5, 0)": (-0.5, 0.0), "μ = (−1, −1.5)": (-1.0, -1.5)}
    each = [(name, (0.0, 0.0), cov) for name, cov in matrices.items()] + [(n, m, 1.0) for n, m in means.items()]
    figure, axes = plt.subplots(3, 5, figsize=(15, 9.2), layout="constrained")
    for ax, (name, mean, cov) in zip(axes.flat, each, strict=False):
        figures.gaussian_contours(mean, cov, ax).set_title(name, fontsize=10)
    for ax in axes.flat[len(each) :]:
        ax.set_axis_off()
    figure.savefig(HERE / "gaussian-contours.png", dpi=80)
    plt.close(figure)
    figure = plt.figure(figsize=(15, 9), layout="constrained")
    for i, (name, mean, cov) in enumerate(each):
        ax = figure.add_subplot(3, 5, i + 1, projection="3d")
        figures.gaussian_surface(mean, cov, ax).set_title(name, fontsize=10)
        ax.set_zlabel("")  # that of one would lie over the next
    figure.savefig(HERE / "gaussian-surfaces.png", dpi=80)
    plt.close(figure)


def models() -> None:
    """One picture of each kind, for docs/pictures.md."""
    X, y = flowers()
    petals = ["petal length", "petal width"]
    lda, qda, naive = suffit.LDA().fit(X, y), suffit.QDA().fit(X, y), suffit.GaussianNB().fit(X, y)
    save("boundary", figures.boundary(qda, X, y, petals), 80)
    save("class-ellipses", figures.class_ellipses(qda, petals), 80)
    save("covariances", figures.covariances(qda), 80)
    save("densities", figures.densities(lda, X, "petal length", row=77), 80)
    save("projection", figures.projection(lda, X, y), 80)
    save("tree", figures.tree(suffit.GenerativeClassifier(structure="partitions").fit(X, y), depth=2), 80)
    save("confusion", figures.confusion(y, naive, X), 80)
    save("roc", figures.roc(y == "virginica", {"LDA": lda.predict_proba(X)[:, 2], "sepals": sepals(X, y)}), 80)
    digits, of = load_digits(return_X_y=True, as_frame=True)
    digits = digits.loc[:, digits.std() > 0]
    both = {"GaussianNB": suffit.GaussianNB().fit(digits[::2], of[::2]), "LDA": suffit.LDA().fit(digits[::2], of[::2])}
    save("reliability", figures.reliability(of[1::2], both, digits[1::2]), 80)


def sepals(X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """p(virginica) by the two columns of sepals alone."""
    some = X[["sepal length", "sepal width"]]
    return suffit.LDA().fit(some, y).predict_proba(some)[:, 2]


def two_gaussians() -> None:
    """G10: two fitted Gaussians with ellipses and boundary; one feature with densities and the sigmoid posterior."""
    figure, axes = plt.subplots(1, 3, figsize=(16, 4.3), layout="constrained")
    X, y = suffit.simulate("gaussian", separation=2.5).sample(200, random_state=0)
    figures.boundary(suffit.LDA().fit(X, y), X, y, ax=axes[0]).set_title("one covariance: a straight line", fontsize=11)
    X, y = suffit.simulate("own covariances", separation=1.5).sample(300, random_state=0)
    figures.boundary(suffit.QDA().fit(X, y), X, y, ax=axes[1]).set_title("a covariance for each: a curve", fontsize=11)
    X, y = suffit.simulate("gaussian", columns=1).sample(200, random_state=0)
    figures.densities(suffit.LDA().fit(X, y), X, row=5, ax=axes[2])
    save("two-gaussians", figure, 80)


def regimes() -> None:
    """C2: naive Bayes is ahead with few rows, logistic regression with many (Ng and Jordan, 2001)."""
    sys.path.insert(0, str(HERE.parent.parent))
    from evaluate import tables

    folder = tables.data_folder()
    if why := tables.why_absent(folder):
        print(f"two-regimes.png is left as it is: {why}")
        return
    rival = make_pipeline(TableMatrix(), LogisticRegression(C=1e6, max_iter=300))  # hardly any penalty, as theirs
    models = {"naive Bayes": suffit.GenerativeClassifier(structure="naive"), "logistic regression": rival}
    figure, axes = plt.subplots(1, 3, figsize=(16, 4.3), layout="constrained")
    for ax, name in zip(axes, ("diabetes", "credit_a", "titanic"), strict=True):
        table = tables.read(folder, name)
        found = suffit.compare(table.X, table.y, models, folds=2, robustness=False)
        figures.learning_curves(found, ax=ax).set_title(name, fontsize=11)
    save("two-regimes", figure, 80)


def tutorial() -> None:
    """Densities of heights, and the worked example of six points, for docs/tutorial/2-gaussians.md."""
    rng = np.random.default_rng(0)
    y = np.repeat(["short", "tall"], 200)
    height = np.where(y == "tall", rng.normal(182, 6, 400), rng.normal(168, 6, 400))[:, None]
    ax = figures.densities(suffit.GDA(tie=1).fit(height, y), height, row=150)
    ax.set_xlabel("height, cm")
    ax.figure.savefig(HERE / "heights.png", dpi=100, bbox_inches="tight")
    C1 = [(0.3682, -2.0530), (0.1521, 0.0131), (-1.3033, -0.2105)]
    C2 = [(0.9456, 2.6543), (1.3574, 1.0225), (0.4478, 1.0543)]
    X, classes = np.array(C1 + C2), ["C1"] * 3 + ["C2"] * 3
    ax = figures.boundary(suffit.GDA("spherical", tie=1).fit(X, classes), X, classes)
    ax.set_xlabel("x1")
    ax.set_ylabel("x2")
    ax.set_aspect("equal")  # a circle is a circle
    ax.figure.savefig(HERE / "worked-example.png", dpi=100, bbox_inches="tight")
    plt.close("all")


PICTURES = (
    gaussians,
    two_gaussians,
    models,
    regimes,
    comparing,
    deciding,
    poisson_is_logistic,
    explaining,
    tuning,
    tutorial,
)


if __name__ == "__main__":
    for draw in PICTURES:
        if len(sys.argv) == 1 or draw.__name__ in sys.argv[1:]:
            draw()
