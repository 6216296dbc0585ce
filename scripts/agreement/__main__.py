"""Compare xmceval with other tools on random and real inputs: which metrics are equal, under which options, or why not.

Each tool runs in processes of its own, in an environment that is made for them from PyPI, or in one that there is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

if not __package__:  # run as `python scripts/agreement`
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from agreement.checking import Ours, check
from agreement.inputs import draw_cases, read_cases, save_cases
from agreement.peertools import PEERS


def ask(peer: str, python: str, cases: Path) -> Any:
    """Return the version and the values of a peer, or None where it is not installed."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    argv = [python, "-m", "agreement.peertools", peer, str(cases)]
    ended = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        print(f"{peer}: failed")
        return None
    return json.loads(ended.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", help="an interpreter that has the tools")
    parser.add_argument("--peer", action="append", choices=PEERS)
    arguments = parser.parse_args()
    cases = [*draw_cases(), *read_cases()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.npz"
        save_cases(cases, path)
        for peer in arguments.peer or PEERS:
            found = ask(peer, arguments.python, path)
            cells = list(PEERS[peer][1]())
            ours = Ours(cells)
            for cell, values in zip(cells, found["values"], strict=True):
                for finding in check(cell, cases, values, ours):
                    print(peer, cell.function, cell.ours, "|", finding.kind, type(finding.expected).__name__, finding.values, finding.largest, len(finding.wrong))
                    for line in finding.wrong[:3]:
                        print("     ", line)


if __name__ == "__main__":
    main()
