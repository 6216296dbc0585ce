"""``xmceval benchmark``: what goes to which stream, and exit codes."""

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
def folder(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
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
    assert table.splitlines()[1] == "one · 40 instances · 12 labels"
    assert run("-q") == (0, table, "")


def test_a_data_set_that_fails_ends_with_exit_code_1_after_all_others_are_printed(folder, run):
    save_npz("two/b.npz", csr_matrix(np.ones((59, 12))))
    code, table, said = run()
    assert code == 1
    assert [line.split() for line in table.splitlines() if line.startswith("  b ")][1] == ["b", "error", "error"]
    *_, summary, error = said.splitlines()
    assert summary.startswith("2 cells scored · 2 error · ")
    assert error == "Error: two: two/truth.npz has 60 rows, two/b.npz has 59 rows; they must be of the same instances"


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
    assert run("-q", "--fail-if-worse", gate)[0] == code
    assert message in run("-q", "--fail-if-worse", gate)[2]


def test_an_error_wins_over_a_breach_and_a_breach_is_still_said(folder, run):
    (folder / "two/b.npz").write_text("PK no archive")
    code, _, said = run("-q", "--fail-if-worse", "P@1")
    assert code == 1
    assert "breach: one: b is worse than a on P@1" in said


def test_a_folder_in_place_of_the_file_is_answered_with_what_was_meant(folder, run):
    (folder / "in").mkdir()
    message = "Error: in: is a folder; expected the file of a benchmark (hint: xmceval benchmark --init in)\n"
    assert run("in") == (2, "", message)
    (folder / "in" / "benchmark.toml").write_text(FILE)
    assert "(hint: xmceval benchmark in/benchmark.toml)" in run("in")[2]


def test_a_gate_without_a_baseline_says_where_the_file_names_it(folder, run):
    (folder / "benchmark.toml").write_text(
        FILE.replace("against", "#") + 'c = ["{dataset}/a.npz", "{dataset}/b.npz"]\n'
    )
    code, _, said = run("--fail-if-worse", "P@1")
    assert code == 2
    assert said.endswith('a baseline, and there are 3 systems (hint: against = "NAME" in the file)\n')


def test_warnings_of_a_kind_are_one_line(folder, run):
    for name, n_rows in (("one", 40), ("two", 60)):
        truth = np.eye(n_rows, 12)
        save_npz(f"{name}/truth.npz", csr_matrix(truth, dtype=np.float32))
    code, _, said = run()
    warnings = [line for line in said.splitlines() if line.startswith("warning: ")]
    assert (code, warnings) == (
        0,
        [
            "warning: one: 28 instances have no true label: they count as 0 (and 1 more of this kind; -v shows all)",
        ],
    )
    code, _, said = run("-v")
    assert "warning: two: 48 instances have no true label: they count as 0\n" in said
    code, shown, said = run("--strict")
    assert (code, shown) == (1, "")
    assert said.endswith("with --strict warnings are errors\n")


def test_a_file_that_does_not_exist_is_refused(folder, run):
    assert run("nowhere.toml") == (1, "", "Error: nowhere.toml: no such file\n")


def test_a_file_is_proposed_and_what_is_left_out_is_said(folder, run):
    for name in ("one", "two"):
        (folder / name / "truth.npz").rename(folder / name / "test.npz")
    (folder / "one" / "notes.md").write_text("?")
    code, shown, said = run("--init", ".")
    assert (code, shown) == (2, "")
    assert said == "Error: benchmark.toml: already exists (hint: pass --force to overwrite)\n"
    code, shown, said = run("--init", ".", "--force")
    assert (code, shown) == (0, "")
    assert said == "left out: one: files that were not understood: notes.md\nwrote benchmark.toml (0.0 MB)\n"
    assert last(run()[2]) == ["4 cells scored"]
    assert run("--init", "benchmark.toml") == (2, "", "Error: benchmark.toml: is not a folder\n")


def test_a_picture_is_drawn(folder, run):
    pytest.importorskip("matplotlib")
    assert run("-q", "--plot", "all.svg")[0] == 0
    assert "nDCG" not in (folder / "all.svg").read_text()
    assert "P@1, %" in (folder / "all.svg").read_text()
    code, shown, said = run("--plot", "all.gif")
    assert (code, shown) == (2, "")
    assert "all.gif" in said
