"""Saving a fitted estimator to a file, and loading it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..data.errors import InputError, ModelFileError
from .atomic import write_whole
from .container import RefusedError, assembled, parsed, refuse, taken_apart
from .model import read, written
from .reading import Reader, only
from .writing import Writer

FORMAT = "suffit model"
DOCUMENT = "document"  # the array that holds JSON: what the others are
VERSION = 1  # of the format; a reader takes this one and all before it


def to_bytes(estimator: object) -> bytes:
    """The model file of a fitted estimator."""
    check_is_fitted(estimator)
    write = Writer()
    try:
        model = written(estimator, write)
        document = {"estimator": model, "axes": write.axes, "families": write.families}
        metadata = {"format": FORMAT, "version": str(VERSION), "suffit": __version__}
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        return assembled(metadata, {**write.arrays, DOCUMENT: np.frombuffer(text, np.uint8)})
    except (RefusedError, ArithmeticError, np.linalg.LinAlgError) as error:
        raise InputError(f"{type(estimator).__name__}.save: {error}") from None


def from_bytes(data: bytes, name: str) -> Any:
    """The estimator of a model file, which errors call by this name."""
    try:
        return _read(data)
    except RefusedError as error:
        raise ModelFileError(name, str(error)) from None
    except Exception as error:  # whatever content that no model has leads to
        raise ModelFileError(name, f"its content is not that of a model ({error})") from error


def _read(data: bytes) -> object:
    metadata, arrays = taken_apart(data)
    if metadata.get("format") != FORMAT:
        refuse("it is a safetensors file, but no model of suffit")
    version = metadata.get("version", "")
    if not (version.isascii() and version.isdecimal() and len(version) < 6 and int(version) >= 1):
        refuse(f"its format version is {version[:20]!r}, which is none")
    if int(version) > VERSION:
        refuse(
            f"it has format version {version}, and this suffit ({__version__}) reads versions up to {VERSION}; it was "
            f"written by suffit {metadata.get('suffit', '?')[:20]}, upgrade to that or a later one"
        )
    text = arrays.pop(DOCUMENT, None)
    if metadata.keys() != {"format", "version", "suffit"} or text is None or text.dtype != np.uint8:
        refuse("it has no document that says what its arrays are")
    estimator, axes, families = only(parsed(text.tobytes()), "estimator", "axes", "families")
    reader = Reader(arrays, axes, families)
    found = read(estimator, reader)
    reader.check_all_read()
    return found


def save(estimator: object, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file; see ``save`` of the estimators."""
    write_whole(path, to_bytes(estimator))


def load(path: str | os.PathLike[str]) -> Any:
    """Return the estimator that was saved to a file: the whole model, which predicts, learns, forgets and merges.

    Nothing in a file is run: it holds numbers, text and names from closed tables.  A file that is damaged, or not a
    model, is refused.

    Parameters
    ----------
    path : str or path
        A file that ``save`` has written.

    Returns
    -------
    estimator
        Of the class that was saved, with the same settings and the same sums to the last bit.

    Raises
    ------
    ModelFileError
        Where the file is not a whole model, or of a newer format.
    OSError
        Where it cannot be read.

    See Also
    --------
    GenerativeClassifier.save : Writes such a file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import suffit
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.suffit"
    >>> suffit.GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]).save(path)
    >>> model = suffit.load(path)
    >>> model.partial_fit([[6.0]], ["b"]).class_count_.tolist()
    [2.0, 3.0]
    """
    where = Path(path)
    mode = where.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ModelFileError(os.fspath(path), "it is no regular file")
    return from_bytes(where.read_bytes(), os.fspath(path))
