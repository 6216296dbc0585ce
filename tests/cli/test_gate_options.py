"""Gates on the command line: the lines on stderr, and the exit codes in their order of precedence."""

import json
import shlex

import pytest
from support.approved import check_answers
from support.files import write
from support.sample import MODEL_A, MODEL_B, SAMPLE, TRUTH

pytestmark = pytest.mark.usefixtures("in_sample")
COMPARE = ("compare", TRUTH, MODEL_A, MODEL_B, "-q", "-m", "P", "-k", "1,3")
SCORE = ("score", TRUTH, MODEL_A, MODEL_B, "-q", "-m", "P", "-k", "1,3")
NOT_COMPUTED = "Error: {}: not decided, because it was not computed; expected any of P@1, P@3"
WORSE = "breach: model_b is worse than model_a on P@1 by 13.60 ±5.29 points"


def test_breaches_are_said_after_the_table_and_decide_the_exit_code(run):
    """Limits have the unit of the table, and those with a percent sign are in percent."""

    def answer(line):
        command, *words = shlex.split(line)
        first = min(words.index(option) for option in ("--fail-if-worse", "--require") if option in words)
        arguments = (command, TRUTH, MODEL_A, MODEL_B, "-q", "-m", "P", "-k", "1,3", *words[:first])
        code, out, err = run(*arguments, *words[first:])
        assert out == (run(*arguments)[1] if code in {0, 3} else "")
        return [f"exit code {code}", *err.splitlines()]

    check_answers(__file__, "gates.txt", answer)


def test_what_was_not_tested_is_said_after_the_output_and_beside_breaches(run):
    code, out, err = run(*COMPARE, "-m", "P,macroF1", "--fail-if-worse", "P@1", "--fail-if-worse", "macroF1@1")
    undecided = "Error: macroF1@1: not decided, because model_b was not tested against model_a\n"
    assert (code, err) == (1, f"{WORSE} (p < 0.0001)\n{undecided}")
    assert out.startswith("model_b is worse than model_a on P@1 by 13.60")


def test_a_gate_of_one_system_is_refused(run, tmp_path):
    message = "Error: a gate of differences needs at least two systems, got only one\n"
    file = tmp_path / "b.toml"
    file.write_text(f"metrics = 'P@1'\n[datasets.d]\ntruth = '{SAMPLE / TRUTH}'\n[systems]\nA = '{SAMPLE / MODEL_A}'\n")
    assert run("benchmark", file, "-q", "--fail-if-worse", "P@1") == (2, "", message)
    assert run("compare", TRUTH, MODEL_A, "-q", "-m", "P@1", "--fail-if-worse", "P@1") == (2, "", message)


def test_three_systems_need_a_baseline(run):
    systems = ("compare", TRUTH, MODEL_A, MODEL_B, MODEL_A, "-q", "-m", "P", "-k", 1, "--fail-if-worse", "P@1")
    message = "Error: a gate of differences needs a baseline, and there are 3 systems (hint: pass --against NAME)\n"
    assert run(*systems) == (2, "", message)
    code, _, err = run(*systems, "--against", MODEL_B)
    assert (code, err.count("breach: ")) == (0, 0)
    code, _, err = run(*systems, "--against", "model_a (1)")
    assert (code, err.count("breach: ")) == (3, 1)


def test_values_of_rows_have_gates_and_states_are_refused(run, tmp_path):
    saved = {name: [tmp_path / f"{name}.{ending}" for ending in ("rows.npz", "state")] for name in ("a", "b")}
    for (rows, state), preds in zip(saved.values(), (MODEL_A, MODEL_B), strict=True):
        run("score", TRUTH, preds, "-q", "-m", "P", "-k", "1,3", "--save-rows", rows, "--save-state", state)
    (rows_a, state_a), (rows_b, state_b) = saved.values()
    code, _, err = run("compare", rows_a, rows_b, "-q", "--fail-if-worse", "P@1:0.5")
    assert (code, err) == (3, f"{WORSE}, more than 0.5 (p < 0.0001)\n")
    missing = run("compare", rows_a, rows_b, "-q", "--fail-if-worse", "R@3")
    assert missing == (1, "", f"{NOT_COMPUTED.format('R@3')}\n")
    why = "saved states cannot be compared: each has only the totals of one system"
    refused = f"Error: {state_a}, {state_b}: {why} (hint: compare predictions, or files of --save-rows)\n"
    assert run("compare", state_a, f"new={state_b}", "-q", "--fail-if-worse", "P@1") == (2, "", refused)


