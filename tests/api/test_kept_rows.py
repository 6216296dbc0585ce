"""Kept values of rows: what is compared from them is, bit for bit, what `compare` finds."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

import xmceval
from xmceval.api.comparing.compare import compare_systems
from xmceval.api.comparing.comparekept import KeptSystem, compare_kept
from xmceval.api.extras.keeprows import KeepRows
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, Setup
from xmceval.errors import DataError, UsageError
from xmceval.files.arrays.archive import Archive
from xmceval.files.saved import keptrows
from xmceval.rows.matrices import matrices
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options

N_ROWS, N_LABELS = 230, 24
METRICS = ["P@1,3", "PSP@3", "nDCG@5", "RR@3", "microP@3", "GAUC", "AUC", "Abandonment@3", "macroP@3"]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch, tmp_path):
    monkeypatch.setattr(keptrows, "CHUNK_NUMBERS", 1 << 10)
    monkeypatch.setattr(keptrows, "LEAST_ROWS", 16)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(name="data")
def make_data():
    rng = np.random.default_rng(5)
    truth = (rng.random((N_ROWS, N_LABELS)) < 0.15).astype(float)
    noise = rng.random((8, N_ROWS, N_LABELS))
    scores = [np.where(each > 0.3, np.round(each + 0.4 * truth, 2), -np.inf) for each in noise]
    return truth, scores, {"train": (rng.random((400, N_LABELS)) < 0.2).astype(float)}


def keep(truth, y_score, name, folder, *, monkeypatch=None, block=None, **options):
    """Score a system by itself, as it would be alone, and keep the values of its rows."""
    if block is not None:
        monkeypatch.setattr(matrices, "BLOCK_ENTRIES", block)
    runs = y_score if isinstance(y_score, list) else [y_score]
    files = tuple(folder / f"{name}{i}.npz" for i in range(len(runs)))
    for run, path in zip(runs, files, strict=True):
        systems, chosen = [Named(run, "as it was called")], Options.of(options)
        score_systems(Setup.of(truth, chosen, systems), systems, [KeepRows([path])])
    return KeptSystem(name, y_score, files)


RESAMPLED = {"resamples": 200}
CASES = {
    "t": ({}, {}, [1, 1, 1]),
    "against": ({}, {"against": "b", "adjust": "none"}, [1, 1, 1]),
    "weights": ({"sample_weight": np.arange(N_ROWS) % 4 / 3}, {}, [1, 2, 1]),
    "bins": ({"by_frequency": "head,tail", "ceiling": True}, {"adjust_over": "all"}, [1, 1, 2]),
    "runs": ({"by_frequency": "head,tail"}, {}, [3, 3, 1]),
    "only runs": ({}, {"test": "bootstrap", **RESAMPLED}, [3, 3]),
    "bootstrap": (
        {"sample_weight": np.arange(N_ROWS) % 3 + 0.5, "by_frequency": 2},
        {"test": "bootstrap", **RESAMPLED},
        [1, 2],
    ),
    "randomization": ({"empty_rows": "drop"}, {"test": "randomization", **RESAMPLED}, [2, 1]),
    "tukey": ({}, {"adjust": "tukey", **RESAMPLED}, [1, 1, 2]),
    "ties": ({"ties": "expected", "metrics": ["P@3", "PSP@1"]}, {}, [1, 1]),
    "no rows": ({"metrics": ["macroF1"]}, {}, [1, 1]),
}


@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
@pytest.mark.parametrize("case", CASES)
def test_the_comparison_is_that_of_compare(case, data, tmp_path, monkeypatch):
    truth, scores, options = data
    further, testing, sizes = CASES[case]
    options = {"metrics": METRICS, **options, **further}
    left, systems = iter(scores), {}
    for name, size in zip("abc", sizes, strict=False):
        runs = list(itertools.islice(left, size))
        systems[name] = runs if size > 1 else runs[0]
    fresh = xmceval.compare(truth, systems, **options, **testing, threads=2)
    kept = [
        keep(truth, each, name, tmp_path, monkeypatch=monkeypatch, block=block, threads=2, **options)
        for (name, each), block in zip(systems.items(), (90, 1 << 20, 700), strict=False)
    ]
    found = compare_kept(kept, Testing.of(testing), threads=2)
    assert found.to_json() == fresh.to_json()
    assert str(found) == str(fresh)


@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
def test_one_pass_keeps_the_same_bytes_as_each_run_alone_in_blocks_of_any_size(data, tmp_path, monkeypatch):
    truth, scores, options = data
    options = {"metrics": METRICS, "by_frequency": 2, "sample_weight": np.arange(N_ROWS) % 3, **options}
    alone = keep(truth, scores[:2], "a", tmp_path, monkeypatch=monkeypatch, block=60, **options)
    systems = [Named(scores[:2], "a")]
    setup, paths = (
        Setup.of(truth, Options.of({**options, "threads": 3}), systems),
        [tmp_path / "1.npz", tmp_path / "2.npz"],
    )
    compare_systems(setup, systems, Testing(), [KeepRows(paths)], needs_pairs=False)
    for own, other in zip(alone.files, paths, strict=True):
        with np.load(own) as one, np.load(other) as two:
            assert sum(name.startswith("chunk") for name in one) > 3
            assert set(one) == set(two)
            assert all(np.array_equal(one[name], two[name]) for name in one if name != "meta")


@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
def test_a_run_of_another_system_and_a_single_system_are_as_in_compare(data, tmp_path):
    truth, scores, options = data
    options = {"metrics": "P", "k": 3, **options}
    systems = {"s": scores[:2], "p": scores[0], "o": scores[2]}
    several, part, other = (keep(truth, each, name, tmp_path, **options) for name, each in systems.items())
    fresh = xmceval.compare(truth, systems, **options)
    assert "p is one of the runs of s" in str(fresh.warnings)
    assert compare_kept([several, part, other], Testing()).to_json() == fresh.to_json()
    with pytest.raises(UsageError, match="at least two systems"):
        compare_kept([other], Testing())
    [result] = compare_kept([other], Testing(), needs_pairs=False).results
    assert result.name == "o"


@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"truth": 1 - np.eye(N_ROWS, N_LABELS)}, "truths"),
        ({"a": 0.6, "b": 2.6}, "propensities"),
        ({"ties": "expected"}, "options of scoring"),
        ({"metrics": ["P@1", "PSP@5"]}, "metrics"),
        ({"sample_weight": np.full(N_ROWS, 2.0)}, "sample weights"),
    ],
)
def test_files_of_other_data_are_refused(other, what, data, tmp_path):
    truth, scores, options = data
    options = {"metrics": ["P@1", "PSP@3"], **options}
    first = keep(truth, scores[0], "a", tmp_path, **options)
    second = keep(other.pop("truth", truth), scores[1], "b", tmp_path, **{**options, **other})
    with pytest.raises(DataError, match=rf"a0\.npz and .*b0\.npz are kept values of different {what}"):
        compare_kept([first, second], Testing())


def test_a_run_that_fails_leaves_no_file_and_the_one_before(data, tmp_path):
    truth, scores, _ = data
    kept = keep(truth, scores[0], "a", tmp_path, metrics="P", k=1)
    before = kept.files[0].read_bytes()
    with pytest.raises(DataError):
        keep(truth, np.full((N_ROWS, N_LABELS), np.nan), "a", tmp_path, metrics="P", k=1)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]


def test_a_damaged_file_is_an_error_with_its_path(data, tmp_path):
    truth, scores, _ = data
    systems = [keep(truth, each, name, tmp_path, metrics="P", k=3) for name, each in zip("ab", scores, strict=False)]
    content = bytearray(systems[1].files[0].read_bytes())
    content[content.index(b"chunk 0.npy") + 300] ^= 1
    systems[1].files[0].write_bytes(content)
    with pytest.raises(DataError, match=r"b0\.npz \(chunk 0\)"):
        compare_kept(systems, Testing())
    systems[1].files[0].write_bytes(content[:500])
    with pytest.raises(DataError, match=r"b0\.npz: cannot be read as an npz file"):
        compare_kept(systems, Testing())


def test_threads_read_chunks_one_after_the_other(data, tmp_path, monkeypatch):
    monkeypatch.setattr(keptrows, "CHUNK_NUMBERS", 16)
    truth, scores, _ = data
    systems = [keep(truth, each, name, tmp_path, metrics="P", k=3) for name, each in zip("ab", scores, strict=False)]
    reading, most, open_array = {}, [], Archive.open_array

    def open_slowly(archive, opened, name):
        if name.startswith("chunk"):
            reading[opened] = reading.get(opened, 0) + 1
            time.sleep(0.002)
            most.append(reading[opened])
            reading[opened] -= 1
        return open_array(archive, opened, name)

    monkeypatch.setattr(Archive, "open_array", open_slowly)
    compare_kept(systems, Testing(), threads=4)
    assert len(most) > 8
    assert max(most) == 1


NUMBERS = st.floats(width=64) | st.sampled_from([0.0, -0.0, 1.0, np.nan, 0.5])
TABLES = arrays(np.float64, st.tuples(st.integers(0, 40), st.integers(1, 4)), elements=NUMBERS)


@given(TABLES, st.lists(st.integers(0, 3)))
def test_columns_are_unpacked_with_the_same_bits(table, copied):
    values = np.concatenate([table, table[:, [c % table.shape[1] for c in copied]]], axis=1)
    n_rows, n_columns = values.shape
    packed = keptrows._Packed.of(keptrows._pack(values), n_rows, n_columns)
    parts = packed.unpack(0, 1), packed.unpack(1, n_columns - 1)
    assert np.concatenate(parts, axis=1).tobytes() == values.tobytes()


def test_a_constant_column_after_a_copy_of_one_that_begins_with_its_value_is_packed():
    column = np.arange(30.0) + 0.5
    values = np.stack([column, column, np.full(30, 0.5)], axis=1)
    packed = keptrows._pack(values)
    assert packed.size == 3 * 8 + 30 * 8 + 8
    assert keptrows._Packed.of(packed, 30, 3).unpack(0, 3).tolist() == values.tolist()


def test_columns_of_few_values_and_copies_take_little_room():
    rng, n = np.random.default_rng(0), 1000
    weights = rng.random(n)
    columns = [np.ones(n), rng.integers(0, 4, n) / 3, weights, weights, np.arange(n) % 256, np.arange(n) // 2]
    sizes = [keptrows._pack(np.stack(columns[: c + 1], axis=1).astype(float)).size for c in range(6)]
    assert np.diff(sizes, prepend=0).tolist() == [8 + 8, 8 + 4 * 8 + n, 8 + 8 * n, 8, 8 + 256 * 8 + n, 8 + 8 * n]
