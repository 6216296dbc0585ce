"""Messages: names and texts of others cannot begin a line of stderr, whatever characters they have."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest
from support.processes import COMMANDS
from support.sample import SAMPLE
from support.states import forge

import xmceval
from xmceval import DataError, XmcevalWarning

Written = namedtuple("Written", "out err")
EVIL = "a\nError: all is lost\x1b]0;title\x07\x9b2J\u202etxt"
HARMLESS = "a\\nError: all is lost\\x1b]0;title\\x07\\x9b2J\\u202etxt"


@pytest.fixture
def run(run):
    shutil.copy(SAMPLE / "tst_X_Y.txt", "t.txt")
    shutil.copy(SAMPLE / "model_a.txt", "p.txt")

    return lambda *args: Written(*run(*args)[1:])


def check(text):
    """Check that a text has no control characters, and none of its lines begins inside a name."""
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert not any(line.startswith("Error: all is lost") for line in text.splitlines())


# What each command says of a file that is missing, or is not what it takes.
ARGUMENTS = {
    "compare": ["t.txt", EVIL, "p.txt"],
    "benchmark": [EVIL],
    "inspect": [EVIL, "t.txt"],
    "convert": [EVIL, "x.npz"],
    "datasets": [EVIL],
    "guide": [EVIL],
    "warm": [EVIL],
    "metrics": [EVIL],
    "merge": [EVIL],
    "score": ["t.txt", EVIL],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("exists", [False, True])
def test_names_of_files_are_escaped_in_errors(run, command, exists):
    if exists:
        Path(EVIL).write_text("3 \x1b[31m\n")
    out, err = run(command, *ARGUMENTS[command])
    check(err)
    assert "\\x1b" in err + out


def test_names_of_files_are_escaped_in_notes_warnings_and_reports(run):
    shutil.copy("t.txt", EVIL)
    for words in (
        ["score", EVIL, "p.txt", "-v", "-m", "P,PSP"],
        ["score", EVIL, "p.txt", "--strict", "-m", "PSP"],
        ["convert", EVIL, f"{EVIL}.npz", "-v"],
        ["inspect", EVIL, "p.txt"],
    ):
        out, err = run(*words)
        check(err + out)
        assert "\\x1b" in err + out, words


@pytest.mark.parametrize("option", [f"--x{EVIL}", f"--order={EVIL}"])
def test_wrong_usage_is_escaped(run, option):
    check(run("convert", "p.txt", "x.npz", option).err)


def test_warnings_of_states_are_escaped(run):
    run("score", "t.txt", "p.txt", "-m", "P", "--save-state", "1.state", "-q")
    Path("2.state").write_bytes(forge(Path("1.state").read_bytes(), doubts=[EVIL]))
    for words in (["merge", "2.state"], ["merge", "2.state", "--strict"], ["inspect", "2.state"]):
        out, err = run(*words)
        check(out + err)
    assert f"doubt: {HARMLESS}\n" in run("merge", "2.state").err
    with pytest.warns(XmcevalWarning) as caught:
        xmceval.merge(["2.state"])
    assert HARMLESS in {str(each.message) for each in caught}


def test_lines_of_an_error_are_its_own(run):
    with pytest.raises(DataError) as error:
        xmceval.score("none\n.txt", EVIL, k=1)
    assert str(error.value).splitlines() == ["none\\n.txt: no such file", f"{HARMLESS}: no such file"]
    assert str(DataError("one\x07", "two\r")) == "one\\x07\ntwo\\r"
    assert str(DataError("é 猫 👩\u200d🚀 \\n")) == "é 猫 👩\u200d🚀 \\n"


def test_folders_in_the_way_are_named_without_their_control_characters(run):
    Path(f"{EVIL}.html").mkdir()
    _, err = run("score", "t.txt", "p.txt", "--page", f"{EVIL}.html")
    check(err)
    assert HARMLESS in err
