"""Executors: parts of any files, scored by tasks, give the results, warnings and errors of one process."""

import gzip
import multiprocessing
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import fsspec
import numpy as np
import pytest
import scipy.sparse as sp
from support.executors import PicklingExecutor

import xmceval
from xmceval import DataError, UsageError
from xmceval.api.comparing.compare import compare_systems
from xmceval.api.extras.holdrows import HoldRows
from xmceval.api.extras.savestate import SaveState
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, Setup
from xmceval.files.arrays import npz  # noqa: F401 - loaded before sizes are patched, of which it keeps a copy
from xmceval.files.io import chunks
from xmceval.files.io.shardfiles import find_shards
from xmceval.report.forms.registry import render, render_comparison
from xmceval.rows.matrices import matrices
from xmceval.scoring import executor as executors
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options

N_ROWS, N_LABELS = 240, 30
OPTIONS = {"k": "1,3", "metrics": "P,nDCG,PSP,macroF1,AP"}


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 512)
    monkeypatch.setattr(executors, "MARK_BYTES", 700)
    monkeypatch.setattr(executors, "PART_BYTES", 4000)
    monkeypatch.setattr(executors, "MOST_WAITING", 3)
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 128)


def make_matrices():
    rng = np.random.default_rng(7)
    truth = sp.csr_matrix(rng.random((N_ROWS, N_LABELS)) < 0.1, dtype=np.float64)
    scores = np.where(rng.random((N_ROWS, N_LABELS)) < 0.4, rng.random((N_ROWS, N_LABELS)).round(2) + 0.01, 0)
    return truth, sp.csr_matrix(scores)


def to_lines(matrix):
    return [
        " ".join(f"{label}:{value:g}" for label, value in zip(row.indices, row.data, strict=True)) + "\n"
        for row in matrix
    ]


def write_text(name, matrix, *, header=True, end="", comments=False, compress=False):
    lines = to_lines(matrix)
    if comments:
        lines = [f"# row {i}\n{line}" if i % 3 == 0 else line for i, line in enumerate(lines)]
    text = (f"{matrix.shape[0]} {matrix.shape[1]}\n" if header else "") + "".join(lines) + end
    Path(name).write_bytes(gzip.compress(text.encode()) if compress else text.encode())
    return name


def write_scores(name, scores):
    """Write predictions in the format of a name; return the path, or the matrix that it stands for."""
    dense = scores.toarray()
    labels = np.argsort(-dense, axis=1, kind="stable")[:, :9]
    match name:
        case "text":
            return write_text("p.txt", scores)
        case "bare":
            return write_text("p.txt", scores, header=False, end="\n\n")
        case "comments":
            return write_text("p.txt", scores, comments=True)
        case "cut":
            Path(write_text("p.txt", scores)).write_bytes(Path("p.txt").read_bytes()[:-1])
            return "p.txt"
        case "remote":
            fsspec.filesystem("memory").pipe("/engine/p.txt", Path(write_text("p.txt", scores)).read_bytes())
            return "memory://engine/p.txt"
        case "gz":
            return write_text("p.txt.gz", scores, compress=True)
        case "npz":
            sp.save_npz("p.npz", scores, compressed=False)
            return "p.npz"
        case "extra":
            wide = sp.hstack([scores, sp.csr_matrix(np.ones((N_ROWS, 1)))]).tocsr()
            sp.save_npz("p.npz", wide, compressed=False)
            return "p.npz"
        case "packed":
            sp.save_npz("p.npz", scores)
            return "p.npz"
        case "csc":
            sp.save_npz("p.npz", scores.tocsc())
            return "p.npz"
        case "npy":
            np.save("p.npy", dense.astype(np.float32))
            return "p.npy"
        case "fortran":
            np.save("p.npy", np.asfortranarray(dense))
            return "p.npy"
        case "pair":
            np.save("p-labels.npy", labels)
            np.save("p-scores.npy", np.take_along_axis(dense, labels, axis=1))
            return "p"
        case "arrays":
            np.savez("p.npz", labels=labels, scores=np.take_along_axis(dense, labels, axis=1))
            return "p.npz"
        case "csr":
            return scores
        case "dense":
            return dense
    return (labels, np.take_along_axis(dense, labels, axis=1))


