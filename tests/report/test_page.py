"""The page of `xmceval report` and of `to_html`: complete, well-formed, safe, the same bytes for the same results."""

import base64
import hashlib
import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from support.markup import parse, read_table

import xmceval
from xmceval.inspection.pair import PairInspection
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.forms.markup import element, isolate, join, name, text
from xmceval.report.page import render_page
from xmceval.report.page.evidence import Evidence
from xmceval.report.page.headline import write_headline
from xmceval.report.page.pageparts import write_sentence
from xmceval.report.sheet.comparesheet import build_comparison_sheet
from xmceval.report.sheet.verdicts import format_p

NASTY = ("<script>alert(1)</script>", "מודל $5_x & \"q\" 'r'", "name_" * 40, "\x1b[31m\udcff\u202e😀")


def made(seed, quality, n=40, n_labels=12):
    """Make truth and scores; all systems of a quality of 1 are perfect."""
    rng = np.random.default_rng(seed)
    y_true = (np.random.default_rng(7).random((n, n_labels)) < 0.25).astype(float)
    return y_true, np.round(y_true * quality + rng.random((n, n_labels)), 1)


def compared(names, qualities, **options):
    y_true = made(0, 1)[0]
    systems = {each: made(i, quality)[1] for i, (each, quality) in enumerate(zip(names, qualities, strict=True))}
    return xmceval.compare(y_true, systems, **options)


@pytest.fixture(scope="module")
def several():
    options = {"k": [1, 3], "metrics": ["P", "PSP"], "by_frequency": "head,tail", "ceiling": True}
    return compared(NASTY, (0.9, 0.3, 0.8, 0.1), **options)


@pytest.fixture(scope="module")
def page(several):
    return several.to_html()


@pytest.fixture(scope="module")
def one():
    return xmceval.score(*made(1, 0.6), k=1, metrics="P")


def test_names_are_shown_as_they_are_and_run_nothing(page):
    root = parse(page)
    assert len(root.all("script")) == 1
    assert not root.all("b", text="text")
    matrix, results, *_ = root.all("table")
    assert {*NASTY[:3]} < {row[0] for row in read_table(matrix)}
    heads = {row[0] for row in read_table(results)}
    assert {"(a) <script>alert(1)</script>", f"(b) {NASTY[1]}", f"(c) {NASTY[2]}"} < heads
    assert "(d) \ufffd[31m\ufffd\ufffd😀" in heads, (
        "no control character, surrogate or override of the direction is left"
    )
    assert not any(key.startswith("on") for each in root.all() for key in each.attributes)


def test_the_page_loads_nothing_and_allows_its_own_script_only(page):
    root = parse(page)
    [script], [policy] = root.all("script"), root.all("meta", **{"http-equiv": "Content-Security-Policy"})
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    assert "default-src 'none'" in policy.attributes["content"]
    assert f"script-src 'sha256-{digest}'" in policy.attributes["content"]
    assert not [each for each in root.all() if {"src", "srcset", "action", "data"} & each.attributes.keys()]
    links = [each.attributes["href"] for each in root.all() if "href" in each.attributes]
    assert links
    assert all(link.startswith("#") for link in links)
    assert set(re.findall(r"https?://[^\"' <]*", page)) <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in page


