"""Setup: each input is found once, and a state that is saved has the warnings of the result it would finish into."""

import gc
import gzip
import os
import pickle
import weakref
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_matrix, save_npz

import xmceval
from xmceval.api.score import finish_state, score_opened
from xmceval.files import shards as shardfiles
from xmceval.loops import evaluator as batches
from xmceval.scoring.options import Options
from xmceval.scoring.setup import resolve
from xmceval.scoring.setup.resolve import System
from xmceval.scoring.setup.truth import OpenedTruth

ROWS = "3 4\n0:1 2:1\n1:1\n3:1\n"
SCORES = "3 4\n0:.9 1:.8\n1:.7\n2:.6\n"


@pytest.fixture(autouse=True)
def in_folder(tmp_path):
    for name, content in {"t.txt": ROWS, "train.txt": ROWS, "a.txt": SCORES, "b.txt": SCORES, "c.txt": ROWS}.items():
        (tmp_path / name).write_text(content)


@pytest.fixture
def found(monkeypatch):
    """Count how often the shards of each path are found."""
    counts = Counter()

    def find(value, **how):
        counts.update([value] if isinstance(value, str) else [])
        return shardfiles.find_shards(value, **how)

    for module in (resolve, batches):
        monkeypatch.setattr(module, "find_shards", find)
    return counts


def test_each_path_is_found_once(found):
    options = Options(train="train.txt", metrics="PSP", k=1)
    systems = [System("a.txt"), System("b.txt", "b")]
    prepared = OpenedTruth.of("t.txt", options, systems)
    score_opened(prepared, prepared.open_systems(systems))
    assert found == dict.fromkeys(("t.txt", "train.txt", "a.txt", "b.txt"), 1)
    found.clear()
    xmceval.Evaluator(train="train.txt", metrics="PSP", k=1)
    assert found == {"train.txt": 1}


def test_all_files_of_all_runs_are_looked_for_before_anything_is_read():
    Path("t.txt").write_text("no truth")
    for kind in (list, tuple):
        runs = kind([xmceval.Shards(["a.txt", "no shard.txt"]), "no run.txt"])
        with pytest.raises(xmceval.DataError) as refused:
            xmceval.compare("t.txt", {"a": runs, "b": "b.txt"}, metrics="P", k=1)
        assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == ["no shard.txt", "no run.txt"]


def test_a_saved_state_has_the_warnings_of_the_result():
    options = {"metrics": ["P", "PSP"], "k": 1, "train": "train.txt", "sample_weight": [1.0, 2.0**-40, 0.0]}
    with pytest.warns(xmceval.XmcevalWarning):
        result = xmceval.score("t.txt", "t.txt", save_state="t.state", **options)
    with pytest.warns(xmceval.XmcevalWarning):
        merged = xmceval.merge(["t.state"])
    assert sorted(merged.warnings) == sorted(result.warnings)
    assert any("a perfect model's" in line for line in merged.warnings)
    assert any("smallest weight" in line for line in merged.warnings)


def test_totals_of_one_setup_are_of_the_rows_that_were_evaluated_last():
    systems = [System("a.txt")]
    prepared = OpenedTruth.of("t.txt", Options(metrics="P", k=1), systems)
    opened = prepared.open_systems(systems)
    [one], [two] = (score_opened(prepared, opened) for _ in range(2))
    assert one.n_rows == two.n_rows == 3
    assert finish_state(one) == finish_state(two)


def test_a_state_that_is_asked_for_between_batches_changes_nothing():
    rng = np.random.default_rng(7)
    truth, scores = (rng.random((9, 5)) < 0.4).astype(float), rng.random((9, 5))
    asked, plain = (xmceval.Evaluator(metrics="P,macroF1", k=2, max_weight=2.0) for _ in range(2))
    for i in range(0, 9, 3):
        for evaluator in (asked, plain):
            evaluator.update(truth[i : i + 3], scores[i : i + 3], np.ones(3) + i / 9)
        repr(asked)
        pickle.dumps(asked)
    assert asked.result() == plain.result()
    assert pickle.dumps(asked) == pickle.dumps(plain)


@pytest.mark.parametrize("n_rows", [3, 100_000])
def test_an_evaluator_keeps_no_batch(n_rows):
    evaluator = xmceval.Evaluator(metrics="P,macroF1", k=1)
    truth, scores = np.eye(n_rows, 4), np.eye(n_rows, 4)
    evaluator.update(truth, scores)
    kept = [weakref.ref(truth), weakref.ref(scores)]
    del truth, scores
    gc.collect()
    assert [each() for each in kept] == [None, None]


def save_pair():
    np.save("p-labels.npy", [[0, 1], [1, 2], [3, 2]])
    np.save("p-scores.npy", [[0.9, 0.8], [0.7, 0.6], [0.5, 0.4]])


def save_shards():
    Path("p").mkdir()
    for row, scores in enumerate(([[0.9, 0.8, 0, 0]], [[0, 0.7, 0, 0]], [[0, 0, 0.6, 0]])):
        save_npz(f"p/{row}.npz", csc_matrix(scores))  # is held in memory, and read anew for each pass


CHANGING = {
    "t.txt": lambda: "a.txt",
    "a.txt": lambda: "a.txt",
    "p.txt.gz": lambda: (Path("p.txt.gz").write_bytes(gzip.compress(SCORES.encode())), "p.txt.gz")[1],
    "p.npz": lambda: (save_npz("p.npz", csr_matrix(np.eye(3, 4))), "p.npz")[1],
    "p.npy": lambda: (np.save("p.npy", np.eye(3, 4) + 0.5), "p.npy")[1],
    "p-scores.npy": lambda: (save_pair(), "p-labels.npy")[1],
    "p/1.npz": lambda: (save_shards(), "p/*")[1],
}


@pytest.mark.parametrize("change", ["same size", "another size", "removed"])
@pytest.mark.parametrize("name", CHANGING)
def test_a_file_that_changes_while_it_is_scored_is_refused(name, change):
    scores = CHANGING[name]()
    options = {"metrics": "P,PSP", "k": 1}
    expected = dict(xmceval.score("t.txt", scores, **options))

    def change_file(_):
        path = Path(name)
        if not path.exists():  # it was removed
            return
        content, modified = path.read_bytes(), path.stat().st_mtime_ns
        path.unlink()
        if change != "removed":
            path.write_bytes(content + b" " * (change == "another size"))
            os.utime(path, ns=(modified, modified + 2 * 10**9))

    with pytest.raises(xmceval.DataError, match=f"^{name}: (has changed since it was opened|no such file)"):
        xmceval.score("t.txt", scores, progress=change_file, threads=1, **options)
    if change == "same size":
        assert dict(xmceval.score("t.txt", scores, **options)) == expected
