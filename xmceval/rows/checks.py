"""Check that rows of truth and scores are valid."""

from __future__ import annotations

import numpy as np

from xmceval.errors import Fault, argument
from xmceval.kernels.rows import checks as kernels
from xmceval.rows.block import Block, Int64, Rows, Scratch, SortedRows, keep_entries
from xmceval.rows.width import BEYOND, UNKNOWN, Width

SWAPPED = "are truth and predictions swapped?"
OTHER_PADDING = -100  # in lists of ids, as PyTorch's losses have it
LARGEST_GRADE = 2.0**40
LARGEST_EXPONENT = 40.0  # the largest grade if gains are 2^grade - 1


def validated_scores(
    block: Block, scratch: Scratch, width: Width, *, may_merge: bool = False, may_be_unknown: bool = False
) -> Rows:
    """Parse and check a block of scores; `may_merge` means that an option can merge duplicate labels.

    With `may_be_unknown`, labels from BEYOND on are valid too.
    """
    rows = block.rows(scratch)
    if isinstance(rows, SortedRows) and rows.largest_label < width.n_labels:
        return rows
    n_labels = width.n_labels
    if may_be_unknown:
        labels = rows.indices[: rows.indptr[-1]]
        if ((labels >= n_labels) & (labels < BEYOND)).any():
            rows = keep_entries(rows, labels < BEYOND)  # so that the ids are refused
        else:
            n_labels = UNKNOWN
    status = np.zeros(5, dtype=np.int64)
    longest = int((rows.indptr[1:] - rows.indptr[:-1]).max(initial=4))
    kernels.check_scores(*rows, n_labels, scratch.array("table", 4 * longest, np.int64, fill=-1), status)
    if status[kernels.CODE]:
        raise _fault(block, rows, status, width, "score", may_merge)
    return rows


def validated_truth(
    block: Block,
    scratch: Scratch,
    width: Width,
    largest: float = LARGEST_GRADE,
    *,
    may_merge: bool = False,
    may_be_fractions: bool = False,
) -> tuple[Rows, int]:
    """Parse and check a block of truth, drop explicit zeros and sort labels; also return the number of zeros.

    `largest` is the largest value: 1 unless the truth has grades; `may_be_fractions` if an option declares them.
    `may_merge` means that an option can merge duplicate labels.
    """
    rows = block.rows(scratch)
    if isinstance(rows, SortedRows) and rows.has_only_ones and rows.largest_label < width.n_labels:
        return rows, 0
    status = np.zeros(5, dtype=np.int64)
    kernels.validate_truth(*rows, width.n_labels, largest, may_be_fractions, status)
    if status[kernels.CODE]:
        raise _fault(block, rows, status, width, "truth", may_merge, has_grades=largest > 1)
    return rows, int(status[kernels.ZEROS])


def without_unpredicted(rows: Rows) -> Rows:
    """Drop scores of -inf, which mean that a label is not predicted, in place."""
    n = int(rows.indptr[-1])
    if n == 0 or rows.values[rows.values[:n].argmin()] > -np.inf:
        return rows
    return keep_entries(rows, rows.values[:n] > -np.inf)


def _fault(
    block: Block, rows: Rows, status: Int64, width: Width, kind: str, may_merge: bool, *, has_grades: bool = True
) -> Fault:
    """Describe what a check kernel left in `status`, int64 [5]."""
    code, row, label, entry = (int(number) for number in status[:4])
    names = block.entry_names(row, label)
    if names.label == f"label {label}" and label >= BEYOND and code != kernels.OUT_OF_RANGE:
        names = names._replace(label="name without a label")
    place = names.places[0]
    if label < 0:
        problem = f"label {label} is negative; labels are 0-based column numbers"
    elif code == kernels.OUT_OF_RANGE:
        problem = f"{names.label} is outside 0..{width.n_labels - 1} ({width}; labels are 0-based)"
    elif code == kernels.DUPLICATE:
        noun = names.label.split()[0]
        problem = f"{names.label} appears twice {names.row}"
        if len(names.places) > 1:
            problem += f" (first in {place})"
            place = names.places[1]
        systems = ""
        if names.systems is not None and kind == "score":
            systems = names.systems()
        if systems:
            problem += f", in {systems}"
        else:
            problem += f"; a {noun} has one {kind}"
            if may_merge:
                problem += f" (hint: pass {argument('duplicates', 'max')} to count its largest value)"
    elif has_grades or code == kernels.NOT_A_NUMBER:
        problem = _PROBLEMS[code].format(label=names.label, value=float(rows.values[max(entry, 0)]), kind=kind)
    else:
        problem = f"the truth value of {names.label} is {float(rows.values[entry]):g}; expected 0 or 1"
    doubt = ""
    if code in {kernels.NEGATIVE, kernels.FRACTION, kernels.TOO_LARGE} and not has_grades:
        grades = argument("grades", True)
        doubt = (
            f"hint: pass {grades} if these are grades, lists or sets of ids without values if these are ids; {SWAPPED}"
        )
    elif code == kernels.FRACTION:
        doubt = f"hint: pass {argument('grades', True)} if grades are fractions; {SWAPPED}"
    elif code == kernels.NEGATIVE:
        doubt = SWAPPED
    elif label == OTHER_PADDING:
        doubt = "hint: drop the padding"
    return Fault(block.first_row + row, f"{place}: {problem}", doubt)


_PROBLEMS = {
    kernels.NOT_A_NUMBER: "the {kind} value of {label} is NaN; expected a number",
    kernels.NEGATIVE: "the truth value of {label} is {value:g}, negative; expected 0 or a grade",
    kernels.FRACTION: "the truth value of {label} is {value:g}, a fraction; expected 1 or a whole grade",
    kernels.TOO_LARGE: "the truth value of {label} is {value:g}; grades above 2^40 are refused, with gain=exp above 40",
}
