"""The guides tell the truth: their Python runs, and every option, command, name, file and guide in them exists."""

import json
import pydoc
import re
import shutil
from pathlib import Path

import click
import numpy as np
import pytest
from scipy import stats
from support.measures import parse
from support.processes import COMMANDS, cli
from support.recipes import BLOCK, GUIDES, find_code, find_imports, run, split_parts

import xmceval
from xmceval import METRICS

ROOT = Path(__file__).parents[2]
OPTIONAL = {"sklearn", "ir_measures"}  # packages that scripts/oldest leaves out, as they need newer ones
OF_OTHERS = {"--array", "--out_path"}  # of Slurm and omikuji


def command_of(name):
    return cli.get_command(click.Context(cli), name)


def flags_of(name):
    return {flag for each in command_of(name).params for flag in (*each.opts, *each.secondary_opts)}


FLAGS = {name: flags_of(name) for name in COMMANDS}
ANY_FLAG = set().union(*FLAGS.values())


def all_over(topics):
    return pytest.mark.parametrize("text", [GUIDES[topic] for topic in topics], ids=topics)


def commands_in(text):
    """Yield the name and the rest of every command that code of a guide shows."""
    blocks = (block for kind, block in BLOCK.findall(text) if kind in {"console", "sh", "yaml"})
    spans = (span for span in re.findall(r"`([^`\n]+)`", BLOCK.sub("", text)))
    for code in (*blocks, *spans):
        for line in code.replace("\\\n", " ").splitlines():
            for found in re.finditer(r"(?<![\w./'\[-])xmceval +([\w-]+)((?:(?!#| > ).)*)", line):
                yield found[1], found[2]


@all_over(GUIDES)
def test_every_command_exists_and_has_the_options_that_it_is_shown_with(text):
    for name, rest in commands_in(text):
        assert name in COMMANDS
        assert set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", rest)) <= FLAGS[name]


@all_over(GUIDES)
def test_every_option_exists(text):
    prose = re.sub(r"^```console\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    scripts = re.findall(r"scripts/[^`]*", prose)
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", prose)) - {flag for each in scripts for flag in each.split()}
    assert named <= ANY_FLAG | OF_OTHERS


@all_over(GUIDES)
def test_links_lead_to_guides(text):
    assert {name for _, name in re.findall(r"\[([^\]]+)\]\((\w+)\.md\)", text)} <= set(GUIDES)


def test_the_site_lists_every_guide_the_one_for_contributors_last():
    listed = re.findall(r"^xmceval/guide/(\w+)$", (ROOT / "scripts/docs/guides.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(GUIDES)
    assert (listed[0], listed[-2:]) == ("start", ["changes", "design"])


@all_over(GUIDES)
def test_every_python_name_exists(text):
    names = set(re.findall(r"(?<![\w./'\"-])(xmceval(?:\.[A-Za-z_]\w*)+)", text)) - {"xmceval.toml"}
    # these two import what may not be installed
    names = {name for name in names if not name.startswith(("xmceval.torch", "xmceval.ir_measures"))}
    assert [name for name in names if pydoc.locate(name) is None] == []


def test_help_names_what_there_is_and_the_first_guide():
    lists = re.findall(r"^(\w+(?:, [\w.]+)*)(?: and others)?\n    ", xmceval.__doc__, re.MULTILINE)
    names = [name for each in lists for name in each.split(", ")]
    assert len(names) > 12
    assert [name for name in names if pydoc.locate(f"xmceval.{name}") is None] == []
    assert {"start", "design"} == set(re.findall(r"``(\w+)\.md``", xmceval.__doc__)) <= set(GUIDES)


@all_over(GUIDES)
def test_every_file_of_the_source_exists(text):
    spans = re.findall(r"`((?:datasets|scripts|tests)/[\w./]+)", text)
    spans += [f"xmceval/{span}" for span in re.findall(r"`((?:[a-z]+/)[\w./]+)`", text)]
    missing = [
        span for span in spans if not (ROOT / span).exists() and not (ROOT / span.removeprefix("xmceval/")).exists()
    ]
    assert not missing


@all_over(GUIDES)
def test_names_of_metrics_with_options_are_read(text):
    keys = {key for metric in METRICS.values() for key in (*metric.options, *metric.numbers)}
    for name, key in re.findall(r"[`'](\w+\((\w+)=[\w,=-]+\)(?:@[\d,a-z]+)?)[`']", text):
        assert key not in keys or parse(name, [1])


@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
@all_over([topic for topic in GUIDES if topic not in {"loops", "recipes"}])
def test_python_runs(text, tmp_path):
    shutil.copytree(ROOT / "datasets" / "sample", tmp_path / "datasets" / "sample")
    code = find_code(text)
    assert ">>>" in code or not code
    for library in OPTIONAL & {*find_imports(code)}:
        pytest.importorskip(library)
    run(code)


@all_over(GUIDES)
def test_lines_are_at_most_120_wide(text):
    prose = BLOCK.sub("", text).splitlines()
    assert [line for line in prose if len(line) > 120 and not line.startswith("|")] == []


def test_figures_of_speed_are_those_that_were_measured():
    measured = json.loads((ROOT / "datasets" / "speed.json").read_text())["measured"]
    figures = {(each["subject"], each["contestant"]): each for each in measured}
    text = GUIDES["operations"]
    rows = re.findall(r"^\| ([\d,]+)(?: \((.*)\))? \| .* \| ([\d.]+) s \| (\d+) MB \|$", text, re.MULTILINE)
    assert rows
    for n, name, seconds, megabytes in rows:
        own = figures[name.lower() or f"titles-{n.replace(',', '')}", "xmceval"]
        assert (f"{own['wall']['median']:.2f}", f"{own['peak']['median']:.0f}") == (seconds, megabytes)
    for subject in ("amazon-670k", "amazon-3m"):
        ours, plain, utf8 = (figures[subject, name] for name in ("xmceval", "wc -w", "wc -w, UTF-8"))
        cells = [f"{each['median']:.2f} s" for each in (ours["wall"], ours["cpu"], plain["wall"], utf8["wall"])]
        assert f"B | {' | '.join(cells)} |" in text
        times = sorted(each["wall"]["median"] / ours["wall"]["median"] for each in (plain, utf8))
        shape = {"amazon-670k": "Amazon-670K", "amazon-3m": "Amazon-3M"}[subject]
        assert f"{times[0]:.1f} to {times[1]:.1f} times as long for {shape}" in " ".join(text.split())


def test_copies_of_instances_break_the_test_as_often_as_the_guide_says():
    # Of m copies the mean varies m times as much as the test takes it to.
    share = 2 * stats.norm.sf(stats.norm.isf(0.025) / np.sqrt(5))
    drawn = np.repeat(np.random.default_rng(0).normal(size=(3000, 100)), 5, axis=1)
    found = float(np.mean(stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.05))
    assert found == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 3000))
    words = " ".join(GUIDES["compare"].split())
    assert f"each instance five times in the file, about {share:.0%} of tests find a difference" in words


