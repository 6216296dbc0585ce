"""Files of the ranking field: TREC's qrels and runs, LETOR's judged lists; rows are queries, labels are documents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.files.chunks import LineChunks
from xmceval.files.names import Names, unknown_name
from xmceval.files.streams import shown
from xmceval.rows.block import Source
from xmceval.rows.matrices import Csr, MatrixSource

_LARGEST_ID = 2**63 - 2

Entry = tuple[str, str, float]  # query, document, value

_QRELS, _RUN = "query 0 document grade", "query Q0 document rank score tag"


@dataclass(frozen=True)
class Documents:
    """How documents become labels: by the names of --labels, as numbers, or by the place in a sorted list."""

    names: Names | None
    listed: dict[str, int] | None = None

    def label(self, name: str) -> int:
        """Return the label of a document; one that was never judged stands behind all others."""
        if self.names is not None:
            if name not in self.names.numbers:
                raise ValueError(unknown_name(name[:40], self.names))
            return self.names.numbers[name]
        if self.listed is None:
            if not _is_number(name):
                raise ValueError(f"expected a document's number, as in the judged file, found {name[:40]!r}")
            return int(name)
        return self.listed.setdefault(name, len(self.listed))


@dataclass(frozen=True)
class JudgedSource(MatrixSource):
    """Judged documents by query; runs are joined to it."""

    queries: dict[str, int] = field(default_factory=dict)
    documents: Documents | None = None  # None: labels are places within the query's list


def marked(lines: Sequence[bytes], *, are_scores: bool) -> str:
    """Tell the ranking field's files by their first lines: ``qrels``, ``run``, ``letor``, or nothing."""
    rows = [line.split(None, 6) for line in lines[:1000] if line.strip() and not line.lstrip().startswith(b"#")]
    if not rows:
        return ""
    if all(len(row) >= 2 and row[1].startswith(b"qid:") for row in rows):
        return "letor"
    if 2 * sum(len(row) == 6 and row[1].upper() == b"Q0" for row in rows) > len(rows):  # one bad line is told as such
        return "run"
    if not are_scores and len(rows) > 1 and all(len(row) == 4 and row[1].upper() in {b"0", b"Q0"} for row in rows):
        return "qrels"
    return ""


def qrels_source(path: Path, names: Names | None) -> tuple[Source, str]:
    """Read ``query 0 document grade`` lines; queries become rows in the order in which they appear.

    Raises
    ------
    DataError
        Another line, with its place.
    """
    entries = [_entry(path, number, words, _QRELS, 3) for number, words in _lines(path)]
    documents = Documents(names)
    if names is None and not all(_is_number(each[1]) for each in entries):
        every = sorted({each[1] for each in entries})
        documents = Documents(None, {name: i for i, name in enumerate(every)})
    queries: dict[str, int] = {}
    for query, _, _ in entries:
        queries.setdefault(query, len(queries))
    csr = _rows(path, entries, queries, documents)
    source = JudgedSource(str(path), len(queries), None, csr, is_exact=False, queries=queries, documents=documents)
    kind = "listed" if documents.listed is not None else "numbers" if names is None else "names"
    return source, f"TREC qrels, documents by {kind}, held whole"


def run_source(path: Path, truth: Source | None) -> tuple[Source, str]:
    """Read ``query Q0 document rank score tag`` lines and put them in the order of the judged queries.

    Raises
    ------
    DataError
        Another line, with its place; a truth that is no qrels file.
    """
    if not isinstance(truth, JudgedSource) or truth.documents is None:
        raise DataError(f"{path}: this is a TREC run, whose queries are told by the truth; expected qrels as the truth")
    entries = [_entry(path, number, words, _RUN, 4) for number, words in _lines(path)]
    known = [each for each in entries if each[0] in truth.queries]
    what = "TREC run, held whole"
    if truth.documents.listed is not None:
        known, what = _broken_ties(path, known), "TREC run, ties broken by the document as trec_eval does, held whole"
    csr = _rows(path, known, truth.queries, truth.documents)
    source = MatrixSource(str(path), truth.n_rows, None, csr, is_exact=False)
    strangers = {each[0] for each in entries} - truth.queries.keys()
    if strangers:
        source.warnings.append(
            f"{path}: {counted(len(strangers), 'topic')} of the run, such as {min(strangers)[:40]!r}, "
            f"with {counted(len(entries) - len(known), 'line')}, not in {truth.name}: not scored"
        )
    return source, what


