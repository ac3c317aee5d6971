"""What the verbs have in common: options into a way of reading, a model from its file, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .console import show_json, show_table
from .options import Kind

if TYPE_CHECKING:
    from ..estimators.base import GenerativeEstimator
    from .reading import Reading


def reading_of(
    kind: Kind | None,
    encoding: str | None,
    separator: str | None,
    missing: list[str] | None,
    text: list[str] | None = None,
) -> Reading:
    """How files are to be read, by the options."""
    from .reading import Reading

    return Reading(kind and kind.value, encoding, separator, tuple(missing or ()), tuple(text or ()))


def loaded(path: str) -> Any:
    """The model of a file."""
    from ..files.store import load

    return load(path)


def learner(path: str) -> GenerativeEstimator:
    """The model of a file, where it is one of sums; a rule of decisions around a classifier has none."""
    model: GenerativeEstimator = loaded(path)
    if not hasattr(model, "class_count_"):
        from ..data.errors import InputError

        raise InputError(
            f"{path}: a {type(model).__name__}, which predicts and decides, and has no sums of its own; save its "
            "estimator_ as a model for this"
        )
    return model


def kind_of_output(to: Kind | None, json: bool) -> str | None:
    """The kind of the output, where its name need not say it."""
    return to.value if to is not None else "jsonl" if json else None


def changed(model: GenerativeEstimator, path: str, what: str, json: bool) -> None:
    """What a model has learned by now."""
    counts = dict(zip(map(str, model.classes_.tolist()), model.class_count_.tolist(), strict=True))
    if json:
        show_json({"model": path, "rows": sum(counts.values()), "classes": counts})
        return
    print(f"{what}; {path} has {sum(counts.values()):,.0f} rows")
    show_table("", ["class", "rows"], list(counts.items()))
