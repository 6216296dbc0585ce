"""Score files on a local cluster: `python -m bench.workers TRUTH PREDS PARTS WORKERS` prints what that used.

P and macroF1 @5, once, with the start of the cluster, in about so many parts. The JSON has seconds of processor time
and MB of peak memory, of the client, whose process has the scheduler too, and of the workers: the time of all, and the
memory of the largest.
"""

import json
import logging
import sys
import time
from pathlib import Path

from distributed import Client, LocalCluster

from xmceval.api.cluster.dasktasks import DaskTasks
from xmceval.api.cluster.engine import Engine
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, Setup
from xmceval.scoring.options import Options


def used() -> tuple[float, float]:
    """Return the processor time and the peak memory of this process alone, as Linux counts them."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return time.process_time(), int(status.partition("VmHWM:")[2].split()[0]) / 1e3


def files_of(text: str) -> list[str]:
    """Return the files of an `@LIST`, or the one file."""
    return Path(text[1:]).read_text(encoding="utf-8").splitlines() if text.startswith("@") else [text]


def score(truth: str, preds: str, n_parts: int, n_workers: int) -> dict[str, float]:
    """Score as the arguments say, and return what it used."""
    paths = files_of(truth) + files_of(preds)
    n_bytes = sum(Path(path).stat().st_size for path in paths)
    part_bytes = int(n_bytes / (n_parts - len(paths) / 4))  # a pair of files has one part more than so many fit in it
    options, systems = Options.of({"metrics": "P,macroF1", "k": 5}), [Named(preds)]
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        Client(cluster) as client,
    ):
        setup = Setup.of(truth, options, systems, engine=Engine(DaskTasks(client), part_bytes))
        score_systems(setup, systems)
        cpu, peak = used()
        workers = list(client.run(used).values())
    return {
        "client cpu": cpu,
        "workers cpu": sum(each for each, _ in workers),
        "client peak": peak,
        "worker peak": max(each for _, each in workers),
    }


if __name__ == "__main__":
    print(json.dumps(score(*sys.argv[1:3], *map(int, sys.argv[3:]))))
