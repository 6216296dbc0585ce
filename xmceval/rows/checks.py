"""Blocks: runs of rows, the form in which truth and scores go along the street, and what makes a row valid."""

from __future__ import annotations

import numpy as np

from xmceval.errors import Fault, counted
from xmceval.rows.block import Block, Int64, Rows, Scratch
from xmceval.rows.width import Width

LARGEST = 2.0**40  # the largest grade

LARGEST_EXPONENT = 40.0  # likewise, where gains are 2^grade - 1


def validated_scores(block: Block, scratch: Scratch, width: Width) -> Rows:
    """Parse a block of scores and check it.

    Raises
    ------
    Fault
        A label outside the width, twice in a row, or with a score that is no number.
    """
    from xmceval.kernels import checks

    rows = block.rows(scratch)
    found = np.zeros(5, dtype=np.int64)
    longest = int(np.max(np.diff(rows.indptr), initial=4))
    checks.check_scores(*rows, width.n_labels, scratch.array("table", 4 * longest, np.int64, fill=-1), found)
    if found[checks.CODE]:
        raise _fault(block, rows, found, width, "score")
    return rows


def validated_truth(block: Block, scratch: Scratch, width: Width, largest: float = LARGEST) -> tuple[Rows, int]:
    """Parse a block of truth, check it and order its rows; also return how many explicit zeros it had.

    Grades above `largest` are refused.

    Raises
    ------
    Fault
        A label outside the width or twice in a row, or a value that is no whole number from 0 to 2^40.
    """
    from xmceval.kernels import checks

    rows = block.rows(scratch)
    found = np.zeros(5, dtype=np.int64)
    checks.validate_truth(*rows, width.n_labels, largest, found)
    if found[checks.CODE]:
        raise _fault(block, rows, found, width, "truth")
    return rows, int(found[checks.ZEROS])


def _fault(block: Block, rows: Rows, found: Int64, width: Width, what: str) -> Fault:
    """Say what a check kernel found."""
    code, row, label, entry = (int(each) for each in found[:4])
    if label < 0:
        said = f"label {label} is negative; labels are 0-based column numbers"
    elif code == 1:
        said = (
            f"label {label} is outside 0..{width.n_labels - 1} "
            f"({width.said_by} {counted(width.n_labels, 'label')}; labels are 0-based)"
        )
    else:
        said = _FAULTS[code].format(label=label, value=float(rows.values[max(entry, 0)]), what=what)
    return Fault(block.first_row + row, f"{block.place(row)}: {said}")


_FAULTS = {
    2: "label {label} appears twice in this row; a label has one {what}",
    3: "the {what} value of label {label} is NaN; expected a number",
    4: "the truth value of label {label} is {value:g}, negative; expected 0, 1 or a whole grade",
    5: "the truth value of label {label} is {value:g}, a fraction; expected 1 or a whole grade "
    "(are truth and predictions swapped?)",
    6: "the truth value of label {label} is {value:g}; grades above 2^40 are refused, with gain=exp above 40",
}
