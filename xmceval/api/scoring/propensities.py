"""Propensities: found in the source that the options name, or estimated from training labels or the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from xmceval.api.scoring.inputs import are_same, check_numbers, open_truth, take_numbers
from xmceval.errors import DataError, Doubt, UsageError, argument, counted, listed
from xmceval.files.io.paths import to_path
from xmceval.files.opened import Opened
from xmceval.labels.catalogue import find_dataset
from xmceval.labels.counts import count_labels
from xmceval.labels.propensity import Propensities, constants, from_counts, from_label_counts, from_values
from xmceval.rows.matrices.frames import rows_of
from xmceval.rows.readings import Axis, find_order, say_how
from xmceval.rows.width import Width
from xmceval.scoring.compile import without_propensities
from xmceval.scoring.options import Options
from xmceval.scoring.program import Program


@dataclass(frozen=True)
class PropensityLookup:
    """The propensities that options lead to, and the number of labels that their source declares."""

    width: Width
    propensities: Propensities | None  # None where there are too few rows to estimate them
    inputs: tuple[str, ...] = ()
    labels: Axis | None = None  # those that the training labels name
    warnings: tuple[str, ...] = ()


def find_propensities(options: Options, train: Any, truth: Opened | None, width: Width) -> PropensityLookup:
    """Find inverse propensities in the one source that the options name, or else estimate them from the truth.

    There is no truth where its rows come in batches; the options then name a source. The shards of the training labels
    are found.
    """
    a, b = constants(None if options.dataset is None else find_dataset(options.dataset), options.a, options.b)
    if options.inverse_propensities is not None:
        return _take(options, truth, "inverse_propensities", width, from_values)
    if options.counts is not None:
        return _take(options, truth, "counts", width, partial(from_counts, n_train=options.n_train or 0, a=a, b=b))
    return _estimate_propensities(options, train, truth, width, a, b)


def _take(
    options: Options, truth: Opened | None, option: str, width: Width, convert: Callable[..., Propensities]
) -> PropensityLookup:
    """Take a number per label from an option; a Series of pandas names the labels in its index."""
    passed, order = getattr(options, option), None
    known = (None if truth is None else truth.labels) or Axis("y_true", "label")
    labels = replace(rows_of(passed, option), noun="label", is_index=True)
    if labels.names is not None:
        order = find_order(known, labels)
    numbers, name = take_numbers(passed, option)
    line = f"{name}: {counted(numbers.size, 'number')}; labels by {say_how(known, labels, 'number')}"
    values = numbers if order is None else numbers[order]
    labels = labels if order is None else known
    return PropensityLookup(width.agree(values.size, name), convert(values, source=name), (line,), labels)


def _estimate_propensities(
    options: Options, train: Any, truth: Opened | None, width: Width, a: float, b: float
) -> PropensityLookup:
    """Estimate from the frequencies of the training labels, or of the truth where there are none."""
    warnings, training, inputs, labels = list[str](), truth, tuple[str, ...](), None
    if train is not None or training is None:
        training = open_truth(train, options, "train", first=truth, width=width)
        check_numbers(truth, training)
        inputs, labels = (training.line,), training.labels
    source = training.source
    if train is not None and source.n_labels is not None:
        width = width.agree(source.n_labels, source.name)
    is_truth = truth is not None and (train is None or are_same(source, truth.source))
    if truth is not None and train is None:
        warnings.append(
            Doubt(
                f"propensities are estimated from {source.name} itself: not comparable with published values "
                f"(hint: pass {argument('train', kind='FILE')})"
            )
        )
    elif truth is not None and is_truth:
        warnings.append(
            Doubt(f"the training labels are {truth.source.name} itself: not comparable with published values")
        )
    counts = count_labels(source, width=width, threads=options.threads, may_merge=True)
    if train is not None:
        warnings.extend(source.warnings)
    if counts.n_rows < 3:
        warnings.append(
            f"{source.name} has {counted(counts.n_rows, 'row')}: too few for propensities, so the metrics "
            "that need them are left out"
        )
        return PropensityLookup(width, None, inputs, labels, tuple(warnings))
    propensities = from_label_counts(counts, to_path(source.name).name, a, b, from_truth=is_truth)
    return PropensityLookup(width, propensities, inputs, labels, tuple(warnings))


def fit_program(program: Program, lookup: PropensityLookup) -> Program:
    """Return the program without the measures for which there are no propensities."""
    propensities = lookup.propensities
    asking = [measure for measure in program.measures if measure.option("over") == "train"]
    if asking and (propensities is None or not propensities.from_training):
        raise UsageError(
            f"{listed(asking)}: over=train needs training labels "
            f"(hint: pass {argument('train')} or {argument('counts')})"
        )
    if propensities is not None or not program.needs_propensities:
        return program
    rest = without_propensities(program)
    if rest is None:
        raise DataError(lookup.warnings[-1])
    return rest
