"""Public docstrings have numpydoc's sections with every parameter in them; messages and pages use textbook words."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import BaseEstimator

import suffit
from pages import pages

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "suffit"
PUBLIC = {name: getattr(suffit, name) for name in suffit.__all__ if name not in ("LDA", "QDA", "GDA")}
CLASSES = {name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing)}

# The engine's own classes: one sentence says what a method does, a trailing comment the shapes; Family is the contract.
ENGINE = (suffit.Family, suffit.Index, suffit.Model, suffit.Stats)


def sections(docstring: str | None) -> dict[str, str]:
    """The sections of a docstring by their titles.

    >>> sections("What it is.\\n\\nParameters\\n----------\\nx, y : int\\n    Two numbers.")
    {'Parameters': 'x, y : int\\n    Two numbers.'}
    """
    parts = re.split(r"^([A-Z][\w ]+)\n-{3,}\n", inspect.cleandoc(docstring or ""), flags=re.MULTILINE)
    return {title: body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def named(body: str) -> set[str]:
    """The names that the entries of a section begin with."""
    heads = [line.partition(" : ")[0] for line in body.splitlines() if line and not line.startswith(" ")]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def parameters(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters) - {"self", "cls"}


def methods(owner: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods that are ours."""
    for name, member in inspect.getmembers_static(owner):
        function = getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function) and function.__module__.startswith("suffit"):
            yield name, function


@pytest.mark.parametrize("name", [n for n, c in CLASSES.items() if not issubclass(c, Exception)])
def test_a_public_class_has_its_sections(name: str):
    found = sections(CLASSES[name].__doc__)
    assert {"Attributes", "See Also", "Examples"} <= set(found), f"{name} has {list(found)}"
    listed = named(found.get("Parameters", "")) | named(found["Attributes"])  # what is not made by users has attributes
    assert parameters(CLASSES[name]) <= listed, f"{name}: {parameters(CLASSES[name]) - listed}"
    if issubclass(CLASSES[name], BaseEstimator):
        assert parameters(CLASSES[name]) <= named(found["Parameters"])


@pytest.mark.parametrize("name", [n for n, c in CLASSES.items() if issubclass(c, Exception)])
def test_an_error_or_a_warning_shows_when_it_comes(name: str):
    assert {"See Also", "Examples"} <= set(sections(CLASSES[name].__doc__))


@pytest.mark.parametrize("name", [n for n, c in CLASSES.items() if not issubclass(c, (Exception, *ENGINE))])
def test_a_public_method_says_what_it_takes_and_gives(name: str):
    for method, function in methods(CLASSES[name]):
        found = sections(function.__doc__)
        assert "Returns" in found, f"{name}.{method}"
        missing = parameters(function) - named(found.get("Parameters", ""))
        assert not missing, f"{name}.{method}: {missing}"


@pytest.mark.parametrize("name", [n for n, c in CLASSES.items() if issubclass(c, ENGINE)])
def test_a_method_of_the_engine_has_a_sentence_of_its_own_or_that_of_the_contract(name: str):
    for method, function in methods(CLASSES[name]):
        assert inspect.getdoc(getattr(CLASSES[name], method)), f"{name}.{method} ({function.__qualname__})"


@pytest.mark.parametrize("name", [n for n, f in PUBLIC.items() if inspect.isfunction(f)])
def test_a_public_function_says_what_it_takes_and_gives(name: str):
    found = sections(PUBLIC[name].__doc__)
    assert "Returns" in found
    assert parameters(PUBLIC[name]) == (named(found["Parameters"]) if "Parameters" in found else set())


# --- words

OURS = re.compile(
    r"\b(told|speaks?|settled?|holes?|levels?|lapses?|left out|leaves? out|rows left out|says? nothing|price[ds]?)\b"
)


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The texts in a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def test_messages_use_textbook_words():
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        for line, text in messages(path):
            assert not OURS.search(text), f"{name}:{line}: {text}"


def test_public_docstrings_use_textbook_words():
    for name, thing in PUBLIC.items():
        assert not (found := OURS.search(thing.__doc__)), f"{name}: {found}"
        for method, function in methods(thing) if inspect.isclass(thing) and not issubclass(thing, ENGINE) else ():
            assert not (found := OURS.search(function.__doc__ or "")), f"{name}.{method}: {found}"


PAGES = ["README.md", *pages()]


@pytest.mark.parametrize("page", PAGES)
def test_pages_use_textbook_words(page: str):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert not (found := OURS.search(text)), f"{page}: …{text[found.start() - 60 : found.end() + 40]}…"


def test_errors_about_cells_are_known_as_input_errors():
    """In a traceback, and after a pickle as between processes."""
    with pytest.raises(suffit.InputError) as caught:
        suffit.PoissonNB().fit([[1.0], [-3.0]], ["a", "b"])
    lines = traceback.format_exception_only(caught.value)
    assert lines[0].startswith("suffit.InputError: column 'x0': ")
    assert type(caught.value).__name__ == "InputError"
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert str(again) == str(caught.value)
