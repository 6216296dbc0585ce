"""The guide to speed: small and middling work by xmceval and by others, from datasets/peers.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).resolve().parents[2] / "datasets/peers.json"
OURS = "xmceval"
REFERENCES = ("one pass over the truth", "numpy.load")  # which do not do the work
HEAD = ("work", "xmceval", "fastest other", "ratio")
START = """# Speed: xmceval beside what else does the same

The README's picture has whole runs on large text files. Below is smaller work, in memory or by whole commands, each
beside the fastest of the others that could do it here. Times are processor time (user and system), the median of
{runs} runs in turns, in processes of their own, with compiled code and cached files, on {processors} processors
({processor}); calls in memory are timed after a first one. Memory is what the calls took beyond their data, for
commands the peak of the process. A ratio below 1 means that xmceval is faster.
"""
END = """
Measured with {versions}.

    python scripts/bench peers --python PYTHON    # measures this on your machine, beside what PYTHON has installed
"""


def write_guide(figures: Mapping[str, Any]) -> str:
    """Return the guide as Markdown."""
    machine, measured = figures["machine"], figures["measured"]
    start = START.format(
        runs=measured[0]["runs"], processors=machine["processors"], processor=machine["processor"].replace("(R)", "")
    )
    lines = [HEAD, ("---", "---", "---", "---:"), *_rows(measured)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    versions = ", ".join(f"{name} {number}" for name, number in figures["tools"].items())
    return f"{start}\n{table}\n{END.format(versions=versions)}"


def _rows(measured: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each way of ours to do a work; where all are ours, beside the first."""
    for work in dict.fromkeys(entry["subject"] for entry in measured):
        entries = (entry for entry in measured if entry["subject"] == work)
        done = [entry for entry in entries if entry["contestant"] not in REFERENCES]
        others = [entry for entry in done if not entry["contestant"].startswith(OURS)] or done[:1]
        best = min(others, key=_time)
        for entry in done:
            if entry is not best and entry not in others:
                own = entry["contestant"].removeprefix(OURS).lstrip(".,: ")
                ours, other = f"{own}: {_figures(entry)}", f"{best['contestant']}: {_figures(best)}"
                yield work, ours, other, f"{_time(entry) / _time(best):.2f}"


def _time(entry: Mapping[str, Any]) -> float:
    return float(entry["cpu"]["median"])


def _figures(entry: Mapping[str, Any]) -> str:
    """Return the time and the memory of an entry."""
    milliseconds = 1e3 * _time(entry)
    digits = 2 if milliseconds < 10 else 0
    time = f"{milliseconds:.{digits}f} ms" if milliseconds < 1000 else f"{milliseconds / 1e3:.1f} s"
    return f"{time}, {entry['peak']['median']:.0f} MB"


def read_guide() -> str:
    """Return the guide from the figures that are recorded."""
    return write_guide(json.loads(RECORDED.read_text(encoding="utf-8")))
