"""Compare xmceval with other tools on random inputs: which metrics are equal, under which options, or why not.

Each tool runs in a process of its own, in an environment that is made for them from PyPI, or in one that there is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

if not __package__:  # run as `python scripts/agreement`
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from agreement.checking import Finding, Ours, check, rows
from agreement.inputs import Case, draw_cases, save_cases
from agreement.peertools import PEERS

import xmceval

SCRIPTS = Path(__file__).resolve().parents[1]
RECORDED = SCRIPTS.parent / "datasets/agreement.tsv"
SHOWN = ("peer", "function", "inputs", "verdict", "option", "largest_difference")
START = """# Which metrics other tools have, and whether their values are ours: python scripts/agreement --record
# inputs: kinds of input; option: of the measure and of xmceval.score; values: how many were compared.
"""


def make_environment(folder: Path, packages: Sequence[str]) -> str:
    """Install the tools in an environment, each by itself so that one may fail, and return its interpreter."""
    python = str(folder / "bin/python")
    venv.create(folder, with_pip=True)
    for package in packages:
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package], check=False)
    return python


def ask(peer: str, python: str, cases: Path) -> Any:
    """Return the version and the values of a peer, or None where it is not installed or ends with an error."""
    argv, env = [python, "-m", "agreement.peertools", peer, str(cases)], {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    ended = subprocess.run(argv, env=env, stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(ended.stdout.splitlines()[-1]) if ended.returncode == 0 else None


def compare(peers: Sequence[str], python: str, cases: list[Case]) -> Iterator[tuple[str, str, list[Finding]]]:
    """Yield what is found of each function of the peers that are installed, with their versions."""
    with tempfile.TemporaryDirectory() as folder:
        save_cases(cases, Path(folder))
        for peer in peers:
            found = ask(peer, python, Path(folder))
            if found is None:
                print(f"{peer}: not compared, since it is not installed or failed", file=sys.stderr)
                continue
            cells = list(PEERS[peer][1]())
            ours = Ours(cells)
            for cell, values, examples in zip(cells, found["values"], found["examples"], strict=True):
                yield peer, found["version"], check(cell, list(filter(cell.takes, cases)), values, examples, ours)


def main() -> None:
    """Compare, print what was not expected, and record the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", help="an interpreter that has the tools, in place of installing them")
    parser.add_argument("--peer", action="append", choices=PEERS, help="only this one; repeat it for several")
    parser.add_argument("--record", action="store_true", help="write datasets/agreement.tsv, if all are as expected")
    arguments = parser.parse_args()
    if arguments.record and arguments.peer:
        parser.error("--record writes all tools: leave out --peer")
    peers, compared, table, is_expected = arguments.peer or list(PEERS), set(), [], True
    warnings.simplefilter("ignore", xmceval.XmcevalWarning)
    with tempfile.TemporaryDirectory() as folder:
        python = arguments.python or make_environment(Path(folder), [PEERS[peer][0] for peer in peers])
        for peer, version, findings in compare(peers, python, list(draw_cases())):
            compared.add(peer)
            for row in rows(peer, version, findings):
                table.append(row)
                print("  ".join(filter(None, (row[name] for name in SHOWN))), flush=True)
            for finding in (each for each in findings if each.wrong):
                is_expected = False
                wrong = f"{peer} {finding.cell.function}, {finding.kind}: {len(finding.wrong)} not as expected"
                first = {line.partition(",")[0]: line for line in reversed(finding.wrong)}  # of each kind of case
                print(wrong, *first.values(), sep="\n    ", file=sys.stderr)
    if not is_expected or compared < set(peers):
        sys.exit(1)
    if arguments.record:
        lines = [START.rstrip(), "\t".join(table[0]), *("\t".join(row.values()) for row in table)]
        RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
