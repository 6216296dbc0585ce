"""Blocks: runs of rows, the form in which truth and scores go along the street, and what makes a row valid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

UNKNOWN = np.iinfo(np.int64).max  # stands for a number of labels that nothing announces


@dataclass(frozen=True)
class Width:
    """How many labels there are, and who says so."""

    n_labels: int = UNKNOWN
    said_by: str = ""
