"""The pages: every block of code runs as written, every page is found, every link leads somewhere."""

from __future__ import annotations

import doctest
import re
import runpy
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import suffit
import suffit.engines
import suffit.figures
from pages import ROOT, blocks, pages
from suffit.cli.main import app

DOCS = ROOT / "docs"
OPTIONS = doctest.NORMALIZE_WHITESPACE
WITH_PYTHON = [page for page in ["README.md", *pages()] if any(">>> " in block.code for block in blocks(page))]
BY_OTHER_TESTS = {  # languages of blocks, and who runs them
    "console": "tests/cli/test_pages.py, tests/cli/test_mail.py",
    "procmail": "tests/cli/test_mail.py", "maildrop": "tests/cli/test_mail.py", "mutt": "tests/cli/test_mail.py",
    "sieve": "tests/cli/test_mail.py", "sieve-filter": "tests/cli/test_mail.py",
}  # fmt: skip
NOT_RUN = {  # blocks that are no doctest, by page: why
    "docs/engines.md": "Spark needs Java: tests/engines/test_spark.py",
    "docs/pictures.md": "rows and models of your own: tests/figures",
    "CONTRIBUTING.md": "tests/test_layout.py, tests/test_recipe_of_a_family.py, tests/test_recipe_of_a_structure.py",
    "docs/index.md": "the menu of the site",
}


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_pages_run_as_written(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    result = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    plt.close("all")
    assert len(WITH_PYTHON) > 20
    assert result.attempted == len(re.findall(r"^ *>>> ", text, flags=re.M))
    assert result.failed == 0


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *pages()])
def test_every_block_of_code_is_run_by_a_test(page: str):
    for block in blocks(page):
        runs = ">>> " in block.code if block.language in ("pycon", "python") else block.language in BY_OTHER_TESTS
        if block.language == "sh":
            check_commands(block.code)
        elif block.language:  # one without is a picture in letters, or what a program prints
            assert runs or page in NOT_RUN, f"{page}: {block}"


def check_commands(code: str) -> None:
    """Commands of a shell: scripts and verbs that exist, extras that can be installed."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    verbs = {command.callback.__name__ for command in app.registered_commands} | {"mail"}
    for line in code.splitlines():
        command = line.split("#")[0].strip()
        if found := re.fullmatch(r"(?:tutorial/bin/)?pip install '?(?:\.|suffit)(?:\[(\w+)\])?'?(?: pandas)?", command):
            assert found[1] is None or found[1] in extras, line
        elif found := re.match(r"(scripts/\w+)", command):
            assert (ROOT / found[1]).is_file(), line
        elif found := re.match(r"suffit (\w+)", command):
            assert found[1] in verbs, line
        else:
            assert command in ("python -m venv tutorial", "tutorial/bin/python"), f"no test knows this command: {line}"


@pytest.mark.parametrize("example", sorted(path.name for path in (DOCS / "gallery").glob("plot_*.py")))
def test_an_example_of_the_gallery_draws(example: str):
    plt.switch_backend("Agg")
    runpy.run_path(str(DOCS / "gallery" / example))
    assert plt.get_fignums()
    plt.close("all")


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *pages()])
def test_links_between_pages_lead_somewhere(page: str):
    here = ROOT / page
    for target in re.findall(r"\]\(((?!http)[^)\s]+)\)", here.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        there = here.parent / name if name else here
        assert there.exists(), f"{page}: {target}"
        assert not anchor or anchor in anchors(there), f"{page}: {target}"


def linked(page: Path) -> set[Path]:
    """The files of the links in a page, and of the names in a list of pages of the site."""
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"\]\(([^)#\s:]+)", text) + [f"{n}.md" for n in re.findall(r"^ *([./\w-]+)$", text, flags=re.M)]
    return {(page.parent / name).resolve() for name in names}


def test_every_page_is_in_the_index_and_in_a_menu_of_the_site():
    site = {DOCS / "index.md", DOCS / "README.md", *(DOCS / "sections").glob("*.md")}
    lessons = set((DOCS / "tutorial").glob("[0-9]*.md"))
    each = {ROOT / page for page in pages()} - site
    assert each - lessons <= linked(DOCS / "README.md")
    assert lessons <= linked(DOCS / "tutorial" / "README.md")
    menus = set().union(*(linked(path) for path in [DOCS / "index.md", *(DOCS / "sections").glob("*.rst")]))
    assert each - lessons <= menus


def test_every_picture_is_on_a_page():
    shown = set().union(*(linked(ROOT / page) for page in ["README.md", *pages()]))
    assert set((DOCS / "figures").glob("*.png")) <= shown


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    here = {"suffit": set(), "suffit.figures": set(), "suffit.engines": set()}
    for part in re.split(r"^(?=.. currentmodule::)", text, flags=re.M)[1:]:
        module = re.match(r".. currentmodule:: (\S+)", part)[1]
        here[module] |= set(re.findall(r"^   (\w+)$", part, flags=re.M)) | set(re.findall(r"``(\w+)``", part))
    assert here["suffit"] - {"suffit"} == set(suffit.__all__)
    assert here["suffit.figures"] == set(suffit.figures.__all__)
    assert set(suffit.engines.__all__) <= here["suffit.engines"]
