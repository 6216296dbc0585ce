"""Files of other programs are refused with their name and what to do."""
# ruff: noqa: E501, F401 - a case is one line; approved lines use what is imported here

import contextlib
import json
import tarfile
import time
import zipfile

import numpy as np
import pytest
from support.approved import check_answers, check_lines
from support.asked import p_at_1
from support.files import write

import xmceval
from xmceval import DataError

TRUTH = "3 5\n0:1 2:1\n1:1\n3:1 4:1\n"
NAMES = "red\norange\nyellow\ngreen\nblue\n"

MATRIX_MARKET = "%%MatrixMarket matrix coordinate real general\n%\n3 5 3\n1 3 0.9\n2 4 0.8\n3 5 0.6\n"
ARFF = "% made by Mulan\n@relation 'x: -C 3'\n@attribute a numeric\n" + "".join(
    f"@attribute l{i} {{0,1}}\n" for i in range(3)
)
MEKA = (
    "|==== PREDICTIONS (N=2.0) =====>\n|     1 [ 1 0 1 ] [ 0.9 0.1 0.8 ]\n"
    "|     2 [ 0 1 0 ] [ 0.2 0.7 0.1 ]\n|==============================<\n"
)
BARS = "100|401.9|428.0\n101|250.00\n102|\n"


def save_objects(path):
    np.save(path, np.array([[0, 2], [1], [3, 4]], dtype=object), allow_pickle=True)


def zipped(*members):
    return lambda path: save_zip(path, members)


def save_zip(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, "<x/>")


def save_tar(path):
    with tarfile.open(path, "w:gz" if path.endswith(".gz") else "w") as archive:
        archive.add(write("run.txt", "q1 Q0 d1 1 0.9 me\n" * 9))


SAFETENSORS = b'{"logits":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}'


@pytest.fixture
def refuse(run):
    """Return a function that returns the messages in Python and of the command: of a file, and what it has or writes it."""

    def refuse(name, content, other, options=None):
        content(name) if callable(content) else write(name, content)
        write("names.txt", NAMES)
        files = [name, write("p.other", other)] if name.startswith("t") else [write("t.other", other), name]
        arguments = [part for key, value in (options or {}).items() for part in (f"--{key}", value)]
        code, _, message = run("score", *files, "-m", "P", "-k", "1", *arguments)
        assert code == 1
        with pytest.raises(DataError) as error:
            xmceval.score(*files, metrics="P", k=1, **options or {})
        return [str(error.value), message.rstrip()]

    return refuse


def test_files_of_other_programs_are_named_with_what_to_do(refuse):
    check_answers(__file__, "foreign.txt", lambda line: refuse(*eval(line)))


# A pattern that can match these in several ways would take hours, or for ever.
LONG = {
    "indented comments": " % none\n" * 60 + "x\n",
    "ids between commas": ",".join(map(str, range(100_000))) + "\n",
    "names between commas": ",".join(f"n{i}" for i in range(100_000)) + "\n",
    "one word": "1" * 500_000 + "\n",
}


@pytest.mark.parametrize("kind", ["truth", "scores"])
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_lines_and_many_comments_are_told_apart_at_once(text, kind):
    path, began = write("x", text), time.process_time()
    with contextlib.suppress(DataError):
        xmceval.read(path, kind=kind)
    assert time.process_time() - began < 20


def test_tensors_that_torch_saved_are_named_with_what_to_do(refuse):
    torch = pytest.importorskip("torch")
    for message in refuse("p.pt", lambda path: torch.save(torch.eye(3, 5), path), TRUTH):
        assert "p.pt: was written by torch.save, as a pickle" in message
        assert "save the tensor's .numpy() with numpy.save" in message


def by_label(row):
    """Return the messages of objects by label, as truth and as predictions."""
    rows = [row, {"2": 1} if "3" in row else {"blue": 1}]
    other = write("other", f"{len(rows)} 5\n" + "3:1\n" * len(rows))
    options = {} if "3" in row else {"labels": write("names.txt", NAMES)}
    messages = []
    for is_truth in (True, False):
        lines = [dict.fromkeys(row, 1) if is_truth else row for row in rows]
        path = write("x.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
        with pytest.raises(DataError) as error:
            xmceval.score(*((path, other) if is_truth else (other, path)), metrics="P", k=1, **options)
        messages.append(str(error.value))
    return "\n".join(messages)


def test_words_and_objects_are_refused_with_the_layout_that_is_read():
    write("p.txt", TRUTH)
    check_lines(__file__, "words and objects.txt", globals())
