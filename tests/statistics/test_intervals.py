"""The quantile of t at every number of degrees, and the margin of a ratio by hand."""

import math
from fractions import Fraction

import pytest
from scipy import stats

from xmceval.statistics.intervals import ratio_margin, t_quantile


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_the_quantile_is_students_at_every_number_of_degrees(confidence):
    degrees = range(1, 1000)
    expected = stats.t.ppf((1 + confidence) / 2, degrees)
    assert [t_quantile(n, confidence) for n in degrees] == pytest.approx(expected.tolist(), rel=1e-11)


@pytest.mark.parametrize(
    ("degrees", "printed"),
    [(1, 12.706), (2, 4.303), (10, 2.228), (29, 2.045), (30, 2.042), (40, 2.021), (60, 2.000), (120, 1.980)],
)
def test_the_quantile_is_that_of_printed_tables(degrees, printed):
    assert round(t_quantile(degrees), 3) == printed


def margin(pairs):
    """Return the margin of rows (numerator, denominator)."""
    num, den, num2, cross, den2 = (
        sum(Fraction(x) ** i * Fraction(y) ** j for x, y in pairs) for i, j in ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
    )
    return ratio_margin(num / den, den, num2, cross, den2, len(pairs))


def test_margins_by_hand():
    # Values 0 and 1: mean 1/2, s = sqrt(1/2), s / sqrt(2) = 1/2, t(1) = 12.706205.
    assert margin([(0, 1), (1, 1)]) == pytest.approx(12.706204736 / 2)
    # (1, 1), (0, 3): R = 1/4, e = 3/4, -3/4; SE = sqrt(9/8 / 2) / 2.
    assert margin([(1, 1), (0, 3)]) == pytest.approx(12.706204736 * 0.75 / 2)
    # Values 1, 0, 1, 1: s / sqrt(4) = 1/4, t(3) = 3.182446.
    assert margin([(1, 1), (0, 1), (1, 1), (1, 1)]) == pytest.approx(3.182446305 / 4)


def test_one_row_and_no_row_have_no_margin_and_equal_rows_none_to_speak_of():
    assert ratio_margin(Fraction(1), Fraction(1), Fraction(1), Fraction(1), Fraction(1), 1) is None
    assert ratio_margin(Fraction(0), Fraction(1), Fraction(0), Fraction(0), Fraction(1), 0) is None
    assert margin([(1, 3)] * 5) == 0.0
    # Sums that were rounded below what the square of the sum asks for.
    assert ratio_margin(Fraction(1, 2), Fraction(2), Fraction(1, 3), Fraction(1), Fraction(2), 2) == 0.0


def test_the_margin_of_many_rows_is_the_normal_ones():
    pairs = [(i % 2, 1) for i in range(4000)]
    assert margin(pairs) == pytest.approx(1.96 * 0.5 / math.sqrt(4000), rel=1e-3)
