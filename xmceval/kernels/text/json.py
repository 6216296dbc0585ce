"""Kernel that parses JSON lines of labels: objects with the lists of a format, and lists of objects."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.text.bytes import n_digits, next_in_string, number_of, word_at
from xmceval.kernels.text.lines import DIGIT, DIGIT_0, KINDS, NEWLINE
from xmceval.kernels.text.numbers import parse_decimal, parse_number
from xmceval.kernels.text.words import is_same

QUOTE, COLON, COMMA, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, MINUS, POINT = b'":,{}[]-.'
BLANK, TAB, RETURN, PLUS, LOWER_E, LOWER_U = b" \t\r+eu"
CONTROL = 32  # smaller bytes are not allowed in strings

KEYS = np.frombuffer(b"target_indtarget_reldatalabelscore" + bytes(8), np.uint8)
TRUTH, GRADES, PAIRS, LABEL, SCORE, OTHER = range(6)
KEY_ENDS = np.array([0, 10, 20, 24, 29, 34], np.int64)

ESCAPED, HEX = np.zeros(256, np.bool_), np.zeros(256, np.bool_)
ESCAPED[[*b'"\\/bfnrtu']] = True
HEX[[*b"0123456789abcdefABCDEF"]] = True

U0, U1, U6, U18, U25, U64 = (np.uint64(i) for i in (0, 1, 6, 18, 25, 64))
ODD = np.uint64(0)  # instead of an offset: leave the line to Python


@helper
def _skip(text, at):
    """Return the offset after blanks."""
    while text[at] == BLANK or text[at] == TAB or text[at] == RETURN:
        at += U1
    return at


@helper
def _string_end(text, at):
    """Return the offset of the quote that ends a string, and whether the string has no escapes."""
    is_plain = True
    at = next_in_string(text, at)
    while text[at] != QUOTE:
        if text[at] < CONTROL:
            return ODD, False
        is_plain = False
        at += U1
        if not ESCAPED[text[at]]:
            return ODD, False
        if text[at] == LOWER_U:
            for _ in range(4):
                at += U1
                if not HEX[text[at]]:
                    return ODD, False
        at = next_in_string(text, at + U1)
    return at, is_plain


@helper
def _number_end(text, at):
    """Return the offset after a JSON number, and whether it is whole."""
    begin = at
    if text[at] == MINUS:
        at += U1
    first = at
    while KINDS[text[at]] == DIGIT:
        at += U1
    if at == first or (text[first] == DIGIT_0 and at > first + U1):
        return ODD, False
    is_whole = True
    if text[at] == POINT:
        is_whole = False
        at += U1
        first = at
        while KINDS[text[at]] == DIGIT:
            at += U1
        if at == first:
            return ODD, False
    if text[at] | BLANK == LOWER_E:
        is_whole = False
        at += U1
        if text[at] == MINUS or text[at] == PLUS:
            at += U1
        first = at
        while KINDS[text[at]] == DIGIT:
            at += U1
        if at == first:
            return ODD, False
    return (at, is_whole) if at - begin < U25 else (ODD, False)


@helper
def _ends_number(text, first, whole, end):
    """Return whether a plain JSON number with `whole` digits ends here."""
    is_begun = whole == U1 or (whole != U0 and text[first] != DIGIT_0)
    return is_begun and text[end - U1] != POINT and text[end] | BLANK != LOWER_E


@helper
def _read_number(text, at, values, n):
    """Write a number; return the offset after it."""
    negative = text[at] == MINUS
    first = at + np.uint64(negative)
    value, whole, end, _, _ = parse_decimal(text, first)
    if end != first and _ends_number(text, first, whole, end):
        values[n] = -value if negative else value
        return end
    return _read_any_number(text, at, values, n)


@helper
def _read_any_number(text, at, values, n):
    """Write a number; return the offset after it."""
    end, _ = _number_end(text, at)
    if end != ODD:
        values[n], code = parse_number(text, at, end)
        if code != 0:
            return ODD
    return end


@helper
def _read_label(text, at, names, indices, n):
    """Write a label, or the bounds of its name; return the offset after it."""
    if text[at] == QUOTE:
        end, is_plain = _string_end(text, at + U1)
        if not is_plain or n >= np.uint64(names.shape[1]):
            return ODD
        names[0, n], names[1, n] = np.int64(at + U1), np.int64(end)
        indices[n] = -1
        return end + U1
    word = word_at(text, at)
    digits = n_digits(word)
    end = at + digits
    is_whole = KINDS[text[end]] != DIGIT and text[end] != POINT
    if digits > U0 and is_whole and _ends_number(text, at, digits, end):
        indices[n] = np.int64(number_of(word, digits))
        return end
    end, is_whole = _number_end(text, at)
    if not is_whole or text[at] == MINUS or end - at > U18:
        return ODD
    label = np.int64(0)
    for i in range(at, end):
        label = label * 10 + np.int64(text[i] - DIGIT_0)
    indices[n] = label
    return end


@helper
def _read_key(text, at, first, seen):
    """Return a key, the offset of its value, and bits for the keys so far of the object that begins at `first`.

    A repeated key is odd. Unknown keys share a few bits, so equal bits are checked.
    """
    if text[at] != QUOTE:
        return OTHER, ODD, seen
    begin = at + U1
    end, is_plain = _string_end(text, begin)
    if end == ODD:
        return OTHER, ODD, seen
    key, bit = OTHER, U1 << U6 + (np.uint64(text[begin]) + np.uint64(text[end - U1]) + end - begin) % (U64 - U6)
    if is_plain:
        for i in range(OTHER):
            if is_same(text, begin, end, KEYS, np.uint64(KEY_ENDS[i]), np.uint64(KEY_ENDS[i + 1])):
                key, bit = i, U1 << np.uint64(i)
    if seen & bit != U0 and (key != OTHER or _is_repeated(text, first, begin, end)):
        return OTHER, ODD, seen
    at = _skip(text, end + U1)
    return (key, _skip(text, at + U1), seen | bit) if is_plain and text[at] == COLON else (OTHER, ODD, seen)


@helper
def _is_repeated(text, first, begin, end):
    """Return whether the object that begins at `first` already has this key."""
    at, depth = first + U1, 0
    while at < begin:
        if text[at] == QUOTE:
            last, _ = _string_end(text, at + U1)
            is_key = depth == 0 and text[_skip(text, last + U1)] == COLON and last < begin
            if is_key and is_same(text, at + U1, last, text, begin, end):
                return True
            at = last
        elif text[at] == OPEN or text[at] == OPEN_LIST:
            depth += 1
        elif text[at] == CLOSE or text[at] == CLOSE_LIST:
            depth -= 1
        at += U1
    return False


@helper
def _skip_value(text, at):
    """Return the offset after a string or number to ignore."""
    if text[at] == QUOTE:
        end, _ = _string_end(text, at + U1)
        return end + U1 if end != ODD else ODD
    end, _ = _number_end(text, at)
    return end


@helper
def _next(text, at, close):
    """Return the offset of the next item, or of the end of the list, and whether the list ended."""
    at = _skip(text, at)
    if text[at] == close:
        return at + U1, True
    if text[at] != COMMA:
        return ODD, True
    return _skip(text, at + U1), False


@helper
def _read_pair(text, at, names, indices, values, n):
    """Read ``[label, score]``; return the offset after it."""
    if text[at] != OPEN_LIST:
        return ODD
    at = _read_label(text, _skip(text, at + U1), names, indices, n)
    if at == ODD:
        return ODD
    at, is_closed = _next(text, at, CLOSE_LIST)
    at = ODD if is_closed else _read_number(text, at, values, n)
    if at == ODD:
        return ODD
    at, is_closed = _next(text, at, CLOSE_LIST)
    return at if is_closed else ODD


@helper
def _read_entry(text, at, names, indices, values, n, needs_score):
    """Read ``{"label": label, "score": score}``; return the offset after it."""
    if text[at] != OPEN:
        return ODD
    first, at, is_closed = at, _skip(text, at + U1), False
    has_label, has_score, seen = False, not needs_score, U0
    values[n] = 1.0
    while not is_closed:
        key, at, seen = _read_key(text, at, first, seen)
        if at == ODD:
            return ODD
        if key == LABEL:
            has_label = True
            at = _read_label(text, at, names, indices, n)
        elif key == SCORE:
            has_score = True
            at = _read_number(text, at, values, n)
        else:
            at = _skip_value(text, at)
        if at == ODD:
            return ODD
        at, is_closed = _next(text, at, CLOSE)
    return at if has_label and has_score else ODD


@helper
def _read_list(text, at, names, indices, values, n, kind, are_scores):
    """Read the list of a key, or of entries for OTHER; return the offset after it, and the new `n`."""
    if text[at] != OPEN_LIST:
        return ODD, n
    at = _skip(text, at + U1)
    if text[at] == CLOSE_LIST:
        return at + U1, n
    is_closed = False
    while not is_closed:
        if kind == TRUTH:
            at = _read_label(text, at, names, indices, n)
        elif kind == GRADES:
            at = _read_number(text, at, values, n)
        elif kind == PAIRS:
            at = _read_pair(text, at, names, indices, values, n)
        else:
            at = _read_entry(text, at, names, indices, values, n, are_scores)
        if at == ODD:
            return ODD, n
        n += U1
        at, is_closed = _next(text, at, CLOSE_LIST)
    return at, n


@helper
def _read_object(text, at, names, indices, values, first, are_scores):
    """Read an object with the lists of a format; return the offset after it, and the new number of entries."""
    begin, at, is_closed = at, _skip(text, at + U1), False
    n, n_grades, has_labels, has_grades, seen = first, first, False, False, U0
    while not is_closed:
        key, at, seen = _read_key(text, at, begin, seen)
        if at == ODD:
            return ODD, first
        if key == (PAIRS if are_scores else TRUTH):
            has_labels = True
            at, n = _read_list(text, at, names, indices, values, first, key, are_scores)
        elif key == GRADES and not are_scores:
            has_grades = True
            at, n_grades = _read_list(text, at, names, indices, values, first, key, are_scores)
        else:
            at = _skip_value(text, at)
        if at == ODD:
            return ODD, first
        at, is_closed = _next(text, at, CLOSE)
    if at == ODD or not has_labels or (has_grades and n_grades != n):
        return ODD, first
    if not are_scores and not has_grades:
        for entry in range(first, n):
            values[entry] = 1.0
    return at, n


@kernel("u1[:]", "i8", "i8", "b1", "i8[:,:]", "i8[:]", "i8[:]", "f8[:]", "i8[:]", returns="i8")
def parse_json(text, start, stop, are_scores, names, indptr, indices, values, status):
    """Parse JSON lines; return the offset of the first that is odd and left to Python, or `stop`.

    An odd line may be invalid, such as one that repeats a key, or merely rare: escapes in names, other values
    that are lists, numbers with many digits. Text is UTF-8. If a label is a name, -1 is written, and the begin
    and end of the name are written to `names`, int64 [2, n_entries], or [2, 0] without names. `indices` are
    int64 and `values` float64 [at least half the bytes of text], `indptr` is int64 [n_rows + 1]. `status`,
    int64 [2], is the number of rows and entries so far.
    """
    at, end = np.uint64(start), np.uint64(stop)
    row, n = np.uint64(status[0]), np.uint64(status[1])
    while at < end:
        after, last = _skip(text, at), n
        if text[after] == OPEN:
            after, last = _read_object(text, after, names, indices, values, n, are_scores)
        elif text[after] == OPEN_LIST:
            after, last = _read_list(text, after, names, indices, values, n, OTHER, are_scores)
        if after != ODD:
            after = _skip(text, after)
        if after == ODD or text[after] != NEWLINE:
            break
        at, n = after + U1, last
        row += U1
        indptr[row] = np.int64(n)
    status[0], status[1] = np.int64(row), np.int64(n)
    return np.int64(at)
