"""Tables: the numbers of every form for people are those of the JSON; what is best, what is significant, what fits."""

import csv
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import xmceval
from xmceval.errors import UsageError
from xmceval.report.forms.columns import clean, text_width
from xmceval.report.forms.latex import draw as draw_latex, draw_listings
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.registry import render, render_comparison
from xmceval.report.sheet.model import BEST, DOWN, UP, Cell, Listing, Row, Section, Sheet, split_columns
from xmceval.report.sheet.scoresheet import build_sheet
from xmceval.report.sheet.verdicts import format_p

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


def read_plain(text):
    """Read the cells of a plain table that was not wrapped: {(bin, system, column): (value, margin, marks)}."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(" "))
    columns = lines[start].split()
    spans = [found.start() for found in re.finditer(r"\S+", lines[start])]
    cells, bin_name = {}, ""
    for line in lines[start + 1 :]:
        if line.startswith("bin "):
            bin_name = line.partition(":")[0]
        elif re.match(r"\(\w\) |ceiling", line):
            head = line[: spans[0] - 4].strip()
            for found in re.finditer(rf"({N})(?: ({INTERVAL}))?(?: {{1,2}}([a-z-]+))?(?=  |$)", line[len(head) :]):
                end = len(head) + found.end(1)
                column = max(i for i, at in enumerate(spans) if at <= end)
                cells[bin_name, head, columns[column]] = tuple(part or "" for part in found.groups())
        else:
            return cells
    return cells


def read_rows(rows, columns, bin_name, cells):
    for head, *values in rows:
        for column, value in zip(columns, values, strict=False):
            if value:
                cells[bin_name, head, column] = value


def read_markdown(text):
    """Read the cells of the tables of values."""
    cells, bin_name, columns = {}, "", []
    for part in text.split("\n\n"):
        if part.startswith("bin "):
            bin_name = part.partition(":")[0]
        elif part.startswith("|"):
            head, _, *rows = ([each.strip() for each in line.strip("|").split("|")] for line in part.splitlines())
            columns = head[1:]
            read_rows(rows, columns, bin_name, cells)
        elif part.startswith("- "):
            break
    return {key: read_markdown_cell(value) for key, value in cells.items()}


def read_markdown_cell(text):
    pattern = rf"(?:\*\*|<ins>)?({N})(?:\*\*|</ins>)?(?: ({INTERVAL}))?(?: <sup>([a-z-]+)</sup>)?"
    return tuple(part or "" for part in re.fullmatch(pattern, text).groups())


def read_latex(text):
    """Read the cells of all tabulars that have a value."""
    body = "".join(re.findall(r"\\toprule(.*?)\\bottomrule", text, re.DOTALL))
    cells, bin_name, columns = {}, "", []
    for line in (each.strip().removesuffix(r"\\").strip() for each in body.splitlines()):
        if r"\textit" in line:
            bin_name = re.search(r"\\textit\{(.*?)[:}]", line)[1]
        elif line.startswith("&"):
            columns, bin_name = [each.strip(" {}").replace(r"\_", "_") for each in line.split("&")[1:]], ""
        elif "&" in line:
            head, *values = (each.strip() for each in line.split("&"))
            assert len(values) == len(columns)
            read_rows([(head, *values)], columns, bin_name, cells)
    return {key: read_latex_cell(value) for key, value in cells.items()}


def read_latex_cell(text):
    text = re.sub(r"\\phantom\{.*\}$", "", text).replace(r"$\pm$", "±").replace("--", "-")
    text = re.sub(r"\\(?:textbf|underline)\{([^}]*)\}", r"\1", text)
    pattern = rf"({N})(?:~\{{\\scriptsize ({INTERVAL})\}})?(?:\\textsuperscript\{{([a-z-]+)\}})?"
    return tuple(part or "" for part in re.fullmatch(pattern, text).groups())


def expected_cells(comparison, percent=True):
    """Return what a table must show, from the JSON alone."""
    document = json.loads(render_comparison("json", comparison))
    letters = {each["name"]: "abcdefghij"[i] for i, each in enumerate(document["systems"])}
    marks = {}
    for each in document["comparisons"]:
        if each["p_adjusted"] is not None and each["p_adjusted"] < 0.05:
            is_lower = each["metric"] == "coverage_error"
            winner, loser = (each["system"], each["baseline"])[:: 1 if (each["difference"] > 0) != is_lower else -1]
            key = each["bin"] or "", winner, each["metric"]
            marks[key] = "".join(sorted(marks.get(key, "") + letters[loser]))
    cells = {}
    for system in document["systems"]:
        parts = [("", system["metrics"]), *((part["name"], part["metrics"]) for part in system["slices"])]
        for bin_name, metrics in parts:
            for name, numbers in metrics.items():
                scale, places = (100, 2) if percent else (1, 4)
                scale, places = (1, 2) if name == "coverage_error" else (scale, places)
                own = (
                    f"{scale * numbers['value']:.{places}f}",
                    expected_interval(numbers, scale, places),
                    marks.get((bin_name, system["name"], name), ""),
                )
                cells[bin_name, f"({letters[system['name']]}) {system['name']}", name] = own
                if numbers.get("ceiling") is not None:
                    cells[bin_name, "ceiling", name] = f"{scale * numbers['ceiling']:.{places}f}", "", ""
    return cells


def expected_interval(numbers, scale, places):
    """Return ± and half of it; both ends where it is not symmetric."""
    value, low, high = (numbers[name] for name in ("value", "low", "high"))
    if low is None:
        return ""
    if abs(high + low - 2 * value) > 1e-9:
        return f"{scale * low:.{places}f}..{scale * high:.{places}f}"
    return f"±{scale * (high - value):.{places}f}"


READERS = {"table": read_plain, "md": read_markdown, "latex": read_latex}


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("percent", [True, False], ids=["percent", "fraction"])
def test_every_number_is_that_of_the_json(four, form, percent):
    expected = expected_cells(four, percent)
    assert any(marks for _, _, marks in expected.values())
    layout = replace(WIDE, percent=percent, intervals=True)
    assert READERS[form](render_comparison(form, four, layout)) == expected


@pytest.mark.parametrize("form", READERS)
def test_without_intervals_only_they_are_missing(four, form):
    found = READERS[form](render_comparison(form, four, replace(WIDE, intervals=False)))
    assert found == {key: (value, "", marks) for key, (value, _, marks) in expected_cells(four).items()}


def test_a_transposed_table_has_the_same_cells(four):
    found = read_markdown(render_comparison("md", four, Layout(transpose=True)))
    assert {(part, column, row): cell for (part, row, column), cell in found.items()} == expected_cells(four)
    one = build_sheet([four.results[0]])
    turned = build_sheet([four.results[0]], Layout(transpose=True))
    assert [row.head for row in turned.sections[0].rows] == list(one.columns)
    assert turned.columns == tuple(dict.fromkeys(row.head for section in one.sections for row in section.rows))


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


@pytest.mark.parametrize(
    ("metric", "values", "emphases"),
    [
        ("P@1", [0.1, 0.3, 0.2], ["", "best", "second"]),
        ("coverage_error", [1.0, 3.0, 2.0], ["best", "", "second"]),
        ("P@1", [0.3, 0.300001, 0.2, 0.1], ["best", "best", "second", ""]),
        ("P@1", [0.3, 0.2, 0.2], ["best", "second", "second"]),
        ("P@1", [0.3, 0.2], ["best", ""]),
        ("P@1", [0.3, 0.3], ["best", "best"]),
        ("ranking_loss", [None, 0.2, 0.1], ["", "", "best"]),
    ],
)
def test_the_best_and_the_second_value_are_marked(metric, values, emphases):
    (section,) = build_sheet(made(values, metric)).sections
    assert [row.cells[metric].emphasis for row in section.rows] == emphases


def test_metrics_that_are_better_where_they_are_lower_are_named(four):
    sheet = build_sheet(four.results)
    assert sheet.notes == ("lower is better: coverage_error",)


def test_a_terminal_shows_emphasis_and_nothing_else_does(four):
    plain = render("table", four.results, WIDE)
    styled = render("table", four.results, replace(WIDE, is_styled=True))
    assert "\x1b" not in plain
    assert STYLE.sub("", styled) == plain
    (section,) = build_sheet(made([0.1, 0.3, 0.2])).sections
    text = render("table", made([0.1, 0.3, 0.2]), Layout(is_styled=True, intervals=False))
    assert text.splitlines()[2:5] == ["0   10.00", "1   \x1b[1m30.00\x1b[0m", "2   \x1b[4m20.00\x1b[0m"]
    assert len(section.rows) == 3


def test_ceilings_and_runs_are_not_ranked():
    y_true, systems = make_scores(3)
    runs = {"runs": [systems["system 0"], systems["system 0"].copy()], "other": systems["system 2"]}
    comparison = xmceval.compare(y_true, runs, metrics="P@1", ceiling=True)
    text = render_comparison("md", comparison)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    assert [row[0] for row in rows[2:7]] == ["(a) runs, mean of 2 runs", "runs (1)", "runs (2)", "(b) other", "ceiling"]
    mean = np.mean([result["P@1"] for result in comparison.results[:2]])
    assert rows[2][1].startswith(f"**{100 * mean:.2f}**")
    assert not any("**" in row[1] for row in rows[3:7])


# What fits.


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_table_is_as_wide_as_the_terminal_and_complete(four, width):
    text = render_comparison("table", four, Layout(width=width, is_terminal=True))
    assert max(map(text_width, text.splitlines())) <= width
    expected = [value for (part, _, _), (value, _, _) in expected_cells(four).items()]
    table = text.partition("differences:")[0]
    assert all(value in table for value in expected)


def test_columns_of_a_metric_stay_together():
    assert list(split_columns("abcdef", [3] * 6, 10, (2, 3, 1))) == [("a", "b"), ("c", "d", "e"), ("f",)]
    assert list(split_columns("abcdef", [3] * 6, 7, (2, 3, 1))) == [("a", "b"), ("c", "d"), ("e",), ("f",)]
    assert list(split_columns("ab", [30, 3], 7)) == [("a",), ("b",)]
    assert list(split_columns("abcd", [3] * 4, 9)) == [("a", "b", "c"), ("d",)]


def test_sentences_break_between_facts_where_there_is_no_terminal_and_they_are_long(four):
    text = render_comparison("table", four, Layout(width=40))
    lines = text.rstrip().rpartition("\n\n")[2].splitlines()
    verdicts = "\n".join(lines).replace("\n  ", " ").splitlines()
    assert max(map(len, text.splitlines())) <= 110 < max(map(len, verdicts))
    assert {before[-1] for before, line in pairwise(lines) if line.startswith("  ")} <= {";", ","}
    assert len(verdicts) == 6  # four measures of P and PSP, coverage_error, and what was not tested
    wrapped = render_comparison("table", four, Layout(width=40, is_terminal=True)).rstrip().rpartition("\n\n")[2]
    assert wrapped.replace("\n  ", " ").splitlines() == verdicts


# Many systems.


@pytest.fixture(scope="module")
def ten():
    return compared(10, metrics="P", k=(1, 3))


def test_all_pairs_of_ten_systems_are_matrices(ten):
    text = render_comparison("table", ten, Layout(width=200))
    title, head, *rows = text.partition("P@1 · row \N{MINUS SIGN} column")[2].splitlines()[:11]
    assert title == " · paired over 60 instances · points · * p (Holm) < 0.05"
    assert head.split() == [f"({letter})" for letter in "abcdefghi"]
    names = list(ten.by_key and dict.fromkeys(result.name for result in ten.results))
    for i, row in enumerate(rows, 1):
        assert row.split()[:3] == [f"({'abcdefghij'[i]})", "system", str(i)]
        for name, cell in zip(names, row.split()[3:], strict=False):
            difference = ten["P@1", names[i], name]
            shown = f"{100 * difference.difference:+.2f}".replace("-", "\N{MINUS SIGN}")
            assert cell == shown + "*" * (difference.p_adjusted < 0.05)
    assert max(map(text_width, render_comparison("table", ten).splitlines())) <= 110
    assert " f-j   91.11 ±5.46 b-j\n" in text  # not fghij and bcdefghij


def test_the_verdict_on_many_systems_is_on_the_best(ten):
    verdicts = render_comparison("table", ten).rstrip().rpartition("\n\n")[2].replace("\n  ", " ").splitlines()
    assert [verdict.partition(":")[0] for verdict in verdicts] == ["P@1", "P@3"]
    best = max(ten.results, key=lambda result: result["P@1"]).name
    beaten = [each for each in ten.differences if each.measure.name == "P@1" and best in {each.system, each.baseline}]
    beaten = [each.baseline if each.system == best else each.system for each in beaten if each.is_detected]
    assert verdicts[0].startswith(f"P@1: {best} is better than {'all others' if len(beaten) == 9 else beaten[0]}")


def test_against_one_of_many_systems_is_a_line_each():
    comparison = compared(5, metrics="P", k=3, against="system 2")
    listing = render_comparison("table", comparison).partition("P@3 · system \N{MINUS SIGN} system 2 · ")[2]
    names = [line.split("  ")[1] for line in listing.splitlines()[2:6]]
    assert names == ["system 0", "system 1", "system 3", "system 4"]
    verdict = listing.rstrip().rpartition("\n\n")[2].replace("\n  ", " ")
    assert verdict.startswith(
        "P@3: better than system 2: system 0; worse than system 2: system 4; no difference was detected: "
    )


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
    assert f"| {markdown} " in render("md", results)
    text = render("latex", results)
    assert re.search(rf"^    {re.escape(latex)} & 10\.00 \\\\$", text, re.MULTILINE)
    assert all(line.startswith("%") or line.isascii() for line in text.splitlines())
    plain = render("table", results)
    assert clean(name) in plain
    assert "\x1b" not in plain
    intervals = [(line, re.search(INTERVAL, line)) for line in plain.splitlines() if not line.startswith("ties")]
    widths = [text_width(line[: found.start()]) for line, found in intervals if found]
    assert len(widths) == 2
    assert len(set(widths)) == 1


def test_wide_characters_take_two_columns():
    texts = ("ab", "日本", "\N{GRINNING FACE}", "e\u0301", "\u2066ש\u2069")
    assert [text_width(text) for text in texts] == [2, 4, 2, 1, 1]


@pytest.mark.parametrize("caption", [r"50\% of $x_1$", r"\cite{a_b}", "", r"a\_b \& c", r"\textbf{x}"])
def test_captions_are_latex(caption):
    text = render("latex", made([0.1, 0.2]), Layout(caption=caption, label="tab:x_1"))
    assert f"  \\caption{{{caption}}}\n  \\label{{tab:x_1}}\n" in text


def test_the_rows_of_latex_fit_their_columns(four):
    text = render_comparison("latex", four, Layout(intervals=True, pairs=True))
    assert text.partition(r"\caption")[0].count(r"\begin{tabular}") >= 2  # P, then the others
    for kinds, body in re.findall(r"\\begin\{tabular\}\{(.*)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL):
        n_columns = len(re.sub(r"p\{.*?\}", "p", kinds))
        for line in body.splitlines():
            if "&" in line:
                spans = [int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line)]
                assert line.count("&") + 1 + sum(spans) <= n_columns
    assert text.count("{") == text.count("}")


def test_paths_below_latex_break():
    text = draw_listings([Listing("", (("a", "1"),), frozenset(), ("see https://a.org/long/name_of/it",))], Layout())
    assert (
        r"see https://\allowbreak{}a.\allowbreak{}org/\allowbreak{}long/\allowbreak{}name\_\allowbreak{}of/\allowbreak{}it"
        in text
    )


def make_dataset(name, values, marks=("", "")):
    rows = [
        Row(head, {column: Cell(f"{value + i:.2f}", "", emphasis, mark) for i, column in enumerate(("P@1", "PSP@1"))})
        for head, value, emphasis, mark in zip(
            ("A_1", "B \N{BLACK DIAMOND SUIT}"), values, ("", BEST), marks, strict=True
        )
    ]
    return Section(f"{name} · 9 rows", tuple(rows), name)


DATASETS = (make_dataset("One", (9.5, 60.25), (UP, "")), make_dataset("Two_2", (8.25, 70), (DOWN, "")))
BENCHMARK = r"""% needs \usepackage{booktabs}
\begin{table}[t]
  \centering
  \small\setlength{\tabcolsep}{6pt}
  \caption{All}
  \par\medskip
  \begin{tabular}{lrr}
    \toprule
    & P@1 & PSP@1 \\
    \midrule
    \multicolumn{3}{l}{\textit{One $\cdot$ 9 rows}} \\
    A\_1 & 9.50\textsuperscript{$+$} & 10.50\textsuperscript{$+$} \\
    B $^{\diamond}$ & \textbf{60.25}\phantom{\textsuperscript{$+$}} & \textbf{61.25}\phantom{\textsuperscript{$+$}} \\
    \midrule
    \multicolumn{3}{l}{\textit{Two\_2 $\cdot$ 9 rows}} \\
    A\_1 & 8.25\textsuperscript{$-$} & 9.25\textsuperscript{$-$} \\
    B $^{\diamond}$ & \textbf{70.00}\phantom{\textsuperscript{$+$}} & \textbf{71.00}\phantom{\textsuperscript{$+$}} \\
    \bottomrule
  \end{tabular}
  \par\smallskip
  \parbox{\linewidth}{\footnotesize Best in bold; $^{+}$ better, $^{-}$ worse than B; $^{\diamond}$ published.}
