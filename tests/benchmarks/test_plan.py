"""The plan of a benchmark: what a file or dict of it means, and the message on every mistake in it."""

import os
from pathlib import Path

import pytest

from xmceval.benchmarks.benchmark import read_plan
from xmceval.errors import DataError
from xmceval.rows.shards import Shards

FOLDERS = "Bibtex", "Delicious", "ours"

PLACES = {"Bibtex": "Bibtex", "mine": "ours"}  # the folders of two data sets

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


def mistakes_in(source, **how):
    with pytest.raises(DataError) as error:
        read_plan(source, **how) if isinstance(source, dict) else plan_of(source, **how)
    return str(error.value).split("\n")


def names(value):
    """Return the names of files in place of paths: of shards a tuple, of runs a list, of mappings a dict."""
    if isinstance(value, dict):
        return {key: names(part) for key, part in value.items()}
    if isinstance(value, list):
        return [names(run) for run in value]
    return tuple(map(str, value.parts)) if isinstance(value, Shards) else str(value)


def predictions_of(plan):
    return {system.name: names(system.predictions) for system in plan.systems}


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
    assert [str(measure) for measure in plan.measures] == ["P@1", "P@3", "nDCG@5"]
    assert (plan.testing.against, plan.testing.test, plan.testing.adjust) == ("PECOS", "t", "holm")
    chosen = [
        (d.name, names(d.truth), names(d.options.train), d.options.ties, d.options.dataset) for d in plan.datasets
    ]
    assert chosen == [
        ("Bibtex", "data/Bibtex/tst.txt", "data/Bibtex/trn.txt", "label", "Bibtex"),
        ("mine", "data/ours/tst.txt", "data/ours/trn.txt", "expected", None),
    ]
    assert [(d.options.threads, list(map(str, d.options.measures))) for d in plan.datasets] == [
        (3, ["P@1", "P@3"]),
        (3, ["P@1", "nDCG@5"]),
    ]
    seeds = {name: [f"runs/{folder}/seed{i}.npz" for i in (1, 2)] for name, folder in PLACES.items()}
    assert predictions_of(plan) == {
        "ours": seeds,
        "Parabel": {},
        "PECOS": {"Bibtex": "runs/Bibtex/pecos.npz", "mine": "runs/ours/seed10.npz"},
    }
    assert plan.systems[1].published == {"Bibtex": {"P@1": 0.6453, "P@3": 0.3856}}


