"""Lines of TREC files as a reader that splits them in Python reads them, whatever they look like."""

import math
import random
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from support.approved import check_lines
from support.files import rows_in, write
from support.pieces import read_in_pieces

import xmceval

NAMES = ["7", "07", "q", "d1", "d#2", "12345678", "123456789", "clueweb09-en0000-00-00000"]
NAMES += ["é" * 9, "\u2028", "x" * 300]
SCORES = ["1", "-0.5", "1e3", "1E-400", ".5", "5.", "+7", "inf", "-Infinity", "0.1234567890123456789012", "1" * 400]
GRADES = [*["1", "0", "3", "-1"] * 8, "2.", "+7", "1e2", "0.0", "5E0", "1E-400", "-0"]
WRONG = ["x", "1_0", "٣", "0x1", "1e", "5%"]


class Form(NamedTuple):
    """A form of lines: its columns in words, where document and value stand, and what the values may be."""

    columns: str
    document: int
    value: int
    values: list
    is_tsv: bool = False

    @property
    def number(self):
        return len(self.columns.split())


FORMS = {
    "qrels": Form("query 0 document grade", 2, 3, GRADES),
    "run": Form("query Q0 document rank score tag", 2, 4, SCORES),
    "beir": Form("query-id corpus-id score", 1, 2, GRADES, is_tsv=True),
}


def make(rng, form, n_lines, wrong=0.0):
    """Return text with lines in every form; no query has a document twice."""
    pairs = {(rng.choice(NAMES[:6]), rng.choice(NAMES) + rng.choice(["", str(i % 37)])) for i in range(n_lines)}
    lines = ["\t".join(form.columns.split())] if form.is_tsv else []
    for i, (query, document) in enumerate(sorted(sorted(pairs), key=lambda _: rng.random())):  # the same in each run
        words = [rng.choice(NAMES) for _ in form.columns.split()]
        words[0], words[form.document], words[form.value] = query, document, rng.choice(form.values)
        if form.number > 3 and rng.random() < 0.9:  # it is known by these
            words[1] = form.columns.split()[1]
        if i > 5 and rng.random() < wrong:
            words[form.value] = rng.choice(WRONG)
        if i > 5 and rng.random() < wrong:
            words = rng.choice([words[:-1], [*words, "more"], words[:1]])
        between = ["\t"] * 9 + [" \t "] if form.is_tsv else [" ", " ", " ", "\t", "  ", "\t \r", "\v", "\f"]
        lines.append("".join(word + rng.choice(between) for word in words[:-1]) + words[-1])
        lines += rng.choices([[], ["", " \r"], ["# a comment"], ["\t\t \v"]], weights=[9, 1, 1, 1])[0]
    return "".join(line + rng.choice(["\n", "\n", "\r\n", " \n"]) for line in lines)


