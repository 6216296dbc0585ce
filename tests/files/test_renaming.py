"""Names never act as numbers: renaming queries and documents changes no value, in any form by query."""

# ruff: noqa: F401 - lines use what is imported here

import json
import warnings

import pytest
from hypothesis import given, settings, strategies as st
from support.approved import check_lines
from support.asked import p_at_1
from support.executors import PicklingExecutor
from support.files import triples, write, write_qrels, write_run

import xmceval
from xmceval import METRICS

pytestmark = pytest.mark.filterwarnings("ignore")

STYLES = {  # the name of a query or document by its number
    "digits": str,
    "digits backwards": lambda i: str(99 - i),
    "sparse digits": lambda i: str(10 ** (i % 12) + 7 * i),
    "leading zeros": "{:05d}".format,
    "words": "word{}".format,
    "some digits": lambda i: f"{i}x" if i % 3 else str(i),
    "long": lambda i: f"clueweb12-{'0' * 40}{i}-{'z' * (i % 5)}",
    "hashes": "a#{}".format,
}


def as_dicts(qrels, run):
    return qrels, run


def as_trec(qrels, run):
    return write_qrels("q", qrels), write_run("r", run)


def as_beir(qrels, run):
    lines = [f"{query}\t{document}\t{grade}\n" for query, document, grade in triples(qrels)]
    return write("q", "query-id\tcorpus-id\tscore\n" + "".join(lines)), write("r", json.dumps(run))


def as_csv(qrels, run):
    head = "query_id,doc_id,score\n"
    return tuple(
        write(name, head + "".join(f"{query},{document},{value}\n" for query, document, value in triples(table)))
        for name, table in (("q.csv", qrels), ("r.csv", run))
    )


def as_frames(qrels, run):
    pandas = pytest.importorskip("pandas")
    return tuple(pandas.DataFrame(triples(table), columns=["qid", "docno", "score"]) for table in (qrels, run))


def as_parquet(qrels, run):
    frames = as_frames(qrels, run)
    for frame, name in zip(frames, "qr", strict=True):
        frame.sample(frac=1, random_state=1)[["score", "docno", "qid"]].to_parquet(f"{name}.parquet", row_group_size=3)
    return "q.parquet", "r.parquet"


FORMS = [as_dicts, as_trec, as_beir, as_csv, as_frames, as_parquet]


@st.composite
def problems(draw):
    """Draw grades and scores by the numbers of queries and documents; no two scores of a query are equal."""
    queries = draw(st.lists(st.integers(0, 30), min_size=3, max_size=6, unique=True))
    documents = draw(st.lists(st.integers(0, 30), min_size=2, max_size=9, unique=True))
    some = st.lists(st.sampled_from(documents), min_size=1, unique=True)
    qrels = {query: {document: draw(st.integers(0, 3)) for document in draw(some)} for query in queries}
    run = {query: draw(some) for query in [*queries, 31]}
    return qrels, {query: {document: 9 - rank for rank, document in enumerate(row)} for query, row in run.items()}


def renamed(table, of_query, of_document):
    return {of_query(query): {of_document(d): value for d, value in row.items()} for query, row in table.items()}


def values(pair, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xmceval.score(*pair, k=[1, 3], grades=True, **options).estimates


NEEDING = [name for name, metric in METRICS.items() if metric.needs_labels]


@settings(max_examples=25)
@given(
    problem=problems(),
    styles=st.tuples(st.sampled_from(sorted(STYLES)), st.sampled_from(sorted(STYLES))),
    form=st.sampled_from(FORMS),
    n_labels=st.sampled_from([None, 40]),
)
def test_renaming_changes_no_value(problem, styles, form, n_labels):
    metrics = ["ERR(max=3)" if name == "ERR" else name for name in METRICS if n_labels or name not in NEEDING]
    of_query, of_document = (STYLES[style] for style in styles)
    base = values([renamed(table, "q{}".format, "d{}".format) for table in problem], metrics=metrics, n_labels=n_labels)
    pair = form(*(renamed(table, of_query, of_document) for table in problem))
    assert values(pair, metrics=metrics, n_labels=n_labels) == base


QRELS = {"a1": {"a1c": 1}, "a2": {"a2c": 1}, "a3": {"a3c": 1, "a4": 0}}
RUN = {"a1": {"a1": 9, "a1c": 8, "a2": 7}, "a2": {"a2": 9, "a9": 8, "a2c": 7}, "a3": {"a3c": 9, "a3": 8}}
OWN = [(query, query) for query in QRELS]
FILTERS = {
    "a list": lambda: OWN,
    "text": lambda: write("f", "# own documents\n" + "".join(f"{query} {query}\n" for query, _ in OWN)),
    "tabs": lambda: write("f", "".join(f"{query}\t{query}\n" for query, _ in OWN)),
    "CSV": lambda: write("f", "query-id,corpus-id\n" + "".join(f"{query},{query}\n" for query, _ in OWN)),
    "a frame": lambda: pytest.importorskip("pandas").DataFrame(OWN, columns=["qid", "docno"]),
    "documents that are not mentioned": lambda: [*OWN, (OWN[0][0], "none"), (OWN[1][0], "0"), (OWN[1][0], "0")],
}


@pytest.mark.parametrize("style", ["q{}", "{}"])
@pytest.mark.parametrize("form", [as_dicts, as_trec, as_csv])
@pytest.mark.parametrize("kind", FILTERS)
def test_a_filter_has_names_of_query_and_document(kind, form, style, monkeypatch):
    def name(word):
        return style.format(word.translate(str.maketrans("acx", "789")))

    qrels, run = (renamed(table, name, name) for table in (QRELS, RUN))
    monkeypatch.setitem(globals(), "OWN", [(name(query), name(document)) for query, document in OWN])
    results = xmceval.score_all(form(qrels, run)[0], {"a": form(qrels, run)[1], "b": run}, metrics="P", k=1)
    assert [results[system]["P@1"] for system in "ab"] == [1 / 3] * 2
    result = xmceval.score(*form(qrels, run), metrics="P,macroF1", k=1, filter=FILTERS[kind](), n_labels=8)
    assert (result["P@1"], result.counts.n_labels, result.filtered.removed) == (2 / 3, 8, 3)
    assert result["macroF1@1"] == pytest.approx(2 / 8)


def test_names_are_joined_and_numbered_as_these_lines_say():
    mentioned = {"1": {"7": 1, "900000000": 0}, "2": {"8": 1}}
    runs = [{"1": {"7": 1.0, other: 2.0}} for other in ("5", "6")]
    metrics = ["macroR(over=truth)", "coverage(of=recommended)"]
    check_lines(__file__, "renamed.txt", globals() | locals())
