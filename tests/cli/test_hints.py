"""Hints name an argument as who reads them writes it: `train=` in Python, `--train FILE` on the command line."""

import inspect
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from support.files import PREDS, TRUTH, write
from support.processes import COMMANDS

import xmceval
from xmceval.errors import argument, as_here, naming_flags

TWICE = PREDS.replace("4:.5", "3:.5")
CASES = {  # the call in Python, the same command, and the hint of each
    "a file": (
        lambda: xmceval.score("t.txt", "p.txt", metrics="PSP"),
        ["score", "t.txt", "p.txt", "-m", "PSP"],
        "(hint: pass train=)",
        "(hint: pass --train FILE)",
    ),
    "a choice": (
        lambda: xmceval.score("t.txt", "twice.txt"),
        ["score", "t.txt", "twice.txt"],
        "(hint: pass duplicates='max' to count its largest value)",
        "(hint: pass --duplicates max to count its largest value)",
    ),
    "a flag": (
        lambda: xmceval.convert("p.txt", "t.txt"),
        ["convert", "p.txt", "t.txt"],
        "(hint: pass force=True to overwrite)",
        "(hint: pass --force to overwrite)",
    ),
    "another name": (
        lambda: xmceval.score("t.txt", "p.txt", max_weight=3),
        None,
        "max_weight has no effect without sample_weight",
        None,
    ),
    "options that exclude each other": (
        lambda: xmceval.score("t.txt", "p.txt", by_frequency=3, ties="best"),
        ["score", "t.txt", "p.txt", "--by-frequency", "3", "--ties", "best"],
        "by_frequency follows the order by label; it cannot be combined with ties='best'",
        "--by-frequency follows the order by label; it cannot be combined with --ties best",
    ),
    "a name alone": (
        lambda: xmceval.score("t.txt", "p.txt", n_labels=7),
        ["score", "t.txt", "p.txt", "--n-labels", "7"],
        "n_labels is 7, but t.txt",
        "--n-labels is 7, but t.txt",
    ),
}


@pytest.fixture(autouse=True)
def _in_a_folder():
    write("t.txt", TRUTH)
    write("p.txt", PREDS)
    write("twice.txt", TWICE)


@pytest.mark.filterwarnings("always::xmceval.XmcevalWarning")
@pytest.mark.parametrize("case", CASES)
def test_a_hint_is_in_the_words_of_who_reads_it(case, recwarn, run):
    call, command, in_python, in_command = CASES[case]
    said = []
    for _ in range(2):  # before and after a command ran in the same process
        try:
            call()
        except xmceval.XmcevalError as error:
            said.append(str(error))
        said += [str(each.message) for each in recwarn]
        recwarn.clear()
        assert in_python in "\n".join(said)
        assert " --" not in "\n".join(said)
        if command is not None:
            assert in_command in run(*command)[2]


@pytest.mark.parametrize("elsewhere", [("--threads", "2"), ("--dask", "local:1")])
def test_what_a_command_finds_in_other_threads_and_processes_names_options(elsewhere, run):
    if "--dask" in elsewhere:
        pytest.importorskip("distributed")
    error = run("score", "t.txt", "twice.txt", *elsewhere)[2]
    assert "(hint: pass --duplicates max to count its largest value)" in error


def test_python_in_another_thread_is_not_told_of_options_while_a_command_runs():
    said = []
    with naming_flags():
        for run in (argument, as_here(argument)):
            thread = threading.Thread(target=lambda run=run: said.append(run("sample_weight")))
            thread.start()
            thread.join()
    assert said == ["sample_weight", "--sample-weight"]


def test_what_messages_name_is_a_keyword_in_python_and_an_option_of_a_command(run):
    sources = [path.read_text(encoding="utf-8") for path in Path(xmceval.__file__).parent.rglob("*.py")]
    named = {found for text in sources for found in re.findall(r"(?<![.\w])argument\(\s*[\"'](\w+)", text)}
    assert {"train", "duplicates", "sample_weight"} <= named
    functions = [getattr(xmceval, name) for name in xmceval.__all__ if inspect.isfunction(getattr(xmceval, name))]
    functions.append(xmceval.Result.to_markdown)  # of the layout
    keywords = {each for function in functions for each in inspect.signature(function).parameters}
    helps = [run(name, flag)[1] for name in COMMANDS for flag in ("--help", "--help-all")]
    flags = {flag for text in helps for flag in re.findall(r"(?m)^  (?:-\w, )?(-[-\w]+)", text)}
    assert named - keywords == set()
    with naming_flags():
        assert {argument(name) for name in named} - flags == set()


def test_arrays_are_hinted_at_in_python():
    with pytest.warns(xmceval.XmcevalWarning, match=r"\(hint: pass train=\)$"):
        xmceval.score(np.eye(3), np.eye(3), metrics="PSP", k=1)


def test_how_an_argument_is_written_is_asked_in_one_place():
    package = Path(xmceval.__file__).parent
    asking = [path for path in package.rglob("*.py") if "names_flags" in path.read_text(encoding="utf-8")]
    assert asking == [package / "errors.py"]


def test_a_list_of_words_is_not_taken_for_files():
    for words in (["red", "blue"], ["1", "2"]):
        with pytest.raises(xmceval.DataError, match=rf"^{words[0]}: no such file \(hint: labels by name are "):
            xmceval.score(words, np.eye(2))
