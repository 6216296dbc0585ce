"""Saved values of rows: written by score and compare, read back with the same digits."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from support.files import write_qrels, write_run
from support.pieces import read_in_pieces

import xmceval
from xmceval.cli.main import main
from xmceval.errors import DataError, XmcevalWarning
from xmceval.files.saved_rows import read_rows

METRICS = ["P@1,3", "PSP@3", "LRAP", "GAUC", "AUC", "f1_score"]


@pytest.fixture
def made(rng):
    truth = rng.random((90, 12)) < 0.2
    scores = {name: np.where((s := truth * rng.random() + rng.random((90, 12))) > 0.4, s, -np.inf) for name in "ab"}
    return truth, scores, {"metrics": METRICS, "inverse_propensities": 1 + rng.random(12), "threshold": 0.4}


@pytest.fixture
def save(made):
    """Return a function that scores a system, saves its rows, and returns their path."""

    def save(path, system="a", y_true=made[0], **options):
        xmceval.score(y_true, made[1][system], **{"metrics": "P@1", **options}, save_rows=path)
        return path

    return save


@pytest.mark.parametrize("form", ["npz", "csv"])
@pytest.mark.parametrize("weighted", [False, True])
def test_saved_rows_give_the_same_digits(made, save, form, weighted, rng, monkeypatch):
    truth, scores, options = made
    options["sample_weight"] = rng.integers(0, 3, 90) if weighted else None
    read_in_pieces(monkeypatch, entries=50)
    together = xmceval.compare(truth, scores, **options, save_rows=f"both.rows.{form}", threads=2)
    apart = [save(f"{name}.rows.{form}", name, **options) for name in scores]
    for files in ([f"both.rows.{form}"], apart):
        found = xmceval.compare_rows(files, names=["a", "b"])
        assert found.differences == together.differences
        assert found.results[0].counts.grades == together.results[0].counts.grades


def test_rows_are_in_order_and_are_those_of_the_judge(made, save, monkeypatch):
    truth, scores, _ = made
    read_in_pieces(monkeypatch, entries=7)
    table = read_rows(save("a.rows.csv", threads=3))
    assert table.rows == tuple(map(str, range(90)))
    best = np.where(scores["a"].max(axis=1) > -np.inf, scores["a"].argmax(axis=1), -1)
    hits = [float(label >= 0 and truth[row, label]) for row, label in enumerate(best)]
    assert table.values[:, 0, 0, 0].tolist() == hits
    assert np.mean(hits) == pytest.approx(xmceval.score(truth, scores["a"], metrics="P@1")["P@1"])


def test_a_csv_needs_only_the_column_of_rows_and_those_of_metrics():
    Path("all.csv").write_text("P@1,row,weight,system\n0.5,0,1,a\n1,0,1,b\n")
    table = read_rows("all.csv")
    assert (table.systems, table.metrics, table.values[0, :, 0, 0].tolist()) == (("a", "b"), ("P@1",), [0.5, 1.0])
    Path("new.csv").write_text("row,P_5,map\n301,0.2,0.5\n302,,1\n")  # trec_eval's names; one row does not count
    table = read_rows("new.csv")
    assert (table.systems, table.metrics, table.weights.tolist()) == (("new",), ("P@5", "AP@all"), [1, 1])
    np.testing.assert_array_equal(table.values[:, 0], [[[0.2, 1], [0.5, 1]], [[np.nan, 0], [1, 1]]])


@pytest.mark.parametrize("form", ["npz", "csv"])
def test_a_saved_file_that_is_cut_anywhere_is_refused(made, form):
    truth, scores, _ = made
    systems = {"a": scores["a"][:9], "b": scores["b"][:9]}
    xmceval.compare(truth[:9], systems, metrics=["P@1", "PSP@1"], save_rows=f"r.{form}")
    content = Path(f"r.{form}").read_bytes()
    whole = read_rows(f"r.{form}")
    for size in range(len(content)):
        Path(f"r.{form}").write_bytes(content[:size])
        try:
            table = read_rows(f"r.{form}")
        except DataError:
            continue
        assert size == len(content) - 1
        assert (table.rows, table.values.tolist()) == (whole.rows, whole.values.tolist())


def test_a_csv_of_chosen_rows_says_so_by_lacking_the_number_of_rows(save):
    head, *lines = Path(save("a.csv")).read_text().splitlines(keepends=True)
    assert head == "row,system,weight,P@1,n_rows\n"
    assert [line.rpartition(",")[2] for line in lines] == ["\n"] * 89 + ["90\n"]
    Path("b.csv").write_text("".join(line.rpartition(",")[0] + "\n" for line in [head, *lines[:2]]))
    assert read_rows("b.csv").rows == ("0", "1")


def test_equal_propensities_from_other_files_are_the_same(save):
    train = np.eye(12)[:7].repeat([3, 1, 4, 1, 5, 9, 2], axis=0)
    a = save("a.npz", metrics="PSP@3", train=train)
    b = save("b.npz", "b", metrics="PSP@3", counts=train.sum(axis=0).astype(int), n_train=len(train))
    xmceval.compare_rows([a, b])


def test_a_comparison_of_rows_can_be_pickled(save):
    comparison = xmceval.compare_rows([save("a.npz"), save("b.npz", "b")])
    assert str(pickle.loads(pickle.dumps(comparison))) == str(comparison)


def test_what_is_doubtful_about_files_of_rows_is_warned_of(save):
    files = save("a.npz"), save("b.npz", "b", ties="best"), save("a.csv")
    with pytest.warns(XmcevalWarning, match="scored under different options: a.npz: the defaults; b.npz: ties=best"):
        xmceval.compare_rows(files[:2])
    with pytest.warns(XmcevalWarning, match=r"a.npz is passed twice: its systems tie"):
        found = xmceval.compare_rows(["a.npz", "./a.npz"])
    assert len({result.name for result in found.results}) == 2
    with pytest.warns(XmcevalWarning, match="cannot check that"):
        found = xmceval.compare_rows([save("c.npz", "b"), "a.csv"])
    assert "predictions per instance" not in str(found)  # what a CSV does not know is not shown as zero


def write_rows(path, columns):
    """Write values by row as another tool would; None is an empty cell."""
    lines = [",".join(columns), *(",".join(map(str, line)) for line in zip(*columns.values(), strict=True))]
    Path(path).write_text("\n".join(lines).replace("None", "") + "\n")
    return path


@pytest.mark.filterwarnings("ignore:.*cannot check that the instances")
@pytest.mark.parametrize("empty", ["None", "nan"])
def test_a_value_that_one_system_lacks_is_a_row_that_it_lacks(empty, rng):
    """By metric: AP lacks in one row of b, P@1 in another of a; the same as lines that only these metrics lack."""
    names, old, new = [f"q{i}" for i in range(12)], rng.random((2, 12)), rng.random((2, 12))
    new[0, 4] = old[1, 7] = np.nan
    for path, (ap, p1) in (("a.rows.csv", old), ("b.rows.csv", new)):
        columns = {"query": names, "AP": ap, "P@1": p1}
        write_rows(path, {k: [empty if v != v else v for v in of] for k, of in columns.items()})
    for missing in ("zero", "drop"):
        found = xmceval.compare_rows(["a.rows.csv", "b.rows.csv"], missing=missing)
        for number, metric in enumerate(("AP", "P@1")):
            pairs = np.stack([old[number], new[number]])
            is_whole = ~np.isnan(pairs).any(axis=0)
            pairs = np.nan_to_num(pairs) if missing == "zero" else pairs[:, is_whole]
            difference = found[metric, "b", "a"]
            assert difference.n == pairs.shape[1]
            assert difference.difference == pytest.approx(np.diff(pairs, axis=0).mean(), abs=1e-12)
            assert found["a"][metric] == pytest.approx(pairs[0].mean(), abs=1e-12)
        assert any("has no value of AP@all in 1 row of 12" in line for line in found.facts)


@pytest.mark.filterwarnings("ignore:.*cannot check that the instances")
@pytest.mark.parametrize("missing", ["error", "zero", "drop"])
def test_rows_that_no_system_has_a_value_in_are_lacking_in_none(missing):
    write_rows("a.csv", {"row": range(4), "P@1": [1, None, 0, 1]})
    write_rows("b.csv", {"row": range(4), "P@1": [0, None, 1, 1]})
    found = xmceval.compare_rows(["a.csv", "b.csv"], missing=missing)["P@1", "b", "a"]
    assert (found.n, found.difference) == (3, 0)


def test_means_over_different_rows_are_reported_where_predictions_decide_the_rows(made, save):
    truth, scores, _ = made
    name = "precision_score(average=samples,zero=skip)"
    fewer = {"a": scores["a"], "b": np.where(scores["b"] > 0.9, scores["b"], -np.inf)}
    options = {"metrics": [name, "P@1"], "threshold": 0.4}
    together = xmceval.compare(truth, fewer, **options, save_rows="both.rows.npz")
    n_one_sided = int(np.sum((fewer["a"] >= 0.4).any(axis=1) != (fewer["b"] >= 0.4).any(axis=1)))
    fact = f"{name} counts {n_one_sided} instances with a value in only one of a and b"
    assert n_one_sided > 1
    for found in (together, xmceval.compare_rows(["both.rows.npz"])):
        assert fact in found.facts
        assert found.differences == together.differences


@pytest.mark.parametrize("key", ["row", "query"])
def test_a_row_named_all_is_doubted(key):
    for path in ("a.csv", "b.csv"):
        write_rows(path, {key: ["q1", "q2", "all"], "map": [0.25, 0.75, 0.5]})
    with pytest.warns(XmcevalWarning, match=r"a.csv: has a row 'all', which in trec_eval's output is the mean"):
        xmceval.compare_rows(["a.csv", "b.csv"])


QRELS = {"q9": {"d1": 1, "d2": 0}, "q10": {"d2": 1, "d1": 1}, "q\u00e97": {"d3": 2}}
RUNS = {"a": (3, 2, 1), "b": (1, 2, 3)}


@pytest.fixture
def queries():
    runs = {name: dict(zip(("d1", "d2", "d3"), scores, strict=True)) for name, scores in RUNS.items()}
    files = {
        name: write_run(f"{name}.run", dict.fromkeys(["q\u00e97", "q9", "q10"], run)) for name, run in runs.items()
    }
    return write_qrels("q.txt", QRELS), files


@pytest.mark.parametrize("form", ["npz", "csv"])
def test_rows_of_qrels_are_called_by_their_queries_and_joined_by_them(form, queries):
    truth, runs = queries
    together = xmceval.compare(truth, runs, metrics="P", k=1, save_rows=f"r.{form}")
    assert read_rows(f"r.{form}").rows == ("q9", "q10", "q\u00e97")
    other = "".join(f"{query},b,1,{value}\n" for query, value in (("q10", 0), ("q\u00e97", 1), ("q9", 0)))
    Path("b.csv").write_text("row,system,weight,P@1\n" + other, encoding="utf-8")
    xmceval.score(truth, runs["a"], metrics="P", k=1, save_rows=f"a.rows.{form}")
    with pytest.warns(XmcevalWarning, match="cannot check that the instances have the same truth"):
        joined = xmceval.compare_rows([f"a.rows.{form}", "b.csv"], names=["a", "b"])
    assert joined.differences == together.differences


@pytest.mark.parametrize("form", ["npz", "csv"])
@pytest.mark.parametrize("kind", ["sequence", "file", "shards"])
def test_ids_of_rows_are_kept_in_saved_rows(form, kind, made):
    truth, scores, options = made
    ids = [f"id {row:x}" for row in range(90)]
    for name, own in {"ids.txt": ids, "part-1.txt": ids[:40], "part-2.txt": ids[40:]}.items():
        Path(name).write_text("\r\n".join(own) + "\n", encoding="utf-8-sig")
    passed = {"sequence": np.array(ids), "file": "ids.txt", "shards": "part-*.txt"}[kind]
    weights, shards = np.arange(90) % 3, xmceval.Shards([truth[:50], truth[50:]])
    xmceval.compare(shards, scores, **options, sample_weight=weights, row_ids=passed, save_rows=f"r.{form}")
    assert read_rows(f"r.{form}").rows == tuple(name for name, weight in zip(ids, weights, strict=True) if weight)


@pytest.mark.parametrize("with_ids", [False, True])
@pytest.mark.parametrize("form", ["npz", "csv"])
def test_patterns_of_shards_give_the_same_digits(made, with_ids, form, capsys):
    truth, scores, options = made
    together = xmceval.compare(truth, scores, **options)
    for name, each in scores.items():
        for number, rows in enumerate(np.array_split(np.arange(90), 11)):
            ids = {"row_ids": [f"q{row}" for row in rows]} if with_ids else {}
            xmceval.score(truth[rows], each[rows], **options, **ids, save_rows=f"{name}-{number}.rows.{form}")
    found = xmceval.compare_rows([f"a-*.rows.{form}", f"b-*.rows.{form}"], names=["a", "b"])
    assert [vars(each) for each in found.differences] == [vars(each) for each in together.differences]
    with pytest.raises(SystemExit, match="0"):
        main(["compare", f"a=a-*.rows.{form}", f"b=b-*.rows.{form}", "-o", "json"])
    assert json.loads(capsys.readouterr().out)["comparisons"] == together.to_dict()["comparisons"]


@pytest.mark.parametrize("form", ["npz", "csv"])
def test_other_shards_of_a_truth_are_joined_by_ids(made, form):
    truth, scores, options = made
    for name, n_shards in (("a", 2), ("b", 3)):
        for number, rows in enumerate(np.array_split(np.arange(90), n_shards)):
            saved = {"row_ids": [f"q{row}" for row in rows], "save_rows": f"{name}-{number}.rows.{form}"}
            xmceval.score(truth[rows], scores[name][rows], **options, **saved)
    with pytest.warns(XmcevalWarning, match="cannot check that the instances have the same truth"):
        found = xmceval.compare_rows([f"a-*.rows.{form}", f"b-*.rows.{form}"], names=["a", "b"])
    together = xmceval.compare(truth, scores, **options)
    assert [vars(difference) for difference in found.differences] == [
        vars(difference) for difference in together.differences
    ]


@pytest.mark.parametrize("other", [0.75, 1.25, 1.0])
def test_truths_that_differ_in_a_fraction_are_different(other):
    for name, grade in (("a", 0.25), ("b", other)):
        truth = np.array([[grade, 1.0], [0.0, 0.5]])
        xmceval.score(truth, np.eye(2), metrics="P@1", grades=True, save_rows=f"{name}.rows.npz")
    with pytest.raises(DataError, match="are of different truths, by their digests"):
        xmceval.compare_rows(["a.rows.npz", "b.rows.npz"])
