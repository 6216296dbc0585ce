"""Reading back: results and comparisons that are read from their JSON show the same bytes in every form."""

import copy
import json
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.measures import names_of

import xmceval
from xmceval.errors import DataError
from xmceval.labels.standings import Standings, rank_among_published
from xmceval.metrics.names import parse, restore_measure
from xmceval.metrics.table import METRICS
from xmceval.report import page
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.forms.registry import FORMS
from xmceval.report.pictures import to_svg
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.version import VERSION

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N, N_LABELS = 60, 12
LAYOUTS = [DEFAULT, Layout(transpose=True, percent=False, places=3), Layout(intervals=False)]


def make(seed=5, n=N, places=2):
    """Return a truth, and scores of three systems with ties."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, N_LABELS)) < 0.25
    truth[0] = False
    scores = {name: np.round((rng.random(truth.shape) + truth * rng.random()) / 2, places) for name in "abc"}
    return truth, {name: np.where(each > 0.1, each, -np.inf) for name, each in scores.items()}


TRUTH, SCORES = make()
GRADES = TRUTH * np.random.default_rng(6).integers(1, 4, TRUTH.shape)
AT_K = {"k": (1, 3), "metrics": "P,PSP,nDCG"}
BINS = {"train": TRUTH, "by_frequency": "head,tail"}
GROUPS = {"by_group": np.array(["en", "de"])[np.arange(N) % 3 % 2]}
RICH = {"k": (1, 3), "metrics": "P,PSP,macroF1,LRAP", **BINS, "ceiling": True}
EVERY = {"k": (1, 3), "metrics": list(METRICS), "train": TRUTH}
PLOTS = ["gain"]


def score(truth=TRUTH, scores=SCORES["a"], **options):
    return xmceval.score(truth, scores, **{**AT_K, **options})


def compare(truth=TRUTH, scores=SCORES, **options):
    return xmceval.compare(truth, scores, **{**AT_K, **options})


def compare_runs(**options):
    """Compare two systems of which one has three runs."""
    runs = {"seeds": [SCORES["a"], np.round(SCORES["a"], 1), SCORES["b"]], "once": SCORES["c"]}
    return compare(scores=runs, **options)


def compare_few():
    """Compare systems that differ in few rows, or alike in all that differ."""
    truth, scores = np.eye(6)[np.arange(20) % 6], np.eye(6)[np.arange(20) % 6]
    hits = {name: np.where(np.arange(20)[:, None] < n, scores, 0.5) for name, n in (("two", 2), ("most", 14))}
    return compare(truth, {**hits, "all": scores})


def with_published():
    """Return results with ranks in published ones: among them, above and below all of them, and none."""
    own = [rank_among_published({"P@1": value, "PSP@3": 0.3}, "EURLex-4K") for value in (0.8, 0.99, 0.01)]
    own += [Standings("EURLex-4K", (), "the sizes differ"), Standings("EURLex-4K", ())]
    result = score()
    return xmceval.Results(replace(result, name=f"{i}", published=each) for i, each in enumerate(own))


def compare_other_tools(folder):
    """Compare values of rows with metrics that are shares, that are not, and that have options of their own."""
    for name, other in (("a", 0.5), ("b", 0.25)):
        lines = [f"{row},{row % 2 * other},{row + other},{other},{row % 3 * other}" for row in range(40)]
        (folder / f"{name}.csv").write_text("row,P@1,my gain,P,odd@5x\n" + "\n".join(lines) + "\n")
    return xmceval.compare_rows([folder / "a.csv", folder / "b.csv"], plots="rows")


def compare_saved(folder):
    for name in "ab":
        score(scores=SCORES[name], metrics="P,LRAP", save_rows=folder / f"{name}.rows.npz")
    return xmceval.compare_rows([folder / f"{name}.rows.npz" for name in "ab"], test="randomization", resamples=200)


def score_files(folder):
    """Score files with a filter, weights, a threshold that is infinite, and names that must be escaped."""
    rows = [" ".join(f"{j}:1" for j in np.flatnonzero(row)) for row in TRUTH]
    (folder / "t<&>.txt").write_text(f"{N} {N_LABELS}\n" + "\n".join(rows) + "\n")
    rows = [" ".join(f"{j}:{x}" for j, x in enumerate(row) if x > 0.1) for row in SCORES["a"]]
    (folder / "p é.txt").write_text(f"{N} {N_LABELS}\n" + "\n".join(rows) + "\n")
    (folder / "f.txt").write_text("0 0\n1 1\n1 2\n5 3\n")
    options = {"filter": folder / "f.txt", "filter_truth": True, "sample_weight": np.arange(N) % 3 + 0.5}
    options |= {"metrics": "P,microF1,tp,precision_score,coverage", "threshold": float("inf"), "empty_rows": "drop"}
    return xmceval.score(folder / "t<&>.txt", folder / "p é.txt", **options)


def merge_states(folder):
    score(**RICH | {"metrics": "P,PSP"}, save_state=folder / "a.state")
    return xmceval.merge([folder / "a.state"])


KINDS = {
    "every metric": lambda _: score(**EVERY),
    "every metric, compared": lambda _: compare(**EVERY | BINS),
    "every metric of grades": lambda _: score(GRADES, metrics=[f"{each}(rel=2)" for each in ("P", "LRAP", "AUC")]),
    "grades": lambda _: compare(GRADES, metrics="P,nDCG(gain=exp),DCG,LRAP,LRAP(rel=2),AUC"),
    "rich": lambda _: score(**RICH, plots=PLOTS),
    "groups": lambda _: score(**GROUPS, k=(1, 3), metrics="P,macroF1,LRAP", ceiling=True),
    "groups, compared": lambda _: compare(**GROUPS, against="b"),
    "several": lambda _: xmceval.score_all(TRUTH, SCORES, **RICH),
    "order of ties": lambda _: score(scores=np.round(SCORES["a"], 1), ties="expected"),
    "propensities that were passed": lambda _: score(inverse_propensities=1 + np.arange(N_LABELS) / 3),
    "files": score_files,
    "published": lambda _: with_published(),
    "states": merge_states,
    "few rows": lambda _: score(*make(n=7)[:1], make(n=7)[1]["a"], **BINS | {"train": TRUTH}),
    "rich, compared": lambda _: compare(**RICH, plots=[*PLOTS, "rows"]),
    "many pairs": lambda _: compare(scores={**SCORES, "d": SCORES["a"], "e": np.round(SCORES["b"], 1)}, **BINS),
    "against": lambda _: compare(**RICH, against="b"),
    "randomization": lambda _: compare(test="randomization", resamples=200, seed=7, adjust_over="all"),
    "runs": lambda _: compare_runs(**BINS),
    "runs against": lambda _: compare_runs(against="once", plots=PLOTS),
    "few rows differ": lambda _: compare_few(),
    "saved rows": compare_saved,
    "other tools": compare_other_tools,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return what makes a kind of results, each once."""
    found = {}

    def find(kind):
        if kind not in found:
            found[kind] = KINDS[kind](tmp_path_factory.mktemp("kind"))
        return found[kind]

    return find


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_back_shows_the_same_in_every_form(made, kind, monkeypatch):
    monkeypatch.setattr(page, "show_pictures", lambda _: None)
    before = made(kind)
    after = type(before).from_dict(before.to_dict())
    assert after == before
    assert repr(after) == repr(before)
    for layout in LAYOUTS:
        for form in FORMS:
            assert after._render(form, layout) == before._render(form, layout), form
    assert after._draw_page(None, DEFAULT) == before._draw_page(None, DEFAULT)
    for bins in (False, True):
        pd.testing.assert_frame_equal(after.to_frame(bins=bins), before.to_frame(bins=bins), check_exact=True)


