"""The picture of the README: seconds and peak memory of xmceval and other tools against rows, from datasets/speed.json.

It is drawn by hand, so that the same figures give the same bytes with any version of anything, and is light or dark as
the reader prefers. The figures are kept with the data sets, since they are data: scripts only make them.
"""

from __future__ import annotations

import json
import math
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "datasets/speed.json"
PICTURE = ROOT / "datasets/speed.svg"
ROWS = (250, 1000, 4000, 16_000, 64_000, 256_000)
OURS = "xmceval"
LARGE = ("amazon-670k", "amazon-3m")
WORDS, UTF8 = "wc -w", "wc -w, UTF-8"

WIDTH, HEIGHT, TOP, BOTTOM = 800, 330, 46, 48
LEFT, PLOT, GAP = 58, 240, 400  # of a panel: its margin, the width of its axes, and where the next one begins
FONT = (
    "text{font:13px system-ui,sans-serif}.t,.n{font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}"
    "polyline{fill:none;stroke-width:2}.c0 polyline{stroke-width:3.5}"
)
LIGHT = "#1f2328", "#d0d7de", ("#0072b2", "#d55e00", "#009e73", "#b6609a", "#8a6500")  # text, grid, lines
DARK = "#e6edf3", "#3d444d", ("#56b4e9", "#ff9a4d", "#3fd0a4", "#e39aca", "#e0b040")
LETTER = 8.6  # width of a letter of a name
LEAST_DISTANCE = 15  # between the names at the ends of lines

Entry = Mapping[str, Any]
Place = tuple[float, ...]


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
    Panel("wall", "seconds", 0.25, 250, {1: "1 s", 10: "10 s", 100: "100 s"}),
    Panel("peak", "peak memory", 60, 12_000, {100: "100 MB", 1000: "1 GB", 10_000: "10 GB"}),
)


def lines_of(measured: Sequence[Entry]) -> dict[str, list[tuple[int, Entry]]]:
    """Return for each tool its (rows, entry), ours first."""
    found: dict[str, list[tuple[int, Entry]]] = {OURS: []}
    for rows in ROWS:
        for entry in measured:
            if entry["subject"] == f"titles-{rows}":
                found.setdefault(entry["contestant"], []).append((rows, entry))
    return found


def x(rows: float) -> float:
    """Return where a number of rows is in a panel."""
    return LEFT + PLOT * math.log(rows / ROWS[0]) / math.log(ROWS[-1] / ROWS[0])


def draw(figures: Mapping[str, Any]) -> str:
    """Return the picture as SVG."""
    lines = lines_of(figures["measured"])
    style = f"{FONT}{theme(*LIGHT)}@media (prefers-color-scheme:dark){{{theme(*DARK)}}}"
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img">',
        f"<title>{described(lines)}</title>",
        f"<style>{style}</style>",
    ]
    for number, panel in enumerate(PANELS):
        drawn += [f'<g transform="translate({number * GAP})">', *draw_panel(panel, lines), "</g>"]
    return "\n".join([*drawn, "</svg>"]) + "\n"


def theme(ink: str, grid: str, colours: Sequence[str]) -> str:
    """Return the style of a light or dark page."""
    lines = "".join(f".c{i}{{fill:{c}}}.c{i} polyline{{stroke:{c}}}" for i, c in enumerate(colours))
    return f"text{{fill:{ink}}}.g{{stroke:{grid}}}{lines}"


def described(lines: Mapping[str, Any]) -> str:
    """Return the text for readers who do not see the picture."""
    return f"seconds and peak memory of {', '.join(lines)} for {ROWS[0]:,} to {ROWS[-1]:,} rows"


