"""Inspect: what a file is, whether score accepts it, and the usual mistakes with truth and predictions."""

import glob
import json
import os
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from support.files import body, write, write_matrix

import xmceval
from xmceval.inspection.file import Spread, inspect_file

TRUTH = "4 6\n0:1 2:1\n\n1:1\n2:1 5:1\n"
SAME_SET = "do they belong to the same data set?"
SCORES = "4 6\n0:0.9 1:-0.5 2:0\n1:0.3 3:0.3\n4:0.1\n\n"


@pytest.fixture
def made(rng):
    """A truth and predictions of a good model, 400 rows of 60 labels, and their matrices."""
    topics, topic = np.arange(60) % 12, rng.integers(0, 12, 400)  # labels that are true together
    truth = (rng.random((400, 60)) < np.where(topics == topic[:, None], 0.6, 0.01)).astype(float)
    scores = np.where(truth + (rng.random((400, 60)) < 0.1) > 0, rng.random((400, 60)) + 0.5 * truth, -np.inf)
    write_matrix("t.txt", truth, "truth")
    write_matrix("p.txt", scores)
    return truth, scores


def pair_of(run, *words):
    code, out, _ = run("inspect", *words, "-o", "json")
    return code, json.loads(out)["together"][0]


def warnings_of(run, *words):
    code, pair = pair_of(run, *words)
    return code, pair["faults"], pair["warnings"]


def test_scores_are_counted():
    write("p.txt", SCORES)
    [file] = xmceval.inspect("p.txt").files
    assert (file.kind, file.n_rows, file.n_labels, file.n_entries) == ("scores", 4, 6, 6)
    assert (file.empty_rows, file.zeros, file.labels_seen) == (1, 1, 5)
    assert (file.per_row, file.per_label) == (Spread(0, 1.5, 1.5, 3), Spread(1, 1.0, 1.2, 2))
    assert (file.least, file.greatest, file.is_sound) == (-0.5, 0.9, True)


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("nan", "2 6\n0:0.5\n1:nan\n", "p.txt:3: the score value of label 1 is NaN; expected a number"),
        ("duplicate", "2 6\n0:0.5\n1:1 1:2\n", "p.txt:3: label 1 appears twice in this row; a label has one score"),
        ("number", "2 6\n0:0.5\n1:x\n", "p.txt:3: expected a number after the colon, found '1:x'"),
        ("cut", "3 6\n0:0.5\n1:1\n", "p.txt: the header '3 6' declares 3 rows"),
    ],
)
def test_what_score_refuses_is_an_error_and_exits_1(run, name, text, fault):
    write("p.txt", text)
    write("t.txt", f"{text[0]} 6\n" + "0:1\n" * int(text[0]))
    with pytest.raises(xmceval.DataError):
        xmceval.score("t.txt", "p.txt", k=1, metrics="P")
    code, out, _ = run("inspect", "p.txt")
    assert code == 1
    assert out.startswith(f"p.txt: not valid, score refuses it\n  error: {fault}")


def test_a_missing_file_is_an_error(run):
    code, _, err = run("inspect", "none")
    assert (code, "no such file" in err) == (1, True)


@pytest.mark.parametrize(
    ("shift", "question"),
    [
        (1, "are the labels of q.txt 1-based, and the truth's 0-based?"),
        (-1, "are the labels of q.txt 0-based, and the truth's 1-based?"),
        (0, "are the rows of q.txt shuffled?"),
    ],
)
def test_shifted_labels_and_shuffled_rows_do_not_belong_together(made, rng, run, shift, question):
    moved = np.roll(made[1], shift, axis=1) if shift else made[1][rng.permutation(400)]
    if shift:
        moved[:, 0 if shift > 0 else -1] = -np.inf
    write_matrix("q.txt", moved)
    code, pair = pair_of(run, "t.txt", "q.txt")
    assert (code, pair["faults"], pair["warnings"], pair["is_sound"], len(pair["mistakes"])) == (1, [], [], False, 1)
    assert pair["mistakes"][0].endswith(question)
    code, out, _ = run("inspect", "t.txt", "q.txt")
    truth, scores, *lines = out.splitlines()
    assert code == 1
    assert truth.startswith("t.txt: valid: 400 rows, 60 labels, ")
    assert scores.startswith("q.txt: valid: 400 rows, 60 labels, ")
    assert lines[:2] == ["t.txt and q.txt: do not belong together", f"  error: {pair['mistakes'][0]}"]


