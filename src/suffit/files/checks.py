"""What the parts of a loaded model must have in common, so that no loop reads beyond its arrays."""

from __future__ import annotations

from typing import Any

from ..estimators.fitted import Fitted


def check_model(estimator: Any, fitted: Fitted) -> None:
    """Refuse parts that do not belong together."""
