"""Arrays that could be read in two ways are read with a warning, or refused."""

import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from support.files import LABELS, SCORES, same_numbers, scored
from test_formats import _in_a_folder, object_array, refused, saved, savez  # noqa: F401 - a fixture for all tests

import xmceval


@pytest.mark.parametrize("name", ["m-labels.npy", "x.npy", "x.npz"])
def test_labels_without_scores_have_a_warning(name):
    result = scored(preds=savez(labels=LABELS) if name == "x.npz" else saved(name, LABELS))
    same_numbers(result)
    [warning] = [each for each in result.warnings if "there is no" in each]
    assert warning.endswith("labels are ranked by their column, the first is the best")
    assert not any("there is no" in each for each in scored(preds=savez(labels=LABELS, scores=SCORES)).warnings)


def test_integers_as_wide_as_there_are_labels_are_scores():
    values = np.array([[9, 8, -1, -1, -1], [0, 5, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 4, 5]])
    assert scored(preds=saved("x.npy", values))["P@1"] == 0.75  # as ids of 5 labels, 9 would be out of range


@pytest.mark.parametrize(
    ("message", "option", "make"),
    [
        ("x.npy has 3 columns, but t.txt has 5 labels", "preds", lambda: saved("x.npy", np.array([[1, 1, 2]] * 4))),
        ("x.npy has 3 columns, but t.txt has 5 labels", "preds", lambda: saved("x.npy", np.array([[1, 7, 2]] * 4))),
        *(
            (r"m-labels\.npy: has shape \(4, 2\); expected one label name per entry", "labels", make)
            for make in (
                lambda: saved("m-labels.npy", LABELS),
                lambda: saved("m-labels.npy", np.array([["a", "b"]] * 4)),
                lambda: saved("m-labels.npy", object_array([["a", "b"]] * 4)),
            )
        ),
        (
            r"x\.npz \(labels\) has shape \(4, 1\), but x\.npz \(scores\) has shape \(4, 2\); expected the same",
            "preds",
            lambda: savez(labels=LABELS[:, :1], scores=SCORES),
        ),
        ("has both 'indices' and 'labels'", "preds", lambda: savez(labels=LABELS, indices=LABELS, scores=SCORES)),
        (
            r"x\.npz \(labels\): expected a matrix of integers or strings",
            "preds",
            lambda: savez(labels=SCORES, scores=SCORES),
        ),
        ("is not a sparse matrix", "truth", lambda: savez(labels=LABELS)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(message, option, make):
    refused(message, **{option: make()})


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("row", [0, 3])
def test_a_number_that_is_no_character_is_refused_with_its_row(row, order):
    names = np.array([["red_shoes", "blue"]] * 4)
    names.view(np.uint32)[row, 1] = 0x110000
    message = f"^x.npy row {row}: a name has a character that Unicode lacks; is the file damaged"
    refused(message, preds=saved("x.npy", names.astype(f"{order}U9")), labels="words.txt")


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("wrong", ["y_true", "y_score"])
def test_numbers_as_text_are_refused_with_what_makes_them_numbers(rng, run, wrong, is_file):
    scores = rng.random((6, 4))
    arrays = {"y_true": (scores > 0.5).astype(int), "y_score": scores}
    expected = xmceval.score(*arrays.values(), metrics="P", k=1)["P@1"]
    arrays[wrong] = arrays[wrong].astype(str)
    passed = {name: saved(f"{name}.npy", array) for name, array in arrays.items()} if is_file else arrays
    with pytest.raises(xmceval.DataError, match=rf"^{wrong}.*: has numbers as text, such as '[\d.]+' \(hint") as caught:
        xmceval.score(*passed.values(), metrics="P", k=1)
    code = re.search(r"hint: pass (.+)\)$", str(caught.value))[1]
    passed = {**passed, wrong: eval(code, {"numpy": np, **passed})}
    assert xmceval.score(*passed.values(), metrics="P", k=1)["P@1"] == expected
    if is_file:
        printed = run("score", "y_true.npy", "y_score.npy", "-m", "P@1")[2]
        line = re.search(r"run (python -c .+-new\.npy.+)\)\n", printed)[1]
        subprocess.run([sys.executable, *shlex.split(line)[1:]], check=True)
        assert np.load(f"{wrong}-new.npy").tolist() == passed[wrong].tolist()
