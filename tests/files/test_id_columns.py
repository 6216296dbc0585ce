"""Tables with a line per row are joined by an index, or by a column of ids, known by its name."""

import json
import re
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse
from support.approved import check_lines
from support.executors import PicklingExecutor
from support.files import write
from support.pieces import read_in_pieces

import xmceval
from xmceval.files.tables.table import Table

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402
from support.tables import LIST_FORMS, as_form, refusal, value  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N = 14
RNG = np.random.default_rng(5)
TRUTH, PREDS = (pd.DataFrame({"labels": [RNG.choice(9, k, replace=False).tolist() for _ in range(N)]}) for k in (2, 4))
EXPECTED, ORDER = value(TRUTH, PREDS, n_labels=9), RNG.permutation(N)
SHUFFLED = value(TRUTH, PREDS.iloc[ORDER].reset_index(drop=True), n_labels=9)
assert EXPECTED != SHUFFLED

IDS = {
    "numbers": 100 + 7 * np.arange(N),
    "0 to n - 1": np.arange(N),
    "words": [f"case {i}" for i in range(N)],
    "numbers as text": [f"{100 + i}" for i in range(N)],
    "floats": 100.0 + 7 * np.arange(N),
    "decimals": [Decimal(100 + i) for i in range(N)],
}


def score(truth, scores, form, other="pandas", **options):
    pair = as_form(truth, other, "t"), as_form(scores, form, "p")
    return xmceval.score(*pair, metrics="P", k=1, n_labels=9, **options)


def shuffled(frame):
    return frame.iloc[ORDER].reset_index(drop=True)


INDEXES = {  # that pandas stores
    **{kind: IDS[kind] for kind in ("numbers", "words", "numbers as text")},
    "named": pd.Index(IDS["numbers"], name="case"),
    "two levels": pd.MultiIndex.from_product([[1, 2], list("abcdefg")]),
}


def ids(frame, kind, name="id"):
    return frame.assign(**{name: IDS[kind]})


def index(frame, kind):
    return frame.set_axis(INDEXES[kind])


def compared(y_true, *systems):
    systems = {f"s{i}": system for i, system in enumerate(systems)}
    return [result["P@1"] for result in xmceval.compare(y_true, systems, metrics="P", k=1, n_labels=9).results]


WHOLE = [np.asarray(IDS["numbers"], dtype) for dtype in ("int32", "float32", "float64", object, str)]
ARRAY = sparse.csr_array(np.eye(9)[[row[0] for row in TRUTH.labels]])
WORDS = TRUTH.set_axis(IDS["words"]), PREDS.set_axis(IDS["words"])
TWICE = np.arange(N) // 2


class Said:
    """Tables in two forms, and what is said of them without the names of files."""

    def __init__(self, form, other):
        self.form, self.other = form, other

    def t(self, frame):
        return as_form(frame, self.other, "t")

    def p(self, frame, name="p"):
        return as_form(frame, self.form, name)

    def halves(self, frame, name="p"):
        return halves(frame, self.form, name)

    def joined(self, *inputs, **options):
        """Return P@1, the columns that are besides, and what joins the rows."""
        result = xmceval.score(*inputs, metrics="P", k=1, n_labels=9, **options)
        facts = re.findall(r"besides \w+|rows by [^,;]+(?:, as[^,;]+)?", " ".join(result.inputs))
        return self.without_paths(f"{result['P@1']:.4} {'; '.join(facts)}")

    def no(self, *inputs):
        return self.without_paths(refusal(*inputs, n_labels=9))

    def alone(self, *inputs):
        """Return the message of score; compare takes a list for runs."""
        return self.without_paths(refused(*inputs))

    def without_paths(self, text):
        for paths, name in ((r"\bt(-\d)?\.\w+", "y_true"), (r"\b[ps](-\d)?\.\w+", "y_score")):
            text = re.sub(f"{paths}( to {paths})?", name, text)
        return text

    def check(self, name):
        own = {word: getattr(self, word) for word in ("t", "p", "halves", "joined", "no", "alone")}
        check_lines(__file__, name, globals() | own)


@pytest.mark.parametrize("form", LIST_FORMS)
@pytest.mark.parametrize("other", ["pandas", "parquet"])
def test_rows_are_joined_or_refused_alike_in_every_form(form, other):
    Said(form, other).check("ids.txt")


