"""Settings: options that change no result, from the environment or from the nearest pyproject.toml."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import xmceval
from xmceval.cli import COMMANDS, cli, settings
from xmceval.scoring.options import Options, specs

SCORE = ("score", "truth.txt", "preds.txt", "-m", "P@1", "-v")
ROOT = Path(xmceval.__file__).parent


def list_settings():
    context = click.Context(cli)
    options = [each for name in COMMANDS for each in cli.get_command(context, name).params]
    return {each.envvar: each.name for each in options if each.envvar}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a function that writes [tool.xmceval] in a folder above the working directory."""
    monkeypatch.delenv(settings.OFF, raising=False)
    folder = tmp_path / "below" / "it"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "truth.txt").write_text("3 2\n0:1\n1:1\n1:1\n")
    (folder / "preds.txt").write_text("3 2\n0:0.9 1:0.2\n1:0.8\n0:0.7 1:0.6\n")

    def write(*lines):
        path = tmp_path / "pyproject.toml"
        path.write_text("\n".join(["[project]", 'name = "mine"', "", "[tool.xmceval]", *lines, ""]))
        return path

    return write


def notes(err):
    return [line.removeprefix("note: ") for line in err.splitlines() if " from " in line]


def test_the_command_line_goes_before_the_environment_and_the_environment_before_the_file(run, project, monkeypatch):
    path = project("threads = 1", "places = 3", "intervals = false")
    assert run(*SCORE)[1].splitlines()[2] == "P   66.667"
    monkeypatch.setenv("XMCEVAL_PLACES", "4")
    monkeypatch.setenv("XMCEVAL_THREADS", "2")
    monkeypatch.setenv("XMCEVAL_QUIET", "0")
    code, out, err = run(*SCORE, "--threads", "1")
    assert (code, out.splitlines()[2]) == (0, "P   66.6667")
    assert notes(err) == [
        "places = 4 from XMCEVAL_PLACES",
        f"intervals = false from {path}",
        "quiet = 0 from XMCEVAL_QUIET",
    ]


def test_settings_are_not_read_where_they_are_off_nor_by_benchmark_nor_by_python(run, project, monkeypatch):
    project("places = 99", "k = 7")
    monkeypatch.setenv("XMCEVAL_THREADS", "many")
    assert "no such file" in run("benchmark")[2]
    assert xmceval.score([[1, 0]], [[0.9, 0.1]], metrics="P", k=1)["P@1"] == 1.0
    assert run("score", "--help")[0] == 0
    monkeypatch.setenv(settings.OFF, "1")
    assert run(*SCORE)[:2] == (0, run(*SCORE)[1])
    monkeypatch.setenv(settings.OFF, "0")
    assert run(*SCORE)[0] == 2


def test_all_mistakes_of_a_file_are_reported_with_their_lines(run, project):
    path = project("thread = 2", "max-line = 1", "k = 5", 'metrics = "P"', 'title = "x"', "dask = []")
    code, out, err = run(*SCORE)
    assert (code, out) == (2, "")
    assert err.removeprefix("Error: ").splitlines() == [
        f"{path}:5: unknown key 'thread' in [tool.xmceval] (hint: threads)",
        f"{path}:6: unknown key 'max-line' in [tool.xmceval] (hint: max_line)",
        f"{path}:7: k may change results, so it cannot be a setting (hint: pass -k on the command line)",
        f"{path}:8: metrics may change results, so it cannot be a setting (hint: pass -m on the command line)",
        f"{path}:9: title belongs to a single run, so it cannot be a setting (hint: pass --title on the command line)",
        f"{path}:10: dask must be a number, text, true or false, got an empty list",
    ]


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        ("places = 2.5", "2.5", "places must be a whole number of at least 0 and at most 12, got '2.5'"),
        ("threads = true", "true", "threads must be a whole number of at least 1, got 'true'"),
        ('quiet = "perhaps"', "perhaps", "quiet must be true or false, got 'perhaps'"),
        ('output_format = "xml"', "xml", "'xml' is not one of 'table', 'md', 'latex', 'csv', 'json'"),
    ],
)
def test_a_wrong_value_names_the_line_or_the_variable(run, project, monkeypatch, line, text, message):
    path = project(line)
    assert run(*SCORE) == (2, "", f"Error: {path}:5: {message}\n")
    path.unlink()
    variable = f"XMCEVAL_{line.split()[0].upper()}"
    monkeypatch.setenv(variable, text)
    assert run(*SCORE) == (2, "", f"Error: {variable}: {message}\n")


def test_a_form_that_a_command_lacks_leaves_it_with_its_own(run, project):
    project('output_format = "latex"', "places = 1")
    assert "tabular" in run(*SCORE)[1]
    assert "tabular" not in run("formats", "npz")[1]


@pytest.mark.parametrize("text", ["", "[tool.other]\n", "this is no TOML"])
def test_a_file_without_settings_is_left_alone(run, project, text):
    project().write_text(text)
    assert run(*SCORE)[0] == 0


def test_no_setting_is_an_option_that_may_change_results():
    names = set(list_settings().values())
    assert names == {
        *("form", "threads", "max_line", "dask", "quiet", "verbose", "strict"),
        *("places", "intervals", "pairs", "transpose", "siunitx"),
    }
    assert {specs(Options)[name].shown for name in names & {*specs(Options)}} == {"nowhere"}


def test_the_guide_lists_all_settings():
    text = " ".join(
        (ROOT / "guide" / "start.md").read_text().partition("The settings are")[2].partition(";")[0].split()
    )
    assert sorted(re.findall(r"`(\w+)`", text)) == sorted(
        each.removeprefix("XMCEVAL_").lower() for each in list_settings()
    )


def test_no_setting_has_the_variable_of_something_else():
    code = "\n".join(path.read_text() for path in ROOT.rglob("*.py"))
    tests = "\n".join(path.read_text() for path in Path(__file__).parents[1].rglob("*.py") if path != Path(__file__))
    others = set(re.findall(r'"(_?XMCEVAL_[A-Z_]+)"', code + tests)) - {settings.PREFIX}
    assert {"XMCEVAL_NO_CONFIG", "XMCEVAL_PLAIN_NUMBA", "XMCEVAL_REALDATA", "XMCEVAL_EXAMPLES"} <= others
    assert others.isdisjoint(list_settings())


def test_a_command_without_a_file_of_settings_loads_no_reader_of_toml(tmp_path):
    code = (
        "import sys; from xmceval.cli import main\n"
        "try: main(['metrics', 'P'])\n"
        "finally: print('tomllib' not in sys.modules)"
    )
    environment = {**os.environ, settings.OFF: ""}
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout.splitlines()[-1] == "True"