def letor_source(path: Path, truth: Source | None, *, are_scores: bool) -> tuple[Source, str]:
    """Read ``grade qid:7 1:0.5 ...`` lines; label l is the l-th document of its query, the grade may be a score.

    Raises
    ------
    DataError
        Another line, a query that stands in two places, or other queries than the truth has.
    """
    queries: dict[str, int] = {}
    values, ends, last = list[float](), [0], ""
    for number, words in _lines(path):
        if len(words) < 2 or not words[1].startswith("qid:"):
            raise DataError(f"{path}:{number}: expected 'grade qid:n ...', found {' '.join(words)[:40]!r}")
        if words[1] != last:
            last = words[1]
            if last in queries:
                raise DataError(f"{path}:{number}: {last} stands in two places; the lines of a query must be together")
            queries[last] = len(queries)
            ends.append(ends[-1])
        values.append(_value(path, number, words[0]))
        ends[-1] += 1
    csr = _in_places(values, ends, are_scores)
    if isinstance(truth, JudgedSource) and are_scores and list(truth.queries) != list(queries):
        raise DataError(f"{path}: its queries are not those of {truth.name}, in the same order")
    source = JudgedSource(str(path), len(queries), None, csr, is_exact=False, queries=queries)
    return source, "LETOR lines, labels are places within the query, held whole"


def score_column(path: Path, truth: JudgedSource) -> tuple[Source, str]:
    """Read one score a line, or RankLib's ``query document score``, beside LETOR lines as the truth."""
    ends = truth.matrix.indptr.tolist() if isinstance(truth.matrix, Csr) else [0]
    values = []
    for number, words in _lines(path):
        if len(words) not in {1, 3}:
            raise DataError(f"{path}:{number}: expected one score a line, or query, document and score")
        values.append(_value(path, number, words[-1]))
    if len(values) != ends[-1]:
        raise DataError(
            f"{path}: has {counted(len(values), 'score')} for the {counted(ends[-1], 'document')} of {truth.name}"
        )
    csr = _in_places(values, ends, are_scores=True)
    return MatrixSource(str(path), truth.n_rows, None, csr, is_exact=False), "one score a line, as LETOR's lines"


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and words; comments and blank lines are passed over."""
    number = 0
    for chunk in LineChunks(path):
        for line in bytes(chunk.buffer[chunk.start : chunk.stop]).split(b"\n")[:-1]:
            number += 1
            words = line.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape").split("#", 1)[0].split()
            if words:
                yield number, words


def _entry(path: Path, number: int, words: list[str], fields: str, of_value: int) -> Entry:
    if len(words) != len(fields.split()):
        raise DataError(f"{path}:{number}: expected {fields!r}, found {' '.join(words)[:40]!a}")
    return words[0], words[2], _value(path, number, words[of_value], fields, of_value)


def _value(path: Path, number: int, word: str, fields: str = "", at: int = 0) -> float:
    try:
        if not word.isascii() or "_" in word:
            raise ValueError
        return float(word)
    except ValueError:
        where = f" as the {fields.split()[at]} of {fields!r}" if fields else ""
        found = shown(word.encode(errors="replace"))
        raise DataError(f"{path}:{number}: expected a number{where}, found {found}") from None


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) <= 19 and int(name) <= _LARGEST_ID


def _broken_ties(path: Path, entries: list[Entry]) -> list[Entry]:
    """Replace scores by their order within the query: of equal scores the later document name goes first."""
    if any(math.isnan(each[2]) for each in entries):
        raise DataError(f"{path}: a score is NaN; expected a number")
    ordered = sorted(entries, key=lambda each: (each[0], each[2], each[1]))
    return [(query, document, float(i)) for i, (query, document, _) in enumerate(ordered)]


def _rows(path: Path, entries: list[Entry], queries: dict[str, int], documents: Documents) -> Csr:
    from xmceval.files.arrays.npz import by_rows

    rows = np.array([queries[each[0]] for each in entries], dtype=np.int64)
    try:
        labels = np.array([documents.label(each[1]) for each in entries], dtype=np.int64)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    arrays = {"row": rows, "col": labels, "data": np.array([each[2] for each in entries])}
    return Csr(*by_rows(str(path), "coo", arrays, [len(queries), 0]), True)


def _in_places(values: list[float], ends: list[int], are_scores: bool) -> Csr:
    """Give every value the label of its place within its row."""
    indptr = np.array(ends)
    places = np.arange(len(values)) - np.repeat(indptr[:-1], np.diff(indptr))
    return Csr(indptr, places, np.array(values, dtype=np.float64), are_scores)
