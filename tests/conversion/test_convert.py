"""Convert: every form reads back to the same truth or scores, bit for bit; and what is refused."""

# ruff: noqa: F401 - lines use what is imported here

import gzip
import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix, load_npz, save_npz
from support.approved import check_lines
from support.examples import examples
from support.files import write
from support.pieces import read_in_pieces

import xmceval
from xmceval.files.io.streams import open_bytes

NAMES = ["a.txt", "a", "a.npz", "a.npy", "a.txt.gz", "a.bz2", "a.txt.XZ", "a.TXT.zst"]
INFINITE = st.sampled_from([float("inf"), float("-inf"), 0.0, -0.0])
SCORES = {
    "int": (np.int64, st.integers(-(2**53), 2**53)),
    "small int": (np.int32, st.integers(0, 30)),
    "float32": (np.float32, st.floats(width=32, allow_nan=False)),
    "float64": (np.float64, st.floats(allow_nan=False)),
    "whole": (np.float64, st.integers(-20, 20).map(float)),
    "huge": (np.float64, st.sampled_from([1e300, -1e300, 1e15, 1e16, 1e17, 123456789012345678.0, 5e-324])),
    "ties": (np.float64, st.sampled_from([0.5, 1.0])),
    "infinite": (np.float64, INFINITE | st.integers(0, 9).map(float)),
}
KEYS = st.integers(0, 12) | st.integers(0, 2**31 - 1)


@pytest.fixture
def folder(tmp_path):
    write("p.txt", "3 5\n3:0.5 1:2\n\n4:0.001\n")
    write("t.txt", "4 3\n0:1\n0:1 2:1\n\n2:1\n")
    return tmp_path


def bits_of(matrix):
    """Return the ends of rows, the labels in their order and the bits of the values."""
    return matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.astype(np.float64).tobytes()


def read(path, kind="scores"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xmceval.XmcevalWarning)
        return bits_of(xmceval.read(path, kind=kind))


def skip_without_zstd(name):
    if name.endswith("zst"):
        pytest.importorskip("zstandard")


def matrix_of(rows, dtype):
    indptr = np.cumsum([0, *map(len, rows)])
    indices = [label for row in rows for label in row]
    values = [value for row in rows for value in row.values()]
    shape = len(rows), max(indices, default=0) + 1
    return csr_matrix((np.array(values, dtype), np.array(indices, np.int64), indptr), shape=shape)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", SCORES)
def test_scores_of_every_type_come_back_from_every_form(name, kind):
    skip_without_zstd(name)
    dtype, values = SCORES[kind]
    is_dense = name == "a.npy"
    keys = st.integers(0, 12) if is_dense else KEYS
    if is_dense:
        values = values.filter(lambda value: value != float("-inf"))

    @examples(1)
    @given(st.lists(st.dictionaries(keys, values, max_size=4), min_size=1, max_size=5).filter(any))
    def check(rows):
        if is_dense:  # which has labels in their order
            rows = [dict(sorted(row.items())) for row in rows]
        scores = matrix_of(rows, dtype)
        save_npz("s.npz", scores)
        convert = xmceval.convert("s.npz", name, kind="scores", force=True, threads=1)
        assert (convert.n_rows, convert.n_labels, convert.n_entries) == (*scores.shape, scores.nnz)
        assert read(name) == bits_of(scores)

    check()


@pytest.mark.parametrize("name", NAMES)
def test_truth_comes_back_from_every_form(name):
    skip_without_zstd(name)
    keys = st.integers(0, 12) if name == "a.npy" else KEYS

    @given(st.lists(st.dictionaries(keys, st.integers(1, 9), max_size=4), min_size=1, max_size=6).filter(any))
    def check(rows):
        truth = matrix_of([dict(sorted(row.items())) for row in rows], np.float64)
        save_npz("t.npz", truth)
        xmceval.convert("t.npz", name, kind="truth", force=True, threads=1)
        assert read(name, "truth") == bits_of(truth)

    check()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_npz_is_what_scipy_reads_in_the_narrowest_exact_type(rng, dtype):
    scores = csr_matrix(rng.standard_normal((50, 20)).astype(dtype))
    save_npz("s.npz", scores.astype(np.float64))
    xmceval.convert("s.npz", "a.npz")
    xmceval.convert("s.npz", "a.npy", kind="scores")
    back, dense = load_npz("a.npz"), np.load("a.npy")
    assert back.dtype == dense.dtype == dtype
    assert back.indices.dtype == np.int32
    assert back.shape == scores.shape
    assert np.array_equal(back.toarray(), scores.toarray())
    assert np.array_equal(dense, scores.toarray())


def test_the_bytes_are_the_same_for_any_number_of_threads_and_run_of_rows(rng, monkeypatch):
    np.save("s.npy", rng.standard_normal((300, 30)))
    read_in_pieces(monkeypatch, entries=100)
    for threads, cells in ((1, 1 << 18), (2, 100), (4, 7)):
        read_in_pieces(monkeypatch, cells=cells)
        for ending in ("txt", "npz", "npy", "txt.gz"):
            xmceval.convert("s.npy", f"{threads}.{ending}", kind="scores", threads=threads)
    for ending in ("txt", "npz", "npy"):
        assert len({Path(f"{threads}.{ending}").read_bytes() for threads in (1, 2, 4)}) == 1
        assert Path("1.txt").read_bytes() == gzip.decompress(Path("1.txt.gz").read_bytes())


