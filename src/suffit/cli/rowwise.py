"""Verbs that say something of each row: predict, decide, impute, explain; and rows that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..data.arrays import is_sparse
from ..data.errors import InputError
from ..data.inputs import TableLike
from ..engines.arrow import beside, columns_of_model, posterior_columns
from ..engines.sources import placed
from ..estimators.base import GenerativeEstimator
from ..estimators.decision import Decision
from ..posterior.decide import Decisions
from .reading import RowsOfModel

if TYPE_CHECKING:
    import pyarrow as pa

Keep: TypeAlias = Sequence[str] | None
Costs: TypeAlias = dict[Hashable, dict[Hashable, float]]
Work: TypeAlias = "Callable[[GenerativeEstimator, pa.Table, pa.Table, Keep], pa.Table]"

DECISION, EXPECTED = "decision", "expected_cost"
TEXT = "text"  # the column of drawn texts


def predicted(model: GenerativeEstimator, table: pa.Table, typed: pa.Table, keep: Keep) -> pa.Table:
    """Rows with the most probable class and the probability of each."""
    return beside(table, posterior_columns(model, typed), keep)


@dataclass(frozen=True)
class Deciding:
    """Rows with the decision of least expected cost."""

    cost: Sequence[str]
    reject: float | None
    threshold: float | None

    def __call__(self, model: GenerativeEstimator, table: pa.Table, typed: pa.Table, keep: Keep) -> pa.Table:
        """The table with two more columns; a rejected row has no decision."""
        import pyarrow as pa

        cost = costs(self.cost, model.classes_.tolist())
        with placed(typed):
            rows = columns_of_model(model, typed)
            if isinstance(model, Decision):
                decided = self._by_its_rule(model, rows)
            else:
                decided = model.decide(rows, cost, reject=self.reject, threshold=self.threshold)
        columns = {DECISION: pa.array(decided.labels.tolist()), EXPECTED: pa.array(decided.expected_cost)}
        return beside(table, columns, keep)

    def _by_its_rule(self, model: Decision, rows: pa.Table) -> Decisions:
        if self.cost or self.reject is not None or self.threshold is not None:
            raise InputError("a Decision has a rule of its own; decide without --cost, --reject, --threshold")
        return model.decide(rows)


def costs(given: Sequence[str], classes: Sequence[Hashable]) -> Costs | None:
    """``true:decided=cost`` as a dict of dicts; None where nothing is given."""
    by_text = {str(c): c for c in classes}
    found: Costs = {}
    for each in given:
        pair, _, value = each.rpartition("=")
        options = [(a, b) for a in by_text for b in by_text if f"{a}:{b}" == pair]
        try:
            (true, decided), price = options[0], float(value)
        except (IndexError, ValueError):
            example = f"{classes[0]}:{classes[-1]}=5"
            raise InputError(
                f"--cost {each}: expected true:decided=cost, such as {example}; the classes are {', '.join(by_text)}"
            ) from None
        found.setdefault(by_text[true], {})[by_text[decided]] = price
    return found or None


@dataclass(frozen=True)
class Imputing:
    """Rows with their missing values filled; what is there stays as it is written."""

    how: str
    seed: int | None

    def __call__(self, model: GenerativeEstimator, table: pa.Table, typed: pa.Table, keep: Keep) -> pa.Table:
        """The table without missing values in the columns of the model."""
        if not hasattr(model, "impute"):
            raise InputError(f"a {type(model).__name__} cannot fill missing values; a GenerativeClassifier can")
        rows = columns_of_model(model, typed)
        with placed(typed):
            filled = model.impute(rows, how=self.how, random_state=self.seed)
        for name in rows.column_names:
            table = table.set_column(
                table.column_names.index(name), name, _merged(table[name], rows[name], filled[name])
            )
        return table.replace_schema_metadata(None)


def _merged(written: pa.ChunkedArray, read: pa.ChunkedArray, filled: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells as they are written, those that were missing as they are filled."""
    import pyarrow as pa
    from pyarrow import compute

    if not read.null_count:
        return written
    if written.type != filled.type:
        filled = (
            pa.chunked_array([pa.array([_shown(v) for v in filled.to_pylist()])])
            if pa.types.is_string(written.type)
            else filled
        )
        written = written if pa.types.is_string(written.type) else written.cast(filled.type)
    return compute.if_else(read.is_null(), filled, written)


def _shown(value: object) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else None if value is None else str(value)


def explained(rows: RowsOfModel, wanted: Sequence[int], n: int) -> list[tuple[dict[str, object], str]]:
    """Of some rows, numbered from 1: the terms by name, and in words."""
    found: dict[int, tuple[dict[str, object], str]] = {}
    start = 0
    for _, typed in rows.both():
        here = [i for i in wanted if start < i <= start + typed.num_rows]
        if here:
            table = columns_of_model(rows.model, typed).take([i - start - 1 for i in here])
            explanation = rows.model.explain(table)
            for k, i in enumerate(here):
                a, b = (explanation.labels[code[k]] for code in (explanation.first, explanation.second))
                terms = {"row": i, "class": a, "rather_than": b, "log_odds": float(explanation.total[k])}
                found[i] = ({**terms, "terms": dict(explanation.terms(k))}, explanation.why(k, n))
        start += typed.num_rows
        if len(found) == len(set(wanted)):
            break
    absent = [i for i in wanted if i not in found]
    if absent:
        raise InputError(f"--row {absent[0]}: there are {start:,} rows")
    return [found[i] for i in wanted]


def drawn(model: GenerativeEstimator, n: int, label: str | None, target: str, seed: int | None) -> pa.Table:
    """Rows drawn from a model, with their classes."""
    import pyarrow as pa

    by_text = {str(c): c for c in model.classes_.tolist()}
    if label is not None and label not in by_text:
        raise InputError(f"--class {label}: no such class; the classes are {', '.join(by_text)}")
    X, y = model.sample(n, None if label is None else by_text[label], random_state=seed)
    if not isinstance(X, pa.Table):
        columns = {TEXT: X} if isinstance(X, list) else _by_name(model, X)
        cells = {name: np.asarray(values).tolist() for name, values in columns.items()}
        X = pa.table({name: pa.array(values, from_pandas=True) for name, values in cells.items()})
    return beside(X, {target: pa.array(np.asarray(y).tolist())})


def _by_name(model: GenerativeEstimator, X: TableLike) -> Mapping[str, object]:
    """The columns of a table, or of a matrix by the names that the model was fitted with."""
    if isinstance(X, dict):
        return X
    X = X.toarray() if is_sparse(X) else np.asarray(X)
    names = model.schema_.used if hasattr(model, "schema_") else getattr(model, "feature_names_in_", None)
    return {f"x{j}" if names is None else str(names[j]): values for j, values in enumerate(X.T)}
