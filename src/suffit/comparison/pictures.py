"""Pictures of a comparison (``pip install "suffit[plot]"``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..figures.style import _pyplot, bare, styles
from .result import Comparison, Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def curve(curves: Curves, ax: Axes, log: bool = False) -> Axes:
    """Error of every model with a band of one standard error; returns the axes."""
    for name, (colour, mark, line) in styles(list(curves.errors)).items():
        x, mean, error = np.array(curves.at), curves.mean(name), curves.standard_error(name)
        ax.plot(x, mean, color=colour, marker=mark, ls=line, ms=4, lw=1.5, label=name)
        ax.fill_between(x, mean - error, mean + error, color=colour, alpha=0.12, lw=0)
    if log:
        ax.set_xscale("log")
        ax.set_xticks(curves.at, [f"{n:.0f}" for n in curves.at], fontsize=8)
        ax.minorticks_off()
    ax.set_xlabel(curves.what)
    ax.set_ylabel("error rate")
    return bare(ax)


def losses(found: Comparison, ax: Axes) -> Axes:
    """The log-loss of every model with two standard errors; returns the axes."""
    order = sorted(found.held, key=lambda name: -found.held[name].mean["log_loss"])
    style = styles(list(found.held))
    for i, name in enumerate(order):
        mean, error = found.held[name].mean["log_loss"], found.held[name].standard_error["log_loss"]
        colour, mark, _ = style[name]
        ax.errorbar(mean, i, xerr=2 * error, color=colour, marker=mark, capsize=3, lw=1.2)
    ax.set_yticks(range(len(order)), [name + ("*" if name in found.filled else "") for name in order])
    ax.set_xlabel("held-out log-loss, ± 2 standard errors" + ("   (* missing values filled)" if found.filled else ""))
    ax.margins(y=0.12)
    return bare(ax)


def overview(found: Comparison) -> Figure:
    """Log-loss, learning curves and robustness on one page; returns the figure."""
    plt = _pyplot()
    panels = 1 + (found.curves is not None) + len(found.robustness)
    rows, columns = (1, panels) if panels < 3 else ((panels + 1) // 2, 2)
    figure, axes = plt.subplots(rows, columns, figsize=(5.6 * columns, 3.8 * rows), layout="constrained", squeeze=False)
    free = list(axes.flat)
    losses(found, free.pop(0))
    if found.curves is not None:
        ax = curve(found.curves, free.pop(0), log=True)
        ax.legend(frameon=False, fontsize=8)
    for curves in found.robustness.values():
        curve(curves, free.pop(0))
    for ax in free:
        ax.set_axis_off()
    return figure
