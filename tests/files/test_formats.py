"""Truth and predictions in forms beside those of the guide, with an empty row, give the numbers of the plain one."""

import bz2
import gzip
import json
import lzma
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from support.files import (
    LABELS,
    LEGACY,
    PREDS,
    QRELS,
    RUN,
    SCORES,
    TRUTH,
    Stdin,
    matrix,
    plain,
    same_numbers,
    scored,
    write,
)
from support.pieces import read_in_pieces

import xmceval

NAMES = ["red shoes", "blue", "#green", "naïve", "tutu"]
ONE_WORD = ["red_shoes", "blue", "#green", "naïve", "tutu"]
ROWS = [[0, 2], [1], [], [3, 4]]
SCORED = [[(0, 0.9), (1, 0.8)], [(1, 0.5), (2, 0.1)], [(3, 1.0)], [(4, 0.5), (3, 0.4)]]
REAL = os.environ.get("XMCEVAL_REALDATA")


@pytest.fixture(autouse=True)
def _in_a_folder():
    write("t.txt", TRUTH)
    write("p.txt", PREDS)
    write("names.txt", "\n".join(NAMES) + "\n")
    write("words.txt", "\n".join(ONE_WORD) + "\n")


def lines(rows):
    return "".join(f"{row}\n" for row in rows)


def dense():
    truth = np.zeros((4, 5), int)
    for row, labels in enumerate(ROWS):
        truth[row, labels] = 1
    return truth


def object_array(values):
    array = np.empty((len(values), len(values[0])), dtype=object)
    array[:] = values
    return array


def save_pair(labels, scores=SCORES):
    np.save("m-labels.npy", labels, allow_pickle=True)
    if scores is not None:
        np.save("m-scores.npy", scores)
    return "m"


def saved(name, array):
    np.save(name, array)
    return name


def savez(**arrays):
    np.savez_compressed("x.npz", **arrays)
    return "x.npz"


def npz(name, array, form="csr", **options):
    sp.save_npz(name, sp.csr_array(array).asformat(form), **options)
    return name


def named(names, rows, join):
    return lines(join.join(names[label] for label in row) for row in rows)


TRUTHS = {
    "pairs": (lambda: write("x", TRUTH), {}),
    "labels before features": (lambda: write("x", LEGACY), {}),
    "JSON lines": (lambda: write("x", lines(json.dumps({"target_ind": row}) for row in ROWS)), {"n_labels": 5}),
    "ids below a header": (lambda: write("x", "4 5\n" + lines(", ".join(map(str, row)) for row in ROWS)), {}),
    "ids below three numbers": (lambda: write("x", "4 9 5\n" + lines(",".join(map(str, row)) for row in ROWS)), {}),
    "ids with text": (lambda: write("x", lines(",".join(map(str, row)) + "\tgirls" for row in ROWS)), {"n_labels": 5}),
    "fastText ids": (
        lambda: write("x", lines(" ".join(f"__label__{i}" for i in row) + " some text" for row in ROWS)),
        {"n_labels": 5},
    ),
    "fastText, labels last": (
        lambda: write("x", lines("some text " + " ".join(f"__label__{i}" for i in row) for row in ROWS)),
        {"n_labels": 5},
    ),
    "fastText names within the text": (
        lambda: write(
            "x", lines(" and ".join(["some", *(f"__label__{ONE_WORD[i]}" for i in row), "x"]) for row in ROWS)
        ),
        {"labels": "words.txt"},
    ),
    "names between blanks": (lambda: write("x", named(ONE_WORD, ROWS, " ")), {"labels": "words.txt"}),
    "names between tabs": (lambda: write("x", named(NAMES, ROWS, "\t")), {"labels": "names.txt"}),
    "npz CSR": (lambda: npz("x.npz", dense()), {}),
    "npz CSR, not compressed": (lambda: npz("x.npz", dense(), compressed=False), {}),
    "npz CSC": (lambda: npz("x.npz", dense(), "csc"), {}),
    "npz COO": (lambda: npz("x.npz", dense(), "coo"), {}),
    "npy indicator": (lambda: saved("x.npy", dense()), {}),
    "npy indicator of bools": (lambda: saved("x.npy", dense().astype(bool)), {}),
    "npy in Fortran order": (lambda: saved("x.npy", np.asfortranarray(dense())), {}),
}


