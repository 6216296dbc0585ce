"""Overlap and examples of compare against sets and sums in plain Python, and what they say of wrong input."""

import gzip
import json
from dataclasses import asdict

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st
from judge import naive, naive_overlap
from support import strategies
from support.markup import parse

import xmceval
from xmceval.cli import cli
from xmceval.errors import DataError, UsageError
from xmceval.rows.matrices import matrices


@pytest.fixture
def made(rng):
    truth = rng.random((60, 12)) < 0.2
    scores = {name: np.round(truth * rng.random() + rng.random((60, 12)), 1) for name in "abc"}
    return truth, {name: np.where(each > 0.5, each, -np.inf) for name, each in scores.items()}


def lists_of(rows):
    return [naive.ranked(row) for row in rows]


def as_rows(scores):
    return [{label: row[label] for label in np.flatnonzero(row > -np.inf)} for row in scores]


def true_of(truth):
    return [set(np.flatnonzero(row).tolist()) for row in truth]


def check(found, system, baseline, truth, cutoffs, weights):
    """Compare an overlap with the judge."""
    assert list(found.cutoffs) == cutoffs
    for k in cutoffs:
        expected = naive_overlap.overlap(system, baseline, truth, k, weights)
        assert asdict(found.cutoffs[k]) == pytest.approx(expected, abs=1e-14)
    values = [naive_overlap.rank_biased(*each, cutoffs[-1]) for each in zip(system, baseline, strict=True)]
    assert found.rank_biased == pytest.approx(np.average(values, weights=weights), abs=1e-13)


@given(st.data())
def test_overlap_is_that_of_the_judge(data):
    case = data.draw(strategies.cases(graded=True))
    other = [data.draw(strategies.score_rows(case.n_labels, ties=True)) for _ in case.scores]
    systems = {"a": case.scores, "b": other}
    cutoffs = sorted(data.draw(st.sets(st.integers(1, case.n_labels), min_size=1, max_size=3)))
    matrices_ = {name: strategies.to_csr(rows, case.n_labels) for name, rows in systems.items()}
    truth = strategies.to_csr(case.truth, case.n_labels)
    comparison = xmceval.compare(truth, matrices_, k=cutoffs, metrics="P", overlap=True)
    (found,) = comparison.overlaps
    assert (found.system, found.baseline) == ("b", "a")
    true = [set(row) for row in case.truth]
    check(found, lists_of(other), lists_of(case.scores), true, cutoffs, [1] * len(true))


def test_deep_lists_overlap_as_the_judge_says(rng):
    truth, scores = rng.random((4, 3000)) < 0.1, {name: rng.random((4, 3000)) for name in "ab"}
    (found,) = xmceval.compare(truth, scores, k=[10, 2000], metrics="P", overlap=True).overlaps
    a, b = (lists_of(as_rows(scores[name])) for name in "ab")
    check(found, b, a, true_of(truth), [10, 2000], [1] * 4)


@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_weights_filters_and_empty_rows_hold_for_overlap(made, rng, empty_rows):
    truth, scores = made
    truth[::7] = False
    weights = np.where(np.arange(60) % 5 == 1, 0.0, rng.random(60))
    removed = np.array([[3, 1], [3, 2], [8, 0]])
    filter_ = np.zeros(truth.shape)
    filter_[tuple(removed.T)] = 1
    comparison = xmceval.compare(
        truth, scores, k=[1, 4], metrics="P", overlap=True, sample_weight=weights, empty_rows=empty_rows,
        filter=removed, filter_truth=True,
    )  # fmt: skip
    true = true_of(truth & (filter_ == 0))
    counted = weights * np.array([bool(each) or empty_rows == "zero" for each in true])
    lists = {name: lists_of(as_rows(np.where(filter_, -np.inf, each))) for name, each in scores.items()}
    assert [(each.system, each.baseline) for each in comparison.overlaps] == comparison.pairs
    for each in comparison.overlaps:
        check(each, lists[each.system], lists[each.baseline], true, [1, 4], counted)


def test_equal_lists_overlap_fully(made):
    truth, scores = made
    (found,) = xmceval.compare(truth, {"a": scores["a"], "b": scores["a"]}, k=5, metrics="P", overlap=True).overlaps
    at = found.cutoffs[5]
    assert (at.jaccard, at.hits_both, at.hits_system, at.hits_baseline) == (1.0, 1.0, 0.0, 0.0)
    assert found.rank_biased == pytest.approx(1.0, abs=1e-14)
    assert xmceval.score(truth, scores["a"], k=5, metrics="P")["P@5"] == pytest.approx(at.oracle_precision, abs=1e-15)


def test_threads_and_blocks_change_neither_overlap_nor_examples(made, monkeypatch):
    options = {"k": [1, 3], "metrics": ["PSP", "P"], "overlap": True, "examples": 3}
    expected = xmceval.compare(*made, threads=1, **options).to_dict()
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 40)
    found = xmceval.compare(*made, threads=2, **options).to_dict()
    assert (found["overlaps"], found["examples"]) == (expected["overlaps"], expected["examples"])
    assert found == expected


