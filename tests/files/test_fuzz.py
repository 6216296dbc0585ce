"""Damaged files of every format: read or refused with a message, and the same with chunks of any size.

The budget here is small; ``XMCEVAL_FUZZ=2000 pytest tests/files/test_fuzz.py`` spends a longer one.
"""

import os
import re
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import test_formats
import test_ranking_files
from hypothesis import HealthCheck, given, settings, strategies as st
from support.pieces import read_in_pieces

import xmceval

EXAMPLES = int(os.environ.get("XMCEVAL_FUZZ", "25"))
FORMS = test_formats.FORMS
INSERTED = [b"\n", b" ", b":", b"#", b"1e9", b"-1", b"\r\n", b"9" * 20, b"nan", b"\t", b",", b"\0", b"\xff\xfe", b'"']
INSERTED += [b"\xef\xbb\xbf"]
budget = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=EXAMPLES <= 25,
    suppress_health_check=list(HealthCheck),
)
WORDS_OF_LIBRARIES = re.compile(
    r"ArrowInvalid|[a-z]Error|cannot reshape|could not|magic|object has no|NoneType|Bad CRC"
)
LARGE = 1 << 22  # bytes that reading a damaged file of a few hundred bytes may allocate


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    before = Path.cwd()
    os.chdir(folder)
    made = {}
    try:
        test_formats.write("names.txt", test_formats.lines(test_formats.NAMES))
        test_formats.write("words.txt", test_formats.lines(test_formats.ONE_WORD))
        for form, (which, file, options) in FORMS.items():
            path = test_formats.make(file)
            is_pair = not Path(path).exists()
            content = Path(f"{path}-labels.npy" if is_pair else path).read_bytes()
            scores = Path("m-scores.npy") if is_pair and "alone" not in form else None
            names = {name: folder / path for name, path in options.items() if name == "labels"}
            made[form] = (which, content, scores.read_bytes() if scores else None, names, is_pair)
            for stale in Path().glob("m-*.npy"):
                stale.unlink()
        yield folder, made
    finally:
        os.chdir(before)


def read(folder, which, content, scores, names, is_pair):
    """Return all rows of a file, or how it was refused."""
    path = folder / "x"
    if is_pair:
        path = folder / "y-labels.npy"
        (folder / "y-scores.npy").unlink(missing_ok=True)
        if scores:
            (folder / "y-scores.npy").write_bytes(scores)
    path.write_bytes(content)
    try:
        rows = xmceval.read(path, kind="truth" if which == "truth" else "scores", threads=1, **names)
    except xmceval.DataError as error:
        if WORDS_OF_LIBRARIES.search(str(error)):
            pytest.fail(f"not in our words: {error}")
        return f"refused: {error}"
    assert rows.nnz <= LARGE
    assert np.all(np.diff(rows.indptr) >= 0)
    return rows.shape, rows.indptr.tolist(), rows.indices.tolist(), rows.data.tobytes()


def mutated(data, content):
    """Change some bytes of a file."""
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed)))
        match data.draw(st.integers(0, 4)):
            case 0:
                changed[at : at + 1] = bytes([data.draw(st.integers(0, 255))])
            case 1:
                del changed[at : at + data.draw(st.integers(1, 40))]
            case 2:
                changed[at:at] = data.draw(st.sampled_from(INSERTED))
            case 3:
                changed[at:at] = changed[: data.draw(st.integers(0, 30))]
            case 4:
                changed[at:] = b""
    return bytes(changed)


JOINED = {
    "TREC run": (test_ranking_files.QRELS, test_ranking_files.RUN),
    "TREC run with 0": (test_ranking_files.QRELS, test_ranking_files.RUN.replace("Q0", "0")),
}


@pytest.mark.parametrize("form", JOINED)
@budget
@given(st.data())
def test_damaged_files_of_the_ranking_field_are_joined_or_refused(form, tmp_path, data):
    truth, scores = JOINED[form]
    which = data.draw(st.sampled_from(["truth", "scores"]))
    for name, content in (("truth", truth), ("scores", scores)):
        damaged = mutated(data, content.encode()) if name == which else content.encode()
        (tmp_path / name).write_bytes(damaged)
    with suppress(xmceval.DataError):
        rows = xmceval.read("scores", kind="scores", truth="truth", threads=1)
        assert rows.nnz <= LARGE


@pytest.mark.parametrize("form", FORMS)
def test_damaged_files_are_read_or_refused_whatever_the_chunks(form, samples):
    folder, made = samples
    which, content, scores, names, is_pair = made[form]

    @budget
    @given(st.data())
    def check(data):
        damaged = mutated(data, content)
        found = []
        for size in (1 << 20, data.draw(st.sampled_from([1, 3, 16, 50]))):
            with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
                read_in_pieces(patch, text=size, rows=max(size // 8, 1))
                warnings.simplefilter("ignore")
                found.append(read(folder, which, damaged, scores, names, is_pair))
        assert found[0] == found[1] or all(isinstance(rows, str) for rows in found)

    check()
