"""The command: whole outputs, exit codes, and what goes to which stream."""

import importlib.metadata
import json
from unittest.mock import Mock

import fsspec
import pytest
from support.approved import check
from support.files import A_ALONE
from support.sample import MODEL_A, MODEL_B, TRAIN, TRUTH

pytestmark = pytest.mark.usefixtures("in_sample")
FROM_TRUTH = (
    "doubt: propensities are estimated from tst_X_Y.txt itself: not comparable with published values "
    "(hint: pass --train FILE)\n"
)


# What is printed.


def test_table_is_whole(run):
    assert run("score", TRUTH, MODEL_A, "--train", TRAIN, "-k", "1,3,5") == (0, A_ALONE, "")


@pytest.mark.parametrize("form", ["table", "csv"])
def test_several_systems_share_one_table_as_it_was_approved(run, form):
    code, out, err = run("score", TRUTH, MODEL_A, MODEL_B, "--train", TRAIN, "-m", "P", "-k", 1, "-o", form)
    out = out.replace(importlib.metadata.version("xmceval"), "VERSION")
    check(__file__, f"score-two.{form}.txt", f"{out}{err}exit code {code}\n")


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


# Options.


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
    assert "(hint: -o" not in err


@pytest.mark.parametrize("args", [(), ("score",), ("score", TRUTH), ("nothing",), ("report",)])
def test_missing_arguments_end_with_2(run, args):
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: xmceval ")
    assert f"No such command '{args[0]}'.\n" in err if args in {("nothing",), ("report",)} else "No such" not in err


def test_the_command_alone_prints_its_help(run):
    assert run()[2] == run("--help")[1]


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


@pytest.mark.parametrize("header", ["3 5 # c", "# 3 5 # c", "3 5\t#c # d", "# about\n3 5 # c"])
def test_a_comment_may_stand_behind_the_header(run, tmp_path, header):
    (tmp_path / "p").write_text(f"{header}\n0:.5\n2:1\n1:1.e2\n")
    assert run("convert", tmp_path / "p", tmp_path / "q")[0] == 0
    assert (tmp_path / "q").read_text() == "3 5\n0:0.5\n2:1\n1:100\n"
