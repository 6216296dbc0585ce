"""Convert: every format reads back to the same scores, bit for bit; propensity files give the bits of --train."""

import gzip
import math
import struct
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix, load_npz
from support.strategies import cases, to_csr

import xmceval
from xmceval.cli import main
from xmceval.errors import DataError, UsageError
from xmceval.files.opening import open_scores, open_truth
from xmceval.files.writing.conversion import convert
from xmceval.files.writing.writtenformats import WRITTEN_FORMATS
from xmceval.kernels.text import writing as write
from xmceval.rows.block import Scratch
from xmceval.rows.checks import validated_scores
from xmceval.rows.matrices import matrices
from xmceval.rows.matrices.matrices import as_scores, as_truth
from xmceval.rows.width import Width

DOUBLES = st.floats(allow_nan=False) | st.floats(width=32, allow_nan=False) | st.decimals(-10, 10, places=6).map(float)


def run(*words):
    with pytest.raises(SystemExit) as leave:
        main([str(word) for word in words])
    return leave.value.code


def rows_of(source):
    """Rows of a source as lists of (label, bits of the score)."""
    rows = []
    for block in source.blocks():
        indptr, indices, values = validated_scores(block, Scratch(), Width())
        pairs = [(int(i), struct.pack("<d", v)) for i, v in zip(indices, values, strict=False)]
        rows += [pairs[a:b] for a, b in pairwise(indptr)]
    return rows


def text_of(values):
    values = np.array(values, dtype=np.float64)
    out = np.empty(values.size * (write.ENTRY_BYTES + 1) + write.EXTRA_BYTES, np.uint8)
    args = np.arange(values.size + 1), np.zeros(values.size, np.int64), values, values.view(np.uint64)
    n_bytes = write.format_rows(*args, ord(":"), ord(" "), out)
    return [line.removeprefix("0:") for line in out[:n_bytes].tobytes().decode().split("\n")[:-1]]


def shortest(value):
    return repr(value).removesuffix(".0")


@given(st.lists(DOUBLES, min_size=1, max_size=20))
def test_a_number_is_written_as_the_shortest_text_that_reads_back_the_same_bits(values):
    assert text_of(values) == [shortest(value) for value in values]


def test_numbers_at_the_edges_of_their_range_are_written_as_by_repr():
    powers = [math.ldexp(1.0, i) for i in range(-1074, 1024, 7)] + [float(f"1e{i}") for i in range(-323, 309, 3)]
    values = [near for x in powers for near in (x, math.nextafter(x, 0), -math.nextafter(x, math.inf))]
    values += [0.0, -0.0, math.inf, -math.inf, 5e-324, 0.1 + 0.2, 99999.99999, 0.99999999999, 1e-4, 9.9999e-5, 1e6]
    assert text_of(values) == [shortest(value) for value in values]


@given(st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 10**9), min_size=1, max_size=20))
def test_ids_of_any_size_are_written_in_full(ids):
    out = np.empty(len(ids) * (write.ENTRY_BYTES + 1) + write.EXTRA_BYTES, np.uint8)
    values = np.ones(len(ids))
    n_bytes = write.format_rows(
        np.array([0, len(ids)]), np.array(ids, np.int64), values, values.view(np.uint64), 0, ord(","), out
    )
    assert out[:n_bytes].tobytes().decode() == ",".join(map(str, ids)) + "\n"


@given(cases(), st.sampled_from(["a.txt", "a.txt.gz", "plain", "a.npz", "a-labels.npy"]), st.integers(1, 3))
def test_every_format_reads_back_the_same(tmp_path_factory, case, name, threads):
    path = tmp_path_factory.mktemp("convert") / name
    scores = to_csr(case.scores, case.n_labels, np.float64)
    to = "plain" if name == "plain" else None
    written = convert(as_scores(scores), path, to=to, threads=threads)
    assert (written.n_rows, written.n_labels, written.n_entries) == (*scores.shape, scores.nnz)
    if scores.nnz:
        back = rows_of(open_scores(path).source)
        back += [[]] * (scores.shape[0] - len(back))  # blank lines at the end of a file without a header
        assert back == rows_of(as_scores(scores))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_npz_is_what_scipy_reads_in_the_narrowest_exact_type(tmp_path, rng, dtype):
    scores = csr_matrix(rng.standard_normal((50, 20)).astype(dtype))
    convert(as_scores(scores), tmp_path / "a.npz")
    back = load_npz(tmp_path / "a.npz")
    assert back.dtype == dtype
    assert back.indices.dtype == np.int32
    assert back.shape == scores.shape
    assert np.array_equal(back.toarray(), scores.toarray())


