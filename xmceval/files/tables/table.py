"""Read a file or an object as batches of Arrow columns, and these as text or numbers; pyarrow is imported when used."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted, describe_type, missing_package
from xmceval.files.formats import FORMATS, FRAME, Format
from xmceval.files.io.chunks import Places, explain_decimal
from xmceval.files.io.streams import is_uncompressed, open_bytes, quote, read_all_bytes, stored_at
from xmceval.files.text.words import PADDING
from xmceval.rows.block import AnyArray, Int64
from xmceval.rows.matrices.frames import is_frame
from xmceval.rows.names import Axis

BATCH_ROWS = 1 << 17  # lines to read at a time
LONGEST_ROW = 1 << 24  # entries of one row, which are held together
LONGEST_NAME = 1 << 16  # bytes
BLOCK_BYTES = 1 << 22  # bytes of CSV to parse at a time, and limit for a line
LOOKED_AT = 1000  # lines to search for numbers
DELIMITERS = {b",": "commas", b"\t": "tabs", b";": "semicolons"}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[Tt]rue|TRUE|[Ff]alse|FALSE")


class Text(NamedTuple):
    """Words in one uint8 array, padded after the last word, with the start and end of each word [n]."""

    bytes: NDArray[np.uint8]
    begins: Int64
    ends: Int64

    def tolist(self) -> list[str]:
        """Return the words."""
        content = self.bytes.tobytes()
        places = zip(self.begins.tolist(), self.ends.tolist(), strict=True)
        return [content[begin:end].decode(errors="surrogateescape") for begin, end in places]


class Column(NamedTuple):
    """A column of a batch of lines, or the items of its lists: an Arrow array, its name, and its places."""

    array: Any
    name: str
    place: Callable[[int], str]  # returns the place of a line, for messages

    @property
    def is_text(self) -> bool:
        """Whether it has text, plain or in a dictionary or runs."""
        return is_text_type(self.array.type)

    def refuse(self, line: int, problem: str) -> DataError:
        """Return the error for a line."""
        return DataError(f"{self.place(line)}: {problem}")

    def refuse_type(self, expected: str) -> DataError:
        """Return the error for a column of the wrong type."""
        return self.refuse(0, f"the column {self.name!r} is of type {self.array.type}; expected {expected}")

    def checked(self) -> Column:
        """Return the column without extension types, dictionaries, runs or views; refuse nulls."""
        import pyarrow

        kind = pyarrow.types
        array = self.array
        try:
            if isinstance(array, pyarrow.ExtensionArray):
                if array.type.extension_name.startswith("pandas."):  # periods and intervals
                    raise self.refuse_type("text or numbers")
                array = array.storage
            if kind.is_dictionary(array.type):
                if kind.is_string_view(array.type.value_type):
                    words = array.dictionary.cast(pyarrow.large_string())
                    array = pyarrow.DictionaryArray.from_arrays(array.indices, words)
                array = array.dictionary_decode()
            elif kind.is_run_end_encoded(array.type):
                from pyarrow import compute

                array = compute.run_end_decode(array)
            if kind.is_string_view(array.type):
                array = array.cast(pyarrow.large_string())
            elif kind.is_null(array.type) and not len(array):
                array = array.cast(pyarrow.int64())
            elif kind.is_decimal(array.type) and array.type.scale == 0:  # a whole number, if it is not too large
                with suppress(pyarrow.ArrowInvalid):
                    array = array.cast(pyarrow.int64())
        except pyarrow.ArrowNotImplementedError:
            raise self.refuse_type("text or numbers") from None
        if array.null_count:
            line = array.is_null().to_pylist().index(True)
            raise self.refuse(line, f"has no {self.name} (null or NaN)")
        return self._replace(array=array)

    def to_text(self) -> Text:
        """Return the names in a column of text, or of integers, which are formatted as text."""
        import pyarrow

        column = self.checked()
        if not (column.is_text or pyarrow.types.is_integer(column.array.type)):
            raise column.refuse_type("text or integers")
        strings = column.array.cast(pyarrow.large_string())
        _, offsets, content = strings.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]
        lengths = np.diff(ends)
        wrong = (lengths == 0) | (lengths > LONGEST_NAME)
        if wrong.any():
            line = int(np.argmax(wrong))
            problem = "is empty"
            if lengths[line]:
                problem = f"is longer than {LONGEST_NAME:,} bytes"
            raise column.refuse(line, f"the name in {column.name!r} {problem}")
        if not lengths.size:
            return Text(np.zeros(PADDING, dtype=np.uint8), lengths, lengths)
        text = np.frombuffer(content, dtype=np.uint8)[ends[0] : ends[-1]]
        ends = ends - ends[0]
        return Text(np.append(text, np.zeros(PADDING, dtype=np.uint8)), ends[:-1], ends[1:])

    def to_whole(self, hint: Callable[[str, None], str] | None = None) -> AnyArray:
        """Return the rows or labels in a column: integers from 0 on, floats with whole values, or text of digits.

        `hint` is added to the message about text that is not a number. The result is int32 or int64.
        """
        import pyarrow

        column = self.checked()
        if column.is_text:
            column = column._replace(array=column._parse(pyarrow.int64(), f"a 0-based {column.name} number", hint))
        elif not (pyarrow.types.is_integer(column.array.type) or pyarrow.types.is_floating(column.array.type)):
            raise column.refuse_type("0-based whole numbers")
        numbers = to_numpy(column.array)
        if numbers.size and (numbers.dtype.kind == "f" or numbers.min() < 0 or numbers.max() >= 2**53):
            wrong = ~((numbers >= 0) & (numbers < 2**53) & (numbers == np.floor(numbers)))
            if wrong.any():
                line = int(np.argmax(wrong))
                word = repr(numbers.tolist()[line])
                way = ""
                if word in {"-1", "-100"}:
                    way = " (hint: leave padding out)"
                problem = f"has the {column.name} {word}; expected a 0-based whole number below 2^53{way}"
                raise column.refuse(line, problem)
        if numbers.dtype in {np.dtype(np.int32), np.dtype(np.int64)}:
            return numbers
        return numbers.astype(np.int64)

    def to_numbers(self) -> AnyArray:
        """Return the grades or scores in a column as float32 or float64."""
        import pyarrow

        column = self.checked()
        kind = pyarrow.types
        array = column.array
        if column.is_text:
            array = column._parse(pyarrow.float64(), "a number")
        elif kind.is_boolean(array.type):
            array = array.cast(pyarrow.uint8())
        elif kind.is_integer(array.type) or kind.is_decimal(array.type):
            try:
                array = array.cast(pyarrow.float64())
            except pyarrow.ArrowInvalid:
                raise column.refuse(0, f"the column {column.name!r} has numbers that float64 would round") from None
        elif not kind.is_floating(array.type):
            raise column.refuse_type("numbers")
        numbers = to_numpy(array)
        if numbers.dtype.itemsize >= 4:
            return numbers
        return numbers.astype(np.float64)

    def flatten(self) -> tuple[Column, Int64]:
        """Return the concatenated items of a column of lists, and the length of each list, int64 [n_lines]."""
        from pyarrow import compute

        column = self.checked()
        lengths = to_numpy(compute.list_value_length(column.array)).astype(np.int64)
        ends = np.cumsum(lengths)

        def place(entry: int) -> str:
            return column.place(int(np.searchsorted(ends, entry, side="right")))

        return Column(column.array.flatten(), column.name, place), lengths

    def _parse(self, type_: Any, expected: str, hint: Callable[[str, None], str] | None = None) -> Any:
        """Parse a column of text; refuse the first word that is not a number, with its place."""
        import pyarrow
        from pyarrow import compute

        if not compute.any(compute.match_substring(self.array, "x")).as_py():  # Arrow also parses 0x1f
            with suppress(pyarrow.ArrowInvalid):
                return self.array.cast(type_)
        numbers = []
        for line, word in enumerate(compute.utf8_trim_whitespace(self.array).to_pylist()):
            number = to_float(word)
            is_whole = type_ != pyarrow.int64() or number == math.floor(number or 0.5)
            if number is None or not is_whole:
                problem = f"expected {expected}, found {word[:40]!r}{explain_decimal(word.encode(errors='replace'))}"
                if hint is not None:
                    problem = hint(word[:40], None)
                raise self.refuse(line, problem)
            numbers.append(number)
        return pyarrow.array(numbers, pyarrow.float64())


def is_text_type(type_: Any) -> bool:
    """Return whether an Arrow type is text, plain or in a dictionary or runs."""
    from pyarrow import types as kind

    if kind.is_dictionary(type_) or kind.is_run_end_encoded(type_):
        type_ = type_.value_type
    return bool(kind.is_string(type_) or kind.is_large_string(type_) or kind.is_string_view(type_))


def to_numpy(array: Any) -> AnyArray:
    """Convert an Arrow array of numbers without nulls to numpy; pyarrow's `to_numpy` would import pandas."""
    numbers: AnyArray = np.from_dlpack(array)
    return numbers


