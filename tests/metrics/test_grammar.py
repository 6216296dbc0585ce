"""The grammar of lists: names and cutoffs separated by commas, ranges of cutoffs; the same everywhere."""

import numpy as np  # noqa: F401 - in lists.txt
import pytest
from hypothesis import given, strategies as st
from support.approved import check_answers, evaluate
from support.files import write

import xmceval
from xmceval import METRICS
from xmceval.metrics.names import parse, parse_cutoffs, split_names
from xmceval.scoring.options import Options


def cutoffs(k):
    """Return the cutoffs that `k` means as an option; text and numbers are read by the same function."""
    found = Options(k=k).cutoffs
    assert isinstance(k, list) or found == parse_cutoffs(k)
    return found


def names(text, *k):
    """Return the measures that names mean, of which a list of names may be one item."""
    found = parse(text, *k)
    assert not isinstance(text, str) or parse([text], *k) == found
    return found


def test_lists_of_names_and_of_cutoffs_mean_or_are_refused_as_it_was_approved():
    check_answers(__file__, "lists.txt", lambda line: evaluate(line, globals()))


@given(st.lists(st.tuples(st.sampled_from(sorted(METRICS)), st.lists(st.integers(1, 9), max_size=3)), min_size=1))
def test_names_joined_by_commas_are_the_names(pairs):
    names = []
    for name, cutoffs in pairs:
        takes_cutoff = METRICS[name].cutoff != "none" and "@" not in name
        names.append(f"{name}@{','.join(map(str, cutoffs))}" if takes_cutoff and cutoffs else name.replace("@k", "@3"))
    assert split_names(",".join(names)) == names
    assert parse(",".join(names)) == parse(names)


def test_python_and_the_command_understand_the_same_lists(run):
    write("t.txt", "2 4\n0:1 2:1\n1:1\n")
    write("p.txt", "2 4\n0:.9 1:.8 2:.7\n1:.5 2:.1 3:.2\n")
    result = xmceval.score("t.txt", "p.txt", k="1-3", metrics="P,nDCG@2,LRAP")
    assert list(result) == ["P@1", "P@2", "P@3", "nDCG@2", "LRAP"]
    asked = ["score", "t.txt", "p.txt", "-k", "1-3", "-m", "P,nDCG@2", "-m", "LRAP", "-o", "csv", "-q"]
    lines = run(*asked)[1].splitlines()[1:]
    shown = [line.split(",") for line in lines]
    assert [f"{row[1]}@{row[2]}" if row[2] else row[1] for row in shown] == list(result)
    assert [float(row[5]) for row in shown] == list(result.values())


@pytest.mark.parametrize("name", METRICS)
def test_every_name_of_the_table_is_understood_as_a_name(name):
    measures = parse([name], [1, 5])
    assert {measure.metric.name for measure in measures} == {name}
    cutoffs = [str(i / 10).removesuffix(".0") for i in range(11)] if name == "IPrec" else ["1", "5"]
    has_several = METRICS[name].cutoff != "none" or METRICS[name].level
    assert [measure.cutoff for measure in measures] == (cutoffs if has_several else [name.partition("@")[2]])
