"""``python -m suffit demo``: the models on data that scikit-learn ships, beside logistic regression."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .. import GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

DATA: dict[str, Callable[[], Any]] = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}


def models() -> dict[str, Any]:
    """What is compared, by the name it is shown under."""
    return {
        "LDA": LinearDiscriminantAnalysis(),
        "QDA": QuadraticDiscriminantAnalysis(),
        "naive Bayes": GaussianNB(),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    }


def report(name: str, load: Callable[[], Any]) -> Table:
    """One table: held-out accuracy and log-loss, what the fit says of itself, and how long it took."""
    X, y = load(return_X_y=True)  # type: ignore[call-arg]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    title = f"{name}: {X.shape[0]} rows, {X.shape[1]} columns, {len(np.unique(y))} classes; half held out"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("model")
    for column in ("accuracy", "log-loss", "parameters", "BIC (train)", "fit"):
        table.add_column(column, justify="right")
    for label, model in models().items():
        clone(model).fit(X_train, y_train)  # so that compiling is not timed
        start = time.perf_counter()
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - start
        proba = model.predict_proba(X_test)
        ours = hasattr(model, "bic")
        table.add_row(
            label,
            f"{model.score(X_test, y_test):.3f}",
            f"{log_loss(y_test, proba):.3f}",
            f"{model.n_parameters_}" if ours else "–",
            f"{model.bic(X_train, y_train):.0f}" if ours else "–",
            f"{seconds * 1e3:.1f} ms",
        )
    return table


def adding_up() -> list[str]:
    """The one idea, shown: parts add up, and rows can be taken out again."""
    X, y = load_digits(return_X_y=True)
    whole = LinearDiscriminantAnalysis().fit(X, y)
    a, b = (
        LinearDiscriminantAnalysis().fit(X[:900], y[:900]),
        LinearDiscriminantAnalysis().fit(X[900:], y[900:]),
    )
    gap = np.abs((a + b).predict_proba(X) - whole.predict_proba(X)).max()
    back = (a + b).forget(X[900:], y[900:])
    gone = np.abs(back.predict_proba(X) - a.predict_proba(X)).max()
    return [
        f"LDA on the first half of digits + LDA on the second = LDA on all: posteriors differ by {gap:.0e}",
        f"… and with the second half forgotten again = LDA on the first half: posteriors differ by {gone:.0e}",
    ]


def main(console: Console | None = None) -> None:
    """Print everything."""
    console = console or Console()
    for name, load in DATA.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            table = report(name, load)
        console.print(table)
        for message in dict.fromkeys(str(w.message) for w in caught):
            console.print(f"[dim]note: {message}[/dim]")
        console.print()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in adding_up():
            console.print(line)
