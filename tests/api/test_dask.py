"""Dask for real: processes of this machine, one of which is killed; skipped where dask is not installed."""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from support.dying import Deadly

import xmceval

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

import dask.array as da  # noqa: E402
import dask.bag as db  # noqa: E402

from xmceval import DataError, UsageError  # noqa: E402
from xmceval.api.cluster import daskbatches, dasktasks, engine, runparts  # noqa: E402
from xmceval.api.cluster.dasktasks import DaskTasks  # noqa: E402
from xmceval.api.cluster.engine import Engine  # noqa: E402
from xmceval.api.scoring.score import score_systems  # noqa: E402
from xmceval.api.scoring.setup import Named, Setup  # noqa: E402
from xmceval.cli.runner import COMPILING  # noqa: E402
from xmceval.distributed import compare, score  # noqa: E402
from xmceval.scoring.options import Options  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
SAMPLE = Path(__file__).parents[2] / "datasets" / "sample"
TRUTH, A, B, TRAIN = (str(SAMPLE / f"{name}.txt") for name in ("tst_X_Y", "model_a", "model_b", "trn_X_Y"))
OPTIONS = {"k": "1,3,5", "metrics": "P,nDCG,PSP,PSnDCG,macroF1,AP", "train": TRAIN, "by_frequency": 3}


@pytest.fixture(scope="module")
def client():
    with (
        # Dask looks some time after a death whether the worker is back, and closes it for good if it has died once more
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as opened,
    ):
        yield opened


def texts(result):
    return str(result), result.warnings, [result.interval(name) for name in result]


def test_score_and_compare_are_those_of_one_process(client):
    assert texts(score(TRUTH, A, client=client, **OPTIONS)) == texts(xmceval.score(TRUTH, A, **OPTIONS))
    systems = {"a": A, "b": B}
    assert str(compare(TRUTH, systems, client=client, **OPTIONS)) == str(xmceval.compare(TRUTH, systems, **OPTIONS))


def test_a_worker_that_is_killed_changes_nothing(client):
    options, systems = Options.of(OPTIONS), [Named(A)]
    expected = texts(score_systems(Setup.of(TRUTH, options, systems), systems).results[0])
    pids, killed = client.run(os.getpid), []

    def kill_one(_):
        if len(killed) < 1:
            killed.append(min(pids.values()))
            os.kill(killed[0], signal.SIGKILL)

    tasks = DaskTasks(client)
    setup = Setup.of(TRUTH, options, systems, engine=Engine(tasks, part_bytes=2000))
    [result] = score_systems(setup, systems, progress=kill_one).results
    assert texts(result) == expected
    client.wait_for_workers(3, timeout=60)
    assert killed
    # the scheduler may not yet have noticed that the connection is gone
    assert killed[0] not in client.run(os.getpid, on_error="ignore").values()


# Where a worker dies, and in which module its work is found.
STAGES = {
    "asking": (dasktasks, "_make_probe"),
    "counting": (engine, "count_range"),
    "scoring": (engine, "score_part"),
    "merging": (runparts, "merge_results"),
}


def make_deadly(stage, monkeypatch, folder, pids):
    """Let the first of some processes that comes to a stage die there."""
    module, name = STAGES[stage]
    work, is_probe = getattr(module, name), stage == "asking"
    deadly = Deadly(work([TRUTH, A]) if is_probe else work, folder, pids)
    monkeypatch.setattr(module, name, (lambda _: deadly) if is_probe else deadly)
    return deadly


@pytest.mark.parametrize(
    "stages",
    [
        *([each] for each in STAGES if each != "counting"),
        pytest.param(["counting"], marks=pytest.mark.thorough),
        pytest.param(["asking", "scoring"], marks=pytest.mark.thorough),
        pytest.param(["scoring", "merging"], marks=pytest.mark.thorough),
    ],
    ids="+".join,
)
def test_workers_that_die_at_any_stage_change_nothing(client, monkeypatch, tmp_path, stages):
    client.wait_for_workers(3, timeout=60)
    pids = frozenset(client.run(os.getpid).values())  # not those that come in their place: each death is another worker
    deadly = [make_deadly(stage, monkeypatch, tmp_path / stage, pids) for stage in stages]
    truth, scores = TRUTH, A
    if "merging" in stages:  # these are cut into many parts
        rng = np.random.default_rng(5)
        truth, scores = sp.csr_matrix(rng.random((300, 20)) < 0.2, dtype=float), sp.csr_matrix(rng.random((300, 20)))
    options, systems = Options.of({"k": 1, "metrics": "P"}), [Named(scores)]
    setup = Setup.of(truth, options, systems, engine=Engine(DaskTasks(client), part_bytes=2000))
    [result] = score_systems(setup, systems).results
    assert [each.n_died for each in deadly] == [1] * len(stages)
    assert texts(result) == texts(xmceval.score(truth, scores, k=1, metrics="P"))