def packed(path):
    """Return a file, and the same compressed; one of a pair has the other beside it."""
    return (path, write("x.gz", gzip.compress(Path(path).read_bytes()))) if Path(path).exists() else (path,)


@pytest.mark.parametrize("form", TRUTHS)
def test_truth_in_every_form_is_read_exactly_and_scores_the_same(form):
    make, options = TRUTHS[form]
    for path in packed(make()):
        same_numbers(scored(path, **options))
        found = xmceval.read(path, kind="truth", **{"n_labels": 5, **options})
        assert found.toarray().tolist() == dense().tolist()


def with_names(names):
    return [[[names[label], score] for label, score in row] for row in SCORED]


PADDED = [[0, 1], [1, 2], [3, -1], [4, 3]]
PREDICTIONS = {
    "pairs": (lambda: write("x", PREDS), {}),
    "omikuji": (lambda: write("x", lines("\t".join(f"{i} {s}" for i, s in row) for row in SCORED)), {}),
    "fastText": (
        lambda: write("x", lines(" ".join(f"__label__{ONE_WORD[i]} {s}" for i, s in row) for row in SCORED)),
        {"labels": "words.txt"},
    ),
    "omikuji, trailing blanks": (lambda: write("x", lines("\t".join(f"{i} {s} " for i, s in r) for r in SCORED)), {}),
    "ranked names": (lambda: write("x", named(ONE_WORD, [[0, 1], [1, 2], [3], [4, 3]], " ")), {"labels": "words.txt"}),
    "fastText ranks": (lambda: write("x", lines(" ".join(f"__label__{i}" for i, _ in row) for row in SCORED)), {}),
    "fastText ranked names": (
        lambda: write("x", lines(" ".join(f"__label__{ONE_WORD[i]}" for i, _ in row) for row in SCORED)),
        {"labels": "words.txt"},
    ),
    "PECOS text2text": (
        lambda: write("x", lines(json.dumps({"data": r}) for r in with_names(NAMES))),
        {"labels": "names.txt"},
    ),
    "JSON lines of lists": (
        lambda: write("x", lines(json.dumps([{"label": NAMES[i], "score": s} for i, s in r]) for r in SCORED)),
        {"labels": "names.txt"},
    ),
    "pair, labels alone": (lambda: save_pair(LABELS, None), {}),
    "pair of unicode names": (
        lambda: save_pair(np.array([[NAMES[i] if i >= 0 else "" for i in row] for row in PADDED])),
        {"labels": "names.txt"},
    ),
    "pair of name objects": (
        lambda: save_pair(object_array([[NAMES[i] if i >= 0 else "-1" for i in row] for row in PADDED])),
        {"labels": "names.txt"},
    ),
    "npy of ranked names": (
        lambda: saved("x.npy", np.array([[NAMES[i] if i >= 0 else "" for i in row] for row in PADDED])),
        {"labels": "names.txt"},
    ),
    "npz of indices and scores, Fortran order": (
        lambda: savez(indices=np.asfortranarray(LABELS), scores=np.asfortranarray(SCORES)),
        {},
    ),
    "npz of labels alone": (lambda: savez(labels=LABELS), {}),
    "npz of names and scores": (
        lambda: savez(labels=np.array([[NAMES[i] if i >= 0 else "" for i in row] for row in PADDED]), scores=SCORES),
        {"labels": "names.txt"},
    ),
    "npz of name objects and scores": (
        lambda: savez(labels=object_array([[NAMES[i] if i >= 0 else "" for i in r] for r in PADDED]), scores=SCORES),
        {"labels": "names.txt"},
    ),
    "npz": (lambda: npz("x.npz", matrix()), {}),
    "npz, not compressed": (lambda: npz("x.npz", matrix(), compressed=False), {}),
    "npz CSC": (lambda: npz("x.npz", matrix(), "csc"), {}),
    "npz COO": (lambda: npz("x.npz", matrix(), "coo"), {}),
}


@pytest.mark.parametrize("form", PREDICTIONS)
def test_predictions_in_every_form_are_read_exactly_and_score_the_same(form):
    make, options = PREDICTIONS[form]
    for path in packed(make()):
        same_numbers(scored(preds=path, **options))
        found = xmceval.read(path, kind="scores", **{"n_labels": 5, **options})
        assert (type(found), found.dtype, found.nnz) == (sp.csr_array, np.float64, 7)
        if "rank" in form or "alone" in form:
            assert [np.argsort(-row, kind="stable")[: (row > 0).sum()].tolist() for row in found.toarray()] == [
                [label for label, _ in row] for row in SCORED
            ]
        else:
            exact = np.float32 if "pair of" in form or form.startswith("npz of") else np.float64  # as SCORES are
            assert found.toarray().astype(exact).tolist() == matrix().toarray().astype(exact).tolist()


