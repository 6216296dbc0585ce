"""Sheet: what a table shows, whole, as values; and the plain form that draws it."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

import xmceval
from xmceval.report.forms.plain import align_columns, align_terms, draw
from xmceval.report.score_sheet import build_sheet
from xmceval.report.sheet import Cell, Listing, Row, Section, Sheet
from xmceval.scoring.estimates import ONE_ROW

Y_TRUE = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
CARRIES = "carries more than a fifth of the variance of P@1"
FEW = "caution: the intervals are from fewer than 30 instances"
Y_SCORE = np.array([[0.9, 0.1, 0.8, 0.2], [0.3, 0.7, 0.1, 0.2], [0.9, 0.5, 0.4, 0.4]])


def score(y_score=Y_SCORE, name="a", **options):
    options = {"metrics": ["P", "coverage_error", "tp"], "k": (1, 3), "n_labels": 4, **options}
    stored = csr_matrix(np.where(y_score > -np.inf, y_score, 0))
    return replace(xmceval.score(Y_TRUE, stored, **options), name=name)


def test_ceilings_that_one_system_alone_has_are_a_row():
    sheet = build_sheet([score(metrics="P", k=1, ceiling=True), score(name="b", metrics="P", k=1)])
    assert [row.head for row in sheet.sections[0].rows] == ["a", "b", "ceiling"]


def test_an_instance_that_carries_much_of_the_variance_is_told_with_the_bin_it_is_of():
    result = score(metrics="P", k=1, by_frequency="head,tail", counts=[9, 9, 1, 1], n_train=20)
    figures, (head, tail) = (tuple(map(carried, result.figures)), result.slices)
    result = replace(result, figures=figures, slices=(replace(head, figures=tuple(map(carried, head.figures))), tail))
    told = [line for line in build_sheet([result]).below if "carries" in line]
    assert told == [f"caution: a single instance {CARRIES}", f"caution: a single instance {CARRIES} in head"]


def carried(figure):
    return replace(figure, estimate=replace(figure.estimate, caution=ONE_ROW))


def test_a_caution_names_systems_where_others_have_intervals_without_it():
    few, none = score(metrics="P", k=1), score(name="b", metrics="P", k=1)
    [figure] = none.figures
    for estimate, line in (
        (replace(figure.estimate, caution=None), f"{FEW} (a)"),
        (replace(figure.estimate, caution=None, low=None, high=None), FEW),  # there is no interval that is better
    ):
        other = replace(none, figures=(replace(figure, estimate=estimate),))
        assert [each for each in build_sheet([few, other]).below if each.startswith("caution")] == [line]


def test_a_line_explains_which_values_of_bins_are_shares():
    options = {"by_frequency": 2, "counts": [9, 9, 1, 1], "n_train": 20}
    sheet = build_sheet([score(metrics=["macroF1@1", "P@1", "nDCG@1", "PSP@1", "coverage@1"], **options)])
    assert sheet.below[1] == (
        "values of P, nDCG and PSP in the bins add up to the total; macroF1 and coverage are averaged within each bin"
    )
    assert build_sheet([score(metrics="macroF1@1", **options)]).below[0] == ("macroF1 is averaged within each bin")
    assert not any("bins" in line for line in build_sheet([score(metrics="macroF1@1")]).below)


def test_means_agree_with_their_nouns():
    result = score()
    for n_true, n_predictions, text in (
        (3, 3, "1 true label and 1 prediction per instance"),
        (4, 4, "1.33 true labels and 1.33 predictions per instance"),
        (0, 0, "0 true labels and 0 predictions per instance"),
    ):
        counts = replace(result.counts, n_true=n_true, n_predictions=n_predictions)
        assert build_sheet([replace(result, counts=counts)]).above[0].endswith(f" · {text}")


def test_columns_are_aligned_and_terms_are_not_repeated():
    assert align_columns([("a", "1", "x"), ("bcd", "22", "")], right={1}) == ["a     1  x", "bcd  22"]
    assert align_columns([]) == []
    long = " ".join(["word"] * 30)
    lines = align_terms([("a", "one"), ("a", "  two"), ("long", long), ("a", "three")])
    assert [line[:16].rstrip() for line in lines[:4]] == [
        "a     one",
        "        two",
        "long  word word",
        "      word word",
    ]
    assert lines[-1] == "a     three"
    assert max(map(len, lines)) <= 80
    assert align_terms([("a", f"{'word ' * 14}well-known")])[1:] == ["   well-known"]


def test_a_list_of_a_head_alone_is_drawn():
    sections = (Section("", (Row("P", {"@1": Cell("1.00")}),)),)
    sheet = Sheet((), ("@1",), sections, (), listings=(Listing("list", ("", "n"), ()),))
    assert draw(sheet).splitlines()[-2:] == ["list", "    n"]


def test_metrics_with_a_cutoff_each_are_lines_of_one_column():
    sheet = build_sheet([score(metrics="P@1,R@3,coverage_error", ceiling=True)])
    assert sheet.columns == ("a",)
    assert [row.head for row in sheet.rows] == ["P@1", "P@1 ceiling", "R@3", "R@3 ceiling", "coverage_error"]
    assert build_sheet([score(metrics="P@1,R@1")]).columns == ("@1",)
    assert build_sheet([score(metrics="P@1,P@3,R@3")]).columns == ("@1", "@3")
