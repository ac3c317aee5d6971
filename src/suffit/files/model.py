"""A fitted estimator as a document and arrays, and back.

The document says which estimator it is, by its key in a closed table, its settings, and its state: labelled sums, what
has been chosen from the data (families, structures, calibration), and how columns and labels are called.  Nothing that
can be derived from these is in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from ..core.model import Model
from ..core.stats import BlockSums, Stats
from ..data.frame import Template
from ..data.validate import ColumnNames
from ..data.warn import WarningCollector
from ..estimators.base import GenerativeEstimator
from ..estimators.checks import setting_names
from ..estimators.fitted import ClassPrior, Fitted
from ..families.product import Product
from ..families.tuning import Tuning
from ..posterior.calibrate import Calibration
from ..tables.schema import Schema
from ..tables.structures import Selection
from .checks import check_model, check_read, check_written, shows_columns
from .column_types import FORMS, read_types, written_types
from .container import refuse
from .reading import Reader, listed, only
from .values import decoded_label, encoded
from .writing import Writer

if TYPE_CHECKING:
    from ..estimators.decision import Decision
    from ..estimators.tables import GenerativeClassifier

Estimator: TypeAlias = "GenerativeEstimator | Decision"

HOMES = {
    "GaussianNB": "naive_bayes", "BernoulliNB": "naive_bayes", "PoissonNB": "naive_bayes", "NaiveBayes": "naive_bayes",
    "MultinomialNB": "text", "ComplementNB": "text", "TextNB": "texts", "CategoricalNB": "categorical",
    "GaussianDiscriminantAnalysis": "gda", "LinearDiscriminantAnalysis": "lda", "QuadraticDiscriminantAnalysis": "qda",
    "GenerativeClassifier": "tables", "Decision": "decision",
}  # fmt: skip
LABELS = re.compile(r"[|<](?:b1|[iu][1248]|f[248]|O|[US]\d{1,6}|[mM]8\[\d{0,3}(?:Y|M|W|D|h|m|s|ms|us|ns)\])")
FLOATS = ("float32", "float64")
PICKLED = "give it as plain values, or use pickle"
WAYS_OUT = {
    "columns": "name the columns, or fit with columns=model.schema_, which holds what was chosen",
    "covariance_estimator": "use shrinkage instead, or pickle",
    "estimator": "a model file holds estimators of suffit alone; use pickle",
}


def estimator_class(key: object) -> type[Estimator]:
    """The estimator of this name, from a closed table."""
    if type(key) is not str or key not in HOMES:
        refuse(f"it holds the unknown estimator {str(key)[:100]!r}")
    return cast("type[Estimator]", getattr(import_module(f"..estimators.{HOMES[key]}", __package__), key))


# --- writing


def written(estimator: object, write: Writer) -> dict[str, object]:
    """An estimator, its settings and its state, where it is fitted."""
    key = type(estimator).__name__
    if key not in HOMES or type(estimator) is not estimator_class(key):
        refuse(f"{key} is no estimator of suffit, and its class cannot be written; use pickle")
    if key == "Decision":
        return _written_decision(cast("Decision", estimator), write)
    estimator = _as_it_is_now(cast("GenerativeEstimator", estimator))
    names = setting_names(type(estimator))
    settings = {name: _written_setting(name, getattr(estimator, name), write) for name in names}
    state = _written_state(estimator, write) if "_fit" in estimator.__dict__ else None
    return {"key": key, "settings": settings, "state": state}


def _as_it_is_now(estimator: GenerativeEstimator) -> GenerativeEstimator:
    """The same, which stays so where another thread goes on learning."""
    still = object.__new__(type(estimator))
    still.__dict__.update(estimator.__dict__)
    return still


def _written_setting(name: str, value: object, write: Writer) -> object:
    try:
        return write.value(value)
    except Exception as error:  # whatever a user's object does when it is looked at
        return refuse(f"setting {name!r}: {error}; {WAYS_OUT.get(name, PICKLED)}")


def _written_others(given: Mapping[str, object], estimator: GenerativeEstimator, write: Writer) -> dict[str, object]:
    """Settings as they were earlier, where they are others now."""
    return {k: _written_setting(k, v, write) for k, v in given.items() if v is not estimator.__dict__.get(k)}


def _written_state(estimator: GenerativeEstimator, write: Writer) -> dict[str, object]:
    state, fitted = estimator.__dict__, estimator._fit.alone
    check_model(estimator, fitted)  # so that what is written can be read
    check_written(estimator)
    names = state.get("feature_names_in_")
    table = _written_table(cast("GenerativeClassifier", estimator), write) if "_seen" in state else None
    return {
        "model": _written_model(fitted.known, table is None, write),
        "class_prior": write.record(fitted.class_prior),
        "labels": None if fitted.labels is None else _written_labels(fitted.labels),
        "floats": fitted.floats.name,
        "calibration": None if fitted.calibration is None else write.record(fitted.calibration),
        "said": [list(pair) for pair in sorted(fitted.remarks._said)],
        "unsaid": list(fitted.remarks.unsaid),
        "learned_with": _written_others(estimator._settings, estimator, write),
        "form": state.get("_form"),
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [encoded(v) for v in names.tolist()],
        "table": table,
    }


def _written_labels(dtype: np.dtype[np.generic]) -> str:
    name = dtype.newbyteorder("<").str
    return name if LABELS.fullmatch(name) else refuse(f"labels of type {dtype} cannot be written; use text or numbers")


def _written_model(model: Model, whole: bool, write: Writer) -> dict[str, object]:
    """Sums; of a table, whose family and columns follow from its schema, the families as they were tuned."""
    columns, family = model.columns, model.family
    named: object = list(columns) if whole else None
    if whole and isinstance(columns, ColumnNames) and shows_columns(cast("Stats", model.sums)):
        named = {"prefix": columns.prefix, "n": columns.n}
    families = [family] if whole else [block.family for block in cast("Product", family).blocks]
    parts = model.sums.parts if isinstance(model.sums, BlockSums) else (cast("Stats", model.sums),)
    return {
        "families": [write.family(f) for f in families],
        "columns": named,
        "counts": write.stats(model.counts),
        "sums": [write.stats(part) for part in parts],
        "pinned": [encoded(c) for c in model.classes if c in model.pinned],
    }


def _written_table(estimator: GenerativeClassifier, write: Writer) -> dict[str, object]:
    selection, template = estimator._selection, estimator._template
    return {
        "schema": write.record(estimator._seen),
        "selection": write.record(selection) if isinstance(selection, Selection) else None,
        "tuning": write.tuning(selection) if isinstance(selection, Tuning) else None,
        "names": list(estimator._names_in),
        "form": template.form,
        "types": written_types(template.form, template.types),
        "asked": _written_others(estimator._asked, estimator, write),
        "said_extra": bool(estimator.__dict__.get("_said_extra")),
    }


def _written_decision(decision: Decision, write: Writer) -> dict[str, object]:
    """A rule, and the estimator inside: as it was given, and as it was fitted."""
    names = [name for name in setting_names(type(decision)) if name != "estimator"]
    settings = {name: _written_setting(name, getattr(decision, name), write) for name in names}
    state = None
    try:
        settings["estimator"] = written(decision.estimator, write)
        if "estimator_" in decision.__dict__:
            inside = decision.estimator_
            state = {"estimator": written(inside, write), "share": write.array(decision.class_share_)}
    except Exception as error:
        refuse(f"setting 'estimator': {error}")
    return {"key": "Decision", "settings": settings, "state": state}


# --- reading


def read(entry: object, reader: Reader) -> Estimator:
    """The estimator again."""
    key, settings, state = only(entry, "key", "settings", "state")
    cls = estimator_class(key)
    if type(settings) is not dict:
        refuse(f"it has no settings of {key}")
    if not settings.keys() <= set(setting_names(cls)):  # those that came later are as by default
        refuse(f"it has settings that {key} does not have here; a newer suffit may")
    if key == "Decision":
        return _read_decision(cast("type[Decision]", cls), settings, state, reader)
    estimator = cast("type[GenerativeEstimator]", cls)(**{name: reader.value(v) for name, v in settings.items()})
    estimator._validate_params()
    if state is not None:
        _read_state(estimator, state, reader)
    return estimator


def _read_decision(cls: type[Decision], settings: dict[str, object], state: object, reader: Reader) -> Decision:
    plain: dict[str, Any] = {name: reader.value(v) for name, v in settings.items() if name != "estimator"}
    decision = cls(read(settings.get("estimator"), reader), **plain)
    if state is not None:
        estimator, share = only(state, "estimator", "share")
        decision.estimator_, decision.class_share_ = read(estimator, reader), reader.array(share).copy()
        if decision.class_share_.shape != decision.estimator_.classes_.shape:
            refuse("it has shares of other classes than its own")
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(decision.estimator_, name):
                setattr(decision, name, getattr(decision.estimator_, name))
    decision._validate_params()
    if decision.__sklearn_is_fitted__():
        decision._rule()
        decision._under_prior()
    return decision


def _read_others(
    entry: object, estimator: GenerativeEstimator, names: tuple[str, ...], reader: Reader
) -> dict[str, object]:
    """Settings as they were earlier: those of now, where no others are written."""
    if type(entry) is not dict or not entry.keys() <= set(names):
        refuse("it has settings that its estimator does not have")
    return {k: reader.value(entry[k]) if k in entry else getattr(estimator, k) for k in names}


STATE = (
    "model", "class_prior", "labels", "floats", "calibration", "said", "unsaid", "learned_with", "form", "n_features",
    "feature_names", "table",
)  # fmt: skip


def _read_state(estimator: GenerativeEstimator, entry: object, reader: Reader) -> None:
    state = dict(zip(STATE, only(entry, *STATE), strict=True))
    cls = type(estimator)
    if (state["table"] is not None) != (cls.__name__ == "GenerativeClassifier"):
        refuse(f"it has a table where {cls.__name__} has none, or none where it has one")
    if state["table"] is not None:
        _read_table(cast("GenerativeClassifier", estimator), state["table"], reader)
    elif type(state["form"]) is not str or state["form"] not in FORMS:
        refuse("it does not say what kind of table was learned")
    else:
        estimator._form = state["form"]
    estimator._settings = _read_others(state["learned_with"], estimator, setting_names(cls), reader)
    model = _read_model(estimator, state["model"], reader)
    floats, n_features = state["floats"], state["n_features"]
    if type(n_features) is not int or type(floats) is not str or floats not in FLOATS:
        refuse("it does not say how many columns it has, or of which precision")
    estimator.n_features_in_ = n_features
    names = state["feature_names"]
    if names is not None:
        named = np.array([decoded_label(v) for v in listed(names)], dtype=object)
        estimator.__dict__["feature_names_in_"] = named
    fitted = Fitted(
        model,
        reader.record(state["class_prior"], ClassPrior),
        _read_labels(state["labels"]),
        np.dtype(floats),
        estimator._decision_prior,
        None if state["calibration"] is None else reader.record(state["calibration"], Calibration),
        _read_remarks(state["said"], state["unsaid"]),
    )
    check_model(estimator, fitted)
    estimator._fit = fitted
    check_read(estimator)


def _read_labels(name: object) -> np.dtype[np.generic] | None:
    if name is not None and not (type(name) is str and LABELS.fullmatch(name)):
        refuse(f"it has labels of the unknown type {name!r:.100}")
    return None if name is None else np.dtype(name)


def _read_remarks(said: object, unsaid: object) -> WarningCollector:
    pairs = [_texts(pair) for pair in listed(said)]
    if any(len(pair) != 2 for pair in pairs):
        refuse("it has warnings that are no text")
    remarks = WarningCollector(_texts(unsaid))
    remarks._said.update((a, b) for a, b in pairs)
    return remarks


def _texts(entry: object) -> list[str]:
    texts = [text for text in listed(entry) if type(text) is str]
    return texts if len(texts) == len(listed(entry)) else refuse("it has a name or a warning that is no text")


def _read_model(estimator: GenerativeEstimator, entry: object, reader: Reader) -> Model:
    families, columns, counts, sums, pinned = only(entry, "families", "columns", "counts", "sums", "pinned")
    each = [reader.family(place) for place in listed(families)]
    parts = tuple(reader.stats(part) for part in listed(sums))
    kept = frozenset(decoded_label(c) for c in listed(pinned))
    if "_seen" in estimator.__dict__:
        schema = cast("GenerativeClassifier", estimator)._seen
        plain = schema.family()
        if columns is not None or len(each) != len(plain.blocks):
            refuse("it has other blocks than those of its table")
        return Model(plain._with(each), reader.stats(counts), BlockSums(parts), kept)
    if len(each) != 1 or len(parts) != 1:
        refuse("it has several blocks of columns where there can be one")
    if type(columns) is dict and not shows_columns(parts[0]):
        refuse("it has columns without names, and no sums of them")
    return Model(each[0].of(_read_columns(columns)), reader.stats(counts), parts[0], kept)


def _read_columns(entry: object) -> Sequence[str]:
    if type(entry) is list:
        return tuple(_texts(entry))
    prefix, n = only(entry, "prefix", "n")
    if prefix not in ("x", "word ") or type(n) is not int or n < 0:
        refuse("it has columns without names")
    return ColumnNames(n, prefix)


TABLE = ("schema", "selection", "tuning", "names", "form", "types", "asked", "said_extra")


def _read_table(estimator: GenerativeClassifier, entry: object, reader: Reader) -> None:
    from ..estimators.tables import FIXED_FIRST

    table = dict(zip(TABLE, only(entry, *TABLE), strict=True))
    estimator._seen = reader.record(table["schema"], Schema)
    estimator._plain = estimator._seen.plain()
    selection = None if table["selection"] is None else reader.record(table["selection"], Selection)
    estimator._selection = selection if table["tuning"] is None else reader.tuning(table["tuning"])
    estimator._names_in = tuple(_texts(table["names"]))
    types = read_types(table["form"], table["types"])
    estimator._template = Template(types.form, types)
    estimator._asked = _read_others(table["asked"], estimator, FIXED_FIRST, reader)
    if table["said_extra"] is True:
        estimator._said_extra = True
