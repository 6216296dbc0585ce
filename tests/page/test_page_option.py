"""The option --page: what a page says of files and of the command that made it."""

import hashlib
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from support.files import PREDS, TRUTH, Stdin
from support.markup import parse, read_table

import xmceval
from xmceval.files.io.paths import without_secrets
from xmceval.page.provenance import digest_inputs

B = "4 5\n0:0.1 3:0.8\n1:.5 2:.1\n3:1\n4:.5 3:.4\n"
ASKED = ("-k", "1", "-m", "P")


@pytest.fixture
def files(tmp_path):
    for name, content in {"t.txt": TRUTH, "a.txt": PREDS, "-b $x.txt": B, "b.rows.npz": ""}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def read_files(page):
    """Return the table of the files that were read."""
    return next(table for each in parse(page).all("table") if "SHA-256" in (table := read_table(each))[0])[1:]


def test_a_page_tells_how_to_make_it_again(files, run):
    words = ("compare", "--page", "p.html", *ASKED, "-q", "--", "t.txt", "it's=a.txt", "-b $x.txt")
    code, table, err = run(*words)
    assert (code, err) == (0, "")
    assert table == run("compare", *words[3:])[1], "the page is written in addition to the table"
    page = (files / "p.html").read_text(encoding="utf-8")
    command = parse(page).all("pre")[0].text
    assert command == """xmceval compare --page p.html -k 1 -m P -- t.txt 'it'"'"'s=a.txt' '-b $x.txt'"""
    (files / "p.html").unlink()
    assert run(*shlex.split(command)[1:])[0] == 0
    assert (files / "p.html").read_text(encoding="utf-8") == page

    names = ("t.txt", "a.txt", "-b $x.txt")
    digests = {name: hashlib.sha256((files / name).read_bytes()).hexdigest() for name in names}
    listed = read_files(page)
    assert {row[0]: row[3] for row in listed} == digests
    assert [row[1] for row in listed] == ["truth", "predictions", "predictions"]


def test_titles_and_tests_of_a_page_are_those_of_its_systems_and_its_command(files, run):
    assert run("score", "t.txt", "My $x=a.txt", "--page", "p.htm", *ASKED)[0] == 0
    root = parse((files / "p.htm").read_text(encoding="utf-8"))
    assert root.all("h1")[0].text == "My $x on t.txt"
    assert root.all("title")[0].text == "My $x on t.txt"
    assert root.all("pre")[0].text == "xmceval score t.txt 'My $x=a.txt' --page p.htm -k 1 -m P"
    asked = ("t.txt", "a.txt", "b=-b $x.txt", *ASKED, "-q")
    for command, ids in (("score", set()), ("compare", {"verdict", "differences"})):
        assert run(command, *asked, "--page", f"{command}.html")[0] == 0
        root = parse((files / f"{command}.html").read_text(encoding="utf-8"))
        assert root.all("h1")[0].text == "a and b on t.txt"
        assert {each.attributes["id"] for each in root.all("section")} & {"verdict", "differences"} == ids


def test_the_title_names_the_data_set_if_it_is_known(files, run):
    asked = ("t.txt", "a.txt", *ASKED, "--dataset", "Bibtex", "-m", "PSP", "--train", "t.txt", "-q")
    assert run("score", *asked, "--page", "p.html")[0] == 0
    root = parse((files / "p.html").read_text(encoding="utf-8"))
    assert [root.all(tag)[0].text for tag in ("h1", "title")] == 2 * ["a on Bibtex"]


def test_the_page_of_a_benchmark_has_its_tables_and_files(files, run):
    """Each data set and the mean has a table; values, the picture, and digests of what was read stand on one page."""
    tables = [f"[datasets.{name}]\ntruth = 't.txt'\n" for name in ("one", "two")]
    Path("b.toml").write_text(f"metrics = 'P@1'\n{''.join(tables)}[systems]\na = 'a.txt'\nb = '-b $x.txt'\n")
    code, _, _ = run("benchmark", "b.toml", "-q", "--page", "b.html")
    assert code == 0
    root = parse((files / "b.html").read_text(encoding="utf-8"))
    assert [root.all(tag)[0].text for tag in ("h1", "title")] == 2 * ["2 systems on one and two"]
    shown = ["verdict", "results", "pictures", "definitions", "provenance"]
    assert [section.attributes["id"] for section in root.all("section")] == shown
    values = [cell.text for cell in root.all("section", id="results")[0].all("span", class_="value")]
    found = xmceval.benchmark("b.toml")
    means = [found.means[name]["P@1"] for name in "ab"]
    assert [value.split()[0] for value in values[-2:]] == [f"{100 * mean:.2f}" for mean in means]
    assert len(values) == 6
    text = root.all("section", id="provenance")[0].text
    for name in ("b.toml", "t.txt", "a.txt", "-b $x.txt"):
        assert hashlib.sha256(Path(name).read_bytes()).hexdigest() in text


