"""What results and comparisons have in common: three lines in a shell, all forms as methods, files, pandas frames."""

import json
import sys
from dataclasses import replace

import numpy as np
import pandas
import pytest
from support.forms import render

import xmceval
from xmceval.errors import DataError, UsageError

METHODS = {"json": "to_json", "csv": "to_csv", "md": "to_markdown", "latex": "to_latex"}
LAYOUT = {
    "md": {"places": 1, "intervals": False, "transpose": True, "pairs": False},
    "latex": {"percent": False, "caption": r"A \& B", "pairs": True},
}
OPTIONS = {"k": (1, 3), "metrics": ["P", "nDCG", "R@all", "macroF1@3"], "by_frequency": "head,tail", "threads": 1}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(5)
    y_true = rng.random((40, 12)) < 0.3
    y_true[:, 0] = True
    return y_true, {"old": rng.random((40, 12)), "new": rng.random((40, 12)) + y_true}


@pytest.fixture(scope="module")
def results(problem):
    return xmceval.score_all(*problem, **OPTIONS, train=problem[0])


@pytest.fixture(scope="module")
def comparison(problem):
    return xmceval.compare(*problem, **OPTIONS, train=problem[0])


@pytest.fixture(params=["result", "results", "comparison"])
def shown(request, results, comparison):
    return {"result": results["old"], "results": results, "comparison": comparison}[request.param]


def test_a_repr_names_the_best_and_has_no_key_that_is_none(problem, results):
    errors = xmceval.score_all(*problem, metrics="ranking_loss", threads=1)
    assert errors["new"]["ranking_loss"] < errors["old"]["ranking_loss"]
    assert repr(errors).splitlines()[1].startswith(" ranking_loss: new ")
    found = repr(xmceval.Results({"folder/of/experiments/" + "x" * 12: results["old"]}))
    assert ".../xxxxxxxxxxxx " in found
    assert "[name] one Result" in found


def test_long_and_odd_names_and_many_values_stay_three_lines(problem, results):
    y_true, systems = problem
    odd = {f"results/of/a{'/very' * 20}/long/path/{i}\n<b>{{}}</b>\u202e": systems["old"] for i in range(9)}
    for shown in (
        xmceval.score_all(y_true, odd, k=1, metrics="P", threads=1),
        xmceval.compare(y_true, odd, k=1, metrics="P", threads=1),
        replace(results["old"], name=next(iter(odd))),
        xmceval.score(y_true, systems["old"], metrics=[f"F1@{k}" for k in range(1, 12)], threads=1),
    ):
        lines = repr(shown).splitlines()
        assert len(lines) == 3
        assert max(map(len, lines)) <= 120
        assert " more" in lines[1] or len(shown) == 6


@pytest.mark.parametrize("form", METHODS)
def test_methods_return_what_the_command_prints_or_write_a_file(tmp_path, shown, form):
    expected = render(shown, form, **LAYOUT.get(form, {}))
    method = getattr(shown, METHODS[form])
    assert method(**LAYOUT.get(form, {})) == expected
    path = tmp_path / "written"
    for force in (False, True):
        assert method(path, force=force, **LAYOUT.get(form, {})) is None
        assert path.read_text(encoding="utf-8") == expected
        path.write_text("mine")
        with pytest.raises(UsageError, match=r"written: already exists \(hint: pass force=True to overwrite\)"):
            method(path)
        assert path.read_text() == "mine"
    with pytest.raises((UsageError, DataError), match="missing"):
        method(tmp_path / "missing" / "file")


def test_a_dict_is_the_json_document(shown):
    assert shown.to_dict() == json.loads(shown.to_json())
    assert str(shown) == render(shown)


