"""The page of `--page` and of `to_html`: complete, well-formed, safe, the same bytes for the same results."""

import itertools
import re

import numpy as np
import pytest
from support.approved import check
from support.markup import parse, read_table

import xmceval
from xmceval.comparison.difference import format_p
from xmceval.page.page import render_page
from xmceval.page.provenance import Digest, Provenance
from xmceval.page.tables import write_sentence
from xmceval.report.forms.html import element, isolate, join, name, text
from xmceval.report.sheet import Layout
from xmceval.version import VERSION

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
def root(page):
    return parse(page)


@pytest.fixture(scope="module")
def one():
    return xmceval.score(*made(1, 0.6), k=1, metrics="P")


def test_names_are_shown_as_they_are_and_run_nothing(root):
    assert not root.all("script")
    assert not root.all("b", text="text")
    heads = {row[0] for row in read_table(root.all("table")[0])}
    assert {"(a) <script>alert(1)</script>", f"(b) {NASTY[1]}", f"(c) {NASTY[2]}"} < heads
    assert "(d) \ufffd[31m\ufffd\ufffd😀" in heads, "no control character, surrogate or override of direction"
    assert not any(key.startswith("on") for each in root.all() for key in each.attributes)


def test_names_are_never_cut_in_tables_legends_or_pictures(page, root):
    figures = {kind: root.all("figure", id=f"picture-{kind}")[0] for kind in ("curves", "bins", "differences")}
    panels = [re.sub(r"\s", "", each.text) for each in figures["differences"].all("svg")]
    for long in (NASTY[0], NASTY[2]):
        assert [each for each in root.all("th") if long in each.text]
        assert all([key for key in figures[kind].all("bdi") if key.text == long] for kind in ("curves", "bins"))
        assert [text for text in panels if re.sub(r"\s", "", long) in text]
    assert "text-overflow" not in page
    assert "…" not in page


def test_the_page_loads_nothing_and_runs_nothing(page, root):
    [policy] = root.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert "default-src 'none'" in policy.attributes["content"]
    assert "script-src" not in policy.attributes["content"]
    assert not [each for each in root.all() if {"src", "srcset", "action", "data"} & each.attributes.keys()]
    links = [each.attributes["href"] for each in root.all() if "href" in each.attributes]
    assert links
    assert all(link.startswith("#") for link in links)
    of_svg = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\"' <]*", page)) <= of_svg
    assert "@import" not in page


def test_links_anchors_headings_and_landmarks_are_sound(root):
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


def test_columns_without_values_of_bins_are_no_block_of_their_own():
    y_true, y_score = made(1, 0.6)
    metrics = [f"LRAP(rel={grade})" for grade in range(1, 9)]
    result = xmceval.score_all(y_true, {"a": y_score, "b": -y_score}, metrics=["P@1", *metrics], by_frequency=[2])
    bins = parse(result.to_html()).all("section", id="bins")[0]
    heads = [[cell.text for cell in table.all("thead")[0].all("th")] for table in bins.all("table")]
    assert {tuple(each) for each in heads} == {("P@1",)}


def test_a_system_may_be_called_ceiling():
    names = ("glass ceiling", "ceiling")
    root = parse(compared(names, (0.9, 0.3), k=1, metrics="P", ceiling=True).to_html())
    rows = root.all("table")[0].all("tbody")[0].all("tr")
    assert [row.all("th")[0].text for row in rows] == ["glass ceiling", "ceiling", "ceiling"]
    assert [row.attributes.get("class") for row in rows] == [None, None, "ceiling"]


def test_pictures_say_in_words_what_they_show_and_fit_the_narrowest_screen(several, root):
    figures = root.all("figure")
    assert len(figures) >= 3
    for figure in figures:
        panels, [caption] = figure.all("svg", role="img"), figure.all("figcaption")
        assert figure.attributes["aria-label"]
        assert panels
        assert all(panel.all("title")[0].text for panel in panels)
        assert caption.text.endswith(".")
        widths = [float(panel.attributes["viewbox"].split()[2]) for panel in panels]
        assert max(widths) * 9 / 7.5 < 380 - 32, "letters of 7.5 points have 9 pixels where a window has 380"
    bins = root.all("figure", id="picture-bins")[0]
    keys = [each.text for each in bins.all("ul", class_="keys")[0].all("bdi")]
    assert len(keys) == len(several.results)
    assert keys[0] == several.results[0].name


def test_the_same_results_give_the_same_bytes(several, page):
    assert several.to_html() == page
    assert len(page.encode()) < 1_000_000


def test_a_page_without_pairs_has_the_table_of_systems_and_the_verdicts(full):
    short = full.to_html(pairs=False)
    assert "wins/ties/losses" not in short  # which is in the approved page
    assert 'id="verdict"' in short


def test_a_layout_and_a_title_are_kept_and_a_path_is_written(one, tmp_path):
    assert one.to_html(tmp_path / "p.html", title="<Mine>", percent=False, places=3, intervals=False) is None
    root = parse((tmp_path / "p.html").read_text(encoding="utf-8"))
    assert root.all("h1")[0].text == root.all("title")[0].text == "<Mine>"
    assert read_table(root.all("table")[0])[1] == ["P", f"{one['P@1']:.3f}"]


@pytest.fixture(scope="module")
def full():
    """A comparison with every kind of number that a page can show."""
    options = {"k": [1, 3], "metrics": ["P", "PSP"], "by_frequency": "head,tail", "ceiling": True}
    y_true = made(0, 1)[0]
    scores = {name: np.minimum(made(i, 0.4 * i)[1] / 2, 1) for i, name in enumerate("abc", 1)}
    return xmceval.compare(y_true, scores, **options)