def test_runs_overlap_as_the_mean_of_their_pairs(made):
    truth, scores = made
    options = {"k": 3, "metrics": "P", "overlap": True}
    runs = xmceval.compare(truth, {"a": scores["a"], "bc": [scores["b"], scores["c"]]}, **options)
    pairs = xmceval.compare(truth, scores, against="a", **options)
    means = np.mean([each.rank_biased for each in pairs.overlaps])
    assert [each.rank_biased for each in runs.overlaps] == [pytest.approx(means, abs=1e-15)]
    with pytest.raises(UsageError, match="not available for systems with several runs"):
        xmceval.compare(truth, {"a": scores["a"], "bc": [scores["b"], scores["c"]]}, examples=1)


def row_values(metric, k, truth, scores):
    true = [dict.fromkeys(each, 1.0) for each in true_of(truth)]
    options = [1.0] * truth.shape[1]
    return np.array([a / b for a, b in naive.row_values(metric, k, {}, true, as_rows(scores), options)])


@pytest.mark.parametrize("metric", ["P", "nDCG", "Abandonment"])
def test_examples_are_the_most_extreme_rows(made, metric):
    truth, scores = made
    comparison = xmceval.compare(truth, scores, k=[1, 3, 2], metrics=[metric, "R@5"], examples=4)
    assert {each.measure.name for each in comparison.examples} == {f"{metric}@3"}
    sign = -1 if metric == "Abandonment" else 1
    for system, baseline in comparison.pairs:
        values = [row_values(metric, 3, truth, scores[each]) for each in (system, baseline)]
        gains = sign * (values[0] - values[1])
        for kind, by in (("loss", gains), ("win", -gains)):
            rows = [int(row) for row in np.lexsort([np.arange(60), np.round(by, 12)]) if by[row] < -1e-12][:4]
            found = [
                each
                for each in comparison.examples
                if (each.system, each.baseline, each.kind) == (system, baseline, kind)
            ]
            assert [each.row for each in found] == rows
            for each in found:
                assert each.value == pytest.approx(values[0][each.row], abs=1e-15)
                assert each.baseline_value == pytest.approx(values[1][each.row], abs=1e-15)
                assert set(each.true) == true_of(truth)[each.row]
                assert list(each.ranked) == lists_of(as_rows(scores[system]))[each.row][:3]
                assert list(each.baseline_ranked) == lists_of(as_rows(scores[baseline]))[each.row][:3]


def test_examples_prefer_a_cutoff_to_the_whole_list(made):
    comparison = xmceval.compare(*made, metrics=["nDCG@all", "nDCG@1"], examples=1)
    assert {each.measure.name for each in comparison.examples} == {"nDCG@1"}


def test_examples_number_rows_as_the_truth_does(made):
    truth, scores = made
    every = xmceval.compare(truth, scores, k=3, metrics="P", examples=60, against="a").examples
    weights = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)
    kept = xmceval.compare(truth, scores, k=3, metrics="P", examples=60, against="a", sample_weight=weights).examples
    assert kept == tuple(each for each in every if each.row % 3)


def test_tables_show_the_first_labels_of_long_lists():
    n = 30
    scores = {"a": np.arange(n)[None], "b": -np.arange(n)[None]}
    comparison = xmceval.compare(np.arange(n)[None] >= n - 1, scores, k=[1, n - 1], metrics="P", examples=1)
    lists = [f"{'*' if label == n - 1 else ''}{label}" for label in range(n - 1, n - 21, -1)]
    assert f"{', '.join(lists)}, and 9 more" in " ".join(str(comparison).split())
    text = " ".join(parse(comparison.to_html()).all("section", id="examples")[0].text.split())
    assert f"{', '.join(lists).lstrip('*')}, and 9 more" in text
    [example] = comparison.examples
    assert len(example.ranked) == len(example.baseline_ranked) == n - 1


def test_equal_systems_have_no_examples(made):
    truth, scores = made
    assert xmceval.compare(truth, {"a": scores["a"], "b": scores["a"]}, examples=3).examples == ()


def test_examples_have_texts_of_a_file_or_a_list(made, tmp_path):
    texts = [f"text {row}" for row in range(60)]
    plain, packed = tmp_path / "texts.txt", tmp_path / "texts.gz"
    plain.write_bytes("\n".join(texts).encode())
    packed.write_bytes(gzip.compress("".join(f"{text}\r\n" for text in texts).encode()))
    for passed in (texts, plain, str(packed)):
        examples = xmceval.compare(*made, k=3, metrics="P", examples=2, texts=passed).examples
        assert [each.text for each in examples] == [f"text {each.row}" for each in examples]
        assert len(examples) > 6


