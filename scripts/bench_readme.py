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
        {seconds(start)} of each. `scripts/bench` measures all of this
        ({FIGURES.relative_to(ROOT).as_posix()}), other revisions (`--against REV`) and how cost grows (`--scaling`).
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
