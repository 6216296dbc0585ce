"""Match the rows and labels of different inputs, and decide whether whole numbers are ids or scores.

This is decided here, for every function and command. Rows or labels that both inputs name are joined by name.
If only one input names them, they are joined by position, unless the names are numbers that contradict it.
Input with two readings is refused, with a line of code for each.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import numpy as np

from xmceval.errors import AmbiguousError, DataError, listed, names_flags
from xmceval.rows.block import AnyArray, Int64

SMALL_BATCH = 20  # rows; with fewer, the index of a shuffled batch may be a permutation by chance
LEAST_IDS, FEW_ROWS = 10, 3  # rows; with fewer, grades may be distinct, or equal scores, by chance
MOST_DIFFERENT = 0.9  # share of rows with distinct ids; some may be repeated by mistake
MOST_OF_IDS = 10  # labels that may be id columns; if more have whole numbers above 1, these are grades
USUAL_GRADE = 10  # larger whole numbers are more likely ids
MOST_NAMED = 3  # names in a message
EARLIER = "an earlier batch"  # the source of its label names, in messages
LOOKED_AT, CELLS_LOOKED_AT, FIRST_CELLS = 1000, 1 << 22, 1 << 16  # limits for samples: rows and cells
NO_CELLS: AnyArray = np.empty((0, 0))
PADDINGS = -1, -100  # in lists of ids; -100 is used by PyTorch's losses


@dataclass(frozen=True, eq=False)
class Axis:
    """The rows or labels of an input, in order."""

    source: str  # the name of the input in messages
    noun: Literal["row", "label"]
    # the names, if any; numbers, even as text, are int64 [n], or a range if consecutive
    names: Sequence[Any] | Int64 | None = None
    are_text: bool = False  # whether numbers are text in the input
    code: str = ""  # code that gives the input as a pandas data frame, if not its name
    is_file: bool = False
    column: Any = None  # the id column that names rows: its name, or position in an array; a list if several
    is_index: bool = False  # whether the index of a Series with a value per label names labels
    are_passed: bool = False  # whether these are row_ids, which name the rows in their order

    @classmethod
    def of(cls, source: str, noun: Literal["row", "label"], names: Any) -> Axis:
        """Take the names from an index, columns or any sequence."""
        if type(names).__name__ in {"RangeIndex", "range"} and names.step == 1:
            return cls(source, noun, range(names.start, names.stop))
        words = [word if isinstance(word, Hashable) else repr(word) for word in names]
        words = [math.nan if _is_missing(word) else word for word in words]  # all of them are the same
        whole = [_as_number(word) for word in words]
        if None in whole:
            return cls(source, noun, words)
        numbers, are_text = np.array(whole, dtype=np.int64), any(isinstance(word, str) for word in words)
        consecutive = range(int(numbers[0]), int(numbers[0]) + numbers.size) if numbers.size else range(0)
        return cls(source, noun, consecutive if np.array_equal(numbers, consecutive) else numbers, are_text)

    @property
    def is_numbered(self) -> bool:
        """Whether the only names are 0, 1, 2, ... in this order."""
        return self.names is None or (isinstance(self.names, range) and self.names.start == 0)

    @property
    def is_reordered(self) -> bool:
        """Whether the names are exactly 0, 1, 2, ... in another order."""
        names = self.names
        return isinstance(names, np.ndarray) and bool((np.sort(names) == np.arange(names.size)).all())

    @property
    def listed(self) -> list[Any]:
        """The names as a list."""
        return self.names.tolist() if isinstance(self.names, np.ndarray) else list(self.names or ())

    @property
    def attribute(self) -> str:
        """The attribute of a data frame that has the names."""
        return "index" if self.noun == "row" or self.is_index else "columns"

    @property
    def holder(self) -> str:
        """The part of the input that has the names, for a message."""
        if self.column is None:
            return self.attribute
        are_several = isinstance(self.column, list)
        return f"columns {listed(map(repr, self.column), 'and')}" if are_several else f"column {self.column!r}"

    @property
    def unnamed(self) -> str:
        """A line of code that drops the names."""
        if isinstance(self.column[0] if isinstance(self.column, list) else self.column, int):
            return f"numpy.delete({self.source}, {self.column}, axis=1)"
        if self.column is not None:
            return self.after(f".drop(columns={self.column!r})")
        return self.after(".reset_index(drop=True)" if self.attribute == "index" else ".to_numpy()")

    def after(self, call: str) -> str:
        """Return a line of Python or shell that changes the input, for a message."""
        code = f"{self.code or self.source}{call}"
        return write_frame(code, self.source) if self.is_file and names_flags() else code


def write_frame(code: str, path: str) -> str:
    """Return a shell command that writes a data frame next to the file it was read from, for a message."""
    stem = Path(path).name.partition(".")[0]
    new = json.dumps(f"{'joined' if set('*?[') & set(stem) else stem}-new.parquet")
    return f"python -c {shlex.quote(f'import pandas; {code}.to_parquet({new})')}"


def join_frames(codes: Sequence[str]) -> str:
    """Return code that concatenates data frames, given the code of each, for a message."""
    name = codes[0].removesuffix("[0]")
    is_list = all(code == f"{name}[{i}]" for i, code in enumerate(codes))
    return f"pandas.concat({name if is_list else '[' + ', '.join(codes) + ']'})"


def _is_missing(word: Any) -> bool:
    """Return whether a name is NaN, or the NA of pandas, which compares with nothing."""
    return math.isnan(word) if isinstance(word, float) else type(word).__name__ == "NAType"


def _as_number(word: Any) -> int | None:
    """Return a name as a whole number, also from text without a leading zero; None for other names."""
    if isinstance(word, str):
        is_number = word.isascii() and word.isdecimal() and (word == "0" or word[0] != "0") and len(word) < 19
        return int(word) if is_number else None
    if isinstance(word, (bool, np.bool_)) or not isinstance(word, (Real, Decimal)):
        return None
    number = float(word)
    return int(number) if number.is_integer() and abs(number) < 2**53 else None


def find_order(ours: Axis, theirs: Axis, *, in_batch: bool = False) -> Int64 | None:
    """Return the position in `theirs` of each row or label of `ours`, int64 [n]; None if positions agree.

    `ours` belong to the truth. Rows of a batch may have an index that is a permutation by chance. It is an
    error if both have names that differ, or if it is unclear whether names or positions are meant.
    """
    if ours.names is theirs.names or _are_equal(ours.names, theirs.names):
        return None
    are_ids = ours.column is not None and theirs.column is not None
    for named, other in ((ours, theirs), (theirs, ours)):
        if not are_ids and (other.is_numbered or (named.column is not None and named.is_reordered)):
            names: Any = named.names
            if named.are_passed:
                return None
            if isinstance(names, range):
                if other.names is not None and 0 < names.start < len(other.names):
                    raise _overlap_error(named, other)
            elif named.is_reordered and not (in_batch and other.names is None and len(names) < SMALL_BATCH):
                raise _order_error(named, other)
            return None
    here, there = ours.listed, theirs.listed
    places = {name: place for place, name in enumerate(there)}
    if not len(places) == len(there) == len(set(here)) == len(here) or not all(name in places for name in here):
        raise _other_names_error(ours, theirs)
    return np.array([places[name] for name in here], dtype=np.int64)


def first_named(known: Axis | None, other: Axis | None, unnamed: str, *, in_batch: bool = False) -> Axis | None:
    """Return the rows or labels of the first input that names them; refuse another input with another order.

    `unnamed` is the name of an input without names, whose order all others must share.
    """
    if other is None or other.is_numbered:
        return known
    if known is None or known.is_numbered:
        return other
    if find_order(known, other, in_batch=in_batch) is not None:
        raise unnamed_error(known, other, unnamed)
    return known


def first_labels(known: Axis | None, labels: Axis | None) -> Axis | None:
    """Return the labels whose names define the order: the known ones, or else these if they have names."""
    return labels if known is None and are_both_named(labels) else known


def unnamed_error(first: Axis, second: Axis, unnamed: str) -> DataError:
    """Return the error for inputs that name rows or labels in different orders, next to one without names."""
    have = "have" if second.holder.startswith("columns") else "has"
    return DataError(
        f"{second.source}: its {second.holder} {have} the names of {first.source} in another order, and {unnamed} has "
        f"none, which would say which {second.noun} is which (hint: pass all in one order, or {unnamed} with names)"
    )


def are_both_named(*axes: Axis | None) -> bool:
    """Return whether both inputs name their rows or labels, so that these are joined by name."""
    return all(axis is not None and not axis.is_numbered for axis in axes)


def say_how(ours: Axis | None, theirs: Axis, otherwise: str) -> str:
    """Describe how rows or labels are joined, with the id column, or the input whose lack of names decides."""
    has_columns = theirs.column is not None and (ours is None or ours.column is not None)
    if has_columns or are_both_named(ours or theirs, theirs):
        return f"column {theirs.column!r}" if theirs.column is not None else "name"
    if ours is None or (not are_both_named(ours) and not are_both_named(theirs)):
        return otherwise
    unnamed = theirs if are_both_named(ours) else ours
    return f"position, as {unnamed.source} does not name them"


def _are_equal(ours: Any, theirs: Any) -> bool:
    if ours is None or theirs is None or len(ours) != len(theirs):
        return False
    if isinstance(ours, list) or isinstance(theirs, list):
        return list(ours) == list(theirs)
    return np.array_equal(ours, theirs)


def _order_error(named: Axis, other: Axis) -> AmbiguousError:
    """Return the error for names that are a permutation of another input's row or label numbers."""
    names = f"{named.source}.{named.attribute}"
    ordered = f"sorted({names}{', key=int' if named.are_text else ''})"
    by_name = f".loc[{ordered}]" if named.are_text else ".sort_index()"
    if named.column is not None:
        key = ", key=lambda ids: ids.astype(int)" if named.are_text else ""
        by_name = f".sort_values({named.column!r}, ignore_index=True{key})"
    elif named.attribute == "columns":
        by_name = f"[{ordered}]"
    place = next(place for place, name in enumerate(named.listed) if name != place)
    have = "have" if named.holder == "columns" else "has"
    return AmbiguousError(
        f"{named.source}: its {named.holder} {have} the numbers of the {named.noun}s "
        f"of {other.source} in another order, {named.listed[place]} in place of {place}: which {named.noun} is "
        f"meant, by number or by position? (hint: {named.after(by_name)} puts them into the order of the numbers, "
        f"{named.unnamed} leaves the numbers out)"
    )


