"""Benchmark: the values of compare on each data set, of which only what changed is scored."""

import errno
import json
import random
import shutil
import subprocess
import sys
import time

import fsspec
import numpy as np
import pytest
from scipy.sparse import csr_matrix, load_npz, save_npz
from support.tasks import PickledTasks

import xmceval
from xmceval.api.benchmark.benchmark import describe_unkept, open_store, run_plan
from xmceval.api.benchmark.readplan import read_plan
from xmceval.api.benchmark.running import Runner
from xmceval.api.benchmark.scorecells import CellScorer
from xmceval.api.cluster.engine import Engine
from xmceval.api.comparing import compare as comparing
from xmceval.api.scoring import score as scoring

SIZES = {"one": 40, "two": 60}
SYSTEMS = {"a": "{dataset}/a.npz", "b": "{dataset}/b.npz", "seeds": ["{dataset}/s1.npz", "{dataset}/s2.npz"]}
OPTIONS = {"metrics": "P,PSP,macroF1@1,3", "by_frequency": 2}


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    for name, n_rows in SIZES.items():
        (tmp_path / name).mkdir()
        truth = rng.random((n_rows, 12)) < 0.3
        save_npz(f"{name}/truth.npz", csr_matrix(truth, dtype=np.float32))
        save_npz(f"{name}/train.npz", csr_matrix(rng.random((90, 12)) < 0.3, dtype=np.float32))
        for system in ("a", "b", "s1", "s2"):
            save_npz(f"{name}/{system}.npz", csr_matrix(truth * 0.4 + rng.random(truth.shape)))
    return tmp_path


@pytest.fixture
def scored(monkeypatch):
    """Record the files that are scored."""
    files, score_systems = [], scoring.score_systems

    def record(setup, systems, *rest, **options):
        files.extend(str(each.y_score) for each in systems)
        return score_systems(setup, systems, *rest, **options)

    for module in (comparing, scoring):
        monkeypatch.setattr(module, "score_systems", record)
    return files


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
    return next(each.comparison for each in found.datasets if each.name == name)


def cells(found):
    return {dataset.name: {cell.system: cell.status for cell in dataset.cells} for dataset in found.datasets}


@pytest.mark.parametrize("testing", [{}, {"against": "b"}, {"test": "bootstrap", "resamples": 100, "seed": 3}])
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
    assert [len(of(found, name).differences) for name in SIZES] == [0, 0]
    assert "not tested on two: b has no values there" not in str(found)
    assert "not tested on one: b has no values there" in str(found)
    alone = xmceval.score_all("two/truth.npz", {"b": "two/b.npz"}, train="two/train.npz", **OPTIONS)
    assert of(found, "two").results == (alone["b"],)


def broken(kind, path, n_rows):
    scores = np.random.default_rng(1).random((n_rows, 12))
    if kind == "garbage":
        path.write_bytes(b"PK\x03\x04 this is no archive")
    elif kind == "rows":
        save_npz(path, csr_matrix(scores[1:]))
    else:
        scores[-1, 0] = np.nan
        save_npz(path, csr_matrix(scores))


@pytest.mark.parametrize("kind", ["garbage", "rows", "nan"])
def test_a_cell_that_cannot_be_scored_is_left_out_and_all_others_are_scored(folder, kind):
    broken(kind, folder / "one/a.npz", SIZES["one"])
    broken(kind, folder / "two/s2.npz", SIZES["two"])
    with pytest.warns(xmceval.XmcevalWarning) as said:
        found = xmceval.benchmark(described(against="b"))
    assert cells(found) == {
        "one": {"a": "error", "b": "scored", "seeds": "scored"},
        "two": {"a": "scored", "b": "scored", "seeds": "error"},
    }
    for name, left_out in (("one", "a"), ("two", "seeds")):
        rest = {system: path for system, path in SYSTEMS.items() if system != left_out}
        assert of(found, name).to_dict() == compared(name, rest, against="b").to_dict()
    messages = [str(each.message) for each in said]
    assert sum("one, a: " in each and "one/a.npz" in each for each in messages) == 1
    assert sum("two, seeds: " in each and "two/s2.npz" in each for each in messages) == 1


@pytest.mark.parametrize("kind", ["truth", "train"])
def test_an_error_of_the_truth_fails_its_data_set_only(folder, kind):
    broken("garbage", folder / f"one/{kind}.npz", 0)
    with pytest.warns(xmceval.XmcevalWarning, match=f"^one: .*one/{kind}.npz") as said:
        found = xmceval.benchmark(described())
    assert cells(found)["one"] == dict.fromkeys(SYSTEMS, "error")
    assert of(found, "two").to_dict() == compared("two").to_dict()
    assert sum("one" in str(each.message) for each in said) == 1


# What is kept, and what is scored again.


def change(path):
    """Change a number: a score, or the label of a row."""
    matrix = load_npz(path)
    if "truth" in path.name or "train" in path.name:
        matrix = matrix.tolil()
        matrix[0, 0] = 1 - matrix[0, 0]
    else:
        matrix.data[0] += 1e-3
    save_npz(path, matrix.tocsr())


