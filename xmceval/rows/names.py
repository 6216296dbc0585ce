"""Names of rows and labels, and how the names in two inputs are joined.

What both inputs name is joined by name. If only one of them has names, they are joined by position, unless these are
the numbers 0 to n - 1 in another order.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import islice, takewhile
from numbers import Real
from typing import Any, Literal

import numpy as np

from xmceval.errors import AmbiguousError, DataError, Doubt, listed, plural
from xmceval.rows.block import Int64

# Columns that name the rows of a table or data frame: the first of this list that it has. Case, blanks, hyphens and
# underscores are ignored.
QUERIES = ("query_id", "qid", "q_id", "query", "user_id", "user", "topic_id", "topic", "uid")
IDS = (*QUERIES, "id")
NUMBERS = ("row", "row_id", "row_number", "instance", "instance_id", "sample", "sample_id")  # counted from 0

MOST_NAMED = 3  # names in a message
MOST_FOLDED = 1 << 15  # names of an input that are compared in another form
EARLIER = "an earlier batch"  # the source of its label names, in messages


def plain(name: str) -> str:
    """Normalise the name of a column: ignore case, separators of words, and the types that RecBole appends."""
    return re.sub(r"[\W_]+", "", re.sub(r":(token|float)(_seq)?$", "", name).lower())


_PLACES = {plain(name): place for place, name in enumerate((*IDS, *NUMBERS))}


def naming_columns(columns: Iterable[Any]) -> list[Any]:
    """Return the columns with known names of row ids or row numbers, the one that names the rows first."""
    known = [column for column in columns if isinstance(column, str) and plain(column) in _PLACES]
    return sorted(known, key=lambda column: _PLACES[plain(column)])


def has_numbers(column: str) -> bool:
    """Return whether a column with a known name has row numbers, counted from 0, instead of ids."""
    return _PLACES[plain(column)] >= len(IDS)


@dataclass(frozen=True, eq=False)
class Axis:
    """The rows or labels of an input, in order."""

    source: str  # the name of the input in messages
    noun: Literal["row", "label"]
    # the names, if any; numbers, even as text, are int64 [n], or a range if consecutive
    names: Sequence[Any] | Int64 | None = None
    are_text: bool = False  # whether numbers are text in the input
    column: Any = None  # the column that names rows
    is_index: bool = False  # whether the index of a Series with a value per label names labels
    are_passed: bool = False  # whether these are row_ids, which name the rows in their order

    @classmethod
    def of(cls, source: str, noun: Literal["row", "label"], names: Any, *, column: Any = None) -> Axis:
        """Take the names from an index, columns or any sequence."""
        if type(names).__name__ in {"RangeIndex", "range"} and names.step == 1:
            return cls(source, noun, range(names.start, names.stop), column=column)
        words = list(names)
        if not {*map(type, words)} <= {str, int}:
            words = [word if isinstance(word, Hashable) else repr(word) for word in words]
            words = [math.nan if _is_missing(word) else word for word in words]  # all of them are the same
        whole = list(takewhile(lambda number: number is not None, map(_as_number, words)))
        if len(whole) < len(words):
            return cls(source, noun, words, column=column)
        numbers = np.array(whole, dtype=np.int64)
        are_text = any(isinstance(word, str) for word in words)
        consecutive = range(0)
        if numbers.size:
            consecutive = range(int(numbers[0]), int(numbers[0]) + numbers.size)
        if np.array_equal(numbers, consecutive):
            return cls(source, noun, consecutive, are_text, column=column)
        return cls(source, noun, numbers, are_text, column=column)

    @property
    def is_numbered(self) -> bool:
        """Whether the only names are 0, 1, 2, ... in this order, and no column of ids says so."""
        return self.names is None or (self.column is None and isinstance(self.names, range) and self.names.start == 0)

    @cached_property
    def is_repeated(self) -> bool:
        """Whether rows have names that appear twice, as in batches that were concatenated: these name nothing."""
        return self.noun == "row" and not isinstance(self.names, range) and len(set(self.listed)) < len(self.listed)

    @property
    def is_named(self) -> bool:
        """Whether it can be joined by name."""
        return self.names is not None and not (self.is_numbered or self.is_repeated)

    @property
    def is_reordered(self) -> bool:
        """Whether the names are exactly 0, 1, 2, ... in another order."""
        names = self.names
        return isinstance(names, np.ndarray) and bool((np.sort(names) == np.arange(names.size)).all())

    @property
    def listed(self) -> list[Any]:
        """The names as a list."""
        if self.names is None:
            return []
        return self.names.tolist() if isinstance(self.names, np.ndarray) else list(self.names)

    @property
    def holder(self) -> str:
        """The part of the input that has the names, for a message."""
        if self.column is not None:
            return f"column {self.column!r}"
        if self.noun == "row" or self.is_index:
            return "index"
        return "columns"

    @property
    def without(self) -> str:
        """How to drop the names, for a hint."""
        if self.column is not None:
            return f"drop the column {self.column!r}"
        if self.holder == "columns":
            return "to_numpy()"
        return "reset_index(drop=True)"


def _is_missing(word: Any) -> bool:
    """Return whether a name is NaN, or the NA of pandas, which compares with nothing."""
    if isinstance(word, float):
        return math.isnan(word)
    return type(word).__name__ == "NAType"


def _as_number(word: Any) -> int | None:
    """Return a name as a whole number, also from text without a leading zero; None for other names."""
    if isinstance(word, str):
        has_digits = word.isascii() and word.isdecimal()
        is_padded = word != "0" and word.startswith("0")
        if not has_digits or is_padded or len(word) >= 19:
            return None
        return int(word)
    if isinstance(word, (bool, np.bool_)) or not isinstance(word, (Real, Decimal)):
        return None
    number = float(word)
    if not number.is_integer() or abs(number) >= 2**53:
        return None
    return int(number)


def find_order(ours: Axis, theirs: Axis, unnamed: str = "") -> Int64 | None:
    """Return the position in `theirs` of each row or label of `ours`, int64 [n]; None if positions agree.

    `ours` were named first, mostly by the truth. It is an error if both have names that differ, if one has numbers that
    contradict the positions of the other, or if there is an `unnamed` input, whose order all others must share.
    """
    if ours.names is theirs.names or _are_equal(ours.names, theirs.names):
        return None
    if ours.is_named and theirs.is_named:
        order = _join(ours, theirs)
        if unnamed:
            raise unnamed_error(ours, theirs, unnamed)
        return order
    for named, other in ((ours, theirs), (theirs, ours)):
        if named.is_named and named.is_reordered and not named.are_passed:
            raise _order_error(named, other)
    if ours.is_repeated and theirs.is_repeated:
        raise DataError(
            f"{theirs.source}: its {theirs.holder} repeats names, and so does {ours.source}, in another order "
            f"(hint: {theirs.without} on both to join them by position)"
        )
    return None


def _join(ours: Axis, theirs: Axis) -> Int64:
    """Return the position in `theirs` of each name of `ours`."""
    here = ours.listed
    there = theirs.listed
    places = {name: place for place, name in enumerate(there)}
    if not len(places) == len(there) == len(set(here)) == len(here) or not all(name in places for name in here):
        raise _other_names_error(ours, theirs)
    return np.array([places[name] for name in here], dtype=np.int64)


def doubt_alike(source: str, noun: str, other: str, here: Iterable[str], there: Iterable[str]) -> Iterator[Doubt]:
    """Doubt names that only `source` has and that `other` has in another Unicode form or case.

    `here` and `there` are the names that only one of them has. If names of one of them differ in nothing else, as ids
    of random letters may, they are different names.
    """
    theirs = list(islice(there, MOST_FOLDED))
    ours = list[str]()
    if theirs:
        ours = list(islice(here, MOST_FOLDED))
    by_form, others = ({_fold(name): name for name in names} for names in (ours, theirs))
    forms = [form for form in by_form if form in others]
    if forms and len(by_form) == len(ours) and len(others) == len(theirs):
        more = ""
        if len(forms) > 1:
            more = f" ({len(forms):,} such {plural(noun)})"
        yield Doubt(
            f"{source}: has the {noun} {by_form[forms[0]]!a}, and {other} has {others[forms[0]]!a}, which "
            f"differ in case or Unicode form only{more}: are they the same?"
        )


def _fold(name: str) -> str:
    """Return a name in one Unicode form and case."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def first_named(known: Axis | None, other: Axis | None, unnamed: str = "") -> Axis | None:
    """Return the rows or labels of the first input that names them, whose order others take.

    If there is an `unnamed` input, another order is refused.
    """
    if other is None or not other.is_named:
        return known
    if known is None or not known.is_named:
        return other
    find_order(known, other, unnamed)
    return known


