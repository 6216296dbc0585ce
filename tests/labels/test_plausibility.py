"""Tables of published results: what contradicts a definition is found, and nothing that a ranking could reach."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import xmceval
from xmceval.cli import main
from xmceval.errors import DataError, UsageError
from xmceval.files.records.papertables import read_table
from xmceval.labels.catalogue import datasets, published
from xmceval.labels.plausibility import IMPOSSIBLE, UNLIKELY, Printed, check_row

PUBLISHED = Path(__file__).parents[2] / "datasets" / "published.tsv"


def found(values, **ceilings):
    printed = {name: Printed(value / 100, 5e-5) for name, value in values.items()}
    return [(each.severity, each.text) for each in check_row("row", printed, ceilings)]


def test_the_catalogue_has_17_violations_of_equality_and_none_else_that_is_impossible():
    check = xmceval.check_table(PUBLISHED)
    impossible = [each for each in check.findings if each.severity == IMPOSSIBLE]
    assert len(impossible) == 17
    assert all(" is not " in each.text for each in impossible)
    assert not check.is_possible
    suspects = sum("is not" in row.suspect for name in datasets() for row in published(name))
    assert suspects == 17


def test_what_else_is_unlikely_in_the_catalogue_is_known():
    check = xmceval.check_table(PUBLISHED)
    rows = {each.row.partition(": ")[2] for each in check.findings if each.severity == UNLIKELY}
    assert rows == {
        "LF-WikiSeeAlso-320K DEXA ‡",
        "LF-Wikipedia-500K DiSMEC",
        "LF-Wikipedia-500K ECLARE ‡",
        "LF-Wikipedia-500K MACH ‡",
        "LF-Wikipedia-500K PfastreXML",
        "LF-Wikipedia-500K ProXML",
    }


@pytest.mark.parametrize(
    ("values", "severity", "text"),
    [
        ({"P@1": 50, "nDCG@1": 50.01}, IMPOSSIBLE, "P@1 50.00 is not nDCG@1 50.01"),
        ({"PSP@1": 50, "PSnDCG@1": 49}, IMPOSSIBLE, "PSP@1 50.00 is not PSnDCG@1 49.00"),
        ({"P@1": 60, "P@3": 19.9}, IMPOSSIBLE, "3 x P@3 19.90 is less than 1 x P@1 60.00"),
        ({"P@1": 10, "P@3": 71}, IMPOSSIBLE, "P@3 71.00 has more hits than ranks beyond P@1 10.00"),
        ({"P@3": 101}, IMPOSSIBLE, "P@3 101.00 is outside 0..100"),
        ({"P@5": 90, "nDCG@5": 60}, IMPOSSIBLE, "nDCG@5 60.00 is less than"),
        ({"P@5": 40, "nDCG@5": 39}, UNLIKELY, "nDCG@5 39.00 is below P@5 40.00"),
        ({"PSP@5": 40, "PSnDCG@5": 65}, UNLIKELY, "PSnDCG@5 65.00 is far from PSP@5 40.00"),
    ],
)
def test_each_rule_finds_its_violation(values, severity, text):
    [(kind, message)] = found(values)
    assert kind == severity
    assert message.startswith(text)


@pytest.mark.parametrize(("psndcg", "is_unlikely"), [(39.96, False), (40.0, False), (39.94, True)])
def test_psndcg_that_falls_where_psp_rises_is_unlikely_beyond_rounding(psndcg, is_unlikely):
    values = {"PSP@3": 30, "PSP@5": 35, "PSnDCG@3": 40, "PSnDCG@5": psndcg}
    printed = {name: Printed(value / 100, 2.5e-4) for name, value in values.items()}
    texts = [each.text for each in check_row("row", printed) if each.severity == UNLIKELY]
    assert texts == ([f"PSnDCG@5 {psndcg:.1f} is below PSnDCG@3 40.0, though PSP rises"] if is_unlikely else [])
    falling = printed | {"PSP@5": Printed(0.3, 2.5e-4)}
    assert not list(check_row("row", falling))
    exact = {name: Printed(0.4 if name == "PSnDCG@5" else value / 100, 0.0) for name, value in values.items()}
    assert not list(check_row("row", exact))


def test_a_ceiling_is_that_of_the_data_set():
    [(_, message)] = found({"P@5": 46}, **{"P@5": 0.4202})
    assert message == "P@5 46.00 exceeds 42.02, its ceiling"


@pytest.mark.parametrize("seed", range(40))
def test_no_ranking_is_called_impossible(seed):
    rng = np.random.default_rng(seed)
    truth = csr_matrix(rng.random((30, 12)) < rng.random())
    scores = rng.random((30, 12)) + rng.random() * truth.toarray()
    result = xmceval.score(
        truth, scores, k=[1, 2, 3, 5], metrics=["P", "nDCG", "PSP", "PSnDCG"], inverse_propensities=1 + rng.random(12)
    )
    printed = {name: Printed(round(value, 4), 5e-5) for name, value in result.items()}
    assert not [each for each in check_row("row", printed) if each.severity == IMPOSSIBLE]


TSV = "method\tP@1\tP@3\tN@1\nA\t60.00\t50.00\t60.00\nB\t61.10\t50.10\t61.20\n"
CSV = TSV.replace("\t", ",")
MARKDOWN = """\
| method | P@1 | P@3 | nDCG@1 |
|---|---|---|---|
| A | 60.00 | 50.00 | 60.00 |
| **B** | 61.10 ± 0.2 | 50.10 | 61.20 |
"""
TEX = r"""\begin{tabular}{lrrr} \toprule
Method & P@1 & P@3 & N@1 \\ \midrule
A & 60.00 & 50.00 & 60.00 \\ % a comment & more
\textbf{B} & \textbf{61.10} $\pm$ 0.2 & \underline{50.10} & 61.20 \\ \bottomrule
\end{tabular}
"""


@pytest.mark.parametrize("text", [TSV, CSV, MARKDOWN, TEX])
def test_tables_are_read_as_papers_have_them(tmp_path, text):
    path = tmp_path / ("t.tex" if text == TEX else "t.txt")
    path.write_text(text)
    first, second = read_table(path)
    assert first.values == {"P@1": (60.0, 2), "P@3": (50.0, 2), "nDCG@1": (60.0, 2)}
    assert second.name == "B"
    [finding] = xmceval.check_table(path).findings
    assert finding.text == "P@1 61.10 is not nDCG@1 61.20"
    assert finding.row.endswith(": B")


def test_fractions_and_few_digits_are_taken_as_printed(tmp_path):
    (tmp_path / "t.csv").write_text("m,P@1,N@1\nA,0.6,0.604\nB,0.6,0.66\n")
    check = xmceval.check_table(tmp_path / "t.csv")
    assert [each.row for each in check.findings] == ["line 3: B"]


def rounded(value, places):
    return Printed(round(value, places), 0.5 * 10.0**-places)


@pytest.mark.parametrize("places", [(2, 3), (3, 2), (2, 4), (3, 6), (4, 4), (9, 9), (10, 3)])
@pytest.mark.parametrize("pair", [("P@1", "nDCG@1"), ("PSP@1", "PSnDCG@1")])
def test_one_value_may_be_printed_with_two_precisions(pair, places):
    for value in np.random.default_rng(5).random(300):
        values = {name: rounded(value, each) for name, each in zip(pair, places, strict=True)}
        assert not list(check_row("row", values))


@pytest.mark.parametrize(
    ("coarse", "fine", "is_possible"),
    [
        ("49.9", "49.95", True),
        ("49.9", "49.85", True),
        ("49.9", "49.96", False),
        ("49.9", "49.84", False),
        ("50", "49.50", True),
        ("50", "49.49", False),
        ("49.9", "49.95000", True),
        ("49.9", "49.95001", False),
        ("49.94", "49.95", False),
        ("49.9", "50.0", False),
    ],
)
def test_values_at_rank_1_contradict_each_other_where_no_value_rounds_to_both(tmp_path, coarse, fine, is_possible):
    for first, second in ((coarse, fine), (fine, coarse)):
        (tmp_path / "t.csv").write_text(f"m,P@1,N@1\nA,{first},{second}\n")
        assert xmceval.check_table(tmp_path / "t.csv").is_possible is is_possible


def test_copied_values_are_unlikely(tmp_path):
    (tmp_path / "t.csv").write_text("m,P@1,P@3,P@5\nA,60.11,50.22,40.33\nB,60.11,50.22,40.33\n")
    [finding] = xmceval.check_table(tmp_path / "t.csv").findings
    assert (finding.severity, finding.text) == (UNLIKELY, "P@1, P@3, P@5 are those of line 2: A")


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("a,b\n1,2\n", {}, DataError, "no table of results: expected a header"),
        ("m,P@1,P@3\nA,60.1\n", {}, DataError, "t.csv:2: expected 3 cells as in the header, got 2"),
        ("m,P@1,P@3\nA,60,50\n", {"dataset": "EURLex-5K"}, UsageError, "EURLex-5K"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, options, error, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(error, match=message):
        xmceval.check_table(tmp_path / "t.csv", **options)


def test_the_command_exits_with_1_where_something_is_impossible(tmp_path, capsys):
    (tmp_path / "t.tsv").write_text(TSV)
    with pytest.raises(SystemExit, match="1"):
        main(["check-table", str(tmp_path / "t.tsv")])
    out = capsys.readouterr().out
    assert out.endswith("  line 3: B: P@1 61.10 is not nDCG@1 61.20 (impossible)\n  1 problem\n")
    (tmp_path / "t.tsv").write_text(TSV.replace("61.20", "61.10"))
    with pytest.raises(SystemExit, match="0"):
        main(["check-table", str(tmp_path / "t.tsv"), "-o", "json"])
    assert json.loads(capsys.readouterr().out)["is_possible"] is True


def test_blocks_of_columns_with_the_same_metrics_are_all_checked(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("method,P@1,P@3,P@1,P@3\nA,80,20,50,40\nB,50,40,90,10\n")
    check = xmceval.check_table(path)
    assert [(each.row, each.text) for each in check.findings] == [
        ("line 2: A (1)", "3 x P@3 20 is less than 1 x P@1 80"),
        ("line 3: B (2)", "3 x P@3 10 is less than 1 x P@1 90"),
    ]
    assert (check.n_rows, check.n_values) == (2, 8)
