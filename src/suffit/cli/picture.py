"""A picture of a posterior over two columns, as SVG: all other columns are missing, and so marginalised."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ..data.arrays import Array, Cells
from ..estimators.base import GenerativeEstimator

ACROSS, UP = "bill_length_mm", "bill_depth_mm"
WIDE, HIGH, LEFT, LOW = 640, 420, 70, 60  # of the plane, and the margins at its left and below
CELLS = 48
COLOURS = ((44, 111, 187), (196, 78, 82), (58, 146, 58))


def posterior_picture(model: GenerativeEstimator, columns: dict[str, Cells], y: Cells) -> str:
    """p(class) from two columns alone, as colours, and the rows as dots."""
    x, z = (np.array([np.nan if v is None else v for v in columns[name]], float) for name in (ACROSS, UP))
    ends = [_ends(values) for values in (x, z)]
    grid = np.meshgrid(*(a + (b - a) * (np.arange(CELLS) + 0.5) / CELLS for a, b in ends))
    P = model.predict_proba(_rows(grid[0].ravel(), grid[1].ravel(), columns))
    parts = [_cell(i % CELLS, i // CELLS, p) for i, p in enumerate(P)]
    colours = dict(zip(model.classes_.tolist(), COLOURS, strict=True))
    for a, b, label in zip(_placed(x, ends[0], WIDE), _placed(z, ends[1], HIGH), y.tolist(), strict=True):
        if np.isfinite(a) and np.isfinite(b):
            dot = f'cx="{LEFT + a:.1f}" cy="{HIGH - b:.1f}" r="3.4"'
            parts.append(f'<circle {dot} fill="rgb{colours[label]}" stroke="white"/>')
    parts += _axes(ends, colours)
    size = f'width="{LEFT + WIDE + 20}" height="{HIGH + LOW + 30}"'
    style = 'font-family="sans-serif" font-size="13"'
    body = "\n".join(parts)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>'
    return f'{svg}\n<g transform="translate(0,26)">\n{body}\n</g>\n</svg>\n'


def _ends(values: Array) -> tuple[float, float]:
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    return least - 0.04 * (most - least), most + 0.04 * (most - least)


def _rows(x: Array, z: Array, columns: dict[str, Cells]) -> dict[str, Cells]:
    nothing = np.full(len(x), None, object)
    return {**dict.fromkeys(columns, nothing), ACROSS: x, UP: z}


def _placed(values: Array, ends: tuple[float, float], length: int) -> Array:
    return (values - ends[0]) / (ends[1] - ends[0]) * length


def _cell(i: int, j: int, p: Array) -> str:
    """The colours of the classes, mixed by their probabilities, pale."""
    r, g, b = (255 - 0.4 * (255 - p @ np.array(COLOURS))).round().astype(int)
    w, h = WIDE / CELLS, HIGH / CELLS
    place = f'x="{LEFT + i * w:.2f}" y="{HIGH - (j + 1) * h:.2f}" width="{w + 0.3:.2f}" height="{h + 0.3:.2f}"'
    return f'<rect {place} fill="rgb({r},{g},{b})"/>'


def _axes(ends: list[tuple[float, float]], colours: dict[Hashable, tuple[int, int, int]]) -> list[str]:
    said = [
        f'<text x="{LEFT}" y="-9" font-weight="bold">p(species) from two measurements alone</text>',
        f'<text x="{LEFT + WIDE / 2 - 50}" y="{HIGH + 42}">bill length, mm</text>',
        f'<text transform="translate(20,{HIGH / 2 + 40}) rotate(-90)">bill depth, mm</text>',
    ]
    for k, (label, colour) in enumerate(colours.items()):
        said.append(f'<text x="{LEFT + WIDE - 250 + 90 * k}" y="-9" fill="rgb{colour}">{label}</text>')
    for value in np.arange(5 * np.ceil(ends[0][0] / 5), ends[0][1], 5):
        said.append(f'<text x="{LEFT + _placed(value, ends[0], WIDE) - 8:.0f}" y="{HIGH + 18}">{value:.0f}</text>')
    for value in np.arange(2 * np.ceil(ends[1][0] / 2), ends[1][1], 2):
        said.append(f'<text x="{LEFT - 28}" y="{HIGH - _placed(value, ends[1], HIGH) + 4:.0f}">{value:.0f}</text>')
    return said
