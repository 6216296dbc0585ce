"""The pages of a benchmark: an index that needs no script, reports that lead back, safe names, the same bytes."""

import itertools
import re
from dataclasses import replace

import pytest
from support.benchmarks import benchmark, published_row
from support.markup import parse, read_table

from xmceval.errors import DataError, UsageError
from xmceval.report.forms.layout import Layout
from xmceval.report.leaderboard import render_leaderboard
from xmceval.report.leaderboard.pagefiles import name_files, write_pages

NASTY = "<script>alert(1)</script>"
SIX = {
    f"set {i}": {"old": 10 + i, "new": [22 + i % 3, 20], "mid": 14 + i + 3 * (i % 2), NASTY: 8} for i in range(4)
} | {
    "מודל & <b>": {"old": 9, "new": 25, "mid": 12, NASTY: 8, "some": 11},
    "LF-AmazonTitles-131K": {"old": 9, "new": 25, "mid": 12, NASTY: 8},
}


@pytest.fixture(scope="module")
def six():
    rows = {"set 1": {"Known": published_row(P_at_1=0.8)}}
    return benchmark(SIX, against="old", published=rows, failed={("set 3", "bad")}, why={"some": "no file"})


@pytest.fixture(scope="module")
def index(six):
    return six.to_html()


@pytest.fixture(scope="module")
def three(six):
    return replace(six, datasets=six.datasets[3:])


