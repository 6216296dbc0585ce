"""Determine the number of labels, and which input declares it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xmceval.errors import DataError, argument, counted

UNKNOWN = 2**63 - 1  # the number of labels if no input declares it
BEYOND = 1 << 62  # labels from here on stand for names that are not in a list of labels
OF_CLASSES = (
    " (hint: for the list of arrays that predict_proba of a model returns, pass "
    "numpy.column_stack([p @ classes for p, classes in zip(y_score, model.classes_)]))"
)


@dataclass(frozen=True)
class Width:
    """A number of labels, and the input that declares it."""

    n_labels: int = UNKNOWN  # UNKNOWN if no input declares it
    declared_by: str = ""  # beginning of a sentence that ends with the number, such as ``"tst_X_Y.txt has"``

    @cached_property
    def is_known(self) -> bool:
        """Whether any input declares the number of labels."""
        return self.n_labels != UNKNOWN

    @cached_property
    def or_none(self) -> int | None:
        """The number of labels, or None if unknown."""
        if not self.is_known:
            return None
        return self.n_labels

    def __str__(self) -> str:
        return _declare(self.declared_by, self.n_labels)

    def agree(self, n_labels: int, name: str, noun: str = "label", hint: str = "") -> Width:
        """Return the width that this and another input agree on; refuse a conflict."""
        if not self.is_known:
            return Width(n_labels, f"{name} has")
        if n_labels != self.n_labels:
            verb = "is" if name == argument("n_labels") else "has"
            raise DataError(f"{_declare(f'{name} {verb}', n_labels, noun)}, but {self}{hint}")
        return self

    def or_seen(self, largest: int, n_mentioned: int | None = None) -> Width:
        """Return this width, or if unknown, one from the largest label seen or the documents mentioned."""
        if self.is_known:
            return self
        if n_mentioned is not None:
            return Width(n_mentioned, "the number of documents that truth and predictions mention is")
        return Width(largest + 1, "the largest label in any file + 1 is")

    def check_cutoff(self, k: int) -> None:
        """Refuse a cutoff above the number of labels."""
        if k > self.n_labels:
            raise DataError(f"k = {k} is above the number of labels: {self.declared_by} {self.n_labels:,}")


def _declare(declared_by: str, number: int, noun: str = "label") -> str:
    """Say which input declares a number: ``x.txt has 3 labels``, but ``--n-labels is 3``."""
    if declared_by.endswith(" is"):
        return f"{declared_by} {number:,}"
    return f"{declared_by} {counted(number, noun)}"