def unnamed_error(first: Axis, second: Axis, unnamed: str) -> DataError:
    """Return the error for inputs that name rows or labels in different orders, next to one without names."""
    have = "have" if second.holder == "columns" else "has"
    return DataError(
        f"{second.source}: its {second.holder} {have} the names of {first.source} in another order, and {unnamed} has "
        f"none, which would say which {second.noun} is which (hint: pass all in one order, or {unnamed} with names)"
    )


def say_how(ours: Axis | None, theirs: Axis, otherwise: str) -> str:
    """Describe how rows or labels are joined: by name, or by position where an input lacks names."""
    if theirs.names is None and (ours is None or ours.names is None):
        return otherwise
    if theirs.is_named and (ours is None or ours.is_named):
        if theirs.column is not None:
            return f"column {theirs.column!r}"
        return "name"
    repeated = next((axis for axis in (ours, theirs) if axis is not None and axis.is_repeated), None)
    if repeated is not None:
        return f"position, as the {repeated.holder} of {repeated.source} repeats names"
    if ours is None or not (ours.is_named or theirs.is_named):
        return otherwise
    unnamed = ours
    if ours.is_named:
        unnamed = theirs
    return f"position, as {unnamed.source} does not name them"


def _are_equal(ours: Any, theirs: Any) -> bool:
    if ours is None or theirs is None or len(ours) != len(theirs):
        return False
    if isinstance(ours, list) or isinstance(theirs, list):
        return list(ours) == list(theirs)
    return np.array_equal(ours, theirs)


