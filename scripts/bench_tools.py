"""xmceval beside other tools on the same text files: each does all it can of P, nDCG, PSP and PSnDCG @1,3,5."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench_picture import OURS, ROWS
from bench_processes import Command, Usage, measure, progress, score
from bench_record import Figures

PEERS = Path(__file__).with_name("bench_peers.py")
MOST_SECONDS, MOST_MB = 240.0, 12_000.0  # that a tool may need, if it needs four times as much as for the last size
TURNS, LONG = 3, 15.0  # a tool that takes so many seconds has one turn
CUTS = (1, 3, 5)

Values = dict[str, list[float]]


def tools_of(python: str) -> dict[str, str]:
    """Return the tools that an interpreter has installed, and their versions."""
    done = subprocess.run([python, str(PEERS)], check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def can_hold(tool: str, rows: int, measured: Sequence[Figures]) -> bool:
    """Tell whether a tool may be asked for so many rows, from what it needed for the last size."""
    if rows == ROWS[0]:
        return True
    before = f"titles-{ROWS[ROWS.index(rows) - 1]}"
    found = [entry for entry in measured if (entry["subject"], entry["contestant"]) == (before, tool)]
    growth = rows / ROWS[ROWS.index(rows) - 1]
    return any(
        growth * entry["wall"]["median"] <= MOST_SECONDS and growth * entry["peak"]["median"] <= MOST_MB
        for entry in found
    )


def measure_tools(
    paths: Mapping[str, str], tools: Sequence[str], python: str
) -> tuple[dict[str, list[Usage]], dict[str, Values]]:
    """Measure xmceval, once it is warm, and other tools in turns; return what they used and their values."""
    files = (paths["truth"], paths["preds"], paths["train"])
    commands = {OURS: Command((score(paths),))}
    commands |= {tool: Command(((python, str(PEERS), tool, *files),)) for tool in tools}
    measure(commands[OURS])
    used: dict[str, list[Usage]] = {name: [] for name in commands}
    values: dict[str, Values] = {}
    with tempfile.TemporaryDirectory() as folder:
        printed = Path(folder) / "values.json"
        for turn in range(TURNS):
            for name, command in commands.items():
                progress(f"{turn + 1}/{TURNS} {name}")
                if turn == 0 or used[name][0].wall < LONG:
                    used[name].append(measure(command, printed))
                    values[name] = values_of(printed.read_text(encoding="utf-8"), name == OURS)
    progress("")
    return used, values


def values_of(printed: str, is_ours: bool) -> Values:
    """Return the values that a tool printed."""
    if not is_ours:
        return dict(json.loads(printed.splitlines()[-1]))
    metrics = json.loads(printed)["systems"][0]["metrics"]
    names = dict.fromkeys(name.partition("@")[0] for name in metrics)
    return {name: [metrics[f"{name}@{k}"]["value"] for k in CUTS] for name in names}


def agreement(subject: str, values: Mapping[str, Values]) -> list[Figures]:
    """Return for each tool how far its values are from ours at most; all four are defined alike."""
    return [
        {
            "subject": subject,
            "contestant": name,
            "metrics": list(found),
            "largest_difference": max(
                abs(a - b) for metric in found for a, b in zip(found[metric], values[OURS][metric], strict=True)
            ),
        }
        for name, found in values.items()
        if name != OURS
    ]


def replaced(entries: Sequence[Any], subject: str, new: Sequence[Figures]) -> list[Figures]:
    """Return entries with those of one subject replaced."""
    return [entry for entry in entries if entry["subject"] != subject] + list(new)