@pytest.mark.parametrize("form", ["dense npy", "scores alone"])
def test_dense_scores_rank_every_label(form):
    values = np.where(matrix().toarray() == 0, -np.inf, matrix().toarray())
    name = "x.npy" if form == "dense npy" else "x-scores.npy"
    same_numbers(scored(preds=saved(name, values.astype(np.float32))))
    found = xmceval.read(saved(name, values), kind="scores")
    assert (found.nnz, found.toarray().tolist()) == (7, matrix().toarray().tolist())


def zstd(content):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(content)


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("what", ["text", "npz CSR", "npz CSC", "npz COO", "npy indicator", "two members"])
def test_compression_is_recognised_by_content(packer, what):
    pack = PACKERS[packer]
    if what == "two members":
        truth, preds = (pack(text[:9].encode()) + pack(text[9:].encode()) for text in (TRUTH, PREDS))
        return same_numbers(scored(write("a", truth), write(f"b.{packer}", preds)))
    if what == "text":
        return same_numbers(scored(write("a", pack(TRUTH.encode())), write("b", pack(PREDS.encode()))))
    make, _ = TRUTHS[what]
    return same_numbers(scored(write(f"a.{packer}", pack(Path(make()).read_bytes()))))


@pytest.mark.parametrize("packer", PACKERS)
def test_a_compressed_file_that_is_truncated_is_refused(packer):
    whole = PACKERS[packer](PREDS.encode() * 2000)
    with pytest.raises(xmceval.DataError, match="damaged or truncated"):
        scored(preds=write("b", whole[: len(whole) - 9]))


@pytest.mark.parametrize("packer", ["plain", *PACKERS])
@pytest.mark.parametrize("which", ["truth", "preds"])
def test_standard_input_is_read_whatever_packs_it(packer, which, monkeypatch):
    pack = PACKERS.get(packer, bytes)
    monkeypatch.setattr(sys, "stdin", Stdin(pack((TRUTH if which == "truth" else PREDS).encode())))
    same_numbers(scored(**{which: "-"}))


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_entries_of_one_extra_column_are_dropped_and_counted(form):
    wide = np.hstack([matrix().toarray(), [[0.7], [0], [0.3], [0]]])
    result = scored(preds=npz("x.npz", wide, form))
    same_numbers(result)
    assert "x.npz: dropped 2 entries in extra column 5, beyond the 5 labels" in result.warnings
    refused("7 columns", preds=npz("y.npz", np.hstack([wide, wide[:, :1]]), form))
    refused("n_labels is 5, but t.npz has 6 labels", truth=npz("t.npz", (wide > 0).astype(int), form), n_labels=5)


def test_trec_runs_are_joined_to_qrels():
    result = xmceval.score(write("q", QRELS), write("r", RUN), k=[1, 2], metrics=["P", "RR"])
    assert (result["P@1"], result["P@2"], result["RR@2"]) == (0.5, 0.5, 0.75)  # of equal scores d2 goes before d1


def test_queries_of_a_run_that_were_not_judged_are_counted():
    result = xmceval.score(write("q", QRELS), write("r", RUN + "q7 Q0 d1 1 1 me\n"), k=1, metrics=["P"])
    assert "r: ignored 1 query not in q, such as 'q7' (1 line)" in result.warnings


def refused(message, truth="t.txt", preds="p.txt", **options):
    with pytest.raises(xmceval.DataError, match=message):
        scored(truth, preds, **options)


class Evil:
    def __reduce__(self):
        return os.mkdir, ("harmed",)


