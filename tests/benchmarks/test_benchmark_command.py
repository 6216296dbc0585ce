"""``xmceval benchmark``: what goes to which stream, and exit codes."""

import shutil
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

FILE = """\
metrics = "P@1,3"
against = "a"
[datasets.one]
truth = "one/truth.npz"
[datasets.two]
truth = "two/truth.npz"
[systems]
a = "{dataset}/a.npz"
b = "{dataset}/b.npz"
"""


@pytest.fixture
def folder(tmp_path, rng):
    (tmp_path / "benchmark.toml").write_text(FILE)
    for name, n_rows in (("one", 40), ("two", 60)):
        (tmp_path / name).mkdir()
        truth = rng.random((n_rows, 12)) < 0.3
        truth[:, 0] |= ~truth.any(axis=1)
        save_npz(f"{name}/truth.npz", csr_matrix(truth, dtype=np.float32))
        save_npz(f"{name}/a.npz", csr_matrix(truth + rng.random(truth.shape)))
        save_npz(f"{name}/b.npz", csr_matrix(rng.random(truth.shape)))
    return tmp_path


@pytest.fixture
def run(run):
    return partial(run, "benchmark")


def last(said):
    """Return the facts of the last line but the time."""
    facts = said.splitlines()[-1].split(" · ")
    return [each for each in facts if not each.endswith(" s")]


def test_the_table_is_printed_and_the_cells_are_counted(folder, run):
    code, table, said = run()
    assert (code, last(said)) == (0, ["4 cells scored"])
    assert "\none · 40 instances · 12 labels\ntwo · 60 instances · 12 labels\n" in table
    assert run("-q") == (0, table, "")


def test_what_fails_ends_with_exit_code_1_after_all_others_are_printed(folder, run):
    whole = run("-q", "-o", "csv")[1]
    save_npz("two/b.npz", csr_matrix(np.ones((59, 12))))
    code, table, said = run("--fail-if-worse", "P@1")
    assert [line.split()[-2:] for line in table.splitlines() if line.startswith("b ")] == [["error", "error"]]
    summary, breach, *errors = said.splitlines()
    assert summary.startswith("3 cells scored · 1 error · ")
    assert breach.startswith("breach: one: b is worse than a on P@1 by ")
    assert (code, errors) == (
        1,
        [
            "Error: two: b: two/truth.npz has 60 rows, two/b.npz has 59 rows; they must be of the same instances",
            "P@1: not decided, because b was not tested against a on two",
        ],
    )
    assert "\nerror: two: b: two/truth.npz has 60 rows, " in table
    kept = [line for line in whole.splitlines() if not line.startswith("two,b,")]
    assert run("-q", "-o", "csv")[:2] == (1, "".join(f"{line}\n" for line in kept))


def test_a_missing_truth_ends_with_exit_code_1_after_all_others_are_printed(folder, run):
    (folder / "two" / "truth.npz").unlink()
    code, table, said = run("-q")
    assert (code, said) == (1, "Error: two: truth: no file two/truth.npz\n")
    assert [line.split()[-2:] for line in table.splitlines() if line.startswith("b ")] == [["error", "error"]]
    (folder / "one" / "truth.npz").unlink()
    lines = [f"benchmark.toml [datasets.{name}]: truth: no file {name}/truth.npz" for name in ("one", "two")]
    assert run("-q") == (1, "", "Error: " + "\n".join(lines) + "\n")


def test_without_a_file_of_training_labels_only_their_metrics_fail(folder, run):
    text = FILE.replace('"P@1,3"', '"P@1,PSP@1"')
    (folder / "benchmark.toml").write_text(f'train = "{{dataset}}/train.npz"\n{text}')
    for name in ("one", "two"):
        save_npz(f"{name}/train.npz", csr_matrix(np.tile(np.eye(12), (9, 1))))
    whole = run("-q", "-o", "csv")[1]
    (folder / "two" / "train.npz").unlink()
    code, lines, said = run("-q", "-o", "csv")
    assert (code, said) == (1, "Error: two: train: no file two/train.npz\n")
    kept = [line for line in whole.splitlines() if not line.startswith("two,") or ",P," in line]
    values, kept_values = ([line.split(",")[:9] for line in of_run] for of_run in (lines.splitlines(), kept))
    assert values == kept_values
    table = run("-q")[1]
    assert "\nerror: two: train: no file two/train.npz\n" in table
    assert "PSP@1 needs train, counts or inverse_propensities" in table


def test_files_that_are_missing_are_named_below_the_table(folder, run):
    (folder / "benchmark.toml").write_text(FILE + "".join(f'{name} = "{{dataset}}/{name}.npz"\n' for name in "cde"))
    (folder / "one" / "b.npz").unlink()
    for name in "cde":
        shutil.copy("one/a.npz", f"one/{name}.npz")
    code, table, _ = run("-q")
    assert code == 0
    assert "\nmissing: b: no file one/b.npz; c: no file two/c.npz; d: no file two/d.npz (and 1 more)\n" in table


