"""JSON lines as Python's own parser reads them, also where they are odd or wrong."""

import json
import random
import re
from functools import partial

import pytest
from support.approved import check_lines
from support.asked import p_at_1
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


OTHERS = ", ".join(f'"k{i}": {i}' for i in range(15))
N, ORDER = 12, random.Random(1).sample(range(12), 12)
TARGETS, DATA = (
    [{"target_ind": [i % 5]} for i in range(N)],
    [{"data": [[i % 5, 0.5], [(i + 1) % 5, 0.25]]} for i in range(N)],
)


def answer(kind, line, *befores):
    """Return the message of a line behind others, which differs in its number alone."""
    for before in befores or [0]:
        text = START[kind] * (1 + before) + line + "\n" + START[kind] * len(befores)
        first, *more = read(write("j", text), kind).split("\n")
        assert first.startswith(f"j:{before + 2}: ")
        assert not more or not befores
    return first


def write_lines(path, rows):
    return write(path, "".join(f"{json.dumps(row)}\n" for row in rows))


def refusal(*inputs, **options):
    with pytest.raises(xmceval.DataError) as error:
        p_at_1(*inputs, **options)
    return str(error.value)


def other(rows):
    """Return the messages of rows in place of truth and of predictions."""
    write("labels", "a\nb\n")
    truth, scores = write_lines("t", [{"target_ind": ["a"]}] * 2), write_lines("p", [{"data": [["a", 1]]}] * 2)
    path = write_lines("x", rows)
    return "\n".join([refusal(path, scores, labels="labels"), refusal(truth, path, labels="labels")])


def in_order(as_id):
    """Return P@1 with ids in the same order, without ids and with others in another order; and what is refused."""

    def lines(path, rows, ids=None, key="uid"):
        return write_lines(path, [{key: i, **row} for i, row in zip(ids, rows, strict=True)] if ids else rows)

    ids = [as_id(100 + i) for i in range(N)]
    data, others = [DATA[i] for i in ORDER], [ids[i] for i in ORDER]
    truth = lines("t.jsonl", TARGETS, [str(i) for i in ids])
    found = [lines("p", DATA, ids), lines("p-none", data), lines("p-others", data, others, "other")]
    shards = [lines(f"p-{i}", data[part], others[part]) for i, part in enumerate((slice(5), slice(5, N)))]
    wrong = [lines("p-order", data, others), shards, lines("p-500", data, [as_id(500), *others[1:]])]
    wrong += [lines("p-fewer", data[1:], others[1:])]
    values = [p_at_1(truth, path, n_labels=5) for path in found]
    return "\n".join([str(values), *(refusal(truth, path, n_labels=5) for path in wrong)])


def test_other_lines_are_refused_in_these_words():
    names = globals() | {kind: partial(answer, kind) for kind in START}
    check_lines(__file__, "json lines.txt", names)