def test_top_keeps_what_ranking_keeps(rng):
    np.save("s.npy", np.round(rng.random((40, 30)), 1))
    y_true = csr_matrix((rng.random((40, 30)) < 0.2).astype(float))
    xmceval.convert("s.npy", "cut.npz", top=5)
    options = {"k": [1, 3, 5], "metrics": ["P", "nDCG"]}
    expected = xmceval.score(y_true, np.load("s.npy"), **options)
    assert dict(xmceval.score(y_true, "cut.npz", **options)) == dict(expected)


def test_files_are_converted_or_refused_in_these_words(folder, run):
    write("bare.txt", "3:0.5 1:2\n\n7:1e-3\n")
    write("broken.txt", "2 5\n1:0.5\n2:x\n")
    write("names", "a\nb\nc\n")
    values = [0.1 + 0.2, 1e16, 1e-5, 5e-324, 100.0, 10.0, -0.0, -1.5e300, np.inf, -np.inf, 0.0, 3.0]
    save_npz("s.npz", csr_matrix((values, range(len(values)), [0, len(values)])))
    before = {path.name for path in folder.iterdir()}

    def convert(source, target, **options):
        """Return what is written, and said of it; a file that is refused leaves none."""
        try:
            written = xmceval.convert(source, target, **options)
        except xmceval.XmcevalError as error:
            assert {path.name for path in folder.iterdir()} == before
            return f"{type(error).__name__}: {error}"
        path = folder / target
        shown = {"npy": np.load, "npz": lambda path: load_npz(path).toarray()}.get(path.suffix[1:].lower(), as_text)(
            path
        )
        path.unlink()
        facts = (written.n_rows, written.n_labels, written.n_entries, written.description, *written.warnings)
        return f"{shown}\n{facts}"

    def as_text(path):
        with open_bytes(path) as file:
            return f"{path.read_bytes()[:2]!r}\n{file.read().decode()}"

    def command(*words):
        code, out, err = run("convert", *words)
        return f"exit {code}\n{out}{err}"

    check_lines(__file__, "converted.txt", globals() | locals())


@pytest.mark.parametrize("name", ["inverse.txt", "inverse.npy", "inverse.txt.gz"])
def test_a_propensity_file_gives_the_bits_of_train(rng, name):
    train, y_true = ((rng.random((60, 12)) < 0.2).astype(float) for _ in range(2))
    y_score = rng.random((60, 12))
    counts = train.sum(axis=0).astype(int)
    inverse = xmceval.inverse_propensity(counts, 60, a=0.6, b=2.6)
    if name.endswith(".npy"):
        np.save(name, inverse)
    else:
        np.savetxt(name, inverse, fmt="%.17g")
    np.savetxt("counts", counts, fmt="%d")
    options = {"metrics": ["PSP", "PSnDCG", "PSR"], "k": [1, 3]}
    expected = xmceval.score(y_true, y_score, train=train, a=0.6, b=2.6, **options)
    got = xmceval.score(y_true, y_score, inverse_propensities=name, **options)
    assert dict(got) == dict(expected)
    got = xmceval.score(y_true, y_score, counts="counts", n_train=60, a=0.6, b=2.6, **options)
    assert dict(got) == dict(expected)


REAL = [
    *(f"bibtex/{name}" for name in ("napkinxc_br.txt.gz", "pecos_xrlinear.npz", "sklearn_ovr-labels.npy")),
    *(
        "eurlex_attentionxml/attentionxml_tree0.txt.gz",
        "eurlex_attentionxml/attentionxml_ensemble.npz",
        "cs771_bonsai/score_mat.txt.gz",
    ),
    *("bibtex_official_sample/scores.npz",),
]


LARGE = {name for name in REAL if name.startswith(("bibtex/s", "bibtex/n", "eurlex"))}


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.thorough] * (each in LARGE)) for each in REAL])
def test_real_predictions_go_through_every_format_and_come_back(realdata, name):
    last = realdata / name
    if not last.exists():
        pytest.skip("not in the data")
    expected = read(last)
    for target in ["a.npz", "b.txt", "d.txt.gz", "e.npz", "f.txt.bz2"]:
        xmceval.convert(last, target)
        last = target
        assert read(last) == expected, target


def test_real_truth_of_every_layout_comes_back(realdata):
    names = ("bibtex/test.txt.gz", "cs771_bonsai/tst_data.y", "lf_amazontitles_131k/tst_X_Y.txt.gz")
    for name in names:
        expected = read(realdata / name, "truth")
        for target in ("a.npz", "b.txt"):
            xmceval.convert(realdata / name, target, kind="truth", force=True)
            assert read(target, "truth") == expected, name


def test_real_files_of_names_are_converted_untouched(realdata, run):
    folder = realdata / "eurlex_attentionxml"
    options = ["--labels", folder / "labels.txt", "-q"]
    assert run("convert", folder / "EUR-Lex_test_labels.txt", "t.txt", "--as", "truth", *options)[0] == 0
    assert run("convert", folder / "AttentionXML-EUR-Lex-Tree-0-labels.npy", "p.npz", *options)[0] == 0
    assert read("t.txt", "truth") == read(folder / "tst_X_Y.txt.gz", "truth")
    got = xmceval.score("t.txt", "p.npz", k=[1, 5], metrics="P")
    same = xmceval.score(folder / "tst_X_Y.txt.gz", folder / "attentionxml_tree0.txt.gz", k=[1, 5], metrics="P")
    assert dict(got) == dict(same)
