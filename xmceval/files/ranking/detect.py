"""Detect TREC qrels and runs, BEIR qrels and JSON by query from the head of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from xmceval.errors import DataError
from xmceval.files.io.chunks import NUMBER
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import read_first_bytes
from xmceval.files.opened import Head, Request
from xmceval.files.ranking.queries import (
    BEIR,
    QRELS,
    RANKED,
    RANKED_AND_SCORED,
    RUN,
    SCORED,
    UNTAGGED,
    LineColumns,
)

LONGEST_LINE = 1 << 12  # bytes of a line to search for a tag

_INTEGER = re.compile(rb"[-+]?\d+")
_GRADE = re.compile(rb"[-+]?\d+(\.\d*)?")  # fractions are refused later, when they are read
_BY_QUERY = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')
_BY_LINE = re.compile(rb'\s*\{\s*"query_id"\s*:')


def find_run(head: Head, request: Request) -> LineColumns | None:
    """Return the columns of a TREC run if most of the first lines match; other lines are reported later."""
    rows, n_of_run = [row.fields for row in head.rows], 0
    for row in rows:
        if len(row) >= 5 and row[1].upper() == b"Q0":
            n_of_run += 1
        elif len(row) >= 6 and (row[1] == b"0" or request.judgments is not None):
            # without Q0, a tag or a score distinguishes it from a list of ids
            is_ranked = _INTEGER.fullmatch(row[3]) and NUMBER.fullmatch(row[4])
            n_of_run += bool(is_ranked) and not all(map(_INTEGER.fullmatch, row[:6]))
    if 2 * n_of_run <= len(rows):
        return None
    return RUN if any(len(row) > 5 for row in rows) else UNTAGGED


def find_beir(head: Head, _: Request) -> LineColumns | None:
    """Return the columns of BEIR qrels, recognised by their header."""
    header = head.rows[0].text if head.rows else b""
    is_beir = [field.strip().lower() for field in header.split(b"\t")] == BEIR.names.encode().split()
    return BEIR if is_beir else None


def find_qrels(head: Head, request: Request) -> LineColumns | None:
    """Return the columns of qrels if most lines can be nothing else, or, for truth, if all lines match."""
    rows = [row.fields for row in head.rows]
    grade = _INTEGER if request.are_scores else _GRADE
    graded = [row for row in rows if len(row) == 4 and grade.fullmatch(row[3])]
    usual = [row for row in graded if row[1].upper() in {b"0", b"Q0"}]
    if len(usual) == len(rows) > 1 and not request.are_scores:
        return QRELS
    if not rows or (request.names is not None and request.names.has_all(rows[0])):
        return None
    certain = sum(not row[0].isdigit() or not row[2].isdigit() for row in usual)
    certain += sum(bool(NUMBER.fullmatch(row[1])) and row[1] != b"0" and not NUMBER.fullmatch(row[2]) for row in graded)
    return QRELS if 2 * certain > len(rows) else None


def find_by_query(head: Head, _: Request) -> str | None:
    """Return how JSON stores queries: as keys of one object, or one per line; None for other text."""
    content = head.content.removeprefix(UTF8_BOM)
    if _BY_QUERY.match(content):
        return "keys"
    return "lines" if _BY_LINE.match(content) and b'"results"' in content else None


def find_short_run(head: Head, request: Request) -> LineColumns | None:
    """Return the columns of headerless lines of query, document and rank or score, if the truth is qrels.

    Only the judgments show that such lines are a run. Whole numbers in the third column are ranks if they are
    1, 2, ... for each query, as in the runs of MS MARCO; other whole numbers could also be scores.
    """
    rows = [row.fields for row in head.rows]
    if request.judgments is None or not request.are_scores or not rows or len(rows[0]) not in {3, 4}:
        return None
    if any(len(row) != len(rows[0]) or not NUMBER.fullmatch(row[-1]) for row in rows):
        return None
    if len(rows[0]) == 4:
        return RANKED_AND_SCORED if _are_ranks(rows) else None
    if not all(_INTEGER.fullmatch(row[2]) for row in rows):
        return SCORED
    if _are_ranks(rows):
        return RANKED
    raise DataError(
        f"{head.path}: the third column may have ranks or scores, as it has whole numbers that are not 1, 2, ... for "
        "each query (hint: write a first line 'query_id document_id rank' or 'query_id document_id score' between tabs)"
    )


def _are_ranks(rows: Sequence[list[bytes]]) -> bool:
    """Return whether the third words of each query's lines are 1, 2, ... or 0, 1, ... in any order."""
    if not all(row[2].isdigit() for row in rows):
        return False
    ranks: dict[bytes, list[int]] = {}
    for row in rows:
        ranks.setdefault(row[0], []).append(int(row[2]))
    first = min(min(of_query) for of_query in ranks.values())
    return first in {0, 1} and all(
        sorted(of_query) == list(range(first, first + len(of_query))) for of_query in ranks.values()
    )


def find_tag(path: Path) -> str | None:
    """Return the tag in the first line of a run; None if there is no tag, or it cannot be read."""
    try:
        words = read_first_bytes(path, LONGEST_LINE).split(b"\n", 1)[0].split()
    except (DataError, OSError):
        return None
    is_run = len(words) == 6 and words[1].upper() == b"Q0"
    return words[5].decode(errors="replace") if is_run else None
