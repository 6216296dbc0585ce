"""Inspect: what a file is, whether score accepts it, and the usual mistakes with truth and predictions."""

# ruff: noqa: F401 - lines use what is imported here

import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from support.approved import check_lines
from support.files import body, write, write_matrix

import xmceval


@pytest.fixture
def made(rng):
    """A truth and predictions of a good model, 400 rows of 60 labels, and their matrices."""
    topics, topic = np.arange(60) % 12, rng.integers(0, 12, 400)  # labels that are true together
    truth = (rng.random((400, 60)) < np.where(topics == topic[:, None], 0.6, 0.01)).astype(float)
    scores = np.where(truth + (rng.random((400, 60)) < 0.1) > 0, rng.random((400, 60)) + 0.5 * truth, -np.inf)
    write_matrix("t.txt", truth, "truth")
    write_matrix("p.txt", scores)
    return truth, scores


def said(*paths, **options):
    """Return a report, or the message that there is none."""
    return str(xmceval.inspect([*paths], **options))


def details(*paths, **options):
    return xmceval.inspect([*paths], **options).to_text(verbose=True)


def hits(*paths):
    (pair,) = xmceval.inspect([*paths]).pairs
    return pair.precision_at_1, pair.precision


def scored_with(path, **options):
    """Return how a file is read as predictions and as truth by score: P@1, or the message of a refusal."""
    found = []
    for inputs in (("1 1", path), (path, "1 1")):
        files = [write("lists", "0,1\n1\n") if name == "1 1" else name for name in inputs]
        try:
            found.append(xmceval.score(*files, k=1, metrics="P", **options)["P@1"])
        except xmceval.DataError as error:
            found.append(str(error))
    return found


def test_files_and_pairs_are_reported_in_these_words(made, rng, run):
    truth, scores = made

    def command(*words):
        code, out, err = run(*words)
        return f"exit {code}\n{out}{err}"

    def preds(matrix):
        write_matrix("q.txt", matrix)
        return "q.txt"

    def labels(matrix):
        write_matrix("l.txt", matrix, "truth")
        return "l.txt"

    def archive(name, **arrays):
        np.savez(name, **arrays)
        return name

    def wide():
        save_npz("q.npz", csr_matrix(np.hstack([np.where(scores > -np.inf, scores + 1, 0), np.ones((400, 1))])))
        return "q.npz"

    def folder(**files):
        Path("set").mkdir(exist_ok=True)
        return [shutil.copy(file, f"set/{name}.txt") for name, file in files.items()]

    with zipfile.ZipFile("data.zip", "w") as file:
        file.writestr("tst_X_Y.txt", "1 1\n0:1\n")
    low, pairs = -np.inf, np.argwhere(scores > -np.inf)
    shuffled, moved = scores[rng.permutation(400)], np.roll(scores, 1, axis=1)
    moved[:, 0] = low
    back = np.roll(scores, -1, axis=1)
    back[:, -1] = low
    run_text = "q1 Q0 d7 1 2 tag\nq1 Q0 d9 2 2 tag\nq2 Q0 d7 1 5 tag\n"
    halves = run_text.replace("2 tag", "2.5 tag")  # whole numbers may be grades
    cells = [line.split() for line in halves.splitlines()]
    as_json = json.dumps({q: {c[2]: float(c[4]) for c in cells if c[0] == q} for q in ("q1", "q2")})
    as_csv = "query_id,doc_id,score\n" + "".join(f"{c[0]},{c[2]},{c[4]}\n" for c in cells)
    check_lines(__file__, "reports.txt", globals() | locals())


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


def test_real_files_are_sound_and_belong_together(realdata, run):
    folder = realdata / "cs771_bonsai"
    files = folder / "tst_X_Y.txt.gz", folder / "score_mat.txt.gz", "--train", folder / "trn_X_Y.txt.gz"
    document = json.loads(run("inspect", *files, "-o", "json")[1])
    assert [each["kind"] for each in document["files"]] == ["truth", "scores"]
    assert document["together"][0]["precision_at_1"] == pytest.approx(0.814)
    assert document["together"][0]["warnings"] == document["together"][0]["mistakes"] == []


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


def test_predictions_that_hit_no_more_than_by_chance_are_not_said_to_fit(made):
    write_matrix("popular.txt", np.tile(np.arange(1.0, 61), (400, 1)))
    report = xmceval.inspect(["t.txt", "popular.txt"])
    first = report.pairs[0].first_rows
    assert first.precision_at_1 == pytest.approx(first.random_order)
    assert "t.txt and popular.txt: no problems found: P@1 " in str(report)