def read_plainly(path, form):
    """Return query, document and value of each line, or the message of an error."""
    entries, has_header = [], form.is_tsv
    for number, line in enumerate(Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip() or line.startswith(b"#"):
            continue
        if has_header:
            has_header = False
            continue
        words = [word.strip() for word in line.split(b"\t")] if form.is_tsv else line.split()
        if len(words) != form.number or not all(words):
            return f"{path}:{number}: expected '{form.columns}', found "
        try:
            value = float(words[form.value].decode("ascii").replace("_", "x"))
        except ValueError:
            noun = form.columns.split()[form.value]
            return f"{path}:{number}: expected a number as the {noun} of '{form.columns}', found "
        entries.append((words[0], words[form.document], value))
    return entries


def by_query(entries):
    table = {}
    for query, document, value in entries:
        table.setdefault(query, {})[document] = value
    return table


def number(table):
    """Return the rows of a truth by query, with documents numbered in their order."""
    documents = sorted({name for row in table.values() for name in row})
    rows = [[(documents.index(name), grade) for name, grade in row.items() if grade > 0] for row in table.values()]
    return [sorted(row) for row in rows]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("size", [100, 3 << 20])
@pytest.mark.parametrize("seed", range(4))
def test_lines_are_read_as_if_split_in_python(name, size, seed, monkeypatch):
    read_in_pieces(monkeypatch, text=size)
    text = make(random.Random(seed), FORMS[name], 120)
    write("t", ("\ufeff" if seed == 1 else "") + (text.rstrip("\r\n \t") if seed == 2 else text))
    entries = read_plainly("t", FORMS[name])
    table = by_query(entries)
    if name != "run":
        assert rows_in("t", "truth") == number(table)
        return
    judged = {query: min(row) for query, row in list(table.items())[::2]}
    write("q", b"".join(b"%s 0 %s 1\n%s 0 none 0\n" % (*pair, pair[0]) for pair in judged.items()))
    documents = [*sorted({*judged.values(), b"none"}), *(document for query, document, _ in entries if query in judged)]
    labels = {document: label for label, document in enumerate(dict.fromkeys(documents))}
    ranked = [break_plainly(list(table[query].items())) for query in judged]
    assert rows_in("t", truth="q") == [[(labels[name], score) for name, score in row.items()] for row in ranked]
    n_left = sum(len(row) for query, row in table.items() if query not in judged)
    assert f"({n_left} lines)" in str(xmceval.score("q", "t", metrics="P", k=1).warnings)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("seed", range(12))
def test_the_first_wrong_line_is_reported_as_if_split_in_python(name, seed, monkeypatch):
    read_in_pieces(monkeypatch, text=4000)
    write("t", make(random.Random(seed), FORMS[name], 60, wrong=0.06))
    write("q", "q 0 7 1\nq 0 d1 0\n")
    expected = read_plainly("t", FORMS[name])
    assert isinstance(expected, str)
    with pytest.raises(xmceval.DataError, match=f"^{re.escape(expected)}"):
        rows_in("t", "scores", truth="q") if name == "run" else rows_in("t", "truth")


def break_plainly(entries):
    """Return the scores of one query, (document, score), where equal ones are raised as for trec_eval, by document.

    Those of -inf are no predictions, and stay.
    """
    entries, given = (
        sorted((entry for entry in entries if entry[1] > -math.inf), key=lambda entry: entry[::-1]),
        entries,
    )
    scores = [score for _, score in entries]
    for i in range(1, len(scores)):
        if scores[i] <= scores[i - 1]:
            scores[i] = math.nextafter(scores[i - 1], math.inf)
    for i in range(len(scores) - 1, 0, -1):
        if scores[i - 1] >= scores[i]:
            scores[i - 1] = math.nextafter(scores[i], -math.inf)
    return dict(given) | {document: score for (document, _), score in zip(entries, scores, strict=True)}


@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_ties_are_broken_by_the_least_steps(seed, falls):
    rng = random.Random(seed)
    small, large = 5e-324, 1.7976931348623157e308
    pool = [0.5, math.nextafter(0.5, 1), -0.0, 0.0, small, -small, -1.5, math.inf, -math.inf, large, -large]
    documents = [f"{'d' * rng.randint(0, 12)}{i}" for i in range(60)]
    entries = [(document, rng.choice(pool[: 2 + 2 * seed])) for document in documents]
    if falls:
        entries.sort(key=lambda entry: -entry[1])
    write("r", "".join(f"q Q0 {document} 1 {score!r} me\n" for document, score in entries))
    write("q", "q 0 dd3 1\nq 0 dd4 1\n")
    expected = break_plainly([(document.encode(), score) for document, score in entries])
    [row] = rows_in("r", truth="q")
    assert [score for _, score in row] == [expected[document.encode()] for document, _ in entries]
    scores = [score for _, score in entries]
    n_tied = sum(scores.count(score) > 1 for score in scores if score > -math.inf)
    assert f"{n_tied} ties broken by document as in trec_eval" in xmceval.score("q", "r", k=1).inputs[1]


def test_lines_are_read_or_refused_in_these_words(monkeypatch):
    read_in_pieces(monkeypatch, text=4000)
    check_lines(__file__, "trec.txt", globals())
