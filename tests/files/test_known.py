"""The listing of formats: each example is a file that is read as just that format, and what commands print of it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from xmceval.cli import cli
from xmceval.errors import UsageError
from xmceval.files.formats.format import SCORES, TRUTH
from xmceval.files.formats.formattable import FORMATS, find_formats, list_tools
from xmceval.files.formats.sidecarformats import BESIDE
from xmceval.files.opening import open_scores, open_truth
from xmceval.files.saved.rowvalues import read_row_values
from xmceval.files.sidecars.filterfile import read_filter
from xmceval.files.sidecars.labelnames import read_names
from xmceval.files.sidecars.numbers import read_numbers
from xmceval.files.text.grammars import GRAMMARS
from xmceval.files.writing.writtenformats import WRITTEN_FORMATS
from xmceval.rows.block import Scratch

NAMES = {
    "names": ["red", "blue", "green"],
    "tabbed-names": ["light red", "blue", "green"],
    "comma-names": ["1001", "1003", "1005"],
}
BESIDE_NAMES = [each.name for each in BESIDE]
READERS = {
    "filter": lambda path: read_filter(path).rows.size == 3,
    "label-names": lambda path: len(read_names(path)) == 3,
    "numbers": lambda path: read_numbers(path).tolist() == [1.25, 3.5, 2.75],
    "row-values": lambda path: read_row_values(path).metrics == ("map",),
}
SAMPLES = [
    pytest.param(name, sample, id=f"{name}-{i}")
    for name, known in FORMATS.items()
    if name not in BESIDE_NAMES
    for i, sample in enumerate(known.samples)
]


def run(*words):
    return CliRunner().invoke(cli, ["formats", *words])


def make(sample):
    if sample.is_python:
        exec(sample.content, {})
    else:
        Path(sample.file).write_text(sample.content, newline="")
    return sample.file


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_an_example_is_read_as_its_format(tmp_path, monkeypatch, name, sample):
    monkeypatch.chdir(tmp_path)
    names = None
    if name in NAMES:
        Path("names").write_text("\n".join(NAMES[name]) + "\n")
        names = read_names("names")
    judgments = None
    if sample.beside:
        (truth,) = FORMATS[sample.beside].samples
        Path("truth").write_text(truth.content)
        judgments = open_truth("truth").judgments
    if "pyarrow" in sample.content:
        pytest.importorskip("pyarrow")
    path = make(sample)
    for role in [each for each in (TRUTH, SCORES) if sample.about.startswith(each)] or FORMATS[name].holds:
        opened = open_truth(path, names=names) if role == TRUTH else open_scores(path, names=names, judgments=judgments)
        assert opened.format is FORMATS[name]
        assert FORMATS[name].title in opened.description
        rows = [block.rows(Scratch()) for block in opened.source.blocks()]
        assert sum(len(each.indices) for each in rows) > 0


@pytest.mark.parametrize("name", BESIDE_NAMES)
def test_an_example_for_an_option_is_read_by_its_reader(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for sample in FORMATS[name].samples:
        assert READERS[name](make(sample))


def test_every_grammar_and_every_form_of_convert_is_listed():
    titles = {known.title for known in FORMATS.values()}
    assert all(set(FORMATS[name].holds) & {TRUTH, SCORES} for name in GRAMMARS)
    assert {form for known in FORMATS.values() for form in known.converted} == set(WRITTEN_FORMATS)
    assert len(titles - {""}) == len(FORMATS) - len(BESIDE)


def test_formats_and_tools_are_found_in_any_spelling():
    assert find_formats("NPY pair")[0] == "npy-pair"
    name, formats = find_formats("attention-xml")
    assert (name, list(formats)) == ("AttentionXML", ["names", "npy-pair", "label-names"])
    assert [find_formats(word)[0] for word in ("fasttext", "fastText", "FASTTEXT")] == [
        "fasttext",
        "fastText",
        "fasttext",
    ]
    assert find_formats("dismec++")[0] == "DiSMEC++"
    assert list(find_formats("dismec")[1]) == ["labels", "ids"]
    with pytest.raises(UsageError, match=r"unknown .* 'fastex' \(did you mean fasttext\?\); expected a tool"):
        find_formats("fastex")
    with pytest.raises(UsageError, match="unknown format or tool 'qqqqqq'; expected a tool, or one of pairs, "):
        find_formats("qqqqqq")


def test_the_tools_of_the_field_are_listed():
    tools = ["AttentionXML", "LightXML", "PECOS", "napkinXC", "XR-Transformer", "DiSMEC", "omikuji", "fastText", "TREC"]
    assert set(tools) <= set(list_tools())


def test_the_list_has_every_format_once():
    lines = run().stdout.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "] == sorted(
        FORMATS, key=lambda name: {(TRUTH, SCORES): 0, (TRUTH,): 1, (SCORES,): 2}.get(FORMATS[name].holds, 3)
    )
    assert max(map(len, lines)) <= 80


def test_a_format_has_its_examples_and_tools():
    text = run("scored").stdout
    assert text.startswith("scored: text of label, blank and score, with tabs between\n  read as       predictions\n")
    assert "  written by    omikuji: what omikuji test writes to --out_path\n" in text
    assert text.endswith(
        "\n  predictions.tsv\n    3 0.912<TAB>17 0.344<TAB>5 0.1\n    17 0.5\n\n    8 0.777<TAB>3 0.001\n"
    )
    assert "  written with  xmceval convert --to omikuji\n" in text


def test_a_tool_has_the_formats_of_its_files():
    assert run("lightxml", "omikuji").stdout == (
        "LightXML\n"
        "  names     test_labels.txt as truth\n"
        "  npy-pair  results/NAME-labels.npy and -scores.npy, for Wikipedia-500K and\n"
        "            Amazon-670K; ids are places in the sorted set of all labels, or\n"
        "            names with --labels\n"
        "  npy       the logits of small data sets, which its ensemble reads\n"
        "one format: xmceval formats names\n"
        "\n"
        "omikuji\n"
        "  labels  its data files\n"
        "  scored  what omikuji test writes to --out_path\n"
        "one format: xmceval formats labels\n"
    )


def test_markdown_has_a_line_per_format():
    lines = run("-o", "md").stdout.splitlines()
    assert lines[1] == "| --- | --- | --- | --- | --- |"
    assert len(lines) == len(FORMATS) + 2
    assert {line.replace("\\|", "").count("|") for line in lines} == {6}


def test_json_has_the_examples_as_they_are():
    (one,) = json.loads(run("scored", "-o", "json").stdout)["formats"]
    assert [each["content"] for each in one["samples"]] == [each.content for each in FORMATS["scored"].samples]
    (one,) = json.loads(run("run", "-o", "json").stdout)["formats"]
    assert (one["title"], one["samples"][0]["beside"]) == ("TREC run", "qrels")
    document = json.loads(run("-o", "json").stdout)
    assert {each["title"] for each in document["formats"] if each["holds"] == ["--filter"]} == {None}
    assert {sample["beside"] for each in document["formats"] for sample in each["samples"]} == {None, "qrels"}
    assert [each["name"] for each in document["formats"]] == list(FORMATS)