def test_merge_says_each_value_that_is_not_as_required(run, tmp_path):
    state = tmp_path / "a.state"
    run("score", TRUTH, MODEL_A, "-q", "-m", "P", "-k", "1,3", "--save-state", state)
    table = run("merge", state, "-q")[1]
    assert run("merge", state, "-q", "--require", "P@1>=68") == (0, table, "")
    breach = "breach: model_a has P@1 68.60, and at least 70 is required\n"
    assert run("merge", state, "-q", "--require", "P@1>=70", "--require", "P@3>=49%") == (3, table, breach)
    assert run("merge", state, "-q", "--require", "R@1>=2") == (1, "", f"{NOT_COMPUTED.format('R@1')}\n")
    gates = json.loads(run("merge", state, "-o", "json", "--fraction", "--require", "P@1>=0.7")[1])["gates"]
    assert [(gate["metric"], gate["limit"], gate["passed"]) for gate in gates] == [("P@1", 0.7, False)]


def test_json_and_pictures_are_written_before_a_breach_ends_the_command(run, tmp_path):
    picture = tmp_path / "differences.svg"
    code, out, _ = run(*COMPARE, "-o", "json", "--plot", picture, "--fail-if-worse", "P@1")
    assert code == 3
    assert picture.exists()
    assert [(each["metric"], each["limit"], each["passed"]) for each in json.loads(out)["gates"]] == [("P@1", 0, False)]
    code, out, _ = run(*SCORE, "-o", "json", "--require", "P@1>=60")
    gates = json.loads(out)["gates"]
    assert [(each["system"], each["limit"], each["value"], each["passed"]) for each in gates] == [
        ("model_a", 0.6, 0.686, True),
        ("model_b", 0.6, 0.55, False),
    ]


@pytest.mark.parametrize("command", ["compare", "benchmark"])
def test_a_loss_that_a_gate_lets_pass_is_said_and_a_gate_of_the_drop_fails_on_it(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    write("t.txt", "8 2\n" + "0:1\n" * 8)
    write("old.txt", "8 2\n" + "0:1\n" * 8)
    write("new.txt", "8 2\n" + "1:1\n" + "0:1\n" * 7)
    write("b.toml", "metrics='P@1,macroF1@1'\n[datasets.d]\ntruth='t.txt'\n[systems]\nold='old.txt'\nnew='new.txt'\n")
    words = ["benchmark", "b.toml"]
    if command == "compare":
        words = ["compare", "t.txt", "old.txt", "new.txt", "-m", "P@1,macroF1@1"]
    code, _, err = run(*words, "--fail-if-worse", "P@1:1%")
    place = "d: " if command == "benchmark" else ""
    loss = f"{place}new is worse than old on P@1 by 12.50 points, more than 1"
    assert code == 0
    assert (
        f"note: {loss}, which is not significant (p = 1.000); --fail-if-drop P@1:1% fails on the difference alone\n"
        in err
    )
    assert "significant" not in run(*words, "-q", "--fail-if-worse", "P@1:1%")[2]
    code, _, err = run(
        *words, "-q", "--fail-if-worse", "P@1:1%", "--fail-if-drop", "P@1:1%", "--fail-if-drop", "macroF1@1"
    )
    assert (code, err.count("breach: ")) == (3, 2)
    assert f"breach: {loss} (p = 1.000)\n" in err
    assert run(*words, "-q", "--fail-if-drop", "P@1:13%")[0] == 0