@pytest.mark.parametrize(
    ("gate", "code", "message"),
    [
        ("P@1:99", 0, ""),
        ("P@1:5", 3, "breach: one: b is worse than a on P@1 by "),
        ("nDCG@1", 1, "Error: nDCG@1: not decided, because it was not computed"),
        ("X", 2, "unknown metric 'X'"),
    ],
)
def test_gates_decide_the_exit_code(folder, run, gate, code, message):
    ended, _, said = run("-q", "--fail-if-worse", gate)
    assert ended == code
    assert message in said


@pytest.mark.parametrize(
    ("rules", "code", "lines"),
    [
        (["P@1>=5", "P@3<=99.5%"], 0, []),
        (["P@1>=0.05", "--fraction"], 0, []),
        (["P@1<=99"], 3, ["breach: one: a has P@1 100.00, and at most 99 is required"]),
        (["P@5>=5"], 1, ["Error: P@5: not decided, because it was not computed; expected any of P@1, P@3"]),
        (["P@1>=500"], 2, ["Error: gate 'P@1>=500' has no effect: values of P@1 are from 0 to 100"]),
    ],
)
def test_values_that_are_not_as_required_decide_the_exit_code(folder, run, rules, code, lines):
    table = run("-q", *[rule for rule in rules if rule.startswith("--")])[1]
    words = [word for rule in rules for word in ([rule] if rule.startswith("--") else ["--require", rule])]
    ended, shown, said = run("-q", *words)
    assert (ended, shown) == (code, table if code in {0, 3} else "")
    assert said.splitlines()[: len(lines)] == lines
    assert all(line.startswith("breach: ") for line in said.splitlines()[len(lines) :])


def test_a_required_value_that_is_missing_is_not_decided(folder, run):
    (folder / "one" / "b.npz").unlink()
    code, _, said = run("-q", "--require", "P@1>=5")
    assert (code, said) == (1, "Error: one: P@1: not decided, because b has no value of it\n")
    elsewhere = FILE.replace('b = "{dataset}/b.npz"', 'b = { paths = { two = "two/b.npz" } }')
    assert elsewhere != FILE
    (folder / "benchmark.toml").write_text(elsewhere)
    assert run("-q", "--require", "P@1>=5")[::2] == (0, "")


WRONG = [
    (["nowhere.toml"], 1, "nowhere.toml: no such file"),
    (["one"], 2, "one: is a folder; expected the file of a benchmark (hint: xmceval benchmark --init one)"),
    (["."], 2, ".: is a folder; expected the file of a benchmark (hint: xmceval benchmark ./benchmark.toml)"),
    (["--init", "."], 2, "benchmark.toml: already exists (hint: pass --force to overwrite)"),
    (["--init", "benchmark.toml"], 2, "benchmark.toml: is not a folder"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG, ids=[message for *_, message in WRONG])
def test_what_is_no_benchmark_is_refused(folder, run, arguments, code, message):
    assert run(*arguments) == (code, "", f"Error: {message}\n")


def test_a_gate_without_a_baseline_says_where_the_file_names_it(folder, run):
    (folder / "benchmark.toml").write_text(
        FILE.replace("against", "#") + 'c = ["{dataset}/a.npz", "{dataset}/b.npz"]\n'
    )
    code, _, said = run("--fail-if-worse", "P@1")
    assert code == 2
    assert said.endswith('a baseline, and there are 3 systems (hint: against = "NAME" in the file)\n')


def test_facts_of_a_kind_are_one_line_and_doubts_are_another_which_strict_refuses(folder, run):
    for name, n_rows in (("one", 40), ("two", 60)):
        save_npz(f"{name}/truth.npz", csr_matrix(np.eye(n_rows, 12), dtype=np.float32))
    code, shown, said = run("--strict")
    assert "one: 28 instances have no true labels (0 for P) (and 1 more of this kind)\n" in shown
    assert (code, "doubt:" in said) == (0, False)
    for name, n_rows in (("one", 40), ("two", 60)):
        save_npz(f"{name}/b.npz", csr_matrix(np.ones((n_rows, 12))))
    code, _, said = run("-q")
    [doubt] = [line for line in said.splitlines() if line.startswith("doubt: one: b: all scores are equal")]
    assert (code, doubt.endswith("(and 1 more of this kind; -v shows all)")) == (0, True)
    assert sum("all scores are equal" in line for line in run("-v")[2].splitlines()) == 2
    code, shown, said = run("--strict")
    assert (code, shown) == (1, "")
    assert said.endswith("with --strict doubts are errors\n")


def test_a_file_is_proposed_and_what_is_left_out_is_said(folder, run):
    for name in ("one", "two"):
        (folder / name / "truth.npz").rename(folder / name / "test.npz")
    (folder / "one" / "notes.md").write_text("?")
    said = "note: one: not used: one/notes.md\nwrote benchmark.toml (1 kB)\n"
    assert run("--init", ".", "--force") == (0, "", said)
    assert last(run()[2]) == ["4 cells scored"]


def test_a_picture_is_drawn(folder, run):
    pytest.importorskip("matplotlib")
    assert run("-q", "--plot", "all.svg")[0] == 0
    assert "nDCG" not in (folder / "all.svg").read_text()
    assert "P@1, %" in (folder / "all.svg").read_text()
    code, shown, said = run("--plot", "all.gif")
    assert (code, shown) == (2, "")
    assert "all.gif" in said
