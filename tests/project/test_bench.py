"""The bench: what it says of figures, and that picture and table of the README are those of its figures."""

import itertools
import json
import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from bench import __main__ as command, data, measure, model, peers, picture, scaling
from bench.measure import Usage

import xmceval

ROOT = Path(__file__).parents[2]
FIGURES = json.loads((ROOT / "datasets/speed.json").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_picture_is_drawn_from_the_figures():
    assert picture.draw(FIGURES) == (ROOT / "datasets/speed.svg").read_text(encoding="utf-8")


def test_the_readme_has_the_figures():
    assert all(f"\n{row}\n" in README for row in picture.rows_of_table(FIGURES))
    assert f"agree to {picture.difference(FIGURES)}" in README
    assert f"{FIGURES['machine']['processors']} processors" in README


def test_new_figures_reach_the_readme_and_the_picture():
    slower = json.loads(json.dumps(FIGURES))
    for entry in slower["measured"]:
        entry["wall"]["median"] *= 100
    assert "| **101 s** |" in picture.with_figures(README, slower)
    assert picture.draw(slower) != picture.draw(FIGURES)


def test_all_tools_of_the_picture_agree_with_ours():
    compared = {each["contestant"] for each in FIGURES["agreement"]}
    assert compared == set(picture.lines_of(FIGURES["measured"])) - {"xmceval"}
    assert max(each["largest_difference"] for each in FIGURES["agreement"]) < 1e-6


def test_names_in_the_picture_do_not_overlap():
    placed = picture.apart({"a": 100.0, "b": 101.0, "c": 99.0, "d": 30.0})
    heights = sorted(placed.values())
    assert all(b - a >= picture.LEAST_DISTANCE for a, b in itertools.pairwise(heights))
    assert sorted(placed, key=placed.get) == ["d", "c", "a", "b"]


def test_spread_is_that_of_the_numbers():
    found = measure.spread([3.0, 1.0, 2.0, 5.0, 4.0])
    assert found == {"median": 3, "min": 1, "max": 5, "quartiles": [2, 4], "interval": None}
    assert measure.spread([1.0])["quartiles"] == [1, 1]
    assert measure.spread([1.0, None]) is None


@pytest.mark.parametrize(("n", "dropped"), [(6, 0), (8, 0), (9, 1), (12, 2)])
def test_interval_is_that_of_the_sign_test(n, dropped):
    numbers = [float(i) for i in range(n)]
    assert measure.interval(numbers[::-1]) == [dropped, n - 1 - dropped]
    # the next narrower one covers less than 95 %
    assert 2 * sum(math.comb(n, i) for i in range(dropped + 2)) > 0.05 * 2**n


def test_ratios_are_those_of_runs_in_the_same_turn():
    measured = {"a": [Usage(2.0, 1.0), Usage(9.0, 1.0)], "b": [Usage(1.0, 2.0), Usage(3.0, 4.0)]}
    [found] = measure.ratios("x", measured, "b")
    assert (found["contestant"], found["to"]) == ("a", "b")
    assert (found["wall"]["min"], found["wall"]["max"], found["cpu"]["max"], found["peak"]) == (2, 3, 0.5, None)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([1.08, 1.12, 1.12, 1.13, 1.15, 1.11, 1.12], "1.12 times slower (1.08 to 1.15)"),
        ([0.5, 0.5, 0.4, 0.5, 0.5, 0.5, 0.625], "2.00 times faster (1.60 to 2.50)"),
        ([0.9, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1], "no difference beyond noise (1.100 times, 0.900 to 1.100)"),
        ([1.001, 1.002, 1.003, 1.003, 1.003, 1.004, 1.02], "no difference beyond noise (1.003 times, 1.001 to 1.020)"),
        ([1.5, 1.6, 1.7], "too few runs to tell (1.50 to 1.70)"),
    ],
)
def test_verdict_says_what_the_ratios_show(numbers, said):
    assert measure.verdict(measure.spread(numbers)) == said


def test_an_unknown_revision_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="no-such-revision is not a revision of"):
        measure.install_revision("no-such-revision", tmp_path)


@pytest.mark.parametrize(
    ("cost", "is_steep"),
    [
        (lambda n: 7.0, False),
        (math.log, False),
        (lambda n: n**0.1, False),
        (lambda n: n**0.6, True),
        (lambda n: n, True),
        (lambda n: max(1000, n), True),  # the last step shows it
    ],
)
def test_growth_beyond_n_log_n_is_steep(cost, is_steep):
    sizes = (10, 100, 1000, 10_000)
    assert scaling.growth(sizes, [cost(n) for n in sizes])["is_steep"] is is_steep


def test_every_line_of_the_scaling_table_has_a_name_of_its_own():
    names = [axis.name for axis in scaling.AXES]
    assert len(names) == len(set(names))


