"""Ranges: files whose rows are counted and read in parts, by whoever can see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xmceval.errors import DataError
from xmceval.files.io.chunks import LineChunks
from xmceval.files.io.inputfiles import input_at
from xmceval.files.io.pipes import pipe_key
from xmceval.files.io.streams import open_bytes
from xmceval.files.text.textsource import Mark, TextSource, count_rows
from xmceval.rows.block import Int64, Source
from xmceval.rows.matrices.storage import count_bytes
from xmceval.rows.sources import ReopenedSource
from xmceval.rows.spans import NO_MARKS, Extent, core_of, is_in_memory

RANGE_BYTES = 1 << 28  # of a file that one task counts
MOST_RANGES = 10_000  # of all files together; larger files have larger ranges
MARK_BYTES = 1 << 22  # between two marks


class RangeCounts(NamedTuple):
    """The rows and lines of some bytes, with marks relative to the first, and what was warned of."""

    n_rows: int
    n_lines: int = 0
    marks: Int64 = NO_MARKS
    warnings: tuple[str, ...] = ()


class FileStatus(NamedTuple):
    """What shows whether a path is the same file elsewhere, and later."""

    size: int
    modified: int


def paths_of(source: Source) -> tuple[Path, ...]:
    """Return the files that reading a source opens; none where its rows are in memory."""
    files = source.files()
    for path in files:
        if pipe_key(path) is not None:
            raise DataError(f"{path}: workers cannot read a pipe (hint: save it to a file that all of them can see)")
    return files


def size_of(path: Path) -> int:
    """Return the bytes of a file."""
    return input_at(path).size or 0


def status_of(path: Path) -> FileStatus | None:
    """Return the size and the time of the last change of a file; None where there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return FileStatus(status.st_size, status.st_mtime_ns)


def range_bytes(sources: Sequence[Source]) -> int:
    """Return how many bytes one task counts, so that there are not too many tasks."""
    return max(RANGE_BYTES, sum(map(size_of, list_files(sources))) // MOST_RANGES)


def ranges_of(source: Source, n_bytes: int) -> list[tuple[int, int]]:
    """Return ranges of bytes whose rows must be counted before parts of the source can be read."""
    core = core_of(source)
    if not isinstance(core, TextSource):
        return []
    if not core.can_start:
        return [(0, 0)]
    size = size_of(core.path)
    return [(start, min(start + n_bytes, size)) for start in range(core.layout.start, size, n_bytes)]


def count_range(source: Source, start: int, stop: int) -> RangeCounts:
    """Count the rows whose lines begin in a range of bytes; all rows where it is empty."""
    text: Any = core_of(source)
    if start == stop:
        n_rows = sum(block.n_rows for block in text.blocks())
        return RangeCounts(n_rows, warnings=tuple(text.warnings))
    grammar, n_rows, n_lines = text.layout.grammar, 0, 0
    offset = _next_line(text.path, start) if start > text.layout.start else start
    marks = [(offset, 0, 0)]
    for chunk in LineChunks(text.path, text.max_line, offset=offset) if offset < stop else ():
        if offset + chunk.stop >= stop:
            chunk.stop = chunk.buffer.find(b"\n", stop - offset - 1) + 1
        own_rows, own_lines = count_rows(grammar, chunk, 0, chunk.stop)
        n_rows, n_lines, offset = n_rows + own_rows, n_lines + own_lines, offset + chunk.stop
        if offset >= stop:
            break
        if offset - marks[-1][0] >= MARK_BYTES:
            marks.append((offset, n_rows, n_lines))
    return RangeCounts(n_rows, n_lines, np.array(marks, dtype=np.int64))


def _next_line(path: Path, offset: int) -> int:
    """Return where the first line begins at an offset or after it; the size of the file where none does."""
    size = 1 << 16
    with open_bytes(path) as stream:
        stream.seek(offset - 1)
        at = offset - 1
        while text := stream.read(size):
            end = text.find(b"\n")
            if end >= 0:
                return at + end + 1
            at += len(text)
    return at


def extent_of(source: Source, counted: Sequence[RangeCounts]) -> Extent:
    """Return the extent of a source, given what its ranges have."""
    core: Any = core_of(source)
    if not isinstance(core, TextSource):
        if isinstance(core, ReopenedSource):
            return Extent(core.n_rows or 0, 0, NO_MARKS, can_start=False)
        n_bytes = count_bytes(core.pieces) if is_in_memory(source) else _size_of(source)
        return Extent(core.n_rows, n_bytes, NO_MARKS, core.can_start)
    n_bytes = _size_of(source)
    if not core.can_start:
        core.warnings[:] = counted[0].warnings
        return Extent(counted[0].n_rows, n_bytes, NO_MARKS, can_start=False)
    row, line = 0, core.layout.header_lines + 1
    marks = [np.array([[core.layout.start, row, line]], dtype=np.int64)]
    for each in counted:
        marks.append(each.marks + np.array([0, row, line]))
        row, line = row + each.n_rows, line + each.n_lines
    return Extent(row, n_bytes, np.concatenate(marks), can_start=True)


def _size_of(source: Source) -> int:
    return sum(map(size_of, paths_of(source)))


def check_end(source: Source, extent: Extent) -> Extent:
    """Check the rows of a text file against its header, as reading all of it does, and find warnings of its end."""
    core = core_of(source)
    if not isinstance(core, TextSource) or not extent.can_start:
        return extent
    last = extent.n_rows if core.n_rows is None else min(core.n_rows, extent.n_rows)
    rest = core.starting_at(Mark(*extent.start_before(max(last - 1, 1)))) if last else core
    for _ in rest.blocks():
        pass
    core.warnings[:] = rest.warnings
    return extent._replace(n_rows=last)


def list_files(sources: Sequence[Source]) -> Iterator[Path]:
    """Yield the files of several sources, each once."""
    yield from dict.fromkeys(path for source in sources for path in paths_of(source))
