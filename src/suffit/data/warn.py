"""What is said about data: warnings that come once for each fit, at the line of the user's code that asked for it."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType

import numpy as np

from .arrays import Array

SHOWN = 10  # things that one warning names
ABSENT = (
    ": the prior is used there (smoothing, or the values of all classes); if a missing value is itself informative of "
    "the class, use GenerativeClassifier(missing='informative')"
)
_LIBRARY = ("<frozen ", os.path.dirname(os.__file__) + os.sep)  # the files of Python's own modules

_shown: set[tuple[str, int, type[Warning], str]] = set()

Key = tuple[type[Warning], str, str]


class DataWarning(UserWarning):
    """Base class of the warnings that suffit gives about data; filter by it to silence them all.

    See Also
    --------
    DroppedColumnWarning, TextColumnWarning, UnknownCategoryWarning : About columns.
    MissingValuesWarning, SingularClassWarning : About values.

    Examples
    --------
    >>> import warnings
    >>> import suffit
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", suffit.DataWarning)
    ...     model = suffit.GaussianNB().fit([[0.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1])
    """

    __module__ = "suffit"


class DroppedColumnWarning(DataWarning):
    """Columns of a table that the model does not use; the message says which and why.

    See Also
    --------
    GenerativeClassifier : Gives this warning; ``columns={name: "drop"}`` avoids it.

    Examples
    --------
    >>> import warnings
    >>> import suffit
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", suffit.DroppedColumnWarning)
    ...     model = suffit.GenerativeClassifier().fit({"x": [1.0, 2.0, 5.0], "when": [None] * 3}, [0, 0, 1])
    """

    __module__ = "suffit"


class TextColumnWarning(DataWarning):
    """Columns of text that hold numbers or dates; the message says how to convert them.

    See Also
    --------
    GenerativeClassifier : Gives this warning; ``columns={name: "categorical"}`` avoids it.

    Examples
    --------
    >>> import warnings
    >>> import suffit
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", suffit.TextColumnWarning)
    ...     model = suffit.GenerativeClassifier().fit({"x": [1.0, 2.0, 5.0]}, [0, 0, 1])
    """

    __module__ = "suffit"


class UnknownCategoryWarning(DataWarning):
    """Many categories at prediction that were not seen at fit; the message names the nearest known ones.

    See Also
    --------
    GenerativeClassifier, CategoricalNB : Give this warning.

    Examples
    --------
    >>> import warnings
    >>> import suffit
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", suffit.UnknownCategoryWarning)
    ...     suffit.CategoricalNB().fit([["red"], ["blue"]], [0, 1]).predict([["Red"], ["Blue"]])
    Traceback (most recent call last):
    suffit.UnknownCategoryWarning: categories that were not seen at fit: ...
    """

    __module__ = "suffit"


class MissingValuesWarning(DataWarning):
    """Something about missing values; the message names the column and the class.

    See Also
    --------
    GenerativeClassifier : ``missing="informative"`` makes missing values evidence.

    Examples
    --------
    >>> import warnings
    >>> import suffit
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", suffit.MissingValuesWarning)
    ...     suffit.GaussianNB().fit([[float("nan"), 1.0], [1.0, 2.0], [2.0, 3.0]], ["a", "b", "b"])
    Traceback (most recent call last):
    suffit.MissingValuesWarning: column 'x0' is missing in every row of class 'a'...
    """

    __module__ = "suffit"


class SingularClassWarning(DataWarning):
    """A class, or all of them, has no variance in some direction; the message names it and what was done.

    See Also
    --------
    GaussianDiscriminantAnalysis : ``tie`` and ``shrinkage`` avoid it.
    GaussianNB : ``var_smoothing`` avoids it.

    Examples
    --------
    >>> import warnings
    >>> import suffit
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", suffit.SingularClassWarning)
    ...     suffit.QDA().fit([[0.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1])
    Traceback (most recent call last):
    suffit.SingularClassWarning: The covariance matrix of class 0 is not full rank ...
    """

    __module__ = "suffit"


@dataclass(eq=False)
class WarningCollector:
    """Collects what is remarked while it is entered, and says it at the end: each thing once, alike things together.

    What it has said before, it does not say again: a model keeps the one that it was fitted under.  Nor does it say
    what ends in one of ``unsaid``.
    """

    unsaid: Sequence[str] = ()
    _said: set[tuple[str, str]] = field(default_factory=set, init=False)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Say what is remarked inside, at the end; an error takes the place of it all."""
        found: dict[Key, dict[str, None]] = {}
        outer = _current.get()
        token = _current.set((self, found))
        try:
            yield
        finally:
            _current.reset(token)
        for (category, before, after), things in found.items():
            new = [thing for thing in things if outer is not None or (before, thing) not in self._said]
            if new and not (after and after in self.unsaid):
                if outer is None:
                    self._said.update((before, thing) for thing in new)
                warn_once(category, before, new, after)


_current: ContextVar[tuple[WarningCollector, dict[Key, dict[str, None]]] | None] = ContextVar("remarks", default=None)


def current_collector() -> WarningCollector:
    """Whoever collects remarks now; somebody new where nobody does."""
    return (_current.get() or (WarningCollector(), {}))[0]


def warn_once(category: type[Warning], before: str, things: Sequence[str] = ("",), after: str = "") -> None:
    """Warn "before thing; thing; thing after"; whoever collects remarks puts the things of several into one."""
    current = _current.get()
    if current is not None:
        current[1].setdefault((category, before, after), {}).update(dict.fromkeys(things))
        return
    more = f" and {len(things) - SHOWN} more" if len(things) > SHOWN else ""
    _warn(category, before + "; ".join(things[:SHOWN]) + more + after)


def warn_absent(n: Array, classes: Sequence[Hashable], columns: Sequence[str], rows: Array | None = None) -> None:
    """Say where a class with rows has no value at all in a column that others have."""
    has = np.asarray(n > 0)
    seen = has.any(axis=1) if rows is None else rows > 0
    absent = ~has & has.any(axis=0) & np.asarray(seen)[:, None]
    if absent.any():
        cells = [(int(c), int(j)) for c, j in np.argwhere(absent)]
        things = [f"column {columns[j]!r} is missing in every row of class {classes[c]!r}" for c, j in cells]
        warn_once(MissingValuesWarning, "", things, ABSENT)


@contextmanager
def no_warnings() -> Iterator[Mapping[Key, object]]:
    """What is remarked inside is not said, and given: something is tried, or has been said of the same columns."""
    found: dict[Key, dict[str, None]] = {}
    token = _current.set((WarningCollector(), found))
    try:
        yield found
    finally:
        _current.reset(token)


def _warn(category: type[Warning], text: str) -> None:
    """Warn at the nearest line that is not of this package, nor of scikit-learn or Python where they call us.

    A cross-validation thus warns where the user has asked for it.  Python shows a text once for each line, but forgets
    what it has shown whenever any code looks at warnings, as scikit-learn does in every fold; so it is remembered here.
    """
    frame: FrameType = sys._getframe(1)
    while frame.f_back is not None and _is_between(frame):
        frame = frame.f_back
    module, line = frame.f_globals.get("__name__") or "<string>", frame.f_lineno
    place = (frame.f_code.co_filename, line, category, text)
    if place in _shown and _action(category, text, module, line) in ("default", "module", "once"):
        return
    _shown.add(place)
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, category, frame.f_code.co_filename, line, module, registry)


def _is_between(frame: FrameType) -> bool:
    """Whether a line is no user's, whose modules may have the names of Python's own: these are known by their place."""
    file, package = frame.f_code.co_filename, str(frame.f_globals.get("__name__")).partition(".")[0]
    return package in ("suffit", "sklearn", "joblib") or (file.startswith(_LIBRARY) and "-packages" not in file)


def _action(category: type[Warning], text: str, module: str, line: int) -> str:
    """What the filters of Python's warnings do with this one."""
    for action, message, kind, where, number in warnings.filters:
        if (
            issubclass(category, kind)
            and (message is None or message.match(text))
            and (where is None or where.match(module))
            and number in (0, line)
        ):
            return action
    return "default"