def to_float(word: str) -> float | None:
    """Parse a word as a number; return None if it is none."""
    try:
        if word.isascii() and "_" not in word:
            return float(word)
        return None
    except ValueError:
        return None


class RowNumbers(NamedTuple):
    """How the lines of tables number their rows."""

    runs: Int64  # int64 [n_runs, 2]; the rows that occur, as half-open ranges
    n_lines: int
    is_sorted: bool = True
    are_over_all: bool = True  # whether no number is in two shards; otherwise only some of them were read


@dataclass(frozen=True)
class Table:
    """A table of Arrow columns."""

    name: str  # the file or argument, for messages
    form: Format
    schema: Any
    read: Callable[[list[str]], Iterator[Any]]  # maps column names to an iterator of record batches
    place: Callable[[int], str]  # returns the place of a line, for messages
    files: tuple[Path, ...] = ()  # which can be read repeatedly; none for a table in memory
    n_lines: int | None = None  # the number of lines, if known beforehand
    facts: tuple[str, ...] = ()  # facts about it, in words
    first: Any = None  # the first lines of a table in memory that can be read only once
    rows: Axis | None = None  # row names from the index, if each line is the next row
    row_numbers: RowNumbers | None = None  # the row numbers of shards that are one table, if they have a column of them

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

    def is_text(self, name: str) -> bool:
        """Return whether a column contains text."""
        return is_text_type(self.schema.field(name).type)

    def is_whole(self, name: str) -> bool:
        """Return whether a column contains whole numbers."""
        from pyarrow import types

        return bool(types.is_integer(self.schema.field(name).type))

    def has_numbers(self, name: str, lists: str | None = None) -> bool:
        """Return whether the first lines have numbers, maybe as text, in lists as long as in column `lists`."""
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
            batch = self.first
            if self.files:
                batch = next(self.read(names), None)
            if batch is None:
                return []
            return _columns(_select(batch, names), names, self.place)

    def count_lines(self) -> int:
        """Return the number of lines, reading them if it is not known."""
        if self.n_lines is not None:
            return self.n_lines
        return sum(len(column.array) for (column,) in self.batches(self.names[:1]))

    def batches(self, names: list[str]) -> Iterator[list[Column]]:
        """Yield the columns, batch by batch."""
        first = 0
        with _in_words(self.name, self.form):
            for batch in self.read(names):

                def place(line: int, first: int = first) -> str:
                    return self.place(first + line)

                if batch.num_rows:
                    yield _columns(batch, names, place)
                first += batch.num_rows