def draw_panel(panel: Panel, lines: Mapping[str, Sequence[tuple[int, Entry]]]) -> list[str]:
    """Return the elements of one panel."""
    right, base = LEFT + PLOT, HEIGHT - BOTTOM
    drawn = [f'<text class="t" x="{LEFT}" y="24">{panel.title}</text>']
    for value, text in panel.ticks.items():
        y = panel.y(value)
        drawn.append(f'<path class="g" d="M{LEFT} {y:.1f}H{right}"/>')
        drawn.append(f'<text class="e" x="{LEFT - 6}" y="{y + 4:.1f}">{text}</text>')
    for rows in (1000, 10_000, 100_000):
        drawn.append(f'<path class="g" d="M{x(rows):.1f} {TOP}V{base}"/>')
        drawn.append(f'<text class="m" x="{x(rows):.1f}" y="{base + 18}">{rows:,}</text>')
    drawn.append(f'<text class="m" x="{LEFT + PLOT / 2:g}" y="{base + 38}">rows</text>')
    paths = {
        name: [(x(rows), panel.y(entry[panel.key]["median"])) for rows, entry in points]
        for name, points in lines.items()
    }
    heights = apart({name: path[-1][1] for name, path in paths.items() if path[-1][0] >= right - 1})
    for number, (name, path) in enumerate(paths.items()):
        corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in path)
        dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in path)
        drawn.append(f'<g class="c{number}"><polyline points="{corners}"/>{dots}</g>')
        a, b = (path[-1][0] + 9, heights[name]) if name in heights else free_place(name, paths, heights)
        drawn.append(f'<text class="n c{number}" x="{a:.1f}" y="{b + 4:.1f}">{name}</text>')
    return drawn


def free_place(name: str, paths: Mapping[str, Sequence[Place]], heights: Mapping[str, float]) -> Place:
    """Return where the name of a line that ends early meets no line and no other name: right of its end, above ..."""
    a, b = paths[name][-1]
    wide = LETTER * len(name)
    taken = [place for path in paths.values() for corners in pairwise(path) for place in between(*corners)]
    taken += [(LEFT + PLOT + 9 + step, height) for height in heights.values() for step in range(0, 80, 5)]
    places = [(a + 9, b), (a - wide / 2, b - 15), (a - wide / 2, b + 15), (a - wide - 9, b), (a + 9, b + 8)]

    def crowd(place: Place) -> int:
        return sum(-4 < u - place[0] < wide + 4 and abs(v - place[1]) < LEAST_DISTANCE - 4 for u, v in taken)

    return min(places, key=crowd)


def between(start: Place, end: Place) -> list[Place]:
    """Return places along a line, one in five pixels or more."""
    n = 2 + int(math.dist(start, end) / 5)
    return [tuple(s + (e - s) * i / (n - 1) for s, e in zip(start, end, strict=True)) for i in range(n)]


def apart(heights: Mapping[str, float]) -> dict[str, float]:
    """Return heights of names that do not overlap, in the order of the lines."""
    names, placed = sorted(heights, key=lambda name: -heights[name]), {}
    below = math.inf
    for name in names:
        placed[name] = below = min(heights[name], below - LEAST_DISTANCE)
    return placed


README = ROOT / "README.md"
LINE = 138  # letters of a line of the README


def find(figures: Mapping[str, Any], subject: str, contestant: str = OURS) -> Entry:
    """Return what was measured of a contestant."""
    for entry in figures["measured"]:
        if (entry["subject"], entry["contestant"]) == (subject, contestant):
            return entry
    sys.exit(f"{FIGURES} has no {subject} yet: python scripts/bench picture --measure {subject}")


def seconds(entry: Entry) -> str:
    """Return the median of seconds for people: three digits at most."""
    value = entry["wall"]["median"]
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def amount(entry: Entry) -> str:
    """Return the peak of memory for people."""
    value = entry["peak"]["median"]
    return f"{value:.0f} MB" if value < 1000 else f"{value / 1000:.1f} GB"


def difference(figures: Mapping[str, Any]) -> str:
    """Return how far the values of other tools are from ours at most, in one digit."""
    return f"{max(each['largest_difference'] for each in figures['agreement']):.0e}".replace("e-0", "e-")


def size(figures: Mapping[str, Any], subject: str) -> str:
    """Return the size of the files of a shape."""
    [found] = (each["bytes"] for each in figures["inputs"] if each["subject"] == subject)
    return f"{found / 1e9:.1f} GB" if found >= 1e9 else f"{found / 1e6:.0f} MB"


