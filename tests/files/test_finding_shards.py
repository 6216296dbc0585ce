"""Finding shards: patterns in natural order, lists and directories, and names that belong together."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from support.asked import refused

import xmceval
from xmceval import DataError
from xmceval.files.shards import check_pairing, find_shards
from xmceval.rows.shards import Shards


def touch(*names):
    for name in names:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("x")


def names_of(value, **how):
    return [str(each) for each in find_shards(value, **how).parts]


def test_a_pattern_stands_for_files_in_natural_order():
    touch("t-10.npz", "t-9.txt", "t-1.txt.gz", "t-100.npz", "other.txt")
    Path("t-5").mkdir()
    assert names_of("t-*") == ["t-1.txt.gz", "t-9.txt", "t-10.npz", "t-100.npz"]
    assert names_of(Path("t-1[0-9]*")) == ["t-10.npz", "t-100.npz"]
    assert find_shards("t-*").name == "t-*"


def test_an_address_of_local_files_may_be_a_pattern(tmp_path):
    touch("d/t-10.txt", "d/t-9.txt")
    expected = [str(tmp_path / "d" / name) for name in ("t-9.txt", "t-10.txt")]
    assert names_of(f"file://{tmp_path}/d/t-*") == expected
    assert names_of(f"file://{tmp_path}/d/*") == expected


def test_the_two_files_of_a_pair_are_one_shard():
    touch("p-2-scores.npy", "p-2-labels.npy", "p-10-labels.npy", "p-10-scores.npy", "p-1-labels.npy.gz")
    assert names_of("p-*") == ["p-1-labels.npy.gz", "p-2-labels.npy", "p-10-labels.npy"]


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


def test_messages_of_shards_name_the_pattern_and_those_of_a_shard_its_file(run):
    for folder in ("t", "p", "q"):
        Path(folder).mkdir()
        for i in (1, 2, 3):
            Path(folder, f"{i}.txt").write_text("0:1\n")
    Path("p/3.txt").unlink()
    message = "Error: t: 3 shards, p/*.txt: 2 shards (t/3.txt has no partner in p/*.txt); "
    assert run("score", "t/*", "p/*.txt")[2].startswith(message)
    Path("q/2.txt").write_text("0:1\n1:1\n")
    assert "q/2.txt" in run("score", "t/*", "q/*")[2]
    Path("q/2.txt").write_text("0:x\n")
    assert "q/2.txt:1: " in run("score", "t/*", "q/*")[2]


def test_patterns_are_told_apart_by_their_folders(run):
    for path in ("t", "a/x", "b/x"):
        Path(path).mkdir(parents=True)
        Path(path, "1.txt").write_text("0:1\n1:1\n")

    def names(*patterns):
        written = run("score", "t/*", *patterns, "-m", "P@1", "-o", "json", "-q")[1]
        return [system["name"] for system in json.loads(written)["systems"]]

    assert names("a/x/*", "b/x/*") == ["a/x", "b/x"]
    assert names("a/x/*", "t/*") == ["x", "t"]
    assert names("a/x/*.txt", "b/x/*.txt", "t/1.txt") == ["a/x/*.txt", "b/x/*.txt", "1"]


def test_a_list_keeps_its_order():
    touch("b", "a")
    Path("list.txt").write_text("b\n\n a \r\n")
    assert names_of("@list.txt") == ["b", "a"]
    Path("list.txt").write_text("\n")
    with pytest.raises(DataError, match=r"^list.txt: has no lines; expected one path of a shard per line$"):
        find_shards("@list.txt")


def test_a_pattern_stands_for_the_files_of_a_directory():
    touch("d[1]/b2", "d[1]/b10", "d[1]/.hidden")
    assert names_of("d[[]1]/*") == ["d[1]/b2", "d[1]/b10"]
    assert find_shards("d[1]") == Path("d[1]")
    Path("empty").mkdir()
    with pytest.raises(DataError, match=r"^empty/\*: no file matches this pattern$"):
        find_shards("empty/*")


def test_a_folder_of_tables_stands_for_its_files_and_hidden_files_are_none():
    touch(
        "d/part-10.parquet", "d/part-9.parquet", "d/_SUCCESS", "d/.part-9.parquet.crc", "e/a.csv.gz", "f/a.csv", "f/b"
    )
    expected = ["d/part-9.parquet", "d/part-10.parquet"]
    for value in ("d", "d/", Path("d"), "d/*", f"file://{Path.cwd()}/d"):
        assert [Path(part).name for part in names_of(value)] == [Path(part).name for part in expected]
    assert names_of("d/_*") == ["d/_SUCCESS"]
    assert names_of("e") == ["e/a.csv.gz"]
    assert find_shards("f") == Path("f")  # may hold anything


def test_a_file_that_is_listed_twice_is_refused():
    touch("a", "b")
    Path("c").symlink_to("a")
    Path("list.txt").write_text("a\nb\na\n")
    for value in (["a", "b", "./a"], "@list.txt", xmceval.Shards(["a", "a"]), ["a", "c"]):
        with pytest.raises(DataError, match=r": (a|./a|c) is listed twice"):
            find_shards(value)


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


PAIRS = [
    ("t-0 t-1 t-2", "p-0 p-1 p-2"),
    ("t-0 t-1 t-2", "p-1.txt p-2.txt.gz p-3.npz"),  # one counts from 1
    ("t-00009 t-00010", "run2/p-9-of-10 run2/p-10-of-10"),
    ("t-aa t-ab t-ac", "p-aa.npz p-ab.npz p-ac.npz"),
    ("aa_truth aab_truth", "aa_preds aab_preds"),
    ("s1/truth s2/truth", "s1/preds s2/preds"),
]
APART = [
    ("t-1 t-2 t-4", "p-1 p-2 p-3"),
    ("de en fr", "english french german"),
    ("t-1 t-2 t-3", "p-a p-b p-c"),
    ("t-1 t-2", "p-2 p-1"),
]


def shards(names, is_listed=False):
    return Shards(names.split(), names, is_listed)


@pytest.mark.parametrize(("truth", "scores"), PAIRS)
def test_names_that_belong_together(truth, scores):
    check_pairing(shards(truth), shards(scores))


@pytest.mark.parametrize(("truth", "scores"), APART)
def test_names_that_do_not(truth, scores):
    first = next(i for i in range(3) if truth.split()[i].strip("-t") != scores.split()[i].strip("-p"))
    expected = f"{truth.split()[first]} would be scored with {scores.split()[first]}, shard {first + 1} of each"
    with pytest.raises(DataError, match=re.escape(expected)):
        check_pairing(shards(truth), shards(scores))
    if truth.startswith(("de", "t-1 t-2 t-")):
        check_pairing(shards(truth, True), shards(scores, True))  # whoever lists them knows their order


def test_lists_in_another_order_are_refused_too():
    with pytest.raises(DataError, match="t-2 would be scored with p-10"):
        check_pairing(shards("t-1 t-2 t-10", True), shards("p-1 p-10 p-2", True))


def test_numbers_of_shards_must_agree():
    with pytest.raises(DataError, match=re.escape(": 3 shards, p-1 p-3: 2 shards (t-2 has no partner in p-1 p-3);")):
        check_pairing(shards("t-1 t-2 t-3"), shards("p-1 p-3"))
    refused(r"^array: 2 shards, array: 3 shards; expected a shard of pred", [np.eye(2)] * 2, [np.eye(2)] * 3)
    check_pairing(shards("t-1 t-2 t-3"), "p.txt")
    check_pairing("t.txt", shards("p-7 p-9"))
