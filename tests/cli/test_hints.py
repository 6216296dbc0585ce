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


def test_what_a_command_finds_in_other_processes_names_options(run):
    pytest.importorskip("distributed")
    error = run("score", write("t.txt", TRUTH), write("twice.txt", TWICE), "--dask", "local:1")[2]
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


def test_how_an_argument_is_written_is_asked_in_one_place():
    package = Path(xmceval.__file__).parent
    asking = [path for path in package.rglob("*.py") if "names_flags" in path.read_text(encoding="utf-8")]
    assert asking == [package / "errors.py"]


def test_a_doubt_of_arrays_is_hinted_at_in_python():
    with pytest.warns(xmceval.XmcevalWarning, match=r"\(hint: pass train=\)$"):
        xmceval.score(np.eye(3), np.eye(3), metrics="PSP", k=1)