def test_the_bytes_are_the_same_for_any_number_of_threads(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 100)
    scores = as_scores(rng.standard_normal((300, 30)))
    for threads in (1, 2, 4):
        convert(scores, tmp_path / f"{threads}.txt", threads=threads)
        convert(scores, tmp_path / f"{threads}.npz", threads=threads)
    for ending in ("txt", "npz"):
        assert len({(tmp_path / f"{threads}.{ending}").read_bytes() for threads in (1, 2, 4)}) == 1


def test_a_header_is_made_where_the_source_has_none(tmp_path):
    (tmp_path / "a.txt").write_text("3:0.5 1:2\n\n7:1e-3\n")
    written = convert(open_scores(tmp_path / "a.txt").source, tmp_path / "b.txt.gz")
    assert gzip.decompress((tmp_path / "b.txt.gz").read_bytes()) == b"3 8\n3:0.5 1:2\n\n7:0.001\n"
    assert written.notes == (
        "the number of labels is not declared; using the largest label + 1, 8 (hint: pass n_labels)",
    )


def test_a_header_of_rows_and_k_is_corrected(tmp_path):
    (tmp_path / "a.txt").write_text("2 2\n3:0.5 1:2\n7:1\n")
    convert(open_scores(tmp_path / "a.txt").source, tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_text() == "2 8\n3:0.5 1:2\n7:1\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "4:0.5 1:0.5 3:2 0:-1"),
        (["--top", 2], "3:2 1:0.5"),
        (["--top", 3, "--sort", "label"], "1:0.5 3:2 4:0.5"),
        (["--sort", "score"], "3:2 1:0.5 4:0.5 0:-1"),
        (["--sort", "label"], "0:-1 1:0.5 3:2 4:0.5"),
        (["--to", "omikuji"], "4 0.5\t1 0.5\t3 2.0\t0 -1.0"),
    ],
)
def test_rows_are_cut_and_ordered_as_asked(tmp_path, capfdbinary, words, line):
    (tmp_path / "a.txt").write_text("1 5\n4:0.5 1:0.5 3:2 0:-1\n")
    assert run("convert", tmp_path / "a.txt", "-", "-q", *words) == 0
    header = b"" if "--to" in words else b"1 5\n"
    assert capfdbinary.readouterr().out == header + line.encode() + b"\n"


def test_top_keeps_what_ranking_keeps(rng):
    scores = np.round(rng.random((40, 30)), 1)
    y_true = csr_matrix((rng.random((40, 30)) < 0.2).astype(float))
    indptr, indices, values = (np.array(x) for x in ([0, *[30] * 40], [*range(30)] * 40, scores.ravel()))
    indptr = np.cumsum(indptr)
    write.order_rows(indptr, indices, values, 5, True, True)
    cut = csr_matrix((values[: indptr[-1]], indices[: indptr[-1]], indptr), shape=(40, 30))
    options = {"k": [1, 3, 5], "metrics": ["P", "nDCG"]}
    assert dict(xmceval.score(y_true, cut, **options)) == dict(xmceval.score(y_true, scores, **options))


def test_an_existing_file_is_not_overwritten_without_force(tmp_path):
    scores = as_scores(np.eye(2))
    (tmp_path / "a.txt").write_text("mine")
    with pytest.raises(UsageError) as error:
        convert(scores, tmp_path / "a.txt")
    assert str(error.value) == f"{tmp_path / 'a.txt'}: already exists (hint: pass force=True to overwrite)"
    assert (tmp_path / "a.txt").read_text() == "mine"
    convert(scores, tmp_path / "a.txt", force=True)
    assert (tmp_path / "a.txt").read_text() == "2 2\n0:1 1:0\n0:0 1:1\n"


@pytest.mark.parametrize("name", ["/dev/null", "."])
def test_what_is_not_a_file_is_never_replaced(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="is not a file, so it cannot be overwritten"):
        convert(as_scores(np.eye(2)), name, force=True)


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"a\.txt: there is no folder .*none"):
        convert(as_scores(np.eye(2)), tmp_path / "none" / "a.txt")


def test_nothing_is_left_of_a_file_that_breaks_off(tmp_path):
    (tmp_path / "a.txt").write_text("2 5\n1:0.5\n2:x\n")
    with pytest.raises(DataError, match=r"a\.txt:3: "):
        convert(open_scores(tmp_path / "a.txt").source, tmp_path / "b.npz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt"]


@pytest.mark.parametrize(
    ("to", "are_scores", "message"),
    [
        ("lists", True, "lists of labels cannot hold scores (hint: pass kind='truth' if these are true labels)"),
        ("npy", False, "a pair of npy files holds predictions, not truth (hint: pass to='npz')"),
        ("csv", True, "unknown format 'csv'; expected one of " + ", ".join(WRITTEN_FORMATS)),
    ],
)
def test_a_format_that_cannot_hold_the_rows_is_refused(tmp_path, to, are_scores, message):
    with pytest.raises(UsageError) as error:
        convert(as_scores(np.eye(2)), tmp_path / "a", to=to, are_scores=are_scores)
    assert str(error.value) == message