def test_a_tool_that_took_too_long_is_left_out_of_larger_sizes():
    entry = {"subject": "titles-250", "contestant": "a", "wall": {"median": 50}, "peak": {"median": 1000}}
    assert peers.can_hold("a", 250, [])
    assert peers.can_hold("a", 1000, [entry])
    assert not peers.can_hold("a", 4000, [entry])
    assert not peers.can_hold("a", 1000, [entry | {"wall": {"median": 61}}])
    assert not peers.can_hold("a", 1000, [entry | {"peak": {"median": 4000}}])


def test_a_record_says_on_what_it_was_measured(tmp_path):
    whole = measure.record("run", {"runs": 5}, {"measured": measure.entries("small", {"a": [Usage(1.0)]})})
    measure.write(tmp_path / "a.json", whole)
    assert json.loads((tmp_path / "a.json").read_text()) == whole
    measure.write(tmp_path / "b.json", {"seconds": [1.23456789, 7]})
    assert json.loads((tmp_path / "b.json").read_text()) == {"seconds": [1.23457, 7]}
    assert list(whole)[:6] == ["format", "command", "options", "date", "machine", "versions"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", whole["date"])
    assert whole["measured"][0]["cpu"] is None
    for name in [*whole, *whole["machine"], *whole["versions"]]:
        assert name in measure.FORM


@pytest.mark.parametrize("written", ["against", "--against"])
def test_a_subcommand_may_be_written_as_an_option(written, monkeypatch):
    given = []
    monkeypatch.setitem(command.COMMANDS, "against", given.append)
    monkeypatch.setattr(sys, "argv", ["bench", written, "HEAD~1", "--runs", "3"])
    assert command.main() == 0
    assert (given[0].revision, given[0].runs, given[0].shapes) == ("HEAD~1", 3, ["small", "amazon-670k"])


def test_a_check_that_finds_something_slow_fails(monkeypatch):
    monkeypatch.setattr(command, "figures_of", lambda *_: {"slow": ["text"]})
    monkeypatch.setattr(sys, "argv", ["bench", "check"])
    assert command.main() == 1


def test_the_ratios_of_the_check_are_recorded():
    kept = json.loads((ROOT / "scripts/bench/check.json").read_text(encoding="utf-8"))
    assert kept["command"] == "check"
    assert set(kept["check"]["ratios"]) == {"text", "matrices", "metrics", "labels", "whole rows", "logits"}


@pytest.mark.parametrize("name", model.MODELS)
def test_the_cases_of_a_model_determine_its_factors(name):
    fitted = model.MODELS[name]
    factors = {figure: {term: 1 + i for i, term in enumerate(terms)} for figure, terms in fitted.figures.items()}
    measured = [
        (case, {figure: model.predict(terms, factors[figure], case) for figure, terms in fitted.figures.items()})
        for case in fitted.cases + fitted.checks
    ]
    found = model.fit_model(fitted, measured)
    for figure, of_terms in factors.items():
        assert found[figure]["factors"] == pytest.approx(of_terms)
        assert [each["is_check"] for each in found[figure]["cases"]].count(True) == len(fitted.checks)
        assert all(each["predicted"] == pytest.approx(each["measured"]) for each in found[figure]["cases"])


def test_a_model_is_not_fitted_to_its_checks():
    fitted = model.Model(((1,), (2,)), ((3,),), {"cpu": {"a row": lambda case: case[0]}})
    cases = [(Sizes(*sizes), {"cpu": seconds}) for sizes, seconds in [((1,), 2.0), ((2,), 4.0), ((3,), 5.0)]]
    found = model.fit_model(fitted, cases)["cpu"]
    assert found["factors"] == pytest.approx({"a row": 2})
    assert [each["predicted"] for each in found["cases"]] == pytest.approx([2, 4, 6])


class Sizes(NamedTuple):
    """Sizes of a case."""

    rows: int


def test_states_of_a_case_are_made_once_and_can_be_merged(tmp_path):
    pattern = data.make_states("states-2-100-50", tmp_path)["states"]
    states = sorted(pattern.parent.glob(pattern.name))
    times = [state.stat().st_mtime_ns for state in states]
    assert xmceval.merge(states).to_dict()["n_instances"] == 2 * 5
    data.make_states("states-2-100-50", tmp_path)
    assert [state.stat().st_mtime_ns for state in states] == times


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory of workers is read from /proc")
def test_the_figures_of_workers_are_those_of_the_model(tmp_path):
    pytest.importorskip("distributed")
    sample = ROOT / "datasets/sample"
    for name in ("tst_X_Y", "model_a"):
        (tmp_path / f"{name}.list").write_text(f"{sample / name}.txt\n")
    found = measure.figures_of("workers", f"@{tmp_path}/tst_X_Y.list", f"{sample}/model_a.txt", "1", "1")
    assert found.keys() == model.DASK.figures.keys()
    assert all(value > 0 for value in found.values())


def test_the_simulation_of_a_cluster_runs(capsys):
    pytest.importorskip("distributed")
    from bench import cluster

    cluster.simulate()
    assert "values are those of one part: True" in capsys.readouterr().out
