"""Options of the layout: what they change in tables, and which forms take them."""

import csv
import io
import json

import pytest

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
