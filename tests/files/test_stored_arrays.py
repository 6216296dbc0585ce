"""npz files that are not compressed: their entries are read from the file itself, and their checksums hold."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random as random_matrix, save_npz
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


@pytest.mark.usefixtures("pair")
@pytest.mark.parametrize(("part", "place"), [("data", -4), ("data", 100), ("indices", 100), ("indptr", 100)])
def test_a_byte_that_changed_is_found(part, place):
    content = bytearray(Path("p.npz").read_bytes())
    with zipfile.ZipFile("p.npz") as archive:
        info = archive.getinfo(f"{part}.npy")
    place = content.index(b"\x93NUMPY", info.header_offset) + (place if place > 0 else info.file_size + place)
    content[place] ^= ord(" ") ^ ord("\t")  # white space in a header, or the last bits of a number
    write("p.npz", bytes(content))
    problem = rf"p\.npz \({part}\): cannot be read as an array; .* \(its checksum differs\)"
    with pytest.raises(DataError, match=problem):
        read()


def change_members(change):
    """Write an archive anew, its members as `change` makes them of their names and contents."""
    with zipfile.ZipFile("p.npz") as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile("p.npz", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, change(name.removesuffix(".npy"), content))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_more_bytes_than_items_are_reported(pair, form):
    for longer in ("shape", "format", "data", *(("row", "col") if form == "coo" else ("indptr", "indices"))):
        save_npz("p.npz", pair[1].asformat(form), compressed=False)
        change_members(lambda name, content, longer=longer: content + b"more" * (name == longer))
        with pytest.raises(DataError, match=rf"p\.npz \({longer}\): has more data than shape \(.*\), which its header"):
            read()


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_fewer_bytes_than_items_are_reported(pair, part):
    change_members(lambda name, content: content[:-1] if name == part else content)
    n_items = SHAPE[0] + 1 if part == "indptr" else pair[1].nnz
    problem = rf"p\.npz \({part}\): the file is truncated; its header declares shape \({n_items},\)"
    with pytest.raises(DataError, match=problem):
        read()


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("part", ["p.npz", "t.npz"])
def test_entries_behind_the_end_of_indptr_are_refused_in_files_only(pair, form, compressed, part):
    matrices = dict(zip(("t.npz", "p.npz"), pair, strict=True))
    matrices[part] = matrix = matrices[part].asformat(form)
    matrix.data, matrix.indices = np.append(matrix.data, [9, 9]), np.append(matrix.indices, [0, 1])
    save_npz(part, matrix, compressed=compressed)
    problem = rf"{part}: its indptr ends at {matrix.indptr[-1]:,}, but there are {matrix.data.size:,} stored entries"
    with pytest.raises(DataError, match=rf"{problem} \(hint: call its prune\(\)"):
        read()
    expected = dict(xmceval.score(*pair, k=1, metrics="P"))
    assert dict(xmceval.score(*matrices.values(), k=1, metrics="P")) == expected
    matrix.prune()
    save_npz(part, matrix, compressed=compressed)
    read()


@pytest.mark.parametrize("n", [-1, 1])
def test_indices_and_data_of_different_lengths_are_refused(pair, n):
    scores = pair[1]
    save_csr("p.npz", scores.data, np.resize(scores.indices, scores.nnz + n), scores.indptr)
    with pytest.raises(DataError, match=r"p\.npz: its arrays of indices and data have different lengths"):
        read()


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_an_archive_with_a_member_twice_is_refused_by_every_reader(pair):
    best = -np.sort(-pair[1].toarray())[:, :5]
    for form in ("csr", "csc", "coo"):
        save_npz(f"{form}.npz", pair[1].asformat(form))
    np.savez("lists.npz", labels=np.argsort(-pair[1].toarray())[:, :5], scores=best)
    xmceval.score("t.npz", "p.npz", metrics="P", k=1, save_state="s.state", save_rows="s.rows.npz")
    files = dict.fromkeys(("csr.npz", "csc.npz", "coo.npz", "lists.npz"), read)
    files["s.state"] = lambda name: xmceval.merge([name])
    files["s.rows.npz"] = lambda name: xmceval.compare_rows([name, "csr.npz"])
    for name, read_file in files.items():
        with zipfile.ZipFile(name, "a") as archive:
            member = archive.namelist()[-1]
            archive.writestr(member, archive.read(member))
        with pytest.raises(DataError, match=rf"{name}: .*{member} appears twice"):
            read_file(name)