def test_grades_are_not_lost_in_lists(tmp_path):
    with pytest.raises(DataError) as error:
        convert(as_truth(np.array([[1, 0], [0, 2]])), tmp_path / "a", to="lists", are_scores=False)
    assert str(error.value) == "y_true row 1: a list of labels cannot hold grades other than 1"


@pytest.mark.parametrize("name", ["inverse.txt", "inverse.npy", "inverse.txt.gz"])
def test_a_propensity_file_gives_the_bits_of_train(tmp_path, rng, name):
    train, y_true = ((rng.random((60, 12)) < 0.2).astype(float) for _ in range(2))
    y_score = rng.random((60, 12))
    counts = train.sum(axis=0).astype(int)
    inverse = xmceval.inverse_propensity(counts, 60, a=0.6, b=2.6)
    if name.endswith(".npy"):
        np.save(tmp_path / name, inverse)
    else:
        np.savetxt(tmp_path / name, inverse, fmt="%.17g")
    np.savetxt(tmp_path / "counts", counts, fmt="%d")
    options = {"metrics": ["PSP", "PSnDCG", "PSR"], "k": [1, 3]}
    expected = xmceval.score(y_true, y_score, train=train, a=0.6, b=2.6, **options)
    got = xmceval.score(y_true, y_score, inverse_propensities=tmp_path / name, **options)
    assert dict(got) == dict(expected)
    got = xmceval.score(y_true, y_score, counts=tmp_path / "counts", n_train=60, a=0.6, b=2.6, **options)
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
def test_real_predictions_go_through_every_format_and_come_back(tmp_path, realdata, name):
    path = realdata / name
    if not path.exists():
        pytest.skip("not in the data")
    expected = rows_of(open_scores(path).source)
    source, last = open_scores(path).source, path
    for step, target in enumerate(["a.npz", "b.txt", "c-labels.npy", "d.txt.gz", "e.npz", "f.txt.bz2"]):
        convert(source, tmp_path / target)
        if target.endswith("bz2"):
            break
        last = tmp_path / target
        source = open_scores(last).source
        assert rows_of(source) == expected, step
        source = open_scores(last).source


def test_real_truth_of_every_layout_comes_back(tmp_path, realdata):
    names = ("bibtex/test.txt.gz", "cs771_bonsai/tst_data.y", "lf_amazontitles_131k/tst_X_Y.txt.gz")
    for name in names:
        expected = rows_of(open_truth(realdata / name).source)
        for target in ("a.npz", "b.txt"):
            convert(open_truth(realdata / name).source, tmp_path / target, are_scores=False, force=True)
            assert rows_of(open_truth(tmp_path / target).source) == expected, name


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst"])
def test_compressed_text_comes_back(tmp_path, rng, monkeypatch, ending):
    if ending == "zst":
        pytest.importorskip("zstandard")
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 100)
    scores = as_scores(rng.standard_normal((60, 20)))
    convert(scores, tmp_path / f"a.txt.{ending}")
    assert rows_of(open_scores(tmp_path / f"a.txt.{ending}").source) == rows_of(scores)


def test_omikuji_and_lists_come_back(tmp_path, rng):
    scores = csr_matrix(rng.random((30, 9)) * (rng.random((30, 9)) < 0.5))
    convert(as_scores(scores), tmp_path / "o.txt", to="omikuji")
    assert rows_of(open_scores(tmp_path / "o.txt").source) == rows_of(as_scores(scores))
    truth = (scores != 0).astype(float)
    convert(as_truth(truth), tmp_path / "l.txt", to="lists", are_scores=False)
    assert rows_of(open_truth(tmp_path / "l.txt").source) == rows_of(as_scores(truth))


def test_real_files_of_names_are_converted_untouched(tmp_path, realdata):
    folder = realdata / "eurlex_attentionxml"
    options = ["--labels", folder / "labels.txt", "-q"]
    assert run("convert", folder / "EUR-Lex_test_labels.txt", tmp_path / "t.txt", "--as", "truth", *options) == 0
    assert run("convert", folder / "AttentionXML-EUR-Lex-Tree-0-labels.npy", tmp_path / "p.npz", *options) == 0
    expected = rows_of(open_truth(folder / "tst_X_Y.txt.gz").source)
    assert [sorted(row) for row in rows_of(open_truth(tmp_path / "t.txt").source)] == [sorted(row) for row in expected]
    got = xmceval.score(tmp_path / "t.txt", tmp_path / "p.npz", k=[1, 5], metrics="P")
    same = xmceval.score(folder / "tst_X_Y.txt.gz", folder / "attentionxml_tree0.txt.gz", k=[1, 5], metrics="P")
    assert dict(got) == dict(same)
