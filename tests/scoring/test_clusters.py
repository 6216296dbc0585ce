"""Clusters of rows: intervals and tests over whole clusters; where each row is its own, those over rows."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import dask.array
import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from click.testing import CliRunner
from judge.naive_clusters import clustered_error, clustered_spread
from support.measures import names_of

import xmceval
from xmceval import distributed
from xmceval.cli import cli
from xmceval.errors import DataError, UsageError
from xmceval.metrics.names import parse
from xmceval.metrics.table import METRICS
from xmceval.scoring.comparing.clustersums import NO_CLUSTERS, ClusterSums
from xmceval.scoring.comparing.pairsums import ValueColumns

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N, N_LABELS = 240, 12
RNG = np.random.default_rng(7)
COMMON = 1 / np.arange(1, N_LABELS + 1)
TRAIN = scipy.sparse.csr_array(RNG.random((200, N_LABELS)) < 0.7 * COMMON)
TRUTH = RNG.random((N, N_LABELS)) < 0.7 * COMMON
SCORES = np.round((RNG.random((N, N_LABELS)) + TRUTH * 0.3) / 1.3, 1)
OTHER = np.round((RNG.random((N, N_LABELS)) + TRUTH * 0.4) / 1.3, 2)
USERS = RNG.integers(0, 45, N)
EVERY = [name for metric in METRICS.values() for name in names_of(metric)]
MERGEABLE = [name for metric in METRICS.values() if metric.mergeable for name in names_of(metric)]
OF_ROWS = {"few_clusters": "few_rows", "one_cluster": "one_row", None: None}


def score(**options):
    return xmceval.score(TRUTH, SCORES, train=TRAIN, **options)


def as_rows(estimate):
    return replace(estimate, caution=OF_ROWS[estimate.caution])


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": EVERY, "threshold": 0.5, "ceiling": True},
        {"metrics": EVERY, "threshold": 0.5, "empty_rows": "drop", "sample_weight": np.arange(N) % 3.0},
        {"by_frequency": 3, "k": [1, 3]},
        {"metrics": ["P", "Hit", "PSP"], "k": 3, "ties": "best"},
    ],
)
def test_with_each_row_its_own_cluster_intervals_are_those_of_rows_to_the_same_bits(options):
    result, plain = score(cluster_rows=range(N), **options), score(**options)
    by_row = {name for name, each in plain.estimates.items() if name in of_rows(options)}
    assert {name: as_rows(result.estimates[name]) for name in by_row} == {n: plain.estimates[n] for n in by_row}
    assert {name: each.value for name, each in result.estimates.items()} == dict(plain)
    for own, other in zip(result.slices, plain.slices, strict=True):
        for name in by_row & {*own.estimates}:
            assert as_rows(own.estimates[name]) == other.estimates[name]


def of_rows(options):
    """Return the metrics that have values of rows."""
    return {measure.name for measure in score(rows=True, **options).rows.measures}


@pytest.mark.parametrize("options", [{}, {"sample_weight": RNG.random(N) * (RNG.random(N) < 0.8)}])
def test_intervals_are_those_of_the_judge(options):
    metrics = ["P", "nDCG", "PSP", "PSnDCG", "R", "AUC", "microF1"]
    result = score(metrics=metrics, k=3, cluster_rows=USERS, **options)
    rows = score(metrics=metrics, k=3, rows=True, **options).rows
    assert len(rows.measures) > 5
    for m, measure in enumerate(rows.measures):
        ideals = rows.ideals.get(measure.name, np.ones(N))
        kept = (rows.weights > 0) & ~np.isnan(rows.array[:, m])
        pairs = (rows.weights[:, None] * np.stack([rows.array[:, m], ideals], axis=1))[kept].tolist()
        ratio, error, n = clustered_error(pairs, USERS[kept].tolist())
        margin = scipy.stats.t.ppf(0.975, n - 1) * error
        expected = ratio - margin, ratio + margin
        assert result[measure.name] == pytest.approx(ratio, abs=1e-12)
        assert result.interval(measure.name) == pytest.approx(expected, abs=1e-12)


def test_differences_are_those_of_the_judge():
    found = xmceval.compare(TRUTH, {"a": SCORES, "b": OTHER}, k=3, metrics=["P", "nDCG"], cluster_rows=USERS)
    values = [xmceval.score(TRUTH, each, k=3, metrics=["P", "nDCG"], rows=True).rows.array for each in (SCORES, OTHER)]
    for m, name in enumerate(["P@3", "nDCG@3"]):
        off = values[1][:, m] - values[0][:, m]
        n = len(set(USERS.tolist()))
        error = clustered_spread((off - off.mean()).tolist(), USERS.tolist()) / N
        difference = found[name, "b", "a"]
        assert (difference.unit, difference.n) == ("cluster", n)
        assert difference.difference == pytest.approx(off.mean(), abs=1e-12)
        assert difference.p == pytest.approx(2 * scipy.stats.t.sf(abs(off.mean() / error), n - 1), rel=1e-9)
        sums = np.bincount(USERS, off)
        wins, losses = int(np.sum(sums > 1e-9)), int(np.sum(sums < -1e-9))
        assert (difference.wins, difference.losses) == (wins, losses)


@pytest.mark.parametrize(
    "testing",
    [{}, *({"test": test, "resamples": 300} for test in ("randomization", "bootstrap")), {"adjust": "tukey"}],
)
def test_tests_with_each_row_its_own_cluster_are_those_of_rows(testing):
    systems, options = (
        {"a": SCORES, "b": OTHER, "c": 1 - SCORES},
        {"k": [1, 3], "metrics": ["P", "PSP"], "train": TRAIN},
    )
    found = xmceval.compare(TRUTH, systems, cluster_rows=range(N), by_frequency=2, **options, **testing)
    plain = xmceval.compare(TRUTH, systems, by_frequency=2, **options, **testing)
    assert [replace(each, unit="row") for each in found.differences] == list(plain.differences)


@pytest.mark.parametrize("weights", [None, 1 + np.arange(N) % 7.0])
def test_within_a_group_intervals_and_tests_are_those_of_its_rows_scored_alone(weights):
    """Clusters may have rows in several groups."""
    groups, options = np.arange(N) % 3, {"metrics": ["P", "PSP", "AUC", "macroF1"], "k": 3, "test": "randomization"}
    systems = {"a": SCORES, "b": OTHER}
    common = {**options, "train": TRAIN, "resamples": 200}
    both = xmceval.compare(TRUTH, systems, cluster_rows=USERS, by_group=groups, sample_weight=weights, **common)
    for code in range(3):
        own = groups == code
        alone = xmceval.compare(
            *(TRUTH[own], {name: each[own] for name, each in systems.items()}),
            **{**common, "cluster_rows": USERS[own], "sample_weight": None if weights is None else weights[own]},
        )
        for result, expected in zip(both.results, alone.results, strict=True):
            assert result.slices[code].estimates == expected.estimates
        found = [each for each in both.differences if each.bin == str(code)]
        assert [replace(each, bin="") for each in found] == [
            each for each in alone.differences if each.wins is not None
        ]
    whole = xmceval.compare(TRUTH, systems, cluster_rows=USERS, sample_weight=weights, **common)
    assert [each.estimates for each in both.results] == [each.estimates for each in whole.results]


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_resampling_draws_whole_clusters(test):
    """Rows repeated within clusters tell nothing new: p and intervals stay, where those over rows become narrow."""
    once = {"a": SCORES[:60], "b": OTHER[:60]}
    often = {name: np.repeat(each, 5, axis=0) for name, each in once.items()}
    options = {"k": 3, "metrics": "P", "test": test, "resamples": 500}
    [plain] = xmceval.compare(TRUTH[:60], once, **options).differences
    truth = np.repeat(TRUTH[:60], 5, axis=0)
    [found] = xmceval.compare(truth, often, cluster_rows=np.repeat(np.arange(60), 5), **options).differences
    [naive] = xmceval.compare(truth, often, **options).differences
    assert found.p == pytest.approx(plain.p, abs=0.02)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=0.005)
    assert naive.high - naive.low < 0.6 * (found.high - found.low)


def test_intervals_cover_the_truth_where_instances_of_a_cluster_are_alike():
    """Of 95% intervals over 40 clusters of 5 correlated instances; those over rows cover far less."""
    rng, n_clusters, size, n_samples = np.random.default_rng(3), 40, 5, 300
    clusters, hits = np.repeat(np.arange(n_clusters), size), {"by cluster": 0, "by row": 0}
    truth = np.zeros((n_clusters * size, 2))
    truth[:, 0] = 1
    for _ in range(n_samples):
        chance = np.repeat(rng.beta(0.6, 0.6, n_clusters), size)  # of a hit, whose mean is 0.5
        is_hit = rng.random(n_clusters * size) < chance
        scores = np.stack([is_hit, ~is_hit], axis=1).astype(float)
        for name, options in {"by cluster": {"cluster_rows": clusters}, "by row": {}}.items():
            low, high = xmceval.score(truth, scores, metrics="P", k=1, **options).interval("P@1")
            hits[name] += low <= 0.5 <= high
    assert 0.92 < hits["by cluster"] / n_samples < 0.98
    assert hits["by row"] / n_samples < 0.85


def test_bits_are_the_same_for_any_blocks_and_threads(monkeypatch):
    options = {"metrics": ["P", "PSP", "AP"], "k": 3, "cluster_rows": USERS, "sample_weight": RNG.random(N)}
    whole = score(threads=1, **options)
    monkeypatch.setattr("xmceval.scoring.evaluate.MOST_NUMBERS", 500)  # several blocks
    assert score(threads=2, **options).estimates == whole.estimates


def test_few_clusters_have_a_caution_and_a_single_one_has_no_interval():
    few = score(metrics="P", k=1, cluster_rows=USERS % 8)
    assert few.estimates["P@1"].caution == "few_clusters"
    assert "from fewer than 30 clusters" in str(few)
    assert "intervals by cluster (8 clusters)" in " ".join(str(few).split())
    alone = score(metrics="P", k=1, cluster_rows=["x"] * N)
    assert alone.estimates["P@1"].low is None
    [difference] = xmceval.compare(
        TRUTH, {"a": SCORES, "b": OTHER}, metrics="P", k=1, cluster_rows=USERS % 8
    ).differences
    assert difference.caution == "few_clusters"


def test_few_hits_in_clusters_have_no_exact_interval():
    truth, scores = np.eye(2)[np.zeros(100, dtype=int)], np.tile([0.0, 1.0], (100, 1))
    scores[:4] = [1.0, 0.0]
    of_rows = xmceval.score(truth, scores, metrics="P", k=1)
    by_cluster = xmceval.score(truth, scores, metrics="P", k=1, cluster_rows=np.arange(100) // 2)
    low, high = by_cluster.interval("P@1")
    assert high + low == pytest.approx(2 * 0.04)
    assert sum(of_rows.interval("P@1")) != pytest.approx(2 * 0.04)


@pytest.mark.parametrize("testing", [{}, {"test": "randomization", "resamples": 200}, {"adjust": "tukey"}])
@pytest.mark.parametrize("weights", [None, (1 + np.arange(N) % 7.0) * (np.arange(N) % 5 > 0)])
def test_saved_values_of_rows_are_compared_by_cluster_with_the_same_digits(tmp_path, testing, weights):
    options = {"metrics": ["P", "PSP", "AUC"], "k": [1, 3], "train": TRAIN, "sample_weight": weights}
    systems, ids = {"a": SCORES, "b": OTHER, "c": 1 - SCORES}, [f"q{i}" for i in range(N)]
    expected = xmceval.compare(TRUTH, systems, cluster_rows=USERS, **options, **testing)
    for suffix, own in ((".npz", {}), (".csv", {"row_ids": ids})):
        path = tmp_path / f"all.rows{suffix}"
        xmceval.compare(TRUTH, systems, save_rows=path, **options, **own)
        of_ids = {} if not own else dict(zip(ids, USERS.tolist(), strict=True))
        found = xmceval.compare_rows([path], cluster_rows=of_ids or USERS, **testing)
        assert found.differences == expected.differences
        for one, other in zip(found.results, expected.results, strict=True):
            assert one.estimates == {name: each.without_tie_bounds() for name, each in other.estimates.items()}
    n_clusters = expected.results[0].options["cluster_rows"].partition("(")[2]
    assert f"intervals by cluster ({n_clusters}" in str(found)


def test_clusters_of_saved_values_must_fit_their_rows(tmp_path):
    paths = [tmp_path / f"{name}.rows.npz" for name in "ab"]
    for path, scores in zip(paths, (SCORES, OTHER), strict=True):
        xmceval.score(TRUTH, scores, metrics="P", k=1, save_rows=path, row_ids=[f"q{i}" for i in range(N)])
    with pytest.raises(DataError, match=r"cluster_rows: has the clusters of 239 rows, and there are 240 rows"):
        xmceval.compare_rows(paths, cluster_rows=USERS[1:])
    with pytest.raises(DataError, match=r"cluster_rows: 239 rows of 240 have no cluster; the first is 'q1'"):
        xmceval.compare_rows(paths, cluster_rows={"q0": "a"})
    (tmp_path / "users.txt").write_text("".join(f"q{i} {user}\n" for i, user in enumerate(USERS)))
    named = [f"{name}={path}" for name, path in zip("ab", paths, strict=True)]
    passed = ["--cluster-rows", str(tmp_path / "users.txt"), "-o", "json"]
    found = CliRunner().invoke(cli, ["compare", *named, *passed])
    assert found.exit_code == 0, found.output
    expected = xmceval.compare(TRUTH, {"a": SCORES, "b": OTHER}, metrics="P", k=1, cluster_rows=USERS)
    assert json.loads(found.stdout)["comparisons"] == json.loads(expected.to_json())["comparisons"]


def test_metrics_without_values_of_rows_have_no_interval():
    result = score(metrics=["macroF1", "P"], k=3, cluster_rows=USERS)
    assert result.estimates["macroF1@3"].low is None
    assert result.estimates["P@3"].low is not None


def test_clusters_are_read_from_files_and_by_id(tmp_path):
    expected = score(metrics="P", k=3, cluster_rows=USERS).estimates
    (tmp_path / "users.txt").write_text("".join(f"{user}\n" for user in USERS))
    by_line = score(metrics="P", k=3, cluster_rows=tmp_path / "users.txt")
    assert by_line.estimates == expected
    assert by_line.options["cluster_rows"] == f"users.txt, intervals by cluster ({len(set(USERS.tolist()))} clusters)"
    ids = [f"q{i}" for i in range(N)]
    (tmp_path / "by_id.txt").write_text("".join(f"q{i} {USERS[i]}\n" for i in reversed(range(N))))
    assert score(metrics="P", k=3, row_ids=ids, cluster_rows=tmp_path / "by_id.txt").estimates == expected
    of_ids = dict(zip(ids, USERS.tolist(), strict=True))
    assert score(metrics="P", k=3, row_ids=ids, cluster_rows=of_ids).estimates == expected


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (["a"] * (N - 1), r"cluster_rows: has the clusters of 239 rows, and there are 240 rows; expected one per row"),
        ([*"ab", None, *["c"] * (N - 3)], r"cluster_rows\[2\]: expected the cluster of a row, found nothing"),
        ({"q0": "a"}, r"cluster_rows: has clusters by id, but the rows have no ids"),
    ],
)
def test_wrong_clusters_are_refused_at_their_place(clusters, message):
    with pytest.raises(DataError, match=message):
        score(metrics="P", k=1, cluster_rows=clusters)


def test_a_file_without_a_cluster_or_with_other_rows_is_refused_at_its_line(tmp_path):
    path = tmp_path / "users.txt"
    path.write_text("a\n\n" + "b\n" * (N - 2))
    with pytest.raises(DataError, match=r"users\.txt:2: expected the cluster of a row, found nothing"):
        score(metrics="P", k=1, cluster_rows=path)
    path.write_text("a\n" * (N + 1))
    with pytest.raises(DataError, match=r"users\.txt: has the clusters of 241 rows"):
        score(metrics="P", k=1, cluster_rows=path)
    path.write_text("".join(f"q{i}\ta\n" for i in range(1, N)))
    with pytest.raises(DataError, match=r"users\.txt: 1 row of 240 has no cluster; the first is 'q0'"):
        score(metrics="P", k=1, row_ids=[f"q{i}" for i in range(N)], cluster_rows=path)


def test_what_has_no_clusters_refuses_them():
    with pytest.raises(UsageError, match="cluster_rows is not available for Evaluator"):
        xmceval.Evaluator(n_labels=N_LABELS, cluster_rows=USERS)
    batches = dask.array.from_array(TRUTH.astype(float), chunks=(80, -1))
    with pytest.raises(UsageError, match="cluster_rows is not available for collections of Dask"):
        distributed.score(batches, batches, cluster_rows=USERS, n_labels=N_LABELS, client="local:1")


def save_shards(folder, bounds=(0, 70, 71, 150, N), clusters=USERS, **options):
    """Save the states of shards whose clusters go on in the next ones, and return their paths."""
    paths = []
    for i, (start, stop) in enumerate(pairwise(bounds)):
        paths.append(folder / f"{i + 1}.state")
        own = slice(start, stop)
        each = {**options, "cluster_rows": clusters[own], "shard": (i + 1, len(bounds) - 1)}
        if "sample_weight" in each:
            each["sample_weight"] = each["sample_weight"][own]
        xmceval.score(TRUTH[own], SCORES[own], train=TRAIN, **each, save_state=paths[-1])
    return paths


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": MERGEABLE, "threshold": 0.5, "ceiling": True},
        {"metrics": ["P", "R", "PSP"], "k": [1, 3], "sample_weight": 1 + np.arange(N) % 3, "max_weight": 3},
        {"by_frequency": 3, "k": [1, 3], "empty_rows": "drop"},
    ],
)
@pytest.mark.parametrize("clusters", [USERS, np.arange(N), np.array([f"u{user}" for user in USERS])])
def test_merged_shards_give_the_bits_of_one_run_with_clusters_in_several_of_them(tmp_path, options, clusters):
    expected = score(cluster_rows=clusters, **options)
    first, *others = RNG.permutation(save_shards(tmp_path, clusters=clusters, **options)).tolist()
    xmceval.merge(others, save_state=tmp_path / "some.state")
    for names in ([first, *others], [tmp_path / "some.state", first]):
        merged = xmceval.merge(names)
        assert merged.estimates == expected.estimates
        assert [each.estimates for each in merged.slices] == [each.estimates for each in expected.slices]
        assert merged.options["cluster_rows"] == expected.options["cluster_rows"]


def test_states_with_clusters_are_merged_only_with_their_like_and_take_no_rows(tmp_path):
    one, two = save_shards(tmp_path, metrics="P", k=1)[0], tmp_path / "none.state"
    xmceval.score(TRUTH[:9], SCORES[:9], train=TRAIN, metrics="P", k=1, save_state=two, shard=(2, 4))
    with pytest.raises(DataError, match=r"differ in clusters of rows: (none and some|some and none); only totals"):
        xmceval.merge([one, two], save_state=tmp_path / "both.state")
    evaluator = xmceval.Evaluator.load(one)
    expected = xmceval.score(TRUTH[:70], SCORES[:70], train=TRAIN, metrics="P", k=1, cluster_rows=USERS[:70])
    assert evaluator.result().estimates == expected.estimates
    with pytest.raises(UsageError, match=r"has clusters of rows, which batches do not name, so no rows can be added"):
        evaluator.update(TRUTH, SCORES)
    with pytest.raises(UsageError, match="a state with clusters of rows has no fixed size"):
        evaluator.state()
    assert evaluator.result().estimates == expected.estimates


@pytest.mark.parametrize("keys", [[[1, 5], [2, 9], [2, 8]], [[1, 5], [2, 9], [2, 9]], [[1, 5], [0, 9], [2, 8]]])
def test_sums_of_clusters_out_of_their_order_or_given_twice_are_refused(keys):
    def filled(keys):
        sums = ClusterSums(NO_CLUSTERS, ValueColumns(tuple(parse("P@1"))))
        sums.fill({"keys": np.array(keys), "n_rows": np.ones((3, 1), dtype=int), "sums": np.zeros((3, 1, 2, 2), int)})
        return sums.arrays()["keys"].tolist()

    assert filled([[1, 5], [2, 8], [2, 9]]) == [[1, 5], [2, 8], [2, 9]]
    with pytest.raises(ValueError, match="keys: do not ascend"):
        filled(keys)


def test_the_command_saves_and_merges_clusters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, parts = CliRunner(), [("a", slice(0, 100)), ("b", slice(100, N))]
    for name, own in parts:
        for folder, matrix in (("truth", TRUTH[own]), ("scores", SCORES[own])):
            scipy.sparse.save_npz(f"{folder}_{name}.npz", scipy.sparse.csr_array(matrix.astype(float)))
        Path(f"users_{name}.txt").write_text("".join(f"{user}\n" for user in USERS[own]))
        found = run.invoke(
            cli,
            [
                *("score", f"truth_{name}.npz", f"scores_{name}.npz", "-m", "P,R", "-k", "1"),
                *("--cluster-rows", f"users_{name}.txt", "--save-state", f"{name}.state"),
            ],
        )
        assert found.exit_code == 0, found.output
    merged = run.invoke(cli, ["merge", "b.state", "a.state"])
    whole = (scipy.sparse.csr_array(matrix.astype(float)) for matrix in (TRUTH, SCORES))
    expected = xmceval.score(*whole, metrics="P,R", k=1, cluster_rows=USERS)
    n = len(set(USERS.tolist()))
    assert merged.exit_code == 0, merged.output
    assert str(expected).splitlines()[:3] == merged.stdout.splitlines()[:3]
    assert f"intervals by cluster ({n} clusters)" in merged.stdout