def _columns(batch: Any, names: list[str], place: Callable[[int], str]) -> list[Column]:
    return [Column(batch.column(batch.schema.get_field_index(name)), name, place) for name in names]


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
        said = " ".join(map(str, error.args))
        column = re.search("Conversion failed for column (.*) with type", said)
        if column is not None and "Byte-swapped" in said:
            problem = f"its column {column[1]!r} has numbers in another byte order"
        elif column is not None:
            problem = f"its column {column[1]!r} has values that are not all numbers, text, or lists of one of these"
        elif form is FRAME:
            problem = "cannot be read as a table"
        elif isinstance(error, pyarrow.ArrowNotImplementedError):
            problem = f"has features of {form.title} that this version of pyarrow does not read; or is it damaged?"
        else:
            why = ""
            if isinstance(error, OSError) and error.strerror:
                why = f" ({error.strerror})"
            problem = f"cannot be read as {form.title}; is it damaged or truncated?{why}"
        raise DataError(f"{name}: {problem}") from error


def import_pyarrow(what: str) -> Any:
    """Import pyarrow, or raise an error that says what needs it."""
    try:
        import pyarrow
    except ImportError:
        raise missing_package(what, "pyarrow") from None
    return pyarrow


def file_table(path: Path, name: str) -> Table:
    """Return the table in a Parquet or Arrow file: IPC (Feather) or a stream."""
    form = FORMATS[name]
    place = partial(_row_of_table, str(path))
    import_pyarrow(f"{path}: is a file of {form.title}; reading it")
    with _in_words(str(path), form):
        if name == "arrow":
            schema = _open_arrow(path).schema
            return Table(str(path), form, schema, partial(_read_arrow, path), place, (path,), None, (form.title,))
        file = _open_parquet(path)
        read = partial(_read_parquet, path, set[str]())
        return Table(str(path), form, file.schema_arrow, read, place, (path,), file.metadata.num_rows, (form.title,))


