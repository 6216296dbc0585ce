"""The README's picture and table: seconds and peak memory of xmceval and other tools, from datasets/speed.json.

The picture is drawn by hand, so that the same figures give the same bytes with any version of anything; it is light or
dark as the reader prefers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.measure import ROOT

README = ROOT / "README.md"
FIGURES, PICTURE = ROOT / "datasets/speed.json", ROOT / "datasets/speed.svg"
ROWS = (250, 1000, 4000, 16_000, 64_000, 256_000)
LARGE = ("amazon-670k", "amazon-3m")
OURS = "xmceval"
COLUMNS = (OURS, "pyxclib", "napkinXC", "PECOS", "scikit-learn", "ranx")  # of the README's table of tools

WIDTH, HEIGHT, TOP, BOTTOM = 800, 330, 46, 48
LEFT, PLOT, GAP = 58, 240, 400  # of a panel: its margin, the width of its axes, and where the next one begins
FONT = (
    "text{font:13px system-ui,sans-serif}.t,.n{font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}"
    "polyline{fill:none;stroke-width:2}.c0 polyline{stroke-width:3.5}"
)
LIGHT = "#1f2328", "#d0d7de", ("#0072b2", "#d55e00", "#009e73", "#b6609a", "#8a6500")  # text, grid, lines
DARK = "#e6edf3", "#3d444d", ("#56b4e9", "#ff9a4d", "#3fd0a4", "#e39aca", "#e0b040")
LEAST_DISTANCE = 15  # between the names at the ends of lines

Lines = Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]]  # of each tool: rows, and what they took


@dataclass(frozen=True)
class Panel:
    """One panel: a figure of the entries, and its axis."""

    key: str
    title: str
    low: float
    high: float
    ticks: Mapping[float, str]

    def y(self, value: float) -> float:
        """Return where a value is."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


PANELS = (
    Panel("wall", "seconds", 0.15, 250, {1: "1 s", 10: "10 s", 100: "100 s"}),
    Panel("peak", "peak memory", 60, 12_000, {100: "100 MB", 1000: "1 GB", 10_000: "10 GB"}),
)


def lines_of(measured: Sequence[Mapping[str, Any]]) -> Lines:
    """Return for each tool what it took for each number of rows, ours first."""
    found: dict[str, list[Any]] = {OURS: []}
    for rows in ROWS:
        for entry in measured:
            if entry["subject"] == f"titles-{rows}":
                found.setdefault(entry["contestant"], []).append((rows, entry))
    return found


def draw(figures: Mapping[str, Any]) -> str:
    """Return the picture as SVG."""
    lines = lines_of(figures["measured"])
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img">',
        f"<title>seconds and peak memory of {', '.join(lines)} for {ROWS[0]:,} to {ROWS[-1]:,} instances</title>",
        f"<style>{FONT}{theme(*LIGHT)}@media (prefers-color-scheme:dark){{{theme(*DARK)}}}</style>",
    ]
    for number, panel in enumerate(PANELS):
        drawn += [f'<g transform="translate({number * GAP})">', *draw_panel(panel, lines), "</g>"]
    return "\n".join([*drawn, "</svg>"]) + "\n"


def theme(ink: str, grid: str, colours: Sequence[str]) -> str:
    """Return the style of a light or dark page."""
    lines = "".join(f".c{i}{{fill:{c}}}.c{i} polyline{{stroke:{c}}}" for i, c in enumerate(colours))
    return f"text{{fill:{ink}}}.g{{stroke:{grid}}}{lines}"


def x(rows: float) -> float:
    """Return where a number of rows is in a panel."""
    return LEFT + PLOT * math.log(rows / ROWS[0]) / math.log(ROWS[-1] / ROWS[0])


def draw_panel(panel: Panel, lines: Lines) -> Iterator[str]:
    """Yield the elements of one panel."""
    right, base = LEFT + PLOT, HEIGHT - BOTTOM
    yield f'<text class="t" x="{LEFT}" y="24">{panel.title}</text>'
    for value, text in panel.ticks.items():
        y = panel.y(value)
        yield f'<path class="g" d="M{LEFT} {y:.1f}H{right}"/>'
        yield f'<text class="e" x="{LEFT - 6}" y="{y + 4:.1f}">{text}</text>'
    for rows in (1000, 10_000, 100_000):
        yield f'<path class="g" d="M{x(rows):.1f} {TOP}V{base}"/>'
        yield f'<text class="m" x="{x(rows):.1f}" y="{base + 18}">{rows:,}</text>'
    yield f'<text class="m" x="{LEFT + PLOT / 2:g}" y="{base + 38}">instances</text>'
    paths = {
        name: [(x(rows), panel.y(entry[panel.key]["median"])) for rows, entry in points]
        for name, points in lines.items()
    }
    heights = apart({name: path[-1][1] for name, path in paths.items() if path[-1][0] >= right - 1})
    for number, (name, path) in enumerate(paths.items()):
        corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in path)
        dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in path)
        yield f'<g class="c{number}"><polyline points="{corners}"/>{dots}</g>'
        a, b = path[-1]
        yield f'<text class="n c{number}" x="{a + 9:.1f}" y="{heights.get(name, b) + 4:.1f}">{name}</text>'


def apart(heights: Mapping[str, float]) -> dict[str, float]:
    """Return heights of names that do not overlap, in the order of the lines."""
    placed: dict[str, float] = {}
    below = math.inf
    for name in sorted(heights, key=lambda name: -heights[name]):
        placed[name] = below = min(heights[name], below - LEAST_DISTANCE)
    return placed


def show(key: str, value: float) -> str:
    """Return seconds or MB for people."""
    if key == "wall":
        return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"
    return f"{value:.0f} MB" if value < 1000 else f"{value / 1000:.1f} GB"


def rows_of_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rows of the README's table of tools that have figures: for as many instances as a tool was given."""
    ends = {name: points[-1] for name, points in lines_of(figures["measured"]).items()}
    for head, key in (("Time", "wall"), ("Memory", "peak")):
        medians = {name: (n, entry[key]["median"]) for name, (n, entry) in ends.items()}
        cells = {name: show(key, value) + f" for {n:,}" * (n < ROWS[-1]) for name, (n, value) in medians.items()}
        cells[OURS] = f"**{cells[OURS]}**"
        yield " | ".join([f"| {head}", *(cells.get(name, "–") for name in COLUMNS)]) + " |"


def with_figures(readme: str, figures: Mapping[str, Any]) -> str:
    """Return the README with the figures in it."""
    for row in rows_of_table(figures):
        head = row.split(" | ", maxsplit=1)[0]
        readme = re.sub(rf"(?m)^{re.escape(head)} \|.*$", lambda _, row=row: row, readme)
    return readme


def redraw() -> None:
    """Write the picture, and the figures of the README, anew."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    PICTURE.write_text(draw(figures), encoding="utf-8")
    README.write_text(with_figures(README.read_text(encoding="utf-8"), figures), encoding="utf-8")
