"""npz files that are not compressed: their entries are read from the file itself, and their checksums hold."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random as random_matrix, save_npz
from support.approved import check_lines
from support.files import write
from support.pieces import read_in_pieces

import xmceval
from xmceval import DataError

SHAPE = (300, 40)


@pytest.fixture
def pair(rng, monkeypatch):
    """Write truth and predictions, and let blocks be so small that there are many."""
    read_in_pieces(monkeypatch, entries=50, rows=70)
    truth = csr_matrix(rng.random(SHAPE) < 0.1, dtype=np.float32)
    scores = random_matrix(*SHAPE, 0.3, format="csr", dtype=np.float32, random_state=rng)
    save_npz("t.npz", truth, compressed=False)
    save_npz("p.npz", scores, compressed=False)
    return truth, scores


def read(path="p.npz", **options):
    """Return the values of a file of predictions."""
    return xmceval.score("t.npz", path, **{"metrics": ["P@1", "LRAP"], "threads": 2, **options}).estimates


def save_csr(name, data, indices, indptr):
    np.savez(name, shape=np.array(SHAPE), format=np.array(b"csr"), data=data, indices=indices, indptr=indptr)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_stored_entries_are_those_of_the_matrix(pair, threads):
    options = {"metrics": ["P@1", "nDCG@5", "LRAP"], "threads": threads}
    assert read(train="t.npz", **options) == xmceval.score(*pair, **options).estimates


def save_forms(scores):
    """Write predictions in all forms of arrays: each file, and the name by which it is scored."""
    dense = scores.toarray()
    labels = np.argsort(-dense, axis=1)[:, :7]
    best = np.take_along_axis(dense, labels, axis=1)
    write("names.txt", "".join(f"n{label}\n" for label in range(SHAPE[1])))
    words = np.array([[f"n{label}" for label in row] for row in labels])
    arrays = {
        "dense": dense,
        "columns": np.asfortranarray(dense),
        "ranked": labels,
        "fortran": np.asfortranarray(labels),
        "words": words,
        "objects": words.astype(object),
        "a-labels": labels,
        "a-scores": best,
        "b-labels": np.asfortranarray(labels),
        "b-scores": np.asfortranarray(best),
    }
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)
    return {f"{name}.npy": name[0] if name[1] == "-" else f"{name}.npy" for name in arrays}


@pytest.mark.parametrize("gap", [8, None])
def test_an_array_longer_than_its_header_is_refused_by_every_reader(pair, gap):
    for file, name in save_forms(pair[1]).items():
        options = {"metrics": "P@1", "labels": "names.txt"}
        read(name, **options)
        whole = Path(file).read_bytes()
        at = len(whole) if gap is None or file == "objects.npy" else len(whole) - gap * 7 * 20
        write(file, whole[:at] + bytes(gap or 1) + whole[at:])
        problem = "has more data|more follows|appears twice|is not in"  # of items that were moved, what comes first
        with pytest.raises(DataError, match=problem):
            read(name, **options)
        write(file, whole)
    write("dense.npy", Path("dense.npy").read_bytes().replace(b"False", b"f(  )"))
    with pytest.raises(DataError, match="cannot be read as an array; is the file damaged") as caught:
        read("dense.npy")
    assert " at 0x" not in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, ">f4", np.float16])
def test_entries_of_any_type_are_read(pair, dtype):
    scores = pair[1]
    data = np.rint(scores.data * 9).astype(dtype)
    save_csr("q.npz", data, scores.indices.astype(">i8"), scores.indptr.astype(np.uint32))
    save_npz("r.npz", csr_matrix((data.astype(np.float64), scores.indices, scores.indptr), shape=SHAPE))  # compressed
    assert read("q.npz") == read("r.npz")


def changed_byte(part, place):
    """Change white space in a header, counted from its start, or the last bits of a number, counted from the end."""
    content = bytearray(Path("p.npz").read_bytes())
    with zipfile.ZipFile("p.npz") as archive:
        info = archive.getinfo(f"{part}.npy")
    start = content.index(b"\x93NUMPY", info.header_offset)
    content[start + (place if place > 0 else info.file_size + place)] ^= ord(" ") ^ ord("\t")
    return write("x.npz", bytes(content))


def members(form, part, change):
    """Write an archive in which the content of a member is another."""
    with zipfile.ZipFile(f"{form}.npz") as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile("x.npz", "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, change(content) if name == f"{part}.npy" else content)
    return "x.npz"


def twice(name):
    """Add the last member of an archive once more."""
    with zipfile.ZipFile(name, "a") as archive:
        member = archive.namelist()[-1]
        archive.writestr(member, archive.read(member))
    return name


def with_room(matrix, form):
    """Return a matrix with two entries behind the end of its indptr."""
    matrix = matrix.asformat(form).copy()
    matrix.data, matrix.indices = np.append(matrix.data, [9, 9]), np.append(matrix.indices, [0, 1])
    return matrix


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_archives_that_contradict_themselves_are_refused_in_these_words(pair):
    truth, scores = pair
    best, data, indices, indptr = -np.sort(-scores.toarray())[:, :5], scores.data, scores.indices, scores.indptr
    for form in ("csr", "csc", "coo"):
        save_npz(f"{form}.npz", scores.asformat(form), compressed=False)
    np.savez("lists.npz", labels=np.argsort(-scores.toarray())[:, :5], scores=best)
    xmceval.score("t.npz", "p.npz", metrics="P", k=1, save_state="s.state", save_rows="s.rows.npz")

    def stored(matrix, name="x.npz", **options):
        save_npz(name, matrix, **options)
        return name

    def p_at_1(*inputs):
        return xmceval.score(*inputs, metrics="P", k=1)["P@1"]

    def pruned(matrix):
        matrix.prune()
        return matrix

    check_lines(__file__, "archives.txt", globals() | locals())
