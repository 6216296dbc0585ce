"""The level of tests and the coverage of intervals, by simulation; scripts/simulate does the same for longer."""

import json
import math
import runpy
from pathlib import Path

import pytest

from xmceval.statistics.paired import t_test

ROOT = Path(__file__).parents[2]
SIMULATE, COVERAGE = (runpy.run_path(str(ROOT / "scripts" / name)) for name in ("simulate", "coverage"))
CELLS = json.loads((ROOT / "datasets" / "coverage.json").read_text(encoding="utf-8"))["cells"]
REPEATS = 80


@pytest.fixture(scope="module")
def shares():
    """Return the shares of all cells at 60 rows; the seed is the script's, and so they are the same in every run."""
    return SIMULATE["simulate"](60, REPEATS)


@pytest.mark.parametrize("metric", ["P@1", "P@3", "PSP@3"])
@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap"])
def test_a_test_errs_in_one_of_twenty_samples(shares, test, metric):
    """Within 3.3 standard errors of 0.05; half of the variance would give a level of 0.17."""
    assert shares["level", test, metric] == pytest.approx(0.05, abs=0.08)


@pytest.mark.parametrize("metric", ["P@1", "P@3", "PSP@3"])
@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_an_interval_holds_the_difference_in_nineteen_of_twenty_samples(shares, test, metric):
    assert shares["coverage", test, metric] >= 0.87


def test_some_test_errs_and_some_interval_misses(shares):
    """What never errs is no test at the level 0.05."""
    assert max(share for cell, share in shares.items() if cell[0] == "level") > 0
    assert min(share for cell, share in shares.items() if cell[0] == "coverage") < 1


def test_the_table_marks_what_is_far_off():
    table = list(SIMULATE["lines"]({50: {("level", "t", "P@1"): 0.06, ("coverage", "t", "P@1"): 0.9}}, 400))
    assert table == [
        "400 repeats · Monte-Carlo error ±0.011 (one standard error); * more than three of these off",
        "                                    n=50",
        "level    t             P@1        0.060 ",
        "coverage t             P@1        0.900*",
    ]


def test_the_grid_is_measured_and_the_guide_shows_it():
    guide = COVERAGE["GUIDE"].read_text(encoding="utf-8")
    assert COVERAGE["with_tables"](guide, CELLS) == guide
    measured = {(cell["law"], cell["n"]) for cell in CELLS}
    assert measured == {(law, n) for law in COVERAGE["LAWS"] for n in COVERAGE["SIZES"]}


def test_the_goal_is_reached_in_each_cell_but_the_one_that_the_guide_names():
    found = {(cell["law"], cell["kind"], cell["n"]): COVERAGE["faults"](cell) for cell in CELLS}
    missed = {("PSP@1, tail 0.9", "difference", 10_000): ["errs without a caution"]}
    assert {cell: faults for cell, faults in found.items() if faults} == missed
    assert COVERAGE["faults"]({**CELLS[1], "unwarned": 0.1, "cautioned": 0.2}) == [
        "errs without a caution",
        "needless cautions",
    ]


@pytest.mark.parametrize("law", ["P@1 = 0.98", "PSP@5, tail 0.9", "PSP@5, tail 0.9, 2 runs", "P@1 = 0.5, 3 runs"])
def test_a_cell_is_near_what_was_measured(law):
    kept = {cell["kind"]: cell for cell in CELLS if (cell["law"], cell["n"]) == (law, 100)}
    found = COVERAGE["simulate"](law, 100, 40)
    assert set(found) == set(kept)
    for kind, shares in found.items():
        for what, share in shares.items():
            assert share == pytest.approx(kept[kind][what], abs=0.01 + 4 * math.sqrt(0.25 / 40)), (kind, what)


@pytest.mark.parametrize(
    ("n", "t", "p", "effect"),
    [
        (20, 2.1158, 0.0478, 0.4731),  # Sakai, Laboratory Experiments in Information Retrieval, 2018
        (20, -2.1158, 0.0478, -0.4731),
    ],
)
def test_a_printed_example_of_the_paired_t_test(n, t, p, effect):
    found = t_test(t * 0.01, 0.01, n)
    assert found.p == pytest.approx(p, abs=5e-5)
    assert found.effect == pytest.approx(effect, abs=5e-5)
    assert math.copysign(1, found.low) == math.copysign(1, found.high)  # p < 0.05: 0 is outside of the interval


def test_the_interval_ends_at_0_where_p_is_5_percent():
    from scipy.stats import t

    found = t_test(0.01 * t.ppf(0.975, 19), 0.01, 20)
    assert found.p == pytest.approx(0.05, abs=1e-12)
    assert found.low == pytest.approx(0.0, abs=1e-15)
