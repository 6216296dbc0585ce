"""The plan of a benchmark: what a file or dict of it means, and the message on every mistake in it."""

import os
from pathlib import Path

import numpy as np
import pytest

from xmceval.benchmarks.plan import read_plan
from xmceval.errors import DataError
from xmceval.rows.shards import Shards

FOLDERS = "Bibtex", "Delicious", "ours"

FILES = [f"data/{folder}/{name}.txt" for folder in FOLDERS for name in ("tst", "trn")]
FILES += [f"runs/{folder}/{name}.npz" for folder in FOLDERS for name in ("pecos", "seed1", "seed2", "seed10")]

BIBTEX = '[datasets.Bibtex]\ntruth = "data/Bibtex/tst.txt"\n'
OURS = '[datasets.ours]\ntruth = "data/ours/tst.txt"\n'
PECOS = '[systems]\nPECOS = "runs/{dataset}/pecos.npz"\n'


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    touch(*FILES)


def touch(*names):
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("x")


def plan_of(text, name="benchmark.toml", **how):
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_plan(name, **how)


def system_of(plan, name="PECOS"):
    return next(system for system in plan.systems if system.name == name)


def names(predictions):
    if isinstance(predictions, list):
        return [names(run) for run in predictions]
    return tuple(map(str, predictions.parts)) if isinstance(predictions, Shards) else str(predictions)


def test_a_file_says_what_belongs_together():
    plan = plan_of(
        """
        metrics = "P@1,3"
        ties = "expected"
        against = "PECOS"
        train = "data/{dataset}/trn.txt"
        [datasets.Bibtex]
        truth = "data/Bibtex/tst.txt"
        ties = "label"
        [datasets.mine]
        folder = "ours"
        truth = "data/ours/tst.txt"
        metrics = ["P@1", "nDCG@5"]
        [systems]
        ours = { runs = ["runs/{dataset}/seed1.npz", "runs/{dataset}/seed2.npz"] }
        [systems.Parabel]
        published.Bibtex = { "P@1" = 64.53, "precision@3" = 38.56 }
        [systems.PECOS]
        path = "runs/{dataset}/pecos.npz"
        paths."mine" = "runs/ours/seed10.npz"
        """,
        threads=3,
    )
    assert plan.file == Path("benchmark.toml")
    assert [system.name for system in plan.systems] == ["ours", "Parabel", "PECOS"]
    assert [str(each) for each in plan.measures] == ["P@1", "P@3", "nDCG@5"]
    assert (plan.testing.against, plan.testing.test, plan.testing.adjust) == ("PECOS", "t", "holm")
    bibtex, mine = plan.datasets
    assert (bibtex.name, mine.name) == ("Bibtex", "mine")
    assert (bibtex.truth, mine.truth) == (Path("data/Bibtex/tst.txt"), Path("data/ours/tst.txt"))
    assert (bibtex.options.train, mine.options.train) == (Path("data/Bibtex/trn.txt"), Path("data/ours/trn.txt"))
    assert (bibtex.options.ties, mine.options.ties) == ("label", "expected")
    assert (bibtex.options.dataset, mine.options.dataset) == ("Bibtex", None)
    assert [(d.options.threads, [str(each) for each in d.options.measures]) for d in plan.datasets] == [
        (3, ["P@1", "P@3"]),
        (3, ["P@1", "nDCG@5"]),
    ]
    ours, pecos, parabel = system_of(plan, "ours"), system_of(plan), system_of(plan, "Parabel")
    assert names(ours.predictions["mine"]) == ["runs/ours/seed1.npz", "runs/ours/seed2.npz"]
    assert names(pecos.predictions["Bibtex"]) == "runs/Bibtex/pecos.npz"
    assert names(pecos.predictions["mine"]) == "runs/ours/seed10.npz"
    assert parabel.published == {"Bibtex": {"P@1": 0.6453, "P@3": 0.3856}}


