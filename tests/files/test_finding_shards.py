"""Finding shards: patterns in natural order, lists and directories, and names that belong together."""

# ruff: noqa: F401 - lines use what is imported here

import json
from pathlib import Path

import numpy as np
import pytest
from support.approved import check_lines

import xmceval
from xmceval import DataError
from xmceval.files.shards import check_pairing, find_shards
from xmceval.rows.shards import Shards


def names_of(value, **how):
    return [str(each) for each in find_shards(value, **how).parts]


def touch(*names):
    for name in names:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("x")


def test_shards_are_found_and_belong_together_as_these_lines_say(run):
    touch("t-10.npz", "t-9.txt", "t-1.txt.gz", "t-100.npz", "other.txt", "d[1]/b2", "d[1]/b10", "d[1]/.hidden")
    touch("p-2-scores.npy", "p-2-labels.npy", "p-10-labels.npy", "p-10-scores.npy", "p-1-labels.npy.gz", "a", "b")
    touch(
        "d/part-10.parquet", "d/part-9.parquet", "d/_SUCCESS", "d/.part-9.parquet.crc", "e/a.csv.gz", "f/a.csv", "f/b"
    )
    for folder in ("t-5", "empty", "T", "P", "Q", "x", "x/y", "z", "z/y"):
        Path(folder).mkdir()
    Path("c").symlink_to("a")
    here = Path.cwd()

    def listed(text):
        Path("list.txt").write_text(text)
        return "@list.txt"

    def fill(folder, *texts):
        for number, text in enumerate(texts, 1):
            Path(folder, f"{number}.txt").write_text(text)
        return f"{folder}/*"

    def names(*patterns):
        written = run("score", fill("T", "0:1\n1:1\n"), *patterns, "-m", "P@1", "-o", "json", "-q")[1]
        return [system["name"] for system in json.loads(written)["systems"]]

    check_lines(__file__, "finding shards.txt", globals() | locals())


def shards(names, is_listed=False):
    return Shards(names.split(), names, is_listed)


NAMES = {
    "t/*": "t",
    "./t/*": "t",
    "*": "here",
    "*/*": "*/*",
    "t/p-*": "t/p-*",
    "t/p-1.tx[t]": "t/p-1.tx[t]",
    "t*/*.txt": "t*/*.txt",
    "t/**": "t/**",
    "t/*.txt": "t/*.txt",
    "t/p-1.txt": "p-1.txt",
    "t/[x]": "[x]",
}


@pytest.mark.parametrize("pattern", NAMES)
def test_a_pattern_is_its_own_name_or_that_of_the_folder_whose_files_it_stands_for(run, monkeypatch, pattern):
    for folder in ("here/t", "here/u"):
        Path(folder).mkdir(parents=True)
    for name in ("t/p-1.txt", "t/p-2.txt", "t/[x]", "p", "u/q"):
        Path("here", name).write_text("0:1\n1:1\n0:1\n")
    monkeypatch.chdir("here")
    is_file, shards = pattern in {"t/p-1.txt", "t/[x]"}, find_shards(pattern)
    assert (shards if is_file else shards.name) == (Path(pattern) if is_file else NAMES[pattern])
    written = run("score", pattern, pattern, "--train", pattern, "-m", "P@1", "-m", "PSP@1", "-o", "json", "-q")[1]
    document = json.loads(written)
    [system] = document["systems"]
    # The name of a system leaves out the ending of a file.
    named = {document["truth"], system["scores"], document["options"]["train"], document["propensities"]["source"]}
    assert (named, system["name"]) == ({NAMES[pattern]}, "p-1" if pattern == "t/p-1.txt" else NAMES[pattern])
    assert [line["scores"] for line in xmceval.score_all(pattern, {"a": pattern}, metrics="P", k=1)["a"]._lines()] == [
        NAMES[pattern]
    ]


def test_anything_else_is_itself():
    touch("a", "a*", "b", "@b", "pair[1]-labels.npy")
    ids = [[1, 2], [3]]
    pair = (np.ones((2, 2)), np.ones((2, 2)))
    for value in ("a*", "@b", "pair[1]", "missing.txt", "-"):
        assert find_shards(value) == Path(value)
    for value in (None, pair, ids, pair[0], [], ["a*", 1]):
        assert find_shards(value) is value
    with pytest.raises(DataError, match=r"^x-\*: no file matches this pattern$"):
        find_shards("x-*")
    assert [len(find_shards(each)) for each in (["a", "b"], [Path("a"), "b"], [pair] * 2, [pair[0]] * 2)] == [2] * 4
