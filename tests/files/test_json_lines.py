"""JSON lines as Python's own parser reads them, also where they are odd or wrong."""

import json
import random
import re

import pytest
from support.asked import p_at_1, refused
from support.files import rows_in, write
from support.pieces import read_in_pieces

import xmceval

NAMES = ["a", "é", "a name", 'q"uote', "123456789", "\u2028x"]
SCORES = [0, -0.5, 1e3, 5e-324, 1e308, 12345678901234567890, 0.1 + 0.2, 10**400, float("inf"), float("nan"), 3]
GRADES = [0, 1, 1.0, 2, 1e3, 2.5, -1, 10**400, float("inf"), float("nan"), 3]
START = {"scores": '{"data": []}\n', "truth": '{"target_ind": []}\n'}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    read_in_pieces(monkeypatch, text=2000)


def make_line(rng, kind, has_names, is_short=False):
    """Return a line as a program may have written it."""
    labels = rng.sample(range(9), rng.randrange(6))
    if has_names:
        labels = [NAMES[i] if i < len(NAMES) and rng.random() < 0.8 else i for i in labels]
    some = SCORES if kind == "scores" else GRADES
    numbers = [rng.choice(some) if rng.random() < 0.1 else rng.choice([1, 2.0, 7]) for _ in labels]
    if kind == "scores":
        numbers = [rng.random() if number in {1, 2.0, 7} else number for number in numbers]
    row = {"uid": "B0\\1", "title": 'naïve \t\u2019 "x"', "n": rng.choice([7, -1.5e-3])}
    if rng.random() < 0.1:
        row["more"] = rng.choice([None, True, [1], {"data": 1}])
    if rng.random() < 0.3:
        keys = ["label", "score"] if kind == "scores" or rng.random() < 0.5 else ["label"]
        row = [dict(zip(keys, pair, strict=False)) for pair in zip(labels, numbers, strict=True)]
    elif kind == "scores":
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
    wrong = rng.choice(["", '"', ",", "]", "}", "1", "e", "-", "\\", "\\u00g0", "\x01", " ", "0"])
    return line[:at] + wrong + line[at + rng.randrange(3) :]


def once(pairs):
    """Return an object of JSON, each of whose keys appears once."""
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError
    return row


def judge(line, kind, names):
    """Return the labels and numbers of a line; anything raised says that it has none."""
    row = json.loads(line, object_pairs_hook=once)
    if isinstance(row, list):
        pairs = [(item["label"], item["score"] if kind == "scores" else item.get("score", 1)) for item in row]
    elif kind == "scores":
        assert all(isinstance(pair, list) for pair in [row["data"], *row["data"]])
        pairs = [(label, score) for label, score in row["data"]]
    else:
        labels = row["target_ind"]
        grades = row.get("target_rel", [1] * len(labels))
        assert all(isinstance(numbers, list) for numbers in (labels, grades))
        pairs = list(zip(labels, grades, strict=True))
    assert all(type(number) in {int, float} for _, number in pairs)
    entries = [(names.index(label) if isinstance(label, str) else label, float(number)) for label, number in pairs]
    assert all(type(label) is int and abs(label) < 2**63 - 1 for label, _ in entries)
    return entries


def are_valid(entries, kind, n_labels):
    """Whether labels and numbers can be those of a row."""
    labels = [label for label, _ in entries]
    if len({*labels}) < len(labels) or not all(0 <= label < n_labels for label in labels):
        return False
    if kind == "scores":
        return all(score == score for _, score in entries)
    return all(0 <= grade <= 2**40 and grade == int(grade) for _, grade in entries)


def read_plainly(text, kind, names):
    """Return the entries of each row, the first line that cannot be parsed, and the first whose entries are wrong."""
    rows, unparsed, invalid = [], None, None
    for number, line in enumerate(text.encode().split(b"\n")[:-1], 1):
        try:
            rows.append(judge(line, kind, names) if line.strip() else [])
        except Exception:
            unparsed = unparsed or number
            continue
        if not are_valid(rows[-1], kind, len(names) or 2**63 - 1):
            invalid = invalid or number
    return rows, unparsed, invalid


