"""The plan of a benchmark: what files mean, and the message on every mistake in them; see support/approved.py."""

from pathlib import Path

import pytest
from support.approved import check

from xmceval.benchmarks.benchmark import read_plan
from xmceval.errors import DataError
from xmceval.rows.shards import Shards

FILES = [f"data/{folder}/{name}.txt" for folder in ("Bibtex", "Delicious", "ours", "d[1]*") for name in ("tst", "trn")]
FILES += [f"runs/{folder}/{name}.npz" for folder in ("Bibtex", "ours", "d[1]*") for name in ("pecos", "seed1", "seed2")]
OURS_ONLY = "seed10.npz", "part-2.txt", "part-11.txt", "p-1-labels.npy", "p-1-scores.npy", "one-scores.npy", "br.npz"
FILES += [f"runs/ours/{name}" for name in OURS_ONLY]
FILES += ["data/ours/t-10.txt", "data/ours/t-9.txt", "exp[1]/runs/ours/part-1.txt", "exp[1]/runs/ours/part-2.txt"]

BIBTEX = '[datasets.Bibtex]\ntruth = "data/Bibtex/tst.txt"\n'
OURS = '[datasets.ours]\ntruth = "data/ours/tst.txt"\n'
PECOS = '[systems]\nPECOS = "runs/{dataset}/pecos.npz"\n'


@pytest.fixture(autouse=True)
def files():
    for name in FILES:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("x")
    Path("blank.txt").write_text("\n")
    Path("list.txt").write_text("runs/ours/part-11.txt\nruns/ours/part-2.txt\n")


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
    if isinstance(value, Shards):
        return tuple(map(str, value.parts))
    return str(value) if isinstance(value, Path) else value


SHOWN = "train", "filter", "dataset", "ties", "by_frequency", "threads"


def describe(plan):
    """Yield what a plan holds, one line for each part of it."""
    yield f"columns: {', '.join(map(str, plan.measures))}; against: {plan.testing.against}"
    for dataset in plan.datasets:
        options = dataset.options
        passed = {name: names(getattr(options, name)) for name in SHOWN if getattr(options, name) is not None}
        yield f"{dataset.name}: truth {names(dataset.truth)}, {', '.join(map(str, options.measures))}, {passed}"
        yield from dataset.notes
        lines = [*dataset.why.splitlines(), *dataset.lacking.splitlines()]
        yield from (f"{dataset.name} fails: {line}" for line in lines)
    for system in plan.systems:
        source = names(dict(system.predictions)) if system.published is None else f"published {system.published}"
        yield f"{system.name}: {source}{f', missing {system.missing}' if system.missing else ''}"


