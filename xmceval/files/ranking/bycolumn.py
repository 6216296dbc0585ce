"""Wide data frames by column, ``{label: {index: value}}`` as pandas writes them, which could be dicts by query."""

from __future__ import annotations

import numpy as np

from xmceval.errors import AmbiguousError, counted, names_flags
from xmceval.files.ranking.judgments import FullRecords
from xmceval.files.ranking.recordlines import Records, frame_code
from xmceval.files.ranking.trecrows import Entries, Lines
from xmceval.files.tables.table import pass_frame

LEAST_DOCUMENTS = 10  # that all queries of two files have, more than there are queries, which is rare


def find_full(records: object, lines: Lines, entries: Entries) -> FullRecords | None:
    """Return records that are a dict in which each query has all documents, else None."""
    if not isinstance(records, Records) or not records.may_be_frame:
        return None
    documents, n_queries = np.unique(entries.documents), entries.indptr.size - 1
    if documents.size < 2 or (np.diff(entries.indptr) != documents.size).any():
        return None
    names = frozenset(lines.documents[i] for i in documents.tolist())
    return FullRecords(records.name, records.path, names, n_queries)


def refuse_full(truth: FullRecords | None, scores: FullRecords | None) -> None:
    """Refuse truth and predictions that may be wide data frames, whose keys are labels, and not queries.

    All queries of both have the same documents: the numbers 0 to n - 1 of lines, or, in files, many, and more than
    queries.
    """
    if truth is None or scores is None or truth.documents != scores.documents:
        return
    n = len(truth.documents)
    are_numbers = truth.documents == {str(number).encode() for number in range(n)}
    if not are_numbers and (truth.path is None or n < max(LEAST_DOCUMENTS, truth.n_queries + 1)):
        return
    # the command reads no wide file of pandas, so there the frame is written as a long one
    is_long = names_flags() and truth.path is not None
    change = '.stack().rename_axis(["query_id", "doc_id"]).to_frame("score")' if is_long else ""
    by_column, by_query = (
        f"{pass_frame(frame_code(truth.name, truth.path, more) + change, truth.path)}, likewise {scores.name},"
        for more in ("", ', orient="index"')
    )
    raise AmbiguousError(
        f"{truth.name} and {scores.name}: may be data frames by column or dicts by query, as each key has the same "
        f"{counted(n, 'key')} (hint: {by_column} if keys are columns, one per label; {by_query} if they are queries)"
    )