def read(path, kind, **options):
    """Return the entries of each row, or the message of a refusal."""
    try:
        return rows_in(path, kind, **options)
    except xmceval.DataError as error:
        return str(error)


def check(text, kind, names=(), **options):
    """Compare a file of such lines with the judge of it: lines of a chunk are parsed before entries are checked."""
    found, (rows, unparsed, invalid) = read(write("j", text), kind, **options), read_plainly(text, kind, names)
    if unparsed or invalid:
        assert int(re.match("j:([0-9]+): ", found)[1]) in {unparsed, invalid}
    elif kind == "truth":
        assert found == [sorted(entry for entry in row if entry[1]) for row in rows]
    else:
        assert found == rows


@pytest.mark.parametrize("has_names", [False, True], ids=["ids", "names"])
@pytest.mark.parametrize("kind", START)
@pytest.mark.parametrize("wrong", [0, 0.02, 1])
def test_lines_are_read_as_by_python(kind, has_names, wrong):
    # Every label has a name, so that numbers among the names are labels too.
    names = [*NAMES, "6", "7", "8"] if has_names else []
    options = {"labels": write("n", "\n".join(names) + "\n")} if has_names else {}
    for seed in range(80 if wrong else 4):
        rng = random.Random(seed)
        n_lines, is_short = 3 if wrong == 1 else 40, rng.random() < wrong / 3
        lines = [rng.choice([make_line(rng, kind, has_names, is_short), ""]) for _ in range(n_lines)]
        lines = [spoil(rng, line) if rng.random() < wrong else line for line in lines]
        check(START[kind] + "".join(f"{line}\n" for line in lines), kind, names, **options)


NUMBERS_AS_WRITTEN = [
    *("0", "-0", "00", "01", "-01", "1.", ".5", "-", "--1", "+1", "1.5.5", "1,5", "1e5", "1E-5", "1e", "1.e5", "-0.0"),
    *("1234567", "12345678", "123456789", "1234567.25", "12345678.25", "0.123456789012345", "0.1234567890123456"),
    *("0.1234567890123456789", "0.12345678901234567890", "9.999999999999999999", "0.0000000000000000000000001"),
    *("1" * 18, "1" * 19, "1" * 30, f"1.{'1' * 70}", "0.30000000000000004", "1 ", "1x", "0x1", "9007199254740993"),
    f"-{'1' * 30}",
]


@pytest.mark.parametrize("number", NUMBERS_AS_WRITTEN)
def test_numbers_are_read_as_by_python(number):
    check(START["scores"] + f'{{"data": [[1, {number}], [2, 0.5]]}}\n', "scores")
    check(START["truth"] + f'{{"target_ind": [{number}, 7]}}\n', "truth")


USUAL = {
    '{"target_ind": [12, 3], "target_rel": [1, 2]}': "truth",
    '{"target_ind": []}': "truth",
    '{"title": "1 \\n \\u00e9 \\"a\\"", "n": -1.5e3, "target_ind": [0]}': "truth",
    '[{"label": 5}]': "truth",
    '{"data": [[12, 0.5], [3, -1.25e-3] , [456, 7]]}': "scores",
    '{"data": [ ], "title": "x"}': "scores",
    ' [{"label": 12, "score": 0.25, "name": "\\t"}, {"score": 2, "label": 3}] ': "scores",
}


@pytest.mark.parametrize("line", USUAL)
def test_usual_lines_are_left_to_the_kernel(monkeypatch, line):
    monkeypatch.setattr("xmceval.files.text.jsonlines.read_row", None)
    check(f"{line}\n", USUAL[line])


