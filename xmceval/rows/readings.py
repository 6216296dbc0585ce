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

from xmceval.errors import AmbiguousError, DataError, argument, listed, names_flags
from xmceval.rows.block import AnyArray, Block, Int64, Rows

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


def are_ids(
    values: Any,
    name: str,
    n_labels: int | None = None,
    *,
    are_all_ids: bool | None = None,
    n_seen: int = 0,
    code: str = "",
) -> tuple[bool, bool]:
    """Return whether predictions [n_rows, n_columns] are label ids, best first, and whether they may be scores.

    `n_labels` is the number of labels, if known; `n_seen` is one more than the largest label of a truth that
    does not declare it. Ambiguous whole numbers are an error, unless `are_all_ids` decides: the caller passes
    the number of labels with ids, and other rows of the same predictions may have shown that they are scores.
    `code` gives the numbers, for messages.
    """
    width, is_whole = values.shape[1], values.dtype.kind in "iu"
    head = values[:LOOKED_AT] if is_whole else NO_CELLS
    if head.size and head.min() == PADDINGS[1] and are_ranked_lists(np.maximum(head, -1), n_labels):
        raise DataError(
            f"{name}: has different whole numbers in each row, or {PADDINGS[1]}: are they ids of labels? (hint: their "
            f"padding is -1, as in numpy.maximum({_read(name)}, -1))"
        )
    if n_labels not in {None, width}:
        are_lists = is_whole and are_ranked_lists(values[:], n_labels)
        return are_lists, are_lists and _is_ranking(values)
    may_be_either = _is_ranking(values)
    if not may_be_either and (n_labels is not None or not is_whole or not are_ranked_lists(values[:])):
        return False, True
    if are_all_ids is None and (may_be_either or n_seen <= width):
        raise _ids_or_scores_error(values, name, code or _read(name))
    return are_all_ids is not False, may_be_either


def are_ranked_lists(labels: AnyArray, n_labels: int | None = None) -> bool:
    """Return whether integers [n_rows, any width] can be lists of distinct labels, padded with -1.

    A repeated label in one of the first rows shows that they are something else; further down it is a mistake,
    which is reported with its row.
    """
    least, largest = (int(labels.min()), int(labels.max())) if labels.size else (-1, -1)
    if least < -1 or largest < 0 or (n_labels is not None and largest >= n_labels):
        return False
    return _are_different(labels[:LOOKED_AT])


def _are_different(labels: AnyArray) -> bool:
    """Return whether no row of whole numbers repeats a non-negative one."""
    ordered = np.sort(labels, axis=1)
    return not ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any()


