"""Queries and documents on the command line: default metrics, words, fractions, and gates in the unit of the table."""

import json
from pathlib import Path

import pytest
from support.files import write, write_qrels, write_run

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1, "d1": 1}, "q3": {"d4": 0}}
BEST = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d1": 0.75, "d3": 0.5, "d9": 0.25}, "q3": {"d4": 1.0}}
WORSE = {"q1": {"d2": 0.75, "d1": 0.5}, "q2": {"d9": 1.0}}
SIZE = "3 queries · 5 documents · 1 relevant document and {} retrieved documents per query\n"
NOT_RELEVANT = "1 query has no relevant documents (0 for nDCG, AP, RR and R)\n"
GRADES = "nDCG@10 uses the grades in the truth (1 to 2)\n"
NAMES = ["nDCG@10", "AP@all", "RR@10", "R@100"]


@pytest.fixture
def files():
    return write_qrels("qrels.txt", QRELS), write_run("best.txt", BEST), write_run("worse.txt", WORSE)


def test_one_run_has_a_line_for_each_metric_in_fractions_and_the_words_of_search(run, files):
    expected = SIZE.format("2") + (
        "           best\n"
        "nDCG@10  0.6667 0.0943..0.9916\n"
        "AP@all   0.6667 0.0943..0.9916\n"
        "RR@10    0.6667 0.0943..0.9916\n"
        "R@100    0.6667 0.0943..0.9916\n"
        "3 of 3 queries have fewer than 100 retrieved documents: empty places count as misses\n"
        f"{NOT_RELEVANT}{GRADES}"
        "caution: the intervals are from fewer than 30 queries\n"
    )
    assert run("score", *files[:2]) == (0, expected, "")
    table = run("score", *files[:2], "--no-intervals", "--percent", "--places", 1)[1]
    assert table.splitlines()[1:6] == ["          best", *(f"{name:7}   66.7" for name in NAMES)]
    assert run("score", *files[:2], "-o", "md", "--no-intervals")[1].splitlines()[2:8] == [
        "|         |   best |",
        "| ------- | -----: |",
        *(f"| {name:7} | 0.6667 |" for name in NAMES),
    ]
    latex = run("score", *files[:2], "-o", "latex")[1].splitlines()
    assert [line.strip() for line in latex if "&" in line] == [
        r"& best \\",
        *(rf"{name} & 0.6667 \\" for name in NAMES),
    ]


def test_several_runs_have_a_column_for_each_metric_and_what_one_lacks_is_said(run, files):
    expected = SIZE.format("1 to 2") + (
        "       nDCG@10  AP@all   RR@10   R@100\n"
        "best    0.6667  0.6667  0.6667  0.6667\n"
        "worse   0.2103  0.1667  0.1667  0.3333\n"
        "3 of 3 queries have fewer than 100 retrieved documents: empty places count as misses\n"
        f"{NOT_RELEVANT}{GRADES}"
        "worse.txt: has no line for 1 of the 3 queries of qrels.txt, such as 'q3': nothing is retrieved for it\n"
        "  (trec_eval leaves it out)\n"
    )
    code, table, err = run("score", *files, "--no-intervals")
    assert (code, table, err.startswith("note: xmceval compare tests")) == (0, expected, True)
    quiet = "".join(expected.splitlines(keepends=True)[:4])  # without facts
    assert run("score", *files, "--no-intervals", "-q") == (0, quiet, "")


def test_a_comparison_is_of_queries_also_from_saved_values_of_rows(run, files):
    few = "no difference between worse and best was detected on nDCG@1, AP@1, RR@1, R@1, where only 2 queries differ\n"
    test = "paired t test over queries, p < 0.05, not adjusted across metrics; says nothing about retraining\n"
    asked = ("--no-intervals", "-q")
    for inputs in ((*files, "-k", 1, "--save-rows", "both.rows.npz"), ("both.rows.npz",)):
        code, table, _ = run("compare", *inputs, *asked)
        assert (code, table.startswith(few), test in table) == (0, True, True)
        assert "best   0.6667  0.5000  0.6667  0.5000\n" in table
        assert "instance" not in table


def test_a_benchmark_of_qrels_is_one_of_queries(run, files, tmp_path):
    truth, best, worse = files
    (tmp_path / "b.toml").write_text(
        f"[datasets.trec]\ntruth = '{truth}'\n[systems]\nbest = '{best}'\nworse = '{worse}'\n"
    )
    code, table, err = run("benchmark", "b.toml", "-q")
    assert (code, err) == (0, "")
    assert table.splitlines()[0].split() == NAMES
    assert "trec · 3 queries · 5 documents\n" in table
    assert "paired t test over queries" in table
    assert "0.2103" in table
    assert run("benchmark", "b.toml", "-q", "--fail-if-worse", "nDCG@10:0.005") == (0, table, "")
    assert run("benchmark", "b.toml", "-q", "--fail-if-worse", "nDCG@10:0.5%") == (0, table, "")
    hint = "differences of nDCG@10 are from 0 to 1 (hint: pass nDCG@10:5%, or --percent)"
    code, _, err = run("benchmark", "b.toml", "-q", "--fail-if-worse", "nDCG@10:5")
    assert (code, err) == (2, f"Error: gate 'nDCG@10:5' has no effect: {hint}\n")


