"""``scripts/agreement``: what it expects, what it notices, and that a wrong expectation fails."""

from pathlib import Path

import numpy as np
import pytest
from agreement import checking, inputs
from agreement.__main__ import main
from agreement.cell import Bounds, Cell, Differs, Example, NotCompared, Under
from agreement.peertools import PEERS, compute, examples_of

from xmceval import METRICS
from xmceval.labels.catalogue import read_table
from xmceval.report.metric_list import agrees, display_name, recorded

ROOT = Path(__file__).parents[2]

CASES = [case for case in inputs.draw_cases() if case.name.endswith(", 0") and inputs.MASKED not in case.kinds]


def precision(case):
    """Compute P@1, 2, ... of a stable ranking, as a peer that counts stored zeros of the truth."""
    values = np.zeros(case.most)
    for row in range(case.truth.shape[0]):
        true, scores = case.truth[row].indices, case.scores[row]
        ranked = scores.indices[np.argsort(-scores.data, kind="stable")][: case.most]
        hits = np.isin(np.pad(ranked, (0, case.most - len(ranked)), constant_values=-1), true)
        values += np.cumsum(hits) / np.arange(1, case.most + 1)
    return values / case.truth.shape[0]


STORED = Differs("counts them", Example([[0, 1]], [[0.9, 0.1]], "0", stores_zeros=True))


def findings(call=precision, ours="P@{k}", **options):
    cell = Cell("precision", ours, call, **options)
    theirs = [compute(cell, case) for case in CASES]
    examples = {kind: compute(cell, checking.case_of(each)) for kind, each in examples_of(cell)}
    return checking.check(cell, CASES, theirs, examples, checking.Ours([cell]))


def wrong(*args, **options):
    return [line for finding in findings(*args, **options) for line in finding.wrong]


def test_what_is_expected_is_found():
    found = findings(but={"stored zeros in the truth": STORED})
    assert [line for finding in found for line in finding.wrong] == []
    all_others, zeros = checking.rows("a peer", "1.0", found)
    assert (all_others["metric"], all_others["inputs"], all_others["verdict"]) == ("P@k", "all others", "equal")
    assert (zeros["inputs"], zeros["verdict"]) == ("stored zeros in the truth", "different")
    assert zeros["example"].endswith("k=1: theirs 1, ours 0, by hand 0")


def test_a_difference_that_is_not_expected_is_noticed():
    assert any(line.startswith("zeros, full") for line in wrong())
    assert wrong(lambda case: precision(case) + 1e-6, but={"stored zeros in the truth": STORED})
    assert wrong(lambda case: np.full(case.most, np.nan))


def test_an_expected_difference_that_is_none_is_noticed():
    ties = Differs("orders them otherwise")
    assert "expected to differ, but is equal" in wrong(but={"stored zeros in the truth": STORED, "ties": ties})


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (Example([[0, 1]], [[0.9, 0.1]], "1", stores_zeros=True), "by hand 1"),
        (Example([[0, 1]], [[0.9, 0.1]], "0"), "theirs 0.0 is ours"),
    ],
)
def test_a_wrong_example_is_noticed(example, message):
    assert any(message in line for line in wrong(but={"stored zeros in the truth": Differs("counts them", example)}))


def test_an_error_of_a_peer_is_no_value():
    def fails(case):
        raise ZeroDivisionError("division by zero")

    assert "ZeroDivisionError: division by zero" in wrong(fails)[0]
    assert wrong(fails, but={inputs.ANY: Differs("raises an error")}) == []


def test_ties_lie_within_bounds_or_are_noticed():
    def last_first(case):
        turned = inputs.Case(case.name, case.truth[:, ::-1].tocsr(), case.scores[:, ::-1].tocsr(), case.train)
        turned.truth.sort_indices()
        turned.scores.sort_indices()
        return precision(turned)

    but = {"stored zeros in the truth": STORED, "ties": Bounds("the last label first")}
    assert wrong(last_first, but=but) == []
    assert wrong(lambda case: last_first(case) + 0.5 * ("ties" in case.kinds), but=but)


