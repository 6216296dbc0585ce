"""Read and write states as npz files without pickles or compression.

The first member is `header`: the bytes of a JSON object with everything that is not an array. Files are
untrusted, so the type of every field, and the type, shape and range of every array, are checked before use.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, Doubt, XmcevalError, argument, split_doubts
from xmceval.files.arrays.npy import DAMAGE, explain_damage, refuse_repeated_members
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import begins_with_member
from xmceval.files.io.streams import read_all_bytes, read_first_bytes
from xmceval.files.text.jsonlines import RepeatedKeyError, to_dict
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities, from_table, from_values
from xmceval.metrics.names import parse
from xmceval.rows.filters import Filter, LabelSubset, Largest
from xmceval.rows.names import Axis
from xmceval.rows.nouns import OF_LABELS, OF_QUERIES
from xmceval.rows.width import Width
from xmceval.scoring.compile import compile_program, without_propensities
from xmceval.scoring.options import UNRECORDED, Options, recorded_options, specs
from xmceval.scoring.setup.setup import NO_WEIGHTS, Program, Setup
from xmceval.scoring.state import MOST_SHARDS, NO_RANGE, State
from xmceval.scoring.tasks.task import RowTask
from xmceval.scoring.totals import MOST_LABELS, MOST_ROWS, empty, take
from xmceval.version import STATE_SCHEMA

FIRST_MEMBER = b"header.npy"  # of the archive
INTEGERS = (np.int8, np.int16, np.int32, np.int64)

Arrays = dict[str, NDArray[Any]]

# Kinds of fields: a type, a range of integers, None, a tuple of alternatives, an object with exactly these
# fields; a list of any length of one kind, or of exactly these kinds if there are several.
_COUNT = range(MOST_ROWS + 1)
_NUMBER = (int, float)
PROPENSITIES = {
    "source": str,
    "a": (*_NUMBER, None),
    "b": (*_NUMBER, None),
    "n": (range(3, MOST_ROWS), None),
    "from_truth": bool,
}
FILTER = {"name": str, "n_pairs": _COUNT, "n_rows": _COUNT}
# For each field of the header: its kind, and how to get it from a state.
HEADER: dict[str, tuple[Any, Callable[[State], Any]]] = {
    "schema": (str, lambda _: STATE_SCHEMA),
    "version": (str, lambda state: state.version),
    "options": (dict, lambda state: state.setup.options.changed()),
    "n_labels": ((range(MOST_LABELS), None), lambda state: state.setup.width.or_none),
    "n_rows": (_COUNT, lambda state: state.n_rows),
    "n_shards": (range(MOST_SHARDS + 1), lambda state: state.n_shards),
    "propensities": ((PROPENSITIES, None), lambda state: _describe(state.setup.propensities, PROPENSITIES)),
    "filter": ((FILTER, None), lambda state: _describe(state.setup.filter, FILTER)),
    "weight_unit": ((float, None), lambda state: state.setup.weight_unit if state.setup.weights is not None else None),
    "weight_range": (([float, float], None), lambda state: state.weight_range if state.weight_range[1] else None),
    "max_weight": ((float, None), lambda state: None if state.max_weight is None else float(state.max_weight)),
    "removed": ([_COUNT, _COUNT], lambda state: state.removed),
    "truth": ([str], lambda state: state.truth),
    "scores": ([str], lambda state: state.scores),
    "systems": ([str], lambda state: state.systems),
    "shards": ([range(1, MOST_SHARDS + 1)], lambda state: state.shards),
    "are_queries": (bool, lambda state: state.setup.nouns.are_of_queries),
    "inputs": ([str], lambda state: state.setup.inputs),
    "labels": (([str], None), lambda state: _list_labels(state.setup.labels)),
    "labels_by": (str, lambda state: state.setup.labels_by),
    "doubts": ([str], lambda state: split_doubts(state.setup.warnings)[0]),
    "facts": ([str], lambda state: split_doubts(state.setup.warnings)[1]),
}


def pack_state(state: State) -> bytes:
    """Return a state as the bytes of a file; equal states give equal bytes."""
    state = state.without_pairs()
    header = {name: find(state) for name, (_, find) in HEADER.items()}
    propensities = state.setup.propensities
    arrays = state.totals.arrays()
    if propensities is not NO_PROPENSITIES:
        numbers: NDArray[Any] = propensities.counts
        if propensities.n is None:
            numbers = propensities.inverse
        arrays |= {"propensities.ids": propensities.ids, "propensities.numbers": numbers[propensities.codes]}
    if state.setup.subset is not None:
        arrays["only_labels"] = state.setup.subset.ids
    text = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    narrow: dict[str, Any] = {}
    for name, array in arrays.items():  # integers in the narrowest type that holds them
        dtype: Any = array.dtype
        if dtype.kind in "iu":
            least = int(array.min(initial=0))
            greatest = int(array.max(initial=0))
            dtype = next(kind for kind in INTEGERS if np.iinfo(kind).min <= least and greatest <= np.iinfo(kind).max)
        narrow[name] = np.ascontiguousarray(array, dtype=dtype)
    file = io.BytesIO()
    np.savez(file, header=text, **narrow)
    return file.getvalue()


def _list_labels(axis: Axis | None) -> list[str] | None:
    if axis is None or axis.names is None:
        return None
    return [*map(str, axis.names)]


def _describe(value: Any, fields: Iterable[str]) -> dict[str, Any] | None:
    """Return some fields of a value as a dict; None without a value."""
    if value is None or value is NO_PROPENSITIES:
        return None
    return {name: getattr(value, name) for name in fields}


def load_state(path: str | Path) -> State:
    """Read the state in a file."""
    return unpack_state(read_all_bytes(to_path(path)), str(path))


def is_state(path: Path) -> bool:
    """Return whether a file is a state, valid or not: an archive whose first member is its header."""
    try:
        return begins_with_member(read_first_bytes(path, 64), FIRST_MEMBER)
    except DataError:  # a pair of npy files named by its stem, or an error that opening reports
        return False


def unpack_state(content: bytes, name: str) -> State:
    """Read a state from the bytes of a file; `name` is used in messages."""
    if not begins_with_member(content, FIRST_MEMBER):
        if content.startswith(b'{"schema": "xmceval/state/'):
            raise DataError(f"{name}: written by an older xmceval: score again")
        hint = f"(hint: score with {argument('save_state', kind='FILE')} writes one)"
        raise DataError(f"{name}: not a state of xmceval {hint}")
    try:
        arrays = _read_arrays(content)
    except DAMAGE as error:
        reason = f": {error}" if isinstance(error, DataError) else explain_damage(error)
        raise DataError(f"{name}: the state is damaged or cut short{reason} (hint: save it again)") from error
    try:
        header = _read_header(arrays.pop("header"))
        setup = _restore_setup(header, arrays, name)
        setup.program.check_mergeable("a state")
        n_needed = sum(task.numbers_per_row(setup) for task in setup.program.row_tasks)
        if n_needed > sum(array.size for array in arrays.values()):
            raise DataError("there are too few numbers for its metrics and bins")  # before allocating memory
        totals = empty(setup)
        totals.fill(arrays)
        fields: dict[str, Any] = {field: header[field] for field in ("version", "n_rows", "n_shards", "max_weight")}
        fields |= {field: tuple(header[field]) for field in ("truth", "scores", "systems", "shards", "removed")}
        state = State(name, setup, totals, weight_range=tuple(header["weight_range"] or NO_RANGE), **fields)
        if arrays:
            raise DataError(f"there is no array {min(arrays)}")
        _check_sizes(state)
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        reason = f": {error}" if isinstance(error, (XmcevalError, RepeatedKeyError)) else ""
        raise DataError(f"{name}: the state is not one of xmceval{reason}") from error
    return state


def _read_arrays(content: bytes) -> Arrays:
    """Return the arrays of an archive by name: integers as int64, others as float64."""
    arrays: Arrays = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        refuse_repeated_members(archive)
        members = archive.infolist()
        is_plain = all(member.compress_type == zipfile.ZIP_STORED for member in members)
        if not is_plain or sum(member.file_size for member in members) > len(content):
            raise DataError("its arrays are compressed")  # they could expand to any size
        for member in members:
            name = member.filename.removesuffix(".npy")
            item = archive.read(member)
            stream = io.BytesIO(item)
            if np.lib.format.read_magic(stream) != (1, 0):
                raise DataError(f"{name} is not an array as numpy.savez writes it")
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
            if dtype.kind not in "iuf" or is_fortran:
                raise DataError(f"{name} has no numbers")
            numbers = np.frombuffer(item, dtype, offset=stream.tell()).reshape(shape)  # no more than stored
            arrays[name] = numbers.astype(np.float64 if dtype.kind == "f" else np.int64)
    return arrays


def _read_header(text: NDArray[Any]) -> dict[str, Any]:
    """Parse the header from its bytes, int64 [n_bytes], checking the kind of every field."""

    def refuse_constant(constant: str) -> Any:
        raise DataError(f"{constant} is no number of JSON")

    try:
        header = json.loads(text.astype(np.uint8).tobytes(), parse_constant=refuse_constant, object_pairs_hook=to_dict)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError("its header is not JSON") from error
    if not isinstance(header, dict) or not str(header.get("schema")).startswith("xmceval/state/"):
        raise DataError("has no header of a state")
    if header["schema"] != STATE_SCHEMA:
        raise DataError(
            f"it has the schema {header['schema'][:40]}, of xmceval {str(header.get('version'))[:20]}; expected "
            f"{STATE_SCHEMA} (hint: score again, or merge with the version that saved it)"
        )
    for name in sorted(HEADER.keys() ^ header.keys()):
        raise DataError(f"{name}: {'is missing' if name in HEADER else 'is no field'}")
    for name, (kind, _) in HEADER.items():
        if not _fits(header[name], kind):
            raise DataError(f"{name}: cannot be {str(header[name])[:40]!r}")
    return header


def _fits(value: Any, kind: Any) -> bool:
    """Return whether a JSON value has a kind, as in HEADER."""
    if isinstance(kind, tuple):
        return any(_fits(value, one) for one in kind)
    if isinstance(kind, list):
        if not isinstance(value, list):
            return False
        kinds = kind
        if len(kind) == 1:  # of every item
            kinds = kind * len(value)
        return len(value) == len(kinds) and all(map(_fits, value, kinds))
    if isinstance(kind, dict):
        is_object = isinstance(value, dict) and value.keys() == kind.keys()
        return is_object and all(_fits(value[name], field) for name, field in kind.items())
    if isinstance(kind, range):
        return type(value) is int and value in kind
    if kind is None:
        return value is None
    return type(value) is kind


def _restore_options(changed: Mapping[str, Any]) -> Options:
    """Restore recorded options; metrics and cutoffs are listed singly, since a range could have any length."""
    kinds: dict[type, Any] = {bool: bool, int: range(MOST_LABELS), float: _NUMBER, list: [str]}
    special: dict[str, Any] = {
        "k": [range(MOST_ROWS)],
        "by_frequency": (range(MOST_ROWS), str, [(range(MOST_ROWS), str)]),
        "threshold": _NUMBER,
    }
    for name, value in changed.items():
        if name == "threshold" and value in ("inf", "-inf"):  # JSON has none
            continue
        spec = specs().get(name)
        if spec is None or name in UNRECORDED or not _fits(value, special.get(name) or kinds.get(spec.kind, str)):
            raise DataError(f"options: {name} cannot be {str(value)[:40]!r}")
    for text in changed.get("metrics", ()):
        _, at, tail = text.rpartition("@")
        names = list[str]()
        if not at or not tail or tail.replace(".", "", 1).isalnum():
            names = [str(measure) for measure in parse([text], [])]
        if names != [text]:
            raise DataError(f"metrics: {text[:40]!r} is not the name of one metric, with its cutoff")
    return recorded_options(changed)


def _restore_setup(header: Mapping[str, Any], arrays: Arrays, name: str) -> Setup:
    """Restore the setup; weights are reduced to their unit, and a filter has no pairs."""
    options = _restore_options(header["options"])
    propensities = _restore_propensities(header["propensities"], arrays)
    program: Program | None = compile_program(options.measures)
    if program is not None and propensities is NO_PROPENSITIES:  # there were too few training rows
        program = without_propensities(program)
    if program is None:
        raise DataError("propensities: its metrics need them")
    unit = header["weight_unit"]
    max_weight = header["max_weight"]
    least, greatest = header["weight_range"] or (1.0, 1.0)
    numbers = [number for number in (least, greatest, unit, max_weight) if number is not None]
    is_power_of_two = unit is None or math.frexp(unit)[0] == 0.5
    if not all(0 < number < np.inf for number in numbers) or least > greatest or not is_power_of_two:
        raise DataError("weight_range, weight_unit and max_weight: do not describe sample weights")
    weights = None
    if unit is not None:
        weights = NO_WEIGHTS
    pairs = None
    if header["filter"] is not None:
        pairs = Filter(header["filter"]["name"], header["filter"]["n_pairs"], header["filter"]["n_rows"])
    subset = None
    if options.only_labels is not None:
        ids = take(arrays, "only_labels", "i", (-1,), 0, MOST_LABELS)
        if not ids.size or (np.diff(ids) <= 0).any():
            raise DataError("only_labels do not ascend, or there is none")
        subset = LabelSubset(ids, name, Largest(int(ids[-1]), name))
    labels = None
    if header["labels"] is not None:
        labels = Axis.of(name, "label", header["labels"])
    setup = Setup(
        options=options,
        program=program,
        has_grades=options.grades,
        propensities=propensities,
        weights=weights,
        weight_unit=unit or 1.0,
        filter=pairs,
        subset=subset,
        nouns=OF_QUERIES if header["are_queries"] else OF_LABELS,
        inputs=tuple(header["inputs"]),
        labels=labels,
        labels_by=header["labels_by"],
        warnings=(*map(Doubt, header["doubts"]), *header["facts"]),
    )
    if header["n_labels"] is None:
        return setup
    return setup.with_width(Width(header["n_labels"], f"{name} has"))


def _restore_propensities(described: Mapping[str, Any] | None, arrays: Arrays) -> Propensities:
    """Restore propensities from the stored training rows of each label, or the stored inverse propensities."""
    if described is None:
        return NO_PROPENSITIES
    if len({described[name] is None for name in "abn"}) > 1:
        raise DataError("propensities: expected all of a, b and n, or none")
    source, a, b, n = (described[name] for name in ("source", "a", "b", "n"))
    ids = take(arrays, "propensities.ids", "i", (-1,), 0, MOST_LABELS)
    if n is None:
        numbers = take(arrays, "propensities.numbers", "f", (-1,))
        propensities = from_values(numbers, source)
    else:
        numbers = take(arrays, "propensities.numbers", "i", (-1,), 0, n)
        propensities = from_table(numbers, n, source, a, b, from_truth=described["from_truth"])
    if ids.size not in {0, numbers.size} or not (np.diff(ids) > 0).all():
        raise DataError("propensities: their labels do not ascend, or are not as many as their numbers")
    return replace(propensities, ids=ids)


def _check_sizes(state: State) -> None:
    """Refuse inconsistent numbers of rows, shards and labels."""
    setup = state.setup
    tally = state.totals.tally
    n_rows = state.n_rows
    shards = state.shards
    if sorted(set(shards)) != list(shards) or bool(shards) != bool(state.n_shards):
        raise DataError("shards: expected numbers that ascend, and how many shards there are")
    if max(shards, default=0) > state.n_shards:
        raise DataError(f"shards: cannot be {max(shards)} of {state.n_shards}")
    if len({bool(names) for names in (state.truth, state.scores, state.systems)}) > 1:
        raise DataError("truth, scores and systems: expected names of what was scored")
    n_counted = tally.n_instances(drop_empty=setup.drop_empty)
    if n_counted > n_rows or (setup.weights is None and n_counted < n_rows):
        raise DataError(f"n_rows: {n_rows:,} rows, of which {n_counted:,} are counted")
    parts = zip(setup.program.tasks, state.totals.parts, strict=True)
    if any((part["left_out"] > tally.n_rows).any() for task, part in parts if isinstance(task, RowTask)):
        raise DataError(f"more rows are left out than the {tally.n_rows:,} that were scored")
    pairs = setup.filter
    largest = tally.whole.largest_label
    if pairs is not None:
        has_rows = bool(pairs.n_rows) or not pairs.n_pairs
        if not has_rows or pairs.n_rows > min(pairs.n_pairs, n_rows):
            raise DataError(f"filter: {pairs.n_pairs:,} pairs in {pairs.n_rows:,} of {n_rows:,} rows")
    if not setup.nouns.are_of_queries:
        setup.width.check_cutoff(setup.program.deepest)
    if largest >= setup.width.n_labels:
        raise DataError(f"n_labels: {setup.width.n_labels:,}, but there is label {largest}")
    if not setup.width.is_known and n_rows and (setup.program.needing_labels or setup.options.by_frequency is not None):
        raise DataError("n_labels: its metrics or bins need the number of labels")