def test_a_data_set_of_the_catalogue_has_its_constants_unless_it_names_another():
    aliases = '[datasets."eur-lex"]\ntruth = "data/ours/tst.txt"\n[datasets.Amazon-670K]\ntruth = "data/ours/tst.txt"\n'
    other = '[datasets.Delicious]\ntruth = "data/ours/tst.txt"\ndataset = "Amazon-3M"\n'
    text = f'{aliases}{other}{OURS}[systems]\nx = "runs/ours/pecos.npz"\n'
    options = [dataset.options for dataset in plan_of(text).datasets]
    assert [each.dataset for each in options] == ["EURLex-4K", "Amazon-670K", "Amazon-3M", None]


def test_a_pattern_is_shards_in_a_string_and_seeds_in_runs():
    touch("data/ours/t-10.txt", "data/ours/t-9.txt", "runs/ours/p-1-labels.npy", "runs/ours/p-1-scores.npy")
    touch("runs/ours/part-2.txt", "runs/ours/part-11.txt", "runs/ours/one-scores.npy")
    Path("list.txt").write_text("runs/ours/part-11.txt\nruns/ours/part-2.txt\n")
    text = """
        [datasets.ours]
        truth = "data/ours/t-*"
        train = ["data/ours/trn.txt", "data/ours/tst.txt"]
        [systems]
        shards = "runs/{dataset}/part-*"
        seeds = { runs = "runs/{dataset}/seed*.npz" }
        pairs = { runs = "runs/{dataset}/p-*" }
        pair = "runs/{dataset}/one"
        both = ["runs/{dataset}/part-*", "runs/{dataset}/pecos.npz"]
        """
    plan = plan_of(text)
    [dataset] = plan.datasets
    assert names(dataset.truth) == ("data/ours/t-9.txt", "data/ours/t-10.txt")
    assert dataset.truth.name == "t-*"
    assert names(dataset.options.train) == ("data/ours/trn.txt", "data/ours/tst.txt")
    shards = "runs/ours/part-2.txt", "runs/ours/part-11.txt"
    assert {system.name: names(system.predictions["ours"]) for system in plan.systems} == {
        "shards": shards,
        "seeds": [f"runs/ours/seed{i}.npz" for i in (1, 2, 10)],
        "pairs": ["runs/ours/p-1-labels.npy"],
        "pair": "runs/ours/one",
        "both": [shards, "runs/ours/pecos.npz"],
    }
    listed = system_of(plan_of(f'{OURS}[systems]\nlisted = "@list.txt"'), "listed")
    assert names(listed.predictions["ours"]) == shards[::-1]


def test_the_folder_of_a_data_set_is_no_pattern():
    touch("data/my [1]*/t-1.txt", "data/my [1]*/t-2.txt", "runs/my [1]*/s1.npz", "runs/my [1]*/s2.npz")
    text = """
        [datasets."my [1]*"]
        truth = "data/{dataset}/t-*"
        [systems]
        one = "runs/{dataset}/s2.npz"
        seeds = { runs = "runs/{dataset}/s*.npz" }
        """
    plan = plan_of(text)
    assert names(plan.datasets[0].truth) == tuple(f"data/my [1]*/t-{i}.txt" for i in (1, 2))
    assert [names(system.predictions["my [1]*"]) for system in plan.systems] == [
        "runs/my [1]*/s2.npz",
        [f"runs/my [1]*/s{i}.npz" for i in (1, 2)],
    ]


