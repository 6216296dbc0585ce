"""Unlike machines, imitated on one: values differ by 1e-12 without features of its processor or with other BLAS."""

import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from support.sample import SAMPLE

import xmceval

try:
    from numpy._core import _multiarray_umath as umath
except ImportError:  # numpy 1
    from numpy.core import _multiarray_umath as umath

DISPATCHED = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__[name]]

# A name of the C library's features that it does not know has no effect.
MACHINES = {
    "numpy without vectors": {"NPY_DISABLE_CPU_FEATURES": " ".join(DISPATCHED)},
    "a C library without FMA": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-FMA_Usable,-AVX2_Usable"},
    "BLAS for Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "BLAS for Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "BLAS for Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
}

SCRIPT = """
import sys, numpy, xmceval

path, sample, *folders = sys.argv[1:]

# A state of many metrics.
rng = numpy.random.default_rng(0)
counts = 10**6 // numpy.arange(1, 5001)
truth, scores = (rng.random((2, 40, 5000)) < 0.02).astype(float)
truth *= rng.integers(1, 5, truth.shape)
scores *= rng.integers(1, 10**6, scores.shape)
metrics = ["PSP", "PSnDCG", "PSDCG", "nDCG", "nDCG@all", "nDCG(gain=exp)@all", "RBP", "RBP@all", "ERR(max=4)@all"]
metrics += ["nDCG(discount=letor)", "nDCG(discount=letor)@all", "DCG(discount=ln)", "DCG(discount=ln)@all"]
evaluator = xmceval.Evaluator(metrics=metrics, k=[1, 30], n_labels=5000, grades=True, counts=counts, n_train=2 * 10**6)
evaluator.update(truth, scores)
evaluator.save(path)

# Comparisons by randomization.
pair = {name: f"{sample}/model_{name}.txt" for name in "ab"}
options = {"metrics": "P,nDCG,PSP,microF1", "k": [3, 5], "test": "randomization", "train": f"{sample}/trn_X_Y.txt"}
print(xmceval.compare(f"{sample}/tst_X_Y.txt", pair, **options).to_json())

def show_p(*data, **options):
    options = {"metrics": "P,nDCG,PSP,PSnDCG,microF1", "k": [3, 5], "test": "randomization", **options}
    for each in xmceval.compare(*data, **options).differences:
        print(each.measure.name, repr(each.p))

rng = numpy.random.default_rng(0)
ranks = numpy.arange(1, 160)
truth = (rng.random((3000, 159)) < 1 / ranks).astype(float)
systems = {name: truth * rng.random(truth.shape) + 0.9 * rng.random(truth.shape) for name in "ab"}
show_p(truth, systems, counts=4880 // (ranks + 2), n_train=4880)
for folder in folders:
    systems = {name: f"{folder}/napkinxc_{name}.txt.gz" for name in ("br", "plt")}
    show_p(f"{folder}/tst_X_Y.txt.gz", systems, train=f"{folder}/trn_X_Y.txt.gz")
"""
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
REALDATA = os.environ.get("XMCEVAL_REALDATA")
FOLDERS = [str(SAMPLE), *([f"{REALDATA}/bibtex"] if REALDATA else [])]


def run(machine, path):
    """Save a state as a machine computes it, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NPY_", "OPENBLAS_"))}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), *FOLDERS],
        env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **machine},
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    path = tmp_path_factory.mktemp("here") / "here.state"
    return path, run({}, path)


@pytest.mark.parametrize("machine", MACHINES)
def test_unlike_machines_agree_their_states_merge_and_a_randomization_has_the_same_digits(here, tmp_path, machine):
    path, printed = here
    found = run(MACHINES[machine], tmp_path / "there.state")
    if np.__version__.startswith("1."):  # which without vectors differs in last digits
        texts, numbers = zip(*((NUMBER.sub("", text), NUMBER.findall(text)) for text in (found, printed)), strict=True)
        assert texts[0] == texts[1]
        assert [*map(float, numbers[0])] == pytest.approx([*map(float, numbers[1])], rel=1e-11)
    else:
        assert found == printed
    own, other = map(xmceval.Evaluator.load, (path, tmp_path / "there.state"))
    assert dict(own.result()) == pytest.approx(dict(other.result()), rel=1e-12)
    assert own.merge(other).result().counts.n_instances == 80
