"""Truth and predictions in further forms than those of the guide, with an empty row, give the same values."""
# ruff: noqa: E501, F401 - a case is one line; approved lines use what is imported here

import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from support.approved import check_lines
from support.asked import p_at_1
from support.files import (
    LABELS,
    LEGACY,
    PREDS,
    QRELS,
    RUN,
    SCORES,
    TRUTH,
    Stdin,
    body,
    matrix,
    plain,
    rows_in,
    same_numbers,
    scored,
    write,
)
from support.pieces import read_in_pieces

import xmceval
from xmceval.files.io.signatures import NPY, REFUSED, TABLES, ZIP

NAMES = ["red shoes", "blue", "#green", "naïve", "tutu"]
ONE_WORD = ["red_shoes", "blue", "#green", "naïve", "tutu"]
ROWS = [[0, 2], [1], [], [3, 4]]
BEST = [[0, 1], [1, 2], [3], [4, 3]]
SCORED = [[(0, 0.9), (1, 0.8)], [(1, 0.5), (2, 0.1)], [(3, 1.0)], [(4, 0.5), (3, 0.4)]]
REAL = os.environ.get("XMCEVAL_REALDATA")


@pytest.fixture(autouse=True)
def _in_a_folder():
    write("t.txt", TRUTH)
    write("p.txt", PREDS)
    write("names.txt", lines(NAMES))
    write("words.txt", lines(ONE_WORD))


def lines(rows):
    return "".join(f"{row}\n" for row in rows)


def join(rows, between, form="{}", names=range(5)):
    return lines(between.join(form.format(names[label]) for label in row) for row in rows)


def joined(between, form, names=range(5)):
    return lines(between.join(form.format(names[label], score) for label, score in row) for row in SCORED)


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


def npz(array, form="csr", name="x.npz", **options):
    sp.save_npz(name, sp.csr_array(array).asformat(form), **options)
    return name


TRUE = np.array([[label in row for label in range(5)] for row in ROWS]).astype(int)
DENSE = np.where(matrix().toarray() == 0, -np.inf, matrix().toarray()).astype(np.float32)
PADDED = np.array([[NAMES[i] if i >= 0 else "" for i in row] for row in LABELS])
WITH_NAMES = [[[NAMES[label], score] for label, score in row] for row in SCORED]
AS_FIVE, NAMED, WORDS = {"n_labels": 5}, {"labels": "names.txt"}, {"labels": "words.txt"}