def times(figures: Mapping[str, Any], subject: str, base: str) -> str:
    """Return how many times as long as counting words a large set takes."""
    [found] = (
        each["wall"]["median"]
        for each in figures["ratios"]
        if (each["subject"], each["contestant"], each["to"]) == (subject, OURS, base)
    )
    return f"{found:.2f}"


def bullet(figures: Mapping[str, Any]) -> str:
    """Return the line about speed of the README's first screen."""
    ours, words = find(figures, "amazon-3m"), find(figures, "amazon-3m", WORDS)
    return wrap(
        f"- **Fast:** {size(figures, 'amazon-3m')} of text, shaped like Amazon-3M, in {seconds(ours)} on "
        f"{figures['machine']['processors']} processors with {amount(ours)} of memory; `LC_ALL=C wc -w` takes "
        f"{seconds(words)}.",
        indent="  ",
    )


def section(figures: Mapping[str, Any]) -> str:
    """Return the section of the README about speed."""
    lines = lines_of(figures["measured"])
    machine = figures["machine"]
    where = re.sub(r"\(R\)| Processor", "", machine["processor"]) + ", virtual, shared" * machine["virtual"]
    ends = sorted(((name, *points[-1]) for name, points in lines.items()), key=lambda end: -end[1])
    texts = [
        f"{name} {seconds(entry)}, {amount(entry)}" + f" ({rows:,} rows)" * (rows < ROWS[-1])
        for name, rows, entry in ends
    ]
    start, more, less = (find(figures, subject) for subject in (f"titles-{ROWS[0]}", "amazon-3m", "amazon-670k"))
    about = f"""
        Text files shaped like LF-AmazonTitles-131K (131,073 labels, 100 predictions per row), whole processes in turns
        on {machine["processors"]} processors ({where}), kernels compiled, files in the page cache; medians, one run
        where it takes longer than 15 s. Each computes what it has of P, nDCG, PSP and PSnDCG @1,3,5: PECOS P,
        scikit-learn nDCG of dense matrices, the others all; pyxclib, which is not on PyPI, runs from its source.
        {ROWS[-1]:,} rows: {"; ".join(texts)}. Values differ by at most {difference(figures)}.
    """
    larger = f"""
        Beside `wc -w` on the same files: {size(figures, "amazon-3m")} like Amazon-3M take {seconds(more)}
        ({more["cpu"]["median"]:.1f} s of processors, {amount(more)}), {times(figures, "amazon-3m", WORDS)} times as
        long as with `LC_ALL=C` and {times(figures, "amazon-3m", UTF8)} times as with `C.UTF-8`;
        {size(figures, "amazon-670k")} like Amazon-670K {seconds(less)} ({less["cpu"]["median"]:.1f} s, {amount(less)}),
        {times(figures, "amazon-670k", WORDS)} and {times(figures, "amazon-670k", UTF8)} times. Start-up is
        {seconds(start)} of each. `python scripts/bench` measures all of this
        ({FIGURES.relative_to(ROOT).as_posix()}), other revisions (`--against REV`) and how cost grows (`--scaling`).
    """
    picture = f"![Seconds and peak memory against rows]({PICTURE.relative_to(ROOT).as_posix()})"
    return f"{picture}\n\n{wrap(about)}\n\n{wrap(larger)}"


def wrap(text: str, indent: str = "") -> str:
    """Wrap a paragraph of the README."""
    words = " ".join(text.split())
    return textwrap.fill(words, LINE, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def with_figures(readme: str, figures: Mapping[str, Any]) -> str:
    """Return the README with the figures in it."""
    readme = re.sub(r"(?ms)^- \*\*Fast:\*\*.*?\n(?=- )", lambda _: bullet(figures) + "\n", readme)
    return re.sub(r"(?s)(?<=\n## Speed\n\n).*?(?=\n\n## )", lambda _: section(figures), readme)


def redraw() -> None:
    """Write the picture, and the README's text about it, anew from the figures."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    PICTURE.write_text(draw(figures), encoding="utf-8")
    README.write_text(with_figures(README.read_text(encoding="utf-8"), figures), encoding="utf-8")
