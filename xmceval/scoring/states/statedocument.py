"""State documents: states as JSON and int64 arrays, as bytes or in files, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, listed
from xmceval.files.saved.statefiles import from_bytes, read_state, to_bytes
from xmceval.labels.bins import Bin, Bins
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities, shortest
from xmceval.rows.block import Int64
from xmceval.rows.filters import Filter, Largest
from xmceval.rows.width import Width
from xmceval.scoring.batch import NO_WEIGHTS, Terms
from xmceval.scoring.options import Options
from xmceval.scoring.program import Program, compile_program
from xmceval.scoring.states.state import WHAT, State
from xmceval.scoring.states.statefields import PROPENSITIES, read_fields
from xmceval.scoring.states.stateparts import StatePart, check_parts
from xmceval.scoring.states.stored import MOST_LABELS, MOST_ROWS, refuse_rest, take
from xmceval.scoring.tasks.task import RowTask
from xmceval.scoring.totals import Totals, empty


def dump_state(state: State, *, whole: bool = True) -> bytes:
    """Return the state as bytes; see `as_document`."""
    return to_bytes(*as_document(state, whole=whole))


def load_state(content: bytes, name: str) -> State:
    """Return the state that bytes hold."""
    return restore(*from_bytes(content), name)


def open_state(path: str | Path) -> State:
    """Return the state in a file."""
    return restore(*read_state(path), str(path))


def as_document(state: State, *, whole: bool = True) -> tuple[dict[str, Any], dict[str, Int64]]:
    """Return the state as JSON and int64 arrays by name, each in its own shape.

    Parameters
    ----------
    state : State
    whole : bool
        Include propensities and filter, so that more rows can be scored; otherwise they are included only where
        finishing needs them.
    """
    state.program.check_mergeable(WHAT)
    terms, width = state.terms, state.terms.width
    whole = state.is_whole and (whole or _needs_tables(state))
    document = {
        "version": state.version,
        "name": state.name,
        "metrics": state.configuration["metrics"],
        "options": state.options.changed(),
        "n_labels": width.or_none,
        "declared_by": width.declared_by,
        "propensities": describe_propensities(terms.propensities),
        "bins": None if terms.bins is None else [asdict(each) for each in terms.bins.bins],
        "filter": None if terms.filter is None else _describe_filter(terms.filter),
        "threshold": float(terms.threshold).hex(),
        "weight_unit": None if terms.weights is None else float(terms.weight_unit).hex(),
        "weight_range": [float(each).hex() for each in state.weight_range],
        "max_weight": None if state.max_weight is None else float(state.max_weight).hex(),
        "removed": list(state.removed),
        "parts": [asdict(part) for part in state.parts],
        "warnings": list(state.warnings),
        "notes": list(state.notes),
        "is_whole": whole,
    }
    arrays = state.totals.arrays()
    if terms.filter is not None:
        arrays |= {"filter.rows": terms.filter.rows, "filter.labels": terms.filter.labels}
    return document, arrays | (dict(_tables(terms)) if whole else {})


def restore(document: Mapping[str, Any], arrays: Mapping[str, Int64], name: str) -> State:
    """Return the state that a document and arrays describe."""
    try:
        left = dict(arrays)
        state = _restore(read_fields(document), left, name)
        refuse_rest(left)
    except (ValueError, OverflowError, LookupError) as error:
        raise DataError(f"{name}: the state is not one of xmceval: {error}") from None
    return state


def recorded_options(changed: Mapping[str, Any]) -> Options:
    """Return the options that were recorded so: with the names of files and arrays in their place."""
    numbers = {"threshold": float(changed["threshold"])} if "threshold" in changed else {}
    return Options(**{**changed, **numbers})


def _restore(fields: Mapping[str, Any], arrays: dict[str, Int64], name: str) -> State:
    options = recorded_options(fields["options"])
    asked = {str(measure) for measure in options.measures}
    strange = [measure for measure in fields["metrics"] if str(measure) not in asked]
    if strange or len(set(fields["metrics"])) < len(fields["metrics"]):
        raise ValueError(f"metrics: {listed(strange or fields['metrics'])} are not those of the options")
    program = compile_program(fields["metrics"])
    program.check_mergeable(WHAT)
    terms = _restore_terms(fields, arrays, options)
    state = State(
        name,
        options,
        program,
        terms,
        _restore_totals(program, terms, arrays),
        parts=tuple(StatePart(**each) for each in fields["parts"]),
        **{each: fields[each] for each in ("warnings", "notes", "weight_range", "removed", "max_weight", "is_whole")},
        version=fields["version"],
    )
    _check_sizes(state)
    return state


def _restore_totals(program: Program, terms: Terms, arrays: dict[str, Int64]) -> Totals:
    """Return the totals that arrays hold."""
    n_numbers = sum(array.size for array in arrays.values())
    if sum(program.numbers_per_row(terms)) > n_numbers:  # before room is made for them
        raise ValueError(f"{n_numbers:,} numbers are too few for its metrics and bins")
    totals = empty(program, terms)
    totals.fill(arrays)
    return totals


def _check_sizes(state: State) -> None:
    """Refuse numbers of rows and labels that contradict each other."""
    check_parts(state.parts)
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
    if not terms.width.is_known and n_rows and (state.program.needing_labels or terms.bins is not None):
        raise ValueError("n_labels: its metrics or bins need the number of labels")


def _restore_terms(fields: Mapping[str, Any], arrays: dict[str, Int64], options: Options) -> Terms:
    n_labels, unit = fields["n_labels"], fields["weight_unit"]
    propensities = _restore_propensities(fields["propensities"], arrays, is_whole=fields["is_whole"])
    return replace(
        Terms.of(options),
        width=Width() if n_labels is None else Width(n_labels, fields["declared_by"]),
        propensities=propensities,
        weights=None if unit is None else NO_WEIGHTS,
        weight_unit=1.0 if unit is None else unit,
        filter=_restore_filter(fields["filter"], arrays),
        threshold=fields["threshold"],
        bins=_restore_bins(fields["bins"], propensities, arrays),
    )


def _restore_bins(described: Any, propensities: Propensities, arrays: dict[str, Int64]) -> Bins | None:
    if described is None:
        return None
    by_code = take(arrays, "bins.by_code", (propensities.inverse.size,), 0, len(described) - 1)
    return Bins(tuple(Bin(**each) for each in described), by_code)


def describe_propensities(propensities: Propensities) -> dict[str, Any] | None:
    """Return where propensities come from, as JSON; None where there are none."""
    if propensities is NO_PROPENSITIES:
        return None
    return {name: getattr(propensities, name) for name in PROPENSITIES}


def _tables(terms: Terms) -> Iterator[tuple[str, Int64]]:
    """Yield the tables of propensities and bins as int64 arrays."""
    propensities = terms.propensities
    if propensities is not NO_PROPENSITIES:
        yield "propensities.inverse", propensities.inverse.view(np.int64)
        yield "propensities.codes", propensities.codes.astype(np.int64)
        yield "propensities.ids", propensities.ids
        counts = propensities.table_counts
        yield "propensities.table_counts", _NO_COUNTS if counts is None else counts
    if terms.bins is not None:
        yield "bins.by_code", terms.bins.by_code


def _restore_propensities(described: Any, arrays: dict[str, Int64], *, is_whole: bool) -> Propensities:
    """Return propensities with their tables, or without where no more rows can be scored."""
    if described is None:
        return NO_PROPENSITIES
    model = {name: value for name, value in described.items() if name != "digest"}
    if len({described[name] is None for name in "abn"}) > 1 or (described["from_truth"] and described["n"] is None):
        raise ValueError("propensities: expected all of a, b and n, or none")
    if not is_whole:
        propensities = Propensities(np.ones(1), np.empty(0, dtype=np.uint16), **model)
        propensities.__dict__["digest"] = described["digest"]  # what the cached property returns
        return propensities
    inverse = take(arrays, "propensities.inverse", (-1,)).view(np.float64)
    codes = take(arrays, "propensities.codes", (-1,), 0, inverse.size - 1)
    ids = take(arrays, "propensities.ids", (-1,), 0, MOST_LABELS)
    counts = take(arrays, "propensities.table_counts", (-1,), 0, MOST_ROWS)
    propensities = Propensities(
        inverse, shortest(codes, inverse.size), ids=ids, table_counts=counts if counts.size else None, **model
    )
    is_right = ((inverse >= 1) & (inverse < np.inf)).all() and (inverse[1:] <= inverse[:-1]).all() and inverse.size
    are_counts = (counts.size in {0, inverse.size}) and (counts[1:] > counts[:-1]).all()
    if not is_right or not are_counts or ids.size not in {0, codes.size} or (ids[1:] <= ids[:-1]).any():
        raise ValueError("propensities: their tables do not fit together")
    if propensities.digest != described["digest"]:
        raise ValueError("propensities.digest: is not that of the tables")
    return propensities


def _describe_filter(pairs: Filter) -> dict[str, Any]:
    return {
        "name": pairs.name,
        "repeated": pairs.repeated,
        "last_row": asdict(pairs.last_row),
        "last_label": asdict(pairs.last_label),
    }


def _restore_filter(described: Any, arrays: dict[str, Int64]) -> Filter | None:
    if described is None:
        return None
    last_row, last_label = (Largest(**described[each]) for each in ("last_row", "last_label"))
    rows = take(arrays, "filter.rows", (-1,), 0, last_row.value)
    labels = take(arrays, "filter.labels", rows.shape, 0, last_label.value)
    if not ((rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (labels[1:] > labels[:-1]))).all():
        raise ValueError("filter: its pairs do not ascend")
    return Filter(described["name"], rows, labels, described["repeated"], last_row, last_label)


def _needs_tables(state: State) -> bool:
    """Whether values depend on which labels have which propensity, beyond the sums over rows."""
    measures = state.program.measures
    return state.terms.bins is not None or any(measure.option("over") == "train" for measure in measures)


_NO_COUNTS = np.empty(0, dtype=np.int64)
