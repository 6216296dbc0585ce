"""The plan of a benchmark: what a file or dict of it means, and what is said of every mistake in it."""

import os
from pathlib import Path

import numpy as np
import pytest

from xmceval.api.benchmark.planning.published import keep_comparable
from xmceval.api.benchmark.readplan import read_plan
from xmceval.errors import DataError, UsageError
from xmceval.labels.catalogue import Sizes
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


def cells_of(plan, system="PECOS"):
    return {d.name: next(cell for cell in d.cells if cell.system == system) for d in plan.datasets}


def names(runs):
    return [[str(part) for part in run.parts] if isinstance(run, Shards) else str(run) for run in runs]


def test_a_file_says_what_belongs_together():
    plan = plan_of(
        """
        metrics = "P@1,3"
        ties = "expected"
        against = "PECOS"
        test = "randomization"
        train = "data/{dataset}/trn.txt"
        [datasets.Bibtex]
        truth = "data/Bibtex/tst.txt"
        ties = "label"
        [datasets.mine]
        folder = "ours"
        truth = "data/ours/tst.txt"
        metrics = ["P@1", "nDCG@5"]
        [systems]
        ours = { runs = ["runs/{dataset}/seed1.npz", "runs/{dataset}/seed2.npz"], name = "Ours" }
        Parabel = { published = true }
        [systems.PECOS]
        path = "runs/{dataset}/pecos.npz"
        paths."mine" = "runs/ours/seed10.npz"
        """,
        overrides={"k": 7, "test": "t"},
    )
    assert plan.file == Path("benchmark.toml")
    assert plan.systems == ("Ours", "Parabel", "PECOS")
    assert [str(each) for each in plan.measures] == ["P@1", "P@3", "nDCG@5"]
    assert (plan.testing.against, plan.testing.test, plan.testing.adjust) == ("PECOS", "t", "holm")
    bibtex, mine = plan.datasets
    assert (bibtex.name, mine.name) == ("Bibtex", "mine")
    assert (bibtex.truth, mine.truth) == (Path("data/Bibtex/tst.txt"), Path("data/ours/tst.txt"))
    assert (bibtex.options.train, mine.options.train) == (Path("data/Bibtex/trn.txt"), Path("data/ours/trn.txt"))
    assert (bibtex.options.ties, mine.options.ties) == ("label", "expected")
    assert (bibtex.options.dataset, mine.options.dataset) == ("Bibtex", None)
    assert [(d.options.k, [str(each) for each in d.options.measures]) for d in plan.datasets] == [
        (7, ["P@1", "P@3"]),
        (7, ["P@1", "nDCG@5"]),
    ]
    ours, pecos = cells_of(plan, "Ours"), cells_of(plan)
    assert names(ours["mine"].runs) == ["runs/ours/seed1.npz", "runs/ours/seed2.npz"]
    assert ours["mine"].is_averaged
    assert names(pecos["Bibtex"].runs) == ["runs/Bibtex/pecos.npz"]
    assert names(pecos["mine"].runs) == ["runs/ours/seed10.npz"]
    assert not pecos["mine"].is_averaged
    assert bibtex.published["Parabel"].values == {"P@1": 0.6453, "P@3": 0.3856}
    assert mine.unpublished == {"Parabel": "not in the catalogue"}


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
    [dataset] = plan_of(text).datasets
    assert names([dataset.truth]) == [["data/ours/t-9.txt", "data/ours/t-10.txt"]]
    assert dataset.truth.name == "t-*"
    assert names([dataset.options.train]) == [["data/ours/trn.txt", "data/ours/tst.txt"]]
    found = {cell.system: (names(cell.runs), cell.is_averaged) for cell in dataset.cells}
    shards = ["runs/ours/part-2.txt", "runs/ours/part-11.txt"]
    assert found == {
        "shards": ([shards], False),
        "seeds": ([f"runs/ours/seed{i}.npz" for i in (1, 2, 10)], True),
        "pairs": (["runs/ours/p-1-labels.npy"], True),
        "pair": (["runs/ours/one"], False),
        "both": ([shards, "runs/ours/pecos.npz"], True),
    }
    Path("blank.txt").write_text("\n")
    [dataset] = plan_of(f'{OURS}[systems]\nlisted = "@list.txt"\nblank = "@blank.txt"').datasets
    assert names(dataset.cells[0].runs) == [shards[::-1]]
    assert dataset.cells[1].runs == ("@blank.txt",)


