"""Executors: parts of any files, scored by tasks, give the results, warnings and errors of one process."""

import gzip
import itertools
import multiprocessing
import os
import zipfile
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import fsspec
import numpy as np
import pytest
import scipy.sparse as sp
from support.executors import PicklingExecutor
from support.pieces import read_in_pieces

import xmceval
from xmceval import DataError
from xmceval.api.score import score_systems
from xmceval.files.shards import find_shards
from xmceval.scoring import executor as executors
from xmceval.scoring.options import Options
from xmceval.scoring.setup.resolve import System
from xmceval.scoring.setup.truth import OpenedTruth

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
N_ROWS, N_LABELS = 240, 30
OPTIONS = {"k": "1,3", "metrics": "P,nDCG,PSP,macroF1,AP"}


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    read_in_pieces(monkeypatch, text=512, marks=700, parts=4000, waiting=3, entries=128)


def make_matrices():
    rng = np.random.default_rng(7)
    truth = sp.csr_matrix(rng.random((N_ROWS, N_LABELS)) < 0.1, dtype=np.float64)
    scores = np.where(rng.random((N_ROWS, N_LABELS)) < 0.4, rng.random((N_ROWS, N_LABELS)).round(2) + 0.01, 0)
    return truth, sp.csr_matrix(scores)


TRUTH, SCORES = make_matrices()
DENSE = SCORES.toarray()
LABELS = np.argsort(-DENSE, axis=1, kind="stable")[:, :9]
BEST = np.take_along_axis(DENSE, LABELS, axis=1)


def to_lines(matrix):
    return [
        " ".join(f"{label}:{value:g}" for label, value in zip(row.indices, row.data, strict=True)) + "\n"
        for row in matrix
    ]


def to_text(matrix, *, header=True, comments=False):
    lines = to_lines(matrix)
    if comments:
        lines = [f"# row {i}\n{line}" if i % 3 == 0 else line for i, line in enumerate(lines)]
    return (f"{matrix.shape[0]} {matrix.shape[1]}\n" if header else "") + "".join(lines)