@pytest.mark.parametrize("form", ["pandas", "parquet"])
def test_shards_are_joined_or_refused_alike_in_every_form(form):
    Said(form, form).check("shards of ids.txt")


every_form = pytest.mark.parametrize("form", LIST_FORMS)


def refused(y_true, y_score):
    with pytest.raises(xmceval.DataError) as caught:
        value(y_true, y_score, n_labels=9)
    return str(caught.value)


def halves(frame, form, name):
    return xmceval.Shards([as_form(part, form, f"{name}-{i}") for i, part in enumerate((frame[:5], frame[5:]))])


def long(frame):
    entries = [(i, label, 9 - j) for i, row in enumerate(frame.labels) for j, label in enumerate(row)]
    return pd.DataFrame(entries, columns=["row", "label", "score"])


def shards_of(form):
    """Return a function that writes two shards in a form: the lines where a condition holds, and the others."""

    def shards(frame, where, name):
        return xmceval.Shards([as_form(frame[part], form, f"{name}-{i}") for i, part in enumerate((where, ~where))])

    return shards


@pytest.mark.parametrize("form", ["pandas", "parquet", "csv"])
def test_shards_whose_rows_are_numbered_over_all_shards_are_read_as_one_table(form):
    shards = shards_of(form)
    scores, truth = long(PREDS), long(TRUTH).drop(columns="score")
    in_halves, in_turn, within_a_row = scores.row < 5, scores.row % 2 == 0, scores.index < 18
    for where in (in_halves, in_turn, within_a_row):
        y_score = shards(scores, where, "p")
        for y_true in (TRUTH, truth, shards(truth, truth.row < 5, "t"), shards(truth, truth.row % 2 == 0, "t")):
            assert value(y_true, y_score, n_labels=9) == EXPECTED
    shuffled_lines = scores.sample(frac=1, random_state=0)
    assert value(TRUTH, shards(shuffled_lines, shuffled_lines.row < 5, "p"), n_labels=9) == EXPECTED


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("in_turn", [False, True])
def test_row_numbers_of_shards_are_read_once_before_the_lines(monkeypatch, form, in_turn):
    scores = long(PREDS)
    where = scores.row % 2 == 0 if in_turn else scores.row < 5
    y_score = shards_of(form)(scores, where, "p")
    read, batches = list[str](), Table.batches

    def note(table, names):
        read.extend([table.name] if names == ["row"] else [])
        return batches(table, names)

    monkeypatch.setattr(Table, "batches", note)
    assert value(TRUTH, y_score, n_labels=9) == EXPECTED
    assert sorted(read) == sorted(str(part) for part in y_score.parts)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_rows_are_numbered_in_the_same_way_in_the_shards_of_truth_and_predictions(form):
    shards = shards_of(form)

    def from_0(frame):
        return frame.assign(row=frame.row - 5 * (frame.row >= 5))

    scores, truth = long(PREDS), long(TRUTH).drop(columns="score")
    over_all = shards(truth, truth.row < 5, "t"), shards(scores, scores.row < 5, "p")
    in_each = shards(from_0(truth), truth.row < 5, "u"), shards(from_0(scores), scores.row < 5, "q")
    for y_true, y_score in (over_all, in_each, (TRUTH, over_all[1]), (TRUTH, in_each[1])):
        assert value(y_true, y_score, n_labels=9) == EXPECTED
    assert "no row number is in two of its shards, but" in refused(in_each[0], over_all[1])
    assert "a row number is in two of its shards, but no number is" in refused(over_all[0], in_each[1])
    other = xmceval.Shards([over_all[1].parts[0], as_form(scores[scores.row > 5].assign(more=1), form, "m")])
    assert "; expected the same in all shards" in refused(TRUTH, other)