def test_score_and_inspect_find_the_same_mistakes(made, rng):
    scores = {
        "as_is": made[1],
        "shuffled": made[1][rng.permutation(400)],
        "moved": np.hstack([np.full((400, 1), -np.inf), made[1][:, :-1]]),
        "popular": np.tile(np.arange(1.0, 61), (400, 1)),
    }
    for name, each in scores.items():
        write_matrix(f"{name}.txt", each)
        (pair,) = xmceval.inspect(["t.txt", f"{name}.txt"]).pairs
        warnings = xmceval.score("t.txt", f"{name}.txt", metrics="P", k=5).warnings
        expected = [line.replace(f" of {name}.txt", "") for line in pair.mistakes]
        assert [line for line in warnings if line.startswith("P@1")] == expected
        assert bool(expected) == (name in {"shuffled", "moved"})


def test_swapped_files_with_whole_scores_do_not_belong_together(made, run):
    whole = np.where(made[1] > -np.inf, np.ceil(20 * made[1]), 0)
    write_matrix("q.txt", whole, "truth")
    report = xmceval.inspect(["q.txt", "t.txt"])
    assert [file.kind for file in report.files] == ["scores", "truth"]
    assert report.is_sound  # they were recognised, in whichever order they are passed
    q = inspect_file("q.txt", kind="truth")
    assert q.warnings == (f"q.txt has values up to {whole.max():g}: score needs grades=True if these are grades",)


def test_a_header_of_another_number_of_labels_is_reported(made, run):
    write_matrix("q.txt", made[1][:, :59])
    longest = int((made[1][:, :59] > -np.inf).sum(axis=1).max())
    warning = f"q.txt declares 59 columns, t.txt 60 labels, and the longest row has {longest} predictions"
    code, faults, (line,) = warnings_of(run, "t.txt", "q.txt")
    assert (code, faults, line) == (0, [], f"{warning}: {SAME_SET}")
    assert line in xmceval.score("t.txt", "q.txt", metrics="P").warnings


