"""The file that is proposed for a folder: what is taken for what, and what is left out."""

import tomllib

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from support.approved import check

import xmceval

N_ROWS = {"one": 20, "two": 30}


@pytest.fixture
def home(tmp_path, rng):
    for name, n_rows in N_ROWS.items():
        folder = tmp_path / name
        folder.mkdir()
        truth = rng.random((n_rows, 8)) < 0.4
        save_npz(folder / "Y.tst.npz", csr_matrix(truth, dtype=np.float32))
        save_npz(folder / "X.tst.npz", csr_matrix(rng.random((n_rows, 5))))
        save_npz(folder / "Y.trn.npz", csr_matrix(rng.random((50, 8)) < 0.4, dtype=np.float32))
        for system in ("a", "b"):
            save_npz(folder / f"{system}.npz", csr_matrix(truth + rng.random(truth.shape)))
    return tmp_path


@pytest.fixture
def propose(run):
    """Return a function that proposes the file of a folder, and returns its text and what was not used."""

    def propose(home):
        code, _, err = run("benchmark", "--init", home, "--force")
        assert code == 0, err
        file = home / "benchmark.toml"
        text = file.read_text(encoding="utf-8")
        file.unlink()
        *left_out, written = err.splitlines()
        assert written.startswith(f"wrote {file} (")
        return text, [line.removeprefix("note: ") for line in left_out]

    return propose


def test_a_proposal_is_as_it_was_approved(home, propose):
    """Of a single folder, of two, and with what is there once or is not understood."""
    texts = [propose(home / "one")[0], propose(home)[0]]
    save_npz(home / "one/alone.npz", csr_matrix(np.ones((20, 8))))
    save_npz(home / "one/short.npz", csr_matrix(np.ones((19, 8))))
    (home / "one/notes.md").write_text("# what we tried\n")
    (home / "one/b\x1b.txt").write_text("0:1\n" * 20)
    (home / "three").mkdir()
    (home / "three/test.txt").write_text("0 1\n2\n")
    (home / "three/c.txt").write_text("0:0.5 1:0.25\n2:1\n")
    (home / "four").mkdir()
    text, left_out = propose(home)
    assert text.endswith("# Left out, or in doubt:\n" + "".join(f"#   {line}\n" for line in left_out))
    check(__file__, "proposals.toml", "\n".join([*texts, text]))


def test_files_of_a_system_may_have_several_forms(home, propose):
    scores = np.random.default_rng(1).random((20, 3))
    np.save(home / "one/pair-labels.npy", np.tile(np.arange(3), (20, 1)))
    np.save(home / "one/pair-scores.npy", scores)
    (home / "two/pair.txt").write_text("0:0.5 1:0.25\n" * 30)
    systems = tomllib.loads(propose(home)[0])["systems"]
    assert systems["pair"] == {"paths": {"one": "one/pair", "two": "two/pair.txt"}}


def test_the_file_is_a_benchmark_whatever_the_names(home, propose):
    for name in N_ROWS:
        (home / name / "a.npz").rename(home / name / 'ä "x" [1].npz')
    (home / "one").rename(home / "o ne")
    (home / "benchmark.toml").write_text(propose(home)[0], encoding="utf-8")
    found = xmceval.benchmark(home / "benchmark.toml")
    assert (list(found), found.systems) == (["o ne", "two"], ("b", 'ä "x" [1]'))
    assert found.count_cells()["scored"] == 4


def test_a_folder_without_truth_or_systems_is_refused(home, run):
    (home / "empty").mkdir()
    code, _, err = run("benchmark", "--init", home / "empty")
    assert (code, "empty: no file of true labels was found; files: none (hint: its name has" in err) == (1, True)
    for name in ("a", "b"):
        (home / f"one/{name}.npz").unlink()
    code, _, err = run("benchmark", "--init", home / "one")
    assert (code, "one: no file of scores has as many rows as the truth (20 of one)" in err) == (1, True)
    assert not list(home.rglob("*.toml"))


@pytest.fixture
def systems_of(propose):
    return lambda home: tomllib.loads(propose(home)[0])["systems"]


def test_files_are_found_in_the_usual_layouts(home, propose, systems_of):
    for name in N_ROWS:  # data/SET and runs/MODEL/SET
        (home / "data" / name).mkdir(parents=True)
        for path in list((home / name).glob("*.t*.npz")):
            path.rename(home / "data" / name / path.name)
        for system in ("a", "b"):
            (home / "runs" / system / name).mkdir(parents=True)
            (home / name / f"{system}.npz").rename(home / "runs" / system / name / "scores.npz")
    text = propose(home)[0]
    assert systems_of(home) == {name: f"runs/{name}/{{dataset}}/scores.npz" for name in ("a", "b")}
    assert tomllib.loads(text)["datasets"]["two"]["truth"] == "data/two/Y.tst.npz"
    (home / "benchmark.toml").write_text(text)
    assert xmceval.benchmark(home / "benchmark.toml").count_cells()["scored"] == 4
    for system in ("a", "b"):  # MODEL_SET next to the folders
        for name in N_ROWS:
            (home / "runs" / system / name / "scores.npz").rename(home / f"{system}_{name}.npz")
    assert systems_of(home) == {name: f"{name}_{{dataset}}.npz" for name in ("a", "b")}


def test_names_of_a_data_set_that_only_its_files_have_are_left_out(home, systems_of):
    for i, name in enumerate(N_ROWS, 1):
        for system in ("a", "b"):
            (home / name / f"{system}.npz").rename(home / name / f"model{system}_d{i}.npz")
    paths = {name: {"one": f"one/{name}_d1.npz", "two": f"two/{name}_d2.npz"} for name in ("modela", "modelb")}
    assert systems_of(home) == {name: {"paths": files} for name, files in paths.items()}


def test_systems_of_one_data_set_are_kept_with_a_doubt(home, propose, systems_of):
    for name in ("a", "b"):
        (home / f"one/{name}.npz").rename(home / f"one/other-{name}.npz")
    systems = systems_of(home)
    assert systems["other-a"] == {"paths": {"one": "one/other-a.npz"}}
    assert systems["a"] == {"paths": {"two": "two/a.npz"}}
    assert "in one data set only: other-a, other-b, a, b; if two" in propose(home)[0]


def test_systems_whose_files_are_named_alike_are_told_apart(home, systems_of):
    for system in ("a", "b"):
        (home / "one" / system).mkdir()
        (home / "one" / f"{system}.npz").rename(home / "one" / system / "run.npz")
    save_npz(home / "one/other.npz", csr_matrix(np.eye(20, 8)))
    systems = {"other": "other.npz", "a/run": "a/run.npz", "b/run": "b/run.npz"}
    assert systems_of(home / "one") == {name: f"{{dataset}}/{path}" for name, path in systems.items()}
