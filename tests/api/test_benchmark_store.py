"""The store of a benchmark: what counts as unchanged, what is kept, and for how long."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from scipy import sparse

import xmceval
from xmceval.api.benchmark import dependencies
from xmceval.api.benchmark.dependencies import comparison_key
from xmceval.api.benchmark.plan import PlannedCell, PlannedDataset
from xmceval.api.benchmark.store import DIGESTS, Store
from xmceval.errors import DataError
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.files.saved import inputdigests
from xmceval.rows.shards import Shards
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options

LONG_AGO = time.time() - 3600
ROWS, SCORES = "2 3\n0:1 2:1\n1:1\n", "2 3\n0:.9 1:.8\n1:.7\n"


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"t.txt": ROWS, "train.txt": ROWS, "a.txt": SCORES, "b.txt": SCORES.replace("9", "6")}.items():
        write(name, text)


@pytest.fixture
def reads(monkeypatch, tmp_path):
    """The names of the files of this test that are read for their digests."""
    names = []
    digest_file = inputdigests.digest_file

    def read(path):
        if isinstance(path, RemotePath) or tmp_path in path.absolute().parents:
            names.append(path.name)
        return digest_file(path)

    monkeypatch.setattr(inputdigests, "digest_file", read)
    return names


def write(name, text, modified=LONG_AGO):
    Path(name).write_text(text)
    os.utime(name, (modified, modified))


def dataset(**changed):
    found = {"truth": Path("t.txt"), "options": Options(train="train.txt"), **changed}
    cells = found.pop("cells", None) or (PlannedCell("A", (Path("a.txt"),)), PlannedCell("B", (Path("b.txt"),)))
    return PlannedDataset("D", cells=cells, **found)


def run(planned=None, **how):
    """Find the keys as a run does, and record what it has seen."""
    store = Store(".xmceval", file="b.toml", **how)
    keys = store.find_keys(planned or dataset())
    store.finish_dataset(planned or dataset())
    return {system: each for system, [each] in keys.items()}


def explained(planned=None):
    store = Store(".xmceval", file="b.toml")
    store.find_keys(planned or dataset())
    return {system: store.explain("D", system) for system in ("A", "B")}


# What counts as unchanged.


def test_a_second_run_reads_nothing_and_finds_the_same_keys(reads):
    first = run()
    assert sorted(reads) == ["a.txt", "b.txt", "t.txt", "train.txt"]
    reads.clear()
    assert run() == first
    assert reads == []
    assert explained() == {"A": "", "B": ""}


def test_a_file_that_is_touched_is_read_but_has_not_changed(reads):
    first = run()
    reads.clear()
    write("a.txt", SCORES, LONG_AGO + 60)
    assert run() == first
    assert reads == ["a.txt"]


def test_a_change_of_the_same_size_is_found_even_if_its_date_is_set_back():
    first = run()
    write("a.txt", SCORES.replace(".9", ".8"))
    second = run()
    assert second["A"] != first["A"]
    assert second["B"] == first["B"]


def test_a_file_modified_within_two_seconds_of_its_reading_is_read_again(reads):
    write("a.txt", SCORES, time.time())
    run()
    reads.clear()
    run()
    assert reads == ["a.txt"]


def test_all_inputs_are_read_to_verify_them(reads):
    first = run()
    reads.clear()
    assert run(verify=True) == first
    assert sorted(reads) == ["a.txt", "b.txt", "t.txt", "train.txt"]


def test_damaged_records_of_digests_are_as_none(reads):
    first = run()
    reads.clear()
    path = Path(".xmceval") / DIGESTS
    path.write_bytes(path.read_bytes().replace(b"a.txt", b"b.txt"))
    assert run() == first
    assert len(reads) == 4


def test_an_input_that_changes_while_it_is_scored_is_noticed():
    store = Store(".xmceval")
    store.find_keys(dataset())
    assert store.has_same_inputs()
    write("t.txt", ROWS)
    assert not store.has_same_inputs()


@pytest.mark.parametrize(
    ("told", "is_same"),
    [
        ({"size": 5, "ETag": '"x"', "LastModified": "later"}, True),
        ({"size": 5, "ETag": '"y"', "LastModified": "then"}, False),
        ({"size": 5, "LastModified": "then"}, False),
    ],
)
def test_remote_files_are_told_apart_by_their_tag(told, is_same, reads):
    def key(info):
        path = to_path("memory://bucket/a.npz")
        path.remote._info = info
        return run(dataset(cells=(PlannedCell("A", (path,)),)))["A"]

    first = key({"size": 5, "ETag": '"x"', "LastModified": "then"})
    assert (key(told) == first) == is_same
    assert "a.npz" not in reads


def test_a_remote_file_is_read_to_verify_it(reads):
    files = MemoryFileSystem()
    files.pipe("/bucket/a.txt", SCORES.encode())
    planned = dataset(cells=(PlannedCell("A", (to_path("memory://bucket/a.txt"),)),))
    run(planned)
    assert "a.txt" not in reads
    verified = run(planned, verify=True)
    assert reads.count("a.txt") == 1
    assert run(planned) == verified == run(dataset(cells=(PlannedCell("A", (Path("a.txt"),)),)))
    assert reads.count("a.txt") == 2  # that of the local file
    files.pipe("/bucket/a.txt", b"")
    again = dataset(cells=(PlannedCell("A", (to_path("memory://bucket/a.txt"),)),))
    assert run(again) != verified


# What keys depend on.


def test_a_change_of_one_input_changes_the_keys_of_what_depends_on_it():
    first = run()
    assert explained() == {"A": "", "B": ""}
    for name, changed in {"b.txt": {"B"}, "t.txt": {"A", "B"}, "train.txt": {"A", "B"}}.items():
        write(name, Path(name).read_text() + "\n")
        assert explained() == {system: f"{name} changed" if system in changed else "" for system in "AB"}
        second = run()
        assert {system for system in "AB" if second[system] != first[system]} == changed
        first = second


@pytest.mark.parametrize("options", [{"k": 2}, {"metrics": "P"}, {"a": 0.5}, {"ceiling": True}, {"filter": "f.txt"}])
def test_options_that_change_a_number_change_keys(options):
    write("f.txt", "0 1\n")
    first = run()
    assert run(dataset(options=Options(train="train.txt", **options)))["A"] != first["A"]


def test_threads_and_spellings_of_options_change_no_key():
    first = run(dataset(options=Options(k=[1, 2], metrics="P", train="train.txt")))
    assert run(dataset(options=Options(metrics=["P@1,2"], k="1-2", train=Path("train.txt"), threads=1))) == first


def test_a_new_version_or_another_source_scores_all_again(monkeypatch):
    first = run()
    with monkeypatch.context() as patched:
        patched.setattr(dependencies, "VERSION", "9.9")
        assert explained() == dict.fromkeys("AB", f"xmceval {xmceval.__version__} → 9.9")
    monkeypatch.setattr("xmceval.api.benchmark.store.digest_source", lambda _: "other")
    assert explained() == dict.fromkeys("AB", "the source of xmceval changed")
    assert run()["A"] != first["A"]


def test_what_changed_is_named():
    assert explained() == dict.fromkeys("AB", "new")
    run()
    other = dataset(options=Options(metrics="P", k=1))
    assert explained(other)["A"] == "k, metrics changed, without train.txt"
    seeds = (PlannedCell("A", (Path("a.txt"), Path("b.txt"))), PlannedCell("B", (Path("a.txt"),)))
    assert explained(dataset(cells=seeds)) == {"A": "2 instead of 1 run", "B": "a.txt changed"}


def test_shards_pairs_patterns_and_arrays_have_keys_of_their_content():
    np.save("p-labels.npy", np.array([[0], [1]]))
    np.save("p-scores.npy", np.array([[0.5], [0.25]]))
    matrix = sparse.random(4, 4, 0.5, "csr", random_state=np.random.default_rng(3))
    dense = matrix.toarray()
    inputs = {
        "shards": Shards([Path("a.txt"), Path("b.txt")]),
        "turned": Shards([Path("b.txt"), Path("a.txt")]),
        "pattern": "[ab].txt",
        "pair": Path("p-scores.npy"),
        "sparse": matrix,
        "dense": dense,
        "negated": -dense,
        "both": (dense.argsort(), dense),
        "missing": Path("none.txt"),
        "unmatched": "none-*.txt",
        "lists": [[0, 1], [2]],
    }
    cells = tuple(PlannedCell(name, (value,)) for name, value in inputs.items())
    keys = run(dataset(cells=cells))
    assert [name for name in inputs if keys[name] is None] == ["missing", "unmatched", "lists"]
    known = [key for key in keys.values() if key is not None]
    assert len(set(known)) == len(known)
    np.save("p-labels.npy", np.array([[1], [0]]))
    dense *= 1
    again = run(dataset(cells=cells))
    assert [name for name in inputs if again[name] != keys[name]] == ["pair"]


# What is kept, and for how long.


def keep(store, planned):
    """Keep a file for each run, and the comparison."""
    keys = store.find_keys(planned)
    for runs in keys.values():
        np.savez(store.cell_path(runs[0]), values=np.arange(3))
    key = comparison_key(planned.cells, keys, Testing())
    store.save_comparison(key, {"systems": [1, "é"]})
    store.finish_dataset(planned)
    return keys, key


def test_comparisons_depend_on_cells_their_order_and_the_test():
    store, planned = Store(".xmceval"), dataset()
    keys, key = keep(store, planned)
    assert Store(".xmceval").load_comparison(key) == {"systems": [1, "é"]}
    others = [
        comparison_key(planned.cells[::-1], keys, Testing()),
        comparison_key(planned.cells[:1], keys, Testing()),
        comparison_key(planned.cells, keys, Testing(against="A")),
    ]
    assert len({key, *others}) == 4
    assert [store.load_comparison(each) for each in (*others, None)] == [None] * 4
    assert comparison_key(planned.cells, {**keys, "A": (None,)}, Testing()) is None


def test_damaged_files_count_as_not_kept():
    store, planned = Store(".xmceval"), dataset()
    keys, key = keep(store, planned)
    [cell], [other] = keys["A"], keys["B"]
    [document] = Path(".xmceval/comparisons").iterdir()
    document.write_bytes(document.read_bytes().replace(b"1", b"2"))
    store.cell_path(cell).write_bytes(store.cell_path(cell).read_bytes()[:-30])
    assert store.load_comparison(key) is None
    assert not store.has_cell(cell)
    assert not store.has_cell(None)
    assert store.has_cell(other)
    store.discard([other, None])
    assert not store.has_cell(other)


def test_the_folder_is_ignored_by_git_and_has_a_size():
    store = Store("deep/er/.xmceval")
    assert (store.folder / ".gitignore").read_text() == "*\n"
    assert store.n_bytes == 2


def test_a_folder_of_other_files_is_not_hidden_from_git_and_keeps_them():
    Path("mine/cells").mkdir(parents=True)
    write("mine/cells/model.npz", "x")
    store = Store("mine")
    keep(store, dataset())
    store.finish(prune=True)
    assert Path("mine/cells/model.npz").exists()
    assert not Path("mine/.gitignore").exists()
    assert len(list(Path("mine/cells").iterdir())) == 3


def test_a_folder_that_is_remote_or_cannot_be_written_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"s3://bucket/\.xmceval: is remote, so nothing can be kept there"):
        Store("s3://bucket/.xmceval")
    with pytest.raises(DataError, match=r"a\.txt/\.xmceval: Not a directory"):
        Store("a.txt/.xmceval")

    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    Store(".xmceval")
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(DataError, match=r"\.xmceval: Read-only file system"):
        Store(".xmceval")


def test_what_was_not_used_for_30_days_goes_after_a_complete_run():
    store = Store(".xmceval")
    keep(store, dataset())
    write("a.txt", SCORES + "\n")
    names = sorted(Path(".xmceval").glob("c*/*.*"))
    for days, n_left in ((29, 5), (31, 3)):
        for name in names:
            os.utime(name, (time.time() - days * 86_400,) * 2)
        again = Store(".xmceval")
        keep(again, dataset())
        again.finish()
        assert len(list(Path(".xmceval").glob("c*/*.*"))) == n_left  # A and the comparison went, B was used
    for name in names:
        if name.exists():
            os.utime(name, (LONG_AGO, LONG_AGO))
    again = Store(".xmceval")
    [key] = again.find_keys(dataset())["B"]
    again.finish()
    assert again.cell_path(key).stat().st_mtime > LONG_AGO + 60


def test_prune_leaves_what_this_run_used():
    keep(Store(".xmceval", file="b.toml"), dataset())
    write("a.txt", SCORES + "\n")
    store = Store(".xmceval", file="b.toml")
    keys, key = keep(store, dataset())
    store.finish(prune=True)
    assert {path.stem for path in Path(".xmceval").glob("c*/*.*")} == {
        key,
        *(each for [each] in keys.values()),
    }


KILLED = """
    import sys
    from pathlib import Path
    from xmceval.api.benchmark.store import Store

    print("ready", flush=True)
    while True:
        store = Store(".xmceval")
        for i in range(20):
            store.save_comparison(f"key{i}", {"text": "x" * 200_000})
"""


def test_a_run_that_is_killed_leaves_nothing_that_is_wrong():
    for seconds in (0.01, 0.05):
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(KILLED)], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        store = Store(".xmceval")
        found = [store.load_comparison(f"key{i}") for i in range(20)]
        kept = [path.stem for path in Path(".xmceval/comparisons").glob("key*")]
        assert len(kept) == sum(each == {"text": "x" * 200_000} for each in found)
        store.finish(prune=True)
        assert list(Path(".xmceval/comparisons").glob(".*.part")) == []
