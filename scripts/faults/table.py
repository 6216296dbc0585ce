"""The guide to faults, from datasets/faults.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).resolve().parents[2] / "datasets/faults.json"
START = """# Faults: what happens when something breaks

Disks fill up, processes are killed, files are damaged or lie. Then a command is meant to give the right result or to
end with a message; never another result, half a file, or a traceback. That was tried with version {version}, on
{system} with Python {python}; "held" counts the tries in which exactly what is expected happened.

    python scripts/faults    # tries all of this on your machine; named cases only: python scripts/faults bombs
"""
END = """
What xmceval writes with `--save-state` and `--save-rows`, and reads back:

| file | a changed digit | a lost end |
| --- | --- | --- |
| states | refused: a digest of all that they hold | refused |
| saved rows, `.npz` | refused: checksums | refused |
| saved rows, `.jsonl` | refused: a digest in the last line | refused |
| saved rows, `.csv` | **another value**: it has no checksum | refused: the last line has the number of rows |

Programs read the CSV as any other: `n_rows` is its last column, empty but in the last line. In a file of chosen rows
leave that column out, and `digest` in edited JSON lines. Files that other tools wrote have neither, and neither have
values of labels in `.csv` and `.jsonl`, which xmceval does not read back.

Killed and damaged processes of the tables are copies of one that has loaded what it needs, except the new processes;
so the moments are those of the work itself.
"""


def write_guide(recorded: Mapping[str, Any]) -> str:
    """Return the guide as Markdown."""
    facts = {"version": recorded["version"], **recorded["machine"]}
    return "\n".join([START.format_map(facts), *_sections(recorded["cases"])]) + END


def _sections(entries: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table for each case."""
    for case in dict.fromkeys(entry["case"] for entry in entries):
        yield f"## {case[:1].upper()}{case[1:]}\n\n| what was done | expected | held |\n| --- | --- | --- |"
        for entry in entries:
            if entry["case"] == case:
                yield f"| {entry['what']} | {entry['expected']} | {_outcome(entry)} |"
        yield ""


def _outcome(entry: Mapping[str, Any]) -> str:
    """Return how often it held, or why it was not run."""
    return f"{entry['held']} of {entry['tries']}" if entry["tries"] else f"not run: {', '.join(entry['happened'])}"


def read_guide() -> str:
    """Return the guide from what is recorded."""
    return write_guide(json.loads(RECORDED.read_text(encoding="utf-8")))
