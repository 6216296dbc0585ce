"""Files that an earlier xmceval saved: values of rows are read, and states are refused with their version and a hint.

Both are of 12 rows, 6 labels and, of the rows, two systems; written at the commit adf501cf.
"""

from pathlib import Path

import pytest

import xmceval
from xmceval import DataError

SAVED = Path(__file__).parent / "saved"
VALUES = {
    "P@1": (0.08333333333333333, 0.5),
    "P@3": (0.2777777777777778, 0.3611111111111111),
    "nDCG@1": (0.08333333333333333, 0.5),
    "nDCG@3": (0.3560542926981464, 0.5128633460132972),
    "PSP@1": (0.08206014768041486, 0.4790577150684621),
    "PSP@3": (0.4435664166610429, 0.5635617030037421),
    "LRAP": (0.4523148148148148, 0.6206018518518518),
}


def test_saved_values_of_rows_are_compared_to_the_values_that_were_reported():
    found = xmceval.compare_rows([SAVED / "rows-1.npz"])
    assert {name: tuple(result[name] for result in found.results) for name in found.results[0]} == VALUES
    difference = found["LRAP", "b", "a"]
    assert (difference.difference, difference.p) == pytest.approx((0.16828703703703704, 0.09313873558552188), rel=1e-12)


def test_a_saved_state_of_another_schema_is_refused_with_a_hint():
    path = SAVED / "state-4.npz"
    message = (
        f"{path}: the state is not one of xmceval: it has the schema xmceval/state/4, of xmceval 0.1.0; expected "
        "xmceval/state/5 (hint: score again, or merge with the version that saved it)"
    )
    for read in (lambda: xmceval.merge([path]), lambda: xmceval.Evaluator.load(path)):
        with pytest.raises(DataError) as error:
            read()
        assert str(error.value) == message
