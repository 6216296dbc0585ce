"""System: the scores of one system, and how they are scored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xmceval.errors import Doubt, counted
from xmceval.rows.block import Source
from xmceval.scoring.setup import Setup
from xmceval.scoring.totals import Totals

MANY_PREDICTIONS = 100  # per row: with so many, one prediction for every label but one is likelier a wrong header


@dataclass(frozen=True)
class System:
    """The scores of one system, and how they are scored."""

    scores: Source
    setup: Setup
    name: str = "y_score"  # of the system in reports
    file: str = "array"  # how reports call the scores
    are_lists: bool = False  # whether they are labels without scores, whose order alone ranks them

    def doubt_header(self, truth: Source, totals: Totals) -> Iterator[str]:
        """Warn of a second number in a header that was read as predictions per row, but is hardly that."""
        scores, width, longest = self.scores, self.setup.width, totals.tally.longest_row
        columns = scores.n_labels
        if columns is None or not width.is_known or columns >= width.n_labels:
            return
        is_unused = longest < columns and 2 * columns > width.n_labels
        if is_unused or columns == width.n_labels - 1 >= MANY_PREDICTIONS:
            yield Doubt(
                f"{scores.name} declares {columns:,} columns, {truth.name} {counted(width.n_labels, 'label')}, and the "
                f"longest row has {counted(longest, 'prediction')}: do they belong to the same data set?"
            )
