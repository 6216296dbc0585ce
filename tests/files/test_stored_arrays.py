"""npz files that are not compressed: their entries are read from the file itself, and their checksums hold."""

import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random as random_matrix, save_npz
from support.pieces import read_in_pieces

import xmceval
from xmceval import DataError

SHAPE = (300, 40)


@pytest.fixture
def pair(rng, tmp_path, monkeypatch):
    """Write truth and predictions, and let blocks be so small that there are many."""
    read_in_pieces(monkeypatch, entries=50, rows=70)
    truth = csr_matrix(rng.random(SHAPE) < 0.1, dtype=np.float32)
    scores = random_matrix(*SHAPE, 0.3, format="csr", dtype=np.float32, random_state=rng)
    save_npz(tmp_path / "t.npz", truth, compressed=False)
    save_npz(tmp_path / "p.npz", scores, compressed=False)
    return truth, scores, tmp_path


def read(path):
    """Return the values of a file of predictions."""
    return xmceval.score(path.parent / "t.npz", path, metrics=["P@1", "LRAP"], threads=2).estimates


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_stored_entries_are_those_of_the_matrix(pair, threads):
    truth, scores, folder = pair
    options = {"metrics": ["P@1", "nDCG@5", "LRAP"], "threads": threads}
    expected = xmceval.score(truth, scores, **options).estimates
    assert xmceval.score(folder / "t.npz", folder / "p.npz", train=folder / "t.npz", **options).estimates == expected


def save_forms(folder, scores):
    """Write predictions in all forms of arrays: each file, and the name by which it is scored."""
    dense = scores.toarray()
    labels = np.argsort(-dense, axis=1)[:, :7]
    best = np.take_along_axis(dense, labels, axis=1)
    (folder / "names.txt").write_text("".join(f"n{label}\n" for label in range(SHAPE[1])))
    words = np.array([[f"n{label}" for label in row] for row in labels])
    arrays = {
        "dense": dense,
        "columns": np.asfortranarray(dense),
        "ranked": labels,
        "fortran": np.asfortranarray(labels),
    }
    arrays |= {"words": words, "objects": words.astype(object), "a-labels": labels, "a-scores": best}
    arrays |= {"b-labels": np.asfortranarray(labels), "b-scores": np.asfortranarray(best)}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return {f"{name}.npy": name[0] if name[1] == "-" else f"{name}.npy" for name in arrays}


@pytest.mark.parametrize("gap", [8, None])
def test_an_array_longer_than_its_header_is_refused_by_every_reader(pair, gap):
    _, scores, folder = pair
    for file, name in save_forms(folder, scores).items():
        options = {"metrics": "P@1", "labels": folder / "names.txt", "threads": 2}
        xmceval.score(folder / "t.npz", folder / name, **options)
        whole = (folder / file).read_bytes()
        at = len(whole) if gap is None or file == "objects.npy" else len(whole) - gap * 7 * 20
        (folder / file).write_bytes(whole[:at] + bytes(gap or 1) + whole[at:])
        problem = "has more data|more follows|appears twice|is not in"  # of items that were moved, what comes first
        with pytest.raises(DataError, match=problem):
            xmceval.score(folder / "t.npz", folder / name, **options)
        (folder / file).write_bytes(whole)


def test_a_damaged_header_is_reported_without_an_address_in_memory(pair):
    _, scores, folder = pair
    np.save(folder / "p.npy", scores.toarray())
    content = (folder / "p.npy").read_bytes()
    (folder / "p.npy").write_bytes(content.replace(b"False", b"f(  )"))
    with pytest.raises(DataError, match="cannot be read as an array; is the file damaged") as caught:
        read(folder / "p.npy")
    assert " at 0x" not in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, ">f4", np.float16])
def test_entries_of_any_type_are_read(pair, dtype):
    _, scores, folder = pair
    data = np.rint(scores.data * 9).astype(dtype)
    parts = {"data": data, "indices": scores.indices.astype(">i8"), "indptr": scores.indptr.astype(np.uint32)}
    np.savez(folder / "q.npz", shape=np.array(SHAPE), format=np.array(b"csr"), **parts)
    exact = csr_matrix((data.astype(np.float64), scores.indices, scores.indptr), shape=SHAPE)
    save_npz(folder / "r.npz", exact)  # compressed
    assert read(folder / "q.npz") == read(folder / "r.npz")


