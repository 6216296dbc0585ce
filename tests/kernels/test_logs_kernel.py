"""Lines of group, label, score: what the kernel parses itself, and what it leaves to Python, by a pattern of each."""

import itertools
import re

import numpy as np
import pytest

from xmceval.kernels.text.logs import (
    ODD_GROUP,
    ODD_LABEL,
    ODD_SCORE,
    SAME_GROUP,
    SCORE_BYTES,
    WRONG,
    fill_slots,
    intern_groups,
    parse_lines,
    select_fields,
)

GROUPS = ["0", "7", "00", "01", "10", "9" * 18, "1" * 19, "", "-1", "a", "1:", "1/", "1 "]
LABELS = ["0", "1", "2", "", "01", "1 ", "/"]
SCORES = [
    *("0", "1", "-1", "+2.5", "-0.0", ".5", "5.", ".", "", "-", "1.2.3", "x", "1x", "1/", "1:", "nan", "inf", "-.25"),
    *("1e3", "1E-3", "2e+22", "1e22", "1e23", "1e-22", "1e-23", "-3e-5", "1e", "1e+", "1e-", "e5", "1e5x", "1e0005"),
    *("1e999", "1e1000", "1e00000000022", "12.5e22", "12.5e23", "12.5e24", "0.1e-21", "0.1e-22"),
    *("9007199254740992", "9007199254740993", "-9007199254740992e-5", "0." + "0" * 21 + "1", "0.00000000000000001"),
    *("123456789012345678", "1234567890123456789", "000000000000000001", "000000000000000001e2", "0.1234567890123456"),
    *("0" * 18 + "1", "5" * 40),
]
EXACT = re.compile(r"[+-]?((?=\.?\d)\d*\.?\d*)(?:[eE]([+-]?\d+))?")


def score_of(text):
    """The number, if digits and power are exact as doubles, else None."""
    found = EXACT.fullmatch(text)
    if not found:
        return None
    digits = found[1].replace(".", "")
    power = int(found[2] or 0) - len(found[1].partition(".")[2])
    is_exact = len(digits) <= 18 and int(digits) <= 2**53 and abs(power) <= 22
    return float(text) if is_exact else None


def parse(lines, end="\n", *, has_last=True):
    text = end.join(lines) + end * has_last
    n = len(lines)
    columns = np.zeros(n, np.int64), np.zeros(n, bool), np.zeros(n), np.zeros(n, np.uint8)
    places = np.zeros((n, 4), np.int64), np.full((n, SCORE_BYTES), 7, np.uint8)
    padded = np.frombuffer(f"9\n{text}9,9".encode(), np.uint8)
    assert parse_lines(padded, 2, 2 + len(text), *columns, *places) == n
    return text, *columns, *places


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("has_last", [True, False])
def test_what_is_usual_is_parsed_and_the_rest_is_marked(end, has_last):
    rows = [*itertools.product(GROUPS, LABELS, ["1"]), *itertools.product(["3", "x"], ["1"], SCORES)]
    rows = [row for row in rows if "".join(row)]
    text, groups, labels, scores, kind, fields, raw = parse([",".join(row) for row in rows], end, has_last=has_last)
    start, before = 2, None
    for at, (group, label, score) in enumerate(rows):
        marks = 0
        if group == before:
            marks |= SAME_GROUP
        elif re.fullmatch("0|[1-9][0-9]{0,17}", group):
            assert groups[at] == int(group)
        else:
            marks |= ODD_GROUP
        marks |= 0 if label in {"0", "1"} else ODD_LABEL
        if label in {"0", "1"}:
            assert labels[at] == (label == "1")
        value = score_of(score)
        if value is None:
            marks |= ODD_SCORE
            assert bytes(raw[at]) == score.encode()[:SCORE_BYTES].ljust(SCORE_BYTES, b"\0")
        else:
            assert (scores[at], np.signbit(scores[at])) == (value, np.signbit(value))
            assert set(raw[at]) == {7}
        assert kind[at] == marks, rows[at]
        first, second = start + len(group), start + len(group) + 1 + len(label)
        assert fields[at].tolist() == [start, first, second, second + 1 + len(score)]
        start, before = fields[at, 3] + len(end), group
    assert start == 2 + len(text) + len(end) * (not has_last)


