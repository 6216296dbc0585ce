"""The Results class, which shows several systems scored on the same truth in one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from xmceval.errors import UsageError, counted, listed
from xmceval.report.displayed import fit_line, join_facts, shorten
from xmceval.report.result import OfResults, Result
from xmceval.report.scored import describe_size


class Results(OfResults, Mapping[str, Result]):
    """Results of several systems on the same truth, by name; ``str(results)`` is one table of all of them.

    It is written in other forms by ``to_json``, ``to_csv``, ``to_markdown``, ``to_latex``, ``to_html``, ``to_dict`` and
    ``to_frame``, and drawn by ``plot``.

    Parameters
    ----------
    results : iterable of Result, or mapping of str to Result
        Results of `score`, or of a loop; a mapping gives the systems its own names.

    Raises
    ------
    UsageError
        No result, two of the same name, or results on another truth or under other options.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> scored = [xmceval.score(np.eye(6), y_score, k=1, metrics="P") for y_score in (np.eye(6)[::-1], np.eye(6))]
    >>> results = xmceval.Results({"old": scored[0], "new": scored[1]})
    >>> results
    <Results of 2 systems: 6 instances, 6 labels
     P@1: new 1.0000, old 0.0000
     print() shows the table, ["old"] one Result, .to_frame() all>
    >>> results["new"]["P@1"]
    1.0
    """

    __slots__ = ("_results",)

    def __init__(self, results: Iterable[Result] | Mapping[str, Result]) -> None:
        if isinstance(results, Mapping) and not isinstance(results, Result):
            named = [
                replace(result, name=name) for name, result in zip(results, _iterate(results.values()), strict=True)
            ]
        else:
            named = list(_iterate(results))
        _check_together(named)
        self._results: dict[str, Result] = {result.name: result for result in named}

    def __getitem__(self, name: str) -> Result:
        if name not in self._results:
            raise KeyError(f"{name!r} is not one of the systems {listed(self._results)}")
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def _subject(self) -> tuple[list[Result], None]:
        return list(self.values()), None

    def _describe(self) -> tuple[str, str, str]:
        first = next(iter(self.values()))
        measure = first.figures[0].measure
        name, is_higher = measure.name, measure.metric.higher_is_better
        having = [result for result in self.values() if name in result.estimates]
        ranked = sorted(having, key=lambda result: result[name], reverse=is_higher)
        values = [f"{shorten(result.name)} {result[name]:.4f}" for result in ranked]
        doubts = {line for result in self.values() for line in result.doubts}
        key = f'"{first.name}"' if shorten(first.name) == first.name == repr(first.name)[1:-1] else "name"
        return (
            join_facts(
                f"Results of {counted(len(self), 'system')}",
                (*describe_size(first.counts), counted(len(doubts), "doubt") if doubts else ""),
            ),
            f"{name}: {fit_line(values, len(self))}",
            f"print() shows the table, [{key}] one Result, .to_frame() all",
        )


def _iterate(results: Any) -> Iterator[Result]:
    for result in [results] if isinstance(results, Result) else results:
        if not isinstance(result, Result):
            raise UsageError(f"expected results, such as score returns, got {type(result).__name__}")
        yield result


def _check_together(results: list[Result]) -> None:
    """Refuse results that do not belong into one table."""
    if not results:
        raise UsageError("expected at least one result, got none")
    names = [result.name for result in results]
    repeated = listed(dict.fromkeys(name for name in names if names.count(name) > 1))
    if repeated:
        raise UsageError(f"several results have the name {repeated} (hint: pass a dict of results by name)")
    first = results[0]
    for result in results[1:]:
        # Not of labels: where no input declares their number, it is that of the labels seen, also in predictions.
        sizes = {(other.counts.n_instances, other.counts.n_true) for other in (first, result)}
        if len(sizes) > 1:
            one, two = (
                f"{listed(describe_size(other.counts))} and {counted(other.counts.n_true, 'true label')}"
                for other in (first, result)
            )
            raise UsageError(f"{first.name} has {one}, but {result.name} {two}; expected results on the same truth")
        names = list(dict.fromkeys([*first.options, *result.options]))
        differing = [name for name in names if first.options.get(name) != result.options.get(name)]
        if differing:
            raise UsageError(
                f"{first.name} and {result.name} were scored with different {listed(differing)}; expected the same "
                "options"
            )
