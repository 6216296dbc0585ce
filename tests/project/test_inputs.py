"""The guide to inputs tells the truth: all that its lists and tables show is written, read and scored, or refused.

Its examples are of the same three instances, so that each gives the same values: a file or an object that is read as
anything else does not.
"""

import gzip
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from support.approved import check_answers, evaluate as evaluate_line
from support.asked import measured, refused
from support.files import open_scores, write
from support.pieces import read_in_pieces
from support.recipes import GUIDES, find_code, run, split_parts

import xmceval
from xmceval.files.formats import FORMATS
from xmceval.files.open import KINDS, READINGS, open_truth
from xmceval.files.sidecars.values import read_names
from xmceval.files.tables.columns import NAMES
from xmceval.files.text.source import GRAMMARS

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

PAGE = GUIDES["inputs"]
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
PARTS = split_parts(PAGE)[1]
IN_MEMORY = run(find_code(PAGE))
Y, S, RUN, QRELS = (IN_MEMORY[name] for name in ("Y", "S", "run", "qrels"))
METRICS = "P@1,P@3,RR,nDCG@3,R@3,AP"


def tables_of(text):
    """Return the tables of a text, each as rows of cells below the head."""
    groups = itertools.groupby(text.splitlines(), key=lambda line: line.startswith("|"))
    tables = [[line.strip("|").split("|") for line in lines] for is_table, lines in groups if is_table]
    return [[[cell.strip() for cell in row] for row in table[2:]] for table in tables]


def entries_of(text):
    """Return the entries of the lists of a text: names, what follows them, and items by the words before."""
    entries = []
    for entry in re.findall(r"^- \*\*.*\n(?:  .*\n)*", text, re.MULTILINE):
        head, *items = [" ".join(part.split()) for part in re.split(r"^  - ", entry, flags=re.MULTILINE)]
        name, about = re.fullmatch(r"- \*\*(.*?)\*\*(?:: | )?(.*)", head).groups()
        entries.append((name, about, dict(re.split(": ?", item, maxsplit=1) for item in items)))
    return entries


def codes_in(text):
    return re.findall(r"`([^`]+)`", text)


def evaluate(code):
    """Return the value of an expression of the page."""
    return eval(code, {**IN_MEMORY, "torch": pytest.importorskip("torch") if "torch" in code else None})


def plain(code):
    """Return the text of a file as the page shows it."""
    return code.replace("↵", "\n").replace("→", "\t")


def make(code):
    """Write an example file and return its path, of a pair its stem: code writes it itself, other text is the file."""
    path = re.search(r'"(x[^"-]*)', code)
    if path is None:
        return write("x", plain(code))
    evaluate(code)
    return path[1]


# The names of labels: of most examples, and of those that need others.
OF_OPTIONS = {name: codes_in(items["example"]) for name, _, items in entries_of(PARTS["Files for options"])}
LABELS = plain(OF_OPTIONS["label-names"][0])
OTHER_LABELS = {"comma-names": "1000\n1001\n1002\n1003\n1004\n", "tabbed-names": re.sub("(?m)^(?=.)", "light ", LABELS)}

# The format, "truth" or "scores", what writes or is a file, and the names of labels, if it has such names.
BY_ROW, BY_QUERY = (
    [
        (name, kind, code, OTHER_LABELS.get(name, LABELS if "--labels" in about else None))
        for heading in headings
        for name, about, items in entries_of(PARTS[heading])
        for kind, item in (("truth", "truth"), ("scores", "predictions"))
        for code in codes_in(items.get(item, ""))
    ]
    for headings in (["Text with a line per instance", "Arrays", "Tables, by row"], ["Queries and documents"])
)
FILES = [(*row, files is BY_QUERY) for files in (BY_ROW, BY_QUERY) for row in files]
of_files = pytest.mark.parametrize(("name", "kind", "code", "labels", "by_query"), FILES)


@pytest.fixture(scope="module")
def expected():
    """Return the values of the example, which the page states."""
    values = measured(Y, S, metrics=METRICS)
    page = " ".join(PAGE.split())
    stated = re.search(r"P@1 is ([\d.]+), P@3 ([\d.]+), RR ([\d.]+) and nDCG@3 ([\d.]+)\.", page).groups()
    assert [f"{100 * values[name]:.2f}" for name in ("P@1", "P@3", "RR@all", "nDCG@3")] == list(stated)
    return values


def score(kind, path, *, by_query=False, **options):
    """Score a truth or predictions against their counterpart in memory."""
    y_true, y_score = (QRELS, RUN) if by_query else (Y, S)
    inputs = (path, y_score) if kind == "truth" else (y_true, path)
    return xmceval.score(*inputs, metrics=METRICS, **options)


def order(matrix):
    return np.argsort(-matrix, axis=1, kind="stable")


