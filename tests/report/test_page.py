"""The page of `xmceval report` and of `to_html`: complete, well-formed, safe, the same bytes for the same results."""

import base64
import hashlib
import itertools
import re

import numpy as np
import pytest
from support.markup import parse, read_table

import xmceval
from xmceval.report.layout import DEFAULT, Layout
from xmceval.report.markup import element, isolate, join, name, text
from xmceval.report.page import render_page
from xmceval.report.page.headline import write_headline

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
    details = {"overlap": True, "examples": 1, "texts": ["<b>text</b>"] * 40}
    return compared(NASTY, (0.9, 0.3, 0.8, 0.1), **options, **details)


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
    heads = {row[0] for row in read_table(root.all("table")[0])}
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
        of_comparison = {"differences", "pictures", "bins", "ceilings", "overlap", "examples"}
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


def test_pictures_say_in_words_what_they_show(page):
    figures = parse(page).all("figure")
    assert len(figures) >= 3
    for figure in figures:
        [svg], [caption] = figure.all("svg"), figure.all("figcaption")
        assert svg.attributes["role"] == "img"
        assert svg.all("title")[0].text
        assert caption.text.endswith(".")


def test_the_same_results_give_the_same_bytes(several, page):
    assert several.to_html() == page
    assert len(page.encode()) < 1_000_000


def test_a_layout_and_a_title_are_kept_and_a_path_is_written(one, tmp_path):
    assert one.to_html(tmp_path / "p.html", title="<Mine>", percent=False, places=3, intervals=False) is None
    root = parse((tmp_path / "p.html").read_text(encoding="utf-8"))
    assert root.all("h1")[0].text == root.all("title")[0].text == "<Mine>"
    assert read_table(root.all("table")[0])[1] == ["P", f"{one['P@1']:.3f}"]


@pytest.mark.parametrize(
    ("qualities", "options", "expected"),
    [
        ((0.0, 2.0), {}, "b is better than a on P@1 by N points (p < 0.0001)."),
        ((0.5, 0.55), {}, "No difference between a and b was detected on P@1: N points (p = N)."),
        ((2.0, 2.0), {}, "a and b have the same P@1, N %."),
        ((2.0, 2.0, 2.0), {}, "a and b have the same P@1, N %, the best of 3 systems."),
        ((0.0, 2.0, 0.1), {}, "b is better than c, the next best of 3 systems, on P@1 by N points (p < 0.0001)."),
        ((0.0, 2.0), {"metrics": "macroF1@1"}, "b has the highest macroF1@1, N %: the difference to a was not tested."),
    ],
)
def test_the_headline_says_which_is_better_and_by_how_much(qualities, options, expected):
    comparison = compared("abc"[: len(qualities)], qualities, **{"k": 1, "metrics": "P", **options})
    [line] = write_headline(comparison.results, comparison, DEFAULT)
    words = parse(line).text.replace("\N{NO-BREAK SPACE}", " ")
    assert (
        re.sub(r"\d+\.\d+( ± \d+\.\d+)?(?=\)| )", "N", words.replace("0.0001", "#")).replace("#", "0.0001") == expected
    )


def test_the_headline_of_one_system_has_its_values(one):
    [line] = write_headline([one], None, DEFAULT)
    low, high = one.interval("P@1")
    value = f"P@1 {100 * one['P@1']:.2f} ± {50 * (high - low):.2f}\N{NO-BREAK SPACE}%"
    assert parse(line).text == f"{one.name} has {value} on 40 instances."


def test_the_headline_of_systems_that_were_not_compared_claims_no_test():
    results = compared("ab", (0.0, 2.0), k=[1, 2], metrics="P").results
    first, second = (parse(line).text for line in write_headline(results, None, DEFAULT))
    assert first.startswith("b has the highest P@1, ")
    assert first.endswith(": the difference to a was not tested.")
    assert second == "b has the best value of all 2 metrics (P@1,2)."


def test_the_headline_counts_the_leads_that_were_detected():
    comparison = compared("abc", (0.0, 2.0, 0.1), k=[1, 2], metrics="P")
    _, line = write_headline(comparison.results, comparison, DEFAULT)
    assert parse(line).text == (
        "b has the best value of all 2 metrics (P@1,2); each of these leads over the next system was detected."
    )


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


def test_notebooks_get_a_fragment_without_scripts(several, one):
    for shown in (several, one):
        root = parse(shown._repr_html_())
        assert [each.tag for each in root.inside] == ["div"]
        assert not root.all("script")
        assert not root.all("style")
        assert all(row.all("th", scope="row") for row in root.all("table")[0].all("tbody")[0].all("tr"))


def test_matplotlib_is_needed_and_named(one, monkeypatch):
    monkeypatch.setattr("xmceval.report.pictures.find_spec", lambda _: None)
    with pytest.raises(xmceval.DataError, match=r"pip install 'xmceval\[plot\]'"):
        render_page([one])
