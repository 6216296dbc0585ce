"""Values by label are those of scikit-learn and the judge, whatever road the counts took."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from judge import naive_labels
from scipy.sparse import csr_matrix
from sklearn.metrics import precision_recall_fscore_support
from support.strategies import to_rows

import xmceval
from xmceval import Evaluator, Shards, UsageError, merge, score

N_ROWS, N_LABELS = 60, 14
RNG = np.random.default_rng(64)
Y = (RNG.random((N_ROWS, N_LABELS)) < 0.12).astype(float)
Y[:, 3] = 0  # never true
S = np.round(RNG.random((N_ROWS, N_LABELS)), 2)
S[:, [3, 5]] = 0  # never among the best
WEIGHTS = np.arange(N_ROWS) % 4 / 2
RATES = {"precision": "precision", "recall": "recall", "F1": "F"}
COUNTS = ("tp", "fp", "fn")

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")


def best(scores, k):
    chosen = np.zeros_like(scores)
    np.put_along_axis(chosen, np.argsort(-scores, axis=1, kind="stable")[:, :k], 1, axis=1)
    return chosen


DECIDED = {"@1": best(S, 1), "@3": best(S, 3), "": S >= 0.8}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
@pytest.mark.parametrize("zero", ["0", "1"])
@pytest.mark.parametrize("at", DECIDED)
def test_they_are_those_of_scikit_learn(at, zero, weights):
    metric = f"f1_score(average=macro,zero={zero})" if at == "" else f"macroF1(zero={zero})"
    result = score(Y, S, metrics=metric, k=[1, 3], threshold=0.8, sample_weight=weights)
    labels, ids = result.labels, result.labels["label"]
    expected = precision_recall_fscore_support(
        Y, DECIDED[at], average=None, sample_weight=weights, zero_division=float(zero)
    )
    for name, values in zip([f"{name}{at}" for name in RATES], expected, strict=False):
        np.testing.assert_allclose(labels[name], values[ids], rtol=1e-12)
    np.testing.assert_array_equal(labels["positives"], expected[3][ids])
    total = labels[f"F1{at}"].sum() + (N_LABELS - ids.size) * float(zero)
    assert total / N_LABELS == pytest.approx(next(value for name, value in result.items() if name.endswith(at)))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
@pytest.mark.parametrize("zero", ["0", "1", "skip"])
@pytest.mark.parametrize("filtered", [None, [(row, row % 7) for row in range(N_ROWS)]], ids=["whole", "filter"])
def test_they_are_those_of_the_judge(filtered, zero, weights):
    names = ["macroP", "macroR", "macroF1", "coverage(over=all)"] if zero == "0" else [f"macroF1(zero={zero})"]
    result = score(Y, csr_matrix(S), metrics=names, k=[1, 3], sample_weight=weights, filter=filtered)
    labels = result.labels
    rows = to_rows(S)
    for row, label in filtered or ():
        rows[row].pop(label, None)
    sets = {k: naive_labels.at_cut(to_rows(Y), rows, k) for k in (1, 3)}
    seen = [label for label in range(N_LABELS) if any(naive_labels.of_label(sets[3], label, weights)[:3])]
    assert seen == labels["label"].tolist()
    assert 3 not in seen
    assert 5 in seen, "true, but never predicted"
    for k, (place, label) in itertools.product(sets, enumerate(seen)):
        cells = naive_labels.of_label(sets[k], label, weights)
        assert tuple(labels[f"{name}@{k}"][place] for name in COUNTS) == cells[:3]
        for name, rule in RATES.items():
            value = naive_labels.rate_of(rule, cells, 1.0, zero)
            expected = np.nan if value is None else value
            assert labels[f"{name}@{k}"][place] == pytest.approx(expected, rel=1e-12, nan_ok=True)
    if zero == "0":
        assert (labels["tp@3"] > 0).sum() / N_LABELS == result["coverage(over=all)@3"]
        for name, metric in (("precision", "macroP"), ("recall", "macroR"), ("F1", "macroF1")):
            assert labels[f"{name}@3"].sum() / N_LABELS == pytest.approx(result[f"{metric}@3"], rel=1e-12)
    if zero == "skip":
        assert np.nanmean(labels["F1@1"]) == pytest.approx(result["macroF1(zero=skip)@1"], rel=1e-12)


def of_batches(**options):
    evaluator = Evaluator(**options)
    for rows in (slice(20), slice(20, N_ROWS)):
        evaluator.update(Y[rows], S[rows])
    return evaluator


def of_state(**options):
    of_batches(**options).save("a.state")
    return Evaluator.load("a.state").result()


def of_merged(**options):
    for number, rows in enumerate((slice(20), slice(20, N_ROWS)), 1):
        score(Y[rows], S[rows], **options, save_state=f"{number}.state", shard=(number, 2))
    return merge(["2.state", "1.state"])


def in_parts(**options):
    with ThreadPoolExecutor(2) as executor:
        return score(Y, S, **options, executor=executor)


ROADS = {
    "one thread": lambda **options: score(Y, S, **options, threads=1),
    "batches": lambda **options: of_batches(**options).result(),
    "loaded": of_state,
    "merged": of_merged,
    "executor": in_parts,
    "shards": lambda **options: score(Shards([Y[:20], Y[20:]]), Shards([S[:20], S[20:]]), **options),
    "bins": lambda **options: score(Y, S, **options, by_frequency=2),
    "groups": lambda **options: score(Y, S, **options, by_group=np.arange(N_ROWS) % 3),
    "one of several": lambda **options: xmceval.score_all(Y, {"a": 1 - S, "b": S}, **options)["b"],
    "compared": lambda **options: xmceval.compare(Y, {"a": 1 - S, "b": S}, **options)["b"],
}


@pytest.mark.parametrize("road", ROADS)
def test_each_road_gives_the_same(road):
    options = {"metrics": "P,PSP,macroF1", "k": [1, 3], "train": Y[::-1].copy()}
    expected = score(Y, S, **options).labels
    labels = ROADS[road](**options).labels
    assert list(labels) == list(expected)
    np.testing.assert_array_equal(labels["train"], Y.sum(axis=0)[labels["label"]])
    for name, values in expected.items():
        np.testing.assert_array_equal(labels[name], values)


def test_labels_with_large_ids_are_listed_by_their_ids():
    far = [0, 7, 1 << 40]
    labels = score([[far[2]], [far[0]]], [[far[2], far[1]], [far[1], far[0]]], metrics="macroF1(over=seen)", k=1).labels
    assert (labels["label"].tolist(), labels["tp@1"].tolist(), labels["fp@1"].tolist()) == (far, [0, 0, 1], [0, 1, 0])


def test_a_result_refuses_counts_to_which_rows_were_added():
    evaluator = of_batches(metrics="macroF1", k=1)
    result = evaluator.result()
    first = result.labels["tp@1"].sum()
    evaluator.update(Y, S)
    with pytest.raises(UsageError, match=r"more rows were added since this result \(hint: read labels before"):
        _ = result.labels
    result = evaluator.result()
    evaluator.reset()
    assert result.labels["tp@1"].sum() == 2 * first


FRAMES = [pd.DataFrame(matrix[:, :3], columns=["b", "c", "a"]) for matrix in (Y, S)]
ARRAYS = Y[:, :3], S[:, :3]
LONG = (
    pd.DataFrame({"row": [0, 0, 1], "label": ["k", "j", "k"]}),
    pd.DataFrame({"row": [0, 1], "label": ["k", "m"], "score": [1.0, 2.0]}),
)
QRELS = {"q1": {"d2": 1, "d1": 1}, "q2": {"d1": 1}}, {"q1": {"d1": 0.5}, "q2": {"z": 2.0, "a": 1.0}}
NAMED = {
    "frames": (FRAMES, {}, ["b", "c", "a"]),
    "frame of scores": ((Y[:, :3], FRAMES[1]), {}, ["b", "c", "a"]),
    "a list": (ARRAYS, {"labels": ["x", "y", "é, z"]}, ["x", "y", "é, z"]),
    "a file": (ARRAYS, {"labels": "names.txt"}, ["x", "y", "é, z"]),
    "text": (LONG, {}, ["j", "k", "m"]),
    "documents": (QRELS, {}, ["d1", "d2", "z", "a"]),
    "none": (ARRAYS, {}, None),
}


@pytest.mark.parametrize("case", NAMED)
def test_names_of_labels_stand_beside_their_ids(case, tmp_path):
    (tmp_path / "names.txt").write_text("x\ny\né, z\n", encoding="utf-8")
    (truth, scores), options, names = NAMED[case]
    frame = score(truth, scores, metrics="macroF1(over=seen)", k=2, save_labels="l.csv", **options).labels.to_frame()
    assert names == (None if case == "none" else frame["name"].tolist())
    saved = pd.read_csv("l.csv", encoding="utf-8")
    assert saved.pop("system").unique().tolist() == ["y_score"]
    pd.testing.assert_frame_equal(saved.set_index("label"), frame, check_dtype=False)


ONLY = [1, 4, 5, 9]
WORDS = [f"name {label}" for label in range(N_LABELS)]


@pytest.mark.parametrize("names", [None, WORDS], ids=["ids", "names"])
def test_labels_that_count_keep_their_ids_names_and_training_counts(names):
    options = {"metrics": "macroF1", "k": [1, 3], "counts": np.arange(N_LABELS), "n_train": 99}
    only = ONLY if names is None else [names[label] for label in ONLY]
    evaluator = Evaluator(labels=names, only_labels=only, **options)
    evaluator.update(Y, S)
    evaluator.save("s.xmc")
    result = score(Y, S, labels=names, only_labels=only, save_labels="l.csv", **options)
    cut = score(Y[:, ONLY], S[:, ONLY], **options | {"counts": np.array(ONLY)}).labels.to_frame()
    cut.index = pd.Index(ONLY, name="label")[cut.index]
    saved = pd.read_csv("l.csv", index_col="label")
    for frame in (
        result.labels.to_frame(),
        evaluator.result().labels.to_frame(),
        saved,
        merge(["s.xmc"]).labels.to_frame(),
    ):
        if names and "name" in frame:
            assert frame["name"].tolist() == [names[label] for label in frame.index]
        pd.testing.assert_frame_equal(frame[[*cut]], cut, check_dtype=False)
    assert ("name" in saved) == (names is not None)


def test_names_that_are_no_label_are_not_listed(tmp_path):
    (tmp_path / "p.jsonl").write_text(
        "".join(f'{{"data": [["{name}", 1], ["z{name}", 2], ["name 4", 0.5]]}}\n' for name in WORDS[:3]),
        encoding="utf-8",
    )
    truth = [[0], [1, 4], [2]]
    for only, expected in ((None, [0, 1, 2, 4]), (["name 4", "name 1"], [1, 4])):
        options = {
            "labels": WORDS,
            "only_labels": only,
            "unknown_labels": "miss",
            "save_labels": "l.csv",
            "force": True,
        }
        labels = score(truth, tmp_path / "p.jsonl", metrics="macroF1", k=2, **options).labels
        assert labels["label"].tolist() == pd.read_csv("l.csv")["label"].tolist() == expected
        assert labels["name"].tolist() == [WORDS[label] for label in expected]


def test_a_file_has_the_labels_of_each_system_and_run():
    systems = {"a": S, "b": [1 - S, S**2 / 2]}
    options = {"metrics": "macroF1(zero=skip)", "k": [1, 3]}
    comparison = xmceval.compare(Y, systems, save_labels="l.csv", **options)
    saved = pd.read_csv("l.csv")
    assert saved["system"].unique().tolist() == ["a", "b (1)", "b (2)"]
    for result, scores in zip(comparison.results, itertools.chain([S], systems["b"]), strict=True):
        of_system = saved[saved["system"] == result.name].drop(columns="system").set_index("label")
        pd.testing.assert_frame_equal(of_system, score(Y, scores, **options).labels.to_frame(), check_dtype=False)
    with pytest.raises(UsageError, match=r"labels of b: .*each run has its own counts"):
        _ = comparison["b"].labels
