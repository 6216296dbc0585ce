"""Pictures show the numbers of the report, for any number of systems and any names, in the same bytes each time."""

import io
import re
import xml.etree.ElementTree as ET
from itertools import zip_longest

import matplotlib as mpl
import matplotlib.image
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.layout_engine import ConstrainedLayoutEngine

import xmceval
from xmceval.errors import DataError, UsageError
from xmceval.report import pictures
from xmceval.report.pictures import KINDS, OF_COMPARISON, OF_RESULTS, choose_measures, default_kind, figure, plot, save
from xmceval.report.pictures.drawing import plan_picture
from xmceval.report.pictures.figure import HATCHES, INK, Look, draw_keys, draw_panels, printable, to_bytes, wrap

NAMES = (
    "plain",
    "_under_score",
    "$a_b$ cost",
    "<script>alert(1)</script>",
    "emoji 😀 & שלום",
    "\x01\udcff\n " + "x" * 50,
)


def compare(names, metrics=("P", "nDCG", "PSP", "DCG@3", "macroF1@3", "Abandonment@3"), k=(1, 3)):
    names = NAMES[:names] if isinstance(names, int) else names
    rng = np.random.default_rng(len(names))
    y_true = (rng.random((60, 20)) < np.linspace(0.5, 0.05, 20)).astype(float)
    y_true[0] = 0
    noise = {name: (1 + i % 2) * rng.normal(size=y_true.shape) for i, name in enumerate(names)}
    scores = {name: 1 / (1 + np.exp(1 - 2 * y_true - each)) for name, each in noise.items()}
    return xmceval.compare(y_true, scores, train=y_true, metrics=metrics, k=k, by_frequency="head,torso,tail")


@pytest.fixture(scope="module")
def comparison():
    return compare(3)


def texts_of_legends(figure):
    """Return the texts of the legends of a figure, line by line, in reading order."""
    columns = [column for legend in figure.legends for column in legend._legend_handle_box.get_children()]
    lines = zip_longest(*([row.get_children()[1].get_text() for row in each.get_children()] for each in columns))
    return [text for line in lines for text in line if text]


@pytest.mark.parametrize("n", [1, 2, 6])
def test_each_kind_draws_any_number_of_systems_with_any_names_in_full(n):
    found = compare(max(n, 2))
    for kind in OF_RESULTS:
        texts = texts_of_legends(plot(found.results[:n], kind=kind))
        names = [printable(name) for name in NAMES[:n]] if n > 1 else []
        assert [re.sub(r"\s", "", text) for text in texts] == [re.sub(r"\s", "", name) for name in names]
    if n > 1:
        assert found.plot("differences").axes


def test_a_picture_of_bins_shows_systems_and_not_their_runs():
    """Bars are means over runs, with sd around them; the systems of a comparison stand side by side in each bin."""
    rng = np.random.default_rng(7)
    y_true = (rng.random((60, 20)) < np.linspace(0.5, 0.05, 20)).astype(float)
    systems = {"one": rng.random(y_true.shape), "runs": [y_true / 2 + rng.random(y_true.shape) for _ in range(3)]}
    options = {"train": y_true, "metrics": "P", "k": 3, "by_frequency": "head,torso,tail"}
    found = xmceval.compare(y_true, systems, **options)
    drawn = found.plot("bins")
    assert texts_of_legends(drawn) == ["one", "runs"]
    bars = [[bar.get_height() for bar in bars] for bars in drawn.axes[0].containers if hasattr(bars, "patches")]
    results = [xmceval.score(y_true, scores, **options) for scores in (systems["one"], *systems["runs"])]
    values = 100 * np.array([[part.estimates["P@3"].value for part in result.slices] for result in results])
    np.testing.assert_allclose(bars, [values[0], values[1:].mean(axis=0)])
    whiskers = drawn.axes[0].collections[1].get_segments()
    lengths = [np.ptp(line[:, 1]) for line in whiskers]
    np.testing.assert_allclose(lengths, 2 * values[1:].std(axis=0, ddof=1))
    plan = plan_picture("bins", found.results, found, choose_measures("bins", found.results, found))
    assert plan.caption == "metrics by bin of labels, with 95% intervals or ± sd over runs"


