"""Gates on the command line: the lines on stderr, and the exit codes in their order of precedence."""

import json

import pytest
from support.sample import MODEL_A, MODEL_B, TRUTH

pytestmark = pytest.mark.usefixtures("in_sample")
COMPARE = ("compare", TRUTH, MODEL_A, MODEL_B, "-q", "-m", "P", "-k", "1,3")
SCORE = ("score", TRUTH, MODEL_A, MODEL_B, "-q", "-m", "P", "-k", "1,3")


def test_json_and_pictures_are_written_before_a_breach_ends_the_command(run, tmp_path):
    picture = tmp_path / "differences.svg"
    code, out, _ = run(*COMPARE, "-o", "json", "--plot", picture, "--fail-if-worse", "P@1")
    assert code == 3
    assert picture.exists()
    assert [(each["metric"], each["limit"], each["passed"]) for each in json.loads(out)["gates"]] == [("P@1", 0, False)]
    state = tmp_path / "a.state"
    run("score", TRUTH, MODEL_A, "-q", "-m", "P@1", "--save-state", state)
    [gate] = json.loads(run("merge", state, "-o", "json", "--fraction", "--require", "P@1>=0.7")[1])["gates"]
    assert (gate["metric"], gate["limit"], gate["passed"]) == ("P@1", 0.7, False)
    code, out, _ = run(*SCORE, "-o", "json", "--require", "P@1>=60")
    gates = json.loads(out)["gates"]
    assert [(each["system"], each["limit"], each["value"], each["passed"]) for each in gates] == [
        ("model_a", 0.6, 0.686, True),
        ("model_b", 0.6, 0.55, False),
    ]