WRONG = {
    '{"data": [[1, 0.5]}': "expected one JSON object per line (Expecting ',' delimiter: character 18)",
    "[" * 100_000: "expected one JSON object per line, without deep nesting and huge numbers",
    "7": "expected one JSON object per line, found 7",
    "{}": 'expected an object with a list "data" of [name, score], found an empty object (hint: a line of truth is',
    '{"uid": 1}': "expected an object with a list \"data\" of [name, score], found the key 'uid' (hint: a line",
    '{"data": [7]}': 'expected [name, score] in "data", found 7',
    '{"data": [[1, 2, 3]]}': 'expected [name, score] in "data", found [1, 2, 3]',
    '{"data": [[1, "2"]]}': "expected a number in \"data\", found '2'",
    '{"data": [[1, true]]}': 'expected a number in "data", found True',
    f'{{"data": [[1, {10**400}]]}}': 'a number in "data" is too large',
    '{"data": [[1.5, 2]]}': "expected a label, as a 0-based column number or a name, found 1.5",
    '[{"label": 1}]': 'expected objects such as {"label": 12, "score": 0.9} in the list, found {\'label\': 1}',
    '{"target_rel": [1]}': "expected an object with a list \"target_ind\", found the key 'target_rel' (hint:",
    '{"target_ind": [1], "target_rel": [1, 1]}': 'expected "target_rel" to be a list as long as "target_ind"',
    '{"target_ind": [1, 2], "target_rel": [1]}': 'expected "target_rel" to be a list as long as "target_ind"',
    '[{"score": 1}]': "expected objects such as {\"label\": 12} in the list, found {'score': 1}",
}


@pytest.mark.parametrize("line", WRONG, ids=lambda line: line[:50])
def test_what_is_wrong_with_a_line_is_said_in_words(line):
    kind = "scores" if list(WRONG).index(line) < 12 else "truth"
    assert read(write("j", f"{START[kind]}{line}\n"), kind).startswith(f"j:2: {WRONG[line]}")


OTHER_LINES = {
    "target and predictions": [{"target": "a", "predictions": ["b", "a"]}, {"target": "b", "predictions": ["b", "a"]}],
    "id and labels": [{"id": 1, "labels": ["a"]}, {"id": 2, "labels": ["b"]}],
    "scores by label": [{"a": 0.9, "b": 0.1}, {"a": 0.2, "b": 0.8}],
    "text and scores by label": [{"text": "x", "cats": {"a": 0.9}}, {"text": "y", "cats": {"a": 0.8}}],
    "an object in each": [{"cats": {"a": 0.9}}, {"cats": {"a": 0.8}}],
    "labels alone": [["a", "b"], ["b"]],
    "cells": [{"row": 0, "label": "a"}, {"row": 1, "label": "b"}],
}


@pytest.mark.parametrize("kind", ["truth", "predictions"])
@pytest.mark.parametrize("case", OTHER_LINES)
def test_the_hint_at_other_lines_shows_the_layout_with_its_ids_and_takes_none_of_their_keys(kind, case):
    sound = {"truth": [{"target_ind": ["a"]}] * 2, "predictions": [{"data": [["a", 1]]}] * 2}
    lines = {**sound, kind: OTHER_LINES[case]}
    for name, rows in lines.items():
        write(name, "".join(json.dumps(row) + "\n" for row in rows))
    write("labels", "a\nb\n")
    with pytest.raises(xmceval.DataError) as refused:
        xmceval.score("truth", "predictions", metrics="P", k=1, labels="labels")
    hint = str(refused.value).splitlines()[0].partition("hint: ")[2]
    assert 'a line of truth is {"target_ind": [label, ...]}, one of predictions {"data": [[label, score], ...]}' in hint
    assert 'each with its "uid" if rows have ids' in hint
    keys = {key for row in OTHER_LINES[case] if isinstance(row, dict) for key in row}
    assert not keys & set(re.findall(r'"(\w+)"', hint))


