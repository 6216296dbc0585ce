"""Names that match in another Unicode form or case only are doubted where names are joined; others never are."""

# ruff: noqa: F401 - lines use what is imported here

import unicodedata
import warnings
from pathlib import Path

import pandas as pd
import pytest
from support.approved import check_lines
from support.files import write

import xmceval
from xmceval.rows.names import doubt_alike

CAFE = "Café 1"
OTHERS = {
    "NFD": lambda name: unicodedata.normalize("NFD", name),
    "upper": str.upper,
    "wide": lambda name: name.replace("1", "\uff11"),
}
TRUTH = {CAFE: {"doc": 1, "b": 0}, "two": {CAFE: 1}, "three": {"c": 1}, "four": {"doc": 1}}
RUN = {query: dict.fromkeys([*row, "unjudged"], 0.5) for query, row in TRUTH.items()}


def as_is(name):
    return name


def renamed(table, of_query, of_document):
    return {of_query(query): {of_document(d): v for d, v in row.items()} for query, row in table.items()}


def as_trec(table, name):
    is_run = name == "run"
    lines = [
        f"{query.replace(' ', '_')} {'Q0' if is_run else 0} {document.replace(' ', '_')} "
        + (f"{rank} {value} tag" if is_run else f"{value}")
        for query, row in table.items()
        for rank, (document, value) in enumerate(row.items(), 1)
    ]
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def as_table(table, name):
    column = "score" if name == "run" else "grade"
    lines = [(query, document, value) for query, row in table.items() for document, value in row.items()]
    return pd.DataFrame(lines, columns=["query_id", "doc_id", column])


FORMS = {"dicts": lambda table, name: table, "TREC": as_trec, "table": as_table}


def doubts_of(function, *inputs, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*inputs, **options)
    return [str(each.message) for each in caught if "Unicode form only" in str(each.message)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("other", OTHERS)
def test_queries_and_documents_in_another_form_are_doubted(form, other):
    make, change = FORMS[form], OTHERS[other]

    def rename(name):
        return change(name) if name == CAFE else name

    truth = make(TRUTH, "qrels")
    for noun, renames in (("query", (rename, as_is)), ("document", (as_is, rename))):
        found = doubts_of(xmceval.score, truth, make(renamed(RUN, *renames), "run"), metrics="P@1")
        assert len(found) == 1
        shown = [ascii(name.replace(" ", "_") if form == "TREC" else name) for name in (change(CAFE), CAFE)]
        assert f"has the {noun} {shown[0]}, and " in found[0]
        assert f" has {shown[1]}, which differ" in found[0]
    assert doubts_of(xmceval.score, truth, make(RUN, "run"), metrics="P@1") == []
    dropped = make(renamed(RUN, rename, as_is), "run")
    assert len(doubts_of(xmceval.score, truth, dropped, metrics="P@1", missing="drop")) == 1


def saved(name, *rows):
    pd.DataFrame({"row": rows, "P@1": [0.5, 0.25, 1]}).to_csv(name, index=False)
    return name


def alike(*inputs):
    return [str(doubt) for doubt in doubt_alike("p", "document", "t", *inputs)]


def test_names_are_doubted_in_these_words(run):
    texts = pd.DataFrame({"row": [0, 1, 2, 3], "label": ["red", "Öl", "blue", "red"]})
    other = texts.assign(label=["red", unicodedata.normalize("NFD", "Öl"), "Blue", "red"])
    check_lines(__file__, "names alike.txt", globals() | locals())
