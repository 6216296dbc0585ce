"""Queries that the truth has and a run lacks, or the other way round: refused, or left out for all systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from xmceval.api.scoring.inputs import find_width, open_scores
from xmceval.errors import DataError, UsageError, argument, counted
from xmceval.files.io.paths import to_path
from xmceval.files.io.pipes import pipe_key
from xmceval.files.opened import Opened
from xmceval.files.ranking.judgments import Judgments, name_queries
from xmceval.scoring.options import Options


def check_missing(options: Options, truth: Opened, inputs: Sequence[Any]) -> None:
    """Refuse the option where rows have no names by which they are joined, and what it cannot be combined with."""
    missing = argument("missing", options.missing)
    if truth.judgments is None:
        raise UsageError(
            f"{missing} is for TREC runs and other predictions by query; here no row could be missing, as rows are "
            "joined by their order"
        )
    pipes = [path for path in inputs if isinstance(path, (str, Path)) and pipe_key(to_path(path)) is not None]
    if options.missing == "drop" and pipes:
        raise UsageError(f"{pipes[0]}: is a pipe, and {missing} reads all files twice (hint: save it as a file)")


def keep_common(
    options: Options, truth: Opened, systems: Sequence[tuple[str | None, Any]]
) -> tuple[Judgments, tuple[str, ...]]:
    """Return the judgments without the queries of the truth that a system lacks, and warnings of them.

    Systems are names, where they have any, and predictions, which are read here for their queries alone.
    """
    judgments = truth.judgments
    if judgments is None:
        raise ValueError("there are no queries")
    n_queries = counted(len(judgments.queries), "query")
    width = find_width(options, truth)
    opened = [(name, open_scores(system, truth, options, width)) for name, system in systems]
    left_out = frozenset(query for _, run in opened for query in run.lacking)
    kept = [query for query in judgments.queries if query not in left_out]
    if not kept:
        raise DataError(f"{judgments.name}: none of the {n_queries} is in all runs, so there is nothing to score")
    warnings = [
        f"{name or run.name}: lacks {len(run.lacking):,} of the {n_queries} of {judgments.name}, "
        f"{name_queries(run.lacking)}"
        for name, run in opened
        if run.lacking
    ]
    if left_out:
        are = "is" if len(left_out) == 1 else "are"
        warnings.append(f"{counted(len(left_out), 'query')} that a run lacks {are} left out, for all systems")
    queries = {query: row for row, query in enumerate(kept)}
    return replace(judgments, queries=queries, left_out=left_out), tuple(warnings)