def _is_ranking(values: Any) -> bool:
    """Return whether the first rows of numbers [n_rows, n_labels] rank labels: all, or some and -1 for padding.

    Such numbers are ids, as from argsort, or scores. With fewer than three labels they are scores.
    """
    n_rows, n_labels = values.shape
    if not n_rows or n_labels < 3:
        return False
    for n in (1, max(min(LOOKED_AT, CELLS_LOOKED_AT // n_labels), 1)):  # mostly the first row is enough
        rows = values[:n]
        if not ((rows == np.floor(rows)).all() and rows.min() >= -1 and rows.max() < n_labels):
            return False
    return int(rows.max()) >= min(2, n_labels - 1) and _are_different(rows)


def _ids_or_scores_error(values: Any, name: str, code: str) -> AmbiguousError:
    """Return the error for whole numbers that may be label ids or scores."""
    rows, n_labels = values[:LOOKED_AT], values.shape[1]
    if rows.max() >= n_labels:
        found = "has different whole numbers in each row"
    elif rows.min() < 0:
        found = f"every row has different numbers below {n_labels}, or -1"
    else:
        found = f"every row is a permutation of 0..{n_labels - 1}"
    scores = f"1 + {code}"
    if names_flags():
        scores = f'python -c "import numpy; numpy.save({name!r}, 1.5 + {code})"'
    elif rows.max() >= n_labels:
        scores = f"floats that are not whole, such as 0.5 + {code}"
    return AmbiguousError(
        f"{name}: {found}: ids of labels, best first, or scores of {n_labels:,} labels? "
        f"(hint: {argument('n_labels')} says that they are ids; of scores pass {scores})"
    )


def _read(name: str) -> str:
    """Return Python code for the array of an input, a variable or a file, for a message."""
    return f"numpy.load({name!r})" if name.endswith(".npy") else f"numpy.asarray({name})"


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


def check_truth(values: Any, name: str, n_labels: int | None = None) -> None:
    """Refuse dense truth [n_rows, n_columns] that must or may be label ids.

    `n_labels` is that of the predictions: 0 for pairs of ids and scores, None if unknown.
    """
    n_columns = values.shape[1]
    rows = values[: max(FIRST_CELLS // max(n_columns, 1), 1)]
    if rows.dtype.kind not in "iuf" or not rows.size or (rows.min() >= 0 and rows.max() <= 1):
        return
    if not (rows == np.floor(rows)).all():
        return
    read = _read(name)
    if n_columns == 1 and rows.max() > 1:
        raise AmbiguousError(
            f"{name}: has a single column, with whole numbers up to {int(rows.max()):,}: ids of labels, or grades of "
            f"one label? (hint: of ids {_list_ids(read)}; of grades pass scipy.sparse.csr_array({read}))"
        )
    for padding in PADDINGS:
        is_used = rows != padding
        is_padded = rows.min() == padding and bool((is_used[:, 1:] <= is_used[:, :-1]).all())
        if is_padded and rows.max() > 0 and _are_different(rows):
            raise DataError(
                f"{name}: its rows are different whole numbers with {padding} at their end, as padded lists of ids are "
                f"(hint: {_list_ids(read, padding)})"
            )
    if n_labels not in {None, n_columns} and look_like_ids(values):
        raise DataError(
            f"{name}: has {n_columns} columns with a different whole number in each, and the predictions are of "
            f"{f'{n_labels:,} labels' if n_labels else 'ids of labels'}: are these ids? (hint: {_list_ids(read)})"
        )


def refuse_id_label(truth: Rows, scores: Rows, block: Block) -> None:
    """Refuse a label whose whole numbers in truth and scores may name or group the rows of a block."""
    n_rows, n_true, n_scored = truth.indptr.size - 1, truth.indptr[-1], scores.indptr[-1]
    labels, values = truth.indices[:n_true], truth.values[:n_true]
    large = np.unique(labels[values > 1])
    if not large.size or large.size > MOST_OF_IDS or n_rows < FEW_ROWS:
        return
    scored, numbers = scores.indices[:n_scored], scores.values[:n_scored]
    is_used = numbers != 0
    rounded = numbers[is_used & ~np.isin(scored, large)]
    least = LEAST_IDS if (rounded == np.floor(rounded)).all() else FEW_ROWS
    for label in large.tolist():
        ours, theirs = values[labels == label], numbers[is_used & (scored == label)]
        are_ids = min(ours.size, theirs.size) >= LEAST_IDS and are_distinct(ours) and are_distinct(theirs)
        if 2 * min(ours.size, theirs.size) < n_rows or not (are_ids or may_be_ids_of_rows(ours, theirs, least=least)):
            return  # grades
    entries = list[set[tuple[Any, ...]]]()
    for rows, n in ((scores, n_scored), (truth, n_true)):
        row_numbers = np.repeat(np.arange(n_rows), np.diff(rows.indptr))
        table = np.stack([row_numbers, rows.indices[:n], rows.values[:n]], axis=1)
        entries.append(set(map(tuple, table[table[:, 2] != 0].tolist())))
    if not entries[0] <= entries[1]:  # scores equal to the truth are used to test for the best possible values
        raise AmbiguousError(
            f"{block.place(0)}: label {large[0]} has whole numbers that may name or group the rows, in truth and "
            "predictions: is it a label? (hint: leave the column out of both if it is none; of a label, scores that "
            "are not whole, such as 0.5 + score, tell it apart)"
        )


def begin_with_ids(firsts: Sequence[AnyArray], lengths: Sequence[AnyArray]) -> bool:
    """Return whether lists of truth and predictions may begin with a row id.

    Their first labels, [n_rows] each, are then distinct and equal in both, and most lists continue.
    """
    n_rows = firsts[0].size
    are_long = all(2 * np.count_nonzero(length > 1) > n_rows and length.min() > 0 for length in lengths)
    if n_rows < LEAST_IDS or firsts[1].size != n_rows or not are_long:
        return False
    first, second = (np.unique(labels) for labels in firsts)
    return first.size == n_rows and np.array_equal(first, second)


def lists_of_ids_error(truth: str, scores: str, *, are_files: bool = False) -> AmbiguousError:
    """Return the error for lists that may begin with a row id."""
    without = f"cut -d' ' -f2- {truth}" if are_files else f"[row[1:] for row in {truth}]"
    labels = "a first line 'rows labels' above lists" if are_files else "a matrix or sets in the truth"
    return AmbiguousError(
        f"{truth} and {scores}: their lists begin with the same numbers, all different: ids of the rows, or labels? "
        f"(hint: {without} leaves ids out; {labels} says that they are labels)"
    )


def look_like_ids(values: Any) -> bool:
    """Return whether the rows are distinct integers, some of them beyond the number of columns."""
    if values.dtype.kind not in "iu":
        return False
    labels = values[:LOOKED_AT]
    return bool(labels.size) and int(labels.max()) >= labels.shape[1] and are_ranked_lists(labels)


def _list_ids(read: str, padding: int | None = None) -> str:
    """Return the code for passing lists instead of an array of ids, for a message."""
    if names_flags():
        used = "row" if padding is None else f"row[row != {padding}]"
        return f'python -c "import numpy; [print(*{used}) for row in {read}]" > truth.txt writes them as text'
    without = "" if padding is None else f" - {{{padding}}}"
    return f"pass [set(row){without} for row in {read}.tolist()]"


def are_triples(truth: AnyArray, scores: AnyArray) -> bool:
    """Return whether matrices [n_rows, 3] may be long tables of row, label and value.

    In both, row and label are whole, no pair is repeated, and the row counts up or repeats; the rows of one
    include those of the other. Truth of 0 and 1 is a matrix of labels, and so are one or two rows, where
    anything counts up.
    """
    if min(len(truth), len(scores)) < 3 or not all(table.dtype.kind in "biuf" for table in (truth, scores)):
        return False  # what has no numbers is refused where it is read
    if truth.shape[1:] != (3,) or scores.shape[1:] != (3,) or ((truth == 0) | (truth == 1)).all():
        return False
    rows = list[AnyArray]()
    for table in (truth, scores):
        pairs = table[:, :2]
        if not ((pairs >= 0) & (pairs == np.floor(pairs))).all():
            return False
        distinct_rows = np.unique(table[:, 0])
        counts_up = (np.diff(table[:, 0]) > 0).all()
        if not (counts_up or distinct_rows.size < len(table)) or len(np.unique(pairs, axis=0)) < len(table):
            return False
        rows.append(distinct_rows)
    return bool(np.isin(rows[0], rows[1]).all() or np.isin(rows[1], rows[0]).all())