def test_a_frame_of_values_is_indexed_by_metric_k_and_system(results):
    frame = results.to_frame()
    assert frame.index.names == ["metric", "k", "system"]
    assert list(frame.columns) == ["value", "low", "high", "tie_low", "tie_high", "ceiling"]
    assert set(frame.dtypes) == {np.dtype("float64")}
    assert frame.loc[("P", 3, "new"), "value"] == results["new"]["P@3"]
    assert tuple(frame.loc[("R", "all", "old"), ["low", "high"]]) == results["old"].interval("R@all")
    assert frame.loc[("macroF1", 3, "old")].isna().sum() == 5
    paper = frame["value"].unstack(["metric", "k"])
    assert paper.shape == (2, 6)
    assert paper.loc["new", ("nDCG", 1)] == results["new"]["nDCG@1"]
    assert list(paper.columns) == [("P", 1), ("P", 3), ("nDCG", 1), ("nDCG", 3), ("R", "all"), ("macroF1", 3)]
    parts = pandas.concat([each.to_frame() for each in results.values()])
    assert parts["value"].unstack("system")["new"].to_dict() == paper.loc["new"].to_dict()


def test_a_frame_has_bins_where_they_are_asked_for(results, comparison):
    frame = results.to_frame(bins=True)
    assert frame.index.names == ["metric", "k", "bin", "system"]
    pandas.testing.assert_frame_equal(frame.xs("", level="bin").drop(columns="kind"), results.to_frame())
    assert set(frame["kind"]) == {"total", "share", "average"}
    total = frame.loc[("P", 1)]["value"].unstack("bin")
    assert np.allclose(total["head"] + total["tail"], total[""], atol=1e-12)
    tail = next(part for part in results["old"].slices if part.bin.name == "tail")
    assert frame.loc[("macroF1", 3, "tail", "old"), "value"] == tail.estimates["macroF1@3"].value


def test_a_frame_of_differences_has_the_numbers_of_each(comparison):
    frame, with_bins = comparison.to_frame(), comparison.to_frame(bins=True)
    assert frame.index.names == ["metric", "k", "system", "baseline"]
    assert with_bins.index.names == ["metric", "k", "bin", "system", "baseline"]
    assert len(with_bins) == len(comparison.differences) > len(frame) == len(comparison)
    own, row = comparison["P@3", "new", "old"], frame.loc[("P", 3, "new", "old")]
    for name in ("difference", "p", "wins", "n", "unit"):
        assert row[name] == getattr(own, name)
    assert frame.loc[("macroF1", 3, "new", "old"), "wins"] is pandas.NA


def test_without_pandas_an_error_names_the_command(monkeypatch, shown):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(DataError, match=r"needs the package pandas \(hint: pip install pandas\)"):
        shown.to_frame()


def test_a_comparison_gives_differences_in_any_spelling_and_results_by_name(problem, comparison, results):
    assert comparison["precision@1", "new", "old"] is comparison["P@1", "new", "old"]
    assert comparison["macrof1", "new", "old"].measure.name == "macroF1@3"
    assert comparison["new"] == results["new"]
    old, new = problem[1].values()
    with_runs = xmceval.compare(problem[0], {"a": [old, new], "b": old + new}, **OPTIONS, train=problem[0])
    assert with_runs["a"]["P@3"] == pytest.approx((results["old"]["P@3"] + results["new"]["P@3"]) / 2)
    for result in with_runs.results:
        assert with_runs[result.name] is result


def test_scoring_all_systems_gives_the_values_of_each(problem, results):
    y_true, systems = problem
    for name, y_score in systems.items():
        alone = xmceval.score(y_true, y_score, **OPTIONS, train=y_true)
        assert results[name] == replace(alone, name=name)
    assert list(results) == list(systems)


def test_results_that_were_scored_alone_make_the_same_table(results):
    alone = [results["old"], results["new"]]
    assert xmceval.Results(alone) == xmceval.Results(dict(results)) == results
    assert str(xmceval.Results(alone)) == str(results) == render(xmceval.Results(alone))
    renamed = xmceval.Results({"A": alone[0], "B": alone[1]})
    assert [each.name for each in renamed.values()] == ["A", "B"]
    assert str(xmceval.Results(alone[0])) == str(alone[0])


def test_everything_draws_itself(shown, results):
    names = {"Comparison": "new \N{MINUS SIGN} old, points"}
    [panel] = shown.plot(metrics="P@3").axes
    assert names.get(type(shown).__name__, "share of P@3, points") in {panel.get_xlabel(), panel.get_ylabel()}
    assert len(results.plot("curves", metrics="P").axes[0].lines) == len(results)
