"""State documents: states as JSON and int64 arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from xmceval.errors import DataError
from xmceval.labels.bins import Bin, Bins
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.rows.block import Int64
from xmceval.rows.filters import Filter, Largest
from xmceval.rows.width import Width
from xmceval.scoring.batch import NO_WEIGHTS, Terms
from xmceval.scoring.options import Options
from xmceval.scoring.program import compile_program
from xmceval.scoring.state import WHAT, Part, State
from xmceval.scoring.totals import empty


def as_document(state: State, *, whole: bool = True) -> tuple[dict[str, Any], dict[str, Int64]]:
    """Return the state as JSON and arrays.

    Parameters
    ----------
    state : State
    whole : bool
        Include propensities and filter, so that more rows can be scored; otherwise they are included only where
        finishing needs them.

    Raises
    ------
    UsageError
        Metrics whose totals grow with the rows.
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
        "propensities": _describe_propensities(terms.propensities),
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
    arrays = {f"tally.{name}": each for name, each in state.totals.tally.arrays().items()}
    for number, part in enumerate(state.totals.parts):
        arrays |= {f"{number}.{name}": each for name, each in part.arrays().items()}
    if terms.filter is not None:
        arrays |= {"filter.rows": terms.filter.rows, "filter.labels": terms.filter.labels}
    return document, arrays | (dict(_tables(terms)) if whole else {})


def restore(document: Mapping[str, Any], arrays: Mapping[str, Int64], name: str) -> State:
    """Return the state that a document and arrays describe.

    Raises
    ------
    DataError
        A document that lacks something, or arrays of other sizes than its metrics have.
    """
    try:
        return _restore(document, arrays, name)
    except (KeyError, TypeError, ValueError, OverflowError, LookupError) as error:
        raise DataError(f"{name}: the state is not one of xmceval {document.get('version')} ({error})") from None


def recorded_options(changed: Mapping[str, Any]) -> Options:
    """Return the options that were recorded so: with the names of files and arrays in their place."""
    numbers = {"threshold": float(changed["threshold"])} if "threshold" in changed else {}
    return Options(**{**changed, **numbers})


def _restore(document: Mapping[str, Any], arrays: Mapping[str, Int64], name: str) -> State:
    options = recorded_options(document["options"])
    measures = {str(measure): measure for measure in options.measures}
    program = compile_program([measures[each] for each in document["metrics"]])
    program.check_mergeable(WHAT)
    terms = _restore_terms(document, arrays, options)
    totals = empty(program, terms)
    for prefix, part in (("tally", totals.tally), *((str(i), part) for i, part in enumerate(totals.parts))):
        part.fill({each[len(prefix) + 1 :]: array for each, array in arrays.items() if each.startswith(f"{prefix}.")})
    least, greatest = map(float.fromhex, document["weight_range"])
    from_truth, from_scores = map(int, document["removed"])
    return State(
        name,
        options,
        program,
        terms,
        totals,
        parts=tuple(Part(**{**each, "shard": each["shard"] and tuple(each["shard"])}) for each in document["parts"]),
        warnings=tuple(map(str, document["warnings"])),
        notes=tuple(map(str, document["notes"])),
        weight_range=(least, greatest),
        max_weight=None if document["max_weight"] is None else float.fromhex(document["max_weight"]),
        removed=(from_truth, from_scores),
        version=str(document["version"]),
        is_whole=bool(document["is_whole"]),
    )


def _restore_terms(document: Mapping[str, Any], arrays: Mapping[str, Int64], options: Options) -> Terms:
    n_labels, unit = document["n_labels"], document["weight_unit"]
    bins = document["bins"]
    if bins is not None:
        bins = Bins(tuple(Bin(**each) for each in bins), arrays["bins.by_code"])
    return Terms(
        width=Width() if n_labels is None else Width(int(n_labels), str(document["declared_by"])),
        propensities=_restore_propensities(document["propensities"], arrays),
        weights=None if unit is None else NO_WEIGHTS,
        weight_unit=1.0 if unit is None else float.fromhex(unit),
        filter=_restore_filter(document["filter"], arrays),
        filter_truth=options.filter_truth,
        drop_empty=options.empty_rows == "drop",
        zero_unscored=options.unscored == "zero",
        threshold=float.fromhex(document["threshold"]),
        ties=options.ties,
        bins=bins,
    )


PROPENSITY_TABLES = ("inverse", "codes", "ids", "table_counts")
MODEL = ("source", "a", "b", "n", "from_truth")


def _describe_propensities(propensities: Propensities) -> dict[str, Any] | None:
    if propensities is NO_PROPENSITIES:
        return None
    return {"digest": propensities.digest, **{name: getattr(propensities, name) for name in MODEL}}


def _tables(terms: Terms) -> Iterator[tuple[str, Int64]]:
    """Yield the tables of propensities and bins as int64 arrays."""
    if terms.propensities is not NO_PROPENSITIES:
        for name in PROPENSITY_TABLES:
            table = getattr(terms.propensities, name)
            if table is not None:
                yield f"propensities.{name}", table.view(np.int64) if table.dtype.kind == "f" else table
    if terms.bins is not None:
        yield "bins.by_code", terms.bins.by_code


def _restore_propensities(described: Mapping[str, Any] | None, arrays: Mapping[str, Int64]) -> Propensities:
    if described is None:
        return NO_PROPENSITIES
    inverse, codes, ids, counts = (arrays.get(f"propensities.{name}") for name in PROPENSITY_TABLES)
    model = {name: described[name] for name in MODEL}
    no_ids = np.empty(0, dtype=np.int64)
    propensities = Propensities(
        np.ones(1) if inverse is None else inverse.view(np.float64),
        np.empty(0, dtype=np.int32) if codes is None else codes.astype(np.int32),
        ids=no_ids if ids is None else ids,
        table_counts=counts,
        **model,
    )
    propensities.__dict__["digest"] = str(described["digest"])  # what the cached property returns
    return propensities


def _describe_filter(pairs: Filter) -> dict[str, Any]:
    return {
        "name": pairs.name,
        "repeated": pairs.repeated,
        "last_row": asdict(pairs.last_row),
        "last_label": asdict(pairs.last_label),
    }


def _restore_filter(described: Mapping[str, Any] | None, arrays: Mapping[str, Int64]) -> Filter | None:
    if described is None:
        return None
    last = (Largest(**described[each]) for each in ("last_row", "last_label"))
    rows, labels = arrays["filter.rows"], arrays["filter.labels"]
    return Filter(str(described["name"]), rows, labels, int(described["repeated"]), *last)


def _needs_tables(state: State) -> bool:
    """Whether values depend on which labels have which propensity, beyond the sums over rows."""
    measures = state.program.measures
    return state.terms.bins is not None or any(measure.option("over") == "train" for measure in measures)
