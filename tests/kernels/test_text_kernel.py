"""The text kernels against Python's own split(), int() and float()."""

import itertools
import random
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numba import config
from support.examples import examples

from xmceval.kernels.text import fields as fields_kernel, lines as kernels
from xmceval.kernels.text.labels import parse_label_lists
from xmceval.kernels.text.pairs import parse_pairs

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too much text for plain Python")
LONG = 8192  # bytes


def padded(text, before=b"", after=b"7:7#\n1,-\t "):
    # What is outside the region must not matter.
    stop = len(before) + len(text)
    return np.frombuffer(bytearray(before + text + after * 8), np.uint8), len(before), stop


def error_of(status, start):
    """Return the code of an error, its place, its row and its end, or None."""
    return (int(status[1]), int(status[2]) - start, int(status[3]), int(status[4]) - start) if status[1] else None


def pairs(text, before=b"", hard_room=None, must_notice=False):
    block, start, stop = padded(text, before)
    indptr = np.full(text.count(b"\n") + 1, -1, np.int64)
    indices, values = np.empty(len(text) // 4 + 8, np.int64), np.empty(len(text) // 4 + 8)
    hard = np.empty((len(text) if hard_room is None else hard_room, 3), np.int64)
    status = np.full(kernels.STATUS_SIZE, 99, np.int64)
    parse_pairs(block, start, stop, indptr, indices, values, hard, status)
    rows = status[kernels.ROWS]
    check_noticed(indptr[: rows + 1], indices, values, status, must_notice)
    size = indptr[rows]
    for position, begin, end in hard[: status[0]]:
        if position < size:
            values[position] = float(block[begin:end].tobytes())
    return indptr[: rows + 1], indices[:size], values[:size], error_of(status, start), int(status[0])


def check_noticed(indptr, indices, values, status, must_notice):
    """What is noticed must be so, of all rows that were read; where labels ascend, it may have to be noticed."""
    largest, only_ones = status[kernels.LARGEST], status[kernels.ONLY_ONES]
    assert largest != kernels.NOT_NOTICED or not must_notice
    if largest != kernels.NOT_NOTICED and status[1] == 0:
        labels, rows = indices[: indptr[-1]], np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        assert ((np.diff(labels) > 0) | (np.diff(rows) > 0)).all()
        assert largest == labels.max(initial=-1)
        assert only_ones == (values[: indptr[-1]] == 1).all()
        assert not np.isnan(values[: indptr[-1]]).any()


NUMBER = re.compile(rb"[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf|infinity|nan)", re.IGNORECASE)


def find_error(token):
    label, colon, value = token.partition(b":")
    if not label.isdigit():
        return kernels.BAD_ID
    if not colon:
        return kernels.NO_COLON
    if int(label.lstrip(b"0") or b"0") >= 2**63:
        return kernels.ID_TOO_LARGE
    if not value:
        return kernels.NO_VALUE
    return 0 if NUMBER.fullmatch(value) else kernels.BAD_NUMBER


def expected_pairs(text):
    """Return what Python reads of all rows, or of those before the first error, and that error."""
    indptr, indices, values, at = [0], [], [], 0
    for line in text.split(b"\n")[:-1]:
        if not line.strip(b" \t\r").startswith(b"#"):
            for token in re.finditer(rb"[^ \t\r]+", line):
                if token[0].startswith(b"#"):
                    break
                if code := find_error(token[0]):
                    error = code, at + token.start(), len(indptr) - 1, at + token.end()
                    return indptr, indices[: indptr[-1]], values[: indptr[-1]], error
                label, value = token[0].split(b":")
                indices.append(int(label.lstrip(b"0") or b"0"))
                values.append(float(value))
            indptr.append(len(indices))
        at += len(line) + 1
    return indptr, indices, values, None


def count_rows(block, start, stop):
    counts = np.empty(2, np.int64)
    kernels.count_rows(block, start, stop, counts)
    return tuple(counts.tolist())


def check_pairs(text, before=b"", must_notice=False):
    """Compare pairs with those of Python, bit for bit; return the error, and how many values were hard."""
    indptr, indices, values, error, n_hard = pairs(text, before, must_notice=must_notice)
    expected = expected_pairs(text)
    assert (error, indptr.tolist(), indices.tolist()) == (expected[3], *expected[:2])
    bits = np.array(expected[2]).view(np.int64)
    differ = np.flatnonzero(values.view(np.int64) != bits)
    assert differ.size == 0, (values[differ[:5]], bits.view(np.float64)[differ[:5]])
    return error, n_hard


def labels(text, before=b""):
    block, start, stop = padded(text, before)
    indptr = np.full(text.count(b"\n") + 1, -1, np.int64)
    indices = np.empty(len(text) // 2 + 8, np.int64)
    status = np.full(8, 99, np.int64)
    rows = parse_label_lists(block, start, stop, indptr, indices, status)
    indptr = indptr[: rows + 1].tolist()
    return [indices[a:b].tolist() for a, b in itertools.pairwise(indptr)], error_of(status, start)


def spelled(x, style):
    return repr(x) if style == "r" else style % x


blanks = st.text(" \t\r", max_size=3)
some_blanks = st.text(" \t\r", min_size=1, max_size=3) | st.just(" ")
digits = st.text("0123456789", max_size=22)
ids = st.integers(0, 2**63 - 1) | st.integers(0, 10**7)
id_spellings = st.builds(lambda zeros, i: "0" * zeros + str(i), st.integers(0, 3), ids)
exponents = st.builds("{}{}{}".format, st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), st.integers(0, 400))
decimals = st.builds(
    lambda sign, whole, point, rest, exponent: sign + (whole + point + rest if whole + rest else "0") + exponent,
    st.sampled_from(["", "", "-", "+"]),
    digits,
    st.sampled_from(["", "."]),
    digits,
    st.just("") | exponents,
)
formatted = st.builds(
    spelled, st.floats(allow_nan=False), st.sampled_from(["r", "%.9g", "%.18e", "%.6f", "%.17g", "%.5g", "%.30g"])
)
names = st.sampled_from(["inf", "-inf", "+Infinity", "nan", "-NaN", "iNfInItY", "1.", "-.5", "-0", "0e9", "1E5"])
spellings = decimals | formatted | names
pair_texts = st.builds("{}:{}".format, id_spellings, spellings)
pair_rows = st.builds(
    lambda lead, tokens, gaps, comment: lead + "".join(t + g for t, g in zip(tokens, gaps, strict=False)) + comment,
    blanks,
    st.lists(pair_texts, max_size=8),
    st.lists(some_blanks, min_size=8, max_size=8),
    st.sampled_from(["", "", "", "#", "# 1:2", "\r"]),
)


@given(st.lists(pair_rows, max_size=8), st.binary(max_size=70))
def test_pairs_are_what_split_int_and_float_read(lines, before):
    assert check_pairs("".join(line + "\n" for line in lines).encode(), before)[0] is None


@examples(10)
@given(spellings)
def test_every_value_has_the_bits_of_float(spelling):
    assert check_pairs(f"1:{spelling}\n".encode())[0] is None


EDGES = """
    9007199254740992 9007199254740993 9007199254740995 9007199254740993.0000000000000000001 2.2250738585072014e-308
    2.2250738585072011e-308 5e-324 2.4703282292062327e-324 2.4703282292062328e-324 1.7976931348623157e308
    1.7976931348623158e308 1.7976931348623159e308 1e309 1e-400 -1e-400 0e999999999999999999999999
    1e999999999999999999999999 1e-99999999999999999999999 00000000000000000000000000000000000001.5
    0.1000000000000000055511151231257827021181583404541015625 0.5000000000000000000000000000
    1.00000000000000011102230246251565404236316680908203125 1.00000000000000011102230246251565404236316680908203124
    1.00000000000000011102230246251565404236316680908203126 12345678.12345678 99999999.99999999 9999999999999999999
    99999999999999999999 18446744073709551615 18446744073709551616 8.5e22 1e22 1e23 -0 -0.000000
""".split()  # noqa: SIM905
EDGES += ["0." + "0" * 400 + "1e401", "1" + "0" * 400 + "e-400", "1" * 400 + "e-200", "0." + "3" * 400, "." + "9" * 400]


def test_rounding_is_exact_at_the_edges():
    for spelling in EDGES:
        assert check_pairs(f"1:{spelling}\n".encode())[0] is None, spelling


@pytest.mark.parametrize("sign", ["", "-", "+"])
def test_ids_and_values_of_every_length_are_read(sign):
    for size in range(1, 26):
        run = "9182736450918273645091827"[:size]
        for value in [run, run + ".", "." + run, *(run[:i] + "." + run[i:] for i in range(1, size)), run + "e-7"]:
            check_pairs(f"5:{sign}{value} 6:{value}\n".encode())
        label = run if size < 19 else "0" * (size - 18) + run[:18]
        check_pairs(f"{label}:{sign}0.5 7:1\n{label}:1\n".encode())


def test_pairs_are_read_wherever_they_lie_in_a_block():
    row = b"12:0.25 345:-1.5e-05 6:7 \n\n 8:nan\r\n# no\n9:12345678.875\n"
    for shift in range(130):
        check_pairs(row, b"5" * shift)
        check_pairs(b" " * shift + row)
        check_pairs(b"9:0." + b"1" * shift + b" " + row)
        check_pairs(b"1:1" + b" " * shift + b"\n" + row)


@compiled_only
def test_long_lines_and_tokens_are_read():
    tail = b"12345:0.25 345:-1.5e-05 6:7 7:0.1234567890123456\n\n8:2e+05\r\n# 9:9\n10:-3.25 11:1.00000"
    for shift in range(-5, len(tail) + 5):
        size = 2 * LONG - shift
        check_pairs(b"1:0.500 " * (size // 8) + b" " * (size % 8) + tail + b"\n")
        check_pairs(b"1:0.500\n" * (size // 8) + b" " * (size % 8) + tail + b"\n")
    check_pairs(b"1:0." + b"1" * (3 * LONG) + b" 2:3\n4:5\n")
    check_pairs(b"0" * (3 * LONG) + b"1:1 2:3\n4:5\n")
    check_pairs(b"1:1 #" + b"1" * (3 * LONG) + b"\n4:5\n")


ALIKE = {
    "short": ["0.5", "1.00000", "9.123456", "0.000000", "7.1"],
    "long": ["-1.5", "12.25", "-0.000000", "1234567.87654321", "-7654321.12345678", "0.1234567", "0.12345678", "00.5"],
    "longest": ["0.123456789", "-0.1", "9.99999999999999", "-9.99999999999999", "0.00000000000001", "5.1234567"],
    "digit": ["1", "0", "7"],
}
ODD = """-.5 .5 5. -5. - + +0.5 12345678.5 0.123456789012345 -12345678.5 1e5 1.5e-05 -1 12 nan -inf 1.5.5 --1.5 1x
    1234567890123456 0.12345678901234567 -0 00 1,5 1.5- 1:5""".split()  # noqa: SIM905


@compiled_only
@pytest.mark.parametrize("style", ALIKE)
@pytest.mark.parametrize(
    "odd", [None, *ODD, "no id", "bad id", "long id", "blank", "return", "empty line", "comment", "tab"]
)
def test_pairs_that_are_alike_are_read_as_any_others(style, odd):
    """Eight at a time, wherever one of another kind comes between them: it is the same as each in a line of its own."""
    rng = random.Random(f"{style} {odd}")
    of_labels = {"no id": ":1", "bad id": "-5:1", "long id": "1234567890:1"}
    of_ends = {"blank": "  ", "return": "\r\n", "empty line": "\n\n", "comment": " #5:5\n", "tab": "\t"}
    for place in range(0, 40, 1 if odd is None else 3):
        tokens = [f"{rng.randrange(10 ** rng.randint(1, 8))}:{rng.choice(ALIKE[style])}" for _ in range(40)]
        ends = rng.choice([[" "] * 39 + ["\n"], [rng.choice("  \n") for _ in range(39)] + ["\n"]])
        if odd in of_ends:
            ends[place] = of_ends[odd]
            ends[-1] += "\n" * (not ends[-1].endswith("\n"))
        elif odd is not None:
            tokens[place] = of_labels.get(odd, f"{place}:{odd}")
        text = "".join(token + end for token, end in zip(tokens, ends, strict=True)).encode()
        check_pairs(text, b"5" * (place % 3))


def sorted_rows(rng, n_rows, longest):
    return [sorted(rng.sample(range(10 ** rng.randint(4, 8)), rng.randint(0, longest))) for _ in range(n_rows)]


def as_text(rows, values):
    return "".join(" ".join(f"{i}:{next(values)}" for i in row) + "\n" for row in rows).encode()


@pytest.mark.parametrize("share", [0.01, 0.3, 1])
def test_lines_that_are_unusual_are_read_in_turn_with_others(share):
    rng = random.Random(share)
    n_lines = 60 if config.DISABLE_JIT else 2000
    odd = ["5:+1 7:0.5", "# 3:4", "", "1234567890:1 2:2", "3:0.25 # 4:1", "6:nan", "\t8:inf"]
    lines = [rng.choice(odd) if rng.random() < share else "12:0.5 345:0.25 6:1e-3" for _ in range(n_lines)]
    before = "".join(line + "\n" for line in lines).encode()
    assert check_pairs(before)[0] is None
    error, _ = check_pairs(before + b"1:1 2:+x 3:3\n" + before)
    assert error == (kernels.BAD_NUMBER, len(before) + 4, len(expected_pairs(before)[0]) - 1, len(before) + 8)


STYLES = {**ALIKE, "ones": ["1"], "decimal ones": ["1.0", "1.00000"], "any": ["1", "1.0", "1e0", "-2.5", "3e-5"]}


@compiled_only
@pytest.mark.parametrize("style", STYLES)
def test_ascending_labels_and_ones_are_noticed_and_no_label_out_of_order(style):
    rng = random.Random(style)
    for longest, n_rows in itertools.product([1, 3, 8, 40, 3000], [0, 1, 2, 9, 60]):
        rows = sorted_rows(rng, n_rows, longest)
        used = rng.choices(STYLES[style], k=sum(map(len, rows)))
        check_pairs(as_text(rows, iter(used)), must_notice=True)
    for longest in 3, 20, 50:
        rows = sorted_rows(rng, 60 // longest + 3, longest)
        for row, labels in enumerate(rows):
            for entry in range(1, len(labels)):
                before, label = labels[entry - 1 : entry + 1]
                for pair in ([label, before], [label, label]):
                    wrong = [*labels[: entry - 1], *pair, *labels[entry + 1 :]]
                    text = as_text([*rows[:row], wrong, *rows[row + 1 :]], itertools.cycle(STYLES[style]))
                    check_pairs(text)


@compiled_only
@pytest.mark.parametrize("one", ["1", "1.0", "1.00000", "1e0"])
@pytest.mark.parametrize("other", ["0", "2", "0.5", "-1", "1.000001", "11.5", "0.99999999999999", "inf", "nan", "3e1"])
def test_one_other_value_is_noticed_wherever_it_is(one, other):
    rows = [[*range(place, 40, 7)] for place in range(9)]
    n_pairs = sum(map(len, rows))
    for place in range(n_pairs):
        text = as_text(rows, (other if i == place else one for i in range(n_pairs)))
        check_pairs(text, must_notice=other != "nan")


@compiled_only
def test_the_same_value_many_times_is_read():
    for value in [*itertools.chain(*ALIKE.values()), *ODD]:
        check_pairs("".join(f"{label}:{value} " for label in range(10**7, 10**9, 10**7)).encode() + b"\n")


@compiled_only
@given(
    st.lists(
        st.tuples(st.integers(0, 10**9), st.sampled_from([*itertools.chain(*ALIKE.values()), "1e-05", "2.5e+10"])),
        max_size=400,
    ),
    st.sampled_from([" ", "\n", " \n"]),
    st.integers(0, 3),
)
def test_mixtures_of_pairs_are_read(tokens, ends, seed):
    rng = random.Random(seed)
    check_pairs(("".join(f"{label}:{value}{rng.choice(ends)}" for label, value in tokens) + "\n").encode())


def test_blank_lines_are_rows_and_comment_lines_are_not():
    for text, rows in {
        b"": 0, b"\n": 1, b"\n\n \n\t\r\n": 4, b"#\n": 0, b" \t# 1:2\n": 0, b"1:2\t#3:4\n": 1, b"1:2\r#\n": 1,
        b"1:2 # 3:4 x\n#\n\n": 2, b"1:1\r\n\r\n2:2 \r\n": 3, b"\t1:1\t\t2:2\t\n": 1, b"1:1 \r 2:2\n": 1,
    }.items():  # fmt: skip
        check_pairs(text)
        block, start, stop = padded(text, b"abc")
        assert count_rows(block, start, stop) == (rows, text.count(b"\n"))
        assert len(pairs(text)[0]) == rows + 1


ERRORS = {
    kernels.NO_COLON: b"12",
    kernels.BAD_ID: b"abc :5 :-5 1x:5 -1:5 +1:5 1#:5 12#3 1.0:5 \x0b1:5 \xd9\xa1:5",
    kernels.ID_TOO_LARGE: b"9223372036854775808:5 99999999999999999999999:5",
    kernels.NO_VALUE: b"1:",
    kernels.BAD_NUMBER: b"1:x 1:- 1:+ 1:. 1:-. 1:e5 1:1e 1:1e+ 1:1.e- 1:1_0 1:0x1 1:1:2 1:--1 1:+-1 1:1-2 1:1.2.3"
    b" 1:1e5.0 1:1e5e5 1:1,5 1:infi 1:nanx 1:i 1:in 1:na 1:infinityy 1:-n 1:1\x00 1:0.5\xc2\xa0 1:123456789x"
    b" 1:0.123456789012x 1:1/2 1:1;2 1:.e5 1:0.463#8 1:1# 1:# 1:1#2:3 1:0.123456789012#4 1:1e5#6 1:#5 1:nan#"
    b" 1:12345678.5#",
}


@pytest.mark.parametrize("code", ERRORS)
def test_an_error_tells_its_token_and_its_row(code):
    for token in ERRORS[code].split(b" "):
        for head, rows in (b"", 0), (b"1:1 2:2\n\n# c\n", 2), (b"1:1\n3:3 ", 1), (b"1:1\n 3:+3 \t", 1):
            for tail in b"\n", b" 5:5\n", b"\r\n6:6\n", b" #\n":
                indptr, _, _, error, _ = pairs(head + token + tail, b"xx 8:8 ")
                assert error == (code, len(head), rows, len(head) + len(token))
                assert len(indptr) == rows + 1


def test_hard_values_without_room_are_reported():
    tie = b"1:1.00000000000000011102230246251565404236316680908203125\n"
    *_, hard = pairs(tie)
    assert hard == 1
    indptr, indices, _, error, hard = pairs(b"4:4\n" + tie + tie, hard_room=1)
    assert error == (kernels.HARD_FULL, 4 + len(tie), 2, 3 + 2 * len(tie))
    assert indptr.tolist() == [0, 1, 2]
    assert indices.tolist() == [4, 1]
    assert hard == 1


@given(st.lists(st.sampled_from(["", " ", "1:2", "#", " # x", "1:2 # y", "z" * 70, "\r", "z" * 63]), max_size=12))
def test_rows_are_counted_and_skipped_alike(lines):
    text = "".join(line + "\n" for line in lines).encode()
    block, start, stop = padded(text, b"#\n \n")
    ends = [start]
    ends += [start + line.end() for line in re.finditer(rb"(?m)^(?![ \t\r]*#).*\n", text)]
    assert count_rows(block, start, stop) == (len(ends) - 1, len(lines))
    assert [kernels.skip_rows(block, start, stop, n) for n in range(len(ends))] == ends
    assert kernels.skip_rows(block, start, stop, len(ends)) == stop


@given(
    st.lists(
        st.tuples(
            st.lists(ids, max_size=6),
            st.sampled_from(["", " ", "\r", "\t3:4", " 1:0.5 x:y " + "7:1.5 " * 20, "\t#", " # 1,2"]),
        ),
        max_size=8,
    )
)
def test_labels_are_read_and_features_are_not(rows):
    lines = [",".join(map(str, row)) + (rest if row or "#" not in rest else "") for row, rest in rows]
    lines = [line for line in lines if not line.strip().startswith("#")]
    text = "".join(line + "\n#c\n" for line in lines).encode()
    found, error = labels(text, b"1,")
    assert error is None
    assert found == [[int(i) for i in re.split(r"[ \t\r]", line)[0].split(",") if i] for line in lines]


def test_fields_outside_the_region_do_not_matter():
    text, start, stop = padded(b"q 0 d 1\n", b"x" * 60, b"q 0 e 2\n")
    ints, status = np.empty((3, 4, 20), np.int64), np.empty(fields_kernel.STATUS_SIZE, np.int64)
    columns, values = np.array([0, 2, 3, 4, 0]), np.empty(20)
    fields_kernel.split_fields(text, start, stop, columns, ints[0], ints[1], values, ints[2].reshape(20, 4), status)
    assert status.tolist() == [1, 1, 1, 0, -1]
    assert (ints[:2, :2, 0].tolist(), values[0]) == ([[60, 61], [64, 65]], 1)


def test_a_first_feature_is_not_a_label():
    assert labels(b"5:1 6:2\n 5:1\n5 6:2\n0:x\n") == ([[], [], [5], []], None)


def test_a_bad_label_list_is_reported():
    for text, end in {
        b"1,": 2, b"1, ": 3, b",1 2:3": 2, b"1,,2 #": 4, b"1,2#": 4, b"1,2#3 4:5": 5, b"1,#2": 4, b"1,2:3": 5,
        b"a 1:2": 1, b"-1": 2, b"1.5\r": 3, b"1,9223372036854775808": 21,
    }.items():  # fmt: skip
        code = kernels.ID_TOO_LARGE if end == 21 else kernels.BAD_LABEL
        assert labels(b"7 1:1\n#\n\n" + text + b"\n", b"z") == ([[7], []], (code, 9, 2, 9 + end))


def random_mantissa(rng):
    run = str(rng.randrange(10 ** rng.randint(1, 24)))
    cut = rng.randint(0, len(run))
    exponent = rng.choice(["", f"e{rng.randint(-345, 310)}", f"E{rng.randint(-30, 30):+03d}"])
    return f"{rng.choice(['', '-'])}{run[:cut]}.{run[cut:]}{exponent}"


@compiled_only
@pytest.mark.parametrize("style", ["r", "%.9g", "%.18e", "%.6f", "%.4f", "%.17g", "%.25f", "%.5e", "%d", "mantissas"])
def test_many_random_floats_keep_their_bits(style):
    rng = random.Random(style)
    numbers = [rng.random() for _ in range(20_000)] + [rng.gauss(0, 9) for _ in range(20_000)]
    numbers += [rng.random() * 10 ** rng.randint(-12, 12) for _ in range(20_000)]
    if style not in ("%.25f", "%d"):
        numbers += [float(np.uint64(rng.getrandbits(63)).view(np.float64)) for _ in range(40_000)]
        numbers = [x for x in numbers if abs(x) < float("inf")]
    texts = (random_mantissa(rng) if style == "mantissas" else spelled(x, style) for x in numbers)
    tokens = [f"{rng.randrange(10 ** rng.randint(1, 9))}:{text}" for text in texts]
    error, n_hard = check_pairs(("".join(token + rng.choice("   \n") for token in tokens) + "\n").encode())
    assert error is None
    assert n_hard < 5 or style == "mantissas"
