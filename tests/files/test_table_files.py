"""Tables: whatever library or file they come from, long or with lists, they give the values of the same dicts."""
# ruff: noqa: F401 - a case is one line; approved lines use what is imported here

import gzip
import io
import re
import subprocess
import sys
from collections import UserList, deque
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.approved import check_answers, check_lines
from support.asked import doubts_of, p_at_1, refused
from support.executors import PicklingExecutor
from support.files import write
from support.pieces import read_in_pieces

import xmceval
from xmceval.files.tables.table import file_table, memory_table

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
from pyarrow import compute, feather, parquet  # noqa: E402
from support.tables import as_form  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2, "d1": 1}}
RUN = {"q2": {"d1": 0.5, "d9": 0.25}, "q1": {"d2": 0.75, "d1": 0.5}}
OPTIONS = {"metrics": "P,nDCG,RR,AP", "k": [1, 2]}
LABELS = [[0, 2], [1], [], [3, 4]]
SCORED = [[(0, 0.9), (1, 0.5)], [(1, 0.3), (4, 0.8)], [(2, 0.1)], [(4, 0.9), (0, 0.7), (3, 0.1)]]


def triples(rows):
    return [(key, label, value) for key, row in rows.items() for label, value in dict(row).items()]


def long(rows, names):
    return pd.DataFrame(triples(rows), columns=names)


def by_query(names=("query_id", "doc_id", "relevance"), score="score"):
    return long(QRELS, names), long(RUN, [*names[:2], score])


def by_row(value="value"):
    truth = {row: dict.fromkeys(labels, 1) for row, labels in enumerate(LABELS)}
    return long(truth, ["row", "label", value]), long(dict(enumerate(SCORED)), ["row", "label", "score"])


def lists():
    labels, scores = ([[pair[i] for pair in row] for row in SCORED] for i in (0, 1))
    return pd.DataFrame({"labels": LABELS}), pd.DataFrame({"labels": labels, "scores": scores})


def queried_lists():
    return tuple(
        pd.DataFrame(
            {
                "qid": list(rows),
                "docs": [[*row] for row in rows.values()],
                name: [[*row.values()] for row in rows.values()],
            }
        )
        for rows, name in ((QRELS, "rel"), (RUN, "scores"))
    )


FORMS = {"by query": by_query, "by row": by_row, "lists": lists, "lists by query": queried_lists}


def score(truth, scores, **options):
    return dict(xmceval.score(truth, scores, **{**OPTIONS, "n_labels": None, **options}))


