"""``xmceval metrics`` and ``datasets`` load neither numpy nor what is built on it."""

import json
import subprocess
import sys

import pytest

HEAVY = ["numpy", "numba", "scipy"]

COMMANDS = [
    ["metrics"],
    ["metrics", "P", "psp_5"],
    ["metrics", "-o", "json"],
    ["metrics", "-o", "md"],
    ["datasets"],
    ["datasets", "Bibtex"],
    ["datasets", "Bibtex", "-o", "csv"],
    ["datasets", "Bibtex", "-o", "json"],
    ["score", "--help"],
    ["--help"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_listings_load_neither_numpy_nor_numba(arguments):
    code = (
        "import json, sys\n"
        "from xmceval.cli import main\n"
        f"try: main({arguments})\n"
        "except SystemExit as end: assert not end.code\n"
        f"print(json.dumps([name for name in {HEAVY} if name in sys.modules]), file=sys.stderr)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout
    assert json.loads(ended.stderr) == []
