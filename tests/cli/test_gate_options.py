"""Gates on the command line: the lines on stderr, and which exit code goes before which."""

import json

import pytest
from support.sample import MODEL_A, MODEL_B, SAMPLE, TRUTH

pytestmark = pytest.mark.usefixtures("in_sample")
COMPARE = ("compare", TRUTH, MODEL_A, MODEL_B, "-q", "-m", "P", "-k", "1,3")
SCORE = ("score", TRUTH, MODEL_A, MODEL_B, "-q", "-m", "P", "-k", "1,3")
NOT_COMPUTED = "Error: {}: not decided, because it was not computed; expected any of P@1, P@3"
WORSE = "breach: model_b is worse than model_a on P@1 by 13.60 ±5.29 points"


def with_gates(command, option, gates):
    return (*command, *(word for gate in gates for word in (option, gate)))


def lines_of(lines):
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("gates", "code", "lines"),
    [
        (["P@1:0.5"], 3, [f"{WORSE}, more than 0.5 (p < 0.0001)"]),
        (["P"], 3, [f"{WORSE} (p < 0.0001)"]),
        (["P@1:14", "P@3"], 0, []),
        (["P@1:14", "P@1:13", "P:1"], 3, [f"{WORSE}, more than {limit} (p < 0.0001)" for limit in (13, 1)]),
        (["P@1", "P@7"], 1, [NOT_COMPUTED.format("P@7")]),
        (["P@1:x"], 2, ["Error: gate 'P@1:x': expected METRIC:X, such as P@5:0.5"]),
    ],
)
def test_compare_says_each_breach_and_ends_with_its_code(run, gates, code, lines):
    table = run(*COMPARE)[1]
    found = run(*with_gates(COMPARE, "--fail-if-worse", gates))
    assert found == (code, table if code in {0, 3} else "", lines_of(lines))


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


@pytest.mark.parametrize(
    ("required", "code", "lines"),
    [
        (["P@1>=60"], 3, ["breach: model_b has P@1 55.00, and at least 60 is required"]),
        (["P@1>=55", "P@3<=49.2"], 0, []),
        (
            ["P@3<=49", "P@1>=60"],
            3,
            [
                "breach: model_a has P@3 49.20, and at most 49 is required",
                "breach: model_b has P@1 55.00, and at least 60 is required",
            ],
        ),
        (["P@1>=60", "R@1>=2"], 1, [NOT_COMPUTED.format("R@1")]),
        (["P@1<=686"], 2, ["Error: gate 'P@1<=686' has no effect: values of P@1 are from 0 to 100"]),
    ],
)
def test_score_says_each_value_that_is_not_as_required(run, required, code, lines):
    table = run(*SCORE)[1]
    found = run(*with_gates(SCORE, "--require", required))
    assert found == (code, table if code in {0, 3} else "", lines_of(lines))


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


def test_limits_have_the_unit_of_the_table_and_those_with_a_percent_sign_are_in_percent(run):
    code, _, err = run(*SCORE, "--fraction", "--require", "P@1>=0.55", "--require", "P@3>=0.48")
    assert (code, err) == (3, "breach: model_b has P@3 0.4753, and at least 0.48 is required\n")
    breach = "breach: model_b is worse than model_a on P@1 by 0.1360 ±0.0529, more than {} (p < 0.0001)\n"
    for limit, less, more in (("0.136", "0.135", "0.135"), ("13.6%", "13.5%", "13.5 points")):
        assert run(*COMPARE, "--fraction", "--fail-if-worse", f"P@1:{limit}")[0] == 0
        code, _, err = run(*COMPARE, "--fraction", "--fail-if-worse", f"P@1:{less}")
        assert (code, err) == (3, breach.format(more))
    for unit in ("--percent", "--fraction"):
        code, _, err = run(*SCORE, unit, "--require", "P@3>=48%", "--require", "P@1>=0.5%")
        assert (code, err.endswith(" and at least 48% is required\n")) == (3, True)


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
