"""Filters: pairs are taken out before ranking, whatever their form, and their effect is reported."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix
from support.approved import check_lines
from support.close import close
from support.files import body, write
from support.judged import check_judged
from support.strategies import cases, to_csr, without

import xmceval

TRUTH = "3 5\n0:1 2:1\n1:1\n4:1\n"
SCORES = "3 5\n0:0.9 1:-0.5 2:-0.7\n1:0.3 3:0.4\n4:0.1\n"


@pytest.fixture
def files():
    write("t.txt", TRUTH)
    write("p.txt", SCORES)


def score(**options):
    return xmceval.score("t.txt", "p.txt", **{"k": 1, "metrics": "P", **options})


@given(cases(), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)), max_size=12), st.booleans())
def test_filtered_scores_are_those_of_files_without_the_pairs(case, pairs, filter_truth):
    pairs = [pair for pair in pairs if pair[0] < len(case.truth) and pair[1] < case.n_labels]
    filtered = [{label for row, label in pairs if row == i} for i in range(len(case.truth))]
    kept = without(case.scores, filtered)
    true = without(case.truth, filtered) if filter_truth else case.truth
    options = {"k": range(1, min(5, case.n_labels) + 1), "metrics": ["P", "nDCG", "PSP", "GAUC", "AP@all"]}
    options["inverse_propensities"] = case.inverse
    expected = xmceval.score(to_csr(true, case.n_labels), to_csr(kept, case.n_labels), **options)
    got = xmceval.score(
        to_csr(case.truth, case.n_labels),
        to_csr(case.scores, case.n_labels),
        filter=np.array(pairs, dtype=int).reshape(-1, 2),
        filter_truth=filter_truth,
        **options,
    )
    assert dict(got) == dict(expected)
    check_judged(got, true, kept, case.inverse, least=2)
    assert got.filtered.pairs == len(set(pairs))
    assert got.filtered.removed == sum(len(a) - len(b) for a, b in zip(case.scores, kept, strict=True))
    assert got.filtered.in_truth == sum(x in case.truth[i] for i, x in set(pairs))


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", []),
        ("\n", []),
        ("1 3\n", [(1, 3)]),
        ("1 3", [(1, 3)]),
        ("2 1\n0 4\n2 1\n0 0\n", [(0, 0), (0, 4), (2, 1)]),
        ("1.000000000000000000e+00 3.000000000000000000e+00\n", [(1, 3)]),
        ("# row label\n\n1\t3\r\n", [(1, 3)]),
        ("# row label\n0 1\n\n  # two\n0 2 # a comment\n", [(0, 1), (0, 2)]),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_a_filter_file_has_none_one_or_many_pairs_as_ints_or_floats(text, pairs, zipped):
    path = write("f.txt", gzip.compress(text.encode()) if zipped else text)
    truth, scores = np.arange(15).reshape(3, 5) % 2, np.arange(15.0, 0, -1).reshape(3, 5)
    options = {"metrics": ["LRAP", "AP"], "k": 3}
    filtered = xmceval.score(truth, scores, filter=path, **options)
    expected = xmceval.score(truth, scores, filter=np.array(pairs, dtype=int).reshape(-1, 2), **options)
    assert (filtered.estimates, filtered.filtered.pairs) == (expected.estimates, len(pairs))


@pytest.mark.usefixtures("files")
def test_what_is_no_pair_is_refused_in_these_words():
    def text(content, **options):
        return score(filter=write("f.txt", content), **options)

    np.savez("x.npz", values=np.arange(4.0))
    write("pickle", b"\x80\x04\x95\x06\0\0]\x94K\x01a.")
    write("t2.txt", body(TRUTH))
    write("p2.txt", body(SCORES))
    check_lines(__file__, "filters.txt", globals() | locals())


@pytest.mark.usefixtures("files")
def test_the_report_counts_what_a_filter_did(run):
    write("f.txt", "0 0\n1 3\n1 4\n2 0\n")
    words = ["score", "t.txt", "p.txt", "-k", "1", "-m", "P", "--filter", "f.txt"]
    line = "filter: 4 pairs in 3 rows from f.txt, 2 predictions removed from 2 rows, 1 is in the truth and kept there"
    assert run(*words)[1].endswith(line + "\n")
    shown = json.loads(run(*words, "--filter-truth", "-o", "json")[1])["systems"][0]["filter"]
    counts = {"pairs": 4, "rows": 3, "removed": 2, "rows_changed": 2, "in_truth": 1}
    assert shown == {"source": "f.txt", "filter_truth": True} | counts


@pytest.mark.usefixtures("files")
def test_the_warning_of_a_set_with_a_filter_goes_when_one_is_given():
    options = {"metrics": "PSP", "dataset": "LF-AmazonTitles-131K"}
    assert [line for line in score(**options).warnings if "filter" in line]
    assert not [line for line in score(filter=[[0, 0]], **options).warnings if "filter" in line]


def test_pairs_of_a_sparse_matrix_are_read_as_the_hint_says():
    matrix = csr_matrix([[0, 1, 0]])
    pairs = np.column_stack(csr_matrix([[1, 0, 0]]).nonzero())
    assert xmceval.score(matrix, csr_matrix([[0.9, 0.5, 0]]), filter=pairs, k=1, metrics="P")["P@1"] == 1


def test_real_filters_have_the_pairs_that_others_count(realdata):
    folder = realdata / "lf_amazontitles_131k"
    truth, names = folder / "tst_X_Y.txt.gz", ("tst_filter_labels.txt.gz", "filter_labels_test.float.txt.gz")
    known, older = (xmceval.score(truth, truth, filter=folder / name, k=1, metrics="P").filtered for name in names)
    assert (known.pairs, known.rows, known.removed, known.in_truth) == (79_663, 38_808, 0, 0)
    assert older.pairs == 73_329
    pairs, some = ({tuple(pair) for pair in np.loadtxt(folder / name).tolist()} for name in names)
    assert some <= pairs


# Of two rows with the labels 0 and 1, of which only 0 is true: one has them in order, the other does not.
BY_HAND = {
    "AUC": 0.5,
    "microAUC": 0.5,
    "ranking_loss": 0.5,
    "LRAP": 0.75,
    "coverage_error": 1.5,
    "MCC": 0.0,
    **dict.fromkeys(("accuracy", "hamming_loss", "specificity", "FPR", "balanced_accuracy"), 0.5),
    **dict.fromkeys(("tp", "fp", "fn", "tn", "hamming_distance"), 1.0),
}


@pytest.mark.parametrize("filter_truth", [False, True])
@pytest.mark.parametrize("unscored", ["bottom", "zero"])
def test_a_filtered_pair_is_no_negative_of_its_row(unscored, filter_truth):
    truth = np.array([[1, 0, 0, int(filter_truth)], [1, 0, 0, 0]])
    scores, pairs = np.array([[0.9, -0.1, 5, -3], [-0.1, 0.9, -2, 4]]), [[0, 2], [0, 3], [1, 2], [1, 3]]
    options = {"threshold": 0.5, "unscored": unscored, "filter_truth": filter_truth}
    assert dict(xmceval.score(truth, scores, metrics=[*BY_HAND], filter=pairs, **options)) == BY_HAND


def test_a_filtered_pair_weighs_as_its_row(rng):
    """A row of weight 3 counts as three rows, each with its own pairs."""
    truth, scores = (rng.random((9, 5)) < 0.4).astype(int), rng.random((9, 5))
    weights, pairs = np.array([3, 1, 2] * 3), np.argwhere(rng.random((9, 5)) < 0.3)
    repeated = np.repeat(np.arange(9), weights)
    of_repeated = [[row, label] for row, one in enumerate(repeated) for label in pairs[pairs[:, 0] == one, 1]]
    options = {"metrics": ["specificity(average=macro)", "macroBA@2"], "threshold": 0.5}
    weighted = xmceval.score(truth, scores, filter=pairs, sample_weight=weights, **options)
    assert dict(weighted) == pytest.approx(
        dict(xmceval.score(truth[repeated], scores[repeated], filter=of_repeated, **options))
    )


@pytest.mark.parametrize("filter_truth", [False, True])
def test_groups_of_rows_leave_out_their_own_filtered_pairs(rng, filter_truth):
    truth, scores = (rng.random((40, 7)) < 0.3).astype(int), rng.random((40, 7))
    pairs, groups = np.argwhere(rng.random((40, 7)) < 0.3), np.arange(40) % 3
    options = {"metrics": ["AUC", "specificity", "macroBA@2", "P@2"], "threshold": 0.5, "ceiling": True}
    options |= {"filter_truth": filter_truth, "empty_rows": "drop"}
    weights = rng.choice([0, 0.5, 1], 40)
    whole = xmceval.score(truth, scores, filter=pairs, by_group=groups, sample_weight=weights, **options)
    for part in whole.slices:
        rows = np.flatnonzero(groups == int(part.bin.name))
        inside = np.isin(pairs[:, 0], rows)
        of_part = np.column_stack([np.searchsorted(rows, pairs[inside, 0]), pairs[inside, 1]])
        alone = xmceval.score(truth[rows], scores[rows], filter=of_part, sample_weight=weights[rows], **options)
        for name, estimate in alone.estimates.items():
            assert part.estimates[name].value == close(estimate.value)
            assert part.estimates[name].ceiling == (estimate.ceiling and close(estimate.ceiling))


def test_documents_that_only_a_filter_names_are_no_negatives_of_a_declared_collection():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"b": 2.0, "a": 1.0}, "r": {"b": 1.0}}
    options = {"metrics": ["AUC", "ranking_loss"], "n_labels": 4}
    result = xmceval.score(qrels, run, filter=[("q", "c"), ("q", "x"), ("r", "c")], **options)
    assert dict(result) == {"AUC": 0.5, "ranking_loss": 0.5}  # q has a and b left


def test_names_between_tabs_may_have_blanks():
    qrels, run = {"q 1": {"a": 1}}, {"q 1": {"b c": 2.0, "a": 1.0}}
    assert xmceval.score(qrels, run, metrics="P@1", filter=write("f.txt", "q 1\tb c\n"))["P@1"] == 1


def test_names_in_pairs_may_be_words_of_numpy():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"b": 2.0, "a": 1.0}, "r": {"b": 1.0}}
    pairs = [("q", "b"), ("r", "c")]
    of_numpy = [*zip(np.array(["q", "r"]), np.array(["b", "c"]), strict=True)]
    assert type(of_numpy[0][0]) is np.str_
    assert xmceval.score(qrels, run, metrics="P@1", filter=pairs)["P@1"] == 1
    assert xmceval.score(qrels, run, metrics="P@1", filter=of_numpy)["P@1"] == 1


def test_a_pair_beyond_the_labels_has_no_effect():
    for name, lines in (("t.txt", "0:1\n1:1\n"), ("p.txt", "0:0.9 1:0.2\n0:0.5\n")):
        write(name, lines)
    options = {"metrics": ["macroBA(over=truth)@1", "fp", "specificity(average=macro,over=seen)"]}
    for pairs in ([[0, 9]], [[0, 9], [1, 10**9]]):
        assert dict(xmceval.score("t.txt", "p.txt", filter=pairs, **options)) == dict(
            xmceval.score("t.txt", "p.txt", **options)
        )