def test_paths_are_relative_to_the_file_and_addresses_are_left_alone(tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for name in ("b/runs/ours/pecos.npz", "b/t.txt", "c/t.txt"):
        store.pipe(f"/{name}", b"x")
    touch("exp[1]/runs/ours/part-1.txt", "exp[1]/runs/ours/part-2.txt")
    text = '[datasets.ours]\ntruth = "memory://c/t.txt"\n[systems]\nx = "runs/{dataset}/part-*"\n'
    plan = plan_of(text, "exp[1]/benchmark.toml")
    assert str(plan.datasets[0].truth) == "memory://c/t.txt"
    assert names(system_of(plan, "x").predictions["ours"]) == tuple(f"exp[1]/runs/ours/part-{i}.txt" for i in (1, 2))
    store.pipe("/b/benchmark.toml", f'[datasets.ours]\ntruth = "t.txt"\n{PECOS}'.encode())
    plan = read_plan("memory://b/benchmark.toml")
    assert str(plan.file) == "memory://b/benchmark.toml"
    assert str(plan.datasets[0].truth) == "memory://b/t.txt"
    assert names(system_of(plan).predictions["ours"]) == "memory://b/runs/ours/pecos.npz"
    monkeypatch.chdir(tmp_path / "runs")
    source = {"datasets": {"ours": {"truth": "../data/ours/tst.txt"}}, "systems": {"x": "{dataset}/pecos.npz"}}
    assert names(system_of(read_plan(source), "x").predictions["ours"]) == "ours/pecos.npz"


def test_in_a_dict_matrices_stand_for_files():
    truth, first, second = np.eye(3), np.eye(3), np.eye(3)[::-1]
    plan = read_plan(
        {
            "datasets": {"ours": {"truth": truth, "train": truth, "filter": np.array([[0, 1]]), "folder": "ours"}},
            "systems": {"a": first, "b": [second, np.eye(3)], "c": {"paths": {"ours": Path("runs/ours/pecos.npz")}}},
            "against": "b",
        }
    )
    [dataset] = plan.datasets
    assert dataset.truth is dataset.options.train is truth
    a, b, c = (system.predictions["ours"] for system in plan.systems)
    assert a is first
    assert b[0] is second
    assert len(b) == 2
    assert names(c) == "runs/ours/pecos.npz"
    assert plan.file is None


def test_what_is_missing_is_no_mistake_unless_it_must_not_be():
    touch("runs/ours/br.npz")
    os.remove("runs/Bibtex/seed2.npz")
    text = f"""{BIBTEX}{OURS}[systems]
BR = "runs/{{dataset}}/br.npz"
Ours = ["runs/{{dataset}}/seed1.npz", "runs/{{dataset}}/seed2.npz", "runs/{{dataset}}/seed10.npz"]
shards = "runs/{{dataset}}/seed1*"
single = {{ paths.Bibtex = "runs/Bibtex/pecos.npz" }}
"""
    plan = plan_of(text)
    assert {system.name: (list(system.predictions), dict(system.missing)) for system in plan.systems} == {
        "BR": (["ours"], {"Bibtex": "no file runs/Bibtex/br.npz"}),
        "Ours": (["ours"], {"Bibtex": "no file runs/Bibtex/seed2.npz"}),
        "shards": (["Bibtex", "ours"], {}),
        "single": (["Bibtex"], {"ours": "no path is given"}),
    }
    with pytest.raises(DataError) as error:
        plan_of(text, strict=True)
    assert str(error.value).split("\n") == [
        "benchmark.toml [systems]: BR on Bibtex: no file runs/Bibtex/br.npz",
        "benchmark.toml [systems]: Ours on Bibtex: no file runs/Bibtex/seed2.npz",
        "benchmark.toml [systems.single]: single on ours: no path is given",
    ]


def test_columns_without_their_inputs_are_left_out():
    text = f"""
metrics = "P,PSP,macroF1(over=train)@1"
k = 1
by_frequency = "head,tail"
{BIBTEX}
[datasets.Delicious]
truth = "data/Delicious/tst.txt"
inverse_propensities = "data/Delicious/trn.txt"
{OURS}train = "data/ours/trn.txt"
{PECOS}"""
    plan = plan_of(text)
    assert [str(each) for each in plan.measures] == ["P@1", "PSP@1", "macroF1(over=train)@1"]
    kept = {d.name: ([str(each) for each in d.options.measures], d.options.by_frequency) for d in plan.datasets}
    assert kept == {
        "Bibtex": (["P@1"], None),
        "Delicious": (["P@1", "PSP@1"], None),
        "ours": (["P@1", "PSP@1", "macroF1(over=train)@1"], "head,tail"),
    }
    assert [dataset.notes for dataset in plan.datasets] == [
        (
            "PSP@1 needs train, counts or inverse_propensities",
            "macroF1(over=train)@1 needs train or counts",
            "bins by frequency need train or counts",
        ),
        ("macroF1(over=train)@1 needs train or counts", "bins by frequency need train or counts"),
        (),
    ]


PUBLISHED = 'published must be values by data set, such as { Bibtex = { "P@1" = 64.53 } }'
BACKSLASH = "(hint: write paths with backslashes in single quotes, or with /)"
IS_ABOVE = "(hint: it belongs above the first table)"
BIBTEX_PLACE, X, ROW = " [datasets.Bibtex]: ", " [systems.x]: ", " [systems.x.published.Bibtex]: "

# What is below the data set Bibtex, or above it, and the message on it.
BELOW = [
    ('tuth = "t"', "unknown key 'tuth' (hint: truth)"),
    ('weights = "w"', "unknown key 'weights' (hint: sample_weight)"),
    ("A = 0.5", "unknown key 'A' (hint: a)"),
    ("xyz = 1", "unknown key 'xyz'"),
    ("seed = 3", f"seed is an option of the whole benchmark {IS_ABOVE}"),
    ("folder = 3", "folder must be a string, got 3"),
    ("ceiling = 1", "ceiling must be true or false, got 1"),
    ("a = '0.5'", "a must be a number, got '0.5'"),
    ("threshold = true", "threshold must be a number, got true"),
    ("metrics = [1]", "metrics must be a string or a list of strings, got a list"),
    ("dataset = 3", "dataset must be a string, got 3"),
    ("max_line = 0", "max_line must be a whole number of at least 1, got 0"),
    ("metrics = 'PSPP'", "unknown metric 'PSPP'; did you mean PSP? (hint: print(xmceval.METRICS) shows all)"),
    ("metrics = 'RR@20000'", "k = 20,000 is above 10,000, the deepest cutoff"),
    ("train = ''", "train must be a path or a list of paths, got ''"),
    ("train = 3", "train must be a path or a list of paths, got 3"),
    ("filter = ['a']", "filter must be a path, got a list"),
    ("train = 'data/{dataset}/no.txt'", "train: no file data/Bibtex/no.txt"),
    ("train = ['no-*']", "train: no file matches no-*"),
    ("train = 'no-*'", "train: no file matches no-*"),
    ("train = '@blank.txt'", "train: blank.txt: has no lines; expected one path of a shard per line"),
    ("counts = 'data/ours/trn.txt'", "counts need the number of training instances (hint: pass n_train)"),
    (
        "counts = 'data/ours/trn.txt'\nn_train = 3\ntrain = 'data/ours/trn.txt'",
        "pass one of train, counts, inverse_propensities, not train and counts",
    ),
    ("metrics = 'PSP@1'", "there is nothing to score: PSP@1 needs train, counts or inverse_propensities"),
    (r'train = "data\new.txt"', rf"train: no file data\new.txt {BACKSLASH}"),
]
ABOVE = [
    ("agianst = 'PECOS'", "unknown key 'agianst' (hint: against)"),
    ("truth = 't'", "unknown key 'truth'"),
    ("against = 'Pecos'", "against is 'Pecos'; expected one of PECOS (hint: PECOS)"),
    ("against = 3", "against must be a string, got 3"),
    ("test = 'u'", "test must be one of t, randomization, got 'u'"),
    ("k = 0", "k must be a whole number of at least 1, got 0"),
    ("labels = 'no.txt'", "labels: no file no.txt"),
    (
        "ties = 'best'\nby_frequency = 2",
        "by_frequency follows the order by label; it cannot be combined with ties='best'",
    ),
]
NO_SYSTEM = " [systems]: x must be a path, a list of paths or a table, got"
# Further systems.
SYSTEMS = [
    ("x = 3", f"{NO_SYSTEM} 3"),
    ("x = []", f"{NO_SYSTEM} a list"),
    ("x = ''", f"{NO_SYSTEM} ''"),
    ("x = ['']", f"{NO_SYSTEM} a list"),
    ("x = [1]", f"{NO_SYSTEM} a list"),
    ("a = 'runs/no.npz'", " [systems]: a has no predictions: no file runs/no.npz"),
    ("k = '{dataset}.npz'", " [systems]: k has no predictions: no file Bibtex.npz"),
    (
        "x = { pth = 'runs/Bibtex/seed1.npz', path = 'runs/Bibtex/seed1.npz' }",
        f"{X}unknown key 'pth' (hint: path)",
    ),
    ("x = { source = 'y' }", f"{X}x has no predictions (hint: path, runs, paths or published)"),
    ("x = { source = 3, path = 'runs/Bibtex/seed1.npz' }", f"{X}source must be a string, got 3"),
    ("x = { path = 'a', runs = 'a' }", f"{X}x has path and runs: expected one of them"),
    ("x = { runs = 3 }", f"{X}x must be a path, a list of paths or a table, got 3"),
    ("x = { path = 'runs/Bibtex/seed1.npz', paths = 3 }", f"{X}paths must be a table of paths by data set, got 3"),
    ("x = { paths.Bibtex = 3 }", f"{X}x must be a path, a list of paths or a table, got 3"),
    (
        "x = { path = 'runs/Bibtex/seed1.npz', paths.Bibtx = 'a' }",
        " [systems.x.paths]: unknown key 'Bibtx' (hint: Bibtex)",
    ),
    ("x = 'runs/{dataset}/no.npz'", " [systems]: x has no predictions: no file runs/Bibtex/no.npz"),
    ("x = ['no1', 'no2', 'no3']", " [systems]: x has no predictions: no file no1"),
    (
        "against = 'PECOS'",
        f" [systems]: against has no predictions: no file PECOS; against is an option {IS_ABOVE}",
    ),
    ("x = { published = true }", f"{X}{PUBLISHED}, got true"),
    ("x = { published = {}, path = 'a' }", f"{X}x has path and published: expected one of them"),
    ("x = { published.Bibtx = {} }", " [systems.x.published]: unknown key 'Bibtx' (hint: Bibtex)"),
    ("x = { published.Bibtex = 3 }", " [systems.x.published]: Bibtex must be values by metric, got 3"),
    (
        "x = { published.Bibtex = { 'Q@1' = 3 } }",
        f"{ROW}unknown metric 'Q@1' (hint: print(xmceval.METRICS) shows all)",
    ),
    (
        "x = { published.Bibtex = { 'P@7' = 3 } }",
        f"{ROW}P@7 is none of the columns P@1, P@3, P@5, nDCG@1, nDCG@3, nDCG@5",
    ),
    (
        "x = { published.Bibtex = { 'P@1' = 'a' } }",
        f"{ROW}P@1 must be a number, got 'a'",
    ),
    (
        "x = { published.Bibtex = { 'P@1' = 0.6453, 'P@3' = 0.3 } }",
        f"{ROW}0.6453 looks like a fraction, and published shares are in percent (hint: 64.53)",
    ),
    (r'x = "runs\new.npz"', rf" [systems]: x has no predictions: no file runs\new.npz {BACKSLASH}"),
]
WHOLE = [
    (PECOS, ': there is no data set (hint: [datasets.NAME] with truth = "FILE")'),
    (f"datasets = 3\n{PECOS}", ": datasets must be tables such as [datasets.NAME], got 3"),
    (f"[datasets]\nours = 't'\n{PECOS}", " [datasets]: ours must be a table with truth = \"FILE\", got 't'"),
    (
        f"{BIBTEX}[datasets.x]\nfolder = 'ours'\n{PECOS}",
        ' [datasets.x]: there is no truth (hint: truth = "FILE")',
    ),
    (
        f"{BIBTEX}[datasets.ours]\ntruth = 3\n{PECOS}",
        " [datasets.ours]: truth must be a path or a list of paths, got 3",
    ),
    (f"{BIBTEX}[datasets.ours]\ntruth = 'no.txt'\n{PECOS}", " [datasets.ours]: truth: no file no.txt"),
    (BIBTEX, ': there is no system (hint: [systems] NAME = "runs/{dataset}/NAME.npz")'),
    (f"systems = 3\n{BIBTEX}", ": systems must be a table of systems, got 3"),
    (
        f"{BIBTEX}[systems]\nx = {{ published = {{}} }}",
        " [systems]: there are published values only, and nothing to score",
    ),
    (f"against = 'x'\n{BIBTEX}{PECOS}x = {{ published = {{}} }}", ": against is 'x'; expected one of PECOS"),
    (f"{BIBTEX}{PECOS}x = [", ": is not valid TOML: invalid value"),
    (f"{BIBTEX}{PECOS}{BIBTEX}", ":5: is not valid TOML: cannot declare ('datasets', 'Bibtex') twice"),
    (f"k = 1\nk = 2\n{BIBTEX}{PECOS}", ":2: is not valid TOML: cannot overwrite a value"),
    (f"metrics = P@1\n{BIBTEX}{PECOS}", ":1: is not valid TOML: invalid value (hint: write text in quotes)"),
    (r'x = "C:\Users\x.txt"', f":1: is not valid TOML: invalid hex value {BACKSLASH}"),
    (f"{BIBTEX}train 3", ":3: is not valid TOML: expected '=' after a key in a key/value pair"),
    (b"# \xe9\n# \xff", ":1: is not UTF-8 text"),
    (f"k = 0\n{BIBTEX}{OURS}{PECOS}", ": k must be a whole number of at least 1, got 0"),  # once for all data sets
]


CASES = [
    *((f"{BIBTEX}{text}\n{PECOS}", f"{BIBTEX_PLACE}{message}") for text, message in BELOW),
    *((f"{text}\n{BIBTEX}{PECOS}", f": {message}") for text, message in ABOVE),
    *((f"metrics = 'P,nDCG'\n{BIBTEX}{PECOS}{text}\n", message) for text, message in SYSTEMS),
    *WHOLE,
]


@pytest.mark.parametrize(("text", "message"), CASES, ids=[message for _, message in CASES])
def test_a_mistake_is_told_with_its_file_and_table(text, message):
    touch("blank.txt")
    Path("blank.txt").write_text("\n")
    with pytest.raises(DataError) as error:
        plan_of(text)
    assert str(error.value) == f"benchmark.toml{message}"


def test_all_mistakes_are_told_at_once():
    with pytest.raises(DataError) as error:
        plan_of(f"{BIBTEX}k = 0\ntest = 't'\nties = 'x'\n{OURS}train = 'no.txt'\n{PECOS}x = 3\nagainst = 3\n")
    assert str(error.value).split("\n") == [
        f"benchmark.toml [datasets.Bibtex]: test is an option of the whole benchmark {IS_ABOVE}",
        "benchmark.toml [datasets.Bibtex]: ties must be one of label, expected, best, worst, got 'x'",
        "benchmark.toml [datasets.Bibtex]: k must be a whole number of at least 1, got 0",
        "benchmark.toml [datasets.ours]: train: no file no.txt",
        "benchmark.toml [systems]: x must be a path, a list of paths or a table, got 3",
        "benchmark.toml [systems]: against must be a path, a list of paths or a table, got 3",
    ]


def test_the_mistakes_of_a_dict_have_no_file():
    with pytest.raises(DataError) as error:
        read_plan({"datasets": {"ours": {"tuth": "t"}}, "systems": {"x": 3}, "against": "z"})
    assert str(error.value).split("\n") == [
        "[datasets.ours]: unknown key 'tuth' (hint: truth)",
        '[datasets.ours]: there is no truth (hint: truth = "FILE")',
        "[systems]: x must be a path, a list of paths or a table, got 3",
        "against is 'z'; expected one of x",
    ]


def test_secrets_of_addresses_are_not_shown():
    secret = "https://me:s3cret@host/f.npz?token=s3cret"
    with pytest.raises(DataError) as error:
        plan_of(f"""ties = '{secret}'
[datasets.x]
truth = ["{secret}\\new"]
[systems]
{PECOS.partition(chr(10))[2]}x = "{secret}\\new"
y = {{ published = '{secret}' }}
z = {{ paths = {{ "{secret}" = "a" }} }}""")
    assert "https://host/f.npz" in str(error.value)
    assert "s3cret" not in str(error.value)


def test_what_a_store_does_not_tell_is_not_missing():
    plan = plan_of(f'{BIBTEX}[systems]\na = "nosuch://x/a.npz"\nb = "nosuch://x/b-*"\n')
    assert [names(system.predictions["Bibtex"]) for system in plan.systems] == ["nosuch://x/a.npz", "nosuch://x/b-*"]


def test_one_truth_may_be_scored_in_two_ways():
    own = 'folder = "Bibtex"\ntruth = "data/Bibtex/tst.txt"\nfilter = "data/ours/trn.txt"\n'
    plan = plan_of(f"{BIBTEX}[datasets.filtered]\n{own}{PECOS}")
    assert list(map(names, system_of(plan).predictions.values())) == ["runs/Bibtex/pecos.npz"] * 2
