"""Measure scoring with Dask: one process against local clusters, what tasks cost, and what the scheduler carries.

    python -m bench.cluster TRUTH PREDS [--train FILE] [--rounds N]
    python -m bench.cluster --simulate

Times are medians; `part` is the time after start-up (the cluster runs, kernels are compiled), which is what a job of
hours consists of. `--simulate` adds up synthetic totals of 10^10 rows.
"""

import argparse
import logging
import os
import pickle
import statistics
import time
from dataclasses import replace

import numpy as np
from distributed import Client, LocalCluster

from xmceval.api.cluster.dasktasks import DaskTasks
from xmceval.api.cluster.engine import Engine
from xmceval.api.cluster.runparts import FAN_IN
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, Setup
from xmceval.files.io.byteranges import MARK_BYTES, MOST_RANGES, RANGE_BYTES
from xmceval.scoring.options import Options
from xmceval.scoring.partitions.plan import MOST_PARTS, PART_BYTES

ROW_BYTES = 2000  # of truth and predictions, as in Amazon-3M


def cpu_seconds(client):
    """Return the processor time that the workers have used so far."""
    return sum(client.run(time.process_time).values())


def measure(setup, systems, rounds):
    """Return the median wall and processor time of this process after start-up, and the result."""
    walls, cpus = [], []
    for _ in range(rounds):
        start, cpu = time.perf_counter(), time.process_time()
        [result] = score_systems(setup, systems).results
        walls.append(time.perf_counter() - start)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus), result


def bench(truth, preds, train, rounds):
    options = Options.of({"train": train, "threads": 2})
    systems = [Named(preds)]
    setup = Setup.of(truth, options, systems)
    measure(setup, systems, 1)
    wall, cpu, one = measure(setup, systems, rounds)
    print(f"1 process, 2 threads: {wall:.2f} s, {cpu:.2f} s of processors")
    for n_workers in (1, 2):
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            ) as cluster,
            Client(cluster) as client,
        ):
            tasks = DaskTasks(client)
            on_cluster = replace(setup, engine=Engine(tasks))
            measure(on_cluster, systems, 1)
            before = cpu_seconds(client)
            own, own_cpu, result = measure(on_cluster, systems, rounds)
            workers = (cpu_seconds(client) - before) / rounds
            same = "same bits" if str(result) == str(one) else "OTHER VALUES"
            print(
                f"{n_workers} workers: {own:.2f} s ({own / wall:.2f} times), processors: workers {workers:.2f} s, "
                f"scheduler and client {own_cpu:.2f} s, {same}"
            )
    cost_of_tasks(setup, systems)


def cost_of_tasks(setup, systems):
    """Print the sizes and times of single tasks, measured in this process."""

    class Recorder:
        n_threads, sizes, seconds = 2, {}, {}

        def check(self, paths):
            pass

        def submit(self, name, _, function, *arguments):
            start = time.perf_counter()
            result = function(*arguments)
            self.seconds.setdefault(name, []).append(time.perf_counter() - start)
            small = [each for each in arguments if name == "xmceval-score" and type(each).__name__ == "Part"]
            size = len(pickle.dumps(result)) + (len(pickle.dumps(small)) if small else 0)
            self.sizes.setdefault(name, []).append(size)
            return result

        def results(self, tasks):
            return enumerate(tasks)

        def result(self, task):
            return task

        def cancel(self):
            pass

    recorder = Recorder()
    score_systems(replace(setup, engine=Engine(recorder)), systems)
    for name, seconds in recorder.seconds.items():
        size = statistics.median(recorder.sizes[name])
        print(f"{name}: {len(seconds)} tasks, {statistics.median(seconds) * 1e3:.1f} ms each, {size:,.0f} bytes")


def simulate():
    """Add the totals of one part again and again until they are of 10^10 rows, and check the sums."""
    n_rows, n_labels, rng = 1 << 14, 1000, np.random.default_rng(0)
    labels = np.argsort(rng.random((n_rows, 40)), axis=1)[:, :10] * 25
    truth = [row[rng.random(10) < 0.3].tolist() for row in labels]
    scores = labels, np.tile(np.arange(10.0, 0, -1), (n_rows, 1))
    options = Options.of({"metrics": "P,nDCG,macroF1,AP", "n_labels": n_labels})
    setup = Setup.of(truth, options, [])
    [opened] = setup.open_systems([Named(scores)])
    [totals] = setup.evaluate([opened])
    expected, bytes_of = setup.results([opened], [totals])[0], len(pickle.dumps(totals))
    doubled, n = totals, n_rows
    start, n_merges = time.perf_counter(), 0
    while n < 10**10:
        doubled, n, n_merges = doubled.merge(doubled), 2 * n, n_merges + 1
    seconds = (time.perf_counter() - start) / n_merges
    result = setup.results([opened], [doubled])[0]
    same = all(result[name] == expected[name] for name in expected)
    counts = doubled.tally.counts
    print(f"{n:,} rows in {n_merges} merges of {seconds * 1e3:.2f} ms; totals of {bytes_of:,} bytes")
    print(f"values are those of one part: {same}; rows counted: {doubled.tally.n_rows:,} of {n:,}")
    print(f"the largest count is {int(counts.max()):,}, 1 in {2**63 // int(counts.max()):,} of what int64 holds")
    print(f"P@1 {result['P@1']:.6f}, its interval from {expected.interval('P@1')} to {result.interval('P@1')}")
    n_bytes = 10**10 * ROW_BYTES
    n_parts, n_ranges = min(n_bytes // PART_BYTES, MOST_PARTS), min(n_bytes // RANGE_BYTES, MOST_RANGES)
    n_tasks = 2 * n_parts + sum(1 for _ in tree(n_parts)) + n_ranges + 1
    print(
        f"10^10 rows of {ROW_BYTES:,} bytes: {n_parts:,} parts, {n_tasks:,} tasks in all, whose totals do not pass "
        f"through the scheduler; counting rows returns {24 * n_bytes // MARK_BYTES / 1e6:,.0f} MB to the client"
    )


def tree(n):
    """Yield once per task that merges results."""
    while n > 1:
        n = -(-n // FAN_IN)
        yield from range(n)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("truth", nargs="?")
    parser.add_argument("preds", nargs="?")
    parser.add_argument("--train")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--simulate", action="store_true")
    given = parser.parse_args()
    if given.simulate:
        simulate()
    elif given.truth and given.preds:
        bench(os.path.abspath(given.truth), os.path.abspath(given.preds), given.train, given.rounds)
    else:
        parser.error("pass TRUTH and PREDS, or --simulate")


if __name__ == "__main__":
    main()