def test_the_page_of_saved_rows_names_their_files(files, run):
    for name in ("a.txt", "b=-b $x.txt"):
        assert run("score", "t.txt", name, *ASKED, "-q", "--save-rows", f"{name[0]}.rows.npz", "--force")[0] == 0
    assert run("compare", "a.rows.npz", "b.rows.npz", "-q", "--page", "p.html")[0] == 0
    page = (files / "p.html").read_text(encoding="utf-8")
    assert [row[:2] for row in read_files(page)] == [
        [name, "values per instance"] for name in ("a.rows.npz", "b.rows.npz")
    ]
    assert parse(page).all("pre")[0].text == "xmceval compare a.rows.npz b.rows.npz --page p.html"
    assert parse(page).all("section", id="verdict")


def test_training_labels_in_shards_count_as_the_whole(files, run):
    rows, tables = TRUTH.splitlines(keepends=True)[1:], []
    for name, lines in {"n-1.txt": rows[:2], "n-2.txt": rows[2:]}.items():
        (files / name).write_text("2 5\n" + "".join(lines), encoding="utf-8")
    for train in ("t.txt", "n-*.txt"):
        asked = ("-k", "1", "-m", "PSP", "--train", train, "--force")
        assert run("score", "t.txt", "a.txt", "--page", "p.html", *asked)[0] == 0
        page = parse((files / "p.html").read_text(encoding="utf-8"))
        tables.append(read_table(page.all("table")[0]))
    assert tables[0] == tables[1]


@pytest.mark.parametrize("option", [("--page", "p.html"), ("--plot", "x.svg")])
def test_matplotlib_is_asked_for_before_anything_is_read(run, monkeypatch, option):
    monkeypatch.setattr("xmceval.report.pictures.find_spec", lambda _: None)
    message = "Error: drawing pictures needs the package matplotlib (hint: pip install matplotlib)\n"
    assert run("score", "missing.txt", "missing.txt", *option) == (1, "", message)


def test_the_page_is_said_to_be_written_unless_quiet(files, run):
    asked = ("score", "t.txt", "a.txt", *ASKED, "--page", "p.html")
    code, _, err = run(*asked)
    assert code == 0
    page = files / "p.html"
    assert err.splitlines()[-1] == f"wrote p.html ({round(page.stat().st_size / 1e3)} kB)"
    page.write_text("old")
    assert run(*asked, "-q", "--force")[2] == ""
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>"), "it is replaced"


def test_options_of_the_layout_are_those_of_the_page_where_the_other_output_has_none(files, run):
    asked = ("score", "t.txt", "a.txt", *ASKED, "-q", "-o", "json", "--places", "3")
    assert run(*asked, "--page", "p.html")[0] == 0
    assert "75.000" in parse((files / "p.html").read_text(encoding="utf-8")).all("table")[0].text


def test_pipes_have_digests(files, run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin((files / "a.txt").read_bytes()))
    assert run("score", "t.txt", "-", *ASKED, "-q", "--page", "p.html")[0] == 0
    digest = hashlib.sha256((files / "a.txt").read_bytes()).hexdigest()
    rows = read_files((files / "p.html").read_text(encoding="utf-8"))
    assert [(row[0], row[3]) for row in rows][1:] == [("-", digest)]


def test_secrets_of_addresses_are_left_out():
    for address, shown in {
        "s3://user:secret@bucket/a.txt?token=1#x": "s3://bucket/a.txt",
        "https://host/a.txt": "https://host/a.txt",
        "--train=https://user:secret@host/a.txt?token=1": "--train=https://host/a.txt",
        "what?.txt": "what?.txt",
    }.items():
        assert without_secrets(address) == shown


def test_both_files_of_a_pair_have_digests(tmp_path):
    for part in ("labels", "scores"):
        np.save(tmp_path / f"x-{part}.npy", np.zeros((2, 2)))
    digests = digest_inputs([("truth", tmp_path / "x")], 2)
    contents = [(tmp_path / f"x-{part}.npy").read_bytes() for part in ("labels", "scores")]
    assert [each.sha256 for each in digests] == [hashlib.sha256(each).hexdigest() for each in contents]
    assert [(each.role, each.n_bytes) for each in digests] == [("truth", len(each)) for each in contents]
