"""Benchmark: the values of compare on each data set, bit for bit."""

import fsspec
import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from support.benchmarks import run_by_executor
from support.executors import PicklingExecutor

import xmceval

SIZES = {"one": 40, "two": 60}
SYSTEMS = {"a": "{dataset}/a.npz", "b": "{dataset}/b.npz", "seeds": ["{dataset}/s1.npz", "{dataset}/s2.npz"]}
OPTIONS = {"metrics": "P,PSP,macroF1@1,3", "by_frequency": 2}


@pytest.fixture
def folder(tmp_path, rng):
    for name, n_rows in SIZES.items():
        (tmp_path / name).mkdir()
        truth = rng.random((n_rows, 12)) < 0.3
        save_npz(f"{name}/truth.npz", csr_matrix(truth, dtype=np.float32))
        save_npz(f"{name}/train.npz", csr_matrix(rng.random((90, 12)) < 0.3, dtype=np.float32))
        for system in ("a", "b", "s1", "s2"):
            save_npz(f"{name}/{system}.npz", csr_matrix(truth * 0.4 + rng.random(truth.shape)))
    return tmp_path


def described(**changes):
    datasets = {name: {"truth": f"{name}/truth.npz", "train": f"{name}/train.npz"} for name in SIZES}
    return {**OPTIONS, "datasets": datasets, "systems": SYSTEMS, **changes}


def compared(name, systems=SYSTEMS, **options):
    paths = {
        system: [each.format(dataset=name) for each in path] if isinstance(path, list) else path.format(dataset=name)
        for system, path in systems.items()
    }
    return xmceval.compare(f"{name}/truth.npz", paths, train=f"{name}/train.npz", **OPTIONS, **options)


def of(found, name):
    """Return the comparison on a data set, also of a single system."""
    return next(each.comparison for each in found.datasets if each.name == name)


def cells(found):
    return {dataset.name: {name: dataset.find_status(name) for name in found.systems} for dataset in found.datasets}


@pytest.mark.parametrize("testing", [{}, {"against": "b"}, {"test": "randomization", "resamples": 100, "seed": 3}])
def test_values_and_tests_are_those_of_compare_bit_for_bit(folder, testing):
    found = xmceval.benchmark(described(**testing))
    for name in SIZES:
        assert of(found, name).to_dict() == compared(name, **testing).to_dict()


def test_a_single_system_and_those_without_the_baseline_have_results_only(folder):
    (folder / "one/b.npz").unlink()
    for name in ("s1", "s2", "a"):
        (folder / f"two/{name}.npz").unlink()
    found = xmceval.benchmark(described(against="b"))
    assert cells(found) == {
        "one": {"a": "scored", "b": "missing", "seeds": "scored"},
        "two": {"a": "missing", "b": "scored", "seeds": "missing"},
    }
    assert [(len(of(found, name).differences), len(of(found, name).to_frame())) for name in SIZES] == [(0, 0), (0, 0)]
    alone = xmceval.score_all("two/truth.npz", {"b": "two/b.npz"}, train="two/train.npz", **OPTIONS)
    assert of(found, "two").results == (alone["b"],)


BROKEN = {
    "garbage": lambda path, _: path.write_bytes(b"PK\x03\x04 this is no archive"),
    "rows": lambda path, scores: save_npz(path, csr_matrix(scores[1:])),
    "nan": lambda path, scores: save_npz(path, csr_matrix(np.where(scores == scores[-1, 0], np.nan, scores))),
}


@pytest.mark.parametrize(
    ("file", "kind"),
    [("a", "garbage"), ("a", "rows"), ("a", "nan"), ("s2", "rows"), ("truth", "garbage"), ("train", "garbage")],
)
def test_a_data_set_that_fails_says_why_and_all_others_are_scored(folder, file, kind):
    BROKEN[kind](folder / f"one/{file}.npz", np.random.default_rng(1).random((SIZES["one"], 12)))
    with pytest.warns(xmceval.XmcevalWarning, match=rf"^one: .*one/{file}\.npz") as said:
        found = xmceval.benchmark(described())
    assert cells(found) == {"one": dict.fromkeys(SYSTEMS, "error"), "two": dict.fromkeys(SYSTEMS, "scored")}
    assert list(found) == ["two"]
    assert of(found, "two").to_dict() == compared("two").to_dict()
    assert sum(str(each.message).startswith("one") for each in said) == 1
    assert f"error: one: {found.datasets[0].why}" in str(found).replace("\n  ", " ")
    assert found.to_dict()["datasets"][0]["why"] == found.datasets[0].why


def test_published_values_are_beside_computed_ones(folder):
    rows = {"one": {"precision@1": 64.53, "PSP@3": 100}}
    found = xmceval.benchmark(described(systems={**SYSTEMS, "Paper": {"published": rows, "source": "KDD 2019"}}))
    assert (found["one", "Paper", "P@1"], found["one", "Paper", "PSP@3"]) == (0.6453, 1)
    assert of(found, "one").to_dict() == compared("one").to_dict()
    assert found.to_dict()["systems"][-1] == {"name": "Paper", "source": "KDD 2019"}
    published = [{"system": "Paper", "metrics": {"P@1": 0.6453, "PSP@3": 1.0}}]
    assert [dataset["published"] for dataset in found.to_dict()["datasets"]] == [published, []]
    assert {name: by_system["Paper"] for name, by_system in cells(found).items()} == {
        "one": "published",
        "two": "missing",
    }


def test_a_data_set_without_predictions_fails(folder):
    for name in ("a", "b", "s1"):
        (folder / f"one/{name}.npz").unlink()
    with pytest.warns(xmceval.XmcevalWarning, match="^one: there are no predictions"):
        found = xmceval.benchmark(described())
    assert cells(found)["one"] == dict.fromkeys(SYSTEMS, "missing")
    reasons = [f"no file one/{name}.npz" for name in ("a", "b", "s1")]
    assert list(found.datasets[0].missing.values()) == reasons
    assert [cell["why"] for cell in found.to_dict()["datasets"][0]["cells"]] == reasons


def test_a_file_on_a_store_is_scored(folder):
    lines = [f"[datasets.{name}]\ntruth = '{name}/truth.npz'\n" for name in SIZES]
    text = f"metrics = 'P@1'\n{''.join(lines)}[systems]\na = '{{dataset}}/a.npz'\nb = '{{dataset}}/b.npz'\n"
    (folder / "benchmark.toml").write_text(text)
    store = fsspec.filesystem("memory")
    for path in ("benchmark.toml", *(f"{name}/{each}.npz" for name in SIZES for each in ("truth", "a", "b"))):
        store.pipe(f"/there/{path}", (folder / path).read_bytes())
    local, remote = xmceval.benchmark("benchmark.toml"), xmceval.benchmark("memory://there/benchmark.toml")
    assert str(remote) == str(local)
    assert remote.count_cells()["scored"] == 4


def test_an_executor_gives_the_same(folder):
    found = run_by_executor(described(), PicklingExecutor())
    assert found.to_json() == xmceval.benchmark(described()).to_json()
