"""The README tells the truth: its table is that of METRICS, and its commands print what it shows."""

import re
import shlex
from pathlib import Path

import pytest

from xmceval.cli import main
from xmceval.metrics.table import METRICS
from xmceval.report.metrics import readme_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^```console\n\$ xmceval (.*)\n((?:(?!```).*\n)*)```$", README, re.MULTILINE)


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_shown_output_is_what_the_command_prints(command, output, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command))
    assert ended.value.code == 0
    assert capsys.readouterr().out == output


def test_first_screen_shows_a_score():
    assert SHOWN
    assert README.index("$ xmceval score") < README.index("\n## ")


def test_definitions_are_those_of_the_table():
    inside = README.partition("<!-- metrics: written by scripts/readme -->\n\n")[2]
    assert inside.partition("\n<!-- end of metrics -->")[0] == readme_table()
    assert all(f"| `{name}" in inside for name in METRICS)


def test_python_example_runs():
    import numpy as np

    example = README.partition("```python\n")[2].partition("```")[0]
    rng = np.random.default_rng(2)
    known = {
        "y_true": rng.integers(0, 2, (9, 6)),
        "y_score": rng.random((9, 6)),
        "new_score": rng.random((9, 6)),
        "y_train": rng.integers(0, 2, (9, 6)),
    }
    exec(example, known)
    assert 0 <= known["result"]["PSP@5"] <= 1
    assert 0 <= known["comparison"]["P@5", "new", "old"].p <= 1