@pytest.fixture(scope="module")
def folder(three, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "of" / "all"
    three.to_pages(path, title="All <of> it")
    return path


@pytest.fixture(scope="module")
def two():
    return benchmark({"one": {"a": 10, "b": 30, "c": 12}, "two": {"a": 12, "b": 31}}, ceiling=True)


def sections(html):
    return {each.attributes["id"]: each for each in parse(html).all("section")}


def test_every_metric_has_a_table_of_the_systems_by_mean_rank_and_no_script_is_needed(six, index):
    found = sections(index)
    assert list(found) == ["P@1", "P@2", "coverage_error", "notes", "datasets"]
    assert not any("hidden" in each.attributes for each in parse(index).all())
    for measure in six.measures:
        table = found[measure.name].all("table")[0]
        heads = [each.text for each in table.all("th", scope="col")]
        assert heads[:3] == ["System", "Mean rank of 4, over 6", "set 0 40 × 5"]
        ranks = six.ranks(measure.name)
        order = [row.attributes["data-key"] for row in table.all("tbody")[0].all("tr")]
        assert order[:4] == sorted(ranks, key=ranks.__getitem__)
        assert order[4:] == ["some", "bad", "Known"]
    links = [each.attributes["href"] for each in parse(index).all("nav")[0].all("a")]
    assert links == ["#P@1", "#P@2", "#coverage_error"]
    assert parse(index).all("div", id="results")[0].attributes["data-shown"] == "P@2"


def test_cells_are_those_of_the_benchmark_with_what_they_are_sorted_by(six, index):
    table = sections(index)["P@1"].all("table")[0]
    rows = {row.attributes["data-key"]: row.all("td")[1:] for row in table.all("tbody")[0].all("tr")}
    for system, cells in rows.items():
        for dataset, cell in zip(six.datasets, cells, strict=True):
            try:
                value = f"{100 * six[dataset.name, system, 'P@1']:.2f}"
            except KeyError:
                value = None
            assert cell.attributes.get("data-value") == value
            assert value is None or cell.text.startswith(value)
    assert rows["bad"][3].text == "error"
    assert rows["bad"][0].text == "–missing"
    assert rows["some"][4].attributes["data-value"] == "27.50"
    assert rows["new"][0].text == "52.50 better than old▲"
    assert rows[NASTY][4].all("span", class_="unseen") == []
    ranks = [row.all("td")[0] for row in table.all("tbody")[0].all("tr")]
    assert [each.text for each in ranks] == ["1.00", "2.00", "3.00", "4.00", *["–not ranked"] * 3]


def test_heads_say_which_order_comes_first(index):
    for metric, first in (("P@1", None), ("coverage_error", "ascending")):
        rank, *datasets = sections(index)[metric].all("table")[0].all("th", scope="col")[1:]
        assert (rank.attributes["data-first"], rank.attributes["aria-sort"]) == ("ascending", "ascending")
        assert {each.attributes.get("data-first") for each in datasets} == {first}
    caption = sections(index)["coverage_error"].all("caption")[0].text
    assert caption.startswith("Lower is better. The best value and the second best of each data set are marked.")
    assert caption.endswith("▲\xa0better, ▼\xa0worse than old.")


def test_a_system_says_how_many_runs_it_has_or_that_it_is_published(index):
    heads = [row.all("th")[0].text for row in sections(index)["P@1"].all("tbody")[0].all("tr")]
    assert heads[0] == "new 2 runs"
    assert heads[-1] == "Known ♦ published"


def test_what_lies_across_data_sets_belongs_to_its_metric(six, index):
    for metric, section in sections(index).items():
        if metric in {"notes", "datasets"}:
            continue
        [svg], tests, wins = section.all("svg"), *section.all("table")[1:]
        assert svg.all("title")[0].text.startswith(f"mean rank by {metric} over 6 data sets: new 1.00, mid 2.00")
        text = [each.text for each in section.all("p")]
        assert text[0].startswith(
            "6 data sets, 4 systems: the systems differ (Friedman test, F(3, 15) = inf, p < 0.0001"
        )
        assert text[1] == f"new is ahead of old, {NASTY}; mid is ahead of {NASTY}; no other pair is told apart."
        assert read_table(tests)[1] == ["new", "0.094", "not detected"]
        assert read_table(wins)[2][:3] == ["new", "6/6", ""]
    ids = [each.attributes["id"] for each in parse(index).all() if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    assert six.across("P@1").nemenyi is not None


def test_with_fewer_than_five_data_sets_a_sentence_stands_for_the_diagram(two):
    section = sections(two.to_html())["P@1"]
    assert not section.all("svg")
    assert [each.text for each in section.all("p")] == ["Not tested: 2 data sets, at least 5 are needed."]
    assert read_table(section.all("tfoot")[0])[0] == ["ceiling", "", "100.00", "100.00"]


def test_a_data_set_that_lacks_a_metric_is_no_column_of_it(two):
    first, second = two.datasets
    results = tuple(replace(each, figures=each.figures[:2]) for each in second.comparison.results)
    less = replace(two, datasets=(first, replace(second, comparison=replace(second.comparison, results=results))))
    found = sections(less.to_html())
    columns = {name: len(found[name].all("table")[0].all("th", scope="col")) for name in ("P@1", "coverage_error")}
    assert columns == {"P@1": 4, "coverage_error": 2}
    assert "Across" not in found["coverage_error"].text


def test_a_data_set_where_nothing_could_be_scored_shows_so_and_has_no_report(two, tmp_path):
    cells = tuple(replace(each, status="error") for each in two.datasets[1].cells)
    less = replace(two, datasets=(two.datasets[0], replace(two.datasets[1], comparison=None, cells=cells)))
    less.to_pages(tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {"index.html", "one.html"}
    found = sections((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert [row[-1] for row in read_table(found["P@1"].all("tbody")[0])] == ["error"] * 3
    assert [each.attributes["href"] for each in found["datasets"].all("a")][::2] == ["one.html"]


def test_pages_lead_to_each_other_and_are_complete(three, folder):
    files = {"set-3.html", "b.html", "lf-amazontitles-131k.html"}
    assert {each.name for each in folder.iterdir()} == files | {"index.html"}
    index = parse((folder / "index.html").read_text(encoding="utf-8"))
    links = {
        each.text: each.attributes["href"]
        for each in sections((folder / "index.html").read_text())["datasets"].all("a")
    }
    assert list(links) == [each.name for each in three.datasets]
    assert set(links.values()) == files
    assert index.all("h1")[0].text == index.all("title")[0].text == "All <of> it"
    for name, address in links.items():
        page = parse((folder / address).read_text(encoding="utf-8"))
        assert page.all("h1")[0].text == name
        assert page.all("p", class_="back")[0].all("a")[0].attributes["href"] == "index.html"
        anchors = {each.attributes["id"] for each in page.all() if "id" in each.attributes}
        assert {"results", "files"} & anchors


def test_names_are_shown_as_they_are_and_run_nothing(index):
    root = parse(index)
    assert len(root.all("script")) == 1
    assert not root.all("b", text="מודל")
    assert {row.attributes.get("data-key") for row in root.all("tr")} >= {NASTY}
    assert "מודל & <b> 40 × 5" in [each.text for each in root.all("th", scope="col")]
    assert set(re.findall(r"https?://[^\"' <]*", index)) <= {"http://www.w3.org/2000/svg"}
    links = [each.attributes["href"] for each in root.all() if "href" in each.attributes]
    assert all(link.startswith("#") for link in links), "alone it leads nowhere else"


def test_headings_landmarks_and_labels_are_sound(index):
    root = parse(index)
    levels = [int(each.tag[1]) for each in root.all() if re.fullmatch("h[1-6]", each.tag)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert [len(root.all(tag)) for tag in ("header", "main", "nav", "footer")] == [1, 1, 1, 1]
    labels = [each.attributes["aria-label"] for each in root.all(role="group")]
    assert len(labels) == len(set(labels))


def test_the_same_benchmark_gives_the_same_bytes_on_any_terminal(two, tmp_path):
    two.to_pages(tmp_path / "a")
    write_pages(two, tmp_path / "b", layout=Layout(width=200, is_unicode=False, transpose=True, wins=True))
    names = sorted(each.name for each in (tmp_path / "a").iterdir())
    assert names == ["index.html", "one.html", "two.html"]
    assert [(tmp_path / "a" / name).read_bytes() for name in names] == [
        (tmp_path / "b" / name).read_bytes() for name in names
    ]


def test_other_files_of_the_folder_stay_and_earlier_pages_are_replaced(two, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "index.html").write_text("earlier")
    two.to_pages(tmp_path, places=3, percent=False)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert "0.250" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert {each.name for each in tmp_path.iterdir()} == {"mine.txt", "index.html", "one.html", "two.html"}


def test_names_of_files_are_safe_and_differ():
    names = ["index", "INDEX", "../../etc/passwd", "a b", "A-b", "con", "com1.x", "x" * 99, "x" * 98, "数据", ".", "é"]
    found = name_files(names)
    assert list(found) == names
    assert [each.removesuffix(".html") for each in found.values()] == [
        *("index-2", "index-3", "etc-passwd", "a-b", "a-b-2", "con-2", "com1-x", "x" * 60, f"{'x' * 60}-2"),
        *("dataset", "dataset-2", "e"),
    ]


def test_intervals_are_shown_where_they_are_asked_for(two):
    assert "±" not in sections(two.to_html())["P@2"].text
    assert "25.00 ±8.10" in sections(two.to_html(intervals=True))["P@2"].text


def test_what_cannot_be_written_is_refused(two, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="file: is not a folder"):
        two.to_pages(tmp_path / "file")
    (tmp_path / "index.html").mkdir()
    with pytest.raises(UsageError, match=r"index\.html: is not a file"):
        two.to_pages(tmp_path)
    monkeypatch.setattr("xmceval.report.pictures.find_spec", lambda name: None)
    with pytest.raises(DataError, match="matplotlib"):
        two.to_pages(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(DataError, match="matplotlib"):
        render_leaderboard(two)