def test_the_folder_of_a_data_set_is_no_pattern():
    touch("data/my [1]*/t-1.txt", "data/my [1]*/t-2.txt", "runs/my [1]*/s1.npz", "runs/my [1]*/s2.npz")
    text = """
        [datasets."my [1]*"]
        truth = "data/{dataset}/t-*"
        [systems]
        one = "runs/{dataset}/s2.npz"
        seeds = { runs = "runs/{dataset}/s*.npz" }
        """
    [dataset] = plan_of(text).datasets
    assert names([dataset.truth]) == [[f"data/my [1]*/t-{i}.txt" for i in (1, 2)]]
    assert [names(cell.runs) for cell in dataset.cells] == [
        ["runs/my [1]*/s2.npz"],
        [f"runs/my [1]*/s{i}.npz" for i in (1, 2)],
    ]


def test_paths_are_relative_to_the_file_and_addresses_are_left_alone(tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for name in ("b/runs/ours/pecos.npz", "b/t.txt", "c/t.txt"):
        store.pipe(f"/{name}", b"x")
    touch("exp[1]/runs/ours/part-1.txt", "exp[1]/runs/ours/part-2.txt")
    text = '[datasets.ours]\ntruth = "memory://c/t.txt"\n[systems]\nx = "runs/{dataset}/part-*"\n'
    [dataset] = plan_of(text, "exp[1]/benchmark.toml").datasets
    assert str(dataset.truth) == "memory://c/t.txt"
    assert names(dataset.cells[0].runs) == [[f"exp[1]/runs/ours/part-{i}.txt" for i in (1, 2)]]
    store.pipe("/b/benchmark.toml", f'[datasets.ours]\ntruth = "t.txt"\n{PECOS}'.encode())
    plan = read_plan("memory://b/benchmark.toml")
    assert str(plan.file) == "memory://b/benchmark.toml"
    assert str(plan.datasets[0].truth) == "memory://b/t.txt"
    assert names(cells_of(plan)["ours"].runs) == ["memory://b/runs/ours/pecos.npz"]
    monkeypatch.chdir(tmp_path / "runs")
    [cell] = read_plan(
        {"datasets": {"ours": {"truth": "../data/ours/tst.txt"}}, "systems": {"x": "{dataset}/pecos.npz"}}
    ).datasets[0].cells  # fmt: skip
    assert names(cell.runs) == ["ours/pecos.npz"]


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
    a, b, c = dataset.cells
    assert a.runs[0] is first
    assert b.runs[0] is second
    assert [each.is_averaged for each in dataset.cells] == [False, True, False]
    assert names(c.runs) == ["runs/ours/pecos.npz"]
    assert plan.file is None


def test_what_is_missing_is_no_mistake_unless_it_must_not_be():
    touch("runs/ours/br.npz")
    os.remove("runs/Bibtex/seed2.npz")
    text = f"""{BIBTEX}{OURS}[systems]
BR = "runs/{{dataset}}/br.npz"
Ours = ["runs/{{dataset}}/seed1.npz", "runs/{{dataset}}/seed2.npz", "runs/{{dataset}}/seed10.npz"]
shards = "runs/{{dataset}}/br*"
single = {{ paths.Bibtex = "runs/Bibtex/pecos.npz" }}
"""
    plan = plan_of(text.replace("br*", "seed1*"))
    br, ours, single = (cells_of(plan, name) for name in ("BR", "Ours", "single"))
    assert (br["Bibtex"].missing, br["Bibtex"].runs) == ("no file runs/Bibtex/br.npz", ())
    assert br["ours"].missing == ""
    warning = "Bibtex, Ours: no file runs/Bibtex/seed2.npz; the mean is over 2 of 3 runs"
    assert ours["Bibtex"].warnings == (warning,)
    assert ours["Bibtex"].is_averaged
    assert single["ours"].missing == "no path is given"
    with pytest.raises(DataError) as error:
        plan_of(text.replace('"runs/{dataset}/br*"', '"runs/{dataset}/part*"'), strict=True)
    assert str(error.value).split("\n") == [
        "benchmark.toml:6: Bibtex, BR: no file runs/Bibtex/br.npz",
        f"benchmark.toml:7: {warning}",
        "benchmark.toml:8: shards has no predictions: no file matches runs/Bibtex/part* and 1 other",
        "benchmark.toml:8: Bibtex, shards: no file matches runs/Bibtex/part*",
        "benchmark.toml:8: ours, shards: no file matches runs/ours/part*",
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


def test_what_a_data_set_has_itself_replaces_sources_at_the_top():
    text = f"""
a = 0.5
filter_truth = true
train = "data/{{dataset}}/trn.txt"
{BIBTEX}inverse_propensities = "data/Bibtex/trn.txt"
{OURS}filter = "data/ours/trn.txt"
{PECOS}"""
    bibtex, ours = (dataset.options for dataset in plan_of(text).datasets)
    assert (bibtex.sources, bibtex.a, bibtex.filter_truth) == (("inverse_propensities",), None, False)
    assert (ours.sources, ours.a, ours.filter_truth) == (("train",), 0.5, True)


def test_data_sets_of_the_catalogue_offer_published_rows_where_they_are_comparable():
    text = """
        metrics = "P@1,PSP@1"
        [datasets."eur-lex"]
        truth = "data/ours/tst.txt"
        train = "data/ours/trn.txt"
        [datasets.ours]
        catalogue = "eurlex 4k"
        truth = "data/ours/tst.txt"
        a = 0.6
        train = "data/ours/trn.txt"
        [datasets.Bibtex]
        catalogue = false
        truth = "data/Bibtex/tst.txt"
        [datasets.Delicious]
        truth = "data/Delicious/tst.txt"
        [systems]
        PECOS = { path = "runs/{dataset}/pecos.npz", paths.eur-lex = "runs/ours/seed1.npz" }
        parabel = { published = "Parabel", name = "Parabel (2018)" }
        AnnexML = { published = true }
        """
    alias, ours, bibtex, delicious = plan_of(text).datasets
    assert alias.entry.name == ours.entry.name == alias.options.dataset == ours.options.dataset == "EURLex-4K"
    assert (bibtex.entry, bibtex.options.dataset) == (None, None)
    assert set(alias.published["Parabel (2018)"].values) == {"P@1", "PSP@1"}
    assert set(ours.published["Parabel (2018)"].values) == {"P@1"}
    assert ours.notes == ("no published PSP@1: those of EURLex-4K have A=0.55 B=1.5",)
    assert set(delicious.published["Parabel (2018)"].values) == {"P@1"}
    assert delicious.notes == ("PSP@1 needs train, counts or inverse_propensities",)
    assert keep_comparable(alias, Sizes(15539, 3809, 3993)) is alias
    kept = keep_comparable(alias, Sizes(None, 439, 3993))
    assert kept.published == {}
    assert kept.unpublished["Parabel (2018)"] == "the sizes differ: 439 test instances, not 3,809"


OF_DATASET = "(hint: {dataset} in a path stands for the data set)"
NONE_OF_THESE = "Parabel is published for none of these data sets"
LISTED = "P@1, P@3, P@5, nDCG@1, nDCG@3, nDCG@5, PSP@1, PSP@3, PSP@5, PSnDCG@1, PSnDCG@3, PSnDCG@5"


def escape(path):
    plain = path.replace("\\", "/")
    return f'"{path}": a backslash in double quotes begins an escape (hint: write \'{path}\' or "{plain}")'


# What is below the data set Bibtex, from line 3 on, or above it, and what is said of it.
BELOW = [
    ('tuth = "t"', "3: unknown key 'tuth' in [datasets.Bibtex] (hint: truth)"),
    ('weights = "w"', "3: unknown key 'weights' in [datasets.Bibtex] (hint: sample_weight)"),
    ('A = 0.5', "3: unknown key 'A' in [datasets.Bibtex] (hint: a)"),
    ('xyz = 1', "3: unknown key 'xyz' in [datasets.Bibtex]"),
    ("seed = 3", "3: seed is an option of the whole benchmark (hint: it belongs above the first table)"),
    ("folder = 3", "3: folder in [datasets.Bibtex] must be a string, got 3"),
    ("ceiling = 1", "3: ceiling in [datasets.Bibtex] must be true or false, got 1"),
    ("a = '0.5'", "3: a in [datasets.Bibtex] must be a number, got '0.5'"),
    ("threshold = true", "3: threshold in [datasets.Bibtex] must be a number, got true"),
    ("metrics = [1]", "3: metrics in [datasets.Bibtex] must be a string or a list of strings, got a list"),
    ("dataset = 3", "3: dataset in [datasets.Bibtex] must be a string, got 3"),
    ("max_line = 0", "3: max_line must be a whole number of at least 1, got 0"),
    ("metrics = 'PSPP'", "3: unknown metric 'PSPP'; did you mean PSP? (hint: print(xmceval.METRICS) shows all)"),
    ("metrics = 'RR@20000'", "3: k = 20,000 is above 10,000, the deepest cutoff"),
    ("train = ''", "3: train in [datasets.Bibtex] must be a path or a list of paths, got ''"),
    ("train = 3", "3: train in [datasets.Bibtex] must be a path or a list of paths, got 3"),
    ("filter = ['a']", "3: filter in [datasets.Bibtex] must be a path, got a list"),
    ("train = 'data/{dataset}/no.txt'", "3: train in [datasets.Bibtex]: no file data/Bibtex/no.txt"),
    ("train = ['no-*']", "3: train in [datasets.Bibtex]: no file matches no-*"),
    ("train = 'no-*'", "3: train in [datasets.Bibtex]: no file matches no-*"),
    (
        "train = '@blank.txt'",
        "3: train in [datasets.Bibtex]: blank.txt: has no lines; expected one path of a shard per line",
    ),
    ("counts = 'data/ours/trn.txt'", "3: counts need the number of training instances (hint: pass n_train)"),
    (
        "counts = 'data/ours/trn.txt'\nn_train = 3\ntrain = 'data/ours/trn.txt'",
        "5: pass one of train, counts, inverse_propensities, not train and counts",
    ),
    (
        "metrics = 'PSP@1'",
        "1: [datasets.Bibtex] has nothing to score: PSP@1 needs train, counts or inverse_propensities",
    ),
    ("catalogue = true", "3: catalogue in [datasets.Bibtex] must be a name or false, got true"),
    ("catalogue = 'Bibtx'", "3: the catalogue has no data set 'Bibtx' (hint: Bibtex)"),
    ("catalogue = '?'", "3: the catalogue has no data set '?' (hint: xmceval datasets lists all)"),
    (r'train = "data\new.txt"', "3: " + escape(r'data\new.txt')),
    (r'train = "C:\Users\x.txt"', "3: " + escape(r'C:\Users\x.txt')),
    (r'train = "data\"', "3: " + escape("data\\")),
    (r'train = "a\\b" y', "3: expected newline or end of document after a statement"),
    ("train 3", "3: expected '=' after a key in a key/value pair"),
    ("[datasets.none]\nfolder = 'ours'", "3: [datasets.none] has no truth (hint: truth = \"FILE\")"),
    ("[datasets.ours]\ntruth = 3", "4: truth in [datasets.ours] must be a path or a list of paths, got 3"),
    ("[datasets.ours]\ntruth = 'no.txt'", "4: truth in [datasets.ours]: no file no.txt"),
    (
        "[datasets.x]\ntruth = 'data/ours/tst.txt'",
        "3: [datasets.x] has no predictions: no file runs/x/pecos.npz (hint: set folder to what {dataset} stands for)",
    ),
]  # fmt: skip
ABOVE = [
    ("agianst = 'PECOS'", "1: unknown key 'agianst' at the top (hint: against)"),
    ("truth = 't'", "1: truth belongs to a data set (hint: put it below [datasets.NAME])"),
    ("against = 'Pecos'", "1: against names 'Pecos', which is not one of the systems: PECOS (hint: PECOS)"),
    ("against = 3", "1: against must be a string, got 3"),
    ("test = 'u'", "1: test must be one of t, randomization, got 'u'"),
    ("k = 0", "1: k must be a whole number of at least 1, got 0"),
    ("labels = 'no.txt'", "1: labels of Bibtex: no file no.txt"),
    ("ties = 'best'\nby_frequency = 2",
     "2: by_frequency follows the order by label; it cannot be combined with ties='best'"),
]  # fmt: skip
# Further systems, from line 5 on.
SYSTEMS = [
    ("x = 3", "5: systems.x must be a path, a list of paths or a table, got 3"),
    ("x = []", "5: systems.x must be a path, a list of paths or a table, got an empty list"),
    ("x = ''", "5: systems.x must be a path, a list of paths or a table, got ''"),
    ("x = ['']", "5: systems.x must be a path, a list of paths or a table, got a list"),
    ("a = 'runs/no.npz'", "5: a has no predictions: no file runs/no.npz"),
    ("k = '{dataset}.npz'", "5: k has no predictions: no file Bibtex.npz"),
    ("a = 'runs/{Data}.npz'", "5: a has no predictions: no file runs/{Data}.npz (hint: {dataset}, not {Data})"),
    ("x = [1]", "5: systems.x must be a path, a list of paths or a table, got a list"),
    ("x = { pth = 'runs/Bibtex/seed1.npz' }", "5: unknown key 'pth' in [systems.x] (hint: path)"),
    ("x = { name = 'y' }", "5: [systems.x] has no predictions (hint: path, runs, paths or published)"),
    ("x = { path = 'a', runs = 'a' }", "5: [systems.x] has path and runs: expected one of them"),
    ("[systems.x]\nname = ''\npath = 'runs/Bibtex/seed1.npz'", "6: name in [systems.x] must be a string, got ''"),
    ("x = { path = ['a'] }", "5: systems.x.path must be a path, got a list"),
    ("x = { runs = 3 }", "5: systems.x.runs must be a list of paths or a pattern, got 3"),
    ("x = { paths = 3 }", "5: systems.x.paths must be a table of paths by data set, got 3"),
    ("x = { paths.Bibtex = 3 }", "5: systems.x.paths.Bibtex must be a path or a list of paths, got 3"),
    ("x = { paths.Bibtx = 'a' }", "5: unknown key 'Bibtx' in [systems.x.paths] (hint: Bibtex)"),
    ("x = { name = 'PECOS', path = 'runs/{dataset}/seed1.npz' }",
     "5: [systems.PECOS] and [systems.x] are both shown as 'PECOS'"),
    ("x = 'runs/./Bibtex/pecos.npz'", "5: PECOS and x have the same predictions: runs/Bibtex/pecos.npz"),
    ("x = ['runs/{dataset}/seed1.npz', 'runs/Bibtex/seed1.npz']",
     "5: runs/Bibtex/seed1.npz appears twice among the runs of x"),
    ("x = 'runs/{dataset}/no.npz'", "5: x has no predictions: no file runs/Bibtex/no.npz"),
    ("x = 'runs/{datset}/no.npz'",
     "5: x has no predictions: no file runs/{datset}/no.npz (hint: {dataset}, not {datset})"),
    ("x = ['no1', 'no2', 'no3']", "5: x has no predictions: no file no1 and 2 others"),
    ("against = 'PECOS'",
     "5: against has no predictions: no file PECOS; against is an option (hint: it belongs above the first table)"),
    ("x = { published = 3 }", "5: published in [systems.x] must be true or the name of a method, got 3"),
    ("x = { published = true, path = 'a' }", "5: [systems.x] has published and path: expected one of them"),
    ("x = { published = 'Parabell' }", "5: Parabell is published for none of these data sets (hint: Parabel)"),
    ("DiSMEC = { published = true }", "5: DiSMEC is published for none of these data sets: its row has no values"),
    ("Parabell = { published = true }", "5: Parabell is published for none of these data sets (hint: Parabel)"),
    (r'x = "runs\new.npz"', "5: " + escape(r'runs\new.npz')),
]  # fmt: skip
WHOLE = [
    (PECOS, ' there is no data set (hint: [datasets.NAME] with truth = "FILE")'),
    (f"datasets = 3\n{PECOS}", "1: datasets must be tables such as [datasets.NAME], got 3"),
    (f"[datasets]\nours = 't'\n{PECOS}", "2: datasets.ours must be a table with truth = \"FILE\", got 't'"),
    (BIBTEX, ' there is no system (hint: [systems] NAME = "runs/{dataset}/NAME.npz")'),
    (f"systems = 3\n{BIBTEX}", "1: systems must be a table of systems, got 3"),
    (f"{BIBTEX}[systems]\nParabel = {{ published = true }}",
     "3: [systems] has published results only: there is nothing to score"),
    (f"against = 'Parabel'\n{BIBTEX}{PECOS}Parabel = {{ published = true }}",
     "1: against names 'Parabel', which has published results only: PECOS"),
    (f"{OURS}{PECOS}Parabel = {{ published = true }}",
     f'5: {NONE_OF_THESE} (hint: catalogue = "NAME" in a data set says which one of the catalogue it is)'),
    (f"metrics = 'RR'\n{BIBTEX}{PECOS}Parabel = {{ published = true }}",
     f"6: {NONE_OF_THESE}: it has other metrics only ({LISTED})"),
    (f"{BIBTEX}{OURS}[systems]\nx = 'runs/ours/pecos.npz'",
     f"6: x has the same predictions on Bibtex and ours: runs/ours/pecos.npz {OF_DATASET}"),
    (f"{BIBTEX}{PECOS}x = [", " invalid value"),
    (f"{BIBTEX}{PECOS}{BIBTEX}", "5: [datasets.Bibtex] is there twice"),
    (f"k = 1\nk = 2\n{BIBTEX}{PECOS}", "2: this key is there twice"),
    (f"metrics = P@1\n{BIBTEX}{PECOS}", "1: invalid value (hint: write text in quotes)"),
    (b"# \xe9\n# \xff", "1: is not UTF-8 text"),
]  # fmt: skip


CASES = [
    *((f"{BIBTEX}{text}\n{PECOS}", message) for text, message in BELOW),
    *((f"{text}\n{BIBTEX}{PECOS}", message) for text, message in ABOVE),
    *((f"{BIBTEX}{PECOS}{text}\n", message) for text, message in SYSTEMS),
    *WHOLE,
]


@pytest.mark.parametrize(("text", "message"), CASES, ids=[message for _, message in CASES])
def test_a_mistake_is_said_with_its_line(text, message):
    touch("blank.txt")
    Path("blank.txt").write_text("\n")
    with pytest.raises(DataError) as error:
        plan_of(text)
    assert str(error.value) == f"benchmark.toml:{message}"


def test_all_mistakes_are_said_at_once_in_the_order_of_their_lines():
    with pytest.raises(DataError) as error:
        plan_of(f"{BIBTEX}k = 0\ntest = 't'\nties = 'x'\n{OURS}train = 'no.txt'\n{PECOS}x = 3\nagainst = 3\n")
    lines = [line.partition(":")[2].partition(":")[0] for line in str(error.value).split("\n")]
    assert lines == ["3", "4", "5", "8", "11", "12"]


def test_a_dict_has_no_lines():
    with pytest.raises(DataError) as error:
        read_plan({"datasets": {"ours": {"tuth": "t"}}, "systems": {"x": 3, "y": "a\tb"}, "against": "z"})
    assert str(error.value).split("\n") == [
        "systems.x must be a path, a list of paths or a table, got 3",
        escape(r"a\tb"),
        "unknown key 'tuth' in [datasets.ours] (hint: truth)",
        "against names 'z', which is not one of the systems: x, y",
    ]


def test_what_is_passed_beside_the_file_has_messages_of_its_own():
    text = f"against = 'x'\n{BIBTEX}{PECOS}"
    assert plan_of(text, overrides={"against": None}).testing.against is None
    with pytest.raises(UsageError, match=r"^against names 'y', which is not one of the systems: PECOS$"):
        plan_of(text, overrides={"against": "y"})
    with pytest.raises(TypeError, match=r"^benchmark\(\) got an unexpected option runs$"):
        plan_of(text, overrides={"runs": 1})


def test_secrets_of_addresses_are_not_shown():
    secret = "https://me:s3cret@host/f.npz?token=s3cret"
    with pytest.raises(DataError) as error:
        plan_of(f"""ties = '{secret}'
[datasets.x]
truth = ["{secret}\\new"]
[systems]
{PECOS.partition(chr(10))[2]}x = "{secret}\\new"
y = {{ published = '{secret}', paths = {{ "{secret}" = "a" }} }}""")
    assert "https://host/f.npz" in str(error.value)
    assert "s3cret" not in str(error.value)
    with pytest.raises(DataError, match=r"https://host/f\.npz") as error:
        plan_of(f'x = "{secret}\\Users"')
    assert "s3cret" not in str(error.value)


def test_the_baseline_may_be_named_by_its_key():
    text = f"against = 'PECOS'\n{BIBTEX}[systems.PECOS]\nname = 'PECOS (ours)'\npath = 'runs/Bibtex/pecos.npz'"
    assert plan_of(text).testing.against == "PECOS (ours)"


def test_what_a_store_does_not_tell_is_not_missing():
    text = f'{BIBTEX}[systems]\na = "nosuch://x/a.npz"\nb = "nosuch://x/b-*"\n'
    assert [names(cell.runs) for cell in plan_of(text).datasets[0].cells] == [["nosuch://x/a.npz"], ["nosuch://x/b-*"]]


def test_one_truth_may_be_scored_in_two_ways():
    own = 'folder = "Bibtex"\ntruth = "data/Bibtex/tst.txt"\nfilter = "data/ours/trn.txt"\n'
    twice = f"{BIBTEX}[datasets.filtered]\n{own}"
    assert [names(d.cells[0].runs) for d in plan_of(twice + PECOS).datasets] == [["runs/Bibtex/pecos.npz"]] * 2