def test_a_worker_that_is_dead_before_it_is_asked_changes_nothing(client, monkeypatch):
    client.wait_for_workers(3, timeout=60)
    address, pid = min(client.run(os.getpid).items())
    handlers, listed = client.cluster.scheduler.handlers, []
    broadcast = handlers["broadcast"]

    def kill_first(*arguments, **options):  # in the loop of the scheduler, which learns of the death only afterwards
        if not listed:
            os.kill(pid, signal.SIGKILL)
            while Path(f"/proc/{pid}").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
                time.sleep(0.01)
            listed.append(address in client.cluster.scheduler.workers)
        return broadcast(*arguments, **options)

    monkeypatch.setitem(handlers, "broadcast", kill_first)
    assert texts(score(TRUTH, A, client=client, **OPTIONS)) == texts(xmceval.score(TRUTH, A, **OPTIONS))
    assert listed == [True]


def test_a_worker_that_lives_but_cannot_answer_is_an_error(client, monkeypatch):
    client.wait_for_workers(3, timeout=60)
    monkeypatch.setattr(dasktasks, "_make_probe", lambda _: fail)
    with pytest.raises(UsageError, match=r"worker tcp://\S+: cannot be asked for its files: no memory"):
        score(TRUTH, A, client=client, k=1, metrics="P")


def fail():
    raise RuntimeError("no memory")


def test_results_that_nobody_waits_for_are_released(client):
    tasks = DaskTasks(client)
    first = tasks.submit("xmceval-first", 0, range, 3)
    key, total = first.key, tasks.submit("xmceval-total", 0, sum, first)
    del first
    assert tasks.result(total) == 3
    deadline = time.monotonic() + 10
    while key in client.futures and time.monotonic() < deadline:
        time.sleep(0.01)
    assert key not in client.futures
    assert total.key in client.futures


def test_results_come_with_their_places_and_the_first_that_failed_says_why(client):
    tasks = DaskTasks(client)
    futures = [tasks.submit("xmceval-range", i, range, i) for i in range(20)]
    assert dict(tasks.results(futures)) == {i: range(i) for i in range(20)}
    assert dict(tasks.results(futures)) == dict(enumerate(client.gather(futures)))  # all are there: one question
    found = tasks.results([*futures, tasks.submit("xmceval-fail", 0, fail)])
    with pytest.raises(RuntimeError, match="no memory"):
        assert len(dict(found)) <= len(futures)


def test_faults_are_those_of_one_process_and_nobody_tries_again(client, tmp_path):
    lines = Path(A).read_text().splitlines()
    lines[300] = "1:nan"
    path = tmp_path / "p.txt"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"p.txt:301: the score value of label 1 is NaN") as one:
        xmceval.score(TRUTH, path, k=1, metrics="P")
    with pytest.raises(DataError) as other:
        score(TRUTH, path, client=client, k=1, metrics="P")
    assert str(other.value) == str(one.value)


def test_collections_are_scored_where_they_are(client):
    rng = np.random.default_rng(0)
    truth, scores = (rng.random((120, 20)) < 0.2).astype(np.int64), rng.random((120, 20)).astype(np.float32)
    weights = rng.random(120)
    options = {"k": "1,3", "metrics": "P,nDCG,PSP,macroF1", "train": truth[:60]}
    expected = texts(xmceval.score(truth, scores, **options))
    batches = [(truth[i : i + 32], scores[i : i + 32]) for i in range(0, 120, 32)]
    delayed = [[dask.delayed(sp.csr_matrix)(t) for t, _ in batches], [dask.delayed(s) for _, s in batches]]
    arrays = da.from_array(truth, (50, 7)), da.from_array(scores, (33, 20))
    bag, done = db.from_sequence(batches, npartitions=3), []
    assert texts(score(*arrays, client=client, **options)) == expected
    assert texts(score(*delayed, **options)) == expected
    assert texts(score(*delayed, client=client, progress=done.append, **options)) == expected
    assert sorted(done) == [24, 32, 32, 32]
    assert texts(score(bag, **options)) == expected
    weighted = {**options, "sample_weight": weights}
    with dask.config.set(scheduler="synchronous"):
        assert texts(score(*arrays, **weighted)) == texts(xmceval.score(truth, scores, **weighted))
        scores[77, 3] = np.nan
        with pytest.raises(DataError, match="batch 2, y_score row 27: the score value of label 3 is NaN"):
            score(arrays[0], da.from_array(scores, (33, 20)), **options)


