"""The command: whole outputs, exit codes, and what goes to which stream."""

import importlib.metadata
import json
from pathlib import Path
from unittest.mock import Mock

import fsspec
import numpy as np
import pytest
from support.approved import check
from support.files import A_ALONE
from support.sample import MODEL_A, MODEL_B, SAMPLE, TRAIN, TRUTH

pytestmark = pytest.mark.usefixtures("in_sample")
FROM_TRUTH = (
    "doubt: propensities are estimated from tst_X_Y.txt itself: not comparable with published values "
    "(hint: pass --train FILE)\n"
)


def fields(table):
    """Return the rows of a table as words."""
    return [line.split() for line in table.splitlines()]


# What is printed.


def test_table_is_whole(run):
    assert run("score", TRUTH, MODEL_A, "--train", TRAIN, "-k", "1,3,5") == (0, A_ALONE, "")


@pytest.mark.parametrize("form", ["table", "csv"])
def test_several_systems_share_one_table_as_it_was_approved(run, form):
    code, out, err = run("score", TRUTH, MODEL_A, MODEL_B, "--train", TRAIN, "-m", "P", "-k", 1, "-o", form)
    out = out.replace(importlib.metadata.version("xmceval"), "VERSION")
    check(__file__, f"score-two.{form}.txt", f"{out}{err}exit code {code}\n")


def test_facts_that_differ_stand_at_each_system(run, tmp_path):
    shorter = tmp_path / "shorter.txt"
    lines = (SAMPLE / MODEL_A).read_text().splitlines()
    shorter.write_text("\n".join(lines[:1] + [line.partition(" ")[0] for line in lines[1:]]) + "\n")
    _, out, _ = run("score", TRUTH, MODEL_A, shorter, "-m", "P@3")
    assert out.splitlines()[0] == (
        "500 instances · 300 labels · 3.33 true labels and 0.996 to 14.8 predictions per instance"
    )
    assert "\nshorter: 500 of 500 instances have fewer than 3 predictions" in out


def test_columns_stay_aligned_with_gaps_and_wide_values(run):
    _, out, _ = run("score", TRUTH, MODEL_A, "-m", "P@1", "-m", "DCG@100", "-m", "Hit@10,1", "-q")
    assert out.splitlines()[1:5] == [
        "         @1          @100           @10",
        "P     68.60 ±4.08",
        "DCG                  1.51 ±0.07",
        "Hit   68.60 ±4.08                 94.40 ±2.02",
    ]


def test_json_has_its_spine(run):
    _, out, _ = run("score", TRUTH, MODEL_A, MODEL_B, "--train", TRAIN, "-m", "P", "-m", "PSP", "-k", 5, "-o", "json")
    captured = json.loads(out)
    assert captured["schema"] == "xmceval/score/3"
    assert (captured["n_instances"], captured["n_labels"], captured["n_true"]) == (500, 300, 1665)
    assert captured["empty_rows"] == {"number": 6, "treated_as": "zero"}
    known = {"a": 0.55, "b": 1.5, "n": 1000, "source": "trn_X_Y.txt", "from_truth": False}
    assert known.items() <= captured["propensities"].items()
    assert [system["name"] for system in captured["systems"]] == ["model_a", "model_b"]
    system = captured["systems"][0]
    assert list(system["metrics"]) == ["P@5", "PSP@5"]
    assert system["short_rows"] == {"5": 8}
    assert system["ties"]["rows_across_cut"] == {"5": 3}
    metric = system["metrics"]["P@5"]
    assert metric["value"] == 0.374
    assert metric["low"] < metric["tie_low"] <= metric["value"] < metric["tie_high"] < metric["high"]
    assert metric["definition"] == "hits / k; mean over instances; k = 5"


def test_json_flags_propensities_of_the_truth(run):
    _, out, err = run("score", TRUTH, MODEL_A, "-m", "PSP", "-k", 1, "-o", "json")
    assert json.loads(out)["propensities"]["from_truth"] is True
    assert FROM_TRUTH in err


def test_verbose_tells_what_was_inferred_and_quiet_doubts_alone(run):
    _, _, err = run("score", TRUTH, MODEL_A, "--train", TRAIN, "-v")
    notes = [line for line in err.splitlines() if line.startswith("note: ")]
    for name, header in ((TRUTH, "500 300"), (TRAIN, "1000 300"), (MODEL_A, "500 300")):
        how = f"text, rows of idx:value, header '{header}'; rows by position, labels by number"
        assert f"note: {name}: {how}" in notes
    assert run("score", TRUTH, MODEL_A, "-q")[2] == FROM_TRUTH


# Options.


