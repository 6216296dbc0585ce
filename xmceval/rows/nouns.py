"""What reports call the rows and columns of a truth: instances and labels, or queries and documents."""

from __future__ import annotations

from dataclasses import dataclass

from xmceval.errors import plural


@dataclass(frozen=True)
class Nouns:
    """What reports call the rows, the columns and the cells of a truth, and of scores."""

    row: str = "instance"
    label: str = "label"
    true_label: str = "true label"
    prediction: str = "prediction"
    are_of_queries: bool = False  # their shares are shown as fractions, and zeros of the truth are judgments

    def name_rows(self, text: str) -> str:
        """Return a text on instances in which they have their name here, such as queries."""
        return text.replace("instances", plural(self.row)).replace("instance", self.row)


OF_LABELS = Nouns()
OF_QUERIES = Nouns("query", "document", "relevant document", "retrieved document", are_of_queries=True)