def statuses(found, status):
    return {(name, system) for name, row in cells(found).items() for system, each in row.items() if each == status}


def documents(found):
    return [each.comparison.to_json() for each in found.datasets]


def test_what_did_not_change_is_not_scored_again(folder, scored):
    first = xmceval.benchmark(described(), cache="kept")
    assert len(scored) == 8
    second = xmceval.benchmark(described(), cache="kept")
    assert len(scored) == 8
    assert statuses(second, "kept") == {(name, system) for name in SIZES for system in SYSTEMS}
    assert documents(second) == documents(first)
    assert (folder / "kept/.gitignore").read_text() == "*\n"
    third = xmceval.benchmark(described(), cache="kept", rescore=True)
    assert len(scored) == 16
    assert documents(third) == documents(first)


@pytest.mark.parametrize("testing", [{}, {"against": "b"}, {"test": "bootstrap", "resamples": 100, "adjust": "tukey"}])
def test_a_run_that_changed_is_scored_alone_and_all_values_are_those_of_compare(folder, scored, testing):
    xmceval.benchmark(described(**testing), cache="kept")
    scored.clear()
    change(folder / "two/s2.npz")
    found = xmceval.benchmark(described(**testing), cache="kept")
    assert scored == ["two/s2.npz"]
    assert statuses(found, "scored") == {("two", "seeds")}
    assert of(found, "two").to_dict() == compared("two", **testing).to_dict()
    assert [each.comparison.to_dict() for each in xmceval.benchmark(described(**testing)).datasets] == [
        each.comparison.to_dict() for each in found.datasets
    ]


@pytest.mark.parametrize("kind", ["truth", "train"])
def test_a_truth_or_training_file_that_changed_scores_its_data_set_again(folder, scored, kind):
    xmceval.benchmark(described(), cache="kept")
    scored.clear()
    change(folder / f"one/{kind}.npz")
    found = xmceval.benchmark(described(), cache="kept")
    assert statuses(found, "scored") == {("one", system) for system in SYSTEMS}
    assert of(found, "one").to_dict() == compared("one").to_dict()


def test_options_and_tests_that_changed(folder, scored):
    xmceval.benchmark(described(), cache="kept")
    scored.clear()
    tested = xmceval.benchmark(described(against="a"), cache="kept")
    assert scored == []
    xmceval.benchmark(described(metrics="P@1"), cache="kept")
    assert len(scored) == 8
    assert of(tested, "one").to_dict() == compared("one", against="a").to_dict()


def test_a_cell_with_an_error_is_tried_again_and_others_are_kept(folder, scored):
    broken("nan", folder / "one/a.npz", SIZES["one"])
    first = xmceval.benchmark(described(), cache="kept")
    scored.clear()
    second = xmceval.benchmark(described(), cache="kept")
    assert set(scored) == {"one/a.npz"}
    assert statuses(second, "error") == {("one", "a")}
    assert documents(second) == documents(first)
    save_npz("one/a.npz", load_npz("one/b.npz") * 2)
    scored.clear()
    repaired = xmceval.benchmark(described(), cache="kept")
    assert scored == ["one/a.npz"]
    assert of(repaired, "one").to_dict() == compared("one").to_dict()


def test_a_file_that_changes_while_it_is_scored_is_scored_and_not_kept(folder, scored, monkeypatch):
    def interfere(*arguments, **options):
        comparison = compare_systems(*arguments, **options)
        change(folder / "one/a.npz")
        return comparison

    compare_systems = comparing.compare_systems
    before = compared("one")
    monkeypatch.setattr(comparing, "compare_systems", interfere)
    first = xmceval.benchmark(described(), cache="kept")
    monkeypatch.setattr(comparing, "compare_systems", compare_systems)
    assert of(first, "one").to_dict() == before.to_dict()
    scored.clear()
    second = xmceval.benchmark(described(), cache="kept")
    assert "one/a.npz" in scored
    assert of(second, "one").to_dict() == compared("one").to_dict()


def test_a_kept_file_that_is_damaged_is_made_again(folder, scored):
    first = xmceval.benchmark(described(), cache="kept")
    for path in [*(folder / "kept/cells").iterdir(), *(folder / "kept/comparisons").iterdir()]:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert documents(xmceval.benchmark(described(), cache="kept")) == documents(first)
    scored.clear()
    assert documents(xmceval.benchmark(described(), cache="kept")) == documents(first)
    assert scored == []


def test_a_comparison_of_runs_that_were_kept_before_is_kept_too(folder, scored):
    first = xmceval.benchmark(described(), cache="kept")
    kept = folder / "kept/comparisons"
    names = {path.name for path in kept.iterdir()}
    shutil.rmtree(kept)  # as where a process was killed between the two
    scored.clear()
    assert documents(xmceval.benchmark(described(), cache="kept")) == documents(first)
    assert {path.name for path in kept.iterdir()} == names
    assert scored == []


