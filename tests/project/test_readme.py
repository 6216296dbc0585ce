"""README and guides tell the truth: commands print what they show, links lead somewhere, and the Python runs."""

import importlib.util
import re
import shutil
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

import xmceval
from xmceval import METRICS
from xmceval.files.formats import FORMATS
from xmceval.metrics.names import ALIASES
from xmceval.report.metric_list import display_name

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def load_script():
    loader = SourceFileLoader("readme_script", str(ROOT / "scripts" / "readme"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


SCRIPT = load_script()


@pytest.mark.parametrize("path", SCRIPT.DOCUMENTS, ids=lambda path: path.stem)
def test_shown_outputs_are_what_the_commands_print(path, tmp_path, monkeypatch, run):
    shutil.copytree(ROOT / "datasets" / "sample", tmp_path / "datasets" / "sample")
    text = path.read_text(encoding="utf-8")
    found = list(SCRIPT.find_shown(text))
    assert len(found) == text.count("\n$ xmceval ")
    for shown in found:
        monkeypatch.chdir(tmp_path / shown.folder)
        code, out, _ = run(*shown.arguments)
        assert (code, shown.cut(out)) == (0, shown.output)


@pytest.mark.parametrize(
    ("output", "cut"), [("...\n", "...\n"), ("1\n...\n", "one\n...\n"), ("1\n...\n3\n", "one\n...\nthree\n")]
)
def test_output_may_be_shown_in_part(output, cut):
    (shown,) = SCRIPT.find_shown(f"```console\n$ cd there\n$ xmceval score a b \\\n    -q\n{output}```\n")
    assert (shown.folder, shown.arguments) == ("there", ["score", "a", "b", "-q"])
    assert shown.cut("one\ntwo\nthree\n") == cut


def test_what_a_newcomer_needs_comes_first():
    parts = ("scripts/install", "scripts/test", "$ xmceval score", "$ xmceval compare", "is better than", "speed.svg)")
    places = [README.index(part) for part in parts]
    assert places == sorted(places)
    assert README.count("![") == 1


def test_lines_are_at_most_112_wide():
    assert [line for line in README.splitlines() if len(line) > 112 and not line.startswith("|")] == []


def test_links_lead_to_files():
    in_an_archive = re.compile(r"^https://.*?/(?:blob|raw)/v[^/]+/")  # where scripts/release made them full
    links = [in_an_archive.sub("", link) for link in re.findall(r"\]\(([^)]+)\)", README)]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_numbers_and_the_version_are_current():
    assert f" and {len(METRICS) - 4} other metrics" in README
    assert f"| Other metrics | {len(METRICS) - 4} |" in README
    assert f"| Reads | {len(FORMATS)} formats |" in README
    assert f"version = {{{xmceval.__version__}}}" in README


def test_python_examples_run(capsys):
    import numpy as np

    rng = np.random.default_rng(2)
    known = {name: rng.integers(0, 2, (9, 6)) for name in ("y_true", "y_train")}
    known |= {name: rng.random((9, 6)) for name in ("y_score", "new_score")}
    known["loader"] = [(known["y_true"][:4], known["y_score"][:4]), (known["y_true"][4:], known["y_score"][4:])]
    for example in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(example, known)
    assert known["result"]["PSP@5"] == known["evaluator"].result()["PSP@5"]
    assert 0 <= known["comparison"]["P@5", "new", "old"].p <= 1


def test_the_file_that_the_guide_shows_is_that_of_the_sample():
    guide = (ROOT / "xmceval" / "guide" / "start.md").read_text(encoding="utf-8")
    shown = re.sub(r" +#.*", "", re.search(r"```toml\n(.*?)```", guide, re.DOTALL)[1])
    assert shown == (ROOT / "datasets" / "sample" / "benchmark.toml").read_text()


def test_the_guide_to_metrics_lists_what_their_table_has():
    text = (ROOT / "xmceval" / "guide" / "metrics.md").read_text(encoding="utf-8")
    assert SCRIPT.with_metrics(text) == text
    for metric in METRICS.values():
        assert f"- **{display_name(metric)}**, {metric.title}: " in " ".join(text.split())
    assert [alias for alias in ALIASES if alias not in text] == []
