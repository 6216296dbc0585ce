"""The command: whole outputs, exit codes, and what goes to which stream."""

import importlib.metadata
from unittest.mock import Mock

import pytest
from support.files import A_ALONE
from support.sample import MODEL_A, TRAIN, TRUTH

pytestmark = pytest.mark.usefixtures("in_sample")


# What is printed.


def test_table_is_whole(run):
    assert run("score", TRUTH, MODEL_A, "--train", TRAIN, "-k", "1,3,5") == (0, A_ALONE, "")


# Options.


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
