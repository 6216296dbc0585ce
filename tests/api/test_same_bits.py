"""Unlike machines, played by one: processor features and BLAS kernels that are switched off change values by 1e-12."""

import os
import subprocess
import sys
import tempfile

import pytest

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

STATE = """
import sys, numpy, xmceval
rng = numpy.random.default_rng(0)
counts = 10**6 // numpy.arange(1, 5001)
truth, scores = (rng.random((2, 40, 5000)) < 0.02).astype(float)
truth *= rng.integers(1, 5, truth.shape)
scores *= rng.integers(1, 10**6, scores.shape)
metrics = ["PSP", "PSnDCG", "PSDCG", "nDCG", "nDCG@all", "nDCG(gain=exp)@all", "RBP", "RBP@all", "ERR(max=4)@all"]
metrics += ["nDCG(discount=letor)", "nDCG(discount=letor)@all", "DCG(discount=ln)", "DCG(discount=ln)@all"]
evaluator = xmceval.Evaluator(metrics=metrics, k=[1, 30], n_labels=5000, counts=counts, n_train=2 * 10**6)
evaluator.update(truth, scores)
evaluator.save(sys.argv[1])
"""


def run(machine, *command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NPY_", "OPENBLAS_"))}
    done = subprocess.run(
        [sys.executable, *map(str, command)],
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
    run({}, "-c", STATE, path)
    return path


@pytest.mark.parametrize("machine", ["numpy without vectors", "a C library without FMA"])
def test_values_of_unlike_machines_agree_and_their_states_merge(here, tmp_path, machine):
    there = tmp_path / "there.state"
    run(MACHINES[machine], "-c", STATE, there)
    own, other = map(xmceval.Evaluator.load, (here, there))
    assert dict(own.result()) == pytest.approx(dict(other.result()), rel=1e-12)
    assert own.merge(other).result().counts.n_instances == 80


RANDOMIZATION = """
import sys, numpy, xmceval

def show_p(*data, **options):
    options = {"metrics": "P,nDCG,PSP,PSnDCG,microF1", "k": [3, 5], "test": "randomization", **options}
    for each in xmceval.compare(*data, **options).differences:
        print(each.measure.name, repr(each.p))

rng = numpy.random.default_rng(0)
ranks = numpy.arange(1, 160)
truth = (rng.random((3000, 159)) < 1 / ranks).astype(float)
systems = {name: truth * rng.random(truth.shape) + 0.9 * rng.random(truth.shape) for name in "ab"}
show_p(truth, systems, counts=4880 // (ranks + 2), n_train=4880)
for folder in sys.argv[1:]:
    systems = {name: f"{folder}/napkinxc_{name}.txt.gz" for name in ("br", "plt")}
    show_p(f"{folder}/tst_X_Y.txt.gz", systems, train=f"{folder}/trn_X_Y.txt.gz")
"""
REALDATA = os.environ.get("XMCEVAL_REALDATA")
COMPARE = ("-c", RANDOMIZATION, *([f"{REALDATA}/bibtex"] if REALDATA else []))


@pytest.fixture(scope="module")
def compared():
    return run({}, *COMPARE)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_randomization_has_the_same_digits_everywhere(compared, machine):
    assert run(MACHINES[machine], *COMPARE) == compared
