"""Small benchmarks: systems on data sets, given the number of rows in which each is right."""

import numpy as np

import xmceval
from xmceval.benchmarks.benchmark import read_plan, run_plan
from xmceval.benchmarks.result import Benchmark, DatasetOutcome
from xmceval.comparison.options import Testing

N_LABELS = 5
OPTIONS = {"metrics": ["P@1", "P@2", "coverage_error"], "threads": 1}


def predict(n_hits, n_rows):
    """Return scores with the true label first in some rows, second in ten more, and last in the others."""
    true, row = np.arange(n_rows) % N_LABELS, np.arange(n_rows)
    scores = np.tile(np.arange(N_LABELS) / 10 + 0.1, (n_rows, 1))
    scores[row, (true + 1) % N_LABELS] = 1
    scores[row, true] = np.where(row < n_hits, 2, np.where(row < n_hits + 10, 0.9, 0.05))
    return scores


def compared(hits, *, n_rows=40, against=None, **options):
    """Compare systems, given the number of rows in which each is right; a list of numbers is several runs."""
    truth = np.eye(N_LABELS)[np.arange(n_rows) % N_LABELS]
    systems = {
        name: [predict(each, n_rows) for each in n] if isinstance(n, list) else predict(n, n_rows)
        for name, n in hits.items()
    }
    return xmceval.compare(truth, systems, against=against, **{**OPTIONS, **options})


def benchmark(datasets, *, against=None, published=None, why=None, failed=None, **options):
    """Make a benchmark of data sets by name, each with the right rows of its systems.

    `published` has values by data set, system and metric, `why` the reasons why systems are missing, and `failed` those
    why data sets failed.
    """
    published, why, failed = published or {}, why or {}, failed or {}
    names = [name for hits in (*datasets.values(), *published.values()) for name in hits]
    systems = tuple(dict.fromkeys(names))
    outcomes = []
    for dataset, hits in datasets.items():
        rows, reason = published.get(dataset, {}), failed.get(dataset, "")
        missing = {name: why.get(name, "") for name in systems if name not in (*hits, *rows)}
        comparison = None if reason else compared(hits, against=against, **options)
        outcomes.append(DatasetOutcome(dataset, comparison, rows, missing, why=reason))
    measures = {
        figure.measure: None for name in outcomes if name.comparison for figure in name.comparison.results[0].figures
    }
    sources = dict.fromkeys((name for rows in published.values() for name in rows), "")
    return Benchmark(tuple(outcomes), systems, tuple(measures), Testing(against=against), sources, "benchmark.toml")


def run_by_executor(source, executor):
    """Run a benchmark by an executor, which only the command takes."""
    return run_plan(read_plan(source), executor=executor)
