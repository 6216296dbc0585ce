"""Text that could be read in two ways, or is written as elsewhere, is never read wrongly in silence."""

import pytest
from support.files import PREDS, same_numbers, scored, write
from test_formats import ROWS, _in_a_folder, lines, named, refused  # noqa: F401 - a fixture for all tests

import xmceval

NUMBERS = "4\n3\n2\n1\n0\n"


@pytest.mark.parametrize("join", [" ", ",", "\t"])
def test_names_that_are_numbers_are_never_read_as_ids(join):
    truth = lines(join.join(str(4 - i) for i in row) for row in ROWS)
    same_numbers(scored(write("x", truth), labels=write("n", NUMBERS)))
    message = r"^x:4: '7' is not in n, which has 5 label names \(hint: leave --labels out if these are label ids\)$"
    refused(message, truth=write("x", truth.replace(f"1{join}0", f"1{join}7")), labels="n")
    refused(message, preds=write("x", lines([join.join("43"), join.join("32"), "1", join.join("07")])), labels="n")


def test_lists_of_ids_beside_other_names_are_read_as_ids():
    same_numbers(scored(write("x", named("01234", ROWS, ",")), labels="words.txt"))


def test_fasttext_ranks_are_labels_only():
    truth, preds = write("y", "1002 5\n" + "0:1\n" * 1002), write("x", "__label__0\n" * 1001 + "__label__1 0.5\n")
    refused("x:1002: expected only __label__name.* found '0.5'", truth, preds)


ODD_SCORES = {
    "percent signs": (PREDS.replace("0.9", "90%"), "p.txt:2", "90%", "s/%//g"),
    "decimal commas": (PREDS.replace(".5", "0,5"), "p.txt:3", "0,5", "s/([0-9]),([0-9])"),
    "omikuji, percent signs": ("0 90%\t1 80%\n1 5%\n3 1%\n4 5%\n", "p.txt:1", "90%", "s/%//g"),
    "omikuji, decimal commas": ("0 1\t1 0,8\n1 0,5\n3 1\n4 0,5\n", "p.txt:1", "0,8", "s/([0-9]),([0-9])"),
    "fastText": ("__label__0 90%\n__label__1 5%\n\n__label__4 5%\n", "p.txt:1", "90%", "s/%//g"),
    "JSON lines": ('{"data": []}\n{"data": [[0, "90%"]]}\n', "p.txt:2", "90%", "s/%//g"),
}


@pytest.mark.parametrize("form", ODD_SCORES)
def test_percent_signs_and_decimal_commas_are_refused_once(form):
    content, place, found, hint = ODD_SCORES[form]
    with pytest.raises(xmceval.DataError) as caught:
        scored(preds=write("p.txt", content))
    [message] = str(caught.value).split("\n")
    assert message.startswith(f"{place}: expected a number as the score, found '{found}'; ")
    assert hint in message
