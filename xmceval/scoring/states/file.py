"""Files of states: an npz without pickles and without compression, of the arrays of totals, propensities and filter.

Its first member is `header`: the bytes of a JSON object with all that is no array. A file may come from anywhere, so
every field is checked for its kind, and every array for its kind, shape and range, before it is used.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, argument, listed
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes, read_first_bytes
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities, shortest
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse
from xmceval.rows.filters import Filter, Largest
from xmceval.rows.width import Width
from xmceval.scoring.batch import NO_WEIGHTS, Terms
from xmceval.scoring.mergeable import MOST_LABELS, MOST_ROWS, take
from xmceval.scoring.options import Options, specs
from xmceval.scoring.program import compile_program
from xmceval.scoring.states.state import NO_RANGE, State, StatePart, check_shards, recorded_options
from xmceval.scoring.tasks.task import RowTask
from xmceval.scoring.totals import empty
from xmceval.version import STATE_SCHEMA

MOST_SHARDS = 1 << 20
INTEGERS = (np.int8, np.int16, np.int32, np.int64)

Arrays = dict[str, NDArray[Any]]

# Kinds of fields: a type, a range of integers, None, a tuple of alternatives, an object with exactly these fields; and
# a list of any number of one kind, or of exactly these kinds where there are several.
_COUNT, _NUMBER = range(MOST_ROWS + 1), (int, float)
_SHARD = range(1, MOST_SHARDS + 1)
_LAST = {"value": range(-1, MOST_LABELS), "place": str}
_PART = {"name": str, "n_rows": _COUNT, "truth": str, "scores": str, "system": str, "shard": ([_SHARD, _SHARD], None)}
PROPENSITIES = {
    "source": str,
    "a": (*_NUMBER, None),
    "b": (*_NUMBER, None),
    "n": (range(3, MOST_ROWS), None),
    "from_truth": bool,
}
HEADER: dict[str, Any] = {
    "schema": str,
    "version": str,
    "metrics": [str],
    "options": dict,
    "n_labels": (range(MOST_LABELS), None),
    "declared_by": str,
    "propensities": (PROPENSITIES, None),
    "filter": ({"name": str, "repeated": _COUNT, "last_row": _LAST, "last_label": _LAST}, None),
    "weight_unit": (float, None),
    "weight_range": ([float, float], None),
    "max_weight": (float, None),
    "removed": [_COUNT, _COUNT],
    "parts": [_PART],
    "warnings": [str],
    "notes": [str],
}
# Of arrays: kind, dimensions (-1 for any size), least and greatest number. Those of totals are declared by their parts.
ARRAYS: dict[str, tuple[str, tuple[int, ...], float, float]] = {
    "propensities.inverse": ("f", (-1,), 1.0, np.finfo(float).max),
    "propensities.codes": ("i", (-1,), 0, MOST_LABELS),
    "propensities.ids": ("i", (-1,), 0, MOST_LABELS),
    "propensities.table_counts": ("i", (-1,), 0, MOST_ROWS),
    "filter.rows": ("i", (-1,), 0, MOST_ROWS),
    "filter.labels": ("i", (-1,), 0, MOST_LABELS),
}


def pack_state(state: State) -> bytes:
    """Return a state as the bytes of a file; the same state gives the same bytes."""
    terms, propensities, pairs = state.terms, state.terms.propensities, state.terms.filter
    arrays = state.totals.arrays()
    header: dict[str, Any] = {
        "schema": STATE_SCHEMA,
        "version": state.version,
        "metrics": [str(measure) for measure in state.program.measures],
        "options": state.options.changed(),
        "n_labels": terms.width.or_none,
        "declared_by": terms.width.declared_by,
        "propensities": None,
        "filter": None,
        "weight_unit": None if terms.weights is None else float(terms.weight_unit),
        "weight_range": None if state.weight_range == NO_RANGE else list(state.weight_range),
        "max_weight": None if state.max_weight is None else float(state.max_weight),
        "removed": list(state.removed),
        "parts": [asdict(part) for part in state.parts],
        "warnings": list(state.warnings),
        "notes": list(state.notes),
    }
    if propensities is not NO_PROPENSITIES:
        header["propensities"] = {name: getattr(propensities, name) for name in PROPENSITIES}
        arrays |= {f"propensities.{name}": getattr(propensities, name) for name in ("inverse", "codes", "ids")}
        if propensities.table_counts is not None:
            arrays["propensities.table_counts"] = propensities.table_counts
    if pairs is not None:
        last = {"last_row": asdict(pairs.last_row), "last_label": asdict(pairs.last_label)}
        header["filter"] = {"name": pairs.name, "repeated": pairs.repeated, **last}
        arrays |= {"filter.rows": pairs.rows, "filter.labels": pairs.labels}
    file = io.BytesIO()
    text = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    numbers: dict[str, Any] = {name: _narrow(array) for name, array in arrays.items()}
    np.savez(file, header=text, **numbers)
    return file.getvalue()


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Return integers in the narrowest type that holds them, and other numbers as they are."""
    if array.dtype.kind in "iu":
        least, greatest = int(array.min(initial=0)), int(array.max(initial=0))
        dtype = next(kind for kind in INTEGERS if np.iinfo(kind).min <= least and greatest <= np.iinfo(kind).max)
        array = array.astype(dtype)
    return np.ascontiguousarray(array)