@pytest.mark.parametrize(("part", "place"), [("data", -4), ("data", 100), ("indices", 100), ("indptr", 100)])
def test_a_byte_that_changed_is_found(pair, part, place):
    _, _, folder = pair
    content = bytearray((folder / "p.npz").read_bytes())
    with zipfile.ZipFile(folder / "p.npz") as archive:
        info = archive.getinfo(f"{part}.npy")
    place = content.index(b"\x93NUMPY", info.header_offset) + (place if place > 0 else info.file_size + place)
    content[place] ^= ord(" ") ^ ord("\t")  # white space in a header, or the last bits of a number
    (folder / "p.npz").write_bytes(content)
    problem = rf"p\.npz \({part}\): cannot be read as an array; .* \(its checksum differs\)"
    with pytest.raises(DataError, match=problem):
        read(folder / "p.npz")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_more_bytes_than_items_are_reported(pair, form):
    _, scores, folder = pair
    save_npz(folder / "p.npz", scores.asformat(form), compressed=False)
    with zipfile.ZipFile(folder / "p.npz") as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    for longer in members:
        with zipfile.ZipFile(folder / "p.npz", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content + b"more" * (name == longer))
        problem = rf"p\.npz \({longer.removesuffix('.npy')}\): has more data than shape \(.*\), which its header"
        with pytest.raises(DataError, match=problem):
            read(folder / "p.npz")


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_fewer_bytes_than_items_are_reported(pair, part):
    _, scores, folder = pair
    with zipfile.ZipFile(folder / "p.npz") as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(folder / "p.npz", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content[:-1] if name == f"{part}.npy" else content)
    n_items = SHAPE[0] + 1 if part == "indptr" else scores.nnz
    problem = rf"p\.npz \({part}\): the file is truncated; its header declares shape \({n_items},\)"
    with pytest.raises(DataError, match=problem):
        read(folder / "p.npz")


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("part", ["p.npz", "t.npz"])
def test_entries_behind_the_end_of_indptr_are_refused_in_files_only(pair, form, compressed, part):
    matrix = dict(zip(("t.npz", "p.npz"), pair, strict=False))[part].asformat(form)
    _, _, folder = pair
    matrix.data, matrix.indices = np.append(matrix.data, [9, 9]), np.append(matrix.indices, [0, 1])
    save_npz(folder / part, matrix, compressed=compressed)
    problem = rf"{part}: its indptr ends at {matrix.indptr[-1]:,}, but there are {matrix.data.size:,} stored entries"
    with pytest.raises(DataError, match=rf"{problem} \(hint: call its prune\(\)"):
        read(folder / "p.npz")
    matrices = {"t.npz": pair[0], "p.npz": pair[1], part: matrix}
    assert dict(xmceval.score(matrices["t.npz"], matrices["p.npz"], k=1, metrics="P")) == dict(
        xmceval.score(*pair[:2], k=1, metrics="P")
    )
    matrix.prune()
    save_npz(folder / part, matrix, compressed=compressed)
    read(folder / "p.npz")


def test_indices_and_data_of_different_lengths_are_refused(pair):
    _, scores, folder = pair
    for n in (-1, 1):
        indices = np.resize(scores.indices, scores.nnz + n)
        parts = {"data": scores.data, "indices": indices, "indptr": scores.indptr}
        np.savez(folder / "p.npz", shape=np.array(SHAPE), format=np.array(b"csr"), **parts)
        with pytest.raises(DataError, match=r"p\.npz: its arrays of indices and data have different lengths"):
            read(folder / "p.npz")


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_an_archive_with_a_member_twice_is_refused_by_every_reader(pair, monkeypatch):
    _, scores, folder = pair
    monkeypatch.chdir(folder)
    files = {f"{form}.npz": lambda name: xmceval.score("t.npz", name) for form in ("csr", "csc", "coo")}
    for name in files:
        save_npz(name, scores.asformat(name.removesuffix(".npz")))
    np.savez("lists.npz", labels=np.argsort(-scores.toarray())[:, :5], scores=-np.sort(-scores.toarray())[:, :5])
    files["lists.npz"] = lambda name: xmceval.score("t.npz", name)
    xmceval.score("t.npz", "p.npz", metrics="P", k=1, save_state="s.state", save_rows="s.rows.npz")
    files |= {
        "s.state": lambda name: xmceval.merge([name]),
        "s.rows.npz": lambda name: xmceval.compare_rows([name, "csr.npz"]),
    }
    for name, read_file in files.items():
        with zipfile.ZipFile(name, "a") as archive:
            member = archive.namelist()[-1]
            archive.writestr(member, archive.read(member))
        with pytest.raises(DataError, match=rf"{name}: .*{member} appears twice"):
            read_file(name)
