"""What is kept of a run: the mutants that survived, each with a reason, and how many there were by room."""

from __future__ import annotations

import csv
import json
from argparse import Namespace
from collections import Counter

from mutate.mutants import ROOT

SURVIVORS = ROOT / "tests" / "survivors.tsv"
RECORDED = ROOT / "datasets" / "mutants.json"
COLUMNS = "file", "function", "was", "became", "reason"


def read_reasons() -> dict[tuple[str, ...], str]:
    """Return the reasons of survivors that are known."""
    if not SURVIVORS.exists():
        return {}
    with SURVIVORS.open(encoding="utf-8", newline="") as file:
        return {tuple(row[:-1]): row[-1] for row in list(csv.reader(file, delimiter="\t"))[1:]}


def write_survivors(
    survivors: set[tuple[str, ...]], noticed: set[tuple[str, ...]], reasons: dict[tuple[str, ...], str]
) -> None:
    """Write the table of survivors, also of those with a reason that were not drawn this time."""
    rows = survivors | (reasons.keys() - noticed)
    with SURVIVORS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows((*row, reasons.get(row, "")) for row in sorted(rows))


def write_record(options: Namespace, counts: Counter[tuple[str, str]], rooms: list[str]) -> None:
    """Write how many mutants there were, and what became of them, by room."""
    found = [
        {"room": room, **{what: counts[room, what] for what in ("noticed", "endless", "survived")}} for room in rooms
    ]
    record = {"drawn": sum(counts.values()), "seed": options.seed, "rooms": found}
    RECORDED.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
