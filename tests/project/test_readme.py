"""README and guides tell the truth: commands print what they show, the picture is current, and the Python runs."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from xmceval.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDES = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "xmceval" / "guide").glob("*.md"))]
SHOWN = re.findall(r"^```console\n\$ xmceval (.*)\n((?:(?!```).*\n)*)```$", "\n".join([README, *GUIDES]), re.MULTILINE)


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_shown_output_is_what_the_command_prints(command, output, tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "datasets" / "sample", tmp_path / "datasets" / "sample")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command))
    assert ended.value.code == 0
    assert capsys.readouterr().out == output


def test_first_screen_shows_the_two_commands_a_comparison_and_its_picture():
    first = README.partition("\n## ")[0]
    places = [
        first.index(part)
        for part in ("scripts/install", "scripts/test", "$ xmceval compare", "is better than", ".svg)")
    ]
    assert places == sorted(places)


def test_the_picture_is_that_of_the_comparison(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    picture = ROOT / "datasets/sample/differences.svg"
    command = re.search(r"^\$ xmceval (compare .*)$", README, re.MULTILINE)[1]
    with pytest.raises(SystemExit):
        main([*shlex.split(command), "--plot", str(tmp_path / "new.svg")])
    capsys.readouterr()
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
    guide = next(text for text in GUIDES if text.startswith("# Benchmarks"))
    shown = re.sub(r" +#.*", "", re.search(r"```toml\n(.*?)```", guide, re.DOTALL)[1])
    assert shown == (ROOT / "datasets" / "sample" / "benchmark.toml").read_text()