def test_propensities_come_from_where_one_says(run, tmp_path):
    counts, inverse = tmp_path / "counts.txt", tmp_path / "inverse.npy"
    train = [line.split() for line in (SAMPLE / TRAIN).read_text().splitlines()[1:]]
    found = np.bincount([int(pair.partition(":")[0]) for line in train for pair in line], minlength=300)
    counts.write_text("\n".join(map(str, found)) + "\n")
    constant = (np.log(1000) - 1) * 2.5**0.55
    np.save(inverse, 1 + constant * (found + 1.5) ** -0.55)
    asked = ("score", TRUTH, MODEL_A, "-m", "PSP", "-q")
    rows = [
        fields(run(*asked, *options)[1])
        for options in (
            ("--train", TRAIN),
            ("--counts", counts, "--n-train", 1000),
            ("--inverse-propensities", inverse),
        )
    ]
    assert rows[0][2] == rows[1][2] == rows[2][2]
    assert " ".join(rows[1][-1]) == "propensities: A=0.55 B=1.5, N=1,000 from counts.txt"
    assert " ".join(rows[2][-1]) == "inverse propensities from inverse.npy"
    code, _, err = run(*asked, "--counts", counts)
    assert (code, "--n-train" in err) == (2, True)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "A=0.55 B=1.5"),
        (("--dataset", "amazon670k"), "A=0.6 B=2.6"),
        (("--dataset", "WikiLSHTC-325K"), "A=0.5 B=0.4"),
        (("--dataset", "Amazon-670K", "-B", 3), "A=0.6 B=3"),
        (("-A", 0.5, "-B", 0.4), "A=0.5 B=0.4"),
    ],
)
def test_constants_are_presets_or_given(run, options, line):
    out = run("score", TRUTH, MODEL_A, "--train", TRAIN, "-m", "PSP", "-q", *options)[1]
    assert f"propensities: {line}, N=1,000 from trn_X_Y.txt\n" in out


def test_rows_without_truth_are_dropped_on_demand(run):
    _, out, _ = run("score", TRUTH, MODEL_A, "-m", "P@1", "--empty-rows", "drop")
    assert out.startswith("494 instances · ")
    assert fields(out)[2][1] == f"{100 * 343 / 494:.2f}"
    assert "\n6 instances have no true labels: they are left out\n" in out


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("model_a.txt ../sample/model_b.txt", ["model_a", "model_b"]),
        ("ours=model_a.txt model_b.txt", ["ours", "model_b"]),
        ("model_a.txt ours=model_b.txt", ["model_a", "ours"]),
        ("model_a.txt model_a.txt", ["model_a (1)", "model_a (2)"]),
    ],
)
def test_systems_are_named(run, words, names):
    assert named_by(run, TRUTH, *words.split()) == names


def named_by(run, *args):
    """Return the names of systems."""
    out = run("score", *args, "-m", "P@1", "-o", "csv")[1]
    return [line.partition(",")[0] for line in out.splitlines()[1:]]


REMOTE = "memory://names/p.txt"
NAMES = [  # systems, their names, and the files, where they have not the names of the systems
    ("a/x/s.txt b/x/s.txt t.txt", "a/x/s b/x/s t", ""),
    ("a/x/s.txt a/y/s.txt", "x/s y/s", ""),
    ("s.txt a/s.txt", "s a/s", ""),
    ("s.txt s.npz t.trec u.txt.gz", "s.txt s.npz t u", ""),
    ("v1.5 preds-*.npz .txt", "v1.5 preds-*.npz .txt", ""),
    ("ours=x.txt", "ours", "x.txt"),
    ("ours=x.txt", "ours=x", ""),  # a file of the very name wins
    ("ours=x*.txt", "ours=x*.txt", "ours=x1.txt"),
    ("memory://names/b=p.txt", "b=p", ""),
    (f"b={REMOTE}", "b", REMOTE),
    ("=p.txt", "=p", ""),
    ("ours=", "ours=", ""),
]