def test_a_data_set_of_the_catalogue_has_its_constants_unless_it_names_another():
    aliases = '[datasets."eur-lex"]\ntruth = "data/ours/tst.txt"\n[datasets.Amazon-670K]\ntruth = "data/ours/tst.txt"\n'
    other = '[datasets.Delicious]\ntruth = "data/ours/tst.txt"\ndataset = "Amazon-3M"\n'
    plan = plan_of(f'{aliases}{other}{OURS}[systems]\nx = "runs/ours/pecos.npz"\n')
    assert [d.options.dataset for d in plan.datasets] == ["EURLex-4K", "Amazon-670K", "Amazon-3M", None]


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
        listed = "@list.txt"
        """
    plan = plan_of(text)
    [dataset] = plan.datasets
    assert names(dataset.truth) == ("data/ours/t-9.txt", "data/ours/t-10.txt")
    assert dataset.truth.name == "t-*"
    assert names(dataset.options.train) == ("data/ours/trn.txt", "data/ours/tst.txt")
    shards = "runs/ours/part-2.txt", "runs/ours/part-11.txt"
    assert {name: by_dataset["ours"] for name, by_dataset in predictions_of(plan).items()} == {
        "shards": shards,
        "seeds": [f"runs/ours/seed{i}.npz" for i in (1, 2, 10)],
        "pairs": ["runs/ours/p-1-labels.npy"],
        "pair": "runs/ours/one",
        "both": [shards, "runs/ours/pecos.npz"],
        "listed": shards[::-1],
    }


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
    assert predictions_of(plan) == {
        "one": {"my [1]*": "runs/my [1]*/s2.npz"},
        "seeds": {"my [1]*": [f"runs/my [1]*/s{i}.npz" for i in (1, 2)]},
    }


def test_paths_are_relative_to_the_file_and_addresses_are_left_alone(tmp_path, monkeypatch):
    pytest.importorskip("fsspec").filesystem("memory").pipe("/c/t.txt", b"x")
    touch("exp[1]/runs/ours/part-1.txt", "exp[1]/runs/ours/part-2.txt")
    text = '[datasets.ours]\ntruth = "memory://c/t.txt"\n[systems]\nx = "runs/{dataset}/part-*"\n'
    plan = plan_of(text, "exp[1]/benchmark.toml")
    assert str(plan.datasets[0].truth) == "memory://c/t.txt"
    assert predictions_of(plan) == {"x": {"ours": tuple(f"exp[1]/runs/ours/part-{i}.txt" for i in (1, 2))}}
    monkeypatch.chdir(tmp_path / "runs")
    source = {"datasets": {"ours": {"truth": "../data/ours/tst.txt"}}, "systems": {"x": "{dataset}/pecos.npz"}}
    assert predictions_of(read_plan(source)) == {"x": {"ours": "ours/pecos.npz"}}


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
    assert mistakes_in(text, strict=True) == [
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
    assert [str(measure) for measure in plan.measures] == ["P@1", "PSP@1", "macroF1(over=train)@1"]
    chosen = [(list(map(str, d.options.measures)), d.options.by_frequency, d.notes) for d in plan.datasets]
    sources, f1 = "PSP@1 needs train, counts or inverse_propensities", "macroF1(over=train)@1 needs train or counts"
    bins = "bins by frequency need train or counts"
    assert chosen == [
        (["P@1"], None, (sources, f1, bins)),
        (["P@1", "PSP@1"], None, (f1, bins)),
        (["P@1", "PSP@1", "macroF1(over=train)@1"], "head,tail", ()),
    ]


PUBLISHED = 'published must be values by data set, such as { Bibtex = { "P@1" = 64.53 } }'
QUOTES = "(hint: write text in quotes, paths with backslashes in single ones)"
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
    (r'train = "data\new.txt"', rf"train: no file data\new.txt {QUOTES}"),
]
ABOVE = [
    ("agianst = 'PECOS'", ": unknown key 'agianst' (hint: against)"),
    ("truth = 't'", ": unknown key 'truth'"),
    ("against = 'Pecos'", ": against is 'Pecos'; expected one of PECOS (hint: PECOS)"),
    ("against = 3", ": against must be a string, got 3"),
    ("test = 'u'", ": test must be one of t, randomization, got 'u'"),
    ("k = 0", f"{BIBTEX_PLACE}k must be a whole number of at least 1, got 0"),
    ("labels = 'no.txt'", f"{BIBTEX_PLACE}labels: no file no.txt"),
    (
        "ties = 'best'\nby_frequency = 2",
        f"{BIBTEX_PLACE}by_frequency follows the order by label; it cannot be combined with ties='best'",
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
    ("x = { pth = 'runs/Bibtex/seed1.npz', path = 'runs/Bibtex/seed1.npz' }", f"{X}unknown key 'pth' (hint: path)"),
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
    ("against = 'PECOS'", " [systems]: against has no predictions: no file PECOS"),
    ("x = { published = true }", f"{X}{PUBLISHED}, got true"),
    ("x = { published = {}, path = 'a' }", f"{X}x has path and published: expected one of them"),
    ("x = { published.Bibtx = {} }", " [systems.x.published]: unknown key 'Bibtx' (hint: Bibtex)"),
    ("x = { published.Bibtex = 3 }", " [systems.x.published]: Bibtex must be values by metric, got 3"),
    ("x = { published.Bibtex = { 'Q@1' = 3 } }", f"{ROW}unknown metric 'Q@1' (hint: print(xmceval.METRICS) shows all)"),
    (
        "x = { published.Bibtex = { 'P@7' = 3 } }",
        f"{ROW}P@7 is none of the columns P@1, P@3, P@5, nDCG@1, nDCG@3, nDCG@5",
    ),
    ("x = { published.Bibtex = { 'P@1' = 'a' } }", f"{ROW}P@1 must be a number, got 'a'"),
    (
        "x = { published.Bibtex = { 'P@1' = 0.6453, 'P@3' = 0.3 } }",
        f"{ROW}0.6453 looks like a fraction, and published shares are in percent (hint: 64.53)",
    ),
    (r'x = "runs\new.npz"', rf" [systems]: x has no predictions: no file runs\new.npz {QUOTES}"),
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
    (f"{BIBTEX}{PECOS}x = [", f": is not valid TOML: Invalid value {QUOTES}"),
    (f"{BIBTEX}{PECOS}{BIBTEX}", ":5: is not valid TOML: Cannot declare ('datasets', 'Bibtex') twice"),
    (f"k = 1\nk = 2\n{BIBTEX}{PECOS}", ":2: is not valid TOML: Cannot overwrite a value"),
    (f"metrics = P@1\n{BIBTEX}{PECOS}", f":1: is not valid TOML: Invalid value {QUOTES}"),
    (r'x = "C:\Users\x.txt"', f":1: is not valid TOML: Invalid hex value {QUOTES}"),
    (f"{BIBTEX}train 3", ":3: is not valid TOML: Expected '=' after a key in a key/value pair"),
    (b"# \xe9\n# \xff", ":1: is not UTF-8 text"),
]


CASES = [
    *((f"{BIBTEX}{text}\n{PECOS}", f"{BIBTEX_PLACE}{message}") for text, message in BELOW),
    *((f"{text}\n{BIBTEX}{PECOS}", message) for text, message in ABOVE),
    *((f"metrics = 'P,nDCG'\n{BIBTEX}{PECOS}{text}\n", message) for text, message in SYSTEMS),
    *WHOLE,
]


@pytest.mark.parametrize(("text", "message"), CASES, ids=[message for _, message in CASES])
def test_a_mistake_is_told_with_its_file_and_table(text, message):
    touch("blank.txt")
    Path("blank.txt").write_text("\n")
    assert mistakes_in(text) == [f"benchmark.toml{message}"]


def test_all_mistakes_are_told_at_once():
    text = f"{BIBTEX}k = 0\ntest = 't'\n{OURS}train = 'no.txt'\n{PECOS}x = 3\nagainst = 3\n"
    assert mistakes_in(text) == [
        f"benchmark.toml [datasets.Bibtex]: test is an option of the whole benchmark {IS_ABOVE}",
        "benchmark.toml [datasets.Bibtex]: k must be a whole number of at least 1, got 0",
        "benchmark.toml [datasets.ours]: train: no file no.txt",
        "benchmark.toml [systems]: x must be a path, a list of paths or a table, got 3",
        "benchmark.toml [systems]: against must be a path, a list of paths or a table, got 3",
    ]


def test_the_mistakes_of_a_dict_have_no_file():
    assert mistakes_in({"datasets": {"ours": {"tuth": "t"}}, "systems": {"x": 3}, "against": "z"}) == [
        "[datasets.ours]: unknown key 'tuth' (hint: truth)",
        '[datasets.ours]: there is no truth (hint: truth = "FILE")',
        "[systems]: x must be a path, a list of paths or a table, got 3",
        "against is 'z'; expected one of x",
    ]


def test_secrets_of_addresses_are_not_shown():
    secret = "https://me:s3cret@host/f.npz?token=s3cret"
    lines = mistakes_in(f"""ties = '{secret}'
[datasets.x]
truth = ["{secret}\\new"]
[systems]
{PECOS.partition(chr(10))[2]}x = "{secret}\\new"
y = {{ published = '{secret}' }}
z = {{ paths = {{ "{secret}" = "a" }} }}""")
    assert any("https://host/f.npz" in line for line in lines)
    assert not any("s3cret" in line for line in lines)


def test_what_a_store_does_not_tell_is_not_missing():
    plan = plan_of(f'{BIBTEX}[systems]\na = "nosuch://x/a.npz"\nb = "nosuch://x/b-*"\n')
    assert predictions_of(plan) == {"a": {"Bibtex": "nosuch://x/a.npz"}, "b": {"Bibtex": "nosuch://x/b-*"}}


def test_one_truth_may_be_scored_in_two_ways():
    own = 'folder = "Bibtex"\ntruth = "data/Bibtex/tst.txt"\nfilter = "data/ours/trn.txt"\n'
    plan = plan_of(f"{BIBTEX}[datasets.filtered]\n{own}{PECOS}")
    assert predictions_of(plan) == {"PECOS": dict.fromkeys(("Bibtex", "filtered"), "runs/Bibtex/pecos.npz")}
