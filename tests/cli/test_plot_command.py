"""The option --plot: pictures in addition to the table, of a kind that follows from what is computed."""

from pathlib import Path

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


def test_without_matplotlib_nothing_is_read(run, monkeypatch):
    monkeypatch.setattr("xmceval.report.pictures.find_spec", lambda _: None)
    found = run("score", "missing.txt", "missing.txt", "--plot", "x.svg")
    assert found[:2] == (1, "")
    assert found[2] == "Error: drawing pictures needs the package matplotlib (hint: pip install matplotlib)\n"
