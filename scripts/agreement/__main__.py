"""Compare xmceval with other tools on random and real inputs: which metrics are equal, under which options, or why not.

Each tool runs in a process of its own, in an environment that is made for them from PyPI, or in one that there is.
Real inputs are read from the folder XMCEVAL_REALDATA.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

if not __package__:  # run as `python scripts/agreement`
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from agreement.checking import Finding, Ours, Row, check, rows
from agreement.inputs import Case, draw_cases, read_cases, save_cases
from agreement.peertools import PEERS

SCRIPTS = Path(__file__).resolve().parents[1]
RECORDED = SCRIPTS.parent / "datasets/agreement.tsv"
SHOWN = ("peer", "function", "inputs", "verdict", "option", "largest_difference")
START = """# Which metrics other tools have, and whether their values are ours: python scripts/agreement --record
# inputs: kinds of input; option: of the measure and of xmceval.score; values: how many were compared.
"""


def make_environment(folder: Path, packages: Sequence[str]) -> str:
    """Install the tools in an environment, each by itself so that one may fail, and return its interpreter."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    for package in packages:
        argv = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
        if subprocess.run(argv, check=False).returncode:
            print(f"{package}: not installed", file=sys.stderr)
    return str(python)


def ask(peer: str, python: str, cases: Path) -> Any:
    """Return the version and the values of a peer, or None where it is not installed or ends with an error."""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    argv = [python, "-m", "agreement.peertools", peer, str(cases)]
    ended = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(ended.stdout.splitlines()[-1]) if ended.returncode == 0 else None


def compare(peers: Sequence[str], python: str, cases: list[Case]) -> Iterator[tuple[str, str, list[Finding]]]:
    """Yield what is found of each function of the peers that are installed, with their versions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.npz"
        save_cases(cases, path)
        for peer in peers:
            found = ask(peer, python, path)
            if found is None:
                print(f"{peer}: not compared, since it is not installed or failed", file=sys.stderr)
                continue
            cells = list(PEERS[peer][1]())
            ours = Ours(cells)
            for cell, values, examples in zip(cells, found["values"], found["examples"], strict=True):
                yield peer, found["version"], check(cell, cases, values, examples, ours)


def show(peer: str, finding: Finding) -> None:
    """Print what of a function was not expected."""
    print(f"{peer} {finding.cell.function}, {finding.kind}: {len(finding.wrong)} not as expected", file=sys.stderr)
    print(*(f"    {line}" for line in first_of_cases(finding.wrong)), sep="\n", file=sys.stderr)


def first_of_cases(wrong: Sequence[str]) -> list[str]:
    """Return the first line of each kind of case."""
    return list({line.partition(",")[0]: line for line in reversed(wrong)}.values())


def write(table: Sequence[Row]) -> None:
    """Write the table."""
    with RECORDED.open("w", encoding="utf-8", newline="") as f:
        f.write(START)
        writer = csv.DictWriter(
            f, list(table[0]), delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None
        )
        writer.writeheader()
        writer.writerows(table)


def main() -> None:
    """Compare, print what was not expected, and record the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", help="an interpreter that has the tools, in place of installing them")
    parser.add_argument(
        "--env", type=Path, metavar="DIR", help="where they are installed, to be kept (a temporary one)"
    )
    parser.add_argument("--peer", action="append", choices=PEERS, help="only this one; repeat it for several")
    parser.add_argument("--record", action="store_true", help="write datasets/agreement.tsv, if all are as expected")
    arguments = parser.parse_args()
    if arguments.record and arguments.peer:
        parser.error("--record writes all tools: leave out --peer")
    peers, compared, table, is_expected = arguments.peer or list(PEERS), set(), [], True
    with tempfile.TemporaryDirectory() as folder:
        packages = [PEERS[peer][0] for peer in peers]
        python = arguments.python or make_environment(arguments.env or Path(folder), packages)
        for peer, version, findings in compare(peers, python, [*draw_cases(), *read_cases()]):
            compared.add(peer)
            own = list(rows(peer, version, findings))
            table += own
            print("\n".join("  ".join(filter(None, (row[name] for name in SHOWN))) for row in own), flush=True)
            for finding in (each for each in findings if each.wrong):
                is_expected = False
                show(peer, finding)
    if not is_expected or compared < set(peers):
        sys.exit(1)
    if arguments.record:
        write(table)


if __name__ == "__main__":
    main()