# By name: the text of a file, or what writes one and returns its path, and options.
TRUTHS = {
    "pairs": (TRUTH, {}),
    "pairs without a header": (body(TRUTH), {}),
    "pairs with decimals": (TRUTH.replace(":1", ":1.00000"), {}),
    "pairs with explicit zeros": (TRUTH.replace("0:1", "0:1 1:0"), {}),
    "labels before features": (LEGACY, {}),
    "labels without features": ("4 3 5\n0,2\n1\n\n3,4\n", {}),
    "labels without a header": (body(LEGACY), {}),
    "labels with blanks": (LEGACY.replace("0,2", "0, 2").replace("3,4", "3 ,\t4"), {}),
    "labels with blanks, without a header": ("0, 2 0:1 2:1\n1 1:3\n 0:1\n3 , 4 2:2\n", {}),
    "JSON lines": (lines(json.dumps({"target_ind": row}) for row in ROWS), AS_FIVE),
    "ids below a header": ("4 5\n" + join(ROWS, ", "), {}),
    "ids below three numbers": ("4 9 5\n" + join(ROWS, ","), {}),
    "ids with blanks": (join(ROWS, ", "), AS_FIVE),
    "ids with text": (join(ROWS, ",").replace("\n", "\tgirls\n"), AS_FIVE),
    "ids among other names": (join(ROWS, ","), WORDS),
    "fastText ids": (join(ROWS, " ", "__label__{}").replace("\n", " some text\n"), AS_FIVE),
    "fastText, labels last": (lines("some text " + " ".join(f"__label__{i}" for i in row) for row in ROWS), AS_FIVE),
    "fastText names within the text": (lines(" and ".join(["some", *(f"__label__{ONE_WORD[i]}" for i in row), "x"]) for row in ROWS), WORDS),
    "names between blanks": (join(ROWS, " ", names=ONE_WORD), WORDS),
    "names between tabs": (join(ROWS, "\t", names=NAMES), NAMED),
    "npz CSR": (lambda: npz(TRUE), {}),
    "npz CSR, not compressed": (lambda: npz(TRUE, compressed=False), {}),
    "npz CSC": (lambda: npz(TRUE, "csc"), {}),
    "npz COO": (lambda: npz(TRUE, "coo"), {}),
    "npy indicator": (lambda: saved("x.npy", TRUE), {}),
    "npy indicator of bools": (lambda: saved("x.npy", TRUE > 0), {}),
    "npy in Fortran order": (lambda: saved("x.npy", np.asfortranarray(TRUE)), {}),
}  # fmt: skip
PREDICTIONS = {
    "pairs": (PREDS, {}),
    "pairs, DiSMEC++": (PREDS.replace("4 5", "4 2"), {}),
    "pairs, napkinXC": (body(PREDS).replace("\n", " \n"), {}),
    "pairs without a header, blank lines after": (body(PREDS) + "\n\n", {}),
    "pairs, comments behind blanks": ("# one\n" + lines(f"{row}{' # 9:9#9 ' * 9 if i % 2 else chr(9) + '#'}" for i, row in enumerate(PREDS.splitlines())) + "#\n", {}),
    "omikuji": (joined("\t", "{} {}"), {}),
    "omikuji, trailing blanks": (joined("\t", "{} {} "), {}),
    "fastText": (joined(" ", "__label__{} {}", ONE_WORD), WORDS),
    "ranked names": (join(BEST, " ", names=ONE_WORD), WORDS),
    "ranked fastText": (join(BEST, " ", "__label__{}"), {}),
    "ranked fastText names": (join(BEST, " ", "__label__{}", ONE_WORD), WORDS),
    "PECOS text2text": (lines(json.dumps({"data": row}) for row in WITH_NAMES), NAMED),
    "JSON lines of lists": (lines(json.dumps([{"label": name, "score": score} for name, score in row]) for row in WITH_NAMES), NAMED),
    "pair, labels alone": (lambda: save_pair(LABELS, None), {}),
    "pair of unicode names": (lambda: save_pair(PADDED), NAMED),
    "pair of name objects": (lambda: save_pair(object_array(np.where(PADDED == "", "-1", PADDED))), NAMED),
    "npy of ranked names": (lambda: saved("x.npy", PADDED), NAMED),
    "npy of floats": (lambda: saved("x.npy", DENSE), {}),
    "pair of floats, scores alone": (lambda: saved("x-scores.npy", DENSE), {}),
    "npz of indices and scores, Fortran order": (lambda: savez(indices=np.asfortranarray(LABELS), scores=np.asfortranarray(SCORES)), {}),
    "npz of labels alone": (lambda: savez(labels=LABELS), {}),
    "npz of names and scores": (lambda: savez(labels=PADDED, scores=SCORES), NAMED),
    "npz of name objects and scores": (lambda: savez(labels=object_array(PADDED), scores=SCORES), NAMED),
    "npz": (lambda: npz(matrix()), {}),
    "npz, not compressed": (lambda: npz(matrix(), compressed=False), {}),
    "npz CSC": (lambda: npz(matrix(), "csc"), {}),
    "npz COO": (lambda: npz(matrix(), "coo"), {}),
}  # fmt: skip
FORMS = {f"truth: {form}": ("truth", *case) for form, case in TRUTHS.items()}
FORMS |= {f"preds: {form}": ("preds", *case) for form, case in PREDICTIONS.items()}

SPACING = {
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "tabs": lambda text: text.replace(" ", "\t"),
    "double blanks": lambda text: text.replace(" ", "  "),
    "outer blanks": lambda text: " " + text.replace("\n", " \n "),
    "bom": lambda text: "\ufeff" + text,
    "comments": lambda text: "# made by hand\n" + text.replace("\n1:", " # one\n\t# two\n1:") + "#\n",
    "commented header": lambda text: "# 4, 5\n " + body(text),
    "bom and comments": lambda text: "\ufeff# first\n#\n" + text,
    "blank lines after": lambda text: text + "\n \n\t\n",
    "blank lines and a comment after": lambda text: text + "\n# end\n\n",
}
SPACED = {
    f"{which}: {name}": (which, change(text), {})
    for name, change in SPACING.items()
    for which, text in (("truth", TRUTH), ("preds", PREDS))
}


def make(content):
    return content() if callable(content) else write("x", content)