REPEATED = {
    "target_ind": ("truth", '{"target_ind": [1], "target_ind": [2]}'),
    "target_rel": ("truth", '{"target_rel": [9], "target_ind": [1], "target_rel": [1]}'),
    "label": ("truth", '[{"label": 1}, {"label": 1, "label": 2}]'),
    "data": ("scores", '{"data": [[1, 0.5]], "data": [[2, 0.5]]}'),
    "score": ("scores", '[{"label": 1, "score": 0.5, "score": 0.25}]'),
    "uid": ("scores", '{"uid": "7", "data": [[1, 0.5]], "uid": "8"}'),
    "a longer name": ("scores", '{"a longer name": 7, "a longer namf": 8, "data": [], "a longer name": 9}'),
    "name": ("scores", '[{"name": "x", "label": 1, "name": "x", "score": 0.5}]'),
    "é": ("scores", '{"é": 1, "data": [[1, 0.5]], "\\u00e9": 2}'),
    "k": ("scores", '{"data": [], "more": {"k": 1, "k": 2}}'),
    "15": ("scores", '{"data": [], ' + "".join(f'"{i}": {i}, ' for i in range(30)) + '"15": 1}'),
}


@pytest.mark.parametrize("key", REPEATED)
@pytest.mark.parametrize("before", [0, 1, 5])
def test_an_object_with_a_key_twice_is_refused(key, before):
    kind, line = REPEATED[key]
    write("j", START[kind] * (1 + before) + line + "\n" + START[kind])
    message = f"j:{before + 2}: {key!r} appears twice in an object; expected each key once"
    assert read("j", kind).split("\n")[0] == message


def test_the_same_key_in_several_objects_is_read():
    others = ", ".join(f'"k{i}": {i}' for i in range(15))
    lines = [f'{{"data": [[{i}, 0.5]], {others}}}\n' for i in range(5)] + ['[{"label": 1, "score": 1}]\n'] * 2
    assert read(write("j", "".join(lines)), "scores") == [[(i, 0.5)] for i in range(5)] + [[(1, 1.0)]] * 2


def test_text_that_is_no_utf8_is_reported_with_its_place():
    write("j", b'{"data": [[1, 0.5]]}\n{"x": "\xff", "data": []}\n')
    assert read("j", "scores") == "j:2: expected UTF-8, invalid start byte at byte 7 of the line"


def write_rows(path, ids, rows, key="uid"):
    lines = [{key: id_, **row} if id_ is not None else row for id_, row in zip(ids, rows, strict=True)]
    return write(path, "".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.mark.parametrize("is_sharded", [False, True])
@pytest.mark.parametrize("as_id", [str, int, "r{}".format])
def test_ids_of_lines_are_refused_in_another_order(as_id, is_sharded):
    n = 12
    truth, scores = (
        [{key: value(i)} for i in range(n)]
        for key, value in (("target_ind", lambda i: [i % 5]), ("data", lambda i: [[i % 5, 0.5], [(i + 1) % 5, 0.25]]))
    )
    ids, order = [as_id(100 + i) for i in range(n)], random.Random(1).sample(range(n), n)
    shuffled, shuffled_ids = [scores[i] for i in order], [ids[i] for i in order]
    y_true = write_rows("t.jsonl", map(str, ids), truth)
    assert p_at_1(y_true, write_rows("p.jsonl", ids, scores), n_labels=5) == 1
    expected = p_at_1(y_true, write_rows("p.jsonl", [None] * n, shuffled), n_labels=5)
    assert expected < 1
    assert p_at_1(y_true, write_rows("p.jsonl", shuffled_ids, shuffled, "other"), n_labels=5) == expected
    y_score = write_rows("p.jsonl", shuffled_ids, shuffled)
    if is_sharded:
        y_score = [
            write_rows(f"p-{i}.jsonl", shuffled_ids[part], shuffled[part])
            for i, part in enumerate((slice(5), slice(5, n)))
        ]
    refused(r"its (shards have the rows|column 'uid' has the ids) of t\.jsonl in another", y_true, y_score, n_labels=5)
    write_rows("other.jsonl", [as_id(500), *shuffled_ids[1:]], shuffled)
    refused(r"its column 'uid' has '?r?500'?, which t\.jsonl lacks", y_true, "other.jsonl", n_labels=5)
    write_rows("fewer.jsonl", shuffled_ids[1:], shuffled[1:])
    refused(r"its column 'uid' lacks .* of t\.jsonl$", y_true, "fewer.jsonl", n_labels=5)
