"""Saved values of rows: written by score and compare, read back with the same digits; other tools' per-query files."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import xmceval
from xmceval.cli import main
from xmceval.errors import DataError, UsageError, XmcevalWarning
from xmceval.files.saved.rowvalues import read_row_values
from xmceval.rows.matrices import matrices

EARLIER = Path(__file__).parents[1] / "support" / "earlier"
METRICS = ["P@1,3", "PSP@3", "LRAP", "GAUC", "AUC", "f1_score"]


@pytest.fixture
def made(rng):
    truth = rng.random((90, 12)) < 0.2
    scores = {name: np.where((s := truth * rng.random() + rng.random((90, 12))) > 0.4, s, -np.inf) for name in "ab"}
    return truth, scores, {"metrics": METRICS, "inverse_propensities": 1 + rng.random(12)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("form", ["npz", "csv", "jsonl"])
@pytest.mark.parametrize("weighted", [False, True])
def test_saved_rows_give_the_same_digits(made, form, weighted, rng, monkeypatch):
    truth, scores, options = made
    options["sample_weight"] = rng.integers(0, 3, 90) if weighted else None
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 50)
    together = xmceval.compare(truth, scores, **options, save_rows=f"both.rows.{form}", threads=2)
    for name, each in scores.items():
        xmceval.score(truth, each, **options, save_rows=f"{name}.rows.{form}")
    for files, names in (([f"both.rows.{form}"], ()), ([f"a.rows.{form}", f"b.rows.{form}"], ("a", "b"))):
        found = xmceval.compare_rows(files, names=names)
        for key, difference in together.items():
            other = found[key]
            assert found.results[0].counts.grades == together.results[0].counts.grades
            assert (other.difference, other.low, other.high) == (difference.difference, difference.low, difference.high)
            assert (other.p, other.wins, other.ties, other.losses) == (
                *(difference.p, difference.wins, difference.ties, difference.losses),
            )


def test_rows_are_in_order_and_are_those_of_the_judge(made, monkeypatch):
    truth, scores, _ = made
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 7)
    result = xmceval.score(truth, scores["a"], metrics="P", k=1, save_rows="a.rows.csv", threads=3)
    table = read_row_values("a.rows.csv")
    assert table.rows == tuple(map(str, range(90)))
    best = np.where(scores["a"].max(axis=1) > -np.inf, scores["a"].argmax(axis=1), -1)
    hits = [float(label >= 0 and truth[row, label]) for row, label in enumerate(best)]
    assert table.values[:, 0, 0, 0].tolist() == hits
    assert np.mean(hits) == pytest.approx(result["P@1"])


def test_rows_of_another_truth_are_refused_by_digest(made):
    truth, scores, options = made
    xmceval.score(truth, scores["a"], **options, save_rows="a.rows.npz")
    other = truth.copy()
    other[3, 5] ^= True
    xmceval.score(other, scores["b"], **options, save_rows="b.rows.npz")
    with pytest.raises(DataError, match=r"a.rows.npz and b.rows.npz are of different truths.*\(hint: score both"):
        xmceval.compare_rows(["a.rows.npz", "b.rows.npz"])


def test_files_with_other_metrics_or_rows_are_refused(made):
    truth, scores, _ = made
    xmceval.score(truth, scores["a"], metrics=["P@1", "R@3"], save_rows="a.rows.npz")
    xmceval.score(truth, scores["b"], metrics=["P@1"], save_rows="b.rows.npz")
    xmceval.score(truth[:80], scores["b"][:80], metrics=["P@1", "R@3"], save_rows="c.rows.csv")
    with pytest.raises(DataError, match=r"a.rows.npz and b.rows.npz have different metrics: b.rows.npz has no R@3"):
        xmceval.compare_rows(["a.rows.npz", "b.rows.npz"])
    with pytest.raises(DataError, match=r"c.rows.csv lacks 10 rows that a.rows.npz has; the first is row 80"):
        xmceval.compare_rows(["a.rows.npz", "c.rows.csv"])


@pytest.mark.parametrize("ending", ["npz", "jsonl"])
def test_values_of_rows_that_were_saved_under_the_earlier_name_of_their_schema_are_read(ending):
    table = read_row_values(EARLIER / f"one.rows.{ending}")  # written by the code before the names had one grammar
    assert table.meta["schema"] == "xmceval-rows/1"
    assert table.metrics == ("P@1", "P@3", "PSR@1", "PSR@3")
    assert table.values[:, 0, :2, 0].sum(axis=0).tolist() == pytest.approx([4, 3])
    assert table.values[1, 0, 2].tolist() == [0.5665423826013808, 0.5937555283390501]


TREC_EVAL = "map\t301\t0.5\nmap\t302\t0.25\nP_5\t301\t0.4\nP_5\t302\t0.2\nmap\tall\t0.375\nP_5\tall\t0.3\n"
IR_MEASURES = "301\tAP\t0.5\n301\tP@5\t0.4\n302\tAP\t0.25\n302\tP@5\t0.2\n"
OF_QUERIES = "map\t301\t0.5\nP_5\t301\t0.4\nmap\t302\t0.25\nP_5\t302\t0.2\n"  # trec_eval -q without the means
LONG = "query_id,measure,value\n301,AP,0.5\n301,P@5,0.4\n302,AP,0.25\n302,P@5,0.2\n"
META = '{"schema": "xmceval/rows/1", "systems": ["a"], "metrics": ["P@1"], "has_ideal": [0]}'
WIDE = "query,AP,P@5\n301,0.5,0.4\n302,0.25,0.2\n"


@pytest.mark.parametrize("text", [TREC_EVAL, OF_QUERIES, IR_MEASURES, LONG, WIDE])
def test_per_query_files_of_other_tools_are_read(text):
    Path("a.txt").write_text(text)
    table = read_row_values("a.txt")
    assert table.rows == ("301", "302")
    assert sorted(table.values[:, 0, :, 0].ravel().tolist()) == [0.2, 0.25, 0.4, 0.5]
    Path("b.txt").write_text(text.replace("0.25", "0.5"))
    comparison = xmceval.compare_rows(["a.txt", "b.txt"])
    assert {each.measure.metric.name for each in comparison.values()} == {"AP", "P"}
    assert max(each.difference for each in comparison.values()) == 0.125
    document = comparison.to_dict()
    assert [document[name] for name in ("n_instances", "n_labels", "n_true", "explicit_zeros")] == [2, None, None, None]
    assert [each["n_predictions"] for each in document["systems"]] == [None, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("query,AP\n301,0.5\n302,x\n", "a.txt:3: expected a number, found 'x'"),
        ("query,AP\n301,0.5,3\n", "a.txt:2: expected 2 cells, got 3"),
        ("query,AP\n301,0.5\n301,0.5\n", "a.txt:3: row '301' appears twice"),
        ("query_id,measure,value\n301,AP,0.5\n301,RR,0.5\n302,AP,1\n", "row '302' has no value of RR"),
        ("1,2,3,4\n5,6,7,8\n", "expected per-instance values: a header"),
        ('{"row": 0}\n', "its last line has no 'meta'"),
        ('{"row": 0\n', "a.txt:1: expected a JSON object"),
        ('{"row": 0}\n3\n', "its last line has no 'meta'"),
        ('{"row": 0}\n{"meta": [1]}\n', "its last line has no 'meta'"),
        ('{"meta": {"schema": "xmceval/rows/1", "systems": ["a"]}}\n', "its 'meta' lacks metrics, has_ideal"),
        (
            '{"row": 0}\n{"meta": ' + META + "}\n",
            "a.txt:1: expected an object with row, system, weight and a value of each metric",
        ),
        ("query,AP\n301,inf\n", "a.txt:2: expected a number, found 'inf'"),
        ("row,system,weight,P@1\n0,a,1,inf\n", "a.txt:2: expected a number, found 'inf'"),
        ("row,system,weight,P@1\n0,a,1,1\n0,a,1,0\n", "a.txt:3: row 0 of a appears twice"),
        ("row,system,weight,P@1\n", "a.txt: has no values of rows"),
        ("row,system,weight,P@1\n0,a,1,1\n0,b,2,0\n", "a.txt:3: row 0 has weight 2, and 1 in a line above"),
        ("a,b\n1\r2,3\n", "cannot be read as CSV"),
        ("query,AP\n" + "0" * 200_000 + ",1\n", "cannot be read as CSV"),
    ],
)
def test_broken_files_are_refused_with_their_place(text, message):
    Path("a.txt").write_bytes(text.encode())
    with pytest.raises(DataError, match=message):
        read_row_values("a.txt")


def test_columns_of_saved_rows_may_be_in_any_order():
    Path("a.rows.csv").write_text("P@1,row,weight,system\n0.5,0,1,a\n1,0,1,b\n")
    table = read_row_values("a.rows.csv")
    assert (table.systems, table.metrics, table.values[0, :, 0, 0].tolist()) == (("a", "b"), ("P@1",), [0.5, 1.0])


@pytest.mark.parametrize(("form", "line"), [("csv", 3), ("jsonl", 2)])
def test_a_saved_row_that_appears_twice_is_refused_in_every_form(made, form, line):
    truth, scores, options = made
    xmceval.score(truth, scores["a"], **options, save_rows=f"a.{form}")
    head, first, *others = Path(f"a.{form}").read_text().splitlines(keepends=True)
    twice = [head, first, first, *others] if form == "csv" else [head, head, first, *others]
    Path(f"a.{form}").write_text("".join(twice))
    with pytest.raises(DataError, match=rf"a.{form}:{line}: row 0 of \S+ appears twice"):
        read_row_values(f"a.{form}")


@pytest.mark.parametrize("form", ["npz", "csv", "jsonl"])
def test_a_saved_file_that_is_cut_anywhere_is_refused(made, form):
    truth, scores, _ = made
    systems = {"a": scores["a"][:9], "b": scores["b"][:9]}
    xmceval.compare(truth[:9], systems, metrics=["P@1", "PSP@1"], save_rows=f"r.{form}")
    content = Path(f"r.{form}").read_bytes()
    whole = read_row_values(f"r.{form}")
    for size in range(len(content)):
        Path(f"r.{form}").write_bytes(content[:size])
        try:
            table = read_row_values(f"r.{form}")
        except DataError:
            continue
        assert size == len(content) - 1
        assert (table.rows, table.values.tolist()) == (whole.rows, whole.values.tolist())


def test_a_csv_of_chosen_rows_says_so_by_lacking_the_number_of_rows(made):
    truth, scores, _ = made
    xmceval.score(truth, scores["a"], metrics="P@1", save_rows="a.csv")
    head, *lines = Path("a.csv").read_text().splitlines(keepends=True)
    assert head == "row,system,weight,P@1,n_rows\n"
    assert [line.rpartition(",")[2] for line in lines] == ["\n"] * (len(truth) - 1) + [f"{len(truth)}\n"]
    Path("b.csv").write_text("".join([head, *reversed(lines)]))  # in another order, which tables of other programs have
    assert len(read_row_values("b.csv").rows) == len(truth)
    Path("b.csv").write_text("".join([head, *lines[:2], *lines[3:]]))
    n = len(truth)
    with pytest.raises(DataError, match=rf"b.csv: its column n_rows has {n}, but there are {n - 1} rows; is the file"):
        read_row_values("b.csv")
    Path("b.csv").write_text("".join([head, *lines[:2]]))
    with pytest.raises(DataError, match=r"b.csv: no line has n_rows, but there are 2 rows; is the file truncated\?"):
        read_row_values("b.csv")
    Path("b.csv").write_text("".join(line.rpartition(",")[0] + "\n" for line in [head, *lines[:2]]))
    assert read_row_values("b.csv").rows == ("0", "1")


def test_a_digit_that_changed_in_json_lines_is_found_by_their_digest(made):
    truth, scores, _ = made
    xmceval.score(truth, scores["a"], metrics="P@1", save_rows="a.jsonl")
    text = Path("a.jsonl").read_text()
    Path("a.jsonl").write_text(text.replace('"P@1": 1.0', '"P@1": 0.0', 1))
    with pytest.raises(DataError, match=r"a.jsonl: does not match its digest; was it damaged\? \(hint:"):
        read_row_values("a.jsonl")
    *lines, last = Path("a.jsonl").read_text().splitlines(keepends=True)
    Path("a.jsonl").write_text("".join([*lines, last.partition(', "digest"')[0] + "}\n"]))
    assert len(read_row_values("a.jsonl").rows) == len(truth)


@pytest.mark.parametrize("form", ["npz", "jsonl"])
def test_rows_with_other_propensities_are_refused(made, form):
    truth, scores, options = made
    xmceval.score(truth, scores["a"], **options, save_rows=f"a.rows.{form}")
    options["inverse_propensities"] = options["inverse_propensities"] + 1
    xmceval.score(truth, scores["b"], **options, save_rows=f"b.rows.{form}")
    with pytest.raises(DataError, match=r"were scored with different propensities, which PSP@3 depends on \(hint:"):
        xmceval.compare_rows([f"a.rows.{form}", f"b.rows.{form}"])


def test_equal_propensities_from_other_files_are_the_same(made):
    truth, scores, _ = made
    train = np.eye(12)[:7].repeat([3, 1, 4, 1, 5, 9, 2], axis=0)
    xmceval.score(truth, scores["a"], metrics="PSP@3", train=train, save_rows="a.rows.npz")
    counts = train.sum(axis=0).astype(int)
    xmceval.score(truth, scores["b"], metrics="PSP@3", counts=counts, n_train=len(train), save_rows="b.rows.npz")
    xmceval.compare_rows(["a.rows.npz", "b.rows.npz"])


def test_the_same_file_twice_has_two_names(made):
    truth, scores, _ = made
    xmceval.score(truth, scores["a"], metrics="P@1", save_rows="a.rows.npz")
    names = [result.name for result in xmceval.compare_rows(["a.rows.npz", "a.rows.npz"]).results]
    assert len(set(names)) == 2


@pytest.mark.parametrize("files", [[], "a.rows.npz"])
def test_too_few_files_are_refused(files):
    with pytest.raises(UsageError, match=r"at least two systems|must be a sequence of paths"):
        xmceval.compare_rows(files)


@pytest.mark.parametrize("systems", [np.eye(3), [np.eye(3), np.eye(3)]])
def test_systems_without_names_are_refused(systems):
    with pytest.raises(UsageError, match="systems must be a dict of scores by name"):
        xmceval.compare(np.eye(3), systems)


def test_an_npz_of_something_else_is_refused(made):
    np.savez("a.rows.npz", data=np.ones(3))
    with pytest.raises(DataError, match="has no values of rows"):
        read_row_values("a.rows.npz")


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("a.txt", {}, "per-instance values are written as .npz, .csv, .jsonl"),
        ("a.rows.npz", {"metrics": "macroF1@3"}, "none of the metrics has per-instance values"),
    ],
)
def test_what_cannot_be_saved_is_refused(made, path, options, message):
    truth, scores, _ = made
    with pytest.raises(UsageError, match=message):
        xmceval.score(truth, scores["a"], **options, save_rows=path)
    assert not Path(path).exists()


def test_the_command_compares_rows(made, capsys):
    truth, scores, options = made
    xmceval.compare(truth, scores, **options, save_rows="both.rows.npz")
    with pytest.raises(SystemExit, match="0"):
        main(["compare", "both.rows.npz", "-o", "json"])
    found = json.loads(capsys.readouterr().out)
    assert {each["metric"] for each in found["comparisons"]} == {
        "P@1",
        "P@3",
        "PSP@3",
        "LRAP",
        "GAUC",
        "AUC",
        "f1_score",
    }


def test_strict_holds_for_saved_rows():
    Path("a.rows.csv").write_text("row,system,weight,P@1\n0,a,1,1\n0,b,1,0\n1,a,1,1\n1,b,1,1\n")
    with pytest.raises(SystemExit, match="1"):
        main(["compare", "a.rows.csv", "--strict"])


def test_what_a_csv_does_not_know_is_not_shown_as_zero(made):
    truth, scores, _ = made
    for name, form in (("a", "csv"), ("b", "npz")):
        xmceval.score(truth, scores[name], metrics="P@1", save_rows=f"{name}.rows.{form}")
    with pytest.warns(xmceval.XmcevalWarning, match="cannot check that"):
        assert "predictions per instance" not in str(xmceval.compare_rows(["a.rows.csv", "b.rows.npz"]))


def test_a_file_of_rows_that_exists_has_a_hint_that_works(made):
    truth, scores, _ = made
    Path("a.rows.npz").touch()
    with pytest.raises(UsageError, match=r"a.rows.npz: already exists \(hint: remove it, or choose another name\)"):
        xmceval.score(truth, scores["a"], metrics="P@1", save_rows="a.rows.npz")


def test_names_of_systems_are_their_own(capsys):
    for name, text in (("t.txt", "2 2\n0:1\n1:1\n"), ("p.txt", "2 2\n0:1\n1:1\n"), ("q.txt", "2 2\n1:1\n1:1\n")):
        Path(name).write_text(text)
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "t.txt", "p.txt", "q.txt", "-m", "P@1", "--runs", "p=p.txt,q.txt"])
    assert "several systems are named" in capsys.readouterr().err


def test_metrics_of_other_tools_can_be_pickled():
    for name, other in (("a", 0.5), ("b", 0.25)):
        lines = [f"{row},{row % 2 * other},{row + other},{other},{row % 3 * other}" for row in range(40)]
        Path(f"{name}.csv").write_text("row,P@1,my gain,P,odd@5x\n" + "\n".join(lines) + "\n")
    comparison = xmceval.compare_rows(["a.csv", "b.csv"])
    assert str(pickle.loads(pickle.dumps(comparison))) == str(comparison)


def test_rows_under_other_rules_are_warned_of(made, tmp_path):
    truth, scores, options = made
    files = [tmp_path / "a.rows.npz", tmp_path / "b.rows.npz"]
    for file, ties in zip(files, ("label", "best"), strict=True):
        xmceval.score(truth, next(iter(scores.values())), save_rows=file, ties=ties, **options)
    with pytest.warns(xmceval.XmcevalWarning, match="scored under different options: .*: the defaults; .*: ties=best"):
        xmceval.compare_rows(files, names=["a", "b"])


def test_a_file_of_rows_that_is_passed_twice_is_warned_of(made):
    truth, scores, _ = made
    xmceval.score(truth, scores["a"], metrics="P@1", save_rows="a.rows.npz")
    with pytest.warns(xmceval.XmcevalWarning, match="a.rows.npz is passed twice: its systems tie"):
        xmceval.compare_rows(["a.rows.npz", "./a.rows.npz"])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("P_1 q1 0.5\nP_1 q1 1\n", "a.eval:2: P_1 of row 'q1' appears twice"),
        ("P_1 q1 0.5\nP_1 q2 x\nP_1 all 1\n", "a.eval:2: expected a number, found 'x'"),
    ],
)
def test_lines_of_other_tools_that_are_wrong_are_refused(lines, message):
    Path("a.eval").write_text(lines.replace(" ", "\t"))
    with pytest.raises(DataError, match=message):
        read_row_values("a.eval")


def lines_of(columns, ids, measures):
    cells = [{"measure": measure, "query": row} for row in ids for measure in measures]
    return "".join(f"{each[columns[0]]}\t{each[columns[1]]}\t0.1000\n" for each in cells)


@pytest.mark.parametrize("ids", [["1", "2", "30"], ["q1", "q2"], ["1", "q2"], ["MAP-1", "map"], ["7"], ["q7"]])
@pytest.mark.parametrize(
    "measures",
    [
        ["P_5"],
        ["map", "P_5", "recip_rank"],
        ["num_ret", "num_rel", "num_rel_ret"],
        ["bpref"],
        ["iprec_at_recall_0.00", "iprec_at_recall_0.10", "set_P", "gm_map"],
        ["AP", "SetF(beta=0.5)", "NumRet", "IPrec@0.1", "nDCG@10"],
    ],
)
@pytest.mark.parametrize("columns", [("measure", "query"), ("query", "measure")])
def test_the_column_of_metrics_is_found_without_a_header(columns, ids, measures):
    Path("a.eval").write_text(lines_of(columns, ids, measures))
    table = read_row_values("a.eval")
    assert (list(table.rows), list(table.metrics)) == (ids, measures)


@pytest.mark.parametrize(
    "text", ["own\tq1\t0.5\n", "301\t0.5\t0.25\n302\t0.5\t0.25\n", "P_5\tmap\t0.5\n", "q1,0.5,0.25\nq2,0.5,0.125\n"]
)
def test_columns_that_could_be_either_way_round_are_refused(text):
    Path("a.eval").write_text(text)
    with pytest.raises(DataError, match="it is unclear which of the first two columns names metrics"):
        read_row_values("a.eval")
    if text.startswith("own"):
        Path("a.eval").write_text("measure\tquery\tvalue\n" + text)
        assert read_row_values("a.eval").metrics == ("own",)


def test_measures_of_other_tools_that_are_texts_are_left_out():
    Path("a.eval").write_text("P_1\tq1\t0.5\nrelstring_10\tq1\t'01'\nrunid\tall\tme\n")
    assert read_row_values("a.eval").metrics == ("P_1",)


def test_values_of_rows_under_another_name_have_a_hint(made):
    truth, scores, _ = made
    xmceval.score(truth, scores["a"], metrics="P@1", save_rows="a.npz")
    with pytest.raises(DataError, match=r"hint: per-instance values are compared with compare_rows"):
        xmceval.score(truth, "a.npz")


QRELS = "q9 0 d1 1\nq9 0 d2 0\nq10 0 d2 1\nq10 0 d1 1\nq\u00e97 0 d3 2\n"
RUNS = {"a": (3, 2, 1), "b": (1, 2, 3)}


@pytest.fixture
def queries():
    Path("q.txt").write_text(QRELS, encoding="utf-8")
    for name, scores in RUNS.items():
        lines = [
            f"{query} Q0 d{d} {d} {score} {name}\n"
            for query in ("q\u00e97", "q9", "q10")
            for d, score in enumerate(scores, 1)
        ]
        Path(f"{name}.run").write_text("".join(lines), encoding="utf-8")
    return "q.txt", {"a": "a.run", "b": "b.run"}


@pytest.mark.parametrize("form", ["npz", "csv", "jsonl"])
def test_rows_of_qrels_are_called_by_their_queries_and_joined_with_files_of_other_tools(form, queries):
    truth, runs = queries
    together = xmceval.compare(truth, runs, metrics="P", k=1, save_rows=f"r.{form}")
    assert read_row_values(f"r.{form}").rows == ("q9", "q10", "q\u00e97")
    other = "".join(f"P_1\t{query}\t{value}\n" for query, value in (("q10", 0), ("q\u00e97", 1), ("q9", 0)))
    Path("b.eval").write_text(other.replace("P_1", "P@1"), encoding="utf-8")
    xmceval.score(truth, runs["a"], metrics="P", k=1, save_rows=f"a.rows.{form}")
    with pytest.warns(XmcevalWarning, match="cannot check that the instances are those of the same truth"):
        joined = xmceval.compare_rows([f"a.rows.{form}", "b.eval"], names=["a", "b"])
    assert joined.differences == together.differences


@pytest.mark.parametrize("form", ["npz", "csv", "jsonl"])
@pytest.mark.parametrize("kind", ["sequence", "file", "shards"])
def test_ids_of_rows_are_kept_in_saved_rows(form, kind, made):
    truth, scores, options = made
    ids = [f"id {row:x}" for row in range(90)]
    for name, own in {"ids.txt": ids, "part-1.txt": ids[:40], "part-2.txt": ids[40:]}.items():
        Path(name).write_text("\r\n".join(own) + "\n", encoding="utf-8-sig")
    passed = {"sequence": np.array(ids), "file": "ids.txt", "shards": "part-*.txt"}[kind]
    weights, shards = np.arange(90) % 3, xmceval.Shards([truth[:50], truth[50:]])
    xmceval.compare(shards, scores, **options, sample_weight=weights, row_ids=passed, save_rows=f"r.{form}")
    assert read_row_values(f"r.{form}").rows == tuple(name for name, weight in zip(ids, weights, strict=True) if weight)


BAD_IDS = {
    "a\nb\na\n": r"ids\.txt:3: the id 'a' appears twice; it is also that of ids\.txt:1",
    "a\n\nb\n": r"ids\.txt:2: expected the id of a row, found nothing",
    "a\nb\n": r"ids\.txt: has 2 ids, and there are 3 rows; expected one id per row",
    "a\nb\nc\nd\n": r"ids\.txt: has 4 ids, and there are 3 rows; expected one id per row",
}


@pytest.mark.parametrize("content", BAD_IDS)
@pytest.mark.parametrize("header", ["3 3\n", ""])
def test_ids_that_are_wrong_are_refused(content, header):
    Path("ids.txt").write_text(content, encoding="utf-8")
    Path("t.txt").write_text(f"{header}0:1\n1:1\n2:1\n", encoding="utf-8")
    Path("p.txt").write_text("0:1\n1:.5\n1:.25\n", encoding="utf-8")
    message = BAD_IDS[content].replace("there are 3 rows", "there are (3|more) rows")
    with pytest.raises(DataError, match=message):
        xmceval.score("t.txt", "p.txt", metrics="P", k=1, n_labels=3, row_ids="ids.txt", save_rows="r.csv")
    assert not Path("r.csv").exists()


def test_ids_without_effect_or_beside_queries_are_refused(queries):
    truth, runs = queries
    with pytest.raises(DataError, match=r"row_ids\[2\]: the id '7' appears twice; it is also that of row_ids\[0\]"):
        xmceval.score(truth, runs["a"], row_ids=[7, 8, 7], save_rows="r.csv")
    with pytest.raises(UsageError, match=r"q\.txt have ids already, its queries"):
        xmceval.score(truth, runs["a"], row_ids=["x", "y", "z"], save_rows="r.csv")
    with pytest.raises(UsageError, match=r"row_ids has no effect without .* or by_group"):
        xmceval.score(np.eye(3), np.eye(3), row_ids=[1, 2, 3])
