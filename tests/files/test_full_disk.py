"""A disk without room: every output is refused by its name, and leaves nothing behind."""

from pathlib import Path

import pytest
import scipy.sparse as sp
from support.processes import room

import xmceval
from xmceval import DataError, UsageError

pytest.importorskip("resource", reason="limits the size of files")

# numpy before 2.2 leaves its archive open where a write fails
pytestmark = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <function ZipFile.__del__:pytest.PytestUnraisableExceptionWarning"
)
TRUTH = sp.random(300, 40, 0.1, "csr", random_state=1).astype(bool).astype(float)
SCORES = sp.random(300, 40, 0.5, "csr", random_state=2)


def evaluator(path):
    each = xmceval.Evaluator(metrics="P,macroF1", k=1)
    each.update(TRUTH.toarray(), SCORES.toarray())
    each.save(path)


def score(**options):
    xmceval.score(TRUTH, SCORES, metrics="P,nDCG,macroF1", k="1,3", **options)


def convert(name):
    xmceval.convert("s.npz", name, kind="scores")


WAYS = {
    "r.rows.npz": lambda name: score(save_rows=name),
    "r.rows.csv": lambda name: score(save_rows=name),
    "r.labels.csv": lambda name: score(save_labels=name),
    "s.state": lambda name: score(save_state=name),
    "e.state": evaluator,
    **dict.fromkeys(("c.npz", "c.txt", "c.txt.gz", "c.txt.bz2", "c.npy"), convert),
}


@pytest.fixture(autouse=True)
def folder(tmp_path):
    sp.save_npz("t.npz", TRUTH)
    sp.save_npz("s.npz", SCORES)
    return tmp_path


@pytest.mark.parametrize("name", WAYS)
def test_a_full_disk_is_an_error_that_names_the_file(name, folder):
    before = {path.name for path in folder.iterdir()}
    WAYS[name](name)
    made = [path for path in folder.iterdir() if path.name not in before]
    size = max(path.stat().st_size for path in made)
    for path in made:
        path.unlink()
    for n_bytes in (0, 1, size // 3, size // 2, size - 1):
        with room(n_bytes), pytest.raises(DataError, match=f"{name}.*: File too large"):
            WAYS[name](name)
        assert {path.name for path in folder.iterdir()} == before


def test_the_command_names_the_file_too(folder, run):
    with room(1000):
        ended = run("score", "t.npz", "s.npz", "-q", "-m", "P@1", "--save-rows", "r.rows.npz")
    assert ended == (1, "", "Error: r.rows.npz: File too large\n")
    assert sorted(path.name for path in folder.iterdir()) == ["s.npz", "t.npz"]


def test_a_file_that_was_there_stays_as_it_was():
    Path("c.txt").write_text("old")
    with room(100), pytest.raises(DataError):
        xmceval.convert("s.npz", "c.txt", force=True)
    assert Path("c.txt").read_text() == "old"
    with pytest.raises(UsageError):
        xmceval.convert("s.npz", "c.txt")