@pytest.mark.parametrize(
    ("kind", "pictures"),
    [
        pytest.param("rich", ["curves", "bins", *PLOTS], marks=pytest.mark.thorough),
        ("rich, compared", ["differences", "rows", *PLOTS]),
    ],
)
def test_what_is_read_back_has_the_same_pictures(made, kind, pictures):
    before = made(kind)
    after = type(before).from_dict(before.to_dict())
    for picture in pictures:
        assert to_svg(after.plot(picture)) == to_svg(before.plot(picture)), picture


def test_files_are_read_back_and_name_themselves_in_errors(made, tmp_path):
    result, comparison = made("rich"), made("against")
    result.to_json(tmp_path / "result.json")
    comparison.to_json(str(tmp_path / "comparison.json"))
    assert xmceval.Result.from_json(tmp_path / "result.json") == result
    assert str(xmceval.Results.from_json(tmp_path / "result.json")) == str(result)
    assert xmceval.Comparison.from_json(str(tmp_path / "comparison.json")) == comparison
    (tmp_path / "cut.json").write_text(result.to_json()[:-9])
    (tmp_path / "nan.json").write_text('{"schema": NaN}')
    for name, message in [("none", "none.json"), ("cut", "cut.json: not a JSON document"), ("nan", "NaN is not a num")]:
        with pytest.raises(DataError, match=message):
            xmceval.Result.from_json(tmp_path / f"{name}.json")
    with pytest.raises(DataError, match=r"result.json: expected .*/compare/2, got .* \(hint: xmceval.Results reads it"):
        xmceval.Comparison.from_json(tmp_path / "result.json")
    with pytest.raises(DataError, match="expects a path, got JSON itself"):
        xmceval.Result.from_json(result.to_json())


def test_a_comparison_of_a_single_system_comes_back_without_differences():
    alone = xmceval.Comparison((score(),), (), Testing(against="the one that is missing"))
    assert xmceval.Comparison.from_dict(alone.to_dict()).to_json() == alone.to_json()


def drop(document, *path):
    *path, last = path
    for step in path:
        document = document[step]
    del document[last]


def put(document, *path):
    *path, last, value = path
    for step in path:
        document = document[step]
    document[last] = value