def test_links_anchors_headings_and_landmarks_are_sound(page):
    root = parse(page)
    ids = [each.attributes["id"] for each in root.all() if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    targets = {each.attributes["href"][1:] for each in root.all("a")}
    referred = {each.attributes["aria-labelledby"] for each in root.all() if "aria-labelledby" in each.attributes}
    assert targets | referred <= set(ids)
    levels = [int(each.tag[1]) for each in root.all() if re.fullmatch("h[1-6]", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert [len(root.all(tag)) for tag in ("header", "main", "nav", "footer")] == [1, 1, 1, 1]
    labels = [each.attributes["aria-label"] for each in root.all(role="group")]
    assert len(labels) == len(set(labels)), "a reader of landmarks can tell tables apart"


def test_the_contents_list_what_there_is_and_nothing_else(page, one):
    for html, has in ((page, True), (one.to_html(), False)):
        root = parse(html)
        anchors = [each.attributes["href"][1:] for each in root.all("nav")[0].all("a")]
        assert anchors == [each.attributes["id"] for each in root.all("section")][1:]
        assert anchors[0] == "results"
        of_comparison = {"differences", "pictures", "bins", "ceilings"}
        assert set(anchors) >= of_comparison if has else not of_comparison & set(anchors)
        assert {"definitions", "provenance"} < set(anchors)


def test_the_table_has_every_value_with_what_it_is_sorted_by(several, page):
    [first] = [each for each in parse(page).all("table") if each.attributes.get("data-group")]
    heads = [each.text for each in first.all("th", scope="col")]
    assert heads == ["System", "P@1", "P@3", "PSP@1", "PSP@3"]
    rows = first.all("tbody")[0].all("tr")
    for result, row in zip(several.results, rows, strict=True):
        for figure, cell in zip(result.figures, row.all("td"), strict=True):
            shown = DEFAULT.format(figure.measure, figure.estimate.value)
            assert cell.attributes["data-value"] == shown
            assert cell.text.startswith(shown)
            assert cell.attributes["data-metric"] == figure.measure.head
    assert first.all("tfoot")[0].text.startswith("ceiling"), "sorting leaves ceilings at the end"


def test_columns_without_values_of_bins_are_no_block_of_their_own():
    y_true, y_score = made(1, 0.6)
    metrics = [f"LRAP(rel={grade})" for grade in range(1, 9)]
    result = xmceval.score_all(y_true, {"a": y_score, "b": -y_score}, metrics=["P@1", *metrics], by_frequency=[2])
    bins = parse(result.to_html()).all("section", id="bins")[0]
    [heads] = [[cell.text for cell in table.all("thead")[0].all("th")] for table in bins.all("table")]
    assert heads[:3] == ["System", "P@1", "LRAP"]
    assert "LRAP(rel=8)" not in heads


def test_a_system_may_be_called_ceiling():
    names = ("glass ceiling", "ceiling")
    root = parse(compared(names, (0.9, 0.3), k=1, metrics="P", ceiling=True).to_html())
    drawn = root.all("table", **{"data-group": "results"})[0]
    heads = [[row.all("th")[0].text for row in part.all("tr")] for part in (*drawn.all("tbody"), *drawn.all("tfoot"))]
    assert heads == [["(a) glass ceiling", "(b) ceiling"], ["ceiling"]]
    assert [row.attributes.get("class") for row in drawn.all("tr")][1:] == [None, None, "ceiling"]


def test_pictures_say_in_words_what_they_show(page):
    figures = parse(page).all("figure")
    assert len(figures) >= 3
    for figure in figures:
        panels, [caption] = figure.all("svg", role="img"), figure.all("figcaption")
        assert figure.attributes["aria-label"]
        assert panels
        assert all(panel.all("title")[0].text for panel in panels)
        assert caption.text.endswith(".")


def test_panels_are_drawn_for_the_narrowest_screen_and_stand_beside_their_legend(several, page):
    for figure in parse(page).all("figure"):
        widths = [float(panel.attributes["viewbox"].split()[2]) for panel in figure.all("svg", role="img")]
        assert max(widths) * 9 / 7.5 < 380 - 32, "letters of 7.5 points have 9 pixels where a window has 380"
    bins = parse(page).all("figure", id="picture-bins")[0]
    keys = [each.text for each in bins.all("ul", class_="keys")[0].all("li")]
    assert len(keys) == len(several.results)
    assert keys[0] == several.results[0].name


def test_the_same_results_give_the_same_bytes(several, page):
    assert several.to_html() == page
    assert len(page.encode()) < 1_000_000


def test_a_page_without_pairs_has_the_table_of_systems_and_the_verdicts(full):
    short = full.to_html(pairs=False)
    assert "wins/ties/losses" in full.to_html()
    assert "wins/ties/losses" not in short
    assert 'id="differences"' in short


def test_a_layout_and_a_title_are_kept_and_a_path_is_written(one, tmp_path):
    assert one.to_html(tmp_path / "p.html", title="<Mine>", percent=False, places=3, intervals=False) is None
    root = parse((tmp_path / "p.html").read_text(encoding="utf-8"))
    assert root.all("h1")[0].text == root.all("title")[0].text == "<Mine>"
    assert read_table(root.all("table")[0])[1] == ["P", f"{one['P@1']:.3f}"]


@pytest.fixture(scope="module")
def full():
    """A comparison of which a page shows every number that it can."""
    options = {"k": [1, 3], "metrics": ["P", "PSP"], "by_frequency": "head,tail", "ceiling": True}
    y_true = made(0, 1)[0]
    scores = {name: np.minimum(made(i, 0.4 * i)[1] / 2, 1) for i, name in enumerate("abc", 1)}
    return xmceval.compare(y_true, scores, **options)


EVIDENCE = Evidence(pairs=(PairInspection("t.txt", "a.txt", 0.25, 0.5),))
NOT_SHARES = {"0.05", "0.0001", "0.55", "1.5"}  # level, the least p that is written, A and B
PLAIN = "95%|80%|[0-9.]+% of "  # of intervals, of power, and of the labels of a bin


@pytest.mark.parametrize(
    ("options", "n_places"),
    [({}, 2), ({"places": 0}, 0), ({"places": 5}, 5), ({"percent": False}, 4), ({"percent": False, "places": 0}, 0)],
)
def test_every_share_on_a_page_has_the_places_and_the_unit_of_the_layout(full, options, n_places):
    html = render_page(full.results, full, evidence=EVIDENCE, layout=Layout(**options))
    sections = {each.attributes["id"]: each for each in parse(html).all("section")}
    for of_definitions in ("definitions", "provenance", "data"):
        del sections[of_definitions]
    assert {"results", "ceilings", "ties", "files"} < sections.keys()
    exempt = NOT_SHARES | {format_p(p) for each in full.differences for p in (each.p, each.p_adjusted)}
    for section in sections.values():
        texts = section.all("figcaption") if section.all("figure") else [*section.all("p"), *section.all("li")]
        texts += [*section.all("td"), *section.all("caption")]
        words = re.sub(PLAIN, "", " ".join(each.text for each in texts))
        numbers = set(re.findall(r"(?<![\w.])\d+\.\d+", words)) - exempt
        assert {each for each in numbers if len(each.partition(".")[2]) != n_places} == set()
        assert options.get("percent", True) or not re.search("%|percent|points", words)


@pytest.mark.parametrize("n_systems", [2, 3])
def test_a_page_shows_every_list_and_sentence_of_the_text(full, n_systems):
    pairs = [pair for pair in full.pairs if {*pair} <= {*"abc"[:n_systems]}]
    results = tuple(each for each in full.results if each.name in "abc"[:n_systems])
    differences = tuple(each for each in full.differences if (each.system, each.baseline) in pairs)
    comparison = replace(full, results=results, differences=differences)
    sheet = build_comparison_sheet(comparison)
    assert len(sheet.listings) == 3 * len(pairs), "of all labels, and of those of two bins"
    root = parse(render_page(results, comparison))
    tables = {each.attributes["aria-label"]: read_table(each) for each in root.all(role="group")}
    lines = [each.text.lower() for each in (*root.all("li"), *root.all("p"))]
    for listing in sheet.listings:
        shown = [row for row in tables[listing.title] if any(row)]
        assert [row for row in map(list, listing.rows) if row in shown] == [*map(list, listing.rows)]
    for line in (*sheet.verdicts, *(line for each in sheet.listings for line in each.lines)):
        assert f"{line}.".lower() in lines


def test_what_buttons_copy_is_what_the_forms_are():
    comparison = compared("abc", (0.9, 0.3, 0.8), k=[1, 3], metrics="P,PSP")
    root = parse(comparison.to_html())
    copied = {
        (section.attributes["id"], each.attributes["data-form"]): each.text
        for section in root.all("section")
        for each in section.all("template")  # of the last pair, where there is one of each
    }
    assert copied["results", "LaTeX"] == comparison.to_latex()
    assert copied["results", "Markdown"].partition("\n\n")[0] in comparison.to_markdown()
    assert copied["results", "CSV"] == xmceval.Results(comparison.results).to_csv()
    assert copied["differences", "LaTeX"].partition("\n")[2].strip() in comparison.to_latex(pairs=True)
    assert copied["differences", "Markdown"].strip() in comparison.to_markdown()
    head, *lines = copied["differences", "CSV"].splitlines()
    assert [head, *lines] == [each for each in comparison.to_csv().splitlines() if each in {head, *lines}]
    assert len(lines) == 4
    assert all("hidden" in each.attributes for each in root.all("div", class_="copy")), "a script shows the buttons"


def test_what_is_copied_of_bins_has_no_other_values(full):
    part = parse(full.to_html()).all("section", id="bins")[0]
    latex, markdown, csv = (each.text for each in part.all("template"))
    assert latex.count("& P@1") == 1
    assert not markdown.startswith("|"), "the title of the first bin"
    assert {line.split(",")[3] for line in csv.splitlines()[1:]} == {"head", "tail"}


def test_long_lists_are_closed_and_differences_of_few_pairs_are_not(full):
    many = compared("abcd", (0.9, 0.3, 0.8, 0.1), k=[1, 2, 3], metrics="P,PSP,nDCG")
    titles = [each.text for each in parse(many.to_html()).all("summary")]
    assert {"In words: 9 sentences", "b − a", "P, PSP, nDCG: formulas and sources"} <= {*titles}
    assert any(each.startswith("Values that another order of equal scores would change") for each in titles)
    page = full.to_html()
    assert "<details open" not in page
    titles = [each.text for each in parse(page).all("summary")]
    assert [each for each in titles if " − " in each and not re.search("head|tail", each)] == []


def test_the_spread_of_runs_is_shown():
    y_true = made(0, 1)[0]
    runs = {name: [made(seed, quality)[1] for seed in (1, 2, 3)] for name, quality in (("a", 0.2), ("b", 0.9))}
    comparison = xmceval.compare(y_true, runs, k=1, metrics="P")
    tables = {each.attributes["aria-label"]: read_table(each) for each in parse(comparison.to_html()).all(role="group")}
    assert tables["b · 3 runs"][0] == ["", "mean", "sd", "lowest", "highest"]


def test_detected_differences_are_bold(full):
    comparison = with_differences(full, P1=UNSURE)
    root = parse(render_page(full.results, comparison))
    names = {each.measure.name for each in comparison.of_pair("b", "a") if each.is_detected}
    [table] = [each for each in root.all(role="group") if re.match("b − a · .*points$", each.attributes["aria-label"])]
    bold = [row.inside[0].text for row in table.all("tr") if row.all("b")]
    assert names == {*bold} != set()
    assert "P@1" not in bold


def test_a_sentence_begins_with_a_capital_or_a_name():
    names = ["b", "nDCG"]
    lines = {"b − a · points": "b − a · points.", "nDCG@1 was left out": "nDCG@1 was left out.", "bins": "Bins."}
    assert {line: write_sentence(line, names) for line in lines} == lines


@pytest.mark.parametrize(
    ("qualities", "options", "expected"),
    [
        ((0.0, 2.0), {}, "b is better than a on P@1 by N points (p < 0.0001)."),
        ((0.5, 0.55), {}, "No difference between a and b was detected on P@1: N points (p = N)."),
        ((2.0, 2.0), {}, "a and b have the same P@1, N%."),
        ((2.0, 2.0, 2.0), {}, "a and b have the same P@1, N%, the best of 3 systems."),
        ((0.0, 2.0, 0.1), {}, "b is better than c, the next best of 3 systems, on P@1 by N points (p < 0.0001)."),
        ((0.0, 2.0), {"metrics": "macroF1@1"}, "b has the highest macroF1@1, N%: the difference to a was not tested."),
    ],
)
def test_the_headline_says_which_is_better_and_by_how_much(qualities, options, expected):
    comparison = compared("abc"[: len(qualities)], qualities, **{"k": 1, "metrics": "P", **options})
    [line] = write_headline(comparison.results, comparison, DEFAULT)
    words = parse(line).text.replace("\N{NO-BREAK SPACE}", " ")
    assert (
        re.sub(r"\d+\.\d+( ± \d+\.\d+)?(?=\)|%| )", "N", words.replace("0.0001", "#")).replace("#", "0.0001")
        == expected
    )


def test_the_headline_of_one_system_has_its_values(one):
    [line] = write_headline([one], None, DEFAULT)
    low, high = one.interval("P@1")
    value = f"P@1 {100 * one['P@1']:.2f}% ({100 * low:.2f}..{100 * high:.2f})"
    assert parse(line).text == f"{one.name} has {value} on 40 instances."


def headline(comparison, layout=DEFAULT):
    """Return the sentences, with N for each size."""
    lines = [parse(line).text for line in write_headline(comparison.results, comparison, layout)]
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
    return [re.sub(r"\d+\.\d+( ± \d+\.\d+)?", "N", re.sub(r"p [=<] 0\.\d+", "p", line)) for line in lines]


def test_the_headline_of_systems_that_were_not_compared_claims_no_test():
    results = compared("ab", (0.0, 2.0), k=[1, 2], metrics="P").results
    first, second = (parse(line).text for line in write_headline(results, None, DEFAULT))
    assert first == "b has the best value of all 2 metrics (P@1,2)."
    assert second == "The differences were not tested."


def with_differences(comparison, **changes):
    """Change the differences of a comparison, by metric."""
    changed = [replace(each, **changes.get(each.measure.name.replace("@", ""), {})) for each in comparison.differences]
    return replace(comparison, differences=tuple(changed))


UNSURE, UNTESTED = {"p": 0.3, "p_adjusted": 0.3}, {"p": None, "p_adjusted": None, "low": None, "high": None}


def test_the_headline_of_two_systems_is_the_finding_over_all_metrics():
    comparison = compared("ab", (0.0, 2.0), k=[1, 2, 3], metrics="P")
    largest = max(comparison.values(), key=lambda each: each.difference)
    assert headline(comparison) == [
        f"b is better than a on all 3 metrics; largest: {largest.measure} by N points (p).",
        "b is better on P@1,2,3.",
    ]
    mixed = with_differences(comparison, P1=UNSURE, P2=UNTESTED)
    assert headline(mixed) == [
        "b is better than a on 1 of 3 metrics; largest: P@3 by N points (p).",
        "b is better on P@3; no difference was detected on P@1; not tested: P@2.",
    ]
    plain = {"low": None, "high": None}
    opposed = with_differences(comparison, P1={"difference": -0.5, **plain}, P2={"difference": -0.25, **plain})
    assert headline(opposed) == [
        (
            "a is better than b on 2 of 3 metrics (most on P@1, by N points, p) "
            "and worse on 1 (most on P@3, by N points, p)."
        ),
        "a is better on P@1,2; b is better on P@3.",
    ]
    nothing = with_differences(comparison, P1=UNSURE, P2=UNSURE, P3=UNTESTED)
    assert headline(nothing) == [
        "No difference between a and b was detected on any of the 2 tested metrics; largest: P@1, N points (p).",
        "No difference was detected on P@1,2; not tested: P@3.",
    ]
    untested = with_differences(comparison, P1=UNTESTED, P2=UNTESTED, P3=UNTESTED)
    assert headline(untested)[-1] == "The differences were not tested."


def test_few_differing_rows_are_no_finding():
    y_true = np.eye(30)
    scores = {"a": np.roll(y_true, 1, axis=1), "b": np.roll(y_true, 1, axis=1)}
    scores["b"][:4] = y_true[:4]
    first, second = headline(xmceval.compare(y_true, scores, k=[1, 2], metrics="P"))
    assert first == (
        "No difference between a and b was detected on any of 2 metrics; "
        "largest: P@1, N points (p; only 4 instances differ)."
    )
    assert second == "No difference was detected on P@1,2."


def test_the_headline_of_many_systems_counts_all_differences():
    comparison = compared("abc", (0.0, 2.0, 0.1), k=[1, 2], metrics="P")
    first, second = headline(comparison)
    assert first == "b is better than every other system on all 2 metrics."
    detected = sum(each.is_detected for each in comparison.values())
    largest = max(comparison.values(), key=lambda each: abs(each.difference))
    other = ({largest.system, largest.baseline} - {"b"}).pop()
    assert second == (
        f"In all, {detected} of 6 differences were detected (3 pairs, 2 metrics); "
        f"the largest is b over {other}, N points on {largest.measure}."
    )
    assert headline(with_differences(comparison, P1=UNSURE))[0] == (
        "b is better than every other system on 1 of 2 metrics, and was found worse on none."
    )
    assert headline(with_differences(comparison, P1=UNSURE, P2=UNSURE)) == [
        "No system was found to be better than every other one on any of 2 metrics; b has the best value on 2.",
        "In all, none of 6 differences were detected (3 pairs, 2 metrics).",
    ]
    assert "1 pair" not in headline(with_differences(comparison, P1=UNTESTED))[1], "all pairs were tested on P@2"


def test_the_headline_against_a_baseline_claims_tested_pairs_only():
    comparison = compared("abcd", (0.0, 2.0, 0.1, -2.0), k=[1, 2], metrics="P", against="a")
    lines = headline(comparison)
    assert lines[0].startswith("b is better than a on all 2 metrics; largest: P@")
    assert re.match(r"In all, \d of 6 differences from a were detected \(3 pairs, 2 metrics\)", lines[1])
    assert len(lines) == 2
    best = compared("abc", (2.0, 0.0, 0.1), k=[1, 2], metrics="P", against="a")
    assert headline(best)[0] == "None of the 2 other systems was found to be better than a on any of 2 metrics."
    none = {"difference": -0.1, "low": None, "high": None}
    mixed = with_differences(compared("abc", (0.0, 2.0, 2.0), k=[1, 2], metrics="P", against="a"), P1=none)
    assert headline(mixed)[0] == "None of the 2 other systems was found to be better than a on more metrics than worse."


def matrix_of(comparison):
    """Return the cells of the matrix by system and metric."""
    matrix = parse(comparison.to_html()).all("table", class_="matrix")[0]
    heads = [each.text for each in matrix.all("th", scope="col")][1:]
    return {
        (row.all("th")[0].text, head): cell
        for row in matrix.all("tbody")[0].all("tr")
        for head, cell in zip(heads, row.all("td"), strict=True)
    }


@pytest.mark.parametrize("against", [None, "b"])
def test_the_matrix_says_what_was_detected_and_nothing_else(against):
    metrics = ["P", "ranking_loss", "macroF1@1"]
    comparison = compared("abcd", (0.0, 0.6, 0.5, 2.0), k=[1, 2], metrics=metrics, against=against)
    cells = matrix_of(comparison)
    assert next(system for system, _ in cells) == ("d" if against is None else "b baseline")
    for (head, metric), cell in cells.items():
        system = head.removesuffix(" baseline")
        own = [each for each in comparison.values() if each.measure.name == metric and system in each.key]
        tested = [each for each in own if each.p is not None and system != against]
        won = sum(each.is_detected and each.is_better == (each.system == system) for each in tested)
        lost = sum(each.is_detected for each in tested) - won
        found = {"better than": won, "worse than": lost, "no difference detected from": len(tested) - won - lost}
        words = ", ".join(f"{what} {n}" for what, n in found.items() if n) or ("baseline" if system == against else "")
        assert "".join(each.text for each in cell.all("span", class_="unseen")).strip() == words
        signs = "".join(each.text for each in cell.all("span", class_="signs"))
        assert [sign in signs for sign in "▲▼·"] == [won > 0, lost > 0, len(tested) > won + lost == 0]
        colour = "won" if won > lost else "lost" if lost > won else "even" if tested else None
        assert (cell.attributes.get("class") or "None").split("-")[0] == str(colour)


def test_lower_is_better_where_it_is():
    comparison = compared("ab", (2.0, 0.0), k=1, metrics="ranking_loss")
    [line] = write_headline(comparison.results, comparison, Layout(percent=False))
    assert parse(line).text.startswith("a is better than b on ranking_loss by 0.")


def test_markup_escapes_whatever_is_not_markup():
    assert element("p", "<&>\"'", 3, None, [name("x")], class_="a<b", hidden=True, id=None) == (
        '<p class="a&lt;b" hidden>&lt;&amp;&gt;&quot;&#x27;3<bdi>x</bdi></p>'
    )
    assert text("a\x00b\ud800") == "a\ufffdb\ufffd"
    assert join([text("&"), "&"]) == "&amp;&amp;"
    assert isolate("מודל is better than b", ["מודל", "b"]) == "<bdi>מודל</bdi> is better than b"


def test_matplotlib_is_needed_and_named(one, monkeypatch):
    monkeypatch.setattr("xmceval.report.pictures.find_spec", lambda _: None)
    with pytest.raises(xmceval.DataError, match=r"pip install 'xmceval\[plot\]'"):
        render_page([one])
