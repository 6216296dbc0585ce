"""Lines of TREC files as a reader that splits them in Python reads them, whatever they look like."""

import math
import random
from pathlib import Path

import numpy as np
import pytest
from support.files import open_scores, write

from xmceval.errors import DataError
from xmceval.files.io import chunks
from xmceval.files.open import open_truth
from xmceval.files.ranking.judgments import BEIR, QRELS, RUN, Documents
from xmceval.files.ranking.lines import line_file
from xmceval.files.sidecars.label_names import read_names
from xmceval.files.text.words import Words
from xmceval.rows.block import Scratch

NAMES = ["7", "07", "q", "d1", "d#2", "12345678", "123456789", "clueweb09-en0000-00-00000"]
NAMES += ["é" * 9, "\u2028", "x" * 300]
VALUES = ["1", "-0.5", "1e3", "1E-400", ".5", "5.", "+7", "inf", "-Infinity", "0.1234567890123456789012", "1" * 400]
WRONG_VALUES = ["x", "1_0", "٣", "0x1", "1e", "5%"]


def make(rng, columns, n_lines, wrong=0.0):
    """Return text with lines in every form."""
    names = [rng.choice(NAMES) + rng.choice(["", str(i % 37)]) for i in range(n_lines)]
    lines = ["\t".join(columns.names.split())] if columns.has_header else []
    for name in names:
        words = [rng.choice(NAMES) for _ in columns.names.split()]
        words[0], words[columns.document] = rng.choice(NAMES[:6]), name
        words[columns.value] = rng.choice(WRONG_VALUES if rng.random() < wrong else VALUES)
        if rng.random() < wrong:
            words = rng.choice([words[:-1], [*words, "more"], words[:1]])
        between = ["\t"] * 9 + [" \t "] if columns.has_header else [" ", " ", " ", "\t", "  ", "\t \r", "\v", "\f"]
        lines.append("".join(word + rng.choice(between) for word in words[:-1]) + words[-1])
        lines += rng.choices([[], ["", " \r"], ["# a comment"], ["\t\t \v"]], weights=[9, 1, 1, 1])[0]
    return "".join(line + rng.choice(["\n", "\n", "\r\n", " \n"]) for line in lines)


def read_plainly(path, columns):
    """Return query, document and value of each line, or the message of an error."""
    found, has_header = [], columns.has_header
    for number, line in enumerate(Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip() or line.startswith(b"#"):
            continue
        if has_header:
            has_header = False
            continue
        words = [word.strip() for word in line.split(b"\t")] if columns.has_header else line.split()
        if len(words) != columns.number or not all(words):
            return f"{path}:{number}: {columns.explain(line)}"
        word = words[columns.value]
        try:
            value = float(word.decode("ascii").replace("_", "x"))
        except ValueError:
            return f"{path}:{number}: expected a number{columns.role}"
        found.append((words[0], words[columns.document], value))
    return found


def read(path, columns, judged=None):
    lines = line_file(Path(path), columns).lines(judged)
    indptr, documents, values = lines.gather(len(lines.queries) if judged is None else len(judged))
    words = lines.documents.tolist()
    rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr)).tolist()
    return lines, [
        (row, words[i], value) for row, i, value in zip(rows, documents.tolist(), values.tolist(), strict=True)
    ]


