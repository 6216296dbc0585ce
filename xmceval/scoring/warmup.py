"""Warm-up: compiles the kernels of the default metrics into the cache, by a run over no rows."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import Arrays
from xmceval.metrics.names import parse
from xmceval.metrics.table import DEFAULT_NAMES
from xmceval.rows.block import Rows, Scratch
from xmceval.rows.matrices.matrices import as_truth
from xmceval.scoring.batch import NO_WEIGHTS, Batch, Ranking, Terms, rank
from xmceval.scoring.program import compile_program
from xmceval.scoring.totals import empty


def compile_ahead() -> None:
    """Compile the kernels that compute the default metrics; another process compiles those that read files."""
    program, terms = compile_program(parse(DEFAULT_NAMES)), Terms()
    totals, depth = empty(program, terms), program.deepest + 1
    nothing = Rows(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
    arrays = Arrays((np.empty((0, depth), dtype=np.int64), np.empty((0, depth)), np.empty(0, dtype=np.int64)))
    block = next(as_truth(np.zeros((1, 1), dtype=np.int8)).blocks())
    batch = Batch(terms, block, nothing, nothing, Ranking(arrays, 0), NO_WEIGHTS, None, Scratch())
    for task, part in zip(program.tasks, totals.parts, strict=True):
        task.add(batch, part)
    totals.tally.add(batch, program.cutoffs)
    rank(nothing, depth, Scratch())  # the last one that the first process asks for
