"""Only some labels: they are named in any form, found in any container, and kept in what is saved."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from support.approved import check_lines
from support.executors import PicklingExecutor
from support.files import write
from support.strategies import to_rows, to_text

import xmceval

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
N, L = 60, 20
KEPT = [3, 4, 8, 13, 19]
RNG = np.random.default_rng(4)
TRUTH = (RNG.random((N, L)) < 0.2).astype(int)
SCORES = RNG.permuted(np.tile(np.arange(1.0, L + 1), (N, 1)), axis=1).astype(np.float32)
TRAIN = (RNG.random((99, L)) < 0.2).astype(int)
NAMES = [f"name {label}" for label in range(L)]
OPTIONS = {
    "k": [1, 3],
    "metrics": "P,nDCG,PSP,macroF1,macroF1(over=largest),microF1,coverage(of=recommended,over=all),LRAP",
}
CUT = xmceval.score(TRUTH[:, KEPT], SCORES[:, KEPT], counts=TRAIN.sum(axis=0)[KEPT], n_train=99, **OPTIONS)


def in_text(matrix):
    return to_text(to_rows(matrix), L)


def by_name(matrix):
    return [{NAMES[label]: value for label, value in row.items()} for row in to_rows(matrix)]


def in_frame(matrix):
    return pytest.importorskip("pandas").DataFrame(matrix, columns=NAMES)


def by_query(rows):
    return {f"q{number}": row for number, row in enumerate(rows)}


FORMS = {
    "dense": lambda matrix: matrix,
    "CSR": sp.csr_matrix,
    "CSC": sp.csc_matrix,
    "tensor": lambda matrix: pytest.importorskip("torch").tensor(matrix),
    "text": lambda matrix: write(f"{matrix.dtype}.txt", in_text(matrix)),
    "npz": lambda matrix: sp.save_npz(f"{matrix.dtype}.npz", sp.csr_matrix(matrix)) or f"{matrix.dtype}.npz",
    "shards": lambda matrix: [sp.csr_matrix(matrix[:17]), sp.csr_matrix(matrix[17:])],
}


@pytest.mark.parametrize("form", FORMS)
def test_values_are_those_of_the_cut_matrices_in_any_container(form):
    truth, scores = FORMS[form](TRUTH), FORMS[form](SCORES)
    assert dict(xmceval.score(truth, scores, train=TRAIN, only_labels=KEPT, **OPTIONS)) == dict(CUT)


def test_ids_of_any_size_count_and_masked_scores_of_others_do_not():
    far = [[10**12 + label for label in np.flatnonzero(row).tolist()] for row in TRUTH]
    ranked = [[10**12 + label for label in np.argsort(-row).tolist()] for row in SCORES]
    options = {"k": [1, 3], "metrics": "P,nDCG"}
    result = xmceval.score(far, ranked, only_labels=[10**12 + label for label in KEPT], **options)
    assert dict(result) == {name: CUT[name] for name in result}
    masked = np.where(np.isin(np.arange(L), KEPT), SCORES, -np.inf)
    result = xmceval.score(TRUTH, masked, only_labels=KEPT, unscored="zero", train=TRAIN, **OPTIONS)
    assert dict(result) == dict(CUT)
    assert result.counts.unpredicted == 0


def test_names_say_which_labels_count_where_labels_have_names():
    write("labels.txt", "\n".join(NAMES))
    write("p.jsonl", "".join(json.dumps({"data": [*row.items()]}) + "\n" for row in by_name(SCORES)))
    kept = [NAMES[label] for label in reversed(KEPT)]
    words = {"labels": "labels.txt", "only_labels": write("kept.txt", "\n".join(kept))}
    options = {"train": TRAIN, **OPTIONS}
    assert dict(xmceval.score(TRUTH, "p.jsonl", **words, **options)) == dict(CUT)
    assert dict(xmceval.score(in_frame(TRUTH), in_frame(SCORES).iloc[:, ::-1], only_labels=kept, **options)) == dict(
        CUT
    )


def test_documents_count_by_name_also_those_that_the_truth_lacks():
    inputs = [by_name(TRUTH), by_name(SCORES)]
    kept = [*(NAMES[label] for label in KEPT), "elsewhere"]
    cut = [[{name: row[name] for name in kept if name in row} for row in rows] for rows in inputs]
    metrics = "nDCG@3,AP,R@2"
    result = xmceval.score(*map(by_query, inputs), metrics=metrics, only_labels=kept)
    assert dict(result) == dict(xmceval.score(*map(by_query, cut), metrics=metrics))
    assert result.counts.n_labels == 6
    assert "R@100" in xmceval.score(*map(by_query, inputs), only_labels=kept)


def test_batches_parts_and_states_have_the_same_values():
    options = {"train": TRAIN, "only_labels": np.array(KEPT), **OPTIONS}
    evaluator = xmceval.Evaluator(**options)
    evaluator.update(TRUTH[:25], SCORES[:25])
    other = pickle.loads(pickle.dumps(evaluator))
    evaluator.save("a.state.npz")
    for one in (evaluator, other, xmceval.Evaluator.load("a.state.npz")):
        one.update(TRUTH[25:], SCORES[25:])
        assert dict(one.result()) == dict(CUT)
    parts = xmceval.score(sp.csr_matrix(TRUTH), sp.csr_matrix(SCORES), executor=PicklingExecutor(), **options)
    assert dict(parts) == dict(CUT)
    for number, rows in enumerate((slice(30), slice(30, N))):
        xmceval.score(TRUTH[rows], SCORES[rows], save_state=f"{number}.npz", **options)
    assert dict(xmceval.merge(["0.npz", "1.npz"])) == dict(CUT)
    xmceval.score(TRUTH, SCORES, save_state="all.npz", train=TRAIN, **OPTIONS)
    xmceval.score(TRUTH, SCORES, save_state="others.npz", **{**options, "only_labels": [1, 2, 3]})
    for path in ("all.npz", "others.npz"):
        with pytest.raises(xmceval.DataError, match="differ in labels that count: 5 "):
            xmceval.merge(["0.npz", path])


def test_saved_rows_of_other_labels_are_not_compared():
    for name, kept in (("a", KEPT), ("b", KEPT[::-1]), ("c", [0, 1, 2, 3, 4])):
        xmceval.score(TRUTH, SCORES, k=1, metrics="P", only_labels=kept, save_rows=f"{name}.npz")
    assert xmceval.compare_rows(["a.npz", "b.npz"]).differences
    with pytest.raises(xmceval.DataError, match=r"different truths.*only_labels"):
        xmceval.compare_rows(["a.npz", "c.npz"])


def test_rows_without_any_of_them_can_be_left_out_and_systems_compared(run):
    write("t.txt", in_text(TRUTH))
    write("p.txt", in_text(SCORES))
    write("q.txt", in_text(SCORES[:, ::-1]))
    write("kept.txt", "\n".join(map(str, KEPT)))
    words = ("-m", "P@1", "--only-labels", "kept.txt", "--empty-rows", "drop", "-o", "json")
    score, compare = (
        json.loads(run(*names, *words)[1])
        for names in (["score", "t.txt", "p.txt"], ["compare", "t.txt", "p.txt", "q.txt"])
    )
    empty = int((TRUTH[:, KEPT].sum(axis=1) == 0).sum())
    for report in (score, compare):
        shared = {**report, **report["systems"][0]}
        assert (shared["empty_rows"]["number"], shared["n_labels"]) == (empty, 5)
        assert shared["options"]["only_labels"] == "kept.txt"


def test_bins_are_made_of_these_labels():
    options = {"counts": np.arange(L), "n_train": 99, "by_frequency": 2, "k": 1, "metrics": "macroF1"}
    result = xmceval.score(TRUTH, SCORES, only_labels=KEPT, **options)
    assert sum(part.bin.n_labels for part in result.slices) == len(KEPT)


@pytest.mark.usefixtures("few_files")
def test_what_is_no_list_of_labels_is_refused_in_these_words():
    def score(only_labels, **options):
        return xmceval.score("t.txt", "p.txt", **{"k": 1, "metrics": "P", "only_labels": only_labels, **options})

    def text(content, **options):
        return score(write("kept.txt", content), **options)

    array = np.array
    check_lines(__file__, "onlylabels.txt", globals() | locals())


@pytest.fixture
def few_files():
    write("t.txt", "2 5\n0:1 2:1\n1:1\n")
    write("p.txt", "2 5\n0:0.9 1:0.5\n1:0.3\n")
    write("labels.txt", "a\nb\nc\nd\ne\n")
    np.save("kept.npy", [1, 9])
    Path("folder").mkdir()
