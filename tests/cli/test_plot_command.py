"""The option --plot: pictures beside the table, and what it refuses before anything is read."""

from pathlib import Path

import pytest
from support.sample import PATHS

TRUTH, MODEL_A, MODEL_B, TRAIN = PATHS
SCORE = ("score", TRUTH, MODEL_A, MODEL_B, "-q", "-k", "1,3", "-m", "P", "--train", TRAIN)
COMPARE = ("compare", *SCORE[1:])
BINS = ("--by-frequency", "head,tail")


def test_pictures_are_written_beside_the_table(run):
    _, table, _ = run(*SCORE, *BINS)
    found = run(*SCORE, "--plot", "a.svg", "--plot", "b.svg", "--plot-kind", "bins", "--plot-kind", "curves", *BINS)
    assert found == (0, table, "")
    assert "P@3 by bin of labels (head, tail)" in Path("a.svg").read_text(encoding="utf-8")
    assert "P@k, %" in Path("b.svg").read_text(encoding="utf-8")


def test_the_default_kind_follows_from_what_is_computed(run):
    run(*SCORE, "--plot", "curves.svg")
    run(*SCORE, "--plot", "bins.svg", *BINS)
    run(*COMPARE, "--plot", "differences.svg")
    texts = {path.stem: path.read_text(encoding="utf-8") for path in Path().glob("*.svg")}
    assert "P against the cutoff k" in texts["curves"]
    assert "P@3 by bin of labels (head, tail)" in texts["bins"]
    assert "differences of P@1, P@3" in texts["differences"]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--plot", "x.jpg"], 2, "x.jpg: expected a name that ends with .svg, .png, .pdf"),
        (["--plot", "none/x.svg"], 2, "none/x.svg: there is no folder "),
        (["--plot", "folder.svg"], 2, "folder.svg: is not a file, so it cannot be overwritten"),
        (["--plot-kind", "curves"], 2, "--plot-kind has no effect without a file (hint: pass --plot FILE)"),
        (["--plot", "x.svg", "--plot", "x.svg"], 2, "--plot x.svg is passed 2 times; expected a file for each picture"),
        (["--plot", "x.svg", "--plot-kind", "bins", "--plot-kind", "bins"], 2, "2 --plot-kinds for 1 --plot; expected"),
        (
            ["--plot", "x.svg", "--plot-kind", "bins"],
            2,
            "the picture 'bins' needs values of bins of labels or of groups",
        ),
        (
            ["--plot", "x.svg", "--by-frequency", "3", "-m", "AUC"],
            2,
            "the picture 'bins' shows metrics that have values",
        ),
        (["--plot", "x.svg", "-m", "AUC"], 2, "the picture 'curves' shows metrics at a cutoff, such as P@5"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_read(run, args, code, message):
    Path("folder.svg").mkdir()
    found, out, error = run("score", "missing.txt", "missing.txt", *args)
    assert (found, out) == (code, "")
    assert error.startswith(f"Error: {message}")
    assert not Path("x.svg").exists()


def test_without_matplotlib_nothing_is_read(run, monkeypatch):
    monkeypatch.setattr("xmceval.report.pictures.find_spec", lambda _: None)
    found = run("score", "missing.txt", "missing.txt", "--plot", "x.svg")
    assert found[:2] == (1, "")
    assert found[2] == "Error: drawing pictures needs the package matplotlib (hint: pip install matplotlib)\n"
