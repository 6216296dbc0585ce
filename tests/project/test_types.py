"""A user's script as type checkers see it: every public return has the type that is asserted here, and none is Any.

Mypy reads this file with the package, so ``scripts/check`` fails where a type changes; pytest runs it too.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, assert_type

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import xmceval
from xmceval.comparison.difference import Difference
from xmceval.conversion.convert import Conversion
from xmceval.dropins.group_auc import GroupAUC
from xmceval.inspection.report import InspectionReport
from xmceval.metrics.metric import Metric
from xmceval.report.scored import GateOutcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from scipy.sparse import csr_array

    Rows: TypeAlias = csr_array[np.float64]  # which SciPy 1.11 cannot write

Floats = NDArray[np.float64]

TRUTH = np.eye(6, 8)
SCORES = csr_matrix(np.eye(6, 8)[::-1])
CLASSES, ESTIMATES = [0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8]


def test_a_result() -> None:
    result = assert_type(xmceval.score(TRUTH, SCORES, k=[1, 3], train=csr_matrix(TRUTH)), xmceval.Result)
    assert_type(result["PSP@1"], float)
    low, high = result.interval("PSP@1")
    assert_type((low, high), tuple[float, float])
    assert_type(result.tie_bounds("P@1"), tuple[float, float])
    assert_type(result.flat(), dict[str, float])
    assert_type(result.warnings, tuple[str, ...])
    assert_type(result.counts.n_instances, int)
    assert_type(xmceval.score(TRUTH, SCORES, k=1, metrics="macroF1").labels["F1@1"], NDArray[Any])
    for name, value in result.items():
        assert_type((name, value), tuple[str, float])


def test_queries_and_tables() -> None:
    grades, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5}}
    assert xmceval.score(grades, run, k=1)["nDCG@1"] == xmceval.score({"q": {"a"}}, run, k=1)["nDCG@1"]


def test_its_forms(tmp_path: Path) -> None:
    result = xmceval.score(TRUTH, SCORES, k=1, metrics="P")
    assert_type(result.to_markdown(places=3), str)
    assert_type(result.to_latex(caption="A"), str)
    assert_type(result.to_csv(), str)
    assert_type(result.to_dict(), dict[str, Any])
    result.to_json(tmp_path / "result.json", force=True)
    result.to_latex(tmp_path / "result.tex", caption="A", force=True)
    frame: DataFrame = assert_type(result.to_frame(bins=True), "DataFrame")
    figure: Figure = assert_type(result.plot("curves"), "Figure")
    assert frame.shape == (1, 7)
    assert figure.axes


def test_several_systems(tmp_path: Path) -> None:
    systems: Mapping[str, NDArray[Any]] = {"old": TRUTH[::-1], "new": TRUTH}
    results = assert_type(xmceval.score_all(TRUTH, systems, k=1, save_rows=tmp_path / "rows.npz"), xmceval.Results)
    assert_type(results["new"], xmceval.Result)
    comparison = assert_type(xmceval.compare(TRUTH, systems, k=1, metrics="P"), xmceval.Comparison)
    difference = assert_type(comparison["P@1", "new", "old"], Difference)
    assert_type(difference.p, float | None)
    assert_type(comparison["new"], xmceval.Result)
    low, high = difference.interval
    assert_type((low, high), tuple[float, float])
    assert_type(comparison.to_frame(), "DataFrame")
    assert_type(xmceval.compare_rows([tmp_path / "rows.npz"]), xmceval.Comparison)
    assert_type(xmceval.check_worse(comparison, "P@1:0.5"), tuple[GateOutcome, ...])
    found = xmceval.benchmark({"metrics": "P@1", "datasets": {"toy": {"truth": TRUTH}}, "systems": dict(systems)})
    assert_type(found, xmceval.Benchmark)
    assert_type(found["toy"], xmceval.Comparison)
    assert_type(found["toy", "new", "P@1"], float)


def test_a_loop(tmp_path: Path) -> None:
    evaluator = xmceval.Evaluator(metrics=["P", "nDCG"], k=1, n_labels=8)
    for _ in range(2):
        evaluator.update(TRUTH, SCORES)
    evaluator.update([[1, 2], [3]], (np.array([[2], [4]]), np.array([[0.5], [0.25]])))
    assert_type(evaluator.result(), xmceval.Result)
    evaluator.save(tmp_path / "a.state")
    assert_type(xmceval.Evaluator.load(tmp_path / "a.state"), xmceval.Evaluator)
    assert_type(xmceval.merge([tmp_path / "a.state"]), xmceval.Result)


def test_single_metrics() -> None:
    assert_type(xmceval.ndcg_at_k(TRUTH, SCORES, k=5), float)
    assert_type(xmceval.psp_at_k(TRUTH, SCORES, train=TRUTH), float)
    assert_type(xmceval.inverse_propensity([100, 10], n=1000), Floats)
    assert_type(xmceval.group_auc(CLASSES, ESTIMATES, ["a", "a", "b", "b"]), float)
    assert_type(xmceval.group_aucs(CLASSES, ESTIMATES, ["a", "a", "b", "b"]), GroupAUC)
    assert_type(xmceval.METRICS["nDCG"], Metric)


def test_drop_ins() -> None:
    assert_type(xmceval.roc_auc_score(CLASSES, ESTIMATES), float)
    assert_type(xmceval.average_precision_score(TRUTH[:, :6], TRUTH[:, :6]), float)
    assert_type(xmceval.average_precision_score(TRUTH[:, :6], TRUTH[:, :6], average=None), float | Floats)
    assert_type(xmceval.roc_curve(CLASSES, ESTIMATES), tuple[Floats, Floats, Floats])
    assert_type(xmceval.label_ranking_loss(TRUTH, SCORES), float)


def test_files(tmp_path: Path) -> None:
    truth, scores = tmp_path / "truth.txt", tmp_path / "scores.txt"
    truth.write_text("3 2\n0\n1\n0\n")
    scores.write_text("3 2\n0:0.5\n1:0.5\n1:0.25\n")
    assert_type(xmceval.inspect([truth, scores]), InspectionReport)
    assert_type(xmceval.convert(truth, tmp_path / "truth.npz", kind="truth"), Conversion)
    assert_type(xmceval.read(scores), "Rows")
    assert_type(xmceval.score(truth, scores, k=1, metrics="P")["P@1"], float)


def make_mistakes(result: xmceval.Result) -> None:
    """Make what type checkers refuse; each comment would be refused itself if they did not."""
    xmceval.scroe(TRUTH, SCORES)  # type: ignore[attr-defined]
    xmceval.score(TRUTH, {"old": TRUTH})  # type: ignore[dict-item]
    xmceval.score(TRUTH, TRUTH, ties="bset")  # type: ignore[arg-type]
    xmceval.roc_auc_score(TRUTH, TRUTH, average="mean")  # type: ignore[call-overload]
    result.to_markdown(place=3)  # type: ignore[call-overload]
    result["P@1", "P@3"]  # type: ignore[index]