def load_state(path: str | Path) -> State:
    """Read the state in a file."""
    return unpack_state(read_all_bytes(to_path(path)), str(path))


def is_state(path: Path) -> bool:
    """Return whether a file is a state, sound or not: an archive whose first member is the header of one."""
    try:
        return _begins_as_state(read_first_bytes(path, 64))
    except DataError:  # a pair of npy files by their stem, or an error that opening reports
        return False


def _begins_as_state(content: bytes) -> bool:
    return content.startswith(b"PK\x03\x04") and content[30:40] == b"header.npy"


def unpack_state(content: bytes, name: str) -> State:
    """Return the state that the bytes of a file hold; `name` is that of messages."""
    if not _begins_as_state(content):
        if content.startswith(b'{"schema": "xmceval/state/'):
            raise DataError(f"{name}: written by an older xmceval: score again")
        hint = f"(hint: score with {argument('save_state', kind='FILE')} writes one)"
        raise DataError(f"{name}: not a state of xmceval {hint}")
    try:
        arrays = _read_arrays(content)
    except Exception as error:  # zipfile and numpy raise nearly anything over damaged bytes
        reason = error or type(error).__name__
        raise DataError(f"{name}: the state is damaged or cut short: {reason} (hint: save it again)") from None
    try:
        state = _restore(_read_header(arrays.pop("header")), arrays, name)
        if arrays:
            raise ValueError(f"there is no array {min(arrays)}")
        _check_sizes(state)
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise DataError(f"{name}: the state is not one of xmceval: {error}") from None
    return state


def _read_arrays(content: bytes) -> Arrays:
    """Return the arrays of an archive by name: integers as int64, others as float64."""
    arrays: Arrays = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        is_plain = all(member.compress_type == zipfile.ZIP_STORED for member in members)
        if not is_plain or sum(member.file_size for member in members) > len(content):
            raise ValueError("its arrays are compressed")  # nobody knows how much memory they ask for
        for member in members:
            name, item = member.filename.removesuffix(".npy"), archive.read(member)
            stream = io.BytesIO(item)
            if np.lib.format.read_magic(stream) != (1, 0):
                raise ValueError(f"{name} is not an array as numpy.savez writes it")
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
            if dtype.kind not in "iuf" or is_fortran:
                raise ValueError(f"{name} has no numbers")
            numbers = np.frombuffer(item, dtype, offset=stream.tell()).reshape(shape)  # as many as there are
            arrays[name] = numbers.astype(np.float64 if dtype.kind == "f" else np.int64)
    return arrays


