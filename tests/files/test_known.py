"""A file of each format is recognized by its content, and read as just that format."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from xmceval.files.formats import FORMATS, SCORES, TRUTH
from xmceval.files.opening import open_scores, open_truth
from xmceval.files.sidecars.labelnames import read_names
from xmceval.files.text.grammars import GRAMMARS
from xmceval.rows.block import Scratch

NAMES = {
    "names": ["red", "blue", "green"],
    "tabbed-names": ["light red", "blue", "green"],
    "comma-names": ["1001", "1003", "1005"],
}
QRELS = "q1 0 doc7 2\nq1 0 doc9 0\nq2 0 doc7 1\n"


def parquet():
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"row": [0, 0, 1], "label": [17, 3, 5], "score": [0.91, 0.3, 0.5]}), "x")


def feather():
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather

    feather.write_feather(pyarrow.table({"labels": [[17, 3], [5]], "scores": [[0.91, 0.3], [0.5]]}), "x")


def npy(array):
    with open("x", "wb") as file:
        np.save(file, array)


def pair():
    np.save("x-labels.npy", [[17, 3], [5, -1]])
    np.save("x-scores.npy", [[0.91, 0.3], [0.5, 0]])


def npz_arrays():
    with open("x", "wb") as file:
        np.savez(file, labels=[[17, 3], [5, -1]], scores=[[0.91, 0.3], [0.5, 0]])


def npz():
    with open("x", "wb") as file:
        sp.save_npz(file, sp.csr_matrix([[0.91, 0, 0.3], [0, 0.5, 0]]))


# The format, what the file holds if not all that the format can, and its text or what makes it.
EXAMPLES = {
    "XMLRepository": ("pairs", TRUTH, "3 5\n0:1.0 4:1.0\n\n2:1.0\n"),
    "score_mat.txt": ("pairs", SCORES, "3 5\n0:0.91 4:0.3\n1:0.2\n2:-1.5 3:-2\n"),
    "DiSMEC++": ("pairs", "", "3 2\n4:0.91 0:0.3\n1:0.2 2:0.1\n2:1 3:0\n"),
    "napkinXC": ("pairs", "", "4:0.91 0:0.3 \n1:0.2 \n2:1.0 3:0.5 \n"),
    "features": ("labels", "", "4 5 3\n0,2 0:0.5 3:1.2\n1 1:0.3\n 0:0.7 4:0.1\n0,1,2 2:1.0\n"),
    "ids": ("ids", TRUTH, "3,17\n5\n0,2,9\n"),
    "ranked ids": ("ids", SCORES, "17 3 8\n5 1 0\n2 0 4\n"),
    "omikuji": ("scored", "", "3 0.912\t17 0.344\t5 0.1\n17 0.5\n\n8 0.777\t3 0.001\n"),
    "names": ("names", "", "red blue\ngreen\nblue red\n"),
    "names between tabs": ("tabbed-names", "", "light red\tblue\ngreen\nblue\tlight red\n"),
    "names between commas": ("comma-names", "", "1001,1005\n1003\n1005,1001\n"),
    "fastText": ("fasttext", TRUTH, "__label__3 __label__17 some words\nmore words __label__5\n"),
    "fastText with scores": ("fasttext", SCORES, "__label__17 0.91 __label__3 0.3\n__label__5 0.5\n"),
    "fastText lists": ("fasttext-lists", "", "__label__17 __label__3\n__label__5 __label__17\n"),
    "raw texts": ("json", TRUTH, '{"uid": "a", "target_ind": []}\n{"uid": "b", "target_ind": [3, 17]}\n'),
    "PECOS": ("json", SCORES, '{"data": [[17, 0.91], [3, 0.3]]}\n{"data": [[5, 0.5]]}\n'),
    "JSON lists": ("json", SCORES, '[{"label": 17, "score": 0.91}]\n[{"label": 3, "score": 0.3}]\n'),
    "CSV": ("csv", "", "row,label,score\n0,17,0.91\n0,3,0.3\n1,5,0.5\n"),
    "Parquet": ("parquet", "", parquet),
    "Feather": ("arrow", "", feather),
    "qrels": ("qrels", "", QRELS),
    "BEIR": ("beir", "", "query-id\tcorpus-id\tscore\nq1\tdoc7\t1\nq2\tdoc9\t1\n"),
    "run": ("run", "", "q1 Q0 doc7 1 3.5 bm25\nq1 Q0 doc9 2 1.25 bm25\nq2 Q0 doc7 1 2 bm25\n"),
    "MS MARCO": ("short-run", "", "q1\tdoc7\t1\nq1\tdoc9\t2\nq2\tdoc7\t1\n"),
    "ranx": ("json-queries", "", '{"q1": {"doc7": 1, "doc9": 0}, "q2": {"doc7": 2}}'),
    "npz": ("npz", "", npz),
    "npz arrays": ("npz-arrays", "", npz_arrays),
    "pair": ("npy-pair", "", pair),
    "ranked array": ("npy-ranked", "", lambda: npy([[17, 3], [5, 8]])),
    "dense array": ("npy", "", lambda: npy([[0.91, 0.1, 0.3], [0.2, 0.5, 0.4]])),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_read_as_its_format(example):
    name, role, content = EXAMPLES[example]
    names = judgments = None
    if name in NAMES:
        Path("names").write_text("\n".join(NAMES[name]) + "\n")
        names = read_names("names")
    if "run" in name or name == "json-queries":
        Path("truth").write_text(QRELS)
        judgments = open_truth("truth").judgments
    if callable(content):
        content()
    else:
        Path("x").write_text(content, newline="")
    for each in [role] if role else FORMATS[name].holds:
        opened = open_truth("x", names=names) if each == TRUTH else open_scores("x", names=names, judgments=judgments)
        assert opened.format is FORMATS[name]
        assert FORMATS[name].title in opened.description or name == "json-queries"
        rows = [block.rows(Scratch()) for block in opened.source.blocks()]
        assert sum(len(part.indices) for part in rows) > 0


def test_every_format_has_an_example_and_every_grammar_a_format():
    assert {name for name, _, _ in EXAMPLES.values()} | {"frame"} == set(FORMATS)  # frames are in memory
    assert set(GRAMMARS) <= set(FORMATS)
    assert len({known.title for known in FORMATS.values()}) == len(FORMATS)