PLANS = {
    "what belongs together": """
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
    "a data set of the catalogue has its constants unless it names another": f"""
[datasets."eur-lex"]
truth = "data/ours/tst.txt"
[datasets.Delicious]
truth = "data/Delicious/tst.txt"
dataset = "Amazon-3M"
{OURS}
[systems]
x = "runs/ours/pecos.npz"
""",
    "a pattern is shards in a string and seeds in runs": """
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
""",
    "the folder of a data set is no pattern": """
[datasets."d[1]*"]
truth = "data/{dataset}/t*"
[systems]
one = "runs/{dataset}/seed2.npz"
seeds = { runs = "runs/{dataset}/s*.npz" }
""",
    "what is missing is no mistake": f"""
{BIBTEX}{OURS}[systems]
BR = "runs/{{dataset}}/br.npz"
Ours = ["runs/{{dataset}}/seed1.npz", "runs/{{dataset}}/seed2.npz", "runs/{{dataset}}/seed10.npz"]
shards = "runs/{{dataset}}/seed1*"
single = {{ paths.Bibtex = "runs/Bibtex/pecos.npz" }}
""",
    "columns without their inputs are left out": f"""
metrics = "P,PSP,macroF1(over=train)@1"
k = 1
by_frequency = "head,tail"
{BIBTEX}
[datasets.Delicious]
truth = "data/Delicious/tst.txt"
inverse_propensities = "data/Delicious/trn.txt"
{OURS}train = "data/ours/trn.txt"
{PECOS}""",
    "a data set without its files fails, and the others do not": f"""
{BIBTEX}metrics = "P@1"
[datasets.Delicious]
truth = "data/{{dataset}}/none.txt"
train = "data/Delicious/trn.txt"
[datasets.ours]
metrics = "P,PSP@1"
truth = "data/ours/tst.txt"
train = "data/{{dataset}}/none-*"
filter = "@none.txt"
{PECOS}""",
    "what a store does not tell is not missing": f"""
{BIBTEX}[systems]
a = "nosuch://x/a.npz"
b = "nosuch://x/b-*"
""",
    "one truth may be scored in two ways": f"""
{BIBTEX}[datasets.filtered]
folder = "Bibtex"
truth = "data/Bibtex/tst.txt"
filter = "data/ours/trn.txt"
{PECOS}""",
}


def test_plans_are_as_they_were_approved():
    texts = (f"=== {name}\n" + "\n".join(describe(plan_of(text, threads=3))) for name, text in PLANS.items())
    check(__file__, "plans.txt", "\n\n".join(texts) + "\n")


def test_a_pattern_for_one_data_set_is_one_file_or_its_shards_where_others_have_runs():
    text = f"""
{BIBTEX}{OURS}[datasets."d[1]*"]
truth = "data/{{dataset}}/tst.txt"
[systems.x]
runs = "runs/{{dataset}}/seed*.npz"
paths = {{ ours = "runs/{{dataset}}/part-*", "d[1]*" = "runs/{{dataset}}/pecos.npz" }}
"""
    [system] = plan_of(text).systems
    assert names(system.predictions) == {
        "Bibtex": ["runs/Bibtex/seed1.npz", "runs/Bibtex/seed2.npz"],
        "ours": ("runs/ours/part-2.txt", "runs/ours/part-11.txt"),
        "d[1]*": "runs/d[1]*/pecos.npz",
    }


def test_missing_predictions_are_mistakes_where_they_must_not_be():
    assert mistakes_in(PLANS["what is missing is no mistake"], strict=True) == [
        "benchmark.toml [systems]: BR on Bibtex: no file runs/Bibtex/br.npz",
        "benchmark.toml [systems]: Ours on Bibtex: no file runs/Bibtex/seed10.npz",
        "benchmark.toml [systems.single]: single on ours: no path is given",
    ]


def test_paths_are_relative_to_the_file_and_addresses_are_left_alone(tmp_path, monkeypatch):
    pytest.importorskip("fsspec").filesystem("memory").pipe("/c/t.txt", b"x")
    text = '[datasets.ours]\ntruth = "memory://c/t.txt"\n[systems]\nx = "runs/{dataset}/part-*"\n'
    plan = plan_of(text, "exp[1]/benchmark.toml")
    assert str(plan.datasets[0].truth) == "memory://c/t.txt"
    assert names(plan.systems[0].predictions) == {"ours": tuple(f"exp[1]/runs/ours/part-{i}.txt" for i in (1, 2))}
    monkeypatch.chdir(tmp_path / "runs")
    source = {"datasets": {"ours": {"truth": "../data/ours/tst.txt"}}, "systems": {"x": "{dataset}/pecos.npz"}}
    assert names(read_plan(source).systems[0].predictions) == {"ours": "ours/pecos.npz"}


# Below the data set Bibtex.
BELOW = [
    'tuth = "t"', 'weights = "w"', "A = 0.5", "xyz = 1", "seed = 3", "folder = 3", "ceiling = 1",
    "a = '0.5'", "threshold = true", "metrics = [1]", "dataset = 3", "max_line = 0", "metrics = 'PSPP'",
    "metrics = 'RR@20000'", "train = ''", "train = 3", "filter = ['a']", "train = 'data/{dataset}/no.txt'",
    "train = ['no-*']", "train = 'no-*'", "train = '@blank.txt'", "counts = 'data/ours/trn.txt'",
    "counts = 'data/ours/trn.txt'\nn_train = 3\ntrain = 'data/ours/trn.txt'", "metrics = 'PSP@1'",
    r'train = "data\new.txt"',
]  # fmt: skip
# Above the first table.
ABOVE = [
    "agianst = 'PECOS'", "truth = 't'", "against = 'Pecos'", "against = 3", "test = 'u'", "k = 0",
    "labels = 'no.txt'", "ties = 'best'\nby_frequency = 2",
]  # fmt: skip
# Further systems.
SYSTEMS = [
    "x = 3", "x = []", "x = ''", "x = ['']", "x = [1]", "a = 'runs/no.npz'", "k = '{dataset}.npz'",
    "x = { pth = 'runs/Bibtex/seed1.npz', path = 'runs/Bibtex/seed1.npz' }", "x = { source = 'y' }",
    "x = { source = 3, path = 'runs/Bibtex/seed1.npz' }", "x = { path = 'a', runs = 'a' }",
    "x = { runs = 3 }", "x = { path = 'runs/Bibtex/seed1.npz', paths = 3 }", "x = { paths.Bibtex = 3 }",
    "x = { path = 'runs/Bibtex/seed1.npz', paths.Bibtx = 'a' }", "x = 'runs/{dataset}/no.npz'",
    "x = ['no1', 'no2', 'no3']", "against = 'PECOS'", "x = { published = true }",
    "x = { published = {}, path = 'a' }",
    "x = { published = {}, paths = {} }", "x = { published.Bibtx = {} }", "x = { published.Bibtex = 3 }",
    "x = { published.Bibtex = { 'Q@1' = 3 } }", "x = { published.Bibtex = { 'P@7' = 3 } }",
    "x = { published.Bibtex = { 'P@1' = 'a' } }",
    "x = { published.Bibtex = { 'P@1' = 0.6453, 'P@3' = 0.3 } }", r'x = "runs\new.npz"',
]  # fmt: skip
# Whole files.
WHOLE = [
    PECOS,
    f"datasets = 3\n{PECOS}",
    f"[datasets]\nours = 't'\n{PECOS}",
    f"{BIBTEX}[datasets.x]\nfolder = 'ours'\n{PECOS}",
    f"{BIBTEX}[datasets.ours]\ntruth = 3\n{PECOS}",
    f"[datasets.Bibtex]\ntruth = 'no-*'\n[datasets.ours]\ntruth = 'no.txt'\ntrain = 'no.txt'\n{PECOS}",
    BIBTEX,
    f"systems = 3\n{BIBTEX}",
    f"{BIBTEX}[systems]\nx = {{ published = {{}} }}",
    f"against = 'x'\n{BIBTEX}{PECOS}x = {{ published = {{}} }}",
    f"{BIBTEX}{PECOS}x = [",
    f"{BIBTEX}{PECOS}{BIBTEX}",
    f"k = 1\nk = 2\n{BIBTEX}{PECOS}",
    f"metrics = P@1\n{BIBTEX}{PECOS}",
    r'x = "C:\Users\x.txt"',
    f"{BIBTEX}train 3",
    b"# \xe9\n# \xff",
    f"{BIBTEX}k = 0\ntest = 't'\n{OURS}train = 'no.txt'\n{PECOS}x = 3\nagainst = 3\n",
    f"k = 0\n{BIBTEX}{OURS}{PECOS}",
]


# The text before, the mistakes, and the text after.
PLACES = {
    "below": (BIBTEX, BELOW, f"\n{PECOS}"),
    "above": ("", ABOVE, f"\n{BIBTEX}{PECOS}"),
    "systems": (f"metrics = 'P,nDCG'\n{BIBTEX}{PECOS}", SYSTEMS, "\n"),
    "whole": ("", WHOLE, ""),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_mistake_is_told_as_it_was_approved(place):
    before, texts, after = PLACES[place]
    files = [text if isinstance(text, bytes) else f"{before}{text}{after}" for text in texts]
    lines = ["\n--- ".join([str(text), *mistakes_in(file)]) for text, file in zip(texts, files, strict=True)]
    check(__file__, f"mistakes {place}.txt", "\n\n".join(lines) + "\n")


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
