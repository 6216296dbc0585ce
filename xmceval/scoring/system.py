"""System: the scores of one system beside a truth, and the totals that their rows are added to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from xmceval.errors import DataError, Doubt, counted
from xmceval.rows.block import Source
from xmceval.rows.readings import Axis
from xmceval.scoring.batch import Terms
from xmceval.scoring.program import Program
from xmceval.scoring.totals import Tally, Totals, empty

MANY_PREDICTIONS = 100  # per row: with so many, one prediction for every label but one is likelier a wrong header

NO_TOTALS = Totals(Tally(0), ())


@dataclass(frozen=True)
class System:
    """One system: its scores, on what terms they are scored, and the totals to which all threads add."""

    scores: Source
    terms: Terms
    totals: Totals = NO_TOTALS  # without any part before `begin`
    name: str = "y_score"  # of the system in reports
    file: str = "array"  # how reports call the scores
    inputs: tuple[str, ...] = ()  # what its scores were read as
    labels: Axis | None = None  # their columns, where these have names
    are_lists: bool = False  # whether they are labels without scores, whose order alone ranks them
    # what a reader must know before trusting the numbers
    warnings: tuple[str, ...] = ()

    def begin(self, program: Program) -> System:
        """Return its scores and terms with totals of no rows."""
        return System(self.scores, self.terms, empty(program, self.terms))

    def doubt_header(self, truth: Source, totals: Totals) -> Iterator[str]:
        """Warn of a second number in a header that was read as predictions per row, but is hardly that."""
        scores, width, longest = self.scores, self.terms.width, totals.tally.longest_row
        columns = scores.n_labels
        if columns is None or not width.is_known or columns >= width.n_labels:
            return
        is_unused = longest < columns and 2 * columns > width.n_labels
        if is_unused or columns == width.n_labels - 1 >= MANY_PREDICTIONS:
            yield Doubt(
                f"{scores.name} declares {columns:,} columns, {truth.name} {counted(width.n_labels, 'label')}, and the "
                f"longest row has {counted(longest, 'prediction')}: do they belong to the same data set?"
            )


def with_row_length(terms: Terms, truth: Source, scores: Source) -> Terms:
    """Set the longest row where the header of the scores is `rows k` instead of `rows cols`."""
    n_columns, n_labels = scores.n_labels, terms.width.n_labels
    if n_columns is None or n_columns == n_labels:
        return terms
    if n_columns > n_labels:
        raise DataError(f"{scores.name} declares {counted(n_columns, 'label')}, but {terms.width}")
    declaration = f"{scores.name} declares {n_columns} columns, {truth.name} {n_labels}"
    return replace(terms, longest_row=n_columns, declaration=declaration)
