"""Tables: what is best, what fits, names and captions; all numbers of a form are in its approved output."""

import csv
import io
import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support.approved import check_answers, evaluate

import xmceval
from xmceval.comparison.difference import format_p
from xmceval.errors import UsageError
from xmceval.report.forms.latex import draw as draw_latex
from xmceval.report.forms.plain import clean, text_width
from xmceval.report.score_sheet import build_sheet
from xmceval.report.sheet import BEST, DOWN, UP, Cell, Layout, Listing, Row, Section, Sheet, split_columns

METRICS = ["P", "PSP", "coverage_error", "macroF1@1"]
WIDE = Layout(width=1000)
N = r"\d+(?:\.\d+)?"
INTERVAL = rf"±{N}|{N}\.\.{N}"
STYLE = re.compile(r"\x1b\[\d*m")


def make_scores(n_systems, n_rows=60, n_labels=12, seed=3):
    """Return a truth and systems that find it less well, one after the other."""
    rng = np.random.default_rng(seed)
    y_true = (rng.random((n_rows, n_labels)) < np.linspace(0.5, 0.1, n_labels)).astype(int)
    noise = rng.random((n_systems, n_rows, n_labels))
    return y_true, {f"system {i}": y_true + (1 + 0.4 * i) * noise[i] for i in range(n_systems)}


def compared(n_systems, **options):
    y_true, systems = make_scores(n_systems)
    options = {"metrics": METRICS, "k": (1, 3), "train": y_true, **options}
    return xmceval.compare(y_true, systems, **options)


@pytest.fixture(scope="module")
def four():
    return compared(4, by_frequency=2, ceiling=True)


# What is best.


def made(values, metric="P@1", name="{}"):
    """Return results whose metric has these values."""
    y_true, systems = make_scores(1)
    result = xmceval.score(y_true, systems["system 0"], metrics=metric)
    (figure,) = result.figures
    results = []
    for i, value in enumerate(values):
        estimate = replace(figure.estimate, value=value or 0.0, undefined=value is None)
        results.append(replace(result, name=name.format(i), figures=(replace(figure, estimate=estimate),)))
    return results


def emphases(metric, *values):
    (section,) = build_sheet(made(values, metric)).sections
    return [f"{value}: {row.cells[metric].emphasis}" for value, row in zip(values, section.rows, strict=True)]


def test_the_best_and_the_second_value_are_marked_as_it_was_approved():
    check_answers(__file__, "emphases.txt", lambda line: evaluate(line, globals()))


def test_emphasis_is_the_only_style(four):
    results = xmceval.Results(four.results)
    plain = results._render("table", WIDE)
    assert "\x1b" not in plain
    assert STYLE.sub("", results._render("table", replace(WIDE, is_styled=True))) == plain


# What fits.


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_table_is_as_wide_as_the_terminal_and_complete(four, width):
    text = four._render("table", Layout(width=width, is_terminal=True))
    assert max(map(text_width, text.splitlines())) <= width
    cells, whole = rf"(?<!\S)(?:\d+\.\d+|{INTERVAL})(?!\S)", four._render("table", WIDE)
    assert Counter(re.findall(cells, text)) == Counter(re.findall(cells, whole))


def test_columns_of_a_metric_stay_together():
    assert list(split_columns("abcdef", [3] * 6, 10, (2, 3, 1))) == [("a", "b"), ("c", "d", "e"), ("f",)]
    assert list(split_columns("abcdef", [3] * 6, 7, (2, 3, 1))) == [("a", "b"), ("c", "d"), ("e",), ("f",)]
    assert list(split_columns("ab", [30, 3], 7)) == [("a",), ("b",)]
    assert list(split_columns("abcd", [3] * 4, 9)) == [("a", "b", "c"), ("d",)]


def test_sentences_break_between_facts_where_there_is_no_terminal_and_they_are_long(four):
    text = four._render("table", Layout(width=40))
    lines = text.rstrip().rpartition("\n\n")[2].splitlines()[1:]  # below the size
    verdicts = "\n".join(lines).replace("\n  ", " ").splitlines()
    assert max(map(len, text.splitlines())) <= 110 < max(map(len, verdicts))
    assert {before[-1] for before, line in pairwise(lines) if line.startswith("  ")} <= {";", ","}
    wrapped = four._render("table", Layout(width=40, is_terminal=True)).rstrip().rpartition("\n\n")[2]
    assert wrapped.replace("\n  ", " ").splitlines()[1:] == verdicts


# Names and captions.

