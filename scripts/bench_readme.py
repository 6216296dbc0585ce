"""The README's text about speed, from datasets/speed.json; scripts/bench picture writes it, and the picture."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

from bench_picture import FIGURES, OURS, PICTURE, ROOT, ROWS, UTF8, WORDS, Entry, draw, lines_of

README = ROOT / "README.md"
WIDTH = 138  # of its lines


def find(figures: Mapping[str, Any], subject: str, contestant: str = OURS) -> Entry:
    """Return what was measured of a contestant."""
    for entry in figures["measured"]:
        if (entry["subject"], entry["contestant"]) == (subject, contestant):
            return entry
    sys.exit(f"{FIGURES} has no {subject} yet: scripts/bench picture --measure {subject}")


def seconds(entry: Entry) -> str:
    """Return the median of seconds for people: three digits at most."""
    value = entry["wall"]["median"]
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def amount(entry: Entry) -> str:
    """Return the peak of memory for people."""
    value = entry["peak"]["median"]
    return f"{value:.0f} MB" if value < 1000 else f"{value / 1000:.1f} GB"


def difference(figures: Mapping[str, Any], subject: str) -> float:
    """Return how far the values of other tools are from ours at most."""
    return max(each["largest_difference"] for each in figures["agreement"] if each["subject"] == subject)


def size(figures: Mapping[str, Any], subject: str) -> str:
    """Return the size of the files of a shape."""
    [found] = (each["bytes"] for each in figures["inputs"] if each["subject"] == subject)
    return f"{found / 1e9:.1f} GB" if found >= 1e9 else f"{found / 1e6:.0f} MB"


def against_words(figures: Mapping[str, Any], subject: str) -> str:
    """Return what a large set took, and how that compares with counting its words."""
    ours = find(figures, subject)
    times = {
        each["to"]: each["wall"]["median"]
        for each in figures["ratios"]
        if (each["subject"], each["contestant"]) == (subject, OURS)
    }
    return (
        f"{seconds(ours)}, {ours['cpu']['median']:.1f} s of processors and {amount(ours)}, {times[WORDS]:.2f} times "
        f"`LC_ALL=C wc -w` and {times[UTF8]:.2f} times `LC_ALL=C.UTF-8 wc -w`"
    )


def bullet(figures: Mapping[str, Any]) -> str:
    """Return the line about speed of the README's first screen."""
    ours, words = find(figures, "amazon-3m"), find(figures, "amazon-3m", WORDS)
    return wrap(
        f"- **Fast:** {size(figures, 'amazon-3m')} of text, shaped like Amazon-3M, in {seconds(ours)} on "
        f"{figures['machine']['processors']} processors with {amount(ours)} of memory; `LC_ALL=C wc -w` takes "
        f"{seconds(words)} to count its words.",
        indent="  ",
    )


def section(figures: Mapping[str, Any]) -> str:
    """Return the section of the README about speed."""
    lines = lines_of(figures["measured"])
    machine = figures["machine"]
    where = re.sub(r"\(R\)| Processor", "", machine["processor"]) + ", virtual, shared" * machine["virtual"]
    texts = [
        f"{name} {seconds(entry)} and {amount(entry)}" + f" for {rows:,} rows" * (rows < ROWS[-1])
        for name, (rows, entry) in sorted(
            ((name, points[-1]) for name, points in lines.items()), key=lambda each: -each[1][0]
        )
    ]
    largest, start = f"titles-{ROWS[-1]}", find(figures, f"titles-{ROWS[0]}")
    about = f"""
        Whole processes on synthetic text files shaped like LF-AmazonTitles-131K: 131,073 labels, 100 predictions per
        row; {machine["processors"]} processors ({where}), kernels compiled, files in the page cache; medians of runs in
        turns. Each tool computes what it has of P, nDCG, PSP and PSnDCG @1,3,5, as its documentation does: xmceval
        (with intervals), pyxclib and napkinXC all four, PECOS P, scikit-learn nDCG of dense matrices. For
        {ROWS[-1]:,} rows: {"; ".join(texts)}. Their values differ from xmceval's by at most
        {difference(figures, largest):.0e}.
    """
    larger = f"""
        Larger sets in turns with `wc -w` on the same files: {size(figures, "amazon-3m")} shaped like Amazon-3M, 742,507
        rows, take {against_words(figures, "amazon-3m")}; {size(figures, "amazon-670k")} like Amazon-670K, 153,025 rows,
        {against_words(figures, "amazon-670k")}. Start-up, most of it numba's, is {seconds(start)} of each. Disk time is
        not included. `scripts/bench` makes the data and measures all of this, kept in
        {FIGURES.relative_to(ROOT).as_posix()}; it also compares revisions (`--against REV`) and shows how cost grows
        (`--scaling`).
    """
    picture = f"![Seconds and peak memory against rows]({PICTURE.relative_to(ROOT).as_posix()})"
    return f"{picture}\n\n{wrap(about)}\n\n{wrap(larger)}"


def wrap(text: str, indent: str = "") -> str:
    """Wrap a paragraph of the README."""
    words = " ".join(text.split())
    return textwrap.fill(words, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def with_figures(readme: str, figures: Mapping[str, Any]) -> str:
    """Return the README with the figures in it."""
    readme = re.sub(r"(?ms)^- \*\*Fast:\*\*.*?\n(?=- )", lambda _: bullet(figures) + "\n", readme)
    return re.sub(r"(?s)(?<=\n## Speed\n\n).*?(?=\n\n## )", lambda _: section(figures), readme)


def redraw() -> None:
    """Write the picture, and the README's text about it, anew from the figures."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    PICTURE.write_text(draw(figures), encoding="utf-8")
    README.write_text(with_figures(README.read_text(encoding="utf-8"), figures), encoding="utf-8")