def test_bins_by_counts_are_those_of_the_guide():
    words = " ".join(GUIDES["start"].split())
    assert "`--by-frequency 10,100` makes bins of labels with 0 to 9, 10 to 99, and 100 or more training" in words


def test_systems_may_be_columns_but_for_a_benchmark():
    assert "for results of `score` and `compare` but not of a benchmark" in " ".join(GUIDES["start"].split())


LOOPS = split_parts(GUIDES["loops"])[1]


@pytest.mark.parametrize("heading", LOOPS)
def test_loops_run(heading):
    code = find_code(LOOPS[heading])
    for library in find_imports(code):
        pytest.importorskip(library)
    run(code)


VECTORS = split_parts(GUIDES["search"])[1]["From vectors to values"]
WAYS = re.findall(r"^\| `(\w.+)` \| ", VECTORS, re.MULTILINE)


@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("index.")])
def test_blocks_of_vectors_give_the_values_of_all_scores(way, rng):
    names = run(">>> import xmceval\n" + find_code(VECTORS))
    for name, n in (("queries", 70), ("labels", 500)):
        np.save(f"{name}.npy", rng.normal(size=(n, 8)).astype("float32"))
    queries, labels = (np.load(f"{name}.npy", mmap_mode="r") for name in ("queries", "labels"))
    truth = [set(rng.integers(0, 500, 3).tolist()) for _ in range(70)]
    expected = xmceval.score(truth, queries @ labels.T, metrics="nDCG", k=10)
    if way.startswith("torch"):
        names["torch"] = pytest.importorskip("torch")
        queries, labels = (names["torch"].tensor(np.array(vectors)) for vectors in (queries, labels))
    if not way.startswith("find_best"):
        names["find_best"] = eval(f"lambda queries, labels, k: {way}", names)
    result = names["evaluate"](queries, labels, truth, k=100, block=20)
    assert result["nDCG@10"] == expected["nDCG@10"] > 0


def test_recipes_are_found_and_what_they_import(capsys):
    _, recipes = split_parts(GUIDES["loops"])
    without = [name for name, text in recipes.items() if not re.search("Evaluator|Metric", text)]
    assert without == []
    assert {"PyTorch", "Lightning", "Hugging Face", "Keras", "torchmetrics"} <= set(recipes)
    assert find_imports(">>> import numpy\n>>> from no_such.thing import it\n") == ["no_such", "numpy"]
    with pytest.raises(AssertionError):
        run(">>> 1 + 1\n3\n")
    assert "Expected:" in capsys.readouterr().out
