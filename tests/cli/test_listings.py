"""What commands load: help and lists load neither numpy nor what is built on it."""

import json
import os
import subprocess
import sys

import pytest
from support.sample import MODEL_A, SAMPLE, TRUTH

HEAVY = ["numpy", "numba", "scipy"]
UNUSED = ["scipy.sparse", "matplotlib", "pandas", "xmceval.page.page", "xmceval.report.forms.html"]
LIGHT = [
    *("metrics", "metrics P psp_5", "metrics -o json", "datasets", "datasets Bibtex"),
    *("datasets Bibtex -o json", "score --help", "--help", "--version"),
]
# Runs each command in a copy of a process that has loaded nothing, and writes what it has loaded of some names.
RUN = """
import json, os, sys
for command, names in json.loads(sys.argv[1]):
    if os.fork() == 0:
        from xmceval.cli.main import main
        try:
            main(command.split())
        except SystemExit as end:
            code = end.code or 0
        sys.stdout.flush()
        print(json.dumps([command, code, [name for name in names if name in sys.modules]]), file=sys.stderr, flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs commands in copies of a process")
def test_a_command_loads_only_what_it_uses():
    commands = [*((command, HEAVY) for command in LIGHT), (f"score {TRUTH} {MODEL_A} -m P -q", UNUSED)]
    command = [sys.executable, "-c", RUN, json.dumps(commands)]
    ended = subprocess.run(command, cwd=SAMPLE, capture_output=True, text=True, check=True)
    reports = [json.loads(line) for line in ended.stderr.splitlines() if line.startswith("[")]
    assert reports == [[command, 0, []] for command, _ in commands]
    assert all(start in ended.stdout for start in ("METRIC", '"schema"', "Usage: xmceval score", "500 instances"))