@pytest.mark.parametrize("columns", [QRELS, RUN, BEIR], ids=["qrels", "run", "beir"])
@pytest.mark.parametrize("chunk_bytes", [100, chunks.CHUNK_BYTES])
@pytest.mark.parametrize("seed", range(4))
def test_lines_are_read_as_if_split_in_python(columns, chunk_bytes, seed, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_BYTES", chunk_bytes)
    text = make(random.Random(seed), columns, 120)
    path = write("t", ("\ufeff" if seed == 1 else "") + (text.rstrip("\r\n \t") if seed == 2 else text))
    plain = read_plainly(path, columns)
    queries = list(dict.fromkeys(query for query, _, _ in plain))
    lines, entries = read(path, columns)
    assert lines.queries.tolist() == queries
    assert lines.documents.tolist() == list(dict.fromkeys(document for _, document, _ in plain))
    rows = sorted(((queries.index(query), document, value) for query, document, value in plain), key=lambda x: x[0])
    assert entries == rows
    judged = {query: row for row, query in enumerate(queries[::2])}
    lines, entries = read(path, columns, judged)
    kept = [(judged[query], document, value) for query, document, value in plain if query in judged]
    assert entries == sorted(kept, key=lambda x: x[0])
    assert lines.n_ignored == len(plain) - len(kept)


@pytest.mark.parametrize("columns", [QRELS, RUN, BEIR], ids=["qrels", "run", "beir"])
@pytest.mark.parametrize("seed", range(12))
def test_the_first_wrong_line_is_reported_as_if_split_in_python(columns, seed, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 4000)
    path = write("t", make(random.Random(seed), columns, 60, wrong=0.03))
    plain = read_plainly(path, columns)
    assert isinstance(plain, str)
    with pytest.raises(DataError) as caught:
        line_file(Path(path), columns).lines()
    assert str(caught.value).startswith(plain)


def test_a_line_longer_than_a_chunk_is_read():
    name = "x" * 3_000_000
    _, entries = read(write("t", f"q 0 a 1\nq 0 {name} 2\nq 0 b 3\n"), QRELS)
    assert [(len(document), value) for _, document, value in entries] == [(1, 1), (len(name), 2), (1, 3)]


def test_the_first_nan_of_a_judged_query_is_reported_by_its_line():
    truth = open_truth(write("q", "q1 0 a 1\nq1 0 b 0\n"))
    run = "\n#\nother Q0 a 1 nan me\nq1 Q0 a 1 0.5 me\nq1 Q0 b 1 -NaN me\n"
    with pytest.raises(DataError, match=r"^r:5: the score is NaN"):
        open_scores(write("r", run), judgments=truth.judgments)


def break_plainly(entries):
    """Return the scores of one query, (document, score), where equal ones are raised as for trec_eval, by document.

    Those of -inf are no predictions, and stay.
    """
    stay = {document: score for document, score in entries if score == -math.inf}
    entries = sorted((entry for entry in entries if entry[0] not in stay), key=lambda entry: (entry[1], entry[0]))
    scores = [score for _, score in entries]
    for i in range(1, len(scores)):
        if scores[i] <= scores[i - 1]:
            scores[i] = math.nextafter(scores[i - 1], math.inf)
    for i in range(len(scores) - 1, 0, -1):
        if scores[i - 1] >= scores[i]:
            scores[i - 1] = math.nextafter(scores[i], -math.inf)
    return stay | {document: score for (document, _), score in zip(entries, scores, strict=True)}


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
    run = "".join(f"q Q0 {document} 1 {score!r} me\n" for document, score in entries)
    truth = open_truth(write("q", "q 0 dd3 1\nq 0 dd4 1\n"))
    opened = open_scores(write("r", run), judgments=truth.judgments)
    expected = break_plainly([(document.encode(), score) for document, score in entries])
    assert opened.source.pieces[0].values.tolist() == [expected[document.encode()] for document, _ in entries]
    scores = [score for _, score in entries]
    n_tied = sum(scores.count(score) > 1 for score in scores if score > -math.inf)
    assert f"{n_tied} ties broken by document as in trec_eval" in opened.facts


def test_a_wrong_first_line_is_reported_whatever_follows():
    path = write("t", "q 0 d\nq 0 d " + "1" * 60 + "\nq 0 d 1\n" * 9)
    with pytest.raises(DataError) as caught:
        open_truth(path)
    assert str(caught.value) == read_plainly(path, QRELS)


def numbered(names):
    words = Words()
    blob = b"".join(names)
    ends = np.cumsum([len(name) for name in names])
    numbers = words.number(np.frombuffer(blob + bytes(8), np.uint8), ends - [len(name) for name in names], ends)
    return words, numbers.tolist()


def test_words_are_numbered_in_the_order_in_which_they_appear():
    rng = random.Random(0)
    names = ["".join(rng.choices("ab\0", k=rng.randint(1, 20))).encode() for _ in range(20_000)]
    names += [b"clueweb09-" + bytes(rng.choices(range(256), k=rng.randint(0, 100))) for _ in range(500)]
    words, numbers = numbered(names)
    distinct = {name: number for number, name in enumerate(dict.fromkeys(names))}
    found = words.tolist()
    assert found == list(distinct)
    assert numbers == [distinct[name] for name in names]
    assert [found[i] for i in words.in_order().tolist()] == sorted(distinct)


@pytest.mark.parametrize("names", [[], [b""], [b"a"], [b"ab", b"a"], [b"x" * 64 + b"b", b"x" * 64 + b"a", b"x" * 64]])
def test_few_words_are_put_in_order(names):
    assert numbered(names)[0].in_order().tolist() == sorted(range(len(names)), key=names.__getitem__)


def test_plain_numbers_are_those_without_leading_zeros_that_a_label_can_be():
    names = [b"0", b"7", b"07", b"00", b"9" * 18, b"%d" % (2**63 - 2), b"%d" % (2**63 - 1), b"9" * 20, b"-1", b"1a"]
    expected = [0, 7, -1, -1, 10**18 - 1, 2**63 - 2, -1, -1, -1, -1]
    assert numbered(names)[0].plain_numbers().tolist() == expected


def test_documents_that_no_one_judged_keep_their_labels_from_run_to_run():
    judgments = open_truth(write("q", "q 0 b 1\nq 0 a 1\nq 0 c 1\n")).judgments
    for documents, expected in (("xay", [3, 0, 4]), ("ycz", [4, 2, 5])):
        lines = [f"q Q0 {document} {rank} {9 - rank} me\n" for rank, document in enumerate(documents)]
        [block] = open_scores(write("r", "".join(lines)), judgments=judgments).source.blocks()
        assert block.stored.parse(Scratch()).indices[:3].tolist() == expected
    words = judgments.documents.words
    labels = judgments.documents.labels(words).tolist()
    by_label = dict(zip(labels, words.tolist(), strict=True))
    assert by_label == {0: b"a", 1: b"b", 2: b"c", 3: b"x", 4: b"y", 5: b"z"}


def test_a_name_that_is_unknown_is_reported():
    names = read_names(write("n", "a\nb\n"))
    assert Documents.of(numbered([b"b"])[0], names).labels(numbered([b"b", b"a"])[0]).tolist() == [1, 0]
    with pytest.raises(DataError, match=r"^q: 'x' is not in n, which has 2 label names"):
        open_truth(write("q", "q1 0 a 1\nq1 0 x 1\n"), names=names)