NOT_SHARES = {"0.05", "0.0001", "0.55", "1.5"}  # level, the least p that is written, A and B
PLAIN = "95%|80%|[0-9.]+% of "  # of intervals, of power, and of the labels of a bin


@pytest.mark.parametrize(
    ("options", "n_places"),
    [({}, 2), ({"places": 5}, 5), ({"percent": False}, 4), ({"percent": False, "places": 0}, 0)],
)
def test_every_share_on_a_page_has_the_places_and_the_unit_of_the_layout(full, options, n_places):
    html = render_page(full.results, full, layout=Layout(pairs=True, **options))
    sections = {each.attributes["id"]: each for each in parse(html).all("section")}
    for of_definitions in ("definitions", "provenance"):
        del sections[of_definitions]
    assert {"results", "bins", "differences", "verdict"} < sections.keys()
    exempt = NOT_SHARES | {format_p(p) for each in full.differences for p in (each.p, each.p_adjusted)}
    for section in sections.values():
        texts = section.all("figcaption") if section.all("figure") else [*section.all("p"), *section.all("li")]
        texts += [*section.all("td"), *section.all("caption")]
        words = re.sub(PLAIN, "", " ".join(each.text for each in texts))
        numbers = set(re.findall(r"(?<![\w.])\d+\.\d+", words)) - exempt
        assert {each for each in numbers if len(each.partition(".")[2]) != n_places} == set()
        assert options.get("percent", True) or not re.search("%|percent|points", words)


def test_the_spread_of_runs_is_shown():
    y_true = made(0, 1)[0]
    runs = {name: [made(seed, quality)[1] for seed in (1, 2, 3)] for name, quality in (("a", 0.2), ("b", 0.9))}
    comparison = xmceval.compare(y_true, runs, k=1, metrics="P")
    root = parse(comparison.to_html())
    tables = {each.attributes["aria-label"]: read_table(each) for each in root.all(role="group")}
    assert tables["b · 3 runs"][0] == ["", "mean", "sd", "lowest", "highest"]
    assert "± is the standard deviation over runs" in root.all("section", id="results")[0].text


@pytest.mark.parametrize("n", [1, 2, 8])
def test_pages_of_one_to_eight_systems_have_each_system_in_every_table_and_picture(n):
    names = [f"system {i}" for i in range(n)]
    options = {"k": [1, 3], "metrics": ["P", "nDCG"], "by_frequency": "head,tail"}
    subject = compared(names, np.linspace(0.1, 0.9, n), **options) if n > 1 else xmceval.score(*made(0, 0.5), **options)
    root = parse(subject.to_html())
    for part in ("results", "bins"):
        for table in root.all("section", id=part)[0].all("table"):
            heads = [row[0] for row in read_table(table)[1:]]
            assert [each.partition(") ")[2] or each for each in heads] == (names if n > 1 else ["P", "nDCG"])
    for figure in root.all("figure")[:2]:
        assert [key.text for key in figure.all("bdi")] == (names if n > 1 else [])
    assert len(root.all("figure")) == (3 if n > 1 else 2)


def test_tables_are_read_without_css_and_pictures_have_no_styles_of_the_page(page, root):
    for table in root.all("table"):
        n_cells = {len(row.inside) for row in table.all("tr")}
        assert len(n_cells) == 1, "every row has as many cells, none is placed by css"
        assert all(row.inside[0].tag in {"th", "td"} for row in table.all("tr"))
    assert "position: absolute" not in re.sub("[.]skip {[^}]*}", "", page)
    assert "content:" not in page


def strip_pictures(html):
    """Return what a page says, a row or sentence per line: without its style, and the insides of pictures."""
    html = re.sub("<style>.*?</style>", "", html, flags=re.S).replace(VERSION, "VERSION")
    html = re.sub("(<svg)[^>]*>.*?(</svg>)", r"\1>\2", html, flags=re.S)
    return re.sub(r"(</(?:tr|p|li|h\d|section|figure|table|title|pre|nav)>)\s*", r"\1\n", html)


def test_pages_are_as_they_were_approved(full, one):
    check(__file__, "page.html", strip_pictures(full.to_html()))
    files = (Digest("truth", "a<b.txt", 1_234_567, "0" * 64), Digest("predictions", "p.txt", 3, "f" * 64))
    provenance = Provenance(files, "xmceval score 'a<b.txt' p.txt")
    check(__file__, "page of one.html", strip_pictures(render_page([one], provenance=provenance)))


def test_markup_escapes_whatever_is_not_markup_and_sentences_begin_with_a_capital_or_a_name():
    assert element("p", "<&>\"'", 3, None, [name("x")], class_="a<b", id=None) == (
        '<p class="a&lt;b">&lt;&amp;&gt;&quot;&#x27;3<bdi>x</bdi></p>'
    )
    assert text("a\x00b\ud800") == "a\ufffdb\ufffd"
    assert join([text("&"), "&"]) == "&amp;&amp;"
    assert isolate("מודל is better than b", ["מודל", "b"]) == "<bdi>מודל</bdi> is better than b"
    names = ["b", "nDCG"]
    lines = {"b − a · points": "b − a · points.", "nDCG@1 was left out": "nDCG@1 was left out.", "bins": "Bins."}
    assert {line: write_sentence(line, names) for line in lines} == lines


@pytest.mark.parametrize(
    ("metrics", "unit"), [("P@1", "Percent"), ("P@1,coverage_error", "Shares in percent"), ("coverage_error", "")]
)
def test_tables_say_which_values_are_percent(metrics, unit):
    text = xmceval.score(np.eye(3), np.eye(3), metrics=metrics).to_html()
    units = re.findall(r"Shares in percent|Percent", text.partition("</h2>")[2])
    assert units[:1] == [unit][: bool(unit)]
