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
from support.asked import refused
from support.dying import Deadly
from support.pieces import read_in_pieces
from support.processes import COMPILING
from support.sample import PATHS

import xmceval
from xmceval import DataError, UsageError
from xmceval.scoring import executor as executors

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from xmceval.cli.cluster import open_dask  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
TRUTH, A, B, TRAIN = PATHS
OPTIONS = {"k": "1,3,5", "metrics": "P,nDCG,PSP,PSnDCG,macroF1,AP", "train": TRAIN, "by_frequency": 3}
SCORE = ["score", TRUTH, A, B, "--train", TRAIN, "-o", "json"]


@pytest.fixture(scope="module")
def client():
    with (
        # Dask looks some time after a death whether the worker is back, and closes it for good if it has died once more
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as opened,
    ):
        yield opened


@pytest.fixture
def executor(client, monkeypatch):
    read_in_pieces(monkeypatch, parts=5_000)
    client.wait_for_workers(2, timeout=60)
    return client.get_executor(retries=3, pure=False)


def texts(result):
    return result.to_json(), result.warnings


@pytest.fixture(scope="module")
def expected():
    return texts(xmceval.score(TRUTH, A, **OPTIONS))


def test_score_and_compare_are_those_of_one_process(executor, expected):
    assert texts(xmceval.score(TRUTH, A, executor=executor, **OPTIONS)) == expected
    systems = {"a": A, "b": B}
    compared = xmceval.compare(TRUTH, systems, executor=executor, **OPTIONS)
    assert compared.to_json() == xmceval.compare(TRUTH, systems, **OPTIONS).to_json()


def workers_of(client):
    """Return the numbers of the workers' processes, but of one that was killed before and is still listed."""
    return [pid for pid in client.run(os.getpid, on_error="return").values() if isinstance(pid, int)]


@pytest.mark.parametrize("task", ["count_rows", "score_part"])
def test_a_worker_that_dies_over_a_task_changes_nothing(client, executor, expected, monkeypatch, tmp_path, task):
    deadly = Deadly(getattr(executors, task), tmp_path / "stage", frozenset(workers_of(client)))
    monkeypatch.setattr(executors, task, deadly)
    assert texts(xmceval.score(TRUTH, A, executor=executor, **OPTIONS)) == expected
    assert deadly.n_died == 1


@pytest.mark.parametrize("moment", [0.0, 0.5, 0.9])
def test_a_worker_that_is_killed_between_parts_changes_nothing(client, executor, expected, moment):
    pids, rows, killed = sorted(workers_of(client)), [], []

    def kill_one(n_rows):
        rows.append(n_rows)
        if not killed and sum(rows) > moment * 500:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    assert texts(xmceval.score(TRUTH, A, executor=executor, progress=kill_one, **OPTIONS)) == expected
    assert len(rows) > 5
    assert killed


def test_a_fault_has_the_words_of_one_process_and_is_not_tried_again(executor, tmp_path, monkeypatch):
    lines = Path(A).read_text().splitlines()
    lines[300] = "1:nan"
    path, counted = tmp_path / "p.txt", tmp_path / "calls"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"p.txt:301: the score value of label 1 is NaN") as one:
        xmceval.score(TRUTH, path, k=1, metrics="P")
    monkeypatch.setattr(executors, "score_part", Counting(executors.score_part, counted))
    read_in_pieces(monkeypatch, parts=1 << 26)
    with pytest.raises(DataError) as other:
        xmceval.score(TRUTH, path, k=1, metrics="P", executor=executor)
    assert str(other.value) == str(one.value)
    assert counted.read_text() == "."


class Counting:
    """A function that leaves a mark of each call in a file."""

    def __init__(self, function, path):
        self.function, self.path = function, path

    def __call__(self, *arguments):
        with self.path.open("a") as file:
            file.write(".")
        return self.function(*arguments)


def test_workers_in_another_folder_are_refused_relative_paths(client, executor, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text("1 2\n0:1\n")
    refused(r"t.txt: a worker in \S+ does not see this file", "t.txt", np.eye(2)[:1], executor=executor)


def test_workers_that_die_one_after_the_other_are_one_line():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),  # and not 3, which start as many processes
        pytest.raises(DataError, match="workers died, one after the other"),
        open_dask("local:1") as executor,
    ):
        executor.submit(os._exit, 1).result()


@pytest.mark.parametrize("address", ["silent", "closed"])
def test_a_scheduler_that_does_not_answer_is_one_line_within_ten_seconds(run, address):
    with socket.socket() as silent:  # takes connections, but never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        target = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        if address == "closed":
            silent.close()
        start = time.monotonic()  # Dask is loaded: that alone may take a slow machine as long
        found = run(*SCORE, "--dask", target)
        assert time.monotonic() - start < 10
    hint = "(hint: dask scheduler starts one; --dask local:4 needs none)"
    assert found == (2, "", f"Error: {target}: no Dask scheduler answered {hint}\n")


@pytest.mark.parametrize("target", ["local:0", "local:x", "host", "tcp://127.0.0.1:x"])
def test_targets_that_are_none_are_refused(target):
    with pytest.raises(UsageError, match=target), open_dask(target):
        pass


def test_the_command_prints_what_it_prints_in_one_process(client, run):
    """In a process of its own, so that what its workers write there would be seen."""
    one = run(*SCORE)
    assert run(*SCORE, "--dask", client.scheduler.address) == one
    local = [sys.executable, "-m", "xmceval", *SCORE, "--dask", "local:1"]
    done = subprocess.run(local, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.replace(f"{COMPILING}\n", "")) == one


@pytest.mark.parametrize("options", [["-m", "macroAUC"], ["--by-group", TRUTH], ["--save-rows", "a.rows.npz"]], ids=str)
def test_what_is_not_available_is_refused_before_processes_start(monkeypatch, run, options):
    monkeypatch.setattr(distributed, "LocalCluster", None)
    code, _, err = run("score", TRUTH, A, "--train", TRAIN, "--dask", "local:2", *options)
    assert (code, "available for --dask" in err) == (2, True)