@pytest.mark.parametrize("n", [0, 59, 61])
def test_other_numbers_of_texts_are_refused(made, tmp_path, n):
    path = tmp_path / "texts.txt"
    path.write_text("x\n" * n)
    message = f"texts.txt: has {n} lines, and there are 60 rows; expected one per instance .hint: pass texts="
    with pytest.raises(DataError, match=message if n else "the file is empty"):
        xmceval.compare(*made, examples=2, texts=path)
    with pytest.raises(DataError, match=f"there are {n} texts for 60 rows; expected one per instance"):
        xmceval.compare(*made, examples=2, texts=["x"] * n)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"examples": 0}, UsageError, "examples must be a whole number of at least 1, got 0"),
        ({"texts": "x.txt"}, UsageError, "texts has no effect without examples"),
        ({"overlap": True, "metrics": "LRAP"}, UsageError, "overlap needs a metric with a cutoff .hint: add one"),
        ({"examples": 1, "metrics": "LRAP"}, UsageError, "examples needs? a metric with a cutoff .hint: add one"),
        ({"examples": 1, "metrics": "macroF1"}, UsageError, "examples need a metric with per-instance values"),
        ({"examples": 1, "texts": "missing.txt"}, DataError, "missing.txt: no such file"),
    ],
)
def test_wrong_options_are_refused(made, options, error, message):
    with pytest.raises(error, match=message):
        xmceval.compare(*made, **options)


FILES = {
    "truth.txt": "2 4\n0:1 2:1\n1:1\n",
    "a.txt": "2 4\n0:9 2:8\n3:9 2:8\n",
    "b.txt": "2 4\n2:9 3:8\n1:9 3:8\n",
    "names.txt": "zero\none\ntwo\nthree\n",
    "texts.txt": "first text\nsecond text\n",
}
BOTH_LISTS = """
b \N{MINUS SIGN} a · overlap of the k best labels · percent
      Jaccard  hits of both  only b  only a  union P  union R  oracle P
  @1     0.00          0.00   66.67   33.33    75.00   100.00    100.00
  @2    33.33         33.33   33.33   33.33    50.00   100.00     75.00
  rank-biased overlap of the best 2 (p=0.9, extrapolated): 45.00

b \N{MINUS SIGN} a · instances that b loses by most on P@2, counted from 0 · * marks hits
  instance 0  P@2   50.00 against 100.00
              text  first text
              true  zero, two
              b     *two, three
              a     *zero, *two

b \N{MINUS SIGN} a · instances that b wins by most on P@2, counted from 0 · * marks hits
  instance 1  P@2   50.00 against 0.00
              text  second text
              true  one
              b     *one, three
              a     three, two
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return lambda *args: CliRunner().invoke(cli, ["compare", "truth.txt", "a.txt", "b.txt", "-m", "P@2,1", *args])


def test_command_lists_overlap_and_examples(run):
    asked = ("--overlap", "--examples", "1", "--labels", "names.txt", "--texts", "texts.txt")
    ended = run(*asked, "-q")
    assert ended.exit_code == 0, ended.output
    assert BOTH_LISTS in ended.stdout
    document = json.loads(run(*asked, "-o", "json", "-q").stdout)
    (overlap,) = document["overlaps"]
    assert overlap["rank_biased"] == {"value": pytest.approx(0.45), "p": 0.9, "depth": 2}
    assert overlap["cutoffs"][0] == {
        "k": 1, "jaccard": 0.0, "hits_both": 0.0, "hits_system": pytest.approx(2 / 3),
        "hits_baseline": pytest.approx(1 / 3), "union_precision": 0.75, "union_recall": 1.0, "oracle_precision": 1.0,
    }  # fmt: skip
    assert document["examples"][1] == {
        "system": "b", "baseline": "a", "kind": "win", "metric": "P@2", "row": 1, "id": None,
        "value": 0.5, "baseline_value": 0.0, "text": "second text",
        "true": [{"label": 1, "name": "one"}],
        "ranked": [{"label": 1, "name": "one", "hit": True}, {"label": 3, "name": "three", "hit": False}],
        "baseline_ranked": [{"label": 3, "name": "three", "hit": False}, {"label": 2, "name": "two", "hit": False}],
    }  # fmt: skip


def test_without_the_options_nothing_is_listed(run):
    document = json.loads(run("-o", "json", "-q").stdout)
    assert (document["overlaps"], document["examples"]) == ([], [])


def test_command_refuses_what_has_no_lists(run):
    assert run("--save-rows", "a.rows.npz", "-q").exit_code == 0
    ended = CliRunner().invoke(cli, ["compare", "a.rows.npz", "--overlap"])
    assert "overlap and examples need lists of labels, which per-instance values do not have" in str(
        ended.exception or ended.output
    )
    ended = run("--overlap", "-o", "csv")
    assert ended.exit_code != 0
    assert "CSV has differences only, without overlap or examples" in str(ended.exception or ended.output)


def test_documents_keep_their_names_in_examples(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 doc_b 1\nq1 0 doc_a 0\nq2 0 doc_c 1\n")
    for name, documents in (("a", "bc"), ("b", "cb")):
        (tmp_path / name).write_text("".join(f"q1 Q0 doc_{each} 0 {-i} x\n" for i, each in enumerate(documents)))
    comparison = xmceval.compare(
        tmp_path / "qrels", {name: tmp_path / name for name in "ab"}, k=2, metrics="nDCG", examples=1
    )
    (example,) = comparison.examples
    assert [example.names[label] for label in (*example.true, *example.ranked)] == ["doc_b", "doc_c", "doc_b"]
