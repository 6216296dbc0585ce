"""The bench: what it says of figures, and that picture and table of the README are those of its figures."""

import importlib.util
import itertools
import json
import math
import re
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from bench import check, data, measure, picture, works
from bench.measure import Usage
from support.asked import p_at_1

import xmceval

ROOT = Path(__file__).parents[2]
FIGURES = json.loads((ROOT / "datasets/speed.json").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def command(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    loader = SourceFileLoader("bench_command", str(ROOT / "scripts/bench/__main__.py"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_the_picture_is_drawn_from_the_figures():
    assert picture.draw(FIGURES) == (ROOT / "datasets/speed.svg").read_text(encoding="utf-8")


def test_the_readme_has_the_figures():
    assert all(f"\n{row}\n" in README for row in picture.rows_of_table(FIGURES))
    largest = max(entry["largest_difference"] for entry in FIGURES["agreement"])
    assert f"agree to {largest:.0e}".replace("e-0", "e-") in README
    assert f"{FIGURES['machine']['processors']} processors" in README


def test_the_readme_says_what_ran_once_and_no_tool_scores_a_file_faster():
    words = " ".join(README.split())
    points = picture.lines_of(FIGURES["measured"])
    others = {name: dict(found) for name, found in points.items() if name != picture.OURS}
    entries = [entry for found in others.values() for entry in found.values()]
    once = [entry["wall"]["median"] for entry in entries if entry["runs"] == 1]
    often = [entry["wall"]["median"] for entry in entries if entry["runs"] == 3]
    assert len(once) + len(often) == len(entries)
    assert max(often) < min(once)
    assert f"medians of 3 runs, but one run where another tool takes {min(once):.0f} s or more" in words
    for rows, ours in points[picture.OURS]:
        assert ours["wall"]["median"] < min(found[rows]["wall"]["median"] for found in others.values() if rows in found)


def test_new_figures_reach_the_readme_and_the_picture():
    slower = json.loads(json.dumps(FIGURES))
    for entry in slower["measured"]:
        entry["wall"]["median"] *= 100
    assert "| **52 s** |" in picture.with_figures(README, slower)
    assert picture.draw(slower) != picture.draw(FIGURES)


def test_all_tools_of_the_picture_agree_with_ours():
    compared = {entry["contestant"] for entry in FIGURES["agreement"]}
    assert compared == set(picture.lines_of(FIGURES["measured"])) - {"xmceval"}
    assert max(entry["largest_difference"] for entry in FIGURES["agreement"]) < 1e-6


def test_how_far_tools_are_from_ours_is_the_largest_difference(command):
    ours = {"systems": [{"metrics": {f"{name}@{k}": {"value": k / 10} for name in "PR" for k in (1, 3, 5)}}]}
    printed = {"xmceval": json.dumps(ours), "other": json.dumps({"P": [0.1, 0.3, 0.625]})}
    assert list(command.find_agreement("small", printed)) == [
        {"subject": "small", "contestant": "other", "metrics": ["P"], "largest_difference": 0.125}
    ]


def test_names_in_the_picture_do_not_overlap():
    placed = picture.apart({"a": 100.0, "b": 101.0, "c": 99.0, "d": 30.0})
    heights = sorted(placed.values())
    assert all(b - a >= picture.LEAST_DISTANCE for a, b in itertools.pairwise(heights))
    assert sorted(placed, key=placed.get) == ["d", "c", "a", "b"]


def test_spread_is_that_of_the_numbers():
    assert measure.spread([3.0, 1.0, 2.0, 5.0, 4.0]) == {"median": 3, "min": 1, "max": 5, "interval": None}
    assert measure.spread([1.23456789])["median"] == 1.23457
    assert measure.spread([1.0, None]) is None


@pytest.mark.parametrize(("n", "dropped"), [(6, 0), (8, 0), (9, 1), (12, 2)])
def test_interval_is_that_of_the_sign_test(n, dropped):
    numbers = [float(i) for i in range(n)]
    assert measure.interval(numbers[::-1]) == [dropped, n - 1 - dropped]
    # the next narrower one covers less than 95 %
    assert 2 * sum(math.comb(n, i) for i in range(dropped + 2)) > 0.05 * 2**n


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


def test_what_two_trees_used_is_compared_turn_by_turn(command, capsys):
    found = {"this tree": [Usage(2.0 * i, 4.0) for i in range(1, 7)], "old": [Usage(1.0 * i, 4.0) for i in range(1, 7)]}
    command.report("score", found, "old", ["wall", "cpu"])
    said = capsys.readouterr().out.splitlines()
    assert said[-2:] == [
        "    wall 2.00 times slower (2.00 to 2.00)",
        "    cpu  no difference beyond noise (1.000 times, 1.000 to 1.000)",
    ]


def test_a_tree_is_a_checkout_or_a_revision():
    assert measure.tree_of(str(ROOT)) == ROOT
    with pytest.raises(SystemExit, match="no-such-revision is neither a checkout nor a revision of"):
        measure.tree_of("no-such-revision")


def test_what_takes_long_has_one_turn_and_ours_one_more_to_warm_up(monkeypatch):
    ran = []

    def run(asked):
        ran.append(asked.argv[-1])
        return Usage(20.0 if asked.argv[-1] == "slow" else 1.0), ""

    monkeypatch.setattr(measure, "measure", run)
    commands = {name: measure.Command(("python", name)) for name in ("xmceval", "slow", "quick")}
    used, _ = measure.alternate(commands, 2)
    assert ran == ["xmceval", "xmceval", "slow", "quick", "xmceval", "quick"]
    assert [len(usages) for usages in used.values()] == [2, 1, 2]


def test_a_line_of_the_guide_has_the_fastest_other(command):
    times = {"xmceval.score": 0.002, "a": 0.004, "b": 1.5}
    measured = list(measure.entries("w", {name: [Usage(cpu, cpu, 7.0)] for name, cpu in times.items()}))
    assert list(command.lines_of_work("w", measured)) == ["| w | score: 2.00 ms, 7 MB | a: 4.00 ms, 7 MB | 0.50 |"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["P@5, CSR, 10 × 159", "P@5 of a batch, 32 × 100"])
def test_small_works_can_be_done_by_ours(name):
    ours = {title: call for title, call in works.WORKS[name]() if title.startswith("xmceval")}
    assert len(ours) == 2
    assert all(works.timed(call)["cpu"] > 0 for call in ours.values())


def test_figures_say_on_what_they_were_measured():
    found = measure.provenance()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["date"])
    assert found["machine"]["processors"] >= 1
    assert found["versions"]["xmceval"] == xmceval.__version__


def test_made_files_are_those_of_their_shape_and_are_kept(tmp_path, monkeypatch):
    monkeypatch.setitem(data.SHAPES, "tiny", data.Shape(30, 500, 3.0, 40, 3.0))
    paths = data.make("tiny", tmp_path)
    times = {path: Path(path).stat().st_mtime_ns for path in paths.values()}
    assert {kind: Path(path).read_text().partition("\n")[0] for kind, path in paths.items()} == {
        "truth": "30 500",
        "train": "40 500",
        "preds": "30 500",
    }
    assert "e" not in Path(paths["preds"]).read_text()
    result = xmceval.score(paths["truth"], paths["preds"], metrics="P@1")
    assert result["P@1"] == p_at_1(*(data.make_matrix(data.SHAPES["tiny"], kind) for kind in ("truth", "preds")))
    data.make("tiny", tmp_path)
    assert {path: Path(path).stat().st_mtime_ns for path in paths.values()} == times


def test_a_check_that_finds_something_slow_fails(command, monkeypatch):
    monkeypatch.setattr(command, "figures_of", lambda *_: ["text"])
    assert command.check(command.parse(["check"]))
    assert not command.check(command.parse(["check", "--record"]))


def test_a_call_is_slow_that_takes_far_longer_than_recorded(monkeypatch, capsys):
    kept = json.loads(check.RECORDED.read_text(encoding="utf-8"))
    times = {"reference": 1.0, **kept["ratios"], "text": 4 * kept["ratios"]["text"]}
    monkeypatch.setattr(check, "measure", lambda _calls, least: least.update(times))
    assert check.find_slow({}, {}) == ["text"]
    assert "text: more than" in capsys.readouterr().out
    assert set(kept["ratios"]) == {"text", "matrices", "metrics", "labels", "whole rows", "logits"}