@pytest.mark.parametrize(("words", "names", "files"), NAMES)
def test_names_are_the_shortest_unique_endings_or_those_before_a_sign(run, words, names, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ["truth", *(files or words).split()]:
        with fsspec.open(name if "://" in name else tmp_path / name, "w", auto_mkdir=True) as file:
            file.write("1 2\n0:1\n")
    assert named_by(run, "truth", *words.split()) == names.split()


def test_file_names_may_be_of_any_letters(run, tmp_path):
    name = tmp_path / "précision 日本.txt"
    name.write_bytes((SAMPLE / MODEL_A).read_bytes())
    asked = ("score", TRUTH, name, MODEL_B, "-m", "P@1", "-q")
    assert "\nprécision 日本   68.60 ±4.08\n" in run(*asked)[1]
    assert json.loads(run(*asked, "-o", "json")[1])["systems"][0]["name"] == "précision 日本"


# Mistakes.

# Before 8.4, click lists options without quotes.
QUOTES = tuple(map(int, importlib.metadata.version("click").split(".")[:2])) >= (8, 4)
USAGE = {  # of click, in words that change with its version
    "form": (("-o", "xml"), "'--output-format': 'xml' is not one of 'table', 'md', 'latex', 'csv', 'json'"),
    "choice": (("--empty-rows", "x"), "Invalid value for '--empty-rows': 'x' is not one of 'zero', 'drop'."),
    "option": (("--bogus",), "--bogus"),
    "a letter of an option": (("--trian", TRAIN), "'--train'" if QUOTES else ": --n-train, --train, "),
    "an option of before": (("--shard-dirs",), "No such option"),
}


@pytest.mark.parametrize("name", USAGE)
def test_wrong_usage_ends_with_2(run, name):
    options, message = USAGE[name]
    code, out, err = run("score", TRUTH, MODEL_A, *options)
    assert (code, out) == (2, "")
    assert "Error: " in err
    assert message in err


def test_patterns_that_the_shell_expands_are_refused(run, tmp_path, monkeypatch):
    truth, scores = (Path(name).read_text().splitlines()[1:] for name in (TRUTH, MODEL_A))
    monkeypatch.chdir(tmp_path)
    for name, rows in (("truth", truth), ("p", scores)):
        for part in (1, 2):
            Path(f"{name}-{part}.txt").write_text("\n".join(rows[part::2]) + "\n")
    code, out, err = run("score", "truth-1.txt", "truth-2.txt", "p-1.txt", "p-2.txt")
    assert (code, out) == (2, "")
    assert "truth-2.txt is passed as predictions, but is named like the truth, truth-1.txt" in err
    assert "quote it, as in 'truth-*.txt'" in err
    assert run("score", "truth-*.txt", "p-*.txt", "-q")[0] == 0
    assert run("score", "truth-1.txt", "p-1.txt", "new=truth-1.txt", "-q")[0] == 0


@pytest.mark.parametrize("args", [(), ("score",), ("score", TRUTH), ("nothing",), ("report",)])
def test_missing_arguments_end_with_2(run, args):
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: xmceval ")
    assert f"No such command '{args[0]}'.\n" in err if args in {("nothing",), ("report",)} else "No such" not in err


def test_the_command_alone_prints_its_help(run):
    assert run()[2] == run("--help")[1]


@pytest.mark.parametrize(("word", "meant"), [("scor", "score"), ("compair", "compare"), ("metric", "metrics")])
def test_a_mistyped_command_gets_a_similar_one(run, word, meant):
    code, out, err = run(word, TRUTH)
    assert (code, out) == (2, "")
    assert err.endswith(f"\nError: No such command '{word}'; did you mean {meant}?\n")


def test_labels_that_the_truth_lacks_are_refused(run, tmp_path):
    assert run("score", MODEL_A, TRUTH)[0] == 1
    train = tmp_path / "train.txt"
    train.write_text("3 299\n1:1\n2:1\n3:1\n")
    message = f"Error: {train} has 299 labels, but tst_X_Y.txt has 300 labels\n"
    assert run("score", TRUTH, MODEL_A, "--train", train) == (1, "", message)


def test_the_truth_as_its_own_predictions_is_reported(run, tmp_path):
    (tmp_path / "link.txt").symlink_to(Path(TRUTH).resolve())
    line = f"doubt: the predictions are {TRUTH} itself: the values look like a perfect model's\n"
    for preds in (TRUTH, tmp_path / "link.txt"):
        assert line.removeprefix("doubt: ") in run("score", TRUTH, preds, "-m", "P@1")[2]
    assert "itself" not in run("score", TRUTH, MODEL_A, "-m", "P@1")[2]


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError("Unable to allocate 9 TiB"), 1, "Error: not enough memory (Unable to allocate 9 TiB)\n"),
        (OSError(28, "No space left on device"), 1, "Error: cannot write the output: No space left on device\n"),
        (KeyboardInterrupt(), 130, "\ninterrupted\n"),
    ],
)
def test_lack_of_memory_or_space_and_interruption_have_their_exit_codes(run, monkeypatch, error, code, message):
    monkeypatch.setattr("xmceval.cli.score.find_inputs", Mock(side_effect=error))
    assert run("score", TRUTH, MODEL_A) == (code, "", message)


# What a review found.


def test_quiet_leaves_the_notes_that_were_asked_for(run):
    _, _, err = run("score", TRUTH, MODEL_A, "-m", "P@1", "-q", "-v")
    assert err.startswith("note: ")
    assert "doubt:" not in err


def test_bins_of_the_truth_do_not_speak_of_training(run):
    _, out, _ = run("score", TRUTH, MODEL_A, "-m", "P@1", "--by-frequency", 2)
    assert "bin 1: 14 labels with 20 to 211 instances of tst_X_Y.txt itself, 50.1% of its positives" in out
    assert "training" not in out


@pytest.mark.parametrize("header", ["3 5 # c", "# 3 5 # c", "3 5\t#c # d", "# about\n3 5 # c"])
def test_a_comment_may_stand_behind_the_header(run, tmp_path, header):
    (tmp_path / "p").write_text(f"{header}\n0:.5\n2:1\n1:1.e2\n")
    assert run("convert", tmp_path / "p", tmp_path / "q")[0] == 0
    assert (tmp_path / "q").read_text() == "3 5\n0:0.5\n2:1\n1:100\n"