def write(name, content):
    """Write text, or a matrix as text, and return the path."""
    text = content if isinstance(content, str) else to_text(content)
    Path(name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return name


def write_remote():
    fsspec.filesystem("memory").pipe("/engine/p.txt", to_text(SCORES).encode())
    return "memory://engine/p.txt"


def save_npz(matrix, **options):
    sp.save_npz("p.npz", matrix, **options)
    return "p.npz"


def save_arrays(**arrays):
    """Save arrays in files of their names, and return the first name."""
    for name, array in arrays.items():
        np.save(name, array)
    return f"{next(iter(arrays))}.npy"


def save_pair():
    save_arrays(**{"p-labels": LABELS, "p-scores": BEST})
    return "p"


def save_archive():
    np.savez("p.npz", labels=LABELS, scores=BEST)
    return "p.npz"


FORMATS = {
    "text": lambda: write("p.txt", SCORES),
    "bare": lambda: write("p.txt", to_text(SCORES, header=False) + "\n\n"),
    "comments": lambda: write("p.txt", to_text(SCORES, comments=True)),
    "cut": lambda: write("p.txt", to_text(SCORES)[:-1]),
    "gz": lambda: write("p.txt.gz", SCORES),
    "npz": lambda: save_npz(SCORES, compressed=False),
    "extra": lambda: save_npz(sp.hstack([SCORES, sp.csr_matrix(np.ones((N_ROWS, 1)))]).tocsr(), compressed=False),
    "packed": lambda: save_npz(SCORES),
    "csc": lambda: save_npz(SCORES.tocsc()),
    "npy": lambda: save_arrays(p=DENSE.astype(np.float32)),
    "fortran": lambda: save_arrays(p=np.asfortranarray(DENSE)),
    "pair": save_pair,
    "arrays": save_archive,
    "csr": lambda: SCORES,
    "dense": lambda: DENSE,
    "lists": lambda: (LABELS, BEST),
    "remote": write_remote,
}


def check_same(y_true, *scores, **options):
    """Check that an executor gives the results and warnings of one process; return these and the executor."""
    executor, chosen = PicklingExecutor(), Options.of(options)
    systems = [System(find_shards(y_score, are_scores=True)) for y_score in scores]
    one = score_systems(OpenedTruth.of(y_true, chosen, systems), systems)
    parts = score_systems(OpenedTruth.of(y_true, chosen, systems, executor=executor), systems)
    assert xmceval.Results(parts)._render("json") == xmceval.Results(one)._render("json")
    assert [result.warnings for result in parts] == [result.warnings for result in one]
    return one, executor


@pytest.mark.parametrize("form", FORMATS)
def test_parts_of_any_format_give_the_bits_and_the_warnings_of_one_process(form):
    sp.save_npz("train.npz", TRUTH[: N_ROWS // 2])
    _, executor = check_same(write("t.txt", TRUTH), FORMATS[form](), train="train.npz", **OPTIONS)
    assert (executor.n_tasks["score_part"] > 4) == (form not in {"gz", "packed"})


def test_shards_continue_and_several_systems_share_a_truth():
    for i, (start, stop) in enumerate(pairwise([0, 70, 70, 200, N_ROWS])):
        sp.save_npz(f"t-{i}.npz", TRUTH[start:stop], compressed=i % 2 == 0)
        write(f"p-{i}.txt", SCORES[start:stop])
    check_same("t-*.npz", "p-*.txt", write("whole.txt", SCORES[::-1]), write("whole.gz", SCORES), **OPTIONS)


def test_warnings_of_shards_without_rows_are_those_of_one_process():
    write("p-0.txt", SCORES)
    write("p-1.txt", f"0 {N_LABELS}")
    one, _ = check_same(TRUTH, "p-*.txt", **OPTIONS)
    assert "p-1.txt: the last line has no newline" in "".join(one[0].warnings)


@pytest.mark.parametrize("make", [PicklingExecutor, lambda: ThreadPoolExecutor(2)], ids=["tasks", "threads"])
def test_both_repairs_of_a_source_are_reported(make):
    sp.save_npz("p.npz", sp.csr_matrix(sp.hstack([SCORES, np.ones((N_ROWS, 1))])), compressed=False)
    options = {"metrics": "P", "k": 1, "duplicates": "max"}
    warnings = xmceval.score(write("t.txt", TRUTH), "p.npz", **options).warnings
    assert any("dropped 240 entries in extra column 30" in line for line in warnings)
    assert xmceval.score("t.txt", "p.npz", **options, executor=make()).warnings == warnings


@pytest.mark.parametrize("make", [PicklingExecutor, lambda: ThreadPoolExecutor(2)], ids=["tasks", "threads"])
def test_repairs_of_a_truth_that_propensities_are_from_are_counted_once(make):
    truth = write("t.txt", "".join(line.replace("\n", " 29:1 29:1\n") for line in to_lines(TRUTH[:, :29])))
    options = {"metrics": "P,PSP", "k": 1, "duplicates": "max"}
    warnings = xmceval.score(truth, SCORES, **options).warnings
    assert any("dropped 240 duplicate entries" in line for line in warnings)
    assert xmceval.score(truth, SCORES, **options, executor=make()).warnings == warnings


def test_comparisons_are_those_of_one_process():
    systems = {"a": write("a.txt", SCORES), "b": write("b.txt", SCORES[::-1])}
    options = {"k": "1,3", "metrics": "P,nDCG,PSP", "by_frequency": 2}
    one = xmceval.compare(write("t.txt", TRUTH), systems, **options)
    assert xmceval.compare("t.txt", systems, executor=PicklingExecutor(), **options).to_json() == one.to_json()


def message_of(y_true, y_score, **options):
    """Return the message with which scoring is refused."""
    with pytest.raises(DataError) as raised:
        xmceval.score(y_true, y_score, **{"k": 1, "metrics": "P", **options})
    return str(raised.value)


def spoil(matrix, changes):
    lines = to_lines(matrix)
    for row, line in changes:
        lines[row] = line
    return "".join(lines)


@pytest.mark.parametrize(
    ("truth", "scores"),
    [
        ([], [(200, "1:nan\n")]),
        ([], [(200, "1:0.5 x\n"), (30, "31:1\n"), (239, "1:1 1:2\n")]),
        ([(100, "0:-1\n")], [(5, "99:1\n")]),
        ([], [(row, "99:1\n") for row in range(0, N_ROWS, 7)]),
        ([], [(239, "")]),
        ([], [(239, "1:1\n1:1\n")]),
        ([(239, "")], []),
        ([(239, "1:1\n1:1\n")], []),
    ],
    ids=["nan", "three", "truth", "many", "fewer", "more", "fewer-truth", "more-truth"],
)
@pytest.mark.parametrize("header", [True, False])
def test_faults_have_the_places_of_one_process(truth, scores, header):
    head = f"{N_ROWS} {N_LABELS}\n"
    files = write("t.txt", head + spoil(TRUTH, truth)), write("p.txt", head * header + spoil(SCORES, scores))
    expected = message_of(*files, n_labels=N_LABELS)
    assert message_of(*files, n_labels=N_LABELS, executor=PicklingExecutor()) == expected


def test_saved_states_are_those_of_one_process():
    files = write("t.txt", TRUTH), write("p.txt", SCORES)
    for name, executor in (("one", None), ("parts", PicklingExecutor())):
        xmceval.score(*files, k=1, metrics="P", executor=executor, save_state=f"{name}.state")
    assert xmceval.merge(["one.state"])["P@1"] == xmceval.merge(["parts.state"])["P@1"]


def test_labels_that_are_shifted_by_one_are_reported_from_the_first_rows_of_all_parts(rng):
    labels = rng.integers(0, 40, 1200) * 2
    ones, rows = np.ones(1200), np.arange(1200)
    truth, scores = (sp.csr_array((ones, (rows, columns)), shape=(1200, 81)) for columns in (labels, labels + 1))
    one, _ = check_same(write("t.txt", truth), write("p.txt", scores), k=1, metrics="P")
    [doubt] = [line for line in one[0].warnings if line.startswith("P@1")]
    assert doubt.startswith("P@1 is 0.00%, but 100.00% with every predicted label decreased by 1 (in the first 1,000")


def test_a_file_that_changes_while_its_rows_are_scored_is_an_error():
    executor = PicklingExecutor(
        lambda task: task == "score_part" and write("p.txt", to_text(SCORES[:100], header=False))
    )
    message = message_of(TRUTH, write("p.txt", to_text(SCORES, header=False)), executor=executor)
    assert message.startswith("p.txt: has ")


def replace_later(name):
    """Replace a file by one of the same size, which is later by one tick of the coarsest clocks of file systems."""
    content = Path(name).read_bytes()
    times = Path(name).stat()
    Path(name).write_bytes(content[: len(content) // 2] + content[len(content) // 2 :])
    os.utime(name, ns=(times.st_atime_ns, times.st_mtime_ns + 2 * 10**9))


@pytest.mark.parametrize("moment", ["before a task", "in the last task"])
@pytest.mark.parametrize("changed", ["truth", "scores"])
@pytest.mark.parametrize("form", ["text", "bare", "gz", "npz", "packed", "npy", "pair", "arrays"])
def test_a_file_that_is_replaced_by_one_of_its_size_while_tasks_run_is_refused(form, changed, moment, monkeypatch):
    write("t.txt", TRUTH)
    scores = FORMATS[form]()
    name = "t.txt" if changed == "truth" else "p-scores.npy" if form == "pair" else scores
    n_tasks, run_alone = itertools.count(), executors.run_alone

    def replace_first(task):
        if task == "score_part" and next(n_tasks) == (0 if form in {"gz", "packed"} else 2):
            replace_later(name)

    def replace_afterwards(*arguments):
        result = run_alone(*arguments)
        replace_later(name)
        return result

    if moment == "in the last task":
        monkeypatch.setattr(executors, "run_alone", replace_afterwards)
    executor = PicklingExecutor(replace_first if moment == "before a task" else lambda _: None)
    message = message_of("t.txt", scores, executor=executor)
    assert message.startswith(f"{name}: has changed since it was opened")


@pytest.mark.parametrize("task", ["count_rows", "score_part"])
def test_a_file_that_a_worker_does_not_see_is_an_error(task):
    executor = PicklingExecutor(lambda name: name == task and Path("p.txt").unlink(missing_ok=True))
    message = message_of(TRUTH, write("p.txt", SCORES), executor=executor)
    assert message.startswith(f"p.txt: a worker in {Path.cwd()} does not see this file (hint: pass its absolute path")


def test_a_worker_in_another_folder_may_see_another_file(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    write(str(tmp_path / "there" / "p.txt"), SCORES)
    executor = PicklingExecutor(lambda _: monkeypatch.chdir(tmp_path / "there"))
    assert "there does not see this file" in message_of(TRUTH, write("p.txt", SCORES), executor=executor)


def test_a_worker_of_another_version_is_named(monkeypatch):
    def rename_version(task):
        monkeypatch.setattr(executors, "VERSION", "9.9" if task == "score_part" else xmceval.__version__)

    message = message_of(write("t.txt", TRUTH), SCORES, executor=PicklingExecutor(rename_version))
    assert message == f"a worker has xmceval 9.9; this is {xmceval.__version__}"


def test_what_a_part_returns_does_not_grow_with_its_rows():
    sizes = []
    for n in (1, 8):
        executor = PicklingExecutor()
        files = [write(name, sp.vstack([matrix] * n)) for name, matrix in (("t.txt", TRUTH), ("p.txt", SCORES))]
        xmceval.score(*files, metrics="P,macroF1", k=1, executor=executor)
        sizes.append([size for name, size in executor.sizes if name == "score_part"][-1])
    assert sizes[1] < 1.5 * sizes[0]


@pytest.mark.parametrize("kind", ["threads", "spawned processes", "forked processes"])
def test_real_executors_score_and_compare_as_one_process_does(kind):
    write("t.txt", TRUTH)
    sp.save_npz("b.npz", SCORES[::-1], compressed=False)
    systems, options = {"a": write("a.txt", SCORES), "b": "b.npz"}, {"train": TRUTH, **OPTIONS, "by_frequency": 2}
    one, compared = xmceval.score("t.txt", "a.txt", **options), xmceval.compare("t.txt", systems, **options)
    context = multiprocessing.get_context("fork" if kind == "forked processes" else "spawn")
    with ThreadPoolExecutor(3) if kind == "threads" else ProcessPoolExecutor(2, context) as executor:
        parts = xmceval.score("t.txt", "a.txt", executor=executor, **options)
        assert (parts.to_json(), parts.warnings) == (one.to_json(), one.warnings)
        assert xmceval.compare("t.txt", systems, executor=executor, **options).to_json() == compared.to_json()


class Answering(Executor):
    """An executor whose tasks end in a result or an error, whatever they are."""

    def __init__(self, answer):
        self.answer = answer

    def submit(self, function, /, *arguments):
        future = Future()
        if isinstance(self.answer, BaseException):
            future.set_exception(self.answer)
        else:
            future.set_result(self.answer)
        return future


def test_an_executor_that_ends_at_once_is_one_line(monkeypatch):
    broken = PicklingExecutor()
    monkeypatch.setattr(broken, "submit", Mock(side_effect=BrokenExecutor("a process was terminated abruptly")))
    message = message_of(write("t.txt", TRUTH), write("p.txt", SCORES), executor=broken)
    assert message.startswith("the executor ended before all rows were scored (a process was terminated abruptly")


class LostError(Exception):
    """What a cluster raises of its own."""


@pytest.mark.parametrize(
    "answer",
    [
        BrokenExecutor("a process was terminated abruptly"),
        RuntimeError("worker lost"),
        OSError(5, "I/O error"),
        MemoryError(),
        LostError("lost"),
        CancelledError(),
        None,
        3,
    ],
    ids=repr,
)
@pytest.mark.parametrize("in_memory", [True, False])
def test_tasks_that_end_otherwise_than_with_their_result_are_one_line(answer, in_memory):
    files = (TRUTH, SCORES) if in_memory else (write("t.txt", TRUTH), write("p.txt", SCORES))
    with pytest.raises(DataError, match=r"^the executor ended before all rows were scored ") as raised:
        xmceval.score(*files, k=1, metrics="P", executor=Answering(answer))
    is_error = isinstance(answer, BaseException)
    assert raised.value.__cause__ is (answer if is_error else None)
    reason = str(answer) or type(answer).__name__ if is_error else f"a task returned {answer}"
    assert f"({reason}); were its workers killed" in str(raised.value)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_that_was_shut_down_is_one_line(kind):
    pool = kind(1)
    pool.shutdown()
    message = message_of(TRUTH, SCORES, executor=pool)
    assert message.startswith("the executor ended before all rows were scored (cannot schedule new futures after")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("what", ["entries", "member"])
@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_an_npz_with_more_than_it_declares_is_refused_by_the_tasks_too(compressed, what):
    matrix, problem = SCORES.copy(), r"p\.npz: .*data\.npy appears twice"
    if what == "entries":
        matrix.data, matrix.indices = np.append(matrix.data, 9), np.append(matrix.indices, 0)
        problem = rf"p\.npz: its indptr ends at {SCORES.nnz:,}, but there are {SCORES.nnz + 1:,} stored entries"
    save_npz(matrix, compressed=compressed)
    if what == "member":
        with zipfile.ZipFile("p.npz", "a") as archive:
            archive.writestr("data.npy", archive.read("data.npy"))
    with pytest.raises(DataError, match=problem):
        xmceval.score(TRUTH, "p.npz", executor=PicklingExecutor(), **OPTIONS)
