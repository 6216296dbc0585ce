"""Find the propensities of a score: from training labels, counts or given numbers, or else from the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from xmceval.errors import Doubt, argument, counted
from xmceval.files.io.paths import name_of, to_path
from xmceval.files.opened import Opened
from xmceval.labels.catalogue import find_dataset
from xmceval.labels.counts import count_labels
from xmceval.labels.propensity import (
    ITSELF,
    NO_PROPENSITIES,
    Propensities,
    constants,
    from_counts,
    from_table,
    from_values,
)
from xmceval.rows.checks import LARGEST_GRADE
from xmceval.rows.matrices.frames import rows_of
from xmceval.rows.names import Axis, find_order, first_named, say_how
from xmceval.scoring.setup.inputs import are_same, open_truth, take_numbers
from xmceval.scoring.setup.joins import KnownLabels, check_numbers
from xmceval.scoring.setup.setup import Setup


def add_propensities(setup: Setup, train: Any, truth: Opened | None, known: KnownLabels) -> Setup:
    """Add inverse propensities from the source named in the options, or else estimated from the truth."""
    options = setup.options
    a, b = constants(None if options.dataset is None else find_dataset(options.dataset), options.a, options.b)
    if options.inverse_propensities is not None:
        return _take_propensities(setup, "inverse_propensities", known, from_values)
    if options.counts is not None:
        convert = partial(from_counts, n_train=options.n_train or 0, a=a, b=b)
        return _take_propensities(setup, "counts", known, convert)
    if train is None and truth is not None:
        return _estimate(setup, truth, a, b, from_truth=True)
    training = open_truth(train, options, replace(known, width=setup.width), name="train", first=truth)
    source = training.source
    if truth is not None:
        check_numbers(known.listed, truth, training)
    is_truth = truth is not None and are_same(source, truth.source)
    warnings = setup.warnings
    if is_truth:
        warnings = (*warnings, Doubt(f"the training labels are {source.name} {ITSELF}"))
    width = setup.width
    if source.n_labels is not None:
        width = width.agree(source.n_labels, source.name)
    setup = replace(
        setup,
        width=width,
        warnings=warnings,
        inputs=(training.line,),
        labels=known.named_by(training.labels).named_axis,
    )
    return _estimate(setup, training, a, b, from_truth=is_truth, are_training=True)


def _estimate(
    setup: Setup, training: Opened, a: float, b: float, *, from_truth: bool, are_training: bool = False
) -> Setup:
    """Add propensities estimated from the frequencies of labels in training rows, or in the truth."""
    source = training.source
    warnings = list(setup.warnings)
    if not are_training and setup.program.needs_propensities:  # bins say themselves that they are of it
        hint = f"(hint: pass {argument('train', kind='FILE')})"
        warnings.append(Doubt(f"propensities are estimated from {source.name} {ITSELF} {hint}"))
    has_grades = setup.options.grades or training.has_grades
    counts = count_labels(
        source,
        width=setup.width,
        threads=setup.options.threads,
        largest=LARGEST_GRADE if has_grades else 1.0,
        may_merge=True,
        may_be_fractions=setup.options.grades,
        are_training=are_training,
    )
    if are_training:
        warnings.extend(source.warnings)
    propensities = NO_PROPENSITIES
    if counts.n_rows >= 3:
        ids, table = counts.table()
        name = name_of(to_path(source.name))
        propensities = from_table(table, counts.n_rows, name, a, b, ids=ids, from_truth=from_truth)
    else:
        warnings.append(
            f"{source.name} has {counted(counts.n_rows, 'row')}: too few for propensities, so the metrics "
            "that need them are left out"
        )
    return replace(setup, propensities=propensities, warnings=tuple(warnings))


def _take_propensities(setup: Setup, option: str, known: KnownLabels, convert: Callable[..., Propensities]) -> Setup:
    """Add propensities from one number per label; a pandas Series names the labels in its index."""
    passed = getattr(setup.options, option)
    labels = replace(rows_of(passed, option), noun="label", is_index=True)
    axis = known.axis_for(labels) or Axis("y_true", "label")
    values, name = take_numbers(passed, option)
    line = f"{name}: {counted(values.size, 'number')}; labels by {say_how(axis, labels, 'number')}"
    if labels.names is not None:
        order = find_order(axis, labels)
        if order is not None:
            values = values[order]
            labels = axis
    return replace(
        setup,
        width=setup.width.agree(values.size, name),
        propensities=convert(values, source=name),
        inputs=(line,),
        labels=first_named(None, labels),
    )
