"""`xmceval report`: what it refuses before it scores anything, and what it adds to a page about files."""

import hashlib
import shlex
from functools import partial

import numpy as np
import pytest
from support.files import PREDS, TRUTH
from support.markup import parse, read_table

from xmceval.cli.commandline import without_secrets
from xmceval.files.io.digests import digest_files

B = "4 5\n0:0.1 3:0.8\n1:.5 2:.1\n3:1\n4:.5 3:.4\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in {"t.txt": TRUTH, "a.txt": PREDS, "-b $x.txt": B, "a.rows.npz": ""}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(run):
    return partial(run, "report")


def test_a_page_tells_how_to_make_it_again(files, run):
    words = ("--html", "p.html", "-k", "1", "-m", "P", "-q", "--name", "it's", "--", "t.txt", "a.txt", "-b $x.txt")
    assert run(*words) == (0, "", "")
    page = (files / "p.html").read_text(encoding="utf-8")
    root = parse(page)
    command = root.all("pre")[0].text
    assert command == """xmceval report --html p.html -k 1 -m P --name 'it'"'"'s' -- t.txt a.txt '-b $x.txt'"""
    (files / "p.html").unlink()
    assert run(*shlex.split(command)[2:])[0] == 0
    assert (files / "p.html").read_text(encoding="utf-8") == page

    digests = {
        name: hashlib.sha256((files / name).read_bytes()).hexdigest() for name in ("t.txt", "a.txt", "-b $x.txt")
    }
    table = next(read_table(each) for each in root.all("table") if "SHA-256" in each.text)
    assert {row[0]: row[3] for row in table[1:]} == digests
    assert [row[1] for row in table[1:]] == ["truth", "predictions", "predictions"]


@pytest.mark.usefixtures("files")
def test_the_page_of_one_system_on_standard_output(run):
    code, page, _ = run("t.txt", "a.txt", "--html", "-", "-k", "1", "-m", "P", "--title", "My $x")
    assert code == 0
    root = parse(page)
    assert root.all("h1")[0].text == "My $x"
    command = "xmceval report t.txt a.txt --html - --title 'My $x' -k 1 -m P"
    assert root.all("pre")[0].text == command


def test_training_labels_in_shards_count_as_the_whole(files, run):
    rows = TRUTH.splitlines(keepends=True)
    header, first, second = "2 5\n", rows[1:3], rows[3:5]
    for name, lines in {"n-1.txt": first, "n-2.txt": second}.items():
        (files / name).write_text(header + "".join(lines), encoding="utf-8")
    tables = []
    for train in ("t.txt", "n-*.txt"):
        code, page, _ = run("t.txt", "a.txt", "--html", "-", "-k", "1", "-m", "PSP", "--train", train)
        assert code == 0
        tables.append([read_table(table) for table in parse(page).all("table")])
    assert tables[0][0] == tables[1][0]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("t.txt", "a.txt", "--html", "a.txt"), 2, "--html a.txt: expected a name that ends with .html"),
        (("t.txt", "a.txt", "--html", "-", "--open"), 2, "--open needs a local file"),
        (
            ("t.txt", "a.txt", "--html", "p.html", "--seed", "1", "--test", "t"),
            2,
            "--test, --seed needs at least two systems",
        ),
        (("t.txt", "--html", "p.html"), 2, "nothing to report"),
        (("a.rows.npz", "--html", "p.html"), 2, "a.rows.npz: a report needs predictions, not per-instance values"),
        (("t.txt", "a.txt", "--html", "missing/p.html"), 2, "there is no folder"),
        (("t.txt", "gone.txt", "--html", "p.html"), 1, "gone.txt: no such file"),
    ],
)
def test_what_is_refused_leaves_no_file(files, run, monkeypatch, arguments, code, message):
    if "gone.txt" not in arguments:
        monkeypatch.setattr("xmceval.api.page.make_page", lambda *_, **__: pytest.fail("it was scored"))
    before = sorted(files.iterdir())
    found, _, err = run(*arguments)
    assert found == code
    assert message in err
    assert sorted(files.iterdir()) == before


@pytest.mark.usefixtures("files")
def test_matplotlib_is_asked_for_before_anything_is_scored(run, monkeypatch):
    monkeypatch.setattr("xmceval.report.pictures.find_spec", lambda _: None)
    monkeypatch.setattr("xmceval.api.page.make_page", lambda *_, **__: pytest.fail("it was scored"))
    code, _, err = run("t.txt", "a.txt", "--html", "p.html")
    assert code == 1
    assert "pip install 'xmceval[plot]'" in err


def test_the_page_is_report_html_and_is_said_to_be_written_unless_quiet(files, run):
    asked = ("t.txt", "a.txt", "-k", "1", "-m", "P")
    code, _, err = run(*asked)
    assert code == 0
    page = files / "report.html"
    assert err.splitlines()[-1] == f"wrote report.html ({page.stat().st_size / 1e6:.1f} MB)"
    page.write_text("old")
    assert run(*asked, "-q")[0] != 0
    assert page.read_text() == "old"
    assert run(*asked, "-q", "--force")[2] == ""
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>"), "it is replaced"
    assert "wrote" not in run(*asked, "--html", "-")[2]


def test_open_shows_the_page(files, run, monkeypatch):
    opened = []
    monkeypatch.setattr("click.launch", lambda address: opened.append(address) or 0)
    assert run("t.txt", "a.txt", "--html", "p q.html", "--open", "-k", "1", "-m", "P", "-q")[0] == 0
    assert opened == [(files / "p q.html").as_uri()]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("s3://user:secret@bucket/a.txt?token=1#x", "s3://bucket/a.txt"),
        ("https://host/a.txt", "https://host/a.txt"),
        ("what?.txt", "what?.txt"),
    ],
)
def test_secrets_of_addresses_are_left_out(address, shown):
    assert without_secrets(address) == shown


def test_both_files_of_a_pair_have_digests(tmp_path):
    for part in ("labels", "scores"):
        np.save(tmp_path / f"x-{part}.npy", np.zeros((2, 2)))
    [digests] = digest_files([tmp_path / "x"], 2)
    contents = [(tmp_path / f"x-{part}.npy").read_bytes() for part in ("labels", "scores")]
    assert [each.sha256 for each in digests] == [hashlib.sha256(each).hexdigest() for each in contents]
    assert [each.n_bytes for each in digests] == [len(each) for each in contents]