@pytest.mark.parametrize(
    ("layout", "limit", "shown"),
    [
        ((), "0.7", "0.6667, and at least 0.7 is"),
        ((), "70%", "0.6667, and at least 70% is"),
        (("--percent",), "70", "66.67, and at least 70 is"),
        (("--percent",), "70%", "66.67, and at least 70% is"),
    ],
)
def test_a_gate_has_the_unit_of_the_table(run, files, layout, limit, shown):
    code, _, err = run("score", *files[:2], "-q", *layout, "--require", f"AP>={limit}", "--require", "AP>=60%")
    assert (code, err) == (3, f"breach: best has AP@all {shown} required\n")
    code, _, err = run("compare", *files, "-q", *layout, "--fail-if-worse", "AP:0.1%")
    assert (code, err) == (0, "")


def test_a_gate_in_the_other_unit_is_refused(run, files):
    bounds = "values of AP are from 0 to 1 (hint: pass AP>=40%, or --percent)"
    assert run("score", *files[:2], "--require", "AP>=40") == (
        2,
        "",
        f"Error: gate 'AP>=40' has no effect: {bounds}\n",
    )
    assert run("score", *files[:2], "--percent", "--require", "AP>=0.4")[2].endswith("pass AP>=40, or --fraction)\n")


def test_default_metrics_of_search_are_no_options_that_were_passed(run, files):
    def options(*words):
        return json.loads(run("score", *files[:2], "-o", "json", *words)[1])["options"]

    assert (options(), options("--ties", "expected")) == ({}, {"ties": "expected"})
    assert (options("-k", 2), options("-m", "AP")) == ({"k": [2]}, {"metrics": ["AP@all"]})


def test_definitions_are_of_queries(run, files):
    [system] = json.loads(run("score", *files[:2], "-o", "json", "--page", "page.html")[1])["systems"]
    definitions = [value["definition"] for value in system["metrics"].values()]
    assert all("mean over queries" in definition for definition in definitions)
    page = Path("page.html").read_text(encoding="utf-8")
    assert ("mean over queries" in page, "over instances" in page) == (True, False)


def test_a_state_without_metrics_names_what_it_lacks(run, files):
    code, _, err = run("score", *files[:2], "--save-state", "s.npz")
    assert (code, "its documents are only numbered" in err) == (1, True)
    documents = write("documents.txt", "d1\nd2\nd3\nd4\nd9\n")
    code, _, err = run("score", *files[:2], "-q", "--save-state", "s.npz", "--labels", documents)
    assert (code, err) == (0, "")


def test_json_has_the_metrics_of_search_and_the_values_of_others(run, files):
    metrics = json.loads(run("score", *files[:2], "-o", "json")[1])["systems"][0]["metrics"]
    assert list(metrics) == NAMES
    asked = run("score", *files[:2], "-o", "json", "-m", "nDCG@10,AP,RR@10,R@100")[1]
    assert run("score", *files[:2], "-o", "json")[1] == asked


def test_a_state_of_queries_is_merged_in_their_words_and_not_with_one_of_labels(run, files):
    labels = write("documents.txt", "d1\nd2\nd3\nd4\nd9\n")  # fewer documents than the cutoff of R@100
    shown = run("score", *files[:2], "--labels", labels, "--save-state", "q.npz")[1].splitlines()
    assert run("merge", "q.npz")[1].splitlines()[:6] == shown[:6]
    truth, scores = write("t.txt", "1:1\n"), write("p.txt", "1:0.5\n")
    metrics = ("-m", "nDCG@10,AP,RR@10,R@100", "--n-labels", "200")
    assert run("score", truth, scores, *metrics, "--save-state", "t.npz")[0] == 0
    assert run("merge", "q.npz", "t.npz")[2] == "Error: q.npz and t.npz differ in rows: queries and instances\n"


@pytest.mark.parametrize("form", ["npz", "csv"])
def test_saved_values_of_queries_are_compared_in_their_words_and_unit(run, files, form):
    for run_file in files[1:]:
        name = run_file.partition(".")[0]
        assert run("score", files[0], run_file, "-q", "--save-rows", f"{name}.rows.{form}")[0] == 0
    asked = "compare", f"best.rows.{form}", f"worse.rows.{form}", "-q", "--fail-if-worse"
    code, out, _ = run(*asked, "nDCG@10:0.6")
    assert (code, "0.6667" in out) == (0, True)
    assert "differences of nDCG@10 are from 0 to 1" in run(*asked, "nDCG@10:20")[2]
