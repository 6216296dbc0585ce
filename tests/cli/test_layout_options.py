"""Options of the layout: what they change in tables, and which forms take them."""

import csv
import io
import json

import pytest
from support.approved import check

pytestmark = pytest.mark.usefixtures("in_sample")
FILES = ("tst_X_Y.txt", "model_a.txt", "model_b.txt")
ASKED = (*FILES, "-m", "P,nDCG", "-k", "1,5")


@pytest.fixture
def shown(run):
    """Return a function that runs a command which succeeds, and returns what it prints."""

    def shown(*args):
        code, out, err = run(*args)
        assert code == 0, err
        return out

    return shown


def test_markdown_and_latex_are_as_they_were_approved(shown):
    check(__file__, "score.md", shown("score", *ASKED, "-o", "md"))
    layout = ("--fraction", "--places", 3)
    asked = ("score", *FILES[:2], "-m", "P@1,5", "-o", "latex", *layout)
    check(__file__, "score.tex", shown(*asked))
    with_intervals = r"    P & 0.686~{\scriptsize $\pm$0.041} & 0.374~{\scriptsize $\pm$0.019} \\" + "\n"
    assert with_intervals in shown(*asked, "--intervals")


def test_every_form_shows_differences_and_runs_only_with_pairs(shown):
    asked = ("compare", *ASKED, "--runs", "C=model_a.txt,model_b.txt")
    for form in ("table", "md", "latex"):
        with_pairs, left_out = shown(*asked, "-o", form, "--pairs"), shown(*asked, "-o", form)
        for sign in ("wins/ties/losses", " lowest "):
            assert sign in with_pairs
            assert sign not in left_out
        assert ("C (2) " in with_pairs, "C (2) " in left_out, "C, mean of 2 runs" in left_out) == (True, False, True)
    assert shown("compare", *ASKED, "-o", "latex", "--pairs").count(r"\begin{tabular}") > 1


@pytest.mark.parametrize(
    ("args", "row"),
    [
        ((), "model_a   68.60 ±4.08   37.40 ±1.91   68.60 ±4.08   59.14 ±2.49"),
        (("--no-intervals",), "model_a   68.60   37.40   68.60   59.14"),
        (("--no-intervals", "--fraction"), "model_a  0.6860  0.3740  0.6860  0.5914"),
        (("--fraction", "--places", 2), "model_a  0.69 ±0.04  0.37 ±0.02    0.69 ±0.04    0.59 ±0.02"),
        (("--places", 0), "model_a   69 ±4   37 ±2     69 ±4     59 ±2"),
    ],
)
def test_options_of_the_layout_change_how_a_table_looks(shown, args, row):
    assert row.split() in [line.split() for line in shown("score", *ASKED, *args).splitlines()]


def test_one_row_has_neither_intervals_nor_tests(shown, tmp_path):
    for name, text in (("t.txt", "1 3\n0:1\n"), ("a.txt", "1 3\n0:1 1:.5\n"), ("b.txt", "1 3\n1:1 0:.5\n")):
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in ("t.txt", "a.txt", "b.txt")]
    for form in ("table", "md", "latex"):
        out = shown("compare", *files, "-m", "P@1", "-q", "-o", form)
        assert "±" not in out
        assert r"\pm" not in out
        assert "P@1 was not tested" in out
        assert "& P@1 \\\\" in out or form != "latex"


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("args", [("--places", 3), ("--no-intervals",), ("--percent",)])
def test_options_without_effect_are_refused(run, form, args):
    for command in ("score", "compare"):
        message = f"Error: {args[0]} has no effect on -o {form} (hint: pass -o table or md or latex)\n"
        assert run(command, *ASKED, "-o", form, *args) == (2, "", message)


@pytest.mark.parametrize(
    ("flag", "hint"),
    [
        *(("--latex", "-o latex"), ("--tex", "-o latex"), ("--markdown", "-o md"), ("--csv", "-o csv")),
        *(("--json", "-o json"), ("--html", "--page FILE.html"), ("--jsn", "")),
    ],
)
def test_a_form_that_is_passed_as_an_option_is_answered_with_the_option(run, flag, hint):
    for command in ("score", "compare"):
        code, _, err = run(command, *FILES, flag)
        assert code == 2
        assert f"No such option '{flag}'" + (f" (hint: {hint})" if hint else "") in err
        assert ("(hint: " in err) == bool(hint)


def test_csv_and_json_have_fractions_and_may_be_asked_for_them(shown):
    assert shown("score", *ASKED, "-o", "csv", "--fraction") == shown("score", *ASKED, "-o", "csv")


def test_options_of_the_layout_are_options_of_compare_and_score_has_no_pairs(shown):
    for command, missing in (("compare", set()), ("score", {"pairs"})):
        text = shown(command, "--help-all")
        assert {name for name in ("places", "percent", "intervals", "pairs") if f"--{name}" not in text} == missing


def test_csv_has_what_the_json_has(shown):
    asked = (*FILES, "-m", "P@5,macroF1@5,LRAP,DCG@5", "-q", "--by-frequency", "head,tail", "--train", "trn_X_Y.txt")
    lines = list(csv.DictReader(io.StringIO(shown("score", *asked, "--ceiling", "-o", "csv"))))
    document = json.loads(shown("score", *asked, "--ceiling", "-o", "json"))
    assert list(lines[0])[:9] == ["system", "metric", "k", "bin", "kind", "value", "low", "high", "ceiling"]
    kinds = [("P", "share"), ("macroF1", "average"), ("DCG", "share")]
    expected = [(name, "", "total") for name in ("P", "macroF1", "LRAP", "DCG")]
    expected += [(name, part, kind) for part in ("head", "tail") for name, kind in kinds]
    assert [(line["metric"], line["bin"], line["kind"]) for line in lines] == 2 * expected
    for line in lines:
        assert json.loads(line["options"]) == document["options"]
        assert json.loads(line["propensities"] or "null") == document["propensities"]
        assert (line["truth"], int(line["n_instances"])) == (document["truth"], document["n_instances"])
        system = next(each for each in document["systems"] if each["name"] == line["system"])
        assert line["scores"] == system["scores"]
        part = next((each for each in system["slices"] if each["name"] == line["bin"]), system)
        numbers = part["metrics"][f"{line['metric']}@{line['k']}".rstrip("@")]
        assert line["kind"] == numbers.get("kind", "total")
        for name in ("value", "low", "high", "ceiling", "tie_low", "tie_high"):
            number = numbers.get(name)
            assert line[name] == ("" if number is None else repr(number))
    total, *shares = (line for line in lines[: len(expected)] if line["metric"] == "P")
    assert float(total["value"]) == pytest.approx(sum(float(line["value"]) for line in shares))
    assert float(total["ceiling"]) > float(total["value"])