@pytest.mark.parametrize("value", [Evil(), 5, None, b"x", ("a",)])
def test_objects_that_are_not_strings_are_refused_and_not_run(value):
    save_pair(object_array([["red shoes", value], *[["blue", "blue"]] * 3]))
    refused("only strings are read from it", preds="m", labels="names.txt")
    assert not Path("harmed").exists()


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (r"x:2: 'purple' is not in words\.txt, which has 5 label names", "blue\nblue purple\n\n\n"),
        (r"x:1: expected rows of idx:value such as .* found 'purple' \(hint: pass labels=", "purple\n"),
        (r'x:1: expected an object with a list "data"', '{"target_ind": [1]}\n'),
        (r"x:2: expected one JSON object per line", '{"data": []}\n{"data": [}\n'),
        (r"x:1: 'pink' is a name, not a label id", '{"data": [["pink", 1]]}\n'),
        (r"x:1: expected a number in", '{"data": [[1, "2"]]}\n'),
        (r"x:3: expected label ids separated by single commas, found", "1,2\n1\n1,,2\n3\n"),
        (r"x:1: expected rows of idx:value", "1 x\t2 0.5\n\n\n\n"),
    ],
)
def test_what_is_wrong_is_reported_with_its_place(message, content):
    options = {"labels": "words.txt"} if "words" in message else {}
    refused(message, preds=write("x", content), **options)


def test_names_without_a_list_of_names_ask_for_one():
    save_pair(np.array([["a", "b"]] * 4))
    refused("hint: pass labels=", preds="m")


def test_faults_are_reported_together_one_line_per_kind():
    rows = [f"{i}:x" if i % 2 else f"{i}:0.5 {i}:0.5" for i in range(12)]
    preds = write("x", "14 20\n0:1\n" + lines(rows) + "0:1\n")
    with pytest.raises(xmceval.DataError) as caught:
        xmceval.score(write("y", "14 20\n" + "0:1\n" * 14), preds, k=1, metrics=["P"])
    hint = "pass duplicates='max' to count its largest value"
    assert str(caught.value).split("\n") == [
        f"x:3: label 0 appears twice in this row; a label has one score (6 such rows; hint: {hint})",
        "x:4: expected a number after the colon, found '1:x' (6 such rows)",
    ]
    assert caught.value.hint == pickle.loads(pickle.dumps(caught.value)).hint == hint


def test_strict_makes_doubts_errors(run):
    assert run("score", "t.txt", "p.txt", "-k", "1")[0] == 0
    code, out, err = run("score", "t.txt", "p.txt", "-k", "1", "--strict")
    assert (code, out) == (1, "")
    assert "with --strict doubts are errors" in err


def test_a_list_whose_words_are_both_names_and_ids_has_a_warning():
    names, preds = write("n", "4\n3\n2\n1\n0\n"), write("y", "2 0\n2\n\n3\n")
    result = scored(write("x", "1 2\n0\n\n3\n"), preds, labels=names)
    assert "x: its words were read as names in n, not as label ids" in result.warnings
    refused(
        r"^p.txt: has numbers, and the names in n are numbers in another order: are these names too, as in x,",
        truth="x",
        labels=names,
    )


def test_the_first_line_of_a_list_is_a_row_unless_it_counts_the_lines():
    result = xmceval.score(write("x", "3 1 2\n0\n"), write("y", "1 0\n0\n"), k=1, metrics=["P"])
    assert result["P@1"] == 1


CHUNKED = {**{f"truth: {form}": ("truth", *each) for form, each in TRUTHS.items()}}
CHUNKED |= {f"preds: {form}": ("preds", *each) for form, each in PREDICTIONS.items()}


@pytest.mark.parametrize("form", CHUNKED)
@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_size_of_chunks_changes_nothing(form, size, monkeypatch):
    which, make, options = CHUNKED[form]
    made = make()
    expected = plain()
    read_in_pieces(monkeypatch, text=size, entries=size, rows=2)
    same_numbers(scored(**{which: made}, **options), expected)


@pytest.mark.skipif(REAL is None, reason="XMCEVAL_REALDATA names no folder")
def test_files_of_attentionxml_are_scored_untouched():
    folder = Path(REAL or "") / "eurlex_attentionxml"
    own = xmceval.score(
        folder / "EUR-Lex_test_labels.txt", folder / "AttentionXML-EUR-Lex-Tree-0", labels=folder / "labels.txt"
    )
    converted = xmceval.score(folder / "tst_X_Y.txt.gz", folder / "attentionxml_tree0.txt.gz")
    assert own.estimates == converted.estimates
    joined = xmceval.score(
        folder / "tst_X_Y.txt.gz", folder / "AttentionXML-EUR-Lex-Tree-0-labels.npy", labels=folder / "labels.txt"
    )
    assert joined.estimates == converted.estimates