\end{table}
"""
NOTES = ("▲ better, ▼ worse than B", "♦ published")


def test_data_sets_in_groups_are_whole():
    sheet = Sheet((), ("P@1", "PSP@1"), DATASETS, (), layout=Layout(caption="All"), notes=NOTES)
    assert draw_latex(sheet) == BENCHMARK


def has_booktabs():
    command = ["kpsewhich", "booktabs.sty"]
    return shutil.which("kpsewhich") and not subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode


@pytest.mark.skipif(not has_booktabs(), reason="pdflatex with booktabs is not installed")
def test_latex_compiles_and_nothing_leaves_the_text_or_the_page(four, ten, tmp_path):
    results = [result for name in NAMES for result in made([0.1], name=name.replace("{", "{{").replace("}", "}}"))]
    rows = (("name", "text"), *((f"row {i}", f"{i} " + "many words " * (i % 15)) for i in range(60)))
    document = "\n".join([
        r"\documentclass{article}\usepackage[textwidth=5.5in]{geometry}\usepackage{booktabs}\begin{document}",
        render("latex", results, Layout(caption=r"50\% of $x_1$", label="tab:a_b")),
        render("latex", four.results[:1]),
        render_comparison("latex", four),
        render_comparison("latex", four, Layout(intervals=True)),
        render_comparison("latex", four, Layout(transpose=True, pairs=True)),
        render_comparison("latex", ten, Layout(intervals=True, pairs=True)),
        draw_latex(Sheet((), ("P@1", "PSP@1"), DATASETS * 25, (), notes=NOTES, is_grouped=True)),
        draw_listings([Listing("Texts", rows, frozenset(), has_head=True)], Layout()),
        r"\end{document}",
    ])  # fmt: skip
    (tmp_path / "t.tex").write_text(document)
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    output = ended.stdout.decode(errors="replace")
    assert ended.returncode == 0, output[-2000:]
    assert "Overfull" not in output
    assert "too large" not in output


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


# CSV.


def test_csv_of_a_comparison_has_values_and_how_they_were_tested(four):
    lines = list(csv.DictReader(io.StringIO(render_comparison("csv", four))))
    assert len(lines) == len(four.differences)
    for line, each in zip(lines, four.differences, strict=True):
        assert float(line["value"]) - float(line["baseline_value"]) == pytest.approx(each.difference, abs=1e-12)
        assert (line["bin"], line["unit"], line["adjust"]) == (each.bin, "row", "holm")
        assert line["higher_is_better"] == ("false" if each.measure.name == "coverage_error" else "true")
    assert json.loads(lines[0]["propensities"])["a"] == 0.55
    assert json.loads(lines[0]["options"])["by_frequency"] == 2


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.2, "0.200"), (0.05, "0.050"), (0.04996, "0.0499"), (0.0496, "0.0496"), (0.0494, "0.049"), (0.00012, "0.0001")],
)
def test_a_p_below_the_level_looks_so(p, text):
    assert format_p(p) == text


def test_wrong_places_are_named():
    with pytest.raises(UsageError, match=r"^places must be a whole number of at least 0"):
        Layout(places=-1)


def test_latex_has_a_sign_before_negative_numbers_and_bounds():
    cell = Cell("-1.00", "-2.00..0.50")
    text = draw_latex(Sheet((), ("@1",), (Section("", (Row("P", {"@1": cell}),)),), ()))
    assert r"& $-$1.00~{\scriptsize $-$2.00..0.50} \\" in text