def _open_parquet(path: Path) -> Any:
    """Open a Parquet file; a compressed one is held in memory."""
    from pyarrow import parquet

    stored: Any = stored_at(path)
    if not is_uncompressed(path):
        stored = io.BytesIO(read_all_bytes(path))
    return parquet.ParquetFile(stored, pre_buffer=False, buffer_size=1 << 20)


def _open_arrow(path: Path) -> Any:
    """Open an Arrow file; a compressed one is held in memory."""
    import pyarrow

    if is_uncompressed(path):
        source = pyarrow.memory_map(str(stored_at(path)))
    else:
        source = pyarrow.BufferReader(read_all_bytes(path))
    try:
        return pyarrow.ipc.open_file(source)
    except pyarrow.ArrowInvalid:
        source.seek(0)
        return pyarrow.ipc.open_stream(source)


class _PageError(Exception):
    """A page is about to be read."""


class _NoPages(io.RawIOBase):
    """A file whose pages cannot be read."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, *_: int) -> int:
        return 0

    def tell(self) -> int:
        return 1 << 50  # also the size, beyond any page

    def read(self, *_: int) -> bytes:
        raise _PageError


def _check_chunks(file: Any, checked: set[str], names: list[str]) -> None:
    """Raise what is wrong in the metadata of columns; asked for it directly, Arrow ends the process (as of 26.0)."""
    from pyarrow import parquet

    unread = parquet.ParquetFile(_NoPages(), metadata=file.metadata, pre_buffer=False)
    for name in [name for name in names if name not in checked]:
        for group in range(file.metadata.num_row_groups):
            with suppress(_PageError):
                next(unread.iter_batches(columns=[name], row_groups=[group], use_threads=False), None)
        checked.add(name)


def _read_parquet(path: Path, checked: set[str], names: list[str]) -> Iterator[Any]:
    """Yield the lines, fewer at a time if lists are long; refuse columns that are huge once decoded.

    `checked` are the columns whose metadata were found sound, and receives more.
    """
    file = _open_parquet(path)
    most = BATCH_ROWS
    _check_chunks(file, checked, names)
    paths = (file.schema.column(number).path for number in range(len(file.schema)))
    numbers = [number for number, place in enumerate(paths) if place.split(".")[0] in names]
    for group in range(file.metadata.num_row_groups):
        chunks = file.metadata.row_group(group)
        for number in numbers:
            chunk = chunks.column(number)
            n_values = max(chunk.num_values, 1)
            if chunk.total_uncompressed_size > LONGEST_NAME * n_values:
                raise DataError(f"{path}: the names in {chunk.path_in_schema!r} are longer than {LONGEST_NAME:,} bytes")
            if n_values > LONGEST_ROW * max(chunks.num_rows, 1):
                raise DataError(f"{path}: the lists in {chunk.path_in_schema!r} have more than {LONGEST_ROW:,} entries")
            most = min(most, BATCH_ROWS * chunks.num_rows // n_values)
    yield from file.iter_batches(batch_size=max(most, 1), columns=names, use_threads=False)


def _read_arrow(path: Path, names: list[str]) -> Iterator[Any]:
    file = _open_arrow(path)
    batches = file
    if hasattr(file, "get_batch"):
        batches = (file.get_batch(i) for i in range(file.num_record_batches))
    for batch in batches:
        yield from _in_parts(_select(batch, names))


def csv_table(path: Path, names: list[str], delimiter: bytes, n_header_lines: int) -> Table:
    """Return the table below the header of a CSV or TSV file, with all columns as text."""
    pyarrow = import_pyarrow(f"{path}: has a header line, {', '.join(names)[:60]!r}; reading such tables")
    form = FORMATS["csv"]
    facts = form.title, f"between {DELIMITERS[delimiter]}"
    schema = pyarrow.schema([(name, pyarrow.string()) for name in names])
    read = partial(_read_csv, path, names, delimiter, n_header_lines)
    return Table(str(path), form, schema, read, Places(path, n_header_lines), (path,), None, facts)


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
                try:
                    line.decode()
                except UnicodeDecodeError as error:
                    problem = f"expected UTF-8, {error.reason} at byte {error.start} of the line"
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
    """Return an object that exports an Arrow stream as a table; an array of lists has the column ``labels``."""
    pyarrow = import_pyarrow(f"{name}: is {describe_type(value)}; reading it")
    is_series = hasattr(value, "iloc") and not is_frame(value)
    if is_frame(value):
        for column, count in Counter(map(str, value.columns)).most_common(1):
            if count > 1:
                raise DataError(f"{name}: has {count} columns {column!r} (hint: keep one of them)")
    with _in_words(name, FRAME):
        if isinstance(value, (pyarrow.Table, pyarrow.RecordBatch, pyarrow.Array, pyarrow.ChunkedArray)):
            value.validate(full=True)  # before exporting it
        try:
            reader = pyarrow.RecordBatchReader.from_stream(value)
        except (pyarrow.ArrowInvalid, TypeError):  # an array, or a stream of arrays: a Series or a column
            if is_frame(value):
                raise
            is_single = isinstance(value, pyarrow.Array) or is_series  # a Series in pandas 2
            array = pyarrow.array(value) if is_single else pyarrow.chunked_array(value)
            if not has_lists(array.type):
                to_list = "to_pylist"
                if hasattr(value, "to_list"):
                    to_list = "to_list"
                raise DataError(
                    f"{name}: is {describe_type(value)} of {array.type}; expected lists of labels (hint: for one "
                    f"label id per row, pass [{{label}} for label in {name}.{to_list}()])"
                ) from None
            reader = pyarrow.table({"labels": array}).to_reader()
        first = next(iter(reader), None)
        is_read = False

    def read(names: list[str]) -> Iterator[Any]:
        nonlocal is_read
        again = is_read  # a stream can be read only once
        is_read = True
        batches = chain([] if first is None else [first], reader)
        for batch in pyarrow.RecordBatchReader.from_stream(value) if again else batches:
            yield from _in_parts(_select(batch, names))

    place = partial(_row_of_table, name)
    return Table(name, FRAME, reader.schema, read, place, (), None, (FRAME.title,), first, rows)


def join_lines(name: str, tables: Sequence[Table]) -> Table:
    """Return the lines of several tables with the same columns as one table."""
    first, *others = tables
    for other in others:
        if {*other.names} != {*first.names}:
            columns = ", ".join(first.names)
            other_columns = ", ".join(other.names)
            raise DataError(
                f"{first} has the columns {columns}, {other} has {other_columns}; expected the same in all shards"
            )
        for column in first.names:
            if first.is_list(column) != other.is_list(column):
                raise DataError(f"{first} and {other}: {column!r} has lists in one only; expected them in all")
    n_lines = [table.n_lines for table in tables]
    return replace(
        first,
        name=name,
        read=partial(_read_tables, tables),
        place=partial(_place_in_tables, tables),
        n_lines=None if None in n_lines else sum(filter(None, n_lines)),
        facts=(counted(len(tables), "shard"), *first.facts),
        first=next((table.first for table in tables if table.first is not None), None),
        rows=None,
        files=tuple(chain.from_iterable(table.files for table in tables)),
    )


def _read_tables(tables: Sequence[Table], names: list[str]) -> Iterator[Any]:
    for table in tables:
        with _in_words(table.name, table.form):
            yield from (batch.select(names) for batch in table.read(names) if batch.num_rows)


def _place_in_tables(tables: Sequence[Table], line: int) -> str:
    for table in tables[:-1]:
        n_lines = table.count_lines()
        if line < n_lines:
            return table.place(line)
        line -= n_lines
    return tables[-1].place(line)


def has_lists(type_: Any) -> bool:
    """Return whether an Arrow type is a list type."""
    from pyarrow import types

    kinds = types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view
    return any(is_kind(type_) for is_kind in kinds)


def _select(batch: Any, names: list[str]) -> Any:
    """Select columns, and check that their offsets and indices stay inside their buffers, which later reads trust.

    This takes about 13 ms per million lines with two columns of text, below 1 % of a score; Parquet and CSV are
    decoded by Arrow, which makes valid buffers.
    """
    selected = batch.select(names)
    selected.validate(full=True)
    return selected


def _in_parts(batch: Any) -> Iterator[Any]:
    """Yield a large batch in parts, with fewer lines if their lists are long."""
    lists = [column for column in batch.columns if has_lists(column.type)]
    n_entries = max([batch.num_rows, *(len(column.flatten()) for column in lists)])
    size = max(BATCH_ROWS * batch.num_rows // max(n_entries, 1), 1)
    for first in range(0, batch.num_rows, size):
        yield batch.slice(first, size)


def _row_of_table(name: str, line: int) -> str:
    return f"{name}: entry {line}"