def message_of(truth, scores, **options):
    with pytest.raises(xmceval.DataError) as caught:
        p_at_1(truth, scores, **options)
    return str(caught.value)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return the values of the queries and those of the rows, from dicts and from text."""
    path = tmp_path_factory.mktemp("text") / "p.txt"
    body = "".join(" ".join(f"{label}:{value}" for label, value in row) + "\n" for row in SCORED)
    rows = score([set(labels) for labels in LABELS], write(path, body), n_labels=5)
    return {True: score(QRELS, RUN), False: rows}


def agrees(form, truth, scores, expected, **options):
    is_by_query = form.endswith("query")
    found = score(truth, scores, n_labels=None if is_by_query else 5, **options)
    assert found == expected[is_by_query]


def arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def typed(strings, integers):
    """Return a container of a table with other Arrow types of text and whole numbers, also in lists."""

    def retype(kind):
        if pa.types.is_list(kind):
            return kind if pa.types.is_dictionary(strings) else pa.large_list(retype(kind.value_type))
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return strings
        return integers if pa.types.is_integer(kind) else kind

    def convert(frame):
        table = arrow(frame)
        return pa.table({name: build(table[name].to_pylist(), retype(table[name].type)) for name in frame})

    return convert


def build(values, kind):
    """Return an array that is built of its type: pyarrow before 25 crashes over string views that its casts made."""
    if not pa.types.is_dictionary(kind):
        return pa.array(values, kind)
    words = sorted(set(values))
    indices = pa.array([words.index(value) for value in values], kind.index_type)
    return pa.DictionaryArray.from_arrays(indices, pa.array(words, kind.value_type))


def run_ends(column):
    column = column.combine_chunks()
    return column if pa.types.is_list(column.type) else compute.run_end_encode(column)


def view_lists(column):
    """Return lists as views, which are stored from the last to the first, one of them in two places."""
    lists = column.to_pylist()
    if not pa.types.is_list(column.type):
        return column
    lengths = np.array([len(row) for row in lists], dtype=np.int32)
    values = pa.array([value for row in reversed(lists) for value in row], column.type.value_type)
    return pa.ListViewArray.from_arrays(np.cumsum(lengths[::-1])[::-1] - lengths, lengths, values)


def save_parquet(frame, path):
    parquet.write_table(arrow(frame), path, row_group_size=2)


def save_stream(frame, path):
    Path(path).write_bytes(ipc(arrow(frame), max_chunksize=1))


def ipc(table, **options):
    """Return the bytes of an Arrow stream."""
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table, **options)
    return buffer.getvalue()


def gzipped(save):
    return lambda frame, path: (save(frame, path), Path(path).write_bytes(gzip.compress(Path(path).read_bytes())))


def save_csv(frame, path, **options):
    frame.to_csv(path, index=False, **options)


def objects(rows):
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


def test_every_form_of_table_has_the_values_of_dicts_and_text(expected):
    def held(container):
        """Compare tables in memory."""
        for form, make in FORMS.items():
            agrees(form, *map(container, make()), expected)

    def written(save, forms=tuple(FORMS)):
        """Compare files, whose lines may be in another order, unless they are the rows."""
        for form in forms:
            truth, scores = FORMS[form]()
            save(truth, "t")
            for lines in (scores, scores if form == "lists" else scores.sample(frac=1, random_state=3)):
                save(lines, "s")
                agrees(form, "t", "s", expected)
                if form == "by row":
                    assert score("t", "s", n_labels=5, executor=PicklingExecutor()) == expected[False]

    def as_text(save):
        written(save, [form for form in FORMS if "lists" not in form])

    def known(*names):
        truth, scores = by_query(names[:3], names[3])
        agrees("by query", truth, scores, expected, grades=True)
        agrees("by query", truth.set_index(list(names[:2])), scores.set_index(names[0]), expected, grades=True)

    def listed(kind):
        ranked = [[0, 1], [4, 1], [2], [4, 0, 3]]
        assert score(kind(LABELS), kind(ranked), n_labels=5) == score(LABELS, ranked, n_labels=5)

    check_lines(__file__, "forms of tables.txt", globals() | locals())


PAIRS = pd.DataFrame({"label": [1, 4], "row": [0, 1], "x": ["a", "b"]})
RANKS = pd.DataFrame(
    [(f"q{q}", f"d{d}", d + 1, d + 1.0) for q in range(4) for d in range(3)], columns=["qid", "docno", "rank", "score"]
)
FIRST = {f"q{q}": {"d0": 1} for q in range(4)}
EYE = pd.DataFrame(np.eye(3), columns=list("abc"), index=[5, 6, 7])
CHANGED = (EYE + 0.1)[["a", "c", "b"]].loc[[5, 7, 6]]
BEST = pd.DataFrame(
    {"labels": [[2, 1, 0], [1, 2, 0], [0, 1]], "logits": [[0.1, 0.5, 0.9], [0.1, 0.2, 0.3], [0.3, 0.7]]}
)
EQUAL = pa.table({"row": np.zeros(5000, int), "label": np.zeros(5000, int), "score": np.ones(5000)})
QUERIES = ["q2", "q1", "q9"]
BINARY = {"q1": {"d1": 1}, "q2": {"d3": 1, "d1": 1}}


def grouped(frame):
    """Return the documents of each query, best first."""
    return frame.sort_values("score", ascending=False, kind="stable").groupby("query_id").doc_id.apply(list)


def lists_of(frame):
    return pd.DataFrame({"labels": [np.flatnonzero(row) for row in frame.to_numpy()]})


def stars(values):
    return by_query()[0].drop(columns="relevance").assign(stars=values)


def same(*found):
    """Return a value that all calls give."""
    assert all(value == found[0] for value in found)
    return found[0]


def groups(**options):
    result = xmceval.score(QRELS, RUN, metrics="P", k=1, **options)
    return {part.bin.name: part.estimates["P@1"].value for part in result.slices}


def updated(**options):
    evaluator = xmceval.Evaluator(metrics="P", k=1, max_weight=4)
    evaluator.update(EYE, np.eye(3)[[0, 2, 1]], **options)
    return evaluator.result()["P@1"]


def packed(table):
    parquet.write_table(table, "s", compression="zstd")
    return "s"


@pytest.mark.parametrize("form", ["pandas", "arrow", "csv", "tsv", "parquet", "feather"])
def test_tables_are_read_refused_or_doubted_alike_in_every_form(form):
    """Each value and message is that of the approved line, whatever holds the table."""

    def p(frame, name="p"):
        return as_form(frame, form, name)

    def doubts(*inputs, **options):
        return re.sub(
            r"\b[pt]\.\w+", "it", doubts_of(*inputs, **options).replace("y_true", "it").replace("y_score", "it")
        )

    check_lines(__file__, "tables in every form.txt", globals() | locals())


def test_frames_and_what_goes_with_them_are_read_or_refused_in_these_words():
    check_lines(__file__, "frames.txt", globals())


def test_a_small_file_cannot_ask_for_any_memory(monkeypatch):
    read_in_pieces(monkeypatch, lines=100)
    monkeypatch.setattr("xmceval.files.tables.by_row.LONGEST_ROW", 1600)
    monkeypatch.setattr("xmceval.files.tables.table.LONGEST_ROW", 8)
    monkeypatch.setattr("os.sysconf", lambda name: 1)
    check_lines(__file__, "small files.txt", globals())


def test_frames_need_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    check_lines(__file__, "without pyarrow.txt", globals())


LONG = {"row": [0, 1], "label": [0, 1], "score": [0.1, 0.2]}


def test_wrong_tables_are_refused_with_their_place_in_a_file_and_in_memory():
    """Each line has columns that replace those of a right table, or others; None leaves one out."""

    def answer(line):
        columns = {**LONG, **eval(f"dict({line}\n)")}
        table = pa.table({name: column for name, column in columns.items() if column is not None})
        table = table.rename_columns([{"twice": "score"}.get(name, name) for name in table.column_names])
        parquet.write_table(table, "s")
        messages = [message_of([{0}, {1}], scores, n_labels=2) for scores in ("s", table)]
        return [re.sub("extension<.*>", "extension", message) for message in messages]  # as each version writes it

    check_answers(__file__, "tables.txt", answer)


def eight_names(encode):
    names = pa.array([f"q{i}" for i in range(8)])
    return pa.table({"query_id": encode(names), "doc_id": names, "score": np.arange(8) / 8})


def eight_labels(encode):
    return pa.table({"row": np.arange(8), "label": encode(pa.array(np.arange(8) % 4)), "score": np.arange(8) / 8})


def eight_lists(kind):
    labels = pa.array([[i % 4, (i + 1) % 4] for i in range(8)], kind(pa.int64()))
    return pa.table({"labels": labels, "scores": pa.array(labels.to_pylist(), kind(pa.float64()))})


ENDS, CODES = np.arange(0, 17, 2, dtype=np.int32), np.arange(8, dtype=np.int32)
ADDRESSED = {  # tables, and the numbers in their files that say where values are
    "text": lambda: (eight_names(lambda names: names), ENDS),
    "large text": lambda: (eight_names(lambda names: names.cast(pa.large_string())), ENDS.astype(np.int64)),
    "dictionary of text": lambda: (eight_names(pa.Array.dictionary_encode), CODES),
    "dictionary of labels": lambda: (eight_labels(pa.Array.dictionary_encode), CODES % 4),
    "runs": lambda: (eight_names(compute.run_end_encode), CODES + 1),
    "lists": lambda: (eight_lists(pa.list_), ENDS),
    "large lists": lambda: (eight_lists(pa.large_list), ENDS.astype(np.int64)),
    "views of lists": lambda: (eight_lists(pa.list_view), ENDS[:8]),
    "lengths of views of lists": lambda: (eight_lists(pa.list_view), np.full(8, 2, dtype=np.int32)),
}


def damage_arrow(case, wrong, writer=pa.ipc.new_stream):
    """Return an Arrow file of which a number says that a value is elsewhere, and the truth for it."""
    table, numbers = ADDRESSED[case]()
    buffer = io.BytesIO()
    with writer(buffer, table.schema) as file:
        file.write_table(table)
    damaged = numbers.copy()
    damaged[3] = wrong
    names = {f"q{i}": {"q1": 1} for i in range(8)}
    truth = names if "query_id" in table.column_names else [{i % 4} for i in range(8)]
    return buffer.getvalue().replace(numbers.tobytes(), damaged.tobytes()), truth


@pytest.mark.parametrize("wrong", [-5, 99, 2**30])
@pytest.mark.parametrize("writer", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize("case", ADDRESSED)
def test_arrow_with_values_outside_of_its_buffers_is_refused(case, writer, wrong):
    content, truth = damage_arrow(case, wrong, writer)
    problem = "s: cannot be read as Arrow; is it damaged or truncated"
    assert problem in message_of(truth, write("s", content))
    try:
        report = str(xmceval.inspect("s"))  # lists what is wrong in the rows
    except xmceval.DataError as error:
        report = str(error)
    assert problem in report


def test_parquet_whose_metadata_contradicts_itself_is_refused_and_does_not_end_the_process():
    pd.DataFrame({"labels": [[row % 4] * 3 for row in range(12)], "notes": [["-"] * 3] * 12}).to_parquet("s")
    content = Path("s").read_bytes()
    size = int.from_bytes(content[-8:-4], "little")
    pages, footer = content[: -8 - size], content[-8 - size : -8]
    levels = bytes([0x26, 24, 48])  # how many entries of a column begin a list, 12, or do not, 24
    if footer.count(levels) != 2:
        pytest.skip("this version of pyarrow writes no histograms of levels")
    first, between, last = footer.split(levels)
    for damaged in (first + b"\x16\x30" + between + levels + last, first + levels + between + b"\x16\x30" + last):
        Path("s").write_bytes(pages + damaged + len(damaged).to_bytes(4, "little") + b"PAR1")
        assert message_of([{0}] * 12, "s") == "s: cannot be read as Parquet; is it damaged or truncated?"


@pytest.mark.parametrize("case", ADDRESSED)
def test_tables_in_memory_with_values_outside_of_their_buffers_are_refused(case):
    content, truth = damage_arrow(case, 2**30)
    table = pa.ipc.open_stream(content).read_all()
    for scores in (table, table.to_batches()[0]):
        assert "y_score: cannot be read as a table" in message_of(truth, scores)


@pytest.mark.parametrize("content", ["u.parquet", "u.csv"])
def test_tables_need_pyarrow(content, monkeypatch):
    by_row()[1].to_csv("u.csv", index=False)
    write("u.parquet", b"PAR1" + bytes(9))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(xmceval.XmcevalError, match=r"pip install pyarrow"):
        score([{0}, {1}], content, n_labels=5)


def test_many_entries_are_read_part_by_part(monkeypatch):
    read_in_pieces(monkeypatch, lines=100)
    rng = np.random.default_rng(4)
    rows = {
        row: {int(label): float(rng.random()) for label in rng.choice(40, rng.integers(0, 15), replace=False)}
        for row in range(300)
    }
    text = "".join(" ".join(f"{label}:{value!r}" for label, value in row.items()) + "\n" for row in rows.values())
    truth, scores = [{row % 40} for row in range(300)], long(rows, ["row", "label", "score"])
    save_parquet(scores, "sorted")
    save_parquet(scores.sample(frac=1, random_state=1), "shuffled")
    expected = score(truth, write("text", text), n_labels=40)
    assert score(truth, "sorted", n_labels=40) == score(truth, "shuffled", n_labels=40) == expected


def test_long_lists_are_read_in_small_parts(monkeypatch):
    read_in_pieces(monkeypatch, lines=100)
    rows = [list(range(row % 3, 40)) for row in range(30)]
    table = pa.table({"labels": rows})
    parquet.write_table(table, "s")
    feather.write_feather(table, "a")
    expected = score([{0}] * 30, rows, n_labels=40)
    for scores, opened in (
        (Path("s"), lambda path: file_table(path, "parquet")),
        (Path("a"), lambda path: file_table(path, "arrow")),
        (table, lambda table: memory_table(table, "s")),
    ):
        assert score([{0}] * 30, scores, n_labels=40) == expected
        parts = [len(labels.array) for (labels,) in opened(scores).batches(["labels"])]
        assert sum(parts) == 30
        assert max(parts) == 2


IMPORTS = """
import sys, numpy, xmceval
xmceval.score(numpy.eye(3), [[1], [2, 0], [1]], k=1, metrics="P")
xmceval.read("t.txt")
assert not {"torch", "jax", "cupy", "fsspec", "aiohttp", "pyarrow", "pandas"} & sys.modules.keys()
print(xmceval.score("t", "s", metrics="P", k=1, n_labels=5)["P@1"], "pyarrow" in sys.modules, "pandas" in sys.modules)
"""


def test_libraries_are_imported_for_what_they_read_alone(expected):
    truth, scores = by_row()
    save_parquet(truth, "t")
    scores.to_csv("s", index=False)
    write("t.txt", "1 2\n0:1\n")
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [str(expected[False]["P@1"]), "True", "False"]