def test_text_labels_scores_parts_shards_and_tasks_are_joined_likewise(monkeypatch):
    truth, scores = (frame.assign(id=IDS["words"]) for frame in (TRUTH, PREDS.assign(scores=[[1, 2, 3, 4]] * N)))
    expected, other = value(TRUTH, scores[["labels", "scores"]], n_labels=9), shuffled(scores)
    assert value(truth, other, n_labels=9) == expected
    words = [frame.assign(labels=frame.labels.map(lambda row: [f"l{i}" for i in row])) for frame in (truth, other)]
    assert value(*words) == expected
    shards = [xmceval.Shards([frame, frame.assign(id=frame.id + "'")]) for frame in (truth, other)]
    assert value(*shards, n_labels=9) == expected
    read_in_pieces(monkeypatch, lines=3)
    truth.to_parquet("t", row_group_size=4)
    other.to_parquet("p", row_group_size=5)
    assert value("t", "p", n_labels=9) == value("t", "p", n_labels=9, executor=PicklingExecutor()) == expected


def test_a_range_that_lines_have_left_since_is_no_index():
    table = pa.table(PREDS.set_axis(pd.RangeIndex(7, 7 + 2 * N, 2)))[:-1]
    assert b"pandas" in table.schema.metadata
    assert value(TRUTH[:-1], table, n_labels=9) == value(TRUTH[:-1], PREDS[:-1], n_labels=9)
    for form in ("parquet", "feather"):
        scores = as_form(PREDS[:-1].set_axis(pd.RangeIndex(7, 5 + 2 * N, 2)), form, "p")
        how = xmceval.score(TRUTH[:-1], scores, n_labels=9).inputs[1]
        assert "rows by position, as y_true does not name them" in how


RANGES = [[{"start": 0, "stop": stop, "step": step}] for stop, step in ((9, 0), (1 << 99, 1))]


@pytest.mark.parametrize("levels", ["?", "[", 7, None, [7], [{}], ["other"], ["labels"], *RANGES])
def test_a_damaged_description_of_an_index_is_none(levels):
    stored = levels if levels == "[" else json.dumps({"index_columns": levels} if levels != "?" else levels)
    table = pa.table(PREDS).replace_schema_metadata({b"pandas": stored.encode()})
    parquet.write_table(table, "p")
    assert value(TRUTH, table, n_labels=9) == value(TRUTH, "p", n_labels=9) == EXPECTED


GROUPS = [f"group {i % 2}" for i in range(N)]


@every_form
def test_groups_by_id_are_those_of_the_index(form):
    content = "".join(f"{IDS['words'][i]}\t{GROUPS[i]}\n" for i in ORDER)
    expected = xmceval.score(TRUTH, PREDS, metrics="P", k=1, n_labels=9, by_group=GROUPS)
    as_text, below_names = write("groups.txt", content), write("groups.tsv", f"query_id\tgroup\n{content}")
    for by_group in (as_text, below_names, dict(zip(IDS["words"], GROUPS, strict=True))):
        truth, scores = TRUTH.set_axis(IDS["words"]), PREDS.set_axis(IDS["words"]).iloc[ORDER]
        result = score(truth, scores, "pandas", form, by_group=by_group)
        assert "a group per row; rows by name" in " ".join(result.inputs)
        for part, other in zip(result.slices, expected.slices, strict=True):
            assert (part.bin.name, part.estimates["P@1"].value) == (other.bin.name, other.estimates["P@1"].value)
    assert [part.bin.name for part in expected.slices] == ["group 0", "group 1"]
    with pytest.raises(xmceval.DataError, match="neither an index nor row_ids has the ids of the rows"):
        value(TRUTH, PREDS, n_labels=9, by_group="groups.txt")


def one(names, values, column="id"):
    """Return a data frame with the values of one label, and a column of names."""
    return pd.DataFrame({column: list(names), "toxic": values})


def single(y_true, y_score, metrics="f1_score", **options):
    """Return the value of one metric, the number of labels and what joins the rows."""
    result = xmceval.score(y_true, y_score, metrics=metrics, **options)
    (value,) = result.values()
    return "; ".join(
        [f"{value:.4}", f"{result.counts.n_labels} labels", *(line.split("; ")[-1] for line in result.inputs)]
    )


def test_a_column_of_ids_beside_a_single_label_names_the_rows_and_is_no_label():
    of_rows = pd.DataFrame({"id": list("abc"), "label": [0, 1, 2]})
    of_lists = pd.DataFrame({"id": list("abc"), "labels": [[0], [1], [2]]})
    for name, frame in (("rows", of_rows), ("lists", of_lists)):
        frame.to_parquet(name)
    of_rows.to_csv("rows.csv", index=False)
    check_lines(__file__, "single labels.txt", globals() | locals())