@of_files
def test_a_file_is_read_as_its_format(name, kind, code, labels, by_query, expected):
    labels = labels and write("labels", labels)
    path = make(code)
    result = score(kind, path, by_query=by_query, labels=labels)
    assert dict(result) == expected
    assert result.doubts == ()
    names = labels and read_names(labels)
    if kind == "truth":
        opened = open_truth(path, names=names)
    else:
        judgments = open_truth(write("q", "q0 0 red 1\n")).judgments if by_query else None
        opened = open_scores(path, names=names, judgments=judgments)
    assert opened.format is FORMATS[name]
    assert FORMATS[name].title in opened.description or name == "json-queries"
    if not by_query:
        held = (Y if kind == "truth" else S).toarray()
        read = xmceval.read(path, kind=kind, labels=labels).toarray()[:, :5]
        assert ((read > 0) == (held > 0)).all()
        assert (order(read) == order(held)).all()
        assert (read == held).all() or opened.is_ranked or name == "npy-ranked"


@pytest.mark.parametrize(("name", "kind", "code", "labels", "by_query"), [row for row in FILES if "↵" in row[2]])
def test_line_ends_and_compression_change_nothing(name, kind, code, labels, by_query, expected):
    labels = labels and write("labels", labels)
    content = Path(make(code)).read_bytes()
    for other in (content.replace(b"\n", b"\r\n"), gzip.compress(content), b"\xef\xbb\xbf" + content):
        assert dict(score(kind, write("x", other), by_query=by_query, labels=labels)) == expected


@of_files
@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_size_of_chunks_changes_nothing(name, kind, code, labels, by_query, size, expected, monkeypatch):
    labels, path = labels and write("labels", labels), make(code)
    read_in_pieces(monkeypatch, text=size, lines=size, entries=size, rows=2)
    assert dict(score(kind, path, by_query=by_query, labels=labels)) == expected


@pytest.mark.parametrize(("files", "n_labels"), [(BY_ROW, 5), (BY_QUERY, None)], ids=["by row", "by query"])
def test_any_two_files_fit_together(files, n_labels, expected):
    write("labels", LABELS)
    files = [row for row in files if row[0] not in OTHER_LABELS]
    truths, predictions = ([row for row in files if row[1] == kind] for kind in ("truth", "scores"))
    for truth, scores in itertools.product(truths, predictions):
        path = Path(make(truth[2]))
        y_true = path.rename("t" + path.suffix)
        options = {"labels": "labels" if truth[3] or scores[3] else None, "n_labels": n_labels}
        assert measured(y_true, make(scores[2]), metrics=METRICS, **options) == expected


def test_every_format_has_an_example_and_every_grammar_a_format():
    assert {row[0] for row in FILES} == set(FORMATS)
    assert set(GRAMMARS) <= set(FORMATS)
    assert len({form.title for form in FORMATS.values()}) == len(FORMATS)


def test_the_page_says_how_text_is_told_apart_in_the_order_in_which_it_is():
    shown = [(name, evidence.replace("`", "")) for name, evidence, _ in entries_of(PARTS["How text is told apart"])]
    assert shown == [(form.name, form.evidence) for form in FORMATS.values() if form.evidence]
    order = dict.fromkeys([*READINGS, *(kind for kind, _ in KINDS if kind in FORMATS)])
    assert [name for name, _ in shown] == [*order, "tabbed-names", "comma-names"]


def test_columns_are_known_by_the_names_of_the_page():
    entries = [entry for entry in entries_of(PARTS["Tables, by row"]) if not entry[2]]
    shown = {role: tuple(names.partition("; ")[0].split(", ")) for role, names, _ in entries}
    assert shown == NAMES


# Python: what it is, "truth" or "scores", and the expression.
PYTHON = [
    (what, kind, code)
    for what, _, items in entries_of(PARTS["Python"])
    for kind, item in (("truth", "y_true"), ("scores", "y_score"))
    for code in codes_in(items.get(item, ""))
]
NOT_IN_BATCHES = {"long tables", "list columns", "by query"}


def evaluate_batches(y_true, y_score):
    """Return the values of two equal batches, which are those of one."""
    evaluator = xmceval.Evaluator(metrics=METRICS, n_labels=5)
    for _ in range(2):
        evaluator.update(y_true, y_score)
    return dict(evaluator.result())


CALLS = {
    "score": lambda *inputs: measured(*inputs, metrics=METRICS),
    "compare": lambda y_true, y_score: dict(
        xmceval.compare(y_true, {"a": y_score, "b": y_score}, metrics=METRICS).results[0]
    ),
    "at k": lambda *inputs: xmceval.ndcg_at_k(*inputs, k=3),
    "Evaluator": evaluate_batches,
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("what", "kind", "code"), PYTHON)
def test_an_object_is_read(what, kind, code, call, expected):
    y_true, y_score = (QRELS, RUN) if what == "by query" else (Y, S)
    inputs = (evaluate(code), y_score) if kind == "truth" else (y_true, evaluate(code))
    if call == "Evaluator" and what in NOT_IN_BATCHES:
        with pytest.raises(xmceval.UsageError, match=r"is a table|by query and document"):
            CALLS[call](*inputs)
    else:
        assert CALLS[call](*inputs) == (expected["nDCG@3"] if call == "at k" else expected)


def as_input(code, name):
    """Return what an expression is, or the path of a file with such text."""
    return write(name, plain(code)) if "↵" in code else evaluate(code)