def _overlap_error(named: Axis, other: Axis) -> AmbiguousError:
    """Return the error for consecutive numbers that are partly at other positions in the other input."""
    names: Any = named.names
    last, goes = len(other.names or ()) - 1, "goes" if named.attribute == "index" else "go"
    select = ".loc[{}:{}]" if named.attribute == "index" else ".loc[:, {}:{}]"
    return AmbiguousError(
        f"{named.source}: its {named.attribute} {goes} from {names[0]} to {names[-1]}, and that of {other.source} from "
        f"0 to {last}: which {named.noun} is meant, by number or by position? (hint: by number, pass "
        f"{other.after(select.format(names[0], ''))} and {named.after(select.format('', last))}; by position, pass "
        f"{named.unnamed})"
    )


def _other_names_error(ours: Axis, theirs: Axis) -> DataError:
    """Return the error for two inputs that name different rows or labels."""
    here, there = theirs.listed, ours.listed
    extra = [name for name in here if name not in set(there)][:MOST_NAMED]
    missing = [name for name in there if name not in set(here)][:MOST_NAMED]
    has, lacks = ("have", "lack") if theirs.holder.startswith("columns") else ("has", "lacks")
    found = [f"{has} {listed(map(repr, extra), 'and')}, which {ours.source} lacks"] if extra else []
    found += [f"{lacks} {listed(map(repr, missing), 'and')} of {ours.source}"] if missing else []
    if not found:
        twice = next(name for names in (here, there) for name in names if names.count(name) > 1)
        found = [f"{has} another order than in {ours.source}, and {twice!r} appears twice"]
    ways, both = list[str](), "" if theirs.column is None else f"{ours.unnamed} and "
    if ours.source == EARLIER:
        ways.append(f"{theirs.source}.reindex(columns=first.columns) with the first batch that has names")
    elif not ours.code and not re.fullmatch(r"\w+(\[\d+\])*", ours.source):  # such as a list of names in a file
        pass
    elif bool(extra) != bool(missing) and (theirs.column is None or isinstance(theirs.column, str)):
        longer, shorter = (theirs, ours) if extra else (ours, theirs)
        names, others = (f"{axis.code or axis.source}" for axis in (longer, shorter))
        select = f".loc[{others}.index]" if longer.attribute == "index" else f"[{others}.columns]"
        if longer.column is not None:
            select = f"[{names}[{longer.column!r}].isin({others}[{longer.column!r}])]"
        ways.append(f"{longer.after(select)} to leave out the others")
    if len(here) == len(there):
        ways.append(f"{both}{theirs.unnamed} to go by position")
    hint = f" (hint: pass {', or '.join(ways)})" if ways else ""
    return DataError(f"{theirs.source}: its {theirs.holder} {', and '.join(found)}{hint}")


