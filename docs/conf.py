"""How Sphinx makes the site of the pages: ``scripts/docs``."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # pictures.py of the gallery

project = "suffit"
author = "The suffit developers"
copyright = author
release = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
extensions = ["sphinx.ext.autosummary", "numpydoc", "myst_parser", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_site", "README.md", "figures", "gallery", "examples/GALLERY_HEADER.rst"]

# Pages are Markdown that reads well by itself; anchors are those of code hosts.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
html_theme = "pydata_sphinx_theme"
html_title = "suffit"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["suffit.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
}

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"  # numpydoc's sections have them in words
numpydoc_show_class_members = False  # the pages of classes show them in full
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"/plot_\d",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "plot_gallery": os.environ.get("SUFFIT_PLOT_GALLERY", "True") == "True",
}

# Pages of the site that are files elsewhere, and what stands below them.
SOURCES = {
    "index": HERE / "README.md",
    "sections/contributing": HERE.parent / "CONTRIBUTING.md",
    "sections/changelog": HERE.parent / "CHANGELOG.md",
}
BELOW = {
    "tutorial/README": [
        "1-bayes-rule", "2-gaussians", "3-exponential-families", "4-naive-bayes", "5-tables", "6-mail",
    ],
}  # fmt: skip
# Links to what a code host shows as a file or a folder, as links to pages of the site.
ELSEWHERE = {
    "CONTRIBUTING.md": "sections/contributing.md",
    "docs/README.md": "index.md",
    "README.md": "index.md",
    "gallery/": "examples/index.rst",
    "api/": "api/index.rst",
}
LANGUAGES = ("procmail", "maildrop", "mutt", "sieve-filter")  # of which Pygments has no grammar


def to_the_site(app: Sphinx, name: str, content: list[str]) -> None:
    """The text of a page, with links that lead somewhere in the site, and with its parts below it."""
    here = SOURCES[name].parent if name in SOURCES else (HERE / name).parent
    below = ["```{toctree}", ":hidden:", "", *BELOW.get(name, []), "```"]
    text = "\n".join([
        SOURCES[name].read_text(encoding="utf-8") if name in SOURCES else "",
        content[0],
        *(below if name in BELOW else []),
    ])  # fmt: skip

    def moved(link: re.Match[str]) -> str:
        target = os.path.relpath(here / link[1], HERE) + "/" * link[1].endswith("/")
        target = ELSEWHERE.get(target.removeprefix("../"), target)
        return f"]({os.path.relpath(HERE / target, (HERE / name).parent)}{link[2] or ''})"

    content[0] = re.sub(r"\]\((?!\w+:)([\w./-]+)(#[\w-]+)?\)", moved, text) if not name.startswith("api/") else text


def plain_names(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Names such as n_features_in_ in shapes of arrays are no links, as their last character would have it."""
    lines[:] = [re.sub(r"(?<=\w)_(?=[,)])", r"\_", line) if " of shape (" in line else line for line in lines]


def setup(app: Sphinx) -> None:
    """Join the above to Sphinx."""
    app.connect("source-read", to_the_site)
    app.connect("autodoc-process-docstring", plain_names, priority=900)  # after numpydoc
    for language in LANGUAGES:
        app.add_lexer(language, TextLexer)
