"""Kinds of files of the ranking field: TREC qrels and runs, BEIR's qrels; grades before features are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from xmceval.errors import DataError
from xmceval.files.io.lines import NUMBER, without_comment
from xmceval.files.io.streams import quote, read_first_bytes
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.ranking.judgments import BEIR, RANKED, RANKED_AND_SCORED, RUN, SCORED, UNTAGGED

SIZES = frozenset({".query", ".group"})  # names of files with how many lines each query has

RECIPE = "see the recipe for LETOR and SVMlight files, with qid: or sizes of queries, in the guide recipes.md"

LONGEST_LINE = 1 << 12  # bytes, of a line whose tag is looked for

_INTEGER = re.compile(rb"[-+]?\d+")
_GRADE = re.compile(rb"[-+]?\d+(\.\d*)?")  # fractions are refused when they are read
_FEATURE, _GRADED = re.compile(rb"\d+:"), re.compile(rb"\d+:|qid:")
_GRADES = frozenset((b"0", b"1", b"2", b"3", b"4"))


def open_trec(head: Head, request: Request) -> Opened | None:
    """Open a file of the ranking field; return None if it is not one."""
    kind = detect_format(head.lines, request)
    if not kind:
        return None
    from xmceval.files.ranking.trec import open_by_query, open_qrels, open_run

    if kind == "beir":
        return open_by_query(head.path, request, BEIR)
    if kind == "qrels":
        return open_qrels(head.path, request)
    return open_run(head.path, request, RUN if any(len(line.split()) > 5 for line in head.lines) else UNTAGGED)


def open_short_run(head: Head, request: Request) -> Opened | None:
    """Open lines of query, document and rank or score, without a header, beside qrels; return None for other files.

    Nothing but the judgments says that such lines are a run. Whole numbers in the third column are ranks where they
    are 1, 2, ... for each query, as in the runs of MS MARCO; other whole numbers could also be scores.
    """
    if request.judgments is None or not request.are_scores:
        return None
    rows = [line.split() for line in head.lines if line.strip()]
    if not rows or len(rows[0]) not in {3, 4} or any(len(row) != len(rows[0]) for row in rows):
        return None
    if not all(NUMBER.fullmatch(row[-1]) for row in rows):
        return None
    from xmceval.files.ranking.trec import open_run

    if len(rows[0]) == 4:
        return open_run(head.path, request, RANKED_AND_SCORED) if _are_ranks([row[:3] for row in rows]) else None
    if not all(_INTEGER.fullmatch(row[2]) for row in rows):
        return open_run(head.path, request, SCORED)
    if _are_ranks(rows):
        return open_run(head.path, request, RANKED)
    raise DataError(
        f"{head.path}: the third column may have ranks or scores, as it has whole numbers that are not 1, 2, ... for "
        "each query (hint: write a first line 'query_id document_id rank' or 'query_id document_id score' between tabs)"
    )


def _are_ranks(rows: Sequence[list[bytes]]) -> bool:
    """Return whether the third words of the lines of each query are 1, 2, ..., or 0, 1, ..., in any order."""
    if not all(row[2].isdigit() for row in rows):
        return False
    ranks: dict[bytes, list[int]] = {}
    for row in rows:
        ranks.setdefault(row[0], []).append(int(row[2]))
    first = min(min(of_query) for of_query in ranks.values())
    return first in {0, 1} and all(
        sorted(of_query) == list(range(first, first + len(of_query))) for of_query in ranks.values()
    )


def refuse_graded_features(head: Head, request: Request) -> None:
    """Refuse lines of a grade before features, as in SVMlight, LETOR and LightGBM files, which have no labels.

    A grade is told from a label by a ``qid:``, a sign or a fraction; whole numbers are grades where there is no header
    and every line has a single one of 0 to 4.
    """
    filled = [(number, line) for number, line in enumerate(head.lines[:1000], 1) if line.strip()]
    if head.path.suffix in SIZES and all(line.strip().isdigit() for _, line in filled):
        raise DataError(
            f"{head.path}: has the sizes of queries, as LightGBM and XGBoost have them beside their data; expected "
            f"{'predictions' if request.are_scores else 'truth'} (hint: {RECIPE})"
        )
    numbered = [(number, words) for number, line in filled if (words := without_comment(line).split())]
    rows = [words for _, words in numbered]
    if not rows or (request.names is not None and request.names.has_all(rows[0])):
        return
    have_queries = 2 * sum(len(row) > 1 and row[1].startswith(b"qid:") for row in rows) > len(rows)
    first = next((number for number, row in numbered if len(row) > 1 and _GRADED.match(row[1])), 0)
    if first and (have_queries or _have_grades(rows, has_comments=len(rows) < len(filled))):
        raise DataError(
            f"{head.path}:{first}: expected labels, found a grade before features, as in SVMlight and LETOR files: "
            f"{quote(head.lines[first - 1])} (hint: {RECIPE}; labels before features need a first line 'points "
            "features labels')"
        )


def _have_grades(rows: Sequence[list[bytes]], *, has_comments: bool) -> bool:
    """Return whether all lines have one number before features, and these numbers can hardly be labels."""
    if not all(NUMBER.fullmatch(row[0]) and all(map(_FEATURE.match, row[1:])) for row in rows):
        return False
    are_small = len(rows) > 1 and all(len(row) > 1 and row[0] in _GRADES for row in rows)
    return any(not row[0].isdigit() for row in rows) or (are_small and not has_comments)  # one may be a header


def detect_format(lines: Sequence[bytes], request: Request) -> str:
    """Return ``qrels``, ``beir`` or ``run`` by the first lines of a file, or an empty string."""
    filled = [line for line in lines[:1000] if line.strip() and not line.lstrip().startswith(b"#")]
    rows = [line.split(None, 6) for line in filled]
    if not rows:
        return ""
    is_joined = request.judgments is not None
    if 2 * sum(_is_of_run(row, is_joined=is_joined) for row in rows) > len(rows):  # bad lines are reported later
        return "run"
    if _is_beir_header(filled[0]):
        return "beir"
    return "qrels" if _are_qrels(rows, request) else ""


def _is_of_run(row: list[bytes], *, is_joined: bool) -> bool:
    """Return whether a line is of a run; without Q0, a tag or a score tells it from a list of ids."""
    if len(row) >= 5 and row[1].upper() == b"Q0":
        return True
    if len(row) < 6:
        return False
    if not (row[1] == b"0" or is_joined) or not _INTEGER.fullmatch(row[3]) or not NUMBER.fullmatch(row[4]):
        return False
    return not all(_INTEGER.fullmatch(word) for word in row[:6])


def _are_qrels(rows: list[list[bytes]], request: Request) -> bool:
    """Return whether most lines can only be of qrels; in truth also whether all can be, with 0 in the second column."""
    grade = _INTEGER if request.are_scores else _GRADE
    graded = [row for row in rows if len(row) == 4 and grade.fullmatch(row[3])]
    usual = [row for row in graded if row[1].upper() in {b"0", b"Q0"}]
    if len(usual) == len(rows) > 1 and not request.are_scores:
        return True
    if request.names is not None and request.names.has_all(rows[0]):
        return False
    certain = sum(not row[0].isdigit() or not row[2].isdigit() for row in usual)
    certain += sum(bool(NUMBER.fullmatch(row[1])) and row[1] != b"0" and not NUMBER.fullmatch(row[2]) for row in graded)
    return 2 * certain > len(rows)


def _is_beir_header(line: bytes) -> bool:
    return [field.strip().lower() for field in line.split(b"\t")] == BEIR.names.encode().split()


def find_tag(path: Path) -> str | None:
    """Return the tag in the first line of a run; None where it is none, or cannot be read."""
    try:
        words = read_first_bytes(path, LONGEST_LINE).split(b"\n", 1)[0].split()
    except (DataError, OSError):
        return None
    is_run = len(words) == 6 and words[1].upper() == b"Q0"
    return words[5].decode(errors="replace") if is_run else None
