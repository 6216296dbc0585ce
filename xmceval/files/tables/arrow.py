"""Convert Arrow columns to numpy arrays of text, integers or floats; nulls are refused with their place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.files.io.chunks import explain_decimal
from xmceval.files.text.words import PADDING
from xmceval.rows.block import AnyArray, Int64

LONGEST_NAME = 1 << 16  # bytes


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

    def refuse(self, line: int, problem: str) -> DataError:
        """Return the error for a line."""
        return DataError(f"{self.place(line)}: {problem}")

    def refuse_type(self, expected: str) -> DataError:
        """Return the error for a column of the wrong type."""
        return self.refuse(0, f"the column {self.name!r} is of type {self.array.type}; expected {expected}")

    def checked(self) -> Column:
        """Return the column with a plain type; refuse nulls."""
        import pyarrow

        try:
            array = _plain(self.array)
        except pyarrow.ArrowNotImplementedError:
            raise self.refuse_type("text or numbers") from None
        if array.null_count:
            line = array.is_null().to_pylist().index(True)
            raise self.refuse(line, f"has no {self.name} (null or NaN)")
        return self._replace(array=array)


def _plain(array: Any) -> Any:
    """Return an array without extension types, dictionaries, runs or views; whole decimals become integers."""
    import pyarrow

    kind = pyarrow.types
    if isinstance(array, pyarrow.ExtensionArray):
        array = array.storage
    if kind.is_dictionary(array.type):
        if kind.is_string_view(array.type.value_type):
            array = pyarrow.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(pyarrow.large_string()))
        array = array.dictionary_decode()
    elif kind.is_run_end_encoded(array.type):
        from pyarrow import compute

        array = compute.run_end_decode(array)
    if kind.is_string_view(array.type):
        return array.cast(pyarrow.large_string())
    if kind.is_null(array.type) and not len(array):
        return array.cast(pyarrow.int64())
    if kind.is_decimal(array.type) and array.type.scale == 0:
        try:
            return array.cast(pyarrow.int64())
        except pyarrow.ArrowInvalid:  # too large
            return array
    return array


def to_text(column: Column) -> Text:
    """Return the names in a column of text, or of integers, which are formatted as text."""
    import pyarrow

    column = column.checked()
    kind = pyarrow.types
    if not (is_text(column) or kind.is_integer(column.array.type)):
        raise column.refuse_type("text or integers")
    strings = column.array.cast(pyarrow.large_string())
    _, offsets, content = strings.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]
    first, last = (int(ends[0]), int(ends[-1])) if len(strings) else (0, 0)
    text = np.zeros(last - first + PADDING, dtype=np.uint8)
    if last > first:
        text[: last - first] = np.frombuffer(content, dtype=np.uint8)[first:last]
    lengths = np.diff(ends)
    if lengths.size and not 0 < lengths.min() <= lengths.max() <= LONGEST_NAME:
        line = int(np.argmax((lengths == 0) | (lengths > LONGEST_NAME)))
        problem = f"is longer than {LONGEST_NAME:,} bytes" if lengths[line] else "is empty"
        raise column.refuse(line, f"the name in {column.name!r} {problem}")
    return Text(text, ends[:-1] - first, ends[1:] - first)


def is_text(column: Column) -> bool:
    """Return whether a column has text, plain or in a dictionary or runs."""
    return is_text_type(column.array.type)


def is_text_type(type_: Any) -> bool:
    """Return whether an Arrow type is text, plain or in a dictionary or runs."""
    from pyarrow import types as kind

    if kind.is_dictionary(type_) or kind.is_run_end_encoded(type_):
        type_ = type_.value_type
    return bool(kind.is_string(type_) or kind.is_large_string(type_) or kind.is_string_view(type_))


def to_whole(column: Column, hint: Callable[[str, None], str] | None = None) -> AnyArray:
    """Return the rows or labels in a column: integers from 0 on, floats with whole values, or text of digits.

    `hint` is added to the message about text that is not a number. The result is int32 or int64.
    """
    import pyarrow

    column = column.checked()
    kind = pyarrow.types
    if is_text(column):
        column = column._replace(array=_parse(column, pyarrow.int64(), f"a 0-based {column.name} number", hint))
    elif not (kind.is_integer(column.array.type) or kind.is_floating(column.array.type)):
        raise column.refuse_type("0-based whole numbers")
    numbers = to_numpy(column.array)
    is_float = numbers.dtype.kind == "f"
    if numbers.size and (is_float or numbers.min() < 0 or numbers.max() >= 2**53):
        wrong = ~((numbers >= 0) & (numbers < 2**53) & (numbers == np.floor(numbers)))
        if wrong.any():
            line = int(np.argmax(wrong))
            word = repr(numbers.tolist()[line])
            way = " (hint: leave padding out)" if word in {"-1", "-100"} else ""
            raise column.refuse(line, f"has the {column.name} {word}; expected a 0-based whole number below 2^53{way}")
    return numbers if numbers.dtype in {np.dtype(np.int32), np.dtype(np.int64)} else numbers.astype(np.int64)


def to_numbers(column: Column) -> AnyArray:
    """Return the grades or scores in a column as float32 or float64."""
    import pyarrow

    column = column.checked()
    kind, array = pyarrow.types, column.array
    if is_text(column):
        array = _parse(column, pyarrow.float64(), "a number")
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
    return numbers if numbers.dtype.itemsize >= 4 else numbers.astype(np.float64)


def to_numpy(array: Any) -> AnyArray:
    """Convert an Arrow array of numbers without nulls to numpy; pyarrow's `to_numpy` would import pandas."""
    numbers: AnyArray = np.from_dlpack(array)
    return numbers


def flatten(column: Column) -> tuple[Column, Int64]:
    """Return the concatenated items of a column of lists, and the length of each list, int64 [n_lines]."""
    from pyarrow import compute

    column = column.checked()
    lengths = to_numpy(compute.list_value_length(column.array)).astype(np.int64)
    ends = np.cumsum(lengths)

    def place(entry: int) -> str:
        return column.place(int(np.searchsorted(ends, entry, side="right")))

    return Column(column.array.flatten(), column.name, place), lengths


def _parse(column: Column, type_: Any, expected: str, hint: Callable[[str, None], str] | None = None) -> Any:
    """Parse a column of text; refuse the first word that is not a number, with its place."""
    import pyarrow
    from pyarrow import compute

    try:
        if compute.any(compute.match_substring(column.array, "x")).as_py():  # Arrow also parses 0x1f
            raise pyarrow.ArrowInvalid
        return column.array.cast(type_)
    except pyarrow.ArrowInvalid:
        numbers = []
        for line, word in enumerate(compute.utf8_trim_whitespace(column.array).to_pylist()):
            number = to_float(word)
            is_whole = type_ != pyarrow.int64() or number == math.floor(number or 0.5)
            if number is None or not is_whole:
                problem = f"expected {expected}, found {word[:40]!r}{explain_decimal(word.encode(errors='replace'))}"
                raise column.refuse(line, problem if hint is None else hint(word[:40], None)) from None
            numbers.append(number)
        return pyarrow.array(numbers, pyarrow.float64())


def to_float(word: str) -> float | None:
    """Parse a word as a number; return None if it is none."""
    try:
        return float(word) if word.isascii() and "_" not in word else None
    except ValueError:
        return None
