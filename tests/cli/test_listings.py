"""What commands load: those that list, and help, neither numpy nor what is built on it."""

import json
import subprocess
import sys

import pytest
from support.sample import MODEL_A, SAMPLE, TRUTH

HEAVY = {"numpy", "numba", "scipy"}
UNUSED = {"scipy.sparse", "matplotlib", "pandas", "xmceval.page.page", "xmceval.report.forms.html"}


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("metrics", HEAVY),
        ("metrics P psp_5", HEAVY),
        ("metrics -o json", HEAVY),
        ("metrics -o md", HEAVY),
        ("datasets", HEAVY),
        ("datasets Bibtex", HEAVY),
        ("datasets Bibtex -o md", HEAVY),
        ("datasets Bibtex -o json", HEAVY),
        ("score --help", HEAVY),
        ("--help", HEAVY),
        ("--version", HEAVY),
        (f"score {TRUTH} {MODEL_A} -m P -q", UNUSED),
    ],
)
def test_a_command_loads_only_what_it_uses(command, names):
    code = (
        "import json, sys\n"
        "from xmceval.cli.main import main\n"
        f"try: main({command.split()})\n"
        "except SystemExit as end: assert not end.code\n"
        f"print(json.dumps([name for name in {names} if name in sys.modules]), file=sys.stderr)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=SAMPLE, capture_output=True, text=True, check=True)
    assert ended.stdout
    assert json.loads(ended.stderr) == []