@pytest.mark.parametrize(
    "text", ["a b", "Attention-XML_0 (k=5), trained on all", "W" * 70, "极端多标签" * 9, "", "  x "]
)
def test_wrapping_breaks_lines_and_leaves_nothing_out(text):
    with figure.style():
        lines = wrap(text, 1.3, 7.5).split("\n")
        assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", text)
        assert max(figure.measure(line, 7.5) for line in lines) <= 1.3
        assert wrap("Attention-XML trees", 0.9, 7.5) == "Attention-XML\ntrees"


def luminance(color):
    """Return the relative luminance of WCAG."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return np.dot((0.2126, 0.7152, 0.0722), linear)


def test_systems_are_told_apart_without_colours():
    """Of eight, no two share a marker or a hatch; dashes repeat from the seventh on, whose markers are hollow."""
    looks = [Look.of(i) for i in range(8)]
    assert len({look.marker for look in looks}) == len({look.hatch for look in looks}) == 8
    assert len({str(look.dashes) for look in looks[:6]}) == 6
    for look in looks:
        light = luminance(look.color) + 0.05
        assert 1.05 / light >= 3 <= light / 0.05, "of 3 with white, and with black"
    assert HATCHES.count("") == 1


def test_curves_show_values_and_intervals(comparison):
    panels = comparison.plot("curves", metrics="P,DCG").axes
    assert [panel.get_ylabel() for panel in panels] == ["P@k, %", "DCG@k"]
    for line, result in zip(panels[0].lines, comparison.results, strict=True):
        assert line.get_xdata().tolist() == [1, 3]
        assert line.get_ydata().tolist() == [100 * result["P@1"], 100 * result["P@3"]]
    band = panels[0].collections[1].get_paths()[0].vertices
    bounds = {(k, 100 * end) for k in (1, 3) for end in comparison.results[1].interval(f"P@{k}")}
    assert bounds <= {tuple(point) for point in band.tolist()}


def test_one_cutoff_is_points_with_intervals(comparison):
    [panel] = comparison.results[0].plot("curves", metrics="DCG").axes
    [container] = panel.containers
    assert container.lines[0].get_ydata().tolist() == [comparison.results[0]["DCG@3"]]
    segment = container.lines[2][0].get_segments()[0]
    assert segment[:, 1].tolist() == pytest.approx(comparison.results[0].interval("DCG@3"))
    assert [label.get_text() for label in panel.get_xticklabels()] == ["3"]


def test_bins_show_shares_that_add_up_and_say_so(comparison):
    panel = comparison.plot("bins", metrics="P@3").axes[0]
    assert panel.get_ylabel() == "share of P@3, points"
    bars = [[bar.get_height() for bar in container] for container in panel.containers if hasattr(container, "patches")]
    for heights, result in zip(bars, comparison.results, strict=True):
        assert heights == [100 * part.estimates["P@3"].value for part in result.slices]
        assert sum(heights) == pytest.approx(100 * result["P@3"])
    low, high = comparison.results[0].slices[2].bin.low, comparison.results[0].slices[2].bin.high
    assert panel.get_xticklabels()[2].get_text() == f"tail\n{low}–{high}"


def test_bins_of_labelwise_metrics_are_averages():
    rng = np.random.default_rng(0)
    y_true = (rng.random((30, 8)) < 0.4).astype(float)
    options = {"metrics": "macroF1@3", "by_frequency": "head,tail", "train": y_true}
    result = xmceval.score(y_true, rng.random(y_true.shape), **options)
    panel = result.plot().axes[0]
    assert panel.get_ylabel() == "macroF1@3 within the bin, %"
    values = [100 * part.estimates["macroF1@3"].value for part in result.slices]
    assert [bar.get_height() for bar in panel.patches][:2] == values


def test_differences_show_intervals_and_mark_significance_by_shape(comparison):
    panels = comparison.plot(metrics="P,nDCG,PSP,DCG,macroF1,Abandonment").axes[:9]
    whole = [each for each in comparison.differences if not each.bin]
    order = list(dict.fromkeys(each.measure for each in whole))
    titles = [panel.get_title(loc="left").removesuffix(", points") for panel in panels]
    assert titles == [measure.name for measure in order]
    filled = []
    for panel, measure in zip(panels, order, strict=True):
        expected = [each for each in whole if each.measure == measure]
        factor = 100 if measure.metric.unit == "share" else 1
        points = [line for line in panel.lines if line.get_linestyle() == "None"]
        assert [line.get_xdata()[0] for line in points] == [factor * each.difference for each in expected]
        assert [text.get_text().replace("\N{MINUS SIGN}", "-") for text in panel.texts] == [
            f"{factor * each.difference:+.2f}" for each in expected
        ]
        spans = [tuple(line.get_xdata()) for line in panel.lines[1:] if line.get_linestyle() == "-"]
        assert spans == [(factor * each.low, factor * each.high) for each in expected if each.low is not None]
        filled += [line.get_markerfacecolor() != "none" for line in points]
        assert filled[-3:] == [each.is_detected for each in expected]
    assert 0 < sum(filled) < len(filled)
    assert panels[0].get_yticklabels()[0].get_text() == "_under_score \N{MINUS SIGN} plain"


def test_differences_in_other_units_have_axes_of_their_own():
    found = compare(3, metrics=("P@3", "DCG@3", "coverage_error"))
    limits = [panel.get_xlim() for panel in found.plot("differences").axes[:3]]
    assert len(set(limits)) == 3, "a share, a gain, a count"


def test_untested_differences_have_a_mark_of_their_own():
    legend = compare(3, metrics="macroF1(over=largest)@3").plot("differences").legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["not tested"]


WIDE = [
    ["PECOS", "Parabel", "Ensemble"],
    pytest.param(["W" * 40, "M" * 40, "WM" * 20], marks=pytest.mark.thorough),
    ["m" * 99, "@" * 99],
    ["極端多標籤分類模型" * 3, "模型二", "a" * 30],
    pytest.param(["מודל ארוך מאוד מאוד מאוד", "b"], marks=pytest.mark.thorough),
]


def margins(figure):
    """Return how much room is left around the ink, in points: on the left, on the right, above and below."""
    ink = (mpl.image.imread(io.BytesIO(to_bytes(figure, "png")))[..., :3] < 0.9).any(axis=2)
    found = []
    for axis in (0, 1):
        places = np.flatnonzero(ink.any(axis=axis))
        found += [places[0], ink.shape[1 - axis] - 1 - places[-1]]
    return [float(72 * each / 300) for each in found]


@pytest.mark.parametrize("size", ["column", pytest.param("page", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("names", WIDE)
def test_names_of_any_width_stay_inside_the_picture(names, size):
    found = compare(names, metrics=("P@3", "DCG@3"))
    for kind in ("differences", "bins") if size == "column" else ("differences",):
        assert min(margins(found.plot(kind, size=size))) >= 2, kind


def test_the_bytes_of_a_file_depend_on_the_picture_alone(comparison, tmp_path):
    written = []
    for user in ({}, {"axes.facecolor": "red", "font.size": 20, "ytick.direction": "in", "svg.hashsalt": "other"}):
        with mpl.rc_context(user):
            figure = comparison.plot("bins", metrics="P@3")
            for form in ("svg", "png", "pdf"):
                save(figure, tmp_path / f"{len(written)}.{form}")
                written.append((tmp_path / f"{len(written)}.{form}").read_bytes())
    assert written[:3] == written[3:]
    svg, png, pdf = written[:3]
    assert png.startswith(b"\x89PNG")
    assert b"/FontFile2" in pdf, "fonts are embedded as TrueType"
    assert not [word for word in (b"Date", mpl.__version__.encode()) if word in svg or word in pdf]


def svgs_of(comparison, kind, prefix="x", metrics=None):
    """Return the svg elements of a page: those of panels, then those of the keys of the legend."""
    measures = choose_measures(kind, comparison.results, comparison, metrics)
    plan = plan_picture(kind, comparison.results, comparison, measures)
    return [*draw_panels(plan, prefix), *(svg for _, svg in draw_keys(plan, prefix))]


def test_svg_for_a_page_has_its_colours_and_its_own_ids(comparison):
    svgs = svgs_of(compare(6), "curves", metrics="P") + svgs_of(comparison, "bins", "y")
    ids = []
    for svg in svgs:
        assert svg.startswith("<svg ")
        root = ET.fromstring(svg)
        assert INK not in svg
        assert not [element for element in root.iter() if element.tag.endswith("script")]
        own = re.findall(r'\bid="([^"]+)"', svg)
        assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg)) <= set(own)
        ids += own
    assert len(ids) == len(set(ids))
    assert "currentColor" in svgs[0]
    assert ET.fromstring(svgs[0])[0].text == "P@k, %, cutoff k"


def test_text_of_a_picture_is_text_and_no_name_is_read_as_mathematics_or_markup(comparison, tmp_path):
    save(comparison.plot("curves"), tmp_path / "a.svg")
    with pytest.raises(UsageError, match=r"a\.svg: already exists \(hint: pass force=True to overwrite\)"):
        save(comparison.plot("curves"), tmp_path / "a.svg")
    save(comparison.plot("curves"), tmp_path / "a.svg", force=True)
    root = ET.fromstring((tmp_path / "a.svg").read_text(encoding="utf-8"))
    assert {*NAMES[:3]} <= {element.text for element in root.iter()}
    assert root[0].text.startswith("P, nDCG, ")
    name = f'id="x" {INK} url(#y)'
    [*_, svg] = svgs_of(compare([name, "b"]), "differences", metrics="P@1")[:1]
    assert re.sub(r"\s", "", name) in "".join(re.sub(r"\s", "", text) for text in ET.fromstring(svg).itertext())


def test_svg_files_show_hatches(comparison):
    root = ET.fromstring(svgs_of(comparison, "bins", metrics="P@3")[0])
    patterns = [element for element in root.iter() if element.tag.endswith("pattern")]
    assert len(patterns) == 2, "the first system has none"


def test_a_picture_can_be_part_of_a_figure_of_the_user(comparison):
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.subplots()
    assert comparison.plot("curves", metrics="P", ax=ax) is figure
    assert len(ax.lines) == 3


def test_figures_are_ready_for_papers_and_notebooks(comparison, tmp_path):
    figure = comparison.plot("bins")
    assert not isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine), "laid out once: no file differs"
    figure.savefig(tmp_path / "a.pdf")
    save(figure, tmp_path / "b.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
    assert comparison.plot("curves").get_size_inches()[0] == 6.9
    assert comparison.plot("curves", size="column").get_size_inches()[0] == 3.3
    figure = comparison.results[0].plot("curves", metrics="P")
    data, shown = figure._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert (figure.get_size_inches()[0], shown["width"], shown["alt"]) == (3.3, 396, figure.get_label())
    assert figure.get_facecolor() == (1, 1, 1, 1), "matplotlib's own display in notebooks keeps it on dark ones"


def test_kinds_are_those_of_the_table_and_each_subject_has_a_default(comparison):
    assert tuple(KINDS) == OF_COMPARISON
    assert set(OF_RESULTS) < set(OF_COMPARISON)
    assert default_kind(comparison.results, comparison) == "differences"
    assert default_kind(comparison.results) == "bins"
    one_row = xmceval.score([[1, 0, 1]], [[0.5, 0.2, 0.4]], metrics="P", k=[1, 2])
    assert default_kind([one_row]) == "curves"
    assert one_row.plot().axes[0].lines[0].get_ydata().tolist() == [100, 100]


PLAIN = xmceval.score(np.eye(2), [[0.5, 0.2], [0.1, 0.2]], metrics=["P@1", "AUC"])


def test_without_matplotlib_the_error_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(pictures, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=re.escape("pip install matplotlib")):
        PLAIN.plot("curves")


def test_metrics_of_a_picture_are_understood_in_any_spelling(comparison):
    def labels(metrics):
        return [ax.get_ylabel() for ax in comparison.plot("bins", metrics=metrics).axes]

    assert labels("precision@1,3") == labels(["P@1", "p@3"]) == ["share of P@1, points", "share of P@3, points"]


def test_pictures_of_many_systems_say_what_is_left_out():
    found = compare([*NAMES, *"ab"], metrics=("P", "PSP", "nDCG", "R"))
    drawn = {kind: found.plot(kind) for kind in OF_COMPARISON}
    label = drawn["differences"].get_label()
    assert "7 of 28 pairs, those with plain (hint: against= chooses others)" in label
    assert "metrics at their largest cutoff (hint: metrics= chooses others)" in label
    assert "intervals are not adjusted" in label
    for kind, found in drawn.items():
        assert found.get_size_inches()[1] <= 8.5, "a page of a paper"
        assert ("of 28 pairs" in found.get_label()) == (kind == "differences")


def test_from_four_systems_on_curves_are_points_beside_each_other():
    found = compare(4)
    panel = found.plot("curves", metrics="P").axes[0]
    places = [container.lines[0].get_xdata() for container in panel.containers]
    assert (np.diff(places, axis=0) > 0).all()
    assert np.max(np.abs(np.array(places) - [0, 1])) < 0.5
    for container, result in zip(panel.containers, found.results, strict=True):
        spans = [segment[:, 1] for segment in container.lines[2][0].get_segments()]
        assert np.array(spans) == pytest.approx(100 * np.array([result.interval(f"P@{k}") for k in (1, 3)]))