def are_distinct(values: AnyArray) -> bool:
    """Return whether values [n] are distinct whole numbers or text, like row ids."""
    return is_whole(values) and len(set(values.tolist())) == len(values)


def is_whole(values: AnyArray) -> bool:
    """Return whether values [n] are whole numbers, or text."""
    if values.dtype.kind == "f":
        return bool(np.isfinite(values).all() and (values == np.floor(values)).all())
    kinds = {type(value) for value in values} if values.dtype.kind == "O" else set()
    return values.dtype.kind in "iuU" or kinds in ({str}, {int})


def is_text(values: AnyArray) -> bool:
    """Return whether values [n] are text."""
    return values.dtype.kind in "OU" and isinstance(values[0], str)


def may_be_ids_of_rows(ours: AnyArray, theirs: AnyArray, *, least: int) -> bool:
    """Return whether a column of truth and predictions may name or group the rows although values are repeated.

    Its whole numbers are then equal in all of at least `least` rows, or in fewer if one exceeds usual grades.
    Or they are mostly distinct, exceed usual grades, and are mostly a permutation of each other.
    """
    if not (is_whole(ours) and is_whole(theirs)) or is_text(ours) or is_text(theirs):
        return False
    known = {value for value in ours.tolist() if value > USUAL_GRADE}
    if len(ours) == len(theirs) and np.array_equal(ours, theirs):
        return len(ours) >= least or (bool(known) and least == FEW_ROWS)
    are_ids = len(known) >= MOST_DIFFERENT * len(ours)
    return are_ids and 2 * sum(value in known for value in theirs.tolist()) >= len(theirs)


def explain_text(words: AnyArray, name: str) -> str:
    """Explain why an array with numbers as text is refused, and how to convert it; empty if it has names.

    `words` is a sample of its rows.
    """
    if not words.size:
        return ""
    try:
        numbers = words.astype(float)
    except ValueError:
        return ""
    code = f"{_read(name)}.astype({'int' if (numbers == np.floor(numbers)).all() else 'float'})"
    way = f"pass {code}"
    if names_flags():
        new = json.dumps(f"{Path(name).stem}-new.npy")
        way = f"run python -c {shlex.quote(f'import numpy; numpy.save({new}, {code})')}"
    return f"has numbers as text, such as {str(words.ravel()[0])[:40]!r} (hint: {way})"


def _read(name: str) -> str:
    """Return Python code for the array of an input, a variable or a file, for a message."""
    return f"numpy.load({name!r})" if name.endswith(".npy") else f"numpy.asarray({name})"
