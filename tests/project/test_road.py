"""The guide to the design tells the road of a score in the order of the code."""

import re
import sys
from pathlib import Path

from click.testing import CliRunner
from support.sample import PATHS

import xmceval
from xmceval.cli.main import cli

HOME = Path(xmceval.__file__).parent
STEP = re.compile(r"^\d+\. In `([\w/]+\.py)`, `(\w+)` ", re.M)


def list_steps():
    text = (HOME / "guide" / "design.md").read_text()
    section = text.split("## The road of a score", 1)[1].split("\n## ", 1)[0]
    return STEP.findall(section), len(re.findall(r"^\d+\. ", section, re.M))


def follow(*arguments):
    """Return the functions of the package in the order of their first calls."""
    seen = {}

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(HOME)):
            seen.setdefault((str(Path(code.co_filename).relative_to(HOME)), code.co_name))

    sys.setprofile(note)
    try:
        result = CliRunner().invoke(cli, list(arguments))
    finally:
        sys.setprofile(None)
    assert result.exit_code == 0, result.output
    return list(seen)


def test_a_score_calls_the_functions_of_the_guide_in_their_order():
    steps, n_sentences = list_steps()
    truth, predictions, _, training = PATHS
    called = follow("score", truth, predictions, "--train", training, "--threads", "1", "-q")
    assert len(steps) == n_sentences > 15
    assert [step for step in called if step in steps] == steps
