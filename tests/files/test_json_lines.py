"""JSON lines as Python's own parser reads them, also where they are odd or wrong."""

import json
import random
import re
import subprocess
import sys

import pytest
from support.files import open_scores, write

import xmceval
from xmceval.errors import AmbiguousError, Fault
from xmceval.files.io import chunks
from xmceval.files.open import open_truth
from xmceval.files.sidecars.label_names import read_names
from xmceval.files.text import jsonlines
from xmceval.files.text.jsonlines import read_scores, read_truth
from xmceval.rows.block import Scratch

NAMES = ["a", "é", "a name", 'q"uote', "123456789", "\u2028x"]
NUMBERS = [0, -0.5, 1e3, 5e-324, 1e308, 12345678901234567890, 0.1 + 0.2, 10**400, float("inf"), float("nan"), 3]


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 2000)


def make_line(rng, are_scores, has_names, is_short=False):
    """Return a line as a program may have written it."""
    labels = [
        rng.choice(NAMES) if has_names and rng.random() < 0.8 else rng.randrange(9) for _ in range(rng.randrange(6))
    ]
    numbers = [rng.choice(NUMBERS) if rng.random() < 0.1 else rng.random() for _ in labels]
    row = {"uid": "B0\\1", "title": 'naïve \t\u2019 "x"', "n": rng.choice([7, -1.5e-3])}
    if rng.random() < 0.1:
        row["more"] = rng.choice([None, True, [1], {"data": 1}])
    if rng.random() < 0.3:
        keys = ["label", "score"] if are_scores or rng.random() < 0.5 else ["label"]
        row = [dict(zip(keys, pair, strict=False)) for pair in zip(labels, numbers, strict=True)]
    elif are_scores:
        row["data"] = [list(pair) for pair in zip(labels, numbers, strict=True)]
    else:
        if rng.random() < 0.5:
            row["target_rel"] = numbers[is_short:]
        row["target_ind"] = labels
    if isinstance(row, dict) and rng.random() < 0.5:
        row = dict(reversed(row.items()))
    separators = rng.choice([None, (",", ":"), (" , ", "\t: ")])
    return json.dumps(row, ensure_ascii=rng.random() < 0.5, separators=separators) + rng.choice(["", "", " ", "\r"])


def spoil(rng, line):
    """Return a line with a character too many, too few, or another one."""
    at = rng.randrange(len(line) + 1)
    return (
        line[:at]
        + rng.choice(["", '"', ",", "]", "}", "1", "e", "-", "\\", "\\u00g0", "\x01", " ", "0"])
        + line[at + rng.randrange(3) :]
    )


def read_plainly(path, text, are_scores, names):
    """Return the entries of each row, or the message for the first that is wrong."""
    rows = []
    for number, line in enumerate(text.encode(errors="surrogateescape").split(b"\n")[:-1], 1):
        read = read_scores if are_scores else read_truth
        try:
            rows.append(list(read(line, names)) if line.strip() else [])
        except ValueError as error:
            return f"{path}:{number}: {error}"
    return rows


def read(path, are_scores, names):
    opened = open_scores(path, names=names) if are_scores else open_truth(path, names=names)
    found, scratch = [], Scratch()
    try:
        for block in opened.source.blocks():
            indptr, indices, values = block.stored.parse(scratch)
            for i in range(block.stored.n_rows):
                row = slice(indptr[i], indptr[i + 1])
                found.append(list(zip(indices[row].tolist(), values[row].tolist(), strict=True)))
    except Fault as fault:
        return str(fault)
    return found


@pytest.mark.parametrize("has_names", [False, True], ids=["ids", "names"])
@pytest.mark.parametrize("are_scores", [False, True], ids=["truth", "scores"])
@pytest.mark.parametrize("wrong", [0, 0.02, 1])
def test_lines_are_read_as_by_python(are_scores, has_names, wrong):
    names = read_names(write("n", "\n".join(NAMES) + "\n")) if has_names else None
    for seed in range(80 if wrong else 4):
        rng = random.Random(seed)
        start = '{"data": []}\n' if are_scores else '{"target_ind": []}\n'
        n_lines, is_short = 3 if wrong == 1 else 40, rng.random() < wrong / 3
        lines = [rng.choice([make_line(rng, are_scores, has_names, is_short), ""]) for _ in range(n_lines)]
        lines = [spoil(rng, line) if rng.random() < wrong else line for line in lines]
        text = start + "".join(line + "\n" for line in lines)
        path = write("j", text)
        expected = read_plainly(path, text, are_scores, names)
        assert repr(read(path, are_scores, names)) == repr(expected)