@pytest.mark.parametrize("stage", [(daskbatches, "score_collection_batch"), (runparts, "merge_results")])
def test_workers_that_die_over_collections_change_nothing(client, monkeypatch, tmp_path, stage):
    client.wait_for_workers(3, timeout=60)
    pids = frozenset(client.run(os.getpid).values())
    deadly = Deadly(getattr(*stage), tmp_path / "stage", pids)
    monkeypatch.setattr(*stage, deadly)
    rng = np.random.default_rng(4)
    truth, scores = (rng.random((120, 20)) < 0.2).astype(np.int64), rng.random((120, 20))
    found = score(
        da.from_array(truth, (10, 7)), da.from_array(scores, (33, 20)), client=client, k=1, metrics="P,macroF1"
    )
    assert deadly.n_died == 1
    assert texts(found) == texts(xmceval.score(truth, scores, k=1, metrics="P,macroF1"))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((da.ones((4, 3)), da.ones((5, 3))), {}, "y_true has 4 rows, y_score has 5 rows"),
        ((da.ones((4, 3)), np.ones((4, 3))), {}, "must both be arrays of Dask"),
        ((da.ones((4, 3)), da.ones((4, 3))), {"filter": [[0, 1]]}, "filter: its pairs refer to rows"),
        ((da.ones((4, 3)), da.ones((4, 3))), {"metrics": "PSP"}, "needs train, counts or inverse_propensities"),
        ((da.ones((4, 3)), da.ones((4, 3))), {"metrics": "macroAUC"}, "macroAUC: not available for Evaluator"),
        ((db.from_sequence([1]),), {}, "expected batches"),
    ],
)
def test_what_collections_cannot_do_is_said(arguments, options, message):
    with dask.config.set(scheduler="synchronous"), pytest.raises((DataError, UsageError), match=message):
        score(*arguments, **{"metrics": "P", "k": 1, **options})


def test_workers_with_another_version_or_other_files_are_refused(client, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text("1 2\n0:1\n")
    with pytest.raises(DataError, match=r"t.txt: worker tcp://\S+ does not see this file, and looks in /"):
        score("t.txt", np.eye(2)[:1], client=client, k=1, metrics="P")
    monkeypatch.setattr(dasktasks, "VERSION", "9.9")
    with pytest.raises(UsageError, match=r"worker tcp://\S+ has xmceval .*; this is 9.9"):
        score(TRUTH, A, client=client, k=1, metrics="P")


def test_other_files_of_the_same_size_are_refused(client, monkeypatch, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    rng = np.random.default_rng(3)
    for folder in (here, there):
        folder.mkdir()
        np.save(folder / "scores.npy", rng.random((300, 20)))
        os.utime(folder / "scores.npy", (0, 0))
    monkeypatch.chdir(here)
    client.run(os.chdir, there)
    truth, options = np.eye(20)[np.arange(300) % 20], {"metrics": "P", "k": 1}
    with pytest.raises(DataError, match=r"scores.npy: worker tcp://\S+ sees another file of the same size"):
        score(truth, "scores.npy", client=client, **options)
    (there / "scores.npy").write_bytes((here / "scores.npy").read_bytes())
    assert score(truth, "scores.npy", client=client, **options) == xmceval.score(truth, "scores.npy", **options)


@pytest.mark.skipif(
    tuple(map(int, distributed.__version__.split(".")[:2])) < (2026, 8), reason="before 2026.8 Dask waits forever"
)
def test_scripts_that_processes_cannot_read_again_are_refused(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"from xmceval.distributed import score\nscore({TRUTH!r}, {A!r}, client='local:1')\n")
    done = subprocess.run([sys.executable, script], capture_output=True, check=False, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("xmceval.errors.UsageError: Dask could not start its processes (hint: in a script")


def test_no_scheduler_is_found_within_five_seconds():
    with socket.socket() as silent:  # takes connections, but never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        start = time.monotonic()
        with pytest.raises(UsageError, match="no Dask scheduler answered"):
            score(TRUTH, A, client=f"tcp://127.0.0.1:{silent.getsockname()[1]}")
        assert time.monotonic() - start < 5


def test_the_command_prints_what_it_prints_in_one_process(client):
    command = [sys.executable, "-m", "xmceval", "score", TRUTH, A, B, "--train", TRAIN, "-o", "json"]
    ways = [], ["--dask", client.scheduler.address], ["--dask", "local:1"]
    one, *others = (subprocess.run([*command, *way], capture_output=True, check=True) for way in ways)
    assert [other.stdout for other in others] == [one.stdout] * 2
    reports = [done.stderr.decode().replace(f"{COMPILING}\n", "") for done in (one, *others)]
    assert reports == [reports[0]] * 3
