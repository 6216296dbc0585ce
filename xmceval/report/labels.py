"""Values by label, computed from the counts of a result when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import UsageError, argument, listed, plural
from xmceval.report.forms.data import import_pandas
from xmceval.report.scored import Scored
from xmceval.report.sheet import Layout, write

if TYPE_CHECKING:
    from pandas import DataFrame

AT_ONCE = 1 << 14  # labels whose values are written together
MOST_NAMED = 3  # worst labels, and best ones


class ResultLabels(dict[str, NDArray[Any]]):
    """Values of labels by column: ``result.labels["F1@5"]`` is float64 [n].

    The columns are ``label``, ids that ascend; ``name``, where labels have names; ``train``, the training rows of each
    label, where metrics or bins needed them; ``positives``; and at each cutoff ``tp@5``, ``fp@5``, ``fn@5``,
    ``precision@5``, ``recall@5`` and ``F1@5``, for decisions without a cutoff. Counts are whole numbers, with sample
    weights float64.

    Only labels that are true in some row, or predicted within the largest cutoff, are listed. A rate of 0/0, such as
    the precision of a label that is never predicted, is 0, or what `zero=` says if all of the metrics have the same;
    NaN for ``skip``. So the mean of ``F1@5`` is macroF1@5 if all labels are listed, as each other one has 0/0.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> labels = xmceval.score(np.eye(3), np.eye(3)[[0, 2, 1]], metrics="macroF1", k=1).labels
    >>> labels["tp@1"], labels["F1@1"]
    (array([1, 0, 0]), array([1., 0., 0.]))
    """

    def to_frame(self) -> DataFrame:
        """Return the values as a pandas DataFrame: a line per label, indexed by its id, a column for each other column.

        Raises
        ------
        DataError
            pandas is not installed.
        """
        frame: DataFrame = import_pandas().DataFrame(self).set_index("label")
        return frame


def check_counted(tasks: Sequence[Any], what: str) -> None:
    """Refuse values by label, which `what` asks for, unless one task counts labels."""
    if not tasks:
        raise UsageError(
            f"{what}: nothing is counted by label (hint: ask for a metric such as {argument('metrics', 'macroF1')}; of "
            "several runs, each run has its own counts)"
        )
    if len(tasks) > 1:
        measures = listed((measure for task in tasks for measure in task.measures), "and")
        raise UsageError(f"{what}: {measures} count labels in different ways (hint: score them separately)")


def list_labels(result: Scored, n: int = AT_ONCE) -> Iterator[ResultLabels]:
    """Yield the values by label of a result, of at most `n` labels at a time; at least once."""
    task, part, n_rows = result.held_labels[0]
    if part.rows != n_rows:
        raise UsageError("more rows were added since this result (hint: read labels before the next update)")
    names = result.label_names.listed
    propensities = result.propensities
    for values in task.by_label(part, n, result.counts.n_labels):
        places = values["label"]
        ids = places
        if result.label_ids is not None:
            ids = result.label_ids[places]
        columns = ResultLabels(label=ids)
        if names:
            columns["name"] = np.array([str(names[label]) for label in ids.tolist()], dtype=object)
        if propensities is not None and propensities.from_training:
            columns["train"] = propensities.counts[propensities.codes_of(places)]
        columns |= {name: column for name, column in values.items() if name != "label"}
        yield columns


def describe_labels(result: Scored, layout: Layout) -> Iterator[str]:
    """Yield which labels, of those that are true in some row, have the least and the greatest F1.

    Of equal ones those with more positives come first.
    """
    found = []
    for labels in list_labels(result):
        *_, last = labels
        found.append((labels.get("name", labels["label"]), labels["positives"], labels[last]))
    names, n_true, rates = map(np.concatenate, zip(*found, strict=True))
    for word, signed in (("worst", rates), ("best", -rates)):
        order = np.lexsort((-n_true, signed))
        first = order[n_true[order] > 0][:MOST_NAMED]
        texts = [f"{names[place]} {write(rates[place], layout.spec('share'))}" for place in first]
        if texts:
            yield f"{word} {plural(result.nouns.label)} by {last}: {', '.join(texts)}"
