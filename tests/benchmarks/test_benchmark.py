"""Benchmark: the values of compare on each data set, bit for bit."""

import re
from pathlib import Path

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
    values = found.to_frame().value
    assert [figure.estimate.value for figure in alone["b"].figures] == [
        values["two", figure.measure.head, figure.measure.k, "b"] for figure in alone["b"].figures
    ]
    assert str(found).count("\ntwo · 60 instances · 12 labels") == 1


BROKEN = {
    "garbage": lambda path, _: path.write_bytes(b"PK\x03\x04 this is no archive"),
    "rows": lambda path, scores: save_npz(path, csr_matrix(scores[1:])),
    "missing": lambda path, _: path.unlink(),
    "nan": lambda path, scores: save_npz(path, csr_matrix(np.where(scores == scores[-1, 0], np.nan, scores))),
}


@pytest.mark.parametrize(
    ("file", "kind", "failing"),
    [
        ("a", "garbage", {"a"}),
        ("a", "rows", {"a"}),
        ("a", "nan", {"a"}),
        ("s2", "rows", {"seeds"}),
        ("truth", "garbage", {*SYSTEMS}),
        ("train", "garbage", {*SYSTEMS}),
        ("truth", "missing", {*SYSTEMS}),
    ],
)
@pytest.mark.parametrize("testing", [{}, {"against": "a"}])
def test_only_what_depends_on_a_file_fails_and_the_rest_is_scored(folder, file, kind, failing, testing):
    BROKEN[kind](folder / f"one/{file}.npz", np.random.default_rng(1).random((SIZES["one"], 12)))
    with pytest.warns(xmceval.XmcevalWarning, match=rf"^one: .*one/{file}\.npz") as said:
        found = xmceval.benchmark(described(**testing))
    is_whole, first = failing == {*SYSTEMS}, found.datasets[0]
    assert cells(found) == {
        "one": {name: "error" if name in failing else "scored" for name in SYSTEMS},
        "two": dict.fromkeys(SYSTEMS, "scored"),
    }
    assert list(found) == (["two"] if is_whole else ["one", "two"])
    assert of(found, "two").to_dict() == compared("two", **testing).to_dict()
    assert sum(str(each.message).startswith("one") for each in said) == 1
    [failure] = first.list_failures()
    assert f"error: one: {failure}" in re.sub(r"\n  ", " ", str(found))
    why = {cell["system"]: cell["why"] for cell in found.to_dict()["datasets"][0]["cells"]}
    assert (found.to_dict()["datasets"][0]["why"], {name for name in why if why[name]}) == (
        (first.why, set()) if is_whole else (None, failing)
    )
    for name in failing:
        with pytest.raises(KeyError, match=re.escape(failure)):
            found["one", name, "P@1"]
    if not is_whole:
        rest = {name: path for name, path in SYSTEMS.items() if name not in failing}
        assert [of(found, "one").systems[name].figures for name in rest] == [
            compared("one", rest).systems[name].figures for name in rest
        ]
        assert {measure.name for measure in found.measures} >= {"P@1", "PSP@3"}


def test_systems_that_fail_for_reasons_of_their_own_say_each_why(folder):
    for name, kind in (("a", "garbage"), ("b", "rows"), ("s1", "nan")):
        BROKEN[kind](folder / f"one/{name}.npz", np.random.default_rng(1).random((SIZES["one"], 12)))
    with pytest.warns(xmceval.XmcevalWarning) as said:
        found = xmceval.benchmark(described())
    assert cells(found) == {"one": dict.fromkeys(SYSTEMS, "error"), "two": dict.fromkeys(SYSTEMS, "scored")}
    assert [str(each.message).split(": ")[:2] for each in said] == [["one", name] for name in SYSTEMS]
    assert (found.datasets[0].why, [*found.datasets[0].failed]) == ("", [*SYSTEMS])
    with pytest.raises(KeyError, match=r"one: a: .*; b: .*; seeds: "):
        found["one"]


@pytest.mark.parametrize("content", [None, "no qrels\n"])
def test_a_truth_that_cannot_be_read_adds_no_columns(content):
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "qrels.txt").write_text("q 0 d 1\nq 0 e 0\nr 0 e 1\n")
        Path(name, "run.txt").write_text("q Q0 d 1 0.5 x\nr Q0 d 1 0.5 x\n")
    source = {
        "datasets": {name: {"truth": f"{name}/qrels.txt"} for name in ("one", "two")},
        "systems": {"x": "{dataset}/run.txt"},
    }
    columns = xmceval.benchmark(source).measures
    Path("one/qrels.txt").unlink() if content is None else Path("one/qrels.txt").write_text(content)
    with pytest.warns(xmceval.XmcevalWarning, match="^one: "):
        found = xmceval.benchmark(source)
    assert (found.measures, cells(found)) == (columns, {"one": {"x": "error"}, "two": {"x": "scored"}})


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