def test_a_folder_that_cannot_be_written_is_a_warning(folder):
    (folder / "kept").touch()
    with pytest.warns(xmceval.XmcevalWarning, match=r"^results are not kept: kept: .*\(hint: pass cache=\)"):
        found = xmceval.benchmark(described(), cache="kept")
    assert of(found, "one").to_dict() == compared("one").to_dict()


def test_a_file_on_a_store_is_scored_and_what_is_kept_has_another_folder(folder):
    lines = [f"[datasets.{name}]\ntruth = '{name}/truth.npz'\n" for name in SIZES]
    text = f"metrics = 'P@1'\n{''.join(lines)}[systems]\na = '{{dataset}}/a.npz'\nb = '{{dataset}}/b.npz'\n"
    (folder / "benchmark.toml").write_text(text)
    store = fsspec.filesystem("memory")
    for path in ("benchmark.toml", *(f"{name}/{each}.npz" for name in SIZES for each in ("truth", "a", "b"))):
        store.pipe(f"/there/{path}", (folder / path).read_bytes())
    local, remote = xmceval.benchmark("benchmark.toml"), "memory://there/benchmark.toml"
    with pytest.warns(xmceval.XmcevalWarning, match=r"^results are not kept: memory://there/\.xmceval: is remote, .*"):
        assert str(xmceval.benchmark(remote)) == str(local)
    for status in ("scored", "kept"):
        found = xmceval.benchmark(remote, cache="kept")
        assert {cell.status for dataset in found.datasets for cell in dataset.cells} == {status}


@pytest.mark.parametrize("name", ["xmceval.files.saved.keptrows", "xmceval.files.saved.keptfiles"])
def test_a_full_disk_is_a_warning_and_costs_no_result(folder, monkeypatch, name):
    def fail(*_arguments, **_options):
        raise OSError(errno.ENOSPC, "No space left on device", "kept/x")

    with monkeypatch.context() as patched:
        patched.setattr(f"{name}.open_targets", fail)
        with pytest.warns(xmceval.XmcevalWarning, match="^results are not kept: kept/x: No space left on device"):
            found = xmceval.benchmark(described(), cache="kept")
    assert of(found, "one").to_dict() == compared("one").to_dict()
    assert documents(xmceval.benchmark(described(), cache="kept")) == documents(found)


def test_a_reason_why_files_are_not_kept_is_said_once():
    reasons = ["kept/x: No space left on device", "kept/y: No space left on device", "kept/z: Permission denied"]
    assert list(describe_unkept([*reasons, *reasons])) == [
        "results are not kept: kept/x: No space left on device; 1 more file for this reason (hint: pass cache=)",
        "results are not kept: kept/z: Permission denied (hint: pass cache=)",
    ]


def test_tasks_elsewhere_give_the_same_and_their_comparisons_are_kept(folder, scored):
    plan = read_plan(described())
    started = []

    def run():
        scorer = CellScorer(plan.testing, lambda: started.append(1) or {"engine": Engine(PickledTasks())})
        return run_plan(plan, Runner(plan.systems, scorer, open_store(plan, "kept")[0], keeps_runs=False))

    first = run()
    assert documents(first) == documents(xmceval.benchmark(described()))
    scored.clear()
    assert documents(run()) == documents(first)
    assert (scored, started) == ([], [1])


# Processes that are killed, and two at once.

LOOP = """
import json, sys, warnings
import xmceval
warnings.simplefilter("ignore")
described, n = json.loads(sys.argv[1]), int(sys.argv[2])
for i in range(n):
    found = xmceval.benchmark({**described, "k": [1, 2, 3][: 1 + i % 3]}, cache="kept", rescore=i % 4 == 3)
    print(*(each.comparison.to_json().replace("\\n", " ") for each in found.datasets), sep="\\n", flush=True)
"""


def start(n):
    command = [sys.executable, "-c", LOOP, json.dumps(described(metrics="P")), str(n)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def expected(i):
    found = xmceval.benchmark(described(metrics="P", k=[1, 2, 3][: 1 + i % 3]))
    return [each.replace("\n", " ") for each in documents(found)]


@pytest.mark.parametrize("n_rounds", [2, pytest.param(40, marks=pytest.mark.thorough)])
def test_what_a_killed_process_leaves_is_never_wrong(folder, n_rounds):
    rng = random.Random(5)
    for _ in range(n_rounds):
        process = start(10_000)
        process.stdout.readline()
        time.sleep(rng.random() / 4)
        process.kill()
        process.communicate()
        for i in range(3):
            found = xmceval.benchmark(described(metrics="P", k=[1, 2, 3][: 1 + i]), cache="kept")
            assert [each.replace("\n", " ") for each in documents(found)] == expected(i)
    assert not list(folder.rglob("*.part"))


def test_two_runs_at_once_do_not_harm_each_other(folder):
    processes = [start(4) for _ in range(2)]
    outs = [process.communicate()[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert outs[0] == outs[1] == [line for i in range(4) for line in expected(i)]
