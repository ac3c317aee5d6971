"""What the verbs have in common: options into a way of reading, a model from its file, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .console import show_json, show_table
from .options import Kind

if TYPE_CHECKING:
    from ..estimators.base import GenerativeEstimator


def loaded(path: str) -> Any:
    """The model of a file."""
    from ..data.errors import InputError, ModelFileError
    from ..engines.table_files import kind_of
    from ..files.store import load

    try:
        return load(path)
    except ModelFileError as error:
        if kind_of(path) is None:
            raise
        raise InputError(f"{error}; the model that 'suffit fit' has written comes first, then the rows") from None


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


def kind_of_output(path: str, to: Kind | None, json: bool) -> str:
    """The kind of the output, as an option or its name says it; CSV on standard output."""
    from ..data.errors import InputError
    from ..engines.table_files import kind_of

    kind = to.value if to is not None else "jsonl" if json else "csv" if path == "-" else kind_of(path)
    if kind is None:
        raise InputError(f"{path}: unknown kind of file; use an ending such as .csv or .parquet, or --to csv")
    return kind


def changed(model: GenerativeEstimator, path: str, what: str, json: bool) -> None:
    """What a model has learned by now."""
    counts = dict(zip(map(str, model.classes_.tolist()), model.class_count_.tolist(), strict=True))
    if json:
        show_json({"model": path, "rows": sum(counts.values()), "classes": counts})
        return
    print(f"{what}; {path} has {sum(counts.values()):,.0f} rows")
    show_table("", ["class", "rows"], list(counts.items()))