def _read_header(text: NDArray[Any]) -> dict[str, Any]:
    """Return the header from its bytes, int64 [n_bytes], with every field checked for its kind."""

    def refuse_constant(constant: str) -> Any:
        raise ValueError(f"{constant} is no number of JSON")

    header = json.loads(text.astype(np.uint8).tobytes(), parse_constant=refuse_constant)
    if not isinstance(header, dict) or not str(header.get("schema")).startswith("xmceval/state/"):
        raise ValueError("its header is not that of a state")
    if header["schema"] != STATE_SCHEMA:
        raise ValueError(f"it has the schema {header['schema']}; expected {STATE_SCHEMA}")
    for name in sorted(HEADER.keys() ^ header.keys()):
        raise ValueError(f"{name}: {'is missing' if name in HEADER else 'is no field'}")
    for name, kind in HEADER.items():
        if not _fits(header[name], kind):
            raise ValueError(f"{name}: cannot be {str(header[name])[:40]!r}")
    return header


def _fits(value: Any, kind: Any) -> bool:
    """Return whether a value of JSON is of a kind, as HEADER has them."""
    if isinstance(kind, tuple):
        return any(_fits(value, one) for one in kind)
    if isinstance(kind, list):
        kinds = kind if len(kind) > 1 or not isinstance(value, list) else kind * len(value)
        return isinstance(value, list) and len(value) == len(kinds) and all(map(_fits, value, kinds))
    if isinstance(kind, dict):
        is_object = isinstance(value, dict) and value.keys() == kind.keys()
        return is_object and all(_fits(value[name], field) for name, field in kind.items())
    if isinstance(kind, range):
        return type(value) is int and value in kind
    return value is None if kind is None else type(value) is kind


def _restore(header: Mapping[str, Any], arrays: Arrays, name: str) -> State:
    """Return the state that a checked header describes; its arrays are removed from those of the file."""
    options = _restore_options(header["options"])
    measures = [_restore_measure(text) for text in header["metrics"]]
    strange = set(measures) - set(options.measures)
    if strange or len(set(measures)) < len(measures):
        raise ValueError(f"metrics: {listed(strange or measures)} are not those of the options")
    program = compile_program(measures)
    program.check_mergeable("a state")
    terms = _restore_terms(header, options, arrays)
    if sum(program.numbers_per_row(terms)) > sum(array.size for array in arrays.values()):
        raise ValueError("there are too few numbers for its metrics and bins")  # before room is made for them
    totals = empty(program, terms)
    totals.fill(arrays)
    parts = [StatePart(**{**part, "shard": part["shard"] and tuple(part["shard"])}) for part in header["parts"]]
    return State(
        name,
        options,
        program,
        terms,
        totals,
        parts=tuple(parts),
        warnings=tuple(header["warnings"]),
        notes=tuple(header["notes"]),
        weight_range=tuple(header["weight_range"] or NO_RANGE),
        removed=tuple(header["removed"]),
        max_weight=header["max_weight"],
        version=header["version"],
    )


def _restore_options(changed: Mapping[str, Any]) -> Options:
    """Return recorded options; their metrics and cutoffs are listed one by one, as a range could be of any length."""
    kinds: dict[type, Any] = {bool: bool, int: range(MOST_LABELS), float: _NUMBER, list: [str]}
    special: dict[str, Any] = {
        "k": [range(MOST_ROWS)],
        "by_frequency": (range(MOST_ROWS), str, [(range(MOST_ROWS), str)]),
        "threshold": (*_NUMBER, str),  # inf is no number of JSON
    }
    for name, value in changed.items():
        spec = specs().get(name)
        if spec is None or spec.shown == "nowhere" or not _fits(value, special.get(name) or kinds.get(spec.kind, str)):
            raise ValueError(f"options: {name} cannot be {str(value)[:40]!r}")
    for text in changed.get("metrics", ()):
        _restore_measure(text)
    return recorded_options(changed)


def _restore_measure(text: str) -> Measure:
    """Return the only measure of a name as reports have it: with its cutoff, but no range of them."""
    tail = text.rpartition("@")[2] if "@" in text else ""
    measures = parse([text], []) if tail.replace(".", "", 1).isalnum() or not tail else []
    if len(measures) != 1 or str(measures[0]) != text:
        raise ValueError(f"metrics: {text[:40]!r} is not the name of one metric, with its cutoff")
    return measures[0]


