"""Models and evaluations as tables for people, and as values for JSON."""

from __future__ import annotations

from typing import Any, cast

from ..estimators.base import GenerativeEstimator
from ..estimators.decision import Decision
from ..estimators.tables import GenerativeClassifier
from ..estimators.texts import TextNB
from ..tables.structures import Selection
from .console import Progress, show_table


def described(model: GenerativeEstimator) -> dict[str, Any]:
    """A model by name and number."""
    rows = model.class_count_
    found: dict[str, Any] = {
        "kind": type(model).__name__,
        "rows": float(rows.sum()),
        "classes": [{"class": c, "rows": n} for c, n in zip(model.classes_.tolist(), rows.tolist(), strict=True)],
    }
    if isinstance(model, GenerativeClassifier):
        found["columns"] = [
            {"column": c.column, "kind": c.kind, "family": c.family, "reason": c.reason} for c in model.schema_.choices
        ]
        selection = model.selection_
        if isinstance(selection, Selection):
            found["pool"] = [{"structure": s, "settings": str(k), "weight": w} for s, k, w in selection.pool]
            found["log_loss_expected"] = selection.loss
            found["outlier_rate"], found["density"] = selection.outlier_rate, selection.density
    return found


def show_learned(model: GenerativeEstimator, path: str, progress: Progress) -> None:
    """What a fit has learned, in a few lines."""
    found = described(model)
    rate = f"{progress.rows:,} rows in {progress.seconds:.1f} s ({progress.rate:,.0f} rows/s)"
    classes = len(found["classes"])
    print(f"{rate}; {classes} class{'es' if classes != 1 else ''} → {path}")
    dropped = [c for c in found.get("columns", ()) if c["family"] == "dropped"]
    if dropped:
        print("dropped: " + "; ".join(f"{c['column']} ({c['reason']})" for c in dropped))
    if "pool" in found:
        print("structures: " + (" + ".join(map(_structure, found["pool"])) or "none (class shares only)"))
        print(f"log-loss expected on new rows: {found['log_loss_expected']:.3f}")


def _structure(pooled: dict[str, Any]) -> str:
    settings = f" ({pooled['settings']})" if pooled["settings"] else ""
    return f"{pooled['weight']:.2g} × {pooled['structure']}{settings}"


def learner_of(model: GenerativeEstimator | Decision) -> GenerativeEstimator:
    """The model itself, or that which a rule of decisions is around."""
    return cast("GenerativeEstimator", model._fitted) if isinstance(model, Decision) else model


def show_model(model: GenerativeEstimator | Decision) -> None:
    """A model as tables."""
    if isinstance(model, Decision):
        rule = {name: value for name, value in model.get_params(deep=False).items() if name != "estimator"}
        print("Decision: " + ", ".join(f"{name}={value!r}" for name, value in rule.items() if value is not None))
    model = learner_of(model)
    found = described(model)
    print(f"{found['kind']}, {found['rows']:,.0f} rows")
    total = found["rows"] or 1.0
    shares = [[str(c["class"]), c["rows"], f"{100 * c['rows'] / total:.1f} %"] for c in found["classes"]]
    show_table("Classes", ["class", "rows", "share"], shares)
    if "columns" in found:
        rows = [[c["column"], c["kind"], c["family"], c["reason"]] for c in found["columns"]]
        show_table("Columns", ["column", "kind", "family", "reason"], rows)
    if "pool" in found:
        pool = [[s["structure"], s["settings"], f"{s['weight']:.2g}"] for s in found["pool"]]
        show_table("Structures pooled", ["structure", "settings", "weight"], pool)
        print(f"outlier rate {found['outlier_rate']:.2g}; densities and draws: {found['density']}")
    if not isinstance(model, GenerativeClassifier | TextNB):
        print(model.parameters())


def show_evaluation(found: dict[str, Any]) -> None:
    """An evaluation as tables."""
    rows = [
        ["accuracy", found["accuracy"]],
        ["log-loss", found["log_loss"]],
        ["log-loss of the class shares", found["log_loss_of_class_shares"]],
        ["Brier score", found["brier"]],
        ["calibration error", found["calibration_error"]],
    ]
    skipped = f", {found['rows_without_label']:,} without a label" if found["rows_without_label"] else ""
    show_table(f"{found['rows']:,} rows{skipped}", ["", "value"], rows)
    each = [[str(c["class"]), c["rows"], _share(c["recall"]), _share(c["precision"])] for c in found["classes"]]
    show_table("Classes", ["class", "rows", "recall", "precision"], each)
    names = list(found["confusion"])
    confusion = [[true, *row.values()] for true, row in found["confusion"].items()]
    if len(names) <= 12:
        show_table("True class (down), predicted (across)", ["", *names], confusion)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
