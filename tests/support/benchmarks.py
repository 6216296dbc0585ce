"""Small benchmarks: on each data set some systems, of which it is said in how many rows they are right."""

import numpy as np

import xmceval
from xmceval.labels.catalogue import Published
from xmceval.report.benchmark import FAILED, MISSING, PUBLISHED, SCORED, Benchmark, CellOutcome, DatasetOutcome
from xmceval.scoring.comparing.testoptions import Testing

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
    """Compare systems that are right in so many rows each, of several runs a list of numbers."""
    truth = np.eye(N_LABELS)[np.arange(n_rows) % N_LABELS]
    systems = {
        name: [predict(each, n_rows) for each in n] if isinstance(n, list) else predict(n, n_rows)
        for name, n in hits.items()
    }
    return xmceval.compare(truth, systems, against=against, **{**OPTIONS, **options})


def published_row(**values):
    return Published("Method", "", {name.replace("_at_", "@"): value for name, value in values.items()}, None, None, "")


def benchmark(datasets, *, against=None, published=None, why=None, failed=(), **options):
    """Make a benchmark of data sets by name, each with the right rows of its systems.

    Parameters
    ----------
    datasets : dict of str to dict
    against : str, optional
    published : dict of str to dict, optional
        By data set the published rows that are shown, by system.
    why : dict of str to str, optional
        Why a system has no values, by its name.
    failed : collection of (str, str)
        The cells that could not be scored.
    """
    published, why = published or {}, why or {}
    names = [name for hits in (*datasets.values(), *published.values()) for name in hits]
    systems = tuple(dict.fromkeys([*names, *(name for _, name in failed)]))
    outcomes = []
    for dataset, hits in datasets.items():
        rows = published.get(dataset, {})
        cells = []
        for name in systems:
            status = SCORED if name in hits else PUBLISHED if name in rows else MISSING
            status = FAILED if (dataset, name) in failed else status
            n_runs = len(hits[name]) if isinstance(hits.get(name), list) else 1
            cells.append(CellOutcome(name, status, why.get(name, "") if status in {MISSING, FAILED} else "", n_runs))
        comparison = compared(hits, against=against, **options) if len(hits) > 1 else None
        outcomes.append(DatasetOutcome(dataset, comparison, tuple(cells), rows))
    measures = {
        figure.measure: None for name in outcomes if name.comparison for figure in name.comparison.results[0].figures
    }
    return Benchmark(tuple(outcomes), systems, tuple(measures), Testing(against=against), "benchmark.toml")