WRONG = [
    (lambda d: drop(d, "schema"), "expected a document with the schema xmceval/compare/2, got an object without a sch"),
    (lambda d: put(d, "schema", "xmceval/compare/3"), "which another version of xmceval wrote"),
    (lambda d: put(d, "schema", "xmceval/inspect/1"), 'compare/2, got "xmceval/inspect/1"$'),
    (lambda d: drop(d, "comparisons", 1, "error"), r"^comparisons\[1\].error: is missing \(hint: "),
    (
        lambda d: put(d, "systems", 0, "metrics", "P@1", "value", "x"),
        r'^systems\[0\].metrics\["P@1"\].value: expected a',
    ),
    (lambda d: put(d, "systems", 1, "short_rows", {"one": 1}), r"^systems\[1\].short_rows.one: invalid literal"),
    (lambda d: put(d, "systems", []), "^systems: expected at least one"),
    (lambda d: put(d, "comparisons", 0, "baseline", "z"), "^z is not one of the systems a, b, c"),
    (lambda d: put(d, "grades", [1]), "^grades: expected 2 values, got 1"),
    (lambda d: put(d, "resamples", 3), "resamples: expected a whole number of at least 100, got 3"),
    (lambda d: put(d, "densities", 1, "steps", 1), r"^densities\[1\]: its cells are not within 1 steps"),
    (lambda d: put(d, "comparisons", 0, "p", float("nan")), r"^comparisons\[0\].p: expected a number, got NaN"),
]


@pytest.mark.parametrize(("damage", "message"), WRONG, ids=[message for _, message in WRONG])
def test_damaged_documents_are_refused_with_their_place(made, damage, message):
    document = made("rich, compared").to_dict()
    damage(document)
    with pytest.raises(DataError, match=message):
        xmceval.Comparison.from_dict(document)


def test_documents_of_others_are_refused(made):
    with pytest.raises(DataError, match=r"expected one system, got 3 \(hint: xmceval.Results reads them\)"):
        xmceval.Result.from_dict(made("several").to_dict())
    for document in (None, [], "{}", 3):
        with pytest.raises(DataError, match="expected a d"):
            xmceval.Result.from_dict(document)


def list_places(document, path=()):
    """Yield the path of every value; of long arrays of their first two items."""
    items = document.items() if isinstance(document, dict) else enumerate(document[:2])
    for name, value in items:
        yield (*path, name)
        if isinstance(value, (dict, list)):
            yield from list_places(value, (*path, name))


@pytest.mark.parametrize("kind", ["labels", "runs against", "files", "published"])
def test_whatever_is_damaged_no_other_error_comes_of_it(made, kind):
    before, rng = made(kind), np.random.default_rng(3)
    document, read = before.to_dict(), type(before).from_dict
    places = [*list_places(document)]
    for place in rng.permutation(len(places))[:60].tolist():
        for value in (None, -1, 0.5, "x", [], {}, [None], {"x": None}, 10**400):
            damaged = copy.deepcopy(document)
            put(damaged, *places[place], value)
            try:
                read(damaged)
            except DataError as error:
                assert str(error)  # noqa: PT017 - most of these are refused, some are values as good as any


def with_more(value):
    """Return a document in which every object with known fields has one that is not known yet."""
    if isinstance(value, dict):
        more = {"later": {"a": 1}} if "name" in value or "system" in value or "schema" in value else {}
        return {**{name: with_more(each) for name, each in value.items()}, **more}
    return [with_more(each) for each in value] if isinstance(value, list) else value


def test_fields_of_a_later_version_are_left_out_and_its_name_is_kept(made):
    comparison = made("labels")
    later = {**with_more(comparison.to_dict()), "version": "9.1"}
    again = xmceval.Comparison.from_dict(later)
    assert {each.version for each in again.results} == {"9.1"}
    assert again.to_dict() == {**comparison.to_dict(), "version": "9.1"}
    assert comparison.results[0].version == VERSION


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_every_measure_comes_back_by_its_canonical_name(metric):
    for measure in parse(names_of(metric)):
        again = restore_measure(measure.name)
        assert (again.name, again.metric, again.k, again.definition) == (
            *(measure.name, metric, measure.k, measure.definition),
        )


def test_metrics_of_other_tools_can_be_pickled(made):
    comparison = made("other tools")
    assert str(pickle.loads(pickle.dumps(comparison))) == str(comparison)


def test_reading_needs_neither_numba_nor_scipy(made, tmp_path):
    made("rich, compared").to_json(tmp_path / "c.json")
    code = """
import sys, xmceval
comparison = xmceval.Comparison.from_json(sys.argv[1])
str(comparison)
print([name for name in ("numba", "scipy", "pandas", "matplotlib") if name in sys.modules])
"""
    ended = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "c.json"], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n"


def test_numbers_come_back_with_every_bit(made):
    document = json.loads(json.dumps(made("every metric, compared").to_dict()))
    assert xmceval.Comparison.from_dict(document).to_dict() == document
