"""README and guides tell the truth: commands print what they show, the picture is current, and the Python runs."""

import importlib.util
import re
import shutil
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from xmceval.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def load_script():
    loader = SourceFileLoader("readme_script", str(ROOT / "scripts" / "readme"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


SCRIPT = load_script()


def printed(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("path", SCRIPT.DOCUMENTS, ids=lambda path: path.stem)
def test_shown_outputs_are_what_the_commands_print(path, tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "datasets" / "sample", tmp_path / "datasets" / "sample")
    text = path.read_text(encoding="utf-8")
    found = list(SCRIPT.find_shown(text))
    assert len(found) == text.count("\n$ xmceval ")
    for shown in found:
        monkeypatch.chdir(tmp_path / shown.folder)
        assert shown.cut(printed(shown.arguments, capsys)) == shown.output


def test_output_may_be_shown_in_part():
    (shown,) = SCRIPT.find_shown("```console\n$ cd there\n$ xmceval score a b \\\n    -q\n1\n...\n```\n")
    assert (shown.folder, shown.arguments, shown.cut("one\ntwo\n")) == (
        "there",
        ["score", "a", "b", "-q"],
        "one\n...\n",
    )


def test_first_screen_shows_the_two_commands_a_comparison_and_its_picture():
    first = README.partition("\n## ")[0]
    places = [
        first.index(part)
        for part in ("scripts/install", "scripts/test", "$ xmceval compare", "is better than", ".svg)")
    ]
    assert places == sorted(places)


def test_the_picture_is_that_of_the_comparison(tmp_path, monkeypatch, capsys):
    picture = ROOT / SCRIPT.PICTURE
    first = next(SCRIPT.find_shown(README))
    monkeypatch.chdir(ROOT / first.folder)
    printed([*first.arguments, "--plot", str(tmp_path / "new.svg")], capsys)
    # versions of matplotlib place marks in different bytes, but write the same texts
    assert f"({picture.relative_to(ROOT)})" in README
    assert texts_of(picture) == texts_of(tmp_path / "new.svg")


def texts_of(picture):
    return re.findall(r"<text[^>]*>([^<]+)</text>", picture.read_text(encoding="utf-8"))


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
    guide = (ROOT / "xmceval" / "guide" / "benchmark.md").read_text(encoding="utf-8")
    shown = re.sub(r" +#.*", "", re.search(r"```toml\n(.*?)```", guide, re.DOTALL)[1])
    assert shown == (ROOT / "datasets" / "sample" / "benchmark.toml").read_text()
