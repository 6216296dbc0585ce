"""Convert: every form reads back to the same truth or scores, bit for bit; and what is refused."""

import gzip
import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix, load_npz, save_npz
from support.examples import examples
from support.files import write
from support.pieces import read_in_pieces

import xmceval
from xmceval import DataError, UsageError

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


def test_a_dense_array_has_zeros_where_nothing_is_true_and_else_minus_infinity(folder):
    xmceval.convert("t.txt", "t.npy", kind="truth")
    assert np.load("t.npy").tolist() == [[1, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 1]]
    xmceval.convert("p.txt", "p.npy", kind="scores")
    low = -np.inf
    assert np.load("p.npy").tolist() == [[low, 2, low, 0.5, low], [low] * 5, [low, low, low, low, 0.001]]


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


def test_numbers_are_the_shortest_text_that_reads_back_the_same(folder):
    values = [0.1 + 0.2, 1e16, 1e-5, 5e-324, 100.0, 10.0, -0.0, -1.5e300, np.inf, -np.inf, 0.0, 3.0]
    save_npz("s.npz", csr_matrix((values, range(len(values)), [0, len(values)])))
    xmceval.convert("s.npz", "s.txt")
    texts = Path("s.txt").read_text().split("\n")[1].split(" ")
    assert texts == [f"{label}:{repr(value).removesuffix('.0')}" for label, value in enumerate(values)]


def test_a_header_is_made_where_the_source_has_none(folder):
    write("a.txt", "3:0.5 1:2\n\n7:1e-3\n")
    written = xmceval.convert("a.txt", "b.txt.gz")
    assert gzip.decompress(Path("b.txt.gz").read_bytes()) == b"3 8\n3:0.5 1:2\n\n7:0.001\n"
    assert written.warnings == (
        "the number of labels is not declared; using the largest label + 1, 8 (hint: pass n_labels)",
    )


def test_a_file_is_converted_and_described(folder):
    written = xmceval.convert("p.txt", "p.npz")
    assert (written.n_rows, written.n_labels, written.n_entries, written.warnings) == (3, 5, 3, ())
    assert written.description == "text, rows of idx:value, header '3 5'"
    assert load_npz("p.npz").toarray()[0].tolist() == [0, 2, 0, 0.5, 0]
    xmceval.convert("p.npz", "back.txt")
    assert Path("back.txt").read_bytes() == Path("p.txt").read_bytes()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"top": 1}, "3 5\n1:2\n\n4:0.001\n"),
        ({"top": 2}, "3 5\n1:2 3:0.5\n\n4:0.001\n"),
        ({"n_labels": 7}, "3 7\n3:0.5 1:2\n\n4:0.001\n"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_options_are_those_of_the_command(run, options, text):
    stream = io.BytesIO()
    xmceval.convert("p.txt", stream, **options)
    assert stream.getvalue().decode() == text
    words = {"top": "--top", "n_labels": "--n-labels"}
    assert run("convert", "p.txt", "-", *(part for name in options for part in (words[name], options[name])))[:2] == (
        0,
        text,
    )


def test_top_keeps_what_ranking_keeps(rng):
    np.save("s.npy", np.round(rng.random((40, 30)), 1))
    y_true = csr_matrix((rng.random((40, 30)) < 0.2).astype(float))
    xmceval.convert("s.npy", "cut.npz", top=5)
    options = {"k": [1, 3, 5], "metrics": ["P", "nDCG"]}
    expected = xmceval.score(y_true, np.load("s.npy"), **options)
    assert dict(xmceval.score(y_true, "cut.npz", **options)) == dict(expected)
    with pytest.raises(UsageError, match="top must be at least 1, got 0"):
        xmceval.convert("s.npy", "none.npz", top=0)


def test_names_are_understood(folder):
    write("names", "a\nb\nc\n")
    write("named", "a c\n\nb\n")
    written = xmceval.convert("named", "t2.txt", kind="truth", labels="names")
    assert Path("t2.txt").read_text() == "3 3\n0:1 2:1\n\n1:1\n"
    assert written.n_labels == 3


@pytest.mark.parametrize("name", ["/dev/null", "."])
@pytest.mark.usefixtures("folder")
def test_what_is_not_a_file_is_never_replaced(name):
    with pytest.raises(UsageError, match="is not a file, so it cannot be overwritten"):
        xmceval.convert("p.txt", name, force=True)


@pytest.mark.usefixtures("folder")
def test_a_folder_that_does_not_exist_is_named():
    with pytest.raises(UsageError, match=r"a\.txt: there is no folder .*none"):
        xmceval.convert("p.txt", "none/a.txt")


def test_nothing_is_left_of_a_file_that_breaks_off(tmp_path):
    write("a.txt", "2 5\n1:0.5\n2:x\n")
    with pytest.raises(DataError, match=r"a\.txt:3: "):
        xmceval.convert("a.txt", "b.npz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt"]


UNWRITTEN = ["csv", "jsonl", "CSV", "csv.gz", "txt.lz4", "mat", "7z", "zip", "pkl", "h5", "MAT"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *((f"q.{ending}", "cannot write") for ending in UNWRITTEN),
        ("q.NPZ.GZ", "npz cannot be compressed; only text can"),
        ("q-labels.npy", "would be read as one of a pair of npy files"),
        ("q-scores.npy", "would be read as one of a pair of npy files"),
        ("q.npy", "pass kind='truth' or kind='scores'"),
    ],
)
def test_a_form_that_is_not_written_is_refused(folder, name, message):
    before = sorted(folder.iterdir())
    with pytest.raises(UsageError, match=f"{name}: .*{message}"):
        xmceval.convert("p.txt", name)
    assert sorted(folder.iterdir()) == before


def test_scores_that_a_dense_array_cannot_hold_are_refused(folder):
    write("low.txt", "2 2\n0:1\n0:2 1:-inf\n")
    with pytest.raises(DataError, match=r"low\.npy: row 1 has a score of -inf, .*hint: write \.npz"):
        xmceval.convert("low.txt", "low.npy", kind="scores")
    write("wide.txt", f"1 {2**45}\n0:1\n")
    with pytest.raises(DataError, match=r"wide\.npy: a dense array of 1 x 35,184,372,088,832 numbers takes 140,737 GB"):
        xmceval.convert("wide.txt", "wide.npy", kind="scores")
    assert not list(folder.glob("*.npy"))


def test_endings_in_capitals_are_what_they_say(folder):
    for name, start in (("a.NPZ", b"PK"), ("a.TXT.GZ", b"\x1f\x8b"), ("a.BZ2", b"BZh"), ("a.XZ", b"\xfd7zXZ")):
        xmceval.convert("p.txt", name)
        assert Path(name).read_bytes().startswith(start)
        assert read(name) == read("p.txt")


@pytest.mark.usefixtures("folder")
def test_verbose_reports_what_was_read_and_written(run):
    assert run("convert", "p.txt", "q.txt", "-v")[2].splitlines()[-2:] == [
        "note: p.txt: text, rows of idx:value, header '3 5'",
        "note: q.txt: 3 rows, 5 labels, 3 entries",
    ]


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
