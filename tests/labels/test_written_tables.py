"""Tables that this package writes are read by check-table, in every form: nothing is found but what is made wrong."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import xmceval
from xmceval.cli import cli

SAMPLE = Path(__file__).parents[2] / "datasets" / "sample"
TRUTH, A, B, TRAIN = (str(SAMPLE / f"{name}.txt") for name in ("tst_X_Y", "model_a", "model_b", "trn_X_Y"))
OPTIONS = ["--train", TRAIN, "--by-frequency", "head,tail", "-q"]
SCORE = ["score", TRUTH, A, B, *OPTIONS]
ONE = ["score", TRUTH, B, "-m", "P,nDCG,PSP,PSnDCG,LRAP,DCG@5,IPrec@0.1", "--ceiling", *OPTIONS]
COMPARE = ["compare", TRUTH, A, B, "--pairs", *OPTIONS]
BENCHMARK = ["benchmark", str(SAMPLE / "benchmark.toml"), "--wins", "-q"]
FORMS = ("table", "latex", "md", "csv")
WRITTEN = [
    *(pytest.param(each, form, id=f"{each[0]} {form}") for each in (SCORE, COMPARE, BENCHMARK) for form in FORMS),
    *(pytest.param(ONE, form, id=f"one system {form}") for form in FORMS),
    *(pytest.param([*BENCHMARK, "--transpose"], form, id=f"transposed {form}") for form in FORMS[:3]),
    pytest.param([*COMPARE, "--siunitx", "--intervals"], "latex", id="siunitx"),
    pytest.param([*SCORE, "--fraction"], "table", id="fractions"),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Return a folder in which the benchmark keeps what it scored."""
    return tmp_path_factory.mktemp("kept")


def write(command, form, cache):
    own = [part for part in command if form != "csv" or part not in {"--pairs", "--wins"}]
    more = ["--cache", str(cache)] if command[0] == "benchmark" else []
    result = CliRunner().invoke(cli, [*own, *more, "-o", form])
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(("command", "form"), WRITTEN)
def test_nothing_is_found_but_a_value_made_wrong_with_its_place(command, form, cache, tmp_path):
    path, text = tmp_path / f"table.{form}", write(command, form, cache)
    path.write_text(text)
    check = xmceval.check_table(path)
    assert check.findings == ()
    n_values = 16 if command[0] == "benchmark" else 72
    assert check.n_values == n_values or (command[1:3] == ONE[1:3] and check.n_values >= n_values / 2)

    right = re.search(r"40\.36|0\.4036", text)  # P@5 of the second system
    path.write_text(text[: right.start()] + right[0].replace("40", "10") + text[right.end() :])
    findings = xmceval.check_table(path).findings
    assert any(re.match(r"5 x P@5 10\.360* is less than [13] x P@[13]", each.text) for each in findings)
    [row] = {each.row for each in findings}
    start = "P +[^ ]" if command[1:3] == ONE[1:3] else r"(\(b\) )?model\\?_b\b|B\b"
    start = "model_b,|sample,B," if form == "csv" else start
    first = next(number for number, line in enumerate(text.splitlines(), 1) if re.match(rf"\W*({start})", line))
    assert re.match("line ([0-9]+)", row)[1] == str(first)
    assert ("sample" in row) == (command[0] == "benchmark")