def _restore_terms(header: Mapping[str, Any], options: Options, arrays: Arrays) -> Terms:
    """Return the terms on which the rows were scored; weights have a unit only."""
    unit, max_weight = header["weight_unit"], header["max_weight"]
    least, greatest = header["weight_range"] or (1.0, 1.0)
    numbers = [number for number in (least, greatest, unit, max_weight) if number is not None]
    is_power_of_two = unit is None or math.frexp(unit)[0] == 0.5
    if not all(0 < number < np.inf for number in numbers) or least > greatest or not is_power_of_two:
        raise ValueError("weight_range, weight_unit and max_weight: cannot be those of sample weights")
    terms = replace(
        Terms.of(options),
        propensities=_restore_propensities(header["propensities"], arrays),
        weights=None if unit is None else NO_WEIGHTS,
        weight_unit=unit or 1.0,
        filter=_restore_filter(header["filter"], arrays),
    )
    if header["n_labels"] is None:
        return terms
    return terms.with_width(Width(header["n_labels"], header["declared_by"]), options.by_frequency)


def _restore_propensities(described: Mapping[str, Any] | None, arrays: Arrays) -> Propensities:
    """Return propensities, whose tables must fit together."""
    if described is None:
        return NO_PROPENSITIES
    inverse, codes, ids = (_take(arrays, f"propensities.{name}") for name in ("inverse", "codes", "ids"))
    counts = _take(arrays, "propensities.table_counts") if "propensities.table_counts" in arrays else None
    is_right = (
        len({described[name] is None for name in "abn"}) == 1
        and inverse.size > max(codes.max(initial=0), 0)
        and (np.diff(inverse) < 0).all()
        and ids.size in {0, codes.size}
        and (np.diff(ids) > 0).all()
        and (counts is None or (counts.size == inverse.size and (np.diff(counts) > 0).all()))
    )
    if not is_right:
        raise ValueError("propensities: their numbers do not fit together")
    return Propensities(inverse, shortest(codes, inverse.size), ids=ids, table_counts=counts, **described)


def _restore_filter(described: Mapping[str, Any] | None, arrays: Arrays) -> Filter | None:
    """Return a filter, whose pairs must ascend."""
    if described is None:
        return None
    last_row, last_label = Largest(**described["last_row"]), Largest(**described["last_label"])
    rows, labels = _take(arrays, "filter.rows"), _take(arrays, "filter.labels")
    is_inside = rows.max(initial=-1) <= last_row.value and labels.max(initial=-1) <= last_label.value
    if rows.size != labels.size or not is_inside:
        raise ValueError("filter: its pairs do not fit together")
    if not ((np.diff(rows) > 0) | ((np.diff(rows) == 0) & (np.diff(labels) > 0))).all():
        raise ValueError("filter: its pairs do not ascend")
    return Filter(described["name"], rows, labels, described["repeated"], last_row, last_label)


def _take(arrays: Arrays, name: str) -> NDArray[Any]:
    """Remove an array of ARRAYS from those of a file, and return it once it is checked."""
    return take(arrays, name, *ARRAYS[name])


def _check_sizes(state: State) -> None:
    """Refuse numbers of rows, shards and labels that contradict each other."""
    check_shards(state.parts)
    for part in state.parts:
        if part.shard is not None and part.shard[0] > part.shard[1]:
            raise ValueError(f"parts: cannot be shard {part.shard}")
    tally, terms, n_rows = state.totals.tally, state.terms, state.n_rows
    n_counted = tally.n_instances(drop_empty=terms.drop_empty)
    if not n_counted <= n_rows <= MOST_ROWS or (terms.weights is None and n_counted < n_rows):
        raise ValueError(f"parts: {n_rows:,} rows, of which {n_counted:,} are counted")
    pairs = zip(state.program.tasks, state.totals.parts, strict=True)
    left_out = [int(part.left_out.max(initial=0)) for task, part in pairs if isinstance(task, RowTask)]
    if max(left_out, default=0) > tally.n_rows:
        raise ValueError(f"there are not so many rows as are left out, of {n_rows:,}")
    terms.width.check_cutoff(state.program.deepest)
    if tally.largest_label >= terms.width.n_labels:
        raise ValueError(f"n_labels: {terms.width.n_labels:,}, but there is label {tally.largest_label}")
    if not terms.width.is_known and n_rows and (state.program.needing_labels or state.options.by_frequency is not None):
        raise ValueError("n_labels: its metrics or bins need the number of labels")