def decide(code, inputs):
    """Return inputs and options that can be read in one way only."""
    y_true, y_score = inputs
    if code.startswith("n_labels"):
        return inputs, {"n_labels": int(code.partition("=")[2])}
    decided = eval(code, {"y_true": y_true, "y_score": y_score})
    return ([y_true, decided] if code.startswith("y_score") else [decided, y_score]), {}


TWO_READINGS = entries_of(PARTS["What decides how an input is read"])


@pytest.mark.parametrize("items", [entry[2] for entry in TWO_READINGS], ids=[entry[0] for entry in TWO_READINGS])
def test_two_readings_are_refused_until_one_is_decided(items, expected):
    inputs = [as_input(code, name) for code, name in zip(codes_in(items["inputs"]), "tp", strict=True)]
    refused(r"\(hint: ", *inputs, metrics=METRICS)
    readings = []
    for code in codes_in(items["decided by"]):
        if "np." in code:  # the other reading of the same input
            continue
        decided, options = decide(code, inputs)
        readings.append(measured(*decided, metrics=METRICS, **options))
    assert all(0 <= found["P@1"] <= 1 for found in readings)
    if n_rows(inputs[0]) == n_rows(Y):  # of the instances of the guide; a ranking of all labels has more of them
        assert any(found | {"AP@all": 0} == expected | {"AP@all": 0} for found in readings)


def n_rows(value):
    """Return the number of rows of an array or a list."""
    return value.shape[0] if hasattr(value, "shape") else len(value)


UNREAD = {
    "pickles": b"\x80\x04K\x05.",
    "HDF5": b"\x89HDF\r\n\x1a\n",
    "MATLAB": b"MATLAB 5.0 MAT-file",
    "safetensors": b'\x02\0\0\0\0\0\0\0{"',
    "tar": b"x".ljust(257, b"\0") + b"ustar",
    "lz4": b"\x04\x22\x4d\x18",
    "LETOR": b"2 qid:1 1:0.5\n0 qid:1 1:0.2\n1 qid:2 1:0.3\n",
    "sizes of queries": b"3\n1\n2\n",
    "dense": b"0.9,0.1,0.3,0.2,0.5\n0.1,0.5,0.2,0.4,0.3\n0.6,0.1,0.2,0.3,0.4\n",
    "masked": np.ma.array(S.toarray(), mask=S.toarray() == 0),
    "lists of names": [["yellow", "blue"], ["green"], ["blue"]],
}


@pytest.mark.parametrize("what", UNREAD)
def test_what_is_not_read_has_a_hint(what):
    assert what in re.search(r"Not read, [^:]*: (.*?)\n\n", PARTS["What decides how an input is read"], re.DOTALL)[1]
    content, name = UNREAD[what], "x.query" if "queries" in what else "x"
    refused(r"\(hint: ", Y, write(name, content) if isinstance(content, bytes) else content)


def test_files_for_options_are_read(expected):
    for inputs, pairs in zip([(Y, S), (QRELS, RUN)], OF_OPTIONS["filter"], strict=True):
        without = xmceval.score(*inputs, metrics="P", k=1, filter=write("filter", plain(pairs)))
        assert f"P@1 is {100 * without['P@1']:.2f}" in PARTS["Files for options"]
    (numbers,), options = map(plain, OF_OPTIONS["numbers"]), {"metrics": "PSP", "k": [1, 3]}
    inverse = np.array(numbers.split(), float)
    weighed = xmceval.score(Y, S, inverse_propensities=write("numbers", numbers), **options)
    assert dict(weighed) == measured(Y, S, inverse_propensities=inverse, **options)
    assert dict(weighed) != measured(Y, S, inverse_propensities=inverse[::-1], **options)
    compared = xmceval.compare_rows([write("saved.rows.csv", plain(OF_OPTIONS["row-values"][0]))])
    assert [result["P@1"] for result in compared.results] == [2 / 3, 1 / 3]
    assert compared.results[0]["P@1"] == expected["P@1"]


def test_files_of_the_readme_are_on_the_page():
    rows = tables_of(split_parts(README)[1]["Which file to pass"])[0]
    assert len(rows) > 5
    for tools, *cells in rows:
        words = [name.strip() for name in tools.split(",")] + [code for cell in cells for code in codes_in(cell)]
        assert [word for word in words if word.partition(" FILE")[0] not in PAGE] == []


WRITTEN = Path(__file__).parent / "approved" / "inputs" / "written.txt"


def read(kind, text, names=()):
    """Return labels and values of the rows of a file: of predictions without scores the places from the last."""
    labels = write("labels", "\n".join(names) + "\n") if names else None
    matrix = xmceval.read(write("x", text), kind=kind, labels=labels)
    rows = [matrix[[i]].tocoo() for i in range(matrix.shape[0])]
    return [list(zip(row.col.tolist(), row.data.tolist(), strict=True)) for row in rows]


def test_files_of_the_fields_tools_are_read_as_they_write_them():
    check_answers(__file__, f"inputs/{WRITTEN.name}", lambda line: evaluate_line(line, globals()))