AS_TRAINING = "t.txt has as many rows and entries as the training labels: is it the training set?"
# What is made of the truth or of the scores, the files, and the faults and warnings.
PAIRS = {
    "as they are": (None, "t.txt p.txt", [], []),
    "a transposed matrix": (
        lambda _, scores: scores.T.copy(),
        "t.txt q.txt",
        ["t.txt has 400 rows, q.txt has 60 rows; one of them is transposed: rows are instances, columns are labels"],
        [],
    ),
    "predictions for the training set": (
        lambda truth, _: truth[:300],
        "q.txt p.txt --train t.txt",
        ["q.txt has 300 rows, p.txt has 400 rows; the predictions are for the training instances"],
        None,
    ),
    "the training set as truth": (None, "t.txt p.txt --train t.txt", [], [AS_TRAINING]),
    "training labels with fewer entries": (
        lambda truth, _: np.where(np.arange(400)[:, None] == np.nonzero(truth)[0][0], 0, truth),
        "t.txt p.txt --train q.txt",
        [],
        [],
    ),
    "training labels with more rows": (
        lambda truth, _: np.pad(truth, ((0, 1), (0, 0))),
        "t.txt p.txt --train q.txt",
        [],
        [],
    ),
    "training labels of another set": (
        lambda truth, _: truth[:300, :50],
        "t.txt p.txt --train q.txt",
        None,
        [f"the training file has 50 labels, t.txt has 60 labels: {SAME_SET}"],
    ),
    "a label beyond the truth": (
        lambda _, scores: np.pad(scores, ((0, 0), (1, 0)), constant_values=-np.inf),
        "t.txt q.txt",
        ["q.txt declares 61 labels, but t.txt has 60 labels"],
        None,
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_what_is_wrong_with_a_pair_is_reported(made, run, case):
    make, words, faults, warnings = PAIRS[case]
    if make is not None:
        write_matrix("q.txt", make(*made), "scores" if "t.txt q.txt" in words else "truth")
    code, *reported = warnings_of(run, *words.split())
    for found, expected in zip(reported, (faults, warnings), strict=True):
        assert expected is None or found == expected
    assert code == bool(faults)


def test_a_filter_that_was_not_applied_is_reported(made, run):
    rows, labels = np.nonzero(made[1] > -np.inf)
    write("f.txt", f"{rows[0]} {labels[0]}\n{rows[9]} {labels[9]}\n")
    _, _, warnings = warnings_of(run, "t.txt", "p.txt", "--filter", "f.txt")
    assert warnings == ["the filter is not applied: it excludes 2 predictions of p.txt (hint: pass --filter to score)"]


def test_a_label_beyond_the_truth_has_its_place(made, run):
    write_matrix("q.txt", np.pad(made[1], ((0, 0), (1, 0)), constant_values=-np.inf))
    write("q.txt", body(Path("q.txt").read_text()))
    fault = "q.txt:7: label 60 is outside 0..59 (t.txt has 60 labels; labels are 0-based) (69 such rows)"
    assert warnings_of(run, "t.txt", "q.txt")[:2] == (1, [fault])


def test_an_extra_column_is_a_warning_as_in_score(made, run):
    wide = np.where(made[1] > -np.inf, made[1] + 1, 0)
    save_npz("q.npz", csr_matrix(np.hstack([wide, np.ones((400, 1))])))
    warning = "q.npz: dropped 400 entries in extra column 60, beyond the 60 labels"
    assert warning in xmceval.score("t.txt", "q.npz", metrics="P").warnings
    assert warnings_of(run, "t.txt", "q.npz") == (0, [], [warning])
    assert xmceval.inspect("q.npz", kind="scores", n_labels=60).files[0].warnings == (warning,)
    assert xmceval.inspect("q.npz", kind="scores", n_labels=60).is_sound
    assert not xmceval.inspect("q.npz", kind="scores", n_labels=59).is_sound


@pytest.mark.parametrize(
    ("kind", "text", "n_labels", "is_sound"),
    [
        ("truth", "2 6\n0:1\n5:1\n", 6, True),
        ("truth", "2 6\n0:1\n5:1\n", 9, False),
        ("truth", "2 6\n0:1\n1:1\n", 5, False),
        ("truth", "0,1\n5\n", 9, True),
        ("truth", "0,1\n5\n", 5, False),
        ("scores", "2 6\n0:.5\n5:.5\n", 6, True),
        ("scores", "2 6\n0:.5\n5:.5\n", 9, True),
        ("scores", "2 6\n0:.5\n1:.5\n", 5, False),
        ("scores", "2 1\n0:.5 1:.2\n1:.5\n", 9, False),
        ("scores", "2 2\n0:.5 1:.2\n1:.5\n", 9, True),
    ],
)
def test_a_number_of_labels_is_compared_with_the_header_as_score_does(run, kind, text, n_labels, is_sound):
    write("f", text)
    write("scores", "0:.5\n1:.5\n")
    write("truth", "0,1\n1\n")
    pair = {"truth": ["f", "scores"], "scores": ["truth", "f"]}[kind]
    [file] = xmceval.inspect("f", kind=kind, n_labels=n_labels).files
    assert file.is_sound == is_sound
    assert run("inspect", "f", "--as", kind, "--n-labels", n_labels)[0] == (0 if is_sound else 1)
    if is_sound:
        xmceval.score(*pair, n_labels=n_labels, k=1, metrics="P")
    else:
        with pytest.raises(xmceval.DataError) as error:
            xmceval.score(*pair, n_labels=n_labels, k=1, metrics="P")
        assert file.faults[0] == str(error.value) or "and a row has" in file.faults[0]


def test_labels_from_2_to_the_40_on_do_not_collide():
    """Row 0 of label 2^40 was row 1 of label 0."""
    high = 2**40
    write("t", f"2 {high + 5}\n3:1\n0:1\n")
    write("p", f"2 {high + 5}\n{high}:.5\n1:.5\n")
    (pair,) = xmceval.inspect(["t", "p"]).pairs
    assert (pair.precision_at_1, pair.precision) == (0.0, 0.0)
    write("p", f"2 {high + 5}\n3:.5\n{high}:.9 0:.5\n")
    (pair,) = xmceval.inspect(["t", "p"]).pairs
    assert (pair.precision_at_1, pair.precision) == (0.5, 0.2)


def test_real_files_are_sound_and_belong_together(realdata, run):
    folder = realdata / "cs771_bonsai"
    files = folder / "tst_X_Y.txt.gz", folder / "score_mat.txt.gz", "--train", folder / "trn_X_Y.txt.gz"
    document = json.loads(run("inspect", *files, "-o", "json")[1])
    assert [each["kind"] for each in document["files"]] == ["truth", "scores"]
    assert document["together"][0]["precision_at_1"] == pytest.approx(0.814)
    assert document["together"][0]["warnings"] == document["together"][0]["mistakes"] == []


def test_json_truth_with_a_bad_line_is_reported_as_by_score(run):
    write("js", '{"target_ind":[0,2]}\n{"target_ind":[]}\n{"target_ind":["x"]}\n')
    code, out, _ = run("inspect", "js", "-v")
    verdict, fault, *lines = out.splitlines()
    assert (code, verdict) == (1, "js: not valid, score refuses it")
    assert fault.startswith("  error: js:3: 'x' is a name, not a label id")
    assert lines == ["", "js", "  text, JSON lines, no header; not counted, as it is not valid"]


def test_what_cannot_be_parsed_has_no_statistics(run):
    write("bad", "0:1 x\n")
    code, out, _ = run("inspect", "bad", "-v")
    assert (code, "not counted, as it is not valid" in out) == (1, True)
    assert not any(word in out for word in ("empty", "rows ·"))


def test_rows_with_ids_are_joined_as_by_score(made, rng):
    """They were compared by their places: the rows seemed to be shuffled."""
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    ids = pandas.Series([f"row{i}" for i in range(400)], name="id")
    ranked = [row[:5].tolist() for row in np.argsort(-made[1], axis=1)]
    for name, lists in {"t": [np.flatnonzero(row).tolist() for row in made[0]], "p": ranked}.items():
        table = pandas.DataFrame({"id": ids, "labels": lists})
        table.iloc[rng.permutation(400) if name == "p" else slice(None)].to_parquet(f"{name}.parquet", index=False)
    (pair,) = xmceval.inspect(["t.parquet", "p.parquet"]).pairs
    assert (pair.mistakes, pair.warnings) == ((), ())
    result = xmceval.score("t.parquet", "p.parquet", metrics="P", k=[1, 5])
    assert (pair.precision_at_1, pair.precision) == (result["P@1"], result["P@5"])


def test_files_of_fewer_labels_than_the_cutoff_are_compared():
    report = xmceval.inspect([write("t", "2 3\n0:1\n1:1\n"), write("p", "2 3\n0:0.5\n1:0.5 2:0.25\n")])
    assert report.is_sound
    assert (report.pairs[0].precision_at_1, report.pairs[0].precision) == (1.0, 0.2)


def test_training_labels_of_a_folder_are_not_taken_as_its_truth(made):
    for name, file in {"trn_X_Y.txt": "t.txt", "tst_X_Y.txt": "t.txt", "preds.txt": "p.txt"}.items():
        os.makedirs("set", exist_ok=True)
        shutil.copy(file, f"set/{name}")
    report = xmceval.inspect(sorted(glob.glob("set/*")))
    assert [(pair.truth, pair.scores) for pair in report.pairs] == [("set/tst_X_Y.txt", "set/preds.txt")]
    assert "set/trn_X_Y.txt: named like training labels, so not compared" in str(report)
    alone = xmceval.inspect(["set/trn_X_Y.txt", "set/preds.txt"])
    assert [(pair.truth, pair.scores) for pair in alone.pairs] == [("set/trn_X_Y.txt", "set/preds.txt")]


def test_the_same_file_twice_is_reported(made, run):
    code, faults, warnings = warnings_of(run, "t.txt", "./t.txt")
    assert (code, faults) == (0, [])
    same, equal = warnings
    assert same == "t.txt and ./t.txt are the same file"
    assert equal.startswith("all scores of ./t.txt are equal or infinite in ")


def test_ranks_are_not_called_values(run):
    write("l", "0,1,2\n1,2\n3\n")
    words = "no values: ranks from 1 to 3, the highest for the first label of a row"
    assert words in run("inspect", "l", "--as", "scores", "-v")[1]
    out = run("inspect", "l", "-v")[1]
    assert "read as truth: lists can be truth or predictions (hint: pass --as scores)" in out
    assert "no values: each label of a list counts 1" in out
    assert "best first" not in out


# What came with the Python function.


def test_files_and_pairs_are_values(made):
    report = xmceval.inspect(["t.txt", "p.txt"])
    truth, scores = report.files
    (pair,) = report.pairs
    assert (truth.kind, truth.n_rows, scores.kind, scores.n_labels) == ("truth", 400, "scores", 60)
    assert (pair.truth, pair.scores, pair.faults, pair.filter_pairs) == ("t.txt", "p.txt", (), None)
    result = xmceval.score("t.txt", "p.txt", k=[1, 5], metrics="P")
    assert (pair.precision_at_1, pair.precision) == (result["P@1"], result["P@5"])
    assert report.is_sound
    lines = str(report).splitlines()
    assert lines[2].startswith(f"they fit: P@1 {result['P@1']:.2%} (rows in random order ")
    assert report.to_text(verbose=True).splitlines()[: len(lines)] == lines
    assert report.to_text(verbose=True).splitlines()[-2] == "t.txt and p.txt"


def test_the_command_prints_what_the_function_returns(made, run):
    report = xmceval.inspect(["t.txt", "p.txt"], train="t.txt")
    words = "inspect", "t.txt", "p.txt", "--train", "t.txt"
    assert run(*words)[:2] == (0, str(report)) == (0, report.to_text())
    assert run(*words, "-v")[:2] == (0, report.to_text(verbose=True))
    assert run(*words, "-o", "json")[:2] == (0, report.to_json())


def test_one_path_and_an_array_of_filter_pairs_are_accepted(made):
    rows, labels = np.nonzero(made[1] > -np.inf)
    assert [file.path for file in xmceval.inspect("t.txt").files] == ["t.txt"]
    pairs = np.column_stack([rows[:3], labels[:3]])
    (pair,) = xmceval.inspect(["t.txt", "p.txt"], filter=pairs).pairs
    assert pair.filter_pairs == 3


def test_of_several_lists_the_first_is_the_truth():
    row = ",".join(map(str, range(12)))
    write("a", f"{row}\n{row}\n")
    write("b", f"{row}\n{row}\n")
    assert [file.kind for file in xmceval.inspect(["a", "b"]).files] == ["truth", "truth"]
    assert xmceval.inspect(["a", "b"], kind="scores").pairs == ()


def test_names_of_labels_are_their_number():
    write("names", "a\nb\nc\nd\n")
    write("t", "a b\nc\n")
    (file,) = xmceval.inspect("t", labels="names").files
    assert (file.n_labels, file.largest_label) == (4, 2)
    assert "2 rows · 4 labels (as given) · 3 entries" in _details("t", labels="names")
    write("p", "0:0.5\n1:0.5\n")
    (pair,) = xmceval.inspect(["t", "p"], labels="names", train="t").pairs
    assert pair.warnings == ("t has as many rows and entries as the training labels: is it the training set?",)
    assert "2 rows · 3 labels (the largest label + 1) · 2 entries" in _details(write("lists", "0\n2\n"))


def _details(path, **options):
    return xmceval.inspect(path, **options).to_text(verbose=True)


def test_a_file_that_is_not_sound_is_not_compared(made):
    report = xmceval.inspect(["t.txt", write("bad.txt", "400 60\n" + "0:nan\n" * 400)])
    assert not report.is_sound
    assert "\nt.txt and bad.txt: not compared, as one of the files is not valid\n" in str(report)


def test_several_files_of_a_kind_are_named_with_what_may_surprise(made):
    empty = np.arange(400)[:, None] % 100 == 0
    write_matrix("q.txt", np.where(empty, -np.inf, made[1]))
    lines = str(xmceval.inspect(["t.txt", "p.txt", "q.txt"])).splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        *("t.txt", "p.txt", "q.txt", "t.txt and p.txt fit", "t.txt and q.txt fit"),
        *("t.txt", "q.txt"),
    ]
    assert lines[-1] == "q.txt: 4 rows without predictions"


def test_p_at_1_is_compared_with_rows_in_random_order_and_shifted_labels(rng):
    """In 1,200 rows, of which the first 1,000 are looked at."""
    truth = (rng.random((1200, 20)) < 0.1).astype(float)
    scores = np.where(rng.random((1200, 20)) < 0.5, rng.random((1200, 20)) + 0.8 * truth, -np.inf)
    write_matrix("t", truth, "truth")
    write_matrix("p", scores)
    report = xmceval.inspect(["t", "p"])
    best, first = np.argmax(scores[:1000], axis=1), truth[:1000]
    has_any = (scores[:1000] > -np.inf).any(axis=1)
    counts = np.bincount(best[has_any], minlength=22)
    expected = (first.sum(axis=0) * counts[:20]).sum() / 1000**2
    wide, rows = np.pad(first, ((0, 0), (1, 1))), np.arange(1000)[has_any]
    shifted = max(wide[rows, best[has_any]].sum(), wide[rows, best[has_any] + 2].sum()) / 1000
    hits = first[rows, best[has_any]].sum() / 1000
    of_first = report.pairs[0].first_rows
    assert of_first.n_rows == 1000
    assert of_first.is_clearly_better
    values = of_first.precision_at_1, of_first.random_order, of_first.labels_shifted
    assert values == pytest.approx((hits, expected, shifted))
    whole = report.pairs[0].precision_at_1
    assert (
        f"they fit: P@1 {whole:.2%}, of the first 1,000 rows {hits:.2%} "
        f"(rows in random order {expected:.2%}, labels shifted by one {shifted:.2%})\n"
    ) in str(report)


def test_files_without_rows_are_not_said_to_fit():
    assert str(xmceval.inspect([write(name, "0 3\n") for name in "tp"])).splitlines()[2:] == [
        "t and p: some problems found",
        "  warning: no instance has a true label: is this the right truth file?",
        "p: read as truth: it has no entries",
    ]


def test_predictions_that_hit_no_more_than_by_chance_are_not_said_to_fit(made):
    write_matrix("popular.txt", np.tile(np.arange(1.0, 61), (400, 1)))
    report = xmceval.inspect(["t.txt", "popular.txt"])
    first = report.pairs[0].first_rows
    assert first.precision_at_1 == pytest.approx(first.random_order)
    assert "t.txt and popular.txt: no problems found: P@1 " in str(report)


def test_an_unknown_kind_is_refused(made):
    with pytest.raises(xmceval.UsageError, match="kind must be one of truth, scores, got 'labels'"):
        xmceval.inspect("t.txt", kind="labels")


@pytest.mark.parametrize("call", [xmceval.inspect, xmceval.read])
def test_what_is_no_path_is_refused(call):
    with pytest.raises(xmceval.UsageError, match="expected the path of a file, got an int"):
        call(5)


# Unusual files.

RUN = "q1 Q0 d7 1 2 tag\nq1 Q0 d9 2 2 tag\nq2 Q0 d7 1 5 tag\n"
QRELS = "q1 0 d9 1\nq3 0 d1 2\n"


def test_a_run_is_described_by_its_own_queries():
    report = xmceval.inspect(write("run", RUN))
    [file] = report.files
    assert (file.kind, file.n_rows, file.n_labels, file.n_entries) == ("scores", 2, 2, 3)
    assert (file.per_row.least, file.per_row.most) == (1, 2)
    assert str(report) == ("run: valid: 2 queries, 2 documents, 3 retrieved documents; TREC run, scores from 2 to 5\n")
    assert "TREC run, rows are queries" in report.to_text(verbose=True)


def test_a_run_is_joined_to_its_qrels_by_query():
    report = xmceval.inspect([write("qrels", QRELS), write("run", RUN)])
    assert report.is_sound
    assert report.pairs[0].precision_at_1 == 0.5
    assert "qrels and run: some problems found: P@1 50.00% (queries in random order 25.00%)\n" in str(report)
    assert any("ignored 1 query not in qrels" in line for line in report.pairs[0].warnings)


@pytest.mark.parametrize("form", ["run", "json", "csv"])
def test_queries_that_only_one_of_two_files_has_are_no_reason_against_them_in_any_form(form):
    text = RUN.replace("2 tag", "2.5 tag")  # whole numbers may be grades
    cells = [line.split() for line in text.splitlines()]
    if form == "csv":
        pytest.importorskip("pyarrow")
    content = {
        "run": text,
        "json": json.dumps({q: {c[2]: float(c[4]) for c in cells if c[0] == q} for q in ("q1", "q2")}),
        "csv": "query_id,doc_id,score\n" + "".join(f"{c[0]},{c[2]},{c[4]}\n" for c in cells),
    }[form]
    report = xmceval.inspect([write("qrels", "q1 0 d9 1\nq3 0 d1 2\nq4 0 d1 0\n"), write("run", content)])
    assert report.is_sound
    shown = report.to_text(verbose=True)
    assert shown.startswith("qrels: valid: 3 queries, 2 documents, 3 judgments; TREC qrels\n")
    assert "\nrun: valid: 2 queries, 2 documents, 3 retrieved documents; " in shown
    assert "\n1 judged 0\n" in shown
    for words in ("entries per query", "entries per document", "queries in random order"):
        assert words in shown
    assert not any(word in shown.replace("rows are queries", "") for word in (" row", "label"))
    assert report.to_json().count('"has_queries": true') == 2


REFUSED = {
    "a page": ("\n<!doctype HTML>\n<title> 404\n Not Found</title>", "is a web page, titled '404 Not Found'; expected"),
    "a page without a title": ("<html><body>x</body></html>", "is a web page; expected data"),
    "a pointer": ("version https://git-lfs.github.com/spec/v1\nsize 9\n", "is a pointer of Git LFS, not the data"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_was_downloaded_instead_of_data_is_named(case):
    content, message = REFUSED[case]
    with pytest.raises(xmceval.DataError, match=f"^f: {message}"):
        xmceval.inspect(write("f", content))


def test_an_archive_of_several_arrays_lists_them():
    np.savez("both.npz", y_true=np.eye(2, 3), y_score=np.eye(2, 3, dtype=np.float32))
    with pytest.raises(xmceval.DataError) as error:
        xmceval.inspect("both.npz")
    assert "arrays y_true (2 x 3, float64), y_score (2 x 3, float32); expected" in str(error.value)
    assert str(error.value).endswith("(hint: save each matrix in a file of its own)")


def test_an_archive_of_other_files_is_to_be_unzipped():
    with zipfile.ZipFile("data.zip", "w") as archive:
        archive.writestr("tst_X_Y.txt", "1 1\n0:1\n")
    with pytest.raises(xmceval.DataError, match=r"is a zip archive of tst_X_Y.txt; .*unzip it"):
        xmceval.inspect("data.zip")


def test_json_lines_of_another_shape_are_named_by_their_keys():
    report = xmceval.inspect(write("j", '{"uid": 1, "labels": [3]}\n{"uid": 2, "labels": [4]}\n'))
    assert not report.is_sound
    assert "found the keys 'uid', 'labels'" in report.files[0].faults[0]
    report = xmceval.inspect(write("j", json.dumps(dict.fromkeys(["x" * 30, *"abcdef"], 1)) + "\n"))
    assert f"found the keys '{'x' * 19}, 'a', 'b', 'c', 'd' ..." in report.files[0].faults[0]