NAMES = {
    "<script>": (r"\<script>", r"$<$script$>$"),
    "a_b": ("a_b", r"a\_b"),
    "$x$|y": (r"\$x\$\|y", r"\$x\$$|$\allowbreak{}y"),
    "_x_ `*": (r"\_x\_ \`\*", r"\_x\_ \textasciigrave{}{*}"),
    "[a] {b}": (r"\[a\] {b}", r"{[}a] \{b\}"),
    "50%&amp;": (r"50%\&amp;", r"50\%\&amp;"),
    r"a\b^~#": (r"a\\b^\~#", r"a\textbackslash{}b\textasciicircum{}\textasciitilde{}\#"),
    "@me": ("`@me`", "@me"),
    "naïve Łódź": ("naïve Łódź", r"na\"{i}ve \L{}\'{o}d\'{z}"),
    "β--1": ("β--1", r"\texttt{U+03B2}-{}-1"),
    "\N{GRINNING FACE}": ("\N{GRINNING FACE}", r"\texttt{U+1F600}"),
    "שלום": ("\u2066שלום\u2069", r"\texttt{U+05E9}\texttt{U+05DC}\texttt{U+05D5}\texttt{U+05DD}"),
    "a\nb\x1b[1m": (r"a\\nb\\x1b\[1m", r"a\texttt{U+000A}b\texttt{U+001B}{[}1m"),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_shown_as_they_are(name):
    results = [*made([0.1], name=name.replace("{", "{{").replace("}", "}}")), *made([0.2], name="other")]
    markdown, latex = NAMES[name]
    assert f"| {markdown} " in xmceval.Results(results)._render("md")
    text = xmceval.Results(results)._render("latex")
    assert re.search(rf"^    {re.escape(latex)} & 10\.00 \\\\$", text, re.MULTILINE)
    assert all(line.startswith("%") or line.isascii() for line in text.splitlines())
    plain = xmceval.Results(results)._render("table")
    assert clean(name) in plain
    assert "\x1b" not in plain
    intervals = [(line, re.search(INTERVAL, line)) for line in plain.splitlines() if not line.startswith("ties")]
    widths = [text_width(line[: found.start()]) for line, found in intervals if found]
    assert len(widths) == 2
    assert len(set(widths)) == 1


def test_wide_characters_take_two_columns():
    widths = {"ab": 2, "日本": 4, "\N{GRINNING FACE}": 2, "e\u0301": 1, "\u2066ש\u2069": 1}
    assert {text: text_width(text) for text in widths} == widths


def test_captions_are_latex_and_paths_below_break():
    for caption in (r"50\% of $x_1$", r"\cite{a_b}", "", r"a\_b \& c", r"\textbf{x}"):
        text = xmceval.Results(made([0.1, 0.2]))._render("latex", Layout(caption=caption, label="tab:x_1"))
        assert f"  \\caption{{{caption}}}\n  \\label{{tab:x_1}}\n" in text
    listing = Listing("a list", ("", "n"), (("a", "1"),), frozenset(), ("see https://a.org/long/name_of/it",))
    text = draw_latex(replace(build_sheet(made([0.1])), listings=(listing,)))
    broken = "https:// a. org/ long/ name\\_ of/ it".replace(" ", r"\allowbreak{}")
    assert f"see {broken}" in text


def has_booktabs():
    command = ["kpsewhich", "booktabs.sty"]
    return shutil.which("kpsewhich") and not subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode


@pytest.mark.skipif(not has_booktabs(), reason="pdflatex with booktabs is not installed")
def test_latex_compiles_and_nothing_leaves_the_text_or_the_page(four, tmp_path):
    results = [result for name in NAMES for result in made([0.1], name=name.replace("{", "{{").replace("}", "}}"))]
    rows = tuple((f"row {i}", f"{i} words") for i in range(60))
    columns = {"P@1": Cell("9.50", "", BEST, UP), "PSP@1": Cell("8.25", "", "", DOWN)}
    groups = [Section(f"Set_{i} · 9 rows", (Row("A_1", columns), Row("B ♦", columns))) for i in range(50)]
    notes = ("▲ better, ▼ worse than B", "♦ published")
    texts = Listing("Texts", ("name", "text"), rows, frozenset())
    document = "\n".join([
        r"\documentclass{article}\usepackage[textwidth=5.5in]{geometry}\usepackage{booktabs}\begin{document}",
        xmceval.Results(results)._render("latex", Layout(caption=r"50\% of $x_1$", label="tab:a_b")),
        xmceval.Results(four.results[:1])._render("latex"),
        four._render("latex"),
        four._render("latex", Layout(intervals=True)),
        four._render("latex", Layout(transpose=True, pairs=True)),
        compared(10, metrics="P")._render("latex", Layout(intervals=True, pairs=True)),
        draw_latex(Sheet((), ("P@1", "PSP@1"), tuple(groups), (), (texts,), notes=notes, is_grouped=True)),
        r"\end{document}",
    ])  # fmt: skip
    check_fits(document, tmp_path)


def check_fits(document, folder):
    """Compile a document, in which nothing may leave the text or the page."""
    (folder / "t.tex").write_text(document)
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    output = ended.stdout.decode(errors="replace")
    assert ended.returncode == 0, output[-2000:]
    assert "Overfull" not in output
    assert "too large" not in output


@pytest.mark.skipif(not has_booktabs(), reason="pdflatex with booktabs is not installed")
def test_tables_of_bold_values_fit_the_lines_of_an_article(tmp_path):
    columns = tuple(f"P@{k}" for k in range(1, 25))
    tables = []
    for value, interval in (
        ("48.33", ""),
        ("0.4833", ""),
        ("48.33", "±13.02"),
        ("0.4833", "±0.1302"),
        ("4.8", "1.2..7.9"),
    ):
        for mark in ("", UP, "b-d"):
            cell = Cell(value, interval, BEST, mark)
            rows = tuple(Row(name, dict.fromkeys(columns, cell)) for name in ("a", "system_b"))
            tables.append(draw_latex(Sheet((), columns, (Section("", rows),), ())))
    start = r"\documentclass{article}\usepackage{booktabs}\begin{document}"
    check_fits("\n".join([start, *tables, r"\end{document}"]), tmp_path)


def test_a_table_that_is_too_wide_or_high_for_latex_is_several():
    columns = tuple(f"{name}@{k}" for name in ("P", "R", "nDCG", "PSP") for k in (1, 3, 5))
    rows = tuple(Row(f"system {i}", dict.fromkeys(columns, Cell("50.00"))) for i in range(25))
    text = draw_latex(Sheet((), columns, (Section("", rows),), (), groups=(3, 3, 3, 3)))
    heads = [line.strip() for line in text.splitlines() if line.startswith("    & ")]
    assert heads == [
        r"& P@1 & P@3 & P@5 & R@1 & R@3 & R@5 \\",
        r"& nDCG@1 & nDCG@3 & nDCG@5 & PSP@1 & PSP@3 & PSP@5 \\",
    ]
    assert text.count(r"\begin{table}") == 2  # 25 systems twice
    few = draw_latex(Sheet((), columns, (Section("", rows[:5]),), (), groups=(3, 3, 3, 3)))
    assert (few.count(r"\begin{table}"), few.count(r"\begin{tabular}")) == (1, 2)
    many = Sheet((), columns[:3], (Section("", rows * 4),), ())
    assert draw_latex(many).count(r"\begin{table}") == 3
    first, *others = draw_latex(replace(many, layout=Layout(caption="c", label="l"))).split(r"\end{table}")
    assert "  \\caption{c}\n  \\label{l}\n" in first
    assert not any(r"\caption" in text or r"\label" in text for text in others)


# CSV.


def test_a_name_that_is_no_utf_8_is_written_with_its_number():
    xmceval.Results(made([0.1], name="a\udcff")).to_csv("t.csv")
    assert r"a\udcff" in Path("t.csv").read_text(encoding="utf-8")


def test_csv_of_a_comparison_has_values_and_how_they_were_tested(four):
    lines = list(csv.DictReader(io.StringIO(four._render("csv"))))
    assert len(lines) == len(four.differences)
    for line, each in zip(lines, four.differences, strict=True):
        assert float(line["value"]) - float(line["baseline_value"]) == pytest.approx(each.difference, abs=1e-12)
        assert (line["bin"], line["unit"], line["adjust"]) == (each.bin, "row", "holm")
        assert line["higher_is_better"] == ("false" if each.measure.name == "coverage_error" else "true")
    assert json.loads(lines[0]["propensities"])["a"] == 0.55
    assert json.loads(lines[0]["options"])["by_frequency"] == 2


def test_a_p_below_the_level_looks_so():
    texts = {0.2: "0.200", 0.05: "0.050", 0.04996: "0.0499", 0.0496: "0.0496", 0.0494: "0.049", 0.00012: "0.0001"}
    assert {p: format_p(p) for p in texts} == texts


def test_wrong_places_are_named():
    with pytest.raises(UsageError, match=r"^places must be a whole number of at least 0"):
        Layout(places=-1)