def test_lines_without_three_fields_or_with_quotes_are_left_to_python():
    lines = ["1,1,1", "1,1", "1,1,1", "1,1,1,1", "", '"1",1,1', '1,1,1"', "1,1,1", "1,1,2", "12,1,1", "1,1,1"]
    _, groups, _, _, kind, fields, _ = parse(lines)
    assert kind.tolist() == [0, WRONG, 0, WRONG, WRONG, WRONG, WRONG, 0, SAME_GROUP, 0, 0]
    assert groups[kind == 0].tolist() == [1, 1, 1, 12, 1]
    assert (fields[:, 3] - fields[:, 0]).tolist() == [len(line) for line in lines]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("columns", [(0, 1, 2), (2, 0, 2), (1, 2, 0)])
def test_fields_are_selected_as_they_are_written(end, columns):
    fields = ["", "a", '"b"', '"c,d"', '"e""f,"', '"g"h', ' "', '","","', '""""']
    rows = [*itertools.product(fields[:5], repeat=3), *itertools.product(["1"], fields, fields)]
    blanks = ["", " ", "\t "]
    lines = [*(",".join(row) for row in rows), *blanks, "x,y,z"]
    text = np.frombuffer((end.join(lines) + end).encode(), np.uint8)
    out = np.zeros(text.size, np.uint8)
    written, wrong = select_fields(text, 0, text.size, np.array(columns), np.zeros((2, 3), np.int64), out)
    expected = [*(",".join(row[column] for column in columns) for row in rows), *[""] * 3]
    expected.append(",".join("xyz"[column] for column in columns))
    assert wrong == -1
    assert bytes(out[:written]).decode().split("\n") == [*expected, ""]


def test_the_first_line_with_more_or_fewer_fields_is_found():
    for line in ("1,2", "1,2,3,4", ",,,", '"1,2,3"'):
        text = np.frombuffer(f"1,2,3\n\n{line}\n1\n".encode(), np.uint8)
        found = select_fields(text, 0, text.size, np.arange(3), np.zeros((2, 3), np.int64), np.zeros(99, np.uint8))
        assert found == (7, 2)


def test_groups_are_numbered_as_they_come_however_full_the_table_is():
    names = [f"{'q' * (i % 5)}{i * 7919 % 31}" for i in range(60)]
    lines = [f"{name},1,1" for name in names]
    text, groups, _, _, kind, fields, _ = parse(lines)
    kind[:] = ODD_GROUP
    kind[[3, 9]] = SAME_GROUP, ODD_GROUP | WRONG
    numbers = {}
    expected = [numbers.setdefault(name, -1 - len(numbers)) for at, name in enumerate(names) if at not in {3, 9}]
    padded = np.frombuffer(f"9\n{text}".encode(), np.uint8)
    hashes, ends, arena = np.zeros(64, np.uint64), np.zeros(65, np.int64), np.zeros(400, np.uint8)
    slots = np.full(64, -1)
    half = 20
    n = intern_groups(padded, fields[:half], kind[:half], groups[:half], slots, hashes, ends, arena, 0)
    slots = np.full(64, -1)
    fill_slots(hashes, n, slots)
    n = intern_groups(padded, fields[half:], kind[half:], groups[half:], slots, hashes, ends, arena, n)
    assert groups[[at for at in range(60) if at not in {3, 9}]].tolist() == expected
    assert n == len(numbers)
    assert [bytes(arena[a:b]).decode() for a, b in itertools.pairwise(ends[: n + 1].tolist())] == list(numbers)
    assert sorted(slots[slots >= 0].tolist()) == list(range(n))
    for name, number in numbers.items():
        hashed = 2166136261
        for byte in name.encode():
            hashed = (hashed ^ byte) * 16777619 % 2**32
        assert hashes[-1 - number] == hashed ^ hashed >> 15
