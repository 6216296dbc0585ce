"""Groups of rows: the figures of each are those of its rows alone, with the same tests of differences."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from judge import naive
from support.judged import check_judged
from support.measures import names_of
from support.pieces import read_in_pieces

import xmceval
from xmceval import METRICS

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N, N_LABELS = 90, 12
RNG = np.random.default_rng(24)
COMMON = 1 / np.arange(1, N_LABELS + 1)
TRAIN = scipy.sparse.csr_array(RNG.random((200, N_LABELS)) < 0.7 * COMMON)
TRUTH = RNG.random((N, N_LABELS)) < 0.7 * COMMON
SCORES = np.round((RNG.random((N, N_LABELS)) + TRUTH * 0.3) / 1.3, 1)
GROUPS = np.array(["de", "en", "fr"])[RNG.choice(3, N, p=[0.5, 0.45, 0.05])]
EVERY = [name for metric in METRICS.values() for name in names_of(metric)]


def score(rows=slice(None), **options):
    weights = options.pop("sample_weight", None)
    weights = None if weights is None else weights[rows]
    return xmceval.score(TRUTH[rows], SCORES[rows], train=TRAIN, sample_weight=weights, **options)


@pytest.mark.parametrize(
    ("metrics", "options"),
    [
        (EVERY, {"threshold": 0.5, "ceiling": True}),
        (EVERY, {"threshold": 0.5, "empty_rows": "drop", "sample_weight": np.arange(N) % 3.0}),
        (["P", "nDCG", "PSP", "R"], {"k": [1, 3], "ties": "expected"}),
    ],
)
def test_figures_of_a_group_are_those_of_its_rows_alone_to_the_same_bits(monkeypatch, metrics, options):
    whole = score(metrics=metrics, **options)
    read_in_pieces(monkeypatch, numbers=20_000)  # several blocks
    result = score(metrics=metrics, by_group=GROUPS, **options)
    assert result.estimates == whole.estimates
    assert [each.bin.name for each in result.slices] == ["de", "en", "fr"]
    for part in result.slices:
        alone = score(part.bin.name == GROUPS, metrics=metrics, **options)
        assert {name: part.estimates[name] for name in alone} == alone.estimates
        assert part.bin.n_instances == alone.counts.n_instances


def test_figures_of_a_group_are_those_of_the_judge():
    result = score(metrics=["P", "nDCG", "PSP", "PSnDCG", "R", "AP"], k=[1, 3], by_group=GROUPS)
    inverse = naive.inverse_propensities(np.asarray(TRAIN.sum(axis=0)).tolist(), 200, 0.55, 1.5)
    for part in result.slices:
        values = {name: each.value for name, each in part.estimates.items()}
        inside = part.bin.name == GROUPS
        group = SimpleNamespace(counts=result.counts, items=values.items)
        check_judged(group, TRUTH[inside].astype(float), SCORES[inside], inverse, least=12)


def test_pairs_of_a_filter_are_removed_in_every_group():
    pairs = np.argwhere(TRUTH)[::3]
    result = score(metrics="P", k=3, by_group=GROUPS, filter=pairs)
    for part in result.slices:
        rows = np.flatnonzero(part.bin.name == GROUPS)
        own = pairs[np.isin(pairs[:, 0], rows)]
        own = np.column_stack([np.searchsorted(rows, own[:, 0]), own[:, 1]])
        assert part.estimates == score(rows, metrics="P", k=3, filter=own).estimates


@pytest.mark.parametrize("testing", [{}, {"test": "randomization", "resamples": 200, "adjust_over": "all"}])
def test_differences_in_a_group_are_those_of_its_rows_alone(testing):
    systems = {"a": SCORES, "b": np.round(SCORES * RNG.random(SCORES.shape), 1), "c": SCORES[:, ::-1]}
    options = {"metrics": ["P", "microF1", "macroF1"], "k": 3, **testing}
    found = xmceval.compare(TRUTH, systems, by_group=GROUPS, **options)
    for name in ("de", "en", "fr"):
        inside = name == GROUPS
        alone = xmceval.compare(TRUTH[inside], {key: each[inside] for key, each in systems.items()}, **options)
        tested = {each.key: each for each in alone.differences if each.p is not None}
        own = {each.key: replace(each, bin="") for each in found.differences if each.bin == name and each.p is not None}
        if testing.get("adjust_over") == "all":  # the family has the tests of all groups
            tested, own = ({key: replace(x, p_adjusted=None) for key, x in each.items()} for each in (tested, own))
        assert own == tested
    n_tests = sum(each.p is not None for each in found.differences)
    assert testing.get("adjust_over") != "all" or f"(Holm, over all {n_tests} tests)" in " ".join(str(found).split())


def test_runs_have_means_and_spreads_in_groups():
    systems = {"seeds": [SCORES, SCORES[:, ::-1], SCORES**2], "once": 1 - SCORES}
    found = xmceval.compare(TRUTH, systems, metrics="P", k=1, by_group=GROUPS)
    mean = found.systems["seeds"].slices[0]
    each = [result.slices[0].estimates["P@1"].value for result in found.results[:3]]
    assert (mean.figures[0].kind, mean.bin.name) == ("group", "de")
    assert mean.estimates["P@1"].value == pytest.approx(np.mean(each), rel=1e-12)


def test_groups_of_ids_are_those_of_their_rows():
    ids = [f"q{row}" for row in range(N)]
    by_id = dict(reversed(list(zip(ids, GROUPS, strict=True)))) | {"other": "it"}
    options = {"metrics": "P", "k": 1}
    assert score(by_group=by_id, row_ids=ids, **options) == score(by_group=GROUPS.tolist(), **options)


def test_groups_are_in_the_order_of_their_names_numbers_by_value():
    result = score(metrics="P", k=1, by_group=np.array([10, 9, 2])[np.arange(N) % 3])
    assert [each.bin.name for each in result.slices] == ["2", "9", "10"]


@pytest.mark.parametrize(("n_groups", "where"), [(8, "0, 1, 2, 3, 4, 5, 6, 7"), (9, "9 of 9 groups")])
def test_many_groups_of_few_rows_are_counted(n_groups, where):
    text = str(score(metrics="P", k=1, by_group=np.arange(N) % n_groups))
    assert f"caution: the intervals in {where} are from fewer than 30 instances" in " ".join(text.split())


@pytest.mark.parametrize("names", [["nan", "de", "10", "zh", "2"], ["zh", "2", "nan", "10", "de"]])
def test_a_group_called_nan_is_no_number(names):
    result = score(metrics="P", k=1, by_group=[names[row % 5] for row in range(N)])
    assert [each.bin.name for each in result.slices] == ["2", "10", "de", "nan", "zh"]