def test_options_of_kinds_are_added_up():
    drop = Under({"empty_rows": "drop"})

    def dropped(case):
        kept = (case.truth > 0).sum(axis=1).A1 > 0
        return precision(inputs.Case(case.name, case.truth[kept], case.scores[kept], case.train))

    but = {"stored zeros in the truth": STORED, "no true label": drop}
    assert wrong(dropped, but=but) == []
    (row,) = (row for row in checking.rows("a peer", "1.0", findings(dropped, but=but)) if "no true" in row["inputs"])
    assert (row["verdict"], row["option"]) == ("equal with option", "empty_rows=drop")


def test_what_is_not_compared_has_no_values():
    found = findings(but={"stored zeros in the truth": STORED, "ties": NotCompared("no order")})
    assert [finding.values for finding in found if finding.kind == "ties"] in ([0], [])


def test_every_kind_that_is_expected_is_one_of_inputs():
    kinds = {name for name, _ in inputs.list_kinds(CASES[0])}
    named = {kind for _, cells in PEERS.values() for cell in cells() for kind in cell.but}
    assert named <= kinds
    assert len(named) > 10


def test_drawn_cases_are_of_every_kind_and_are_read_back(tmp_path):
    kinds = {name for name, _ in inputs.list_kinds(CASES[0])}
    drawn = list(inputs.draw_cases())
    assert kinds - {kind for case in drawn for kind in case.kinds} <= {"labels always true"}
    inputs.save_cases(drawn[:40], tmp_path)
    for case, again in zip(drawn[:40], inputs.load_cases(tmp_path), strict=True):
        assert (case.name, case.kinds) == (again.name, again.kinds)
        assert case.scores.dtype == again.scores.dtype
        assert case.truth.data.tolist() == again.truth.data.tolist()


MICRO = ("microP", "microR", "microF1")
GROUPS = {  # of metrics, in the README; the last one counts
    "rankings (P, nDCG, AP)": lambda metric: metric.family in {"top-k", "row"},
    "with propensities (PSP, PSnDCG)": lambda metric: metric.needs_propensities,
    "all labels (LRAP, AUC)": lambda metric: metric.needs_labels or metric.family == "column",
    "by label at k (macroF1, coverage)": lambda metric: metric.family == "label" or metric.name in MICRO,
    "decisions (F1, hamming loss)": lambda metric: metric.family == "confusion",
}


def group_of(name):
    [metric] = (metric for metric in METRICS.values() if display_name(metric) == name)
    return [group for group, holds in GROUPS.items() if holds(metric)][-1]


def test_the_readme_counts_the_functions_that_agree():
    peers = list(dict.fromkeys(peer for peer, _, _ in recorded()))
    items = []
    for group in GROUPS:
        own = {peer: [] for peer in peers}
        for (peer, metric, _), lines in recorded().items():
            if group_of(metric) == group:
                own[peer].append(agrees(lines))
        counts = [f"{peer} {sum(found)}/{len(found)}" for peer, found in own.items() if found]
        items.append(f"- {group}: {', '.join(counts)}")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f": {' '.join(items)} ## " in readme


def test_the_guide_counts_functions_and_values():
    guide = " ".join((ROOT / "xmceval/guide/metrics.md").read_text(encoding="utf-8").split())
    n_values = sum(int(line["values"]) for line in read_table("agreement.tsv"))
    assert f"{len(recorded())} functions of eight tools, {n_values:,} values" in guide


@pytest.mark.parametrize("arguments", [["--peer", "none"], ["--record", "--peer", "ranx"], ["--colour"]])
def test_wrong_arguments_are_refused(arguments, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["agreement", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "agreement: error: " in capsys.readouterr().err


def test_a_tool_that_is_not_installed_is_named(monkeypatch, capsys):
    monkeypatch.setattr("agreement.__main__.ask", lambda *_: None)
    monkeypatch.setattr("agreement.__main__.draw_cases", lambda: CASES[:1])
    monkeypatch.setattr("sys.argv", ["agreement", "--python", "python", "--peer", "ranx"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "ranx: not compared, since it is not installed" in capsys.readouterr().err
