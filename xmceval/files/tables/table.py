"""Read a file or an object as batches of Arrow columns; pyarrow is imported only for reading one."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from xmceval.errors import DataError, counted, missing_package, names_flags
from xmceval.files.formats import FORMATS, Format
from xmceval.files.io.chunks import Places
from xmceval.files.io.streams import is_uncompressed, open_bytes, quote, read_all_bytes, stored_at
from xmceval.files.tables.arrow import LONGEST_NAME, Column
from xmceval.rows.matrices.frames import is_frame
from xmceval.rows.readings import Axis, write_frame

BATCH_ROWS = 1 << 17  # lines to read at a time
LONGEST_ROW = 1 << 24  # entries of one row, which are held together
BLOCK_BYTES = 1 << 22  # bytes of CSV to parse at a time, and limit for a line
LOOKED_AT = 1000  # lines to search for numbers
DELIMITERS = {b",": "commas", b"\t": "tabs", b";": "semicolons"}

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[Tt]rue|TRUE|[Ff]alse|FALSE")


@dataclass(frozen=True)
class Table:
    """A table of Arrow columns."""

    name: str  # the file or argument, for messages
    form: Format
    schema: Any
    read: Callable[[list[str]], Iterator[Any]]  # maps column names to an iterator of record batches
    place: Callable[[int], str]  # returns the place of a line, for messages
    pandas: str  # code that gives this table as a pandas data frame, for hints
    path: Path | None = None  # the file, which can be read repeatedly; None for a table in memory
    n_lines: int | None = None  # the number of lines, if known beforehand
    facts: tuple[str, ...] = ()  # facts about it, in words
    first: Any = None  # the first lines of a table in memory that can be read only once
    rows: Axis | None = None  # row names from the index, if each line is the next row

    def __str__(self) -> str:
        return self.name

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        with _in_words(self.name, self.form):  # a name may be invalid UTF-8
            return [str(name) for name in self.schema.names]

    def is_list(self, name: str) -> bool:
        """Return whether a column contains lists."""
        return has_lists(self.schema.field(name).type)

    def has_numbers(self, name: str, lists: str | None = None) -> bool:
        """Return whether the first lines of a column have numbers or bools, possibly as text.

        In a column of lists, these must be as long as those of the column ``lists``.
        """
        columns = [column.array[:LOOKED_AT] for column in self.head([name] if lists is None else [name, lists])]
        if lists is not None and columns:
            from pyarrow import compute

            lengths, others = (compute.list_value_length(column).to_pylist() for column in columns)
            if lengths != others:
                return False
            columns = [columns[0].flatten()]
        words = [str(value).strip() for column in columns for value in column.to_pylist() if value is not None]
        return bool(words) and all(_NUMBER.fullmatch(word) for word in words)

    def head(self, names: list[str]) -> list[Column]:
        """Return the columns of the first lines; none if the table is empty."""
        with _in_words(self.name, self.form):
            batch = next(self.read(names), None) if self.path is not None else self.first
            if batch is None:
                return []
            columns = _validated(batch.select(names)).columns
            return [Column(column, name, self.place) for name, column in zip(names, columns, strict=True)]

    def changed(self, change: str) -> str:
        """Return the hint to pass this table with a change in pandas code, such as ``.drop(columns="x")``."""
        return pass_frame(f"{self.pandas}{change}", self.path)

    def batches(self, names: list[str]) -> Iterator[list[Column]]:
        """Yield the columns, batch by batch."""
        first = 0
        with _in_words(self.name, self.form):
            for batch in self.read(names):

                def place(line: int, first: int = first) -> str:
                    return self.place(first + line)

                if batch.num_rows:
                    yield [Column(batch.column(batch.schema.get_field_index(name)), name, place) for name in names]
                first += batch.num_rows


def pass_frame(code: str, path: Path | None) -> str:
    """Return the hint to pass a data frame instead of a file or argument; for the command, code to save it."""
    return f"pass {code}" if path is None or not names_flags() else f"run {write_frame(code, str(path))}"


@contextmanager
def _in_words(name: str, form: Format) -> Iterator[None]:
    """Convert exceptions of pyarrow into readable errors."""
    import pyarrow

    try:
        yield
    except DataError:
        raise
    except (MemoryError, pyarrow.ArrowMemoryError):
        raise DataError(f"{name}: a part of this table does not fit into memory") from None
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        message = " ".join(" ".join(map(str, error.args)).split())[:200]
        what = "a table" if form.name == "frame" else f"{form.title}; is it damaged or truncated?"
        raise DataError(f"{name}: cannot be read as {what} ({message})") from error


def import_pyarrow(what: str) -> Any:
    """Import pyarrow, or raise an error that says what needs it."""
    try:
        import pyarrow
    except ImportError:
        raise missing_package(what, "pyarrow") from None
    return pyarrow


def file_table(path: Path, name: str) -> Table:
    """Return the table in a Parquet or Arrow file: IPC (Feather) or a stream."""
    form, is_parquet = FORMATS[name], name == "parquet"
    import_pyarrow(f"{path}: is {'a Parquet' if is_parquet else 'an Arrow'} file; reading it")
    with _in_words(str(path), form):
        file = _open_parquet(path) if is_parquet else _open_arrow(path)
        schema, n_lines = (file.schema_arrow, file.metadata.num_rows) if is_parquet else (file.schema, None)
    place = partial(_row_of_table, str(path))
    code = f"pandas.read_{'parquet' if is_parquet else 'feather'}({json.dumps(str(path))})"
    read = partial(_read_parquet if is_parquet else _read_arrow, path)
    return Table(str(path), form, schema, read, place, code, path, n_lines, (form.title,))


def _open_parquet(path: Path) -> Any:
    from pyarrow import parquet

    stored: Any = stored_at(path) if is_uncompressed(path) else io.BytesIO(read_all_bytes(path))
    return parquet.ParquetFile(stored, pre_buffer=False, buffer_size=1 << 20)


def _read_parquet(path: Path, names: list[str]) -> Iterator[Any]:
    """Yield the lines, fewer at a time if lists are long; refuse columns that are huge once decoded."""
    file, most = _open_parquet(path), BATCH_ROWS
    for group in range(file.metadata.num_row_groups):
        chunks = file.metadata.row_group(group)
        for number in range(chunks.num_columns):
            chunk = chunks.column(number)
            if chunk.path_in_schema.split(".")[0] not in names:
                continue
            n_values = max(chunk.num_values, 1)
            if chunk.total_uncompressed_size > LONGEST_NAME * n_values:
                raise DataError(f"{path}: the names in {chunk.path_in_schema!r} are longer than {LONGEST_NAME:,} bytes")
            if n_values > LONGEST_ROW * max(chunks.num_rows, 1):
                raise DataError(f"{path}: the lists in {chunk.path_in_schema!r} have more than {LONGEST_ROW:,} entries")
            most = min(most, BATCH_ROWS * chunks.num_rows // n_values)
    yield from file.iter_batches(batch_size=max(most, 1), columns=names, use_threads=False)


def _open_arrow(path: Path) -> Any:
    import pyarrow

    stored = stored_at(path) if is_uncompressed(path) else io.BytesIO(read_all_bytes(path))
    source = pyarrow.memory_map(str(stored)) if isinstance(stored, Path) else pyarrow.BufferReader(stored.read())
    try:
        return pyarrow.ipc.open_file(source)
    except pyarrow.ArrowInvalid:
        source.seek(0)
        return pyarrow.ipc.open_stream(source)


def _read_arrow(path: Path, names: list[str]) -> Iterator[Any]:
    file = _open_arrow(path)
    batches = (file.get_batch(i) for i in range(file.num_record_batches)) if hasattr(file, "get_batch") else file
    for batch in batches:
        yield from _in_parts(_validated(batch.select(names)))


def csv_table(path: Path, names: list[str], delimiter: bytes, n_header_lines: int) -> Table:
    """Return the table below the header of a CSV or TSV file, with all columns as text."""
    pyarrow = import_pyarrow(f"{path}: has a header line, {', '.join(names)[:60]!r}; reading such tables")
    form = FORMATS["csv"]
    place = Places(path, n_header_lines)
    facts = form.title, f"between {DELIMITERS[delimiter]}"
    schema = pyarrow.schema([(name, pyarrow.string()) for name in names])
    read = partial(_read_csv, path, names, delimiter, n_header_lines)
    between = "" if delimiter == b"," else f", sep={json.dumps(delimiter.decode())}"
    code = f"pandas.read_csv({json.dumps(str(path))}{between}, dtype=str)"  # keeps 007 a name
    return Table(str(path), form, schema, read, place, code, path, None, facts)


def _read_csv(path: Path, names: list[str], delimiter: bytes, n_header_lines: int, wanted: list[str]) -> Iterator[Any]:
    import pyarrow
    from pyarrow import compute, csv as reader

    options = reader.ReadOptions(
        column_names=names, skip_rows=n_header_lines, block_size=BLOCK_BYTES, use_threads=False
    )
    convert = reader.ConvertOptions(
        column_types=dict.fromkeys(wanted, pyarrow.string()), include_columns=wanted, strings_can_be_null=False
    )
    parse = reader.ParseOptions(delimiter=delimiter.decode())
    with open_bytes(path) as stream:
        try:
            for batch in reader.open_csv(pyarrow.PythonFile(stream, mode="r"), options, parse, convert):
                for column in batch.columns:
                    if compute.any(compute.match_substring_regex(column, r'^\s+"')).as_py():
                        raise DataError(
                            f"{path}: a field has a blank before its quotation mark (hint: remove the blank)"
                        )
                fields = [compute.ascii_trim_whitespace(column) for column in batch.columns]
                yield from _in_parts(pyarrow.RecordBatch.from_arrays(fields, schema=batch.schema))
        except pyarrow.ArrowInvalid:
            for number, line in Places(path, n_header_lines).filled_lines():
                fields = split_fields(line, delimiter)
                if len(fields) != len(names):
                    problem = f"expected {counted(len(names), 'field')}, found {len(fields):,}: {quote(line)}"
                    raise DataError(f"{path}:{number}: {problem}") from None
            raise


def split_fields(line: bytes, delimiter: bytes) -> list[str]:
    """Return the fields of a line of CSV; none if it is malformed."""
    text = line.strip(b"\r\n").decode(errors="replace")
    try:
        return [field.strip() for field in next(csv.reader([text], delimiter=delimiter.decode()), [])]
    except csv.Error:
        return []


def memory_table(value: Any, name: str, rows: Axis | None = None) -> Table:
    """Return an object that exports an Arrow stream (a data frame, table, reader or relation) as a table.

    A single array of lists becomes a table with the column ``labels``.
    """
    pyarrow = import_pyarrow(f"{name}: is a {type(value).__name__}; reading it")
    form = FORMATS["frame"]
    with _in_words(name, form):
        if isinstance(value, (pyarrow.Table, pyarrow.RecordBatch, pyarrow.Array, pyarrow.ChunkedArray)):
            value.validate(full=True)  # before exporting it
        try:
            reader = pyarrow.RecordBatchReader.from_stream(value)
        except (pyarrow.ArrowInvalid, TypeError):  # an array, or a stream of arrays: a Series or a column
            if is_frame(value):
                raise
            is_single = isinstance(value, pyarrow.Array) or hasattr(value, "iloc")  # a Series in pandas 2
            array = pyarrow.array(value) if is_single else pyarrow.chunked_array(value)
            if not has_lists(array.type):
                raise DataError(
                    f"{name}: is a {type(value).__name__} of {array.type}; expected lists of labels (hint: of one "
                    f"label id per row pass [{{label}} for label in {name}])"
                ) from None
            reader = pyarrow.table({"labels": array}).to_reader()
        first = next(iter(reader), None)

    def read(names: list[str]) -> Iterator[Any]:
        for batch in chain([] if first is None else [first], reader):
            yield from _in_parts(_validated(batch.select(names)))

    place, code = partial(_row_of_table, name), name if is_frame(value) else f"pyarrow.table({name}).to_pandas()"
    if hasattr(value, "iloc") and not is_frame(value):
        code = f"{name}.to_frame({reader.schema.names[0]!r})"
    return Table(name, form, reader.schema, read, place, code, None, None, (form.title,), first, rows)


def has_lists(type_: Any) -> bool:
    """Return whether an Arrow type is a list type."""
    from pyarrow import types

    kinds = types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view
    return any(is_kind(type_) for is_kind in kinds)


def _validated(batch: Any) -> Any:
    """Check that the offsets and indices of a batch stay inside its buffers, since later reads trust them.

    This takes about 13 ms per million lines with two columns of text, below 1 % of a score; Parquet and CSV are
    decoded by Arrow, which makes valid buffers.
    """
    batch.validate(full=True)
    return batch


def _in_parts(batch: Any) -> Iterator[Any]:
    """Yield a large batch in parts, with fewer lines if their lists are long."""
    lists = [column for column in batch.columns if has_lists(column.type)]
    n_entries = max([batch.num_rows, *(len(column.flatten()) for column in lists)])
    size = max(BATCH_ROWS * batch.num_rows // max(n_entries, 1), 1)
    for first in range(0, batch.num_rows, size):
        yield batch.slice(first, size)


def _row_of_table(name: str, line: int) -> str:
    return f"{name}: entry {line}"