def _order_error(named: Axis, other: Axis) -> AmbiguousError:
    """Return the error for names that are a permutation of another input's row or label numbers."""
    place = next(place for place, name in enumerate(named.listed) if name != place)
    have = "have" if named.holder == "columns" else "has"
    sorting = {"index": "sort_index()", "columns": "sort_index(axis=1)"}
    by_number = sorting.get(named.holder, f"sort_values({named.column!r})")
    return AmbiguousError(
        f"{named.source}: its {named.holder} {have} the numbers of the {named.noun}s of {other.source} in another "
        f"order, {named.listed[place]} in place of {place}: which {named.noun} is meant, by number or by position? "
        f"(hint: {by_number} for the order of the numbers, {named.without} for the positions)"
    )


def _other_names_error(ours: Axis, theirs: Axis) -> DataError:
    """Return the error for two inputs that name different rows or labels."""
    here = theirs.listed
    there = ours.listed
    extra = [name for name in here if name not in set(there)][:MOST_NAMED]
    missing = [name for name in there if name not in set(here)][:MOST_NAMED]
    has = "has"
    lacks = "lacks"
    if theirs.holder == "columns":
        has = "have"
        lacks = "lack"
    differences = list[str]()
    if extra:
        differences.append(f"{has} {listed(map(repr, extra), 'and')}, which {ours.source} lacks")
    if missing:
        differences.append(f"{lacks} {listed(map(repr, missing), 'and')} of {ours.source}")
    if not differences:
        twice = next(name for names in (here, there) for name in names if names.count(name) > 1)
        differences = [f"{has} another order than in {ours.source}, and {twice!r} appears twice"]
    hint = ""
    if len(here) == len(there):
        hint = f" (hint: {theirs.without} to go by position)"
    return DataError(f"{theirs.source}: its {theirs.holder} {', and '.join(differences)}{hint}")