NUMBERS_AS_WRITTEN = [
    *("0", "-0", "00", "01", "-01", "1.", ".5", "-", "--1", "+1", "1.5.5", "1,5", "1e5", "1E-5", "1e", "1.e5", "-0.0"),
    *("1234567", "12345678", "123456789", "1234567.25", "12345678.25", "0.123456789012345", "0.1234567890123456"),
    *("0.1234567890123456789", "0.12345678901234567890", "9.999999999999999999", "0.0000000000000000000000001"),
    *("1" * 18, "1" * 19, "1" * 30, f"1.{'1' * 70}", "0.30000000000000004", "1 ", "1x", "0x1", "9007199254740993"),
]


@pytest.mark.parametrize("number", NUMBERS_AS_WRITTEN)
def test_numbers_are_read_as_by_python(number):
    for are_scores, row in ((True, '{"data": [[1, %s], [2, 0.5]]}'), (False, '{"target_ind": [%s, 7]}')):
        start = '{"data": []}\n' if are_scores else '{"target_ind": []}\n'
        text = start + row % number + "\n"
        path = write("j", text)
        assert read(path, are_scores, None) == read_plainly(path, text, are_scores, None)


USUAL = [
    *[(False, line) for line in ('{"target_ind": [12, 3], "target_rel": [1, 2.5]}', '{"target_ind": []}')],
    *[
        (False, line)
        for line in ('{"title": "1 \\n \\u00e9 \\"a\\"", "n": -1.5e3, "target_ind": [0]}', '[{"label": 5}]')
    ],
    *[(True, line) for line in ('{"data": [[12, 0.5], [3, -1.25e-3] , [456, 7]]}', '{"data": [ ], "title": "x"}')],
    (True, ' [{"label": 12, "score": 0.25, "name": "\\t"}, {"score": 2, "label": 3}] '),
]


@pytest.mark.parametrize(("are_scores", "line"), USUAL)
def test_usual_lines_are_left_to_the_kernel(monkeypatch, are_scores, line):
    path, text = write("j", line + "\n"), line + "\n"
    expected = read_plainly(path, text, are_scores, None)
    monkeypatch.setattr(jsonlines, "read_scores", None)
    monkeypatch.setattr(jsonlines, "read_truth", None)
    assert read(path, are_scores, None) == expected


REPEATED = {
    "target_ind": (False, '{"target_ind": [1], "target_ind": [2]}'),
    "target_rel": (False, '{"target_rel": [9], "target_ind": [1], "target_rel": [1]}'),
    "label": (False, '[{"label": 1}, {"label": 1, "label": 2}]'),
    "data": (True, '{"data": [[1, 0.5]], "data": [[2, 0.5]]}'),
    "score": (True, '[{"label": 1, "score": 0.5, "score": 0.25}]'),
    "uid": (True, '{"uid": "7", "data": [[1, 0.5]], "uid": "8"}'),
    "a longer name": (True, '{"a longer name": 7, "a longer namf": 8, "data": [], "a longer name": 9}'),
    "name": (True, '[{"name": "x", "label": 1, "name": "x", "score": 0.5}]'),
    "é": (True, '{"é": 1, "data": [[1, 0.5]], "\\u00e9": 2}'),
    "k": (True, '{"data": [], "more": {"k": 1, "k": 2}}'),
    "15": (True, '{"data": [], ' + "".join(f'"{i}": {i}, ' for i in range(30)) + '"15": 1}'),
}