def check_read(form, which, path, options):
    read = xmceval.read(path, kind="truth" if which == "truth" else "scores", **{"n_labels": 5, **options})
    if which == "truth":
        assert read.toarray().tolist() == TRUE.tolist()
        return
    assert (type(read), read.dtype, read.nnz) == (sp.csr_array, np.float64, 7)
    if "rank" in form or "labels alone" in form:
        assert [np.argsort(-row, kind="stable")[: (row > 0).sum()].tolist() for row in read.toarray()] == BEST
    else:
        exact = np.float32 if " of " in form else np.float64  # as SCORES are
        assert read.toarray()[:4].astype(exact).tolist() == matrix().toarray().astype(exact).tolist()


@pytest.mark.parametrize("form", FORMS | SPACED)
def test_every_form_is_read_exactly_and_scores_the_same_in_every_way(form, monkeypatch):
    which, content, options = (FORMS | SPACED)[form]
    path, expected = make(content), plain()
    is_pair = not Path(path).exists()
    for other in (path,) if is_pair else (path, write("x.gz", gzip.compress(Path(path).read_bytes()))):
        result = scored(**{which: other}, **options)
        same_numbers(result, expected)
        assert not any("newline" in warning for warning in result.warnings)
        check_read(form, which, other, options)
    if not is_pair:
        monkeypatch.setattr(sys, "stdin", Stdin(Path(path).read_bytes()))
        same_numbers(scored(**{which: "-"}, **options), expected)
    for size in (1, 7, 8, 13, 64):
        read_in_pieces(monkeypatch, text=size, entries=size, rows=2)
        same_numbers(scored(**{which: path}, **options, threads=1 + size % 2), expected)


@pytest.mark.parametrize("name", ["r", "r-labels.npy", "r-scores.npy"])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_pair_is_named_by_either_file_or_its_stem(name, ending):
    for part, array in (("labels", LABELS), ("scores", SCORES)):
        content = Path(saved(f"r-{part}.npy", array)).read_bytes()
        if ending:
            write(f"r-{part}.npy.gz", gzip.compress(content))
    same_numbers(scored("t.txt", name + (ending if name != "r" else "")), scored("t.txt", (LABELS, SCORES)))


def refused(message, truth="t.txt", preds="p.txt", **options):
    with pytest.raises(xmceval.DataError, match=message):
        scored(truth, preds, **options)


def said(truth="t.txt", preds="p.txt", **options):
    """Return the values, what the files are, and the warnings."""
    result = scored(truth, preds, **options)
    return "\n".join(
        [f"{ {name: round(value, 4) for name, value in result.items()} }", *result.inputs, *result.warnings]
    )


def weighted(weights):
    return p_at_1(np.eye(3), np.eye(3)[[0, 2, 1]], sample_weight=weights)


def kind_of(text, kind=None):
    return xmceval.inspect(write("x", text), kind=kind).files[0].kind


def with_character(row, order):
    """Write names of which one has a character that Unicode lacks."""
    names = np.array([["red_shoes", "blue"]] * 4)
    names.view(np.uint32)[row, 1] = 0x110000
    return saved("x.npy", names.astype(f"{order}U9"))


def test_files_are_read_and_described_or_refused_in_these_words(rng):
    wide = np.hstack([matrix().toarray(), [[0.7], [0], [0.3], [0]]])
    wider, integers = (
        np.hstack([wide, wide[:, :1]]),
        np.array([[9, 8, -1, -1, -1], [0, 5, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 4, 5]]),
    )
    scores = rng.random((6, 4))
    truth = (scores > 0.5).astype(int)
    check_lines(__file__, "files.txt", globals() | locals())
    assert not Path("harmed").exists()


class Evil:
    def __reduce__(self):
        return os.mkdir, ("harmed",)


def test_no_signature_hides_another():
    signed = [NPY, ZIP, *TABLES, *REFUSED]
    assert not [(a, b) for a in signed for b in signed if a is not b and a.startswith(b)]


@pytest.mark.skipif(REAL is None, reason="XMCEVAL_REALDATA names no folder")
def test_files_of_attentionxml_are_scored_untouched():
    folder = Path(REAL or "") / "eurlex_attentionxml"
    labels = folder / "labels.txt"
    converted = xmceval.score(folder / "tst_X_Y.txt.gz", folder / "attentionxml_tree0.txt.gz")
    for truth, scores in (
        ("EUR-Lex_test_labels.txt", "AttentionXML-EUR-Lex-Tree-0"),
        ("tst_X_Y.txt.gz", "AttentionXML-EUR-Lex-Tree-0-labels.npy"),
    ):
        assert xmceval.score(folder / truth, folder / scores, labels=labels).estimates == converted.estimates
