"""The door for the library: arrays or paths in, sources out; names are joined, extra columns and duplicates mended."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xmceval.blocks import UNKNOWN, Source
from xmceval.matrices import as_scores, as_truth
from xmceval.mended import original, without_duplicates, without_extra_column
from xmceval.readers import Hints, Names, open_scores, open_truth

DUPLICATES = ("error", "max")


@dataclass(frozen=True)
class Door:
    """How files are opened: names of labels, what becomes of duplicates, and where to say what was inferred."""

    names: Names | None = None
    duplicates: str = "error"
    n_labels: int | None = None
    notes: list[str] = field(default_factory=list)

    def truth(self, matrix: Any, name: str, n_labels: int = UNKNOWN) -> Source:
        """Open a truth, whatever it is."""
        if isinstance(matrix, (str, Path)):
            known = self.n_labels if n_labels == UNKNOWN else n_labels
            known = len(self.names) if known is None and self.names is not None else known
            opened = open_truth(matrix, names=self.names, hints=Hints(None, known))
            self.notes.append(f"{matrix}: {opened.description}")
            source = opened.source
        else:
            source = as_truth(matrix, name)
        return self._mended(source)

    def scores(self, y_score: Any, truth: Source, n_labels: int, notes: list[str]) -> Source:
        """Open predictions, whatever they are."""
        if not isinstance(y_score, (str, Path)):
            return self._mended(as_scores(y_score))
        known = None if n_labels == UNKNOWN else n_labels
        opened = open_scores(y_score, names=self.names, truth=original(truth), hints=Hints(truth.n_rows, known))
        notes.append(f"{y_score}: {opened.description}")
        source = opened.source
        if getattr(source, "may_have_extra", False) and known is not None and source.n_labels == known + 1:
            source = without_extra_column(source, known)
        return self._mended(source)

    def _mended(self, source: Source) -> Source:
        return without_duplicates(source) if self.duplicates == "max" else source
