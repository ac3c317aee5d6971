"""docs/benchmarks.md, its picture and README's table, from bench/results/full.json: no number is typed by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FULL = ROOT / "bench" / "results" / "full.json"
GROWTH = ROOT / "bench" / "results" / "growth.json"


def seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def least(row: dict[str, Any]) -> float:
    """The lower of the two ratios: what is promised."""
    return min(row["ratio"], row["plain"])


def fits(row: dict[str, Any]) -> bool:
    """Whether it takes no more memory than promised."""
    return row["room"] is None or row["memory"]["ours"] <= row["room"]


def kept(row: dict[str, Any]) -> bool:
    """Whether it is as fast and as lean as promised."""
    return least(row) >= row["floor"] and fits(row)


def page(result: dict[str, Any]) -> str:
    limits = result["limits"]
    lines = [
        "# Benchmarks",
        "",
        f"Made by `scripts/bench --report` from `bench/results/full.json`: {result['machine']}, Python "
        f"{result['python']}, scikit-learn {result['sklearn']}. Each ratio is of one run; tasks may be of several, as "
        "`scripts/bench --report TASK` measures some of them again.",
        "",
        "Both sides run in one process on the same data (float64; categories int64), after a check that their",
        "probabilities agree, in turns of a tenth of a second (or one call, if longer); times are medians of turns.",
        "Three comparisons are of things that are not the same, and have no such check: river, whose variances are",
        "others; tables with nulls, where the peer is GaussianNB on columns that were filled and categories that were",
        "numbered; our own fit with missing values against one without. A fit adds sums up, the first prediction after",
        "it solves them, which is in neither time. *ratio* is scikit-learn's time over",
        "suffit's with memory kept by malloc (`MALLOC_MMAP_THRESHOLD_`, `MALLOC_TRIM_THRESHOLD_`), so that page faults",
        "on scikit-learn's large temporaries do not flatter suffit; *plain* is the same with malloc as it comes.",
        "*goal* is the ratio that is wanted; what falls short of it is in **bold**. *of the limit* compares with what",
        f"the machine did in the same run: {limits['read2']:.0f} GB/s read",
        f"by two threads ({limits['read1']:.0f} by one), {limits['dgemm']:.0f} Gflop/s dgemm, {limits['dsyrk']:.0f} "
        "Gflop/s dsyrk. *memory* is what a call takes at its peak beyond what the process held before it, with malloc "
        "as it comes. Fits may take 20 MB, predictions 20 MB beside their answer; the first prediction after a fit "
        "also solves the sums, and keeps a table of their size.",
        "",
        "![Ratios](figures/benchmarks.png)",
        "",
        "| task | scikit-learn | suffit | ratio | plain | goal | of the limit | memory: scikit-learn | suffit |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        share = f"{row['share']:.0%} {row['limit']}" if row["limit"] else ""
        mark, over = "**" if least(row) < row["floor"] else "", "" if fits(row) else "**"
        lines.append(
            f"| {row['task']} | {seconds(row['peer'])} | {seconds(row['ours'])} | {mark}{row['ratio']:.1f}{mark} | "
            f"{row['plain']:.1f} | {row['floor']:g} | {share} | "
            f"{row['memory']['peer'] / 1e6:.0f} MB | {over}{row['memory']['ours'] / 1e6:.0f} MB{over} |"
        )
    if GROWTH.exists():
        lines += [
            "",
            "## Growth",
            "",
            "Fit time against rows, columns, classes and non-zeros, of the default model beside gradient boosting:",
            "`scripts/bench growth`.",
            "",
            "![Growth](figures/growth.png)",
        ]
    return "\n".join(lines) + "\n"


def picture(result: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = result["rows"][::-1]
    figure, axes = plt.subplots(figsize=(9, 0.27 * len(rows) + 1))
    colours = ["#2c6fbb" if least(row) >= row["floor"] else "#c44e52" for row in rows]
    axes.barh(range(len(rows)), [least(row) for row in rows], color=colours, height=0.65)
    for i, row in enumerate(rows):
        axes.plot([row["floor"]] * 2, [i - 0.45, i + 0.45], color="black", lw=1.3)
        axes.text(max(least(row), row["floor"]) * 1.06, i, f"{least(row):.1f}", va="center", fontsize=7)
    axes.set_yticks(range(len(rows)), [row["task"] for row in rows], fontsize=7)
    axes.set_xscale("log")
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.axvline(1, color="#888888", lw=0.8, ls=":")
    axes.set_xlabel("times faster than scikit-learn, the lower of both runs (black mark: the goal; red: short of it)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "figures" / "benchmarks.png", dpi=110, bbox_inches="tight")
    plt.close(figure)


def growth_picture() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import EngFormatter, NullLocator

    series = json.loads(GROWTH.read_text())
    figure, grid = plt.subplots(-(-len(series) // 2), 2, figsize=(9, 3.5 * -(-len(series) // 2)), squeeze=False)
    for axes in grid.flat[len(series) :]:
        axes.axis("off")
    for axes, (along, rows) in zip(grid.flat, series.items(), strict=False):
        for name, colour in (("suffit", "#2c6fbb"), ("scikit-learn", "#c44e52")):
            axes.plot([r["size"] for r in rows], [r[name] for r in rows], "o-", color=colour, label=name, ms=4)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks([r["size"] for r in rows])
        axes.xaxis.set_major_formatter(lambda size, _: EngFormatter(sep="")(float(f"{size:.3g}")))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_title(along, fontsize=10)
        axes.set_ylabel("seconds")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "figures" / "growth.png", dpi=110, bbox_inches="tight")
    plt.close(figure)


README_ROWS = (
    "GaussianNB 1,000,000×50, 2 classes fit",
    "GaussianNB 1,000,000×50, 10 classes predict_proba",
    "LDA 1,000,000×50, 10 classes, against svd fit",
    "QDA 1,000,000×50, 10 classes, against eigen fit",
    "QDA 1,000,000×50, 10 classes, against eigen predict_proba",
    "CategoricalNB 1,000,000×20, 16 categories, 10 classes fit",
    "MultinomialNB 200,000×100,000 CSR, 20 classes fit",
    "TextNB, 100 MB of text, 2 classes, exact vocabulary, fit",
    "TextNB, 100 MB of text, 20 classes, hashed, predict",
    "GaussianNB one row, predict_proba",
    "GaussianNB partial_fit, batches of 1",
)


def readme(result: dict[str, Any]) -> None:
    """Replace the table between the markers in README.md."""
    rows = {row["task"]: row for row in result["rows"]}
    lines = ["| task | scikit-learn | suffit | times faster |", "|---|---:|---:|---:|"]
    for name in README_ROWS:
        row = rows[name]
        lines.append(f"| {name} | {seconds(row['peer'])} | {seconds(row['ours'])} | {least(row):.1f} |")
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    block = "<!-- benchmarks -->\n" + "\n".join(lines) + "\n<!-- /benchmarks -->"
    path.write_text(
        re.sub(r"<!-- benchmarks -->.*<!-- /benchmarks -->", lambda _: block, text, flags=re.S), encoding="utf-8"
    )


def write() -> None:
    """Everything that is made from the results."""
    result = json.loads(FULL.read_text())
    picture(result)
    if GROWTH.exists():
        growth_picture()
    (ROOT / "docs" / "benchmarks.md").write_text(page(result), encoding="utf-8")
    readme(result)


if __name__ == "__main__":
    write()