FORMATS = [
    *("text", "bare", "comments", "cut", "gz", "npz", "extra", "packed", "csc", "npy", "fortran", "pair", "arrays"),
    *("csr", "dense", "lists", "remote"),
]


def both(y_true, systems, **options):
    """Return what one process and what an executor make of systems, and the executor."""
    chosen, executor = Options.of(options), PicklingExecutor()
    systems = [Named(find_shards(each, are_scores=True)) for each in systems]
    one = score_systems(Setup.of(y_true, chosen, systems), systems).results
    parts = score_systems(Setup.of(y_true, chosen, systems, executor=executor), systems).results
    return one, parts, executor


@pytest.mark.parametrize("form", FORMATS)
def test_parts_of_any_format_give_the_bits_and_the_warnings_of_one_process(form):
    truth, scores = make_matrices()
    sp.save_npz("train.npz", truth[: N_ROWS // 2])
    one, parts, executor = both(write_text("t.txt", truth), [write_scores(form, scores)], train="train.npz", **OPTIONS)
    assert render("json", parts) == render("json", one)
    assert parts[0].warnings == one[0].warnings
    assert (executor.n_tasks["score_part"] > 4) == (form not in {"gz", "packed"})


@pytest.mark.parametrize(
    "options",
    [
        {"sample_weight": np.arange(N_ROWS) % 5 / 3},
        {"filter": np.array([[0, 3], [120, 7], [239, 2]]), "filter_truth": True},
        {"duplicates": "max", "empty_rows": "drop", "ties": "expected", "metrics": "P,nDCG"},
        {"by_frequency": "head,torso,tail", "ceiling": True},
        {"threshold": 0.5},
    ],
    ids=lambda options: next(iter(options)),
)
def test_options_are_those_of_one_process(options):
    truth, scores = make_matrices()
    Path("p.txt").write_text("".join(line.replace("\n", " 29:.5 29:.7\n") for line in to_lines(scores[:, :29])))
    preds = "p.txt" if "duplicates" in options else write_text("q.txt", scores)
    one, parts, executor = both(write_text("t.txt", truth), [preds], **{"k": "1,3", **options})
    assert render("json", parts) == render("json", one)
    assert parts[0].warnings == one[0].warnings
    assert executor.n_tasks["score_part"] > 4


def test_shards_continue_and_several_systems_share_a_truth():
    truth, scores = make_matrices()
    bounds = [0, 70, 70, 200, N_ROWS]
    for i, (start, stop) in enumerate(pairwise(bounds)):
        sp.save_npz(f"t-{i}.npz", truth[start:stop], compressed=i % 2 == 0)
        write_text(f"p-{i}.txt", scores[start:stop])
    systems = ["p-*.txt", write_text("whole.txt", scores[::-1]), write_text("whole.gz", scores, compress=True)]
    one, parts, _ = both("t-*.npz", systems, **OPTIONS)
    assert render("json", parts) == render("json", one)


def test_warnings_of_shards_without_rows_are_those_of_one_process():
    truth, scores = make_matrices()
    write_text("p-0.txt", scores)
    Path("p-1.txt").write_text(f"0 {N_LABELS}")
    one, parts, _ = both(truth, ["p-*.txt"], **OPTIONS)
    assert "p-1.txt: the last line has no newline" in "".join(one[0].warnings)
    assert parts[0].warnings == one[0].warnings


def test_comparisons_are_those_of_one_process():
    truth, scores = make_matrices()
    write_text("t.txt", truth)
    named = [Named(write_text("a.txt", scores), "a"), Named(write_text("b.txt", scores[::-1]), "b")]
    chosen = Options.of({"k": "1,3", "metrics": "P,nDCG,PSP", "by_frequency": 2})
    one = compare_systems(Setup.of("t.txt", chosen, named), named, Testing())
    parts = compare_systems(Setup.of("t.txt", chosen, named, executor=PicklingExecutor()), named, Testing())
    assert render_comparison("json", parts) == render_comparison("json", one)


def message_of(call):
    with pytest.raises(DataError) as raised:
        call()
    return str(raised.value)


def spoil(lines, *changes):
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
    matrix, predictions = make_matrices()
    head = f"{N_ROWS} {N_LABELS}\n"
    Path("t.txt").write_text(head + spoil(to_lines(matrix), *truth))
    Path("p.txt").write_text(head * header + spoil(to_lines(predictions), *scores))
    systems, options = [Named("p.txt")], Options.of({"k": 1, "metrics": "P", "n_labels": N_LABELS})
    setup = Setup.of("t.txt", options, systems)
    expected = message_of(lambda: score_systems(setup, systems))
    setup = Setup.of("t.txt", options, systems, executor=PicklingExecutor())
    assert message_of(lambda: score_systems(setup, systems)) == expected


def test_what_needs_single_rows_is_refused_by_name():
    truth, scores = make_matrices()
    systems = [Named(scores)]
    for options, message in (
        ({"metrics": "macroAUC"}, "macroAUC: not available for executor"),
        ({"metrics": "P", "k": 1}, "per-instance values are not available for executor"),
    ):
        setup = Setup.of(truth, Options.of(options), systems, executor=PicklingExecutor())
        with pytest.raises(UsageError, match=message):
            score_systems(setup, systems, [HoldRows(in_results=True, path=None, force=False)] if "k" in options else [])


def test_saved_states_are_those_of_one_process():
    truth, scores = make_matrices()
    systems, options = [Named(write_text("p.txt", scores))], Options.of({"k": 1, "metrics": "P"})
    write_text("t.txt", truth)
    for name, more in (("one", {}), ("parts", {"executor": PicklingExecutor()})):
        setup = Setup.of("t.txt", options, systems, **more)
        score_systems(setup, systems, [SaveState(f"{name}.state", None, force=False)])
    assert xmceval.merge(["one.state"])["P@1"] == xmceval.merge(["parts.state"])["P@1"]


def test_labels_that_are_shifted_by_one_are_reported_from_the_first_rows_of_all_parts(rng):
    labels = rng.integers(0, 40, 1200) * 2
    truth, scores = (
        sp.csr_array((np.ones(1200), (np.arange(1200), each)), shape=(1200, 81)) for each in (labels, labels + 1)
    )
    write_text("t.txt", truth)
    systems, options = [Named(write_text("p.txt", scores))], Options.of({"k": 1, "metrics": "P"})
    for engine in ({}, {"executor": PicklingExecutor()}):
        [result] = score_systems(Setup.of("t.txt", options, systems, **engine), systems).results
        [doubt] = [line for line in result.warnings if line.startswith("P@1")]
        assert doubt.startswith(
            "P@1 is 0.00%, but 100.00% with every predicted label decreased by 1 (in the first 1,000"
        )


def test_a_file_that_changes_while_its_rows_are_scored_is_an_error():
    truth, scores = make_matrices()
    systems = [Named(write_text("p.txt", scores, header=False))]

    def change(name):
        if name == "score_part":
            write_text("p.txt", scores[:100], header=False)

    setup = Setup.of(truth, Options.of({"metrics": "P"}), systems, executor=PicklingExecutor(change))
    assert message_of(lambda: score_systems(setup, systems)).startswith("p.txt: has ")


@pytest.mark.parametrize("task", ["count_rows", "score_part"])
def test_a_file_that_a_worker_does_not_see_is_an_error(task):
    truth, scores = make_matrices()
    systems = [Named(write_text("p.txt", scores))]
    executor = PicklingExecutor(lambda name: name == task and Path("p.txt").unlink(missing_ok=True))
    setup = Setup.of(truth, Options.of({"metrics": "P"}), systems, executor=executor)
    message = message_of(lambda: score_systems(setup, systems))
    assert message.startswith(f"p.txt: a worker in {Path.cwd()} does not see this file (hint: pass its absolute path")


def test_a_worker_in_another_folder_may_see_another_file(tmp_path, monkeypatch):
    truth, scores = make_matrices()
    write_text("p.txt", scores)
    (tmp_path / "there").mkdir()
    setup = Setup.of(
        truth,
        Options.of({"metrics": "P"}),
        [Named("p.txt")],
        executor=PicklingExecutor(lambda _: monkeypatch.chdir(tmp_path / "there")),
    )
    write_text(tmp_path / "there" / "p.txt", scores)
    assert "there does not see this file" in message_of(lambda: score_systems(setup, [Named("p.txt")]))


def test_a_worker_of_another_version_is_named(monkeypatch):
    truth, scores = make_matrices()
    executor = PicklingExecutor(lambda _: monkeypatch.setattr(executors, "VERSION", "9.9"))
    setup = Setup.of(write_text("t.txt", truth), Options.of({"metrics": "P"}), [Named(scores)])
    score_part = executors.score_part("0.0", setup.program, [], None)
    assert str(score_part.error) == f"a worker has xmceval {xmceval.__version__}; this is 0.0"
    assert not executor.n_tasks


def test_what_a_part_returns_does_not_grow_with_its_rows():
    truth, scores = make_matrices()
    sizes = []
    for n in (1, 8):
        executor = PicklingExecutor()
        for name, matrix in (("t.txt", truth), ("p.txt", scores)):
            write_text(name, sp.vstack([matrix] * n))
        xmceval.score("t.txt", "p.txt", metrics="P,macroF1", k=1, executor=executor)
        sizes.append([size for name, size in executor.sizes if name == "score_part"][-1])
    assert sizes[1] < 1.5 * sizes[0]


@pytest.mark.parametrize("kind", ["threads", "spawned processes", "forked processes"])
def test_real_executors_score_and_compare_as_one_process_does(kind):
    truth, scores = make_matrices()
    write_text("t.txt", truth)
    sp.save_npz("b.npz", scores[::-1], compressed=False)
    systems, options = {"a": write_text("a.txt", scores), "b": "b.npz"}, {"train": truth, **OPTIONS, "by_frequency": 2}
    one, compared = xmceval.score("t.txt", "a.txt", **options), xmceval.compare("t.txt", systems, **options)
    context = multiprocessing.get_context("fork" if kind == "forked processes" else "spawn")
    with ThreadPoolExecutor(3) if kind == "threads" else ProcessPoolExecutor(2, context) as executor:
        parts = xmceval.score("t.txt", "a.txt", executor=executor, **options)
        assert (parts.to_json(), parts.warnings) == (one.to_json(), one.warnings)
        assert xmceval.compare("t.txt", systems, executor=executor, **options).to_json() == compared.to_json()
        with pytest.raises(DataError, match=r"^the executor ended before all rows were scored .a process in the pool"):
            xmceval.score("t.txt", "a.txt", executor=Ended(), **options)


class Ended(ThreadPoolExecutor):
    """An executor whose workers are gone."""

    def submit(self, function, /, *arguments):
        future = super().submit(function, *arguments)
        future.result()
        broken = type(future)()
        broken.set_exception(BrokenExecutor("a process in the pool was terminated abruptly"))
        return broken


def test_what_is_no_executor_is_refused():
    with pytest.raises(UsageError, match=r"executor must be a concurrent\.futures\.Executor, got str"):
        xmceval.score(np.eye(3), np.eye(3), metrics="P", k=1, executor="local:2")
    with pytest.raises(UsageError, match="by_group is not available for executor"):
        xmceval.score(np.eye(3), np.eye(3), metrics="P", k=1, by_group=[1, 1, 2], executor=PicklingExecutor())
