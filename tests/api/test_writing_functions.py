"""Convert: what it writes and returns, and that the command does the same."""

import io
import re

import pytest
from scipy.sparse import load_npz

import xmceval
from xmceval.cli import main
from xmceval.files.writing.writtenformats import WRITTEN_FORMATS

SCORES = "3 5\n3:0.5 1:2\n\n4:0.001\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.txt").write_text(SCORES)
    (tmp_path / "t.txt").write_text("4 3\n0:1\n0:1 2:1\n\n2:1\n")
    return tmp_path


def run(*words):
    with pytest.raises(SystemExit) as leave:
        main([str(word) for word in words])
    return leave.value.code


def test_a_file_is_converted_and_described(folder):
    written = xmceval.convert("p.txt", "p.npz")
    assert (written.n_rows, written.n_labels, written.n_entries, written.warnings) == (3, 5, 3, ())
    assert written.description == "text, rows of idx:value, header '3 5'"
    assert load_npz("p.npz").toarray()[0].tolist() == [0, 2, 0, 0.5, 0]
    xmceval.convert("p.npz", "back.txt")
    assert (folder / "back.txt").read_text() == SCORES


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"top": 1}, "3 5\n1:2\n\n4:0.001\n"),
        ({"order": "label"}, "3 5\n1:2 3:0.5\n\n4:0.001\n"),
        ({"order": "score"}, "3 5\n1:2 3:0.5\n\n4:0.001\n"),
        ({"to": "plain"}, "3:0.5 1:2\n\n4:0.001\n"),
        ({"to": "omikuji"}, "3 0.5\t1 2.0\n\n4 0.001\n"),
        ({"n_labels": 7}, "3 7\n3:0.5 1:2\n\n4:0.001\n"),
    ],
)
def test_options_are_those_of_the_command(capfdbinary, options, text):
    stream = io.BytesIO()
    xmceval.convert("p.txt", stream, **options)
    assert stream.getvalue().decode() == text
    words = {"to": "--to", "order": "--sort", "top": "--top", "n_labels": "--n-labels"}
    assert run("convert", "p.txt", "-", *(part for name in options for part in (words[name], options[name]))) == 0
    assert capfdbinary.readouterr().out.decode() == text


def test_truth_and_names_are_understood(folder):
    (folder / "names").write_text("a\nb\nc\n")
    (folder / "named").write_text("a c\n\nb\n")
    written = xmceval.convert("named", "t2.txt", kind="truth", labels="names")
    assert (folder / "t2.txt").read_text() == "3 3\n0:1 2:1\n\n1:1\n"
    assert written.n_labels == 3
    xmceval.convert("t.txt", "lists", kind="truth", to="lists")
    assert (folder / "lists").read_text() == "0\n0,2\n\n2\n"


def test_what_was_noticed_is_returned(folder):
    (folder / "plain").write_text("3:0.5\n7:1\n")
    (warning,) = xmceval.convert("plain", "q.txt").warnings
    assert "using the largest label + 1, 8 (hint: pass n_labels)" in warning


def test_an_existing_file_is_overwritten_only_by_force(folder):
    with pytest.raises(xmceval.UsageError, match="hint: pass force=True"):
        xmceval.convert("p.txt", "t.txt")
    xmceval.convert("p.txt", "t.txt", force=True)
    assert (folder / "t.txt").read_text() == SCORES


def test_verbose_reports_what_was_read_and_written(capsys):
    assert run("convert", "p.txt", "q.txt", "-v") == 0
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "note: p.txt: text, rows of idx:value, header '3 5'",
        "note: q.txt: 3 rows, 5 labels, 3 entries",
    ]


def test_the_help_lists_every_form(capsys):
    assert run("convert", "--help") == 0
    listed = capsys.readouterr().out.partition("Forms:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^    (\w+)", listed, re.MULTILINE) == list(WRITTEN_FORMATS)