@pytest.mark.parametrize("key", REPEATED)
@pytest.mark.parametrize("before", [0, 1, 5])
def test_an_object_with_a_key_twice_is_refused(key, before):
    are_scores, line = REPEATED[key]
    start = '{"data": []}\n' if are_scores else '{"target_ind": []}\n'
    path = write("j", start * (1 + before) + line + "\n" + start)
    assert read(path, are_scores, None) == (
        f"j:{before + 2}: {key!r} appears twice in an object; expected each key once"
    )


def test_the_same_key_in_several_objects_is_read():
    others = ", ".join(f'"k{i}": {i}' for i in range(15))
    lines = [f'{{"data": [[{i}, 0.5]], {others}}}\n' for i in range(5)] + ['[{"label": 1, "score": 1}]\n'] * 2
    assert read(write("j", "".join(lines)), True, None) == [[(i, 0.5)] for i in range(5)] + [[(1, 1.0)]] * 2


def test_text_that_is_no_utf8_is_reported_with_its_place(tmp_path):
    (tmp_path / "j").write_bytes(b'{"data": [[1, 0.5]]}\n{"x": "\xff", "data": []}\n')
    assert read("j", True, None) == "j:2: expected UTF-8, invalid start byte at byte 7 of the line"


def write_rows(path, ids, rows, key="uid"):
    lines = [{key: id_, **row} if id_ is not None else row for id_, row in zip(ids, rows, strict=True)]
    return write(path, "".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.mark.parametrize("is_sharded", [False, True])
@pytest.mark.parametrize("as_id", [str, int, "r{}".format])
def test_ids_of_lines_are_refused_in_another_order_with_what_to_run(tmp_path, monkeypatch, as_id, is_sharded):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "python").symlink_to(sys.executable)

    def score(y_true, y_score):
        return xmceval.score(y_true, y_score, metrics="P", k=1, n_labels=5)["P@1"]

    n = 12
    truth, scores = (
        [{key: value(i)} for i in range(n)]
        for key, value in (("target_ind", lambda i: [i % 5]), ("data", lambda i: [[i % 5, 0.5], [(i + 1) % 5, 0.25]]))
    )
    ids, order = [as_id(100 + i) for i in range(n)], random.Random(1).sample(range(n), n)
    shuffled, shuffled_ids = [scores[i] for i in order], [ids[i] for i in order]
    y_true = write_rows("t.jsonl", map(str, ids), truth)
    assert score(y_true, write_rows("p.jsonl", ids, scores)) == 1
    expected = score(y_true, write_rows("p.jsonl", [None] * n, shuffled))
    assert expected < 1
    for other in ([7] * n, [[i] for i in shuffled_ids], [*shuffled_ids[1:], None], [i + 0.5 for i in range(n)]):
        assert score(y_true, write_rows("p.jsonl", other, shuffled)) == expected
    assert score(y_true, write_rows("p.jsonl", shuffled_ids, shuffled, "other")) == expected
    y_score = write_rows("p.jsonl", shuffled_ids, shuffled)
    if is_sharded:
        y_score = [
            write_rows(f"p-{i}.jsonl", shuffled_ids[part], shuffled[part])
            for i, part in enumerate((slice(5), slice(5, n)))
        ]
    with pytest.raises(AmbiguousError, match=r"its 'uid' has the ids of t\.jsonl in another order") as caught:
        score(y_true, y_score)
    commands = [match[0] for match in re.finditer(r"python -c '[^']*' > \S+", str(caught.value))]
    written = [command.split(" > ")[1] for command in commands]
    for command in commands[:2]:
        subprocess.run(command, shell=True, check=True)
    assert score(*written[:2]) == 1
    subprocess.run(commands[2], shell=True, check=True)
    assert score(y_true, written[2]) == expected
    write_rows("other.jsonl", [as_id(500), *shuffled_ids[1:]], shuffled)
    with pytest.raises(AmbiguousError, match=r"its 'uid' has '?r?500'?, which t\.jsonl lacks \(hint: python"):
        score(y_true, "other.jsonl")
    write_rows("fewer.jsonl", shuffled_ids[1:], shuffled[1:])
    with pytest.raises(AmbiguousError, match=r"its 'uid' lacks .* of t\.jsonl$"):
        score(y_true, "fewer.jsonl")
