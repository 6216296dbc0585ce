"""A benchmark file that is proposed for a folder: folders as people lay them out, and the cells that result."""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

from xmceval.api.benchmark.initfile import propose, write_proposal
from xmceval.api.benchmark.readplan import read_plan
from xmceval.errors import DataError
from xmceval.inspection.peek import peek

SIZES = {"one": (30, 50, 12), "two": (40, 60, 9), "Bibtex": (2515, 4880, 159)}  # test, train, labels


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)


def matrix_of(rng, n_rows, n_labels, *, are_scores):
    dense = np.zeros((n_rows, n_labels))
    for row in dense:
        row[rng.choice(n_labels, 4, replace=False)] = rng.random(4) + 0.1 if are_scores else 1
    dense[0, -1] = dense[0, -1] or 0.5 if are_scores else 1
    return csr_matrix(dense)


def save(name, matrix):
    """Write a matrix in the form that the ending of its name tells; a pair of npy files for a name without one."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".npz"):
        save_npz(name, matrix)
    elif ".txt" in name:
        rows = (" ".join(f"{i}:{v:.6g}" for i, v in zip(row.indices, row.data, strict=True)) for row in matrix)
        text = "\n".join(["{} {}".format(*matrix.shape), *rows, ""]).encode()
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    else:
        order = np.argsort(-matrix.toarray(), axis=1)[:, :3]
        np.save(f"{name}-labels.npy", order)
        np.save(f"{name}-scores.npy", np.take_along_axis(matrix.toarray(), order, axis=1))


@pytest.fixture
def lay_out(rng):
    """Write files of data sets: their truth, training labels and predictions."""

    def lay_out(dataset, *, truth=(), train=(), scores=()):
        n_test, n_train, n_labels = SIZES[dataset]
        for names, n_rows, are_scores in ((truth, n_test, False), (train, n_train, False), (scores, n_test, True)):
            for name in [names] if isinstance(names, str) else names:
                save(name, matrix_of(rng, n_rows, n_labels, are_scores=are_scores))

    return lay_out


def init(folder="."):
    proposal = propose(folder)
    write_proposal(proposal)
    return proposal


def planned(folder="."):
    """Return truth and training labels, and the paths of each cell, of the plan that the written file is read as."""
    plan = read_plan(Path(folder) / "benchmark.toml")
    inputs = {each.name: (str(each.truth), str(each.options.train)) for each in plan.datasets}
    cells = {
        each.name: {cell.system: [str(run) for run in cell.runs] for cell in each.cells if cell.runs}
        for each in plan.datasets
    }
    assert not [cell.warnings for each in plan.datasets for cell in each.cells if cell.warnings]
    return inputs, cells


def test_what_was_taken_for_what_is_said_and_written(lay_out):
    for name in ("Bibtex", "two"):
        runs = [f"runs/{name}/{file}" for file in ("base.npz", "ours-seed1.npz", "ours-seed2.npz", "ours-seed3.npz")]
        data = {"truth": f"data/{name}/tst_X_Y.txt", "train": f"data/{name}/trn_X_Y.txt"}
        lay_out(name, **data, scores=[*runs, f"runs/{name}/plt.txt.gz"])
    lay_out("Bibtex", scores="runs/Bibtex/br.npz")
    lay_out("one", scores="runs/two/base-old.npz")
    lay_out("two", truth="data/two/a copy, tst.npz")
    Path("runs/README.md").write_text("# runs")
    Path("data/two.tar.gz").write_bytes(b"x")
    proposal = init()
    assert "\n".join(proposal.lines) == (
        """\
19 files looked at: 2 data sets, 4 systems

Bibtex  truth  data/Bibtex/tst_X_Y.txt   2,515 × 159  every value is 1; 6 predictions have 2,515 rows
        train  data/Bibtex/trn_X_Y.txt   4,880 × 159  every value is 1; no predictions have 4,880 rows
        the sizes are those of Bibtex: A=0.55 B=1.5, no filter
two     truth  data/two/a copy, tst.npz     40 × 9    every value is 1; 5 predictions have 40 rows; or \
data/two/tst_X_Y.txt
        train  data/two/trn_X_Y.txt         60 × 9    every value is 1; no predictions have 60 rows
        not in the catalogue; A=0.55 B=1.5 by default

base  runs/{dataset}/base.npz             2 of 2
br    runs/{dataset}/br.npz               1 of 2, not two
ours  runs/{dataset}/ours-seed{1..3}.npz  2 of 2           names differ in a number: runs of one system
plt   runs/{dataset}/plt.txt.gz           2 of 2

left out: data/two.tar.gz (an archive), runs/README.md (no labels), runs/two/base-old.npz (30 rows; the truth has 40)"""
    )
    assert (
        Path("benchmark.toml").read_text()
        == proposal.text
        == """\
# written by xmceval benchmark --init; paths are relative to this file
metrics = "P,PSP@1,3,5"
# against = "base"  # without it every pair is tested

[datasets.Bibtex]  # catalogue: A=0.55 B=1.5, no filter
truth = "data/Bibtex/tst_X_Y.txt"
train = "data/Bibtex/trn_X_Y.txt"

[datasets.two]
truth = "data/two/a copy, tst.npz"
# truth = "data/two/tst_X_Y.txt"
train = "data/two/trn_X_Y.txt"

[systems]
base = "runs/{dataset}/base.npz"
br   = "runs/{dataset}/br.npz"  # not two
ours = ["runs/{dataset}/ours-seed1.npz", "runs/{dataset}/ours-seed2.npz", "runs/{dataset}/ours-seed3.npz"]
plt  = "runs/{dataset}/plt.txt.gz"
# SLEEC = { published = true }  # shown, never tested; also 1-vs-All, CPLST, ...: xmceval datasets Bibtex
"""
    )
    inputs, cells = planned()
    assert inputs["Bibtex"] == ("data/Bibtex/tst_X_Y.txt", "data/Bibtex/trn_X_Y.txt")
    assert cells["two"] == {
        "base": ["runs/two/base.npz"],
        "ours": [f"runs/two/ours-seed{seed}.npz" for seed in (1, 2, 3)],
        "plt": ["runs/two/plt.txt.gz"],
    }


LAYOUTS = {
    "all of a data set in its folder": (
        "{}/tst_X_Y.txt",
        "{}/trn_X_Y.txt",
        {"pecos": ["{}/pecos.npz"], "attention": ["{}/attention"]},
    ),
    "a folder per system": (
        "data/{}/Y.tst.npz",
        "data/{}/Y.trn.npz",
        {"pecos": ["results/pecos/{}.npz"], "ours": ["results/ours/{}.txt"]},
    ),
    "a folder per system and data set": (
        "xmc-base/{}/Y.tst.npz",
        "xmc-base/{}/Y.trn.npz",
        {"pecos": ["pecos/{}/score_mat.npz"], "ours": ["ours/seed_7/{}/preds.npz", "ours/seed_42/{}/preds.npz"]},
    ),
    "names with everything in them": (
        "{}_tst.txt",
        "{}_trn.txt",
        {"pecos": ["{}_pecos.npz"], "ours": ["{}_ours_s0.npz", "{}_ours_s1.npz"], "plt": ["plt-{}.txt.gz"]},
    ),
    "folders of truth, training labels and predictions": (
        "test/{}.npz",
        "train/{}.npz",
        {"pecos": ["preds/{}-pecos.npz"], "ours": ["preds/{}-ours-1.npz", "preds/{}-ours-2.npz"]},
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("datasets", [["one", "two"], ["two"]], ids=["two data sets", "one data set"])
def test_folders_are_understood_as_people_lay_them_out(layout, datasets, lay_out):
    truth, train, systems = LAYOUTS[layout]
    for name in datasets:
        paths = [path.format(name) for runs in systems.values() for path in runs]
        lay_out(name, truth=truth.format(name), train=train.format(name), scores=paths)
    init()
    inputs, cells = planned()
    assert inputs == {name: (truth.format(name), train.format(name)) for name in datasets}
    assert cells == {
        name: {system: [path.format(name) for path in runs] for system, runs in systems.items()} for name in datasets
    }


def test_a_download_has_features_and_filters_beside_its_labels(lay_out, rng):
    folder = "LF-AmazonTitles-131K"
    lay_out("one", truth=f"{folder}/tst_X_Y.txt", train=f"{folder}/trn_X_Y.txt", scores=f"{folder}/score_mat.npz")
    for part, n_rows in (("trn", 50), ("tst", 30), ("lbl", 12)):
        save(f"{folder}/{part}_X_Xf.txt", matrix_of(rng, n_rows, 77, are_scores=True))
    for name in ("filter_labels_test.txt", "filter_labels_train.txt"):
        Path(folder, name).write_text("0 3\n2 7\n")
    lines = "\n".join(init().lines)
    assert "tst_X_Xf.txt (features)" in lines
    assert "filter_labels_train.txt (a filter of the training instances)" in lines
    [dataset] = read_plan("benchmark.toml").datasets
    assert (dataset.name, str(dataset.options.filter)) == (folder, f"{folder}/filter_labels_test.txt")
    assert "50 training instances, not 294,805, 30 test instances, not 134,835, 12 labels, not 131,073" in lines
    assert (dataset.entry, dataset.options.a, dataset.options.b) == (None, 0.6, 2.6)


def test_pairs_with_names_of_labels_get_the_file_of_names(lay_out, rng):
    names = [f"l{i}" for i in range(12)]
    lay_out("one", scores="results/AttentionXML-EUR-Lex-Tree-0")
    lay_out("one", scores="results/AttentionXML-EUR-Lex-Tree-1")
    for labels in Path("results").glob("*-labels.npy"):
        np.save(labels, np.array(names)[np.load(labels)])
    Path("EUR-Lex_test_labels.txt").write_text("".join(f"{' '.join(rng.choice(names, 3, False))}\n" for _ in range(30)))
    Path("labels.txt").write_text("\n".join(names) + "\n")
    assert "2 predictions have 30 rows" in "\n".join(init().lines)
    [dataset] = read_plan("benchmark.toml").datasets
    assert (dataset.name, str(dataset.truth), str(dataset.options.labels)) == (
        "EUR-Lex",
        "EUR-Lex_test_labels.txt",
        "labels.txt",
    )
    trees = [f"AttentionXML-Tree-{tree}" for tree in (0, 1)]  # members of an ensemble are no seeds
    assert [cell.system for cell in dataset.cells] == trees


def test_sizes_decide_where_names_do_not(lay_out):
    lay_out("Bibtex", truth="data/Bibtex-set/gold.npz", scores=["runs/bib/pecos.npz", "runs/bib/plt.npz"])
    lay_out("two", truth="data/second/gold.npz", scores=["runs/2nd/pecos.npz", "runs/2nd/plt.npz"])
    lay_out("one", scores="runs/2nd/other.npz")
    proposal = init()
    assert "runs/2nd/other.npz (30 rows; no truth has as many)" in "\n".join(proposal.lines)
    assert 'catalogue = "Bibtex"\nfolder = "bib"\n' in proposal.text
    _, cells = planned()
    assert cells == {
        name: {system: [f"runs/{folder}/{system}.npz"] for system in ("pecos", "plt")}
        for name, folder in (("Bibtex-set", "bib"), ("second", "2nd"))
    }


def test_the_name_of_the_catalogue_means_the_data_set_that_has_it(lay_out):
    for name in ("Bibtex", "subset"):
        lay_out("Bibtex", truth=f"data/{name}/tst.npz", scores=[f"runs/{name}/a.npz", f"runs/{name}/b.npz"])
    proposal = init()
    assert '[datasets.subset]  # catalogue: A=0.55 B=1.5, no filter\ncatalogue = "Bibtex"\n' in proposal.text
    _, cells = planned()
    assert cells == {name: {s: [f"runs/{name}/{s}.npz"] for s in "ab"} for name in ("Bibtex", "subset")}


def test_a_template_names_no_file_that_was_left_out(lay_out):
    for name in ("one", "two"):
        lay_out(name, truth=f"{name}/tst.npz", scores=[f"{name}/good.npz"])
    lay_out("one", scores=["one/mixed.npz", "two/mixed.npz", "one/kinds.npz"])
    lay_out("two", scores="two/kinds.txt")
    proposal = init()
    assert 'mixed = { paths = { one = "one/mixed.npz" } }  # not two' in proposal.text
    _, cells = planned()
    assert cells["one"] == {"good": ["one/good.npz"], "kinds": ["one/kinds.npz"], "mixed": ["one/mixed.npz"]}
    assert cells["two"] == {"good": ["two/good.npz"], "kinds": ["two/kinds.txt"]}


def test_a_system_may_have_other_paths_on_one_data_set(lay_out):
    lay_out("one", truth="tst.npz", scores=["a.npz", "b.npz"])
    lay_out("one", truth="second/tst.npz", scores=["second/a.npz", "second/b.npz"])
    init()
    _, cells = planned()
    assert cells[Path.cwd().name] == {"a": ["a.npz"], "b": ["b.npz"]}
    assert cells["second"] == {"a": ["second/a.npz"], "b": ["second/b.npz"]}


def test_names_of_data_sets_may_be_short_or_that_of_the_folder(lay_out):
    home = Path.cwd().name
    lay_out("one", truth="tst.npz", scores=["pecos.npz"])
    lay_out("two", truth=f"{home}/tst.npz", scores=[f"{home}/pecos.npz"])
    lay_out("Bibtex", truth="a/tst.npz", scores=["a/model_a.npz", "a/+.npz"])
    init()
    _, cells = planned()
    assert cells == {
        f"{home} (2)": {"pecos": ["pecos.npz"]},
        home: {"pecos": [f"{home}/pecos.npz"]},
        "a": {"model_a": ["a/model_a.npz"], "+": ["a/+.npz"]},
    }


def test_names_are_quoted_as_toml_needs_it(lay_out):
    folder, odd = "daten größe", """a "b" c\\d'e"""
    lay_out("one", truth=f"{folder}/tst.npz", scores=[f"{folder}/{odd}.npz", f"{folder}/back\\slash.npz"])
    init()
    _, cells = planned()
    assert cells == {folder: {odd: [f"{folder}/{odd}.npz"], "back\\slash": [f"{folder}/back\\slash.npz"]}}


def test_runs_belong_to_the_qrels(lay_out):
    lay_out("one", truth="one/tst.npz", scores="one/pecos.npz")
    Path("trec").mkdir()
    Path("trec/test.qrels").write_text("q1 0 doc1 1\nq2 0 doc2 2\n")
    for name in ("bm25", "ours"):
        Path(f"{name}.trec").write_text(f"q1 Q0 doc1 1 3.5 {name}\nq2 Q0 doc1 1 2.5 {name}\n")
    init()
    _, cells = planned()
    assert cells["trec"] == {name: [f"{name}.trec"] for name in ("bm25", "ours")}
    assert cells["one"] == {"pecos": ["one/pecos.npz"]}


def test_sizes_in_a_header_are_not_checked_by_reading_all_rows():
    Path("large.txt").write_text("1000000 9\n1:0.5 2:0.25\n")
    found = peek(Path("large.txt"))
    assert (found.kind, found.n_rows, found.n_labels) == ("scores", 1_000_000, 9)


def test_numbers_are_seeds_only_where_they_may_be(lay_out):
    names = ["net1024", "net-1024", "net-2048", "k_epoch_1", "k_epoch_2", "solo-1", "a-1", "a-2", "a"]
    lay_out("one", truth="tst.npz", scores=[f"runs/{name}.npz" for name in names])
    init()
    [cells] = planned()[1].values()
    single = ["a", "k_epoch_1", "k_epoch_2", "net-1024", "net-2048", "net1024", "solo-1"]
    assert {name: len(runs) for name, runs in cells.items()} == {**dict.fromkeys(single, 1), "a-runs": 2}


def test_mistakes_name_what_is_missing(lay_out):
    Path("notes.md").write_text("x")
    with pytest.raises(DataError, match=r"1 file examined, and none looks like predictions; notes.md \(no labels\)"):
        propose(".")
    lay_out("one", truth="tst.npz", train="trn.npz")
    with pytest.raises(DataError, match="none looks like predictions"):
        propose(".")
    lay_out("two", scores="preds.npz")
    with pytest.raises(DataError, match=r"a truth that predictions fit; .*preds.npz \(40 rows; the truth has 30\)"):
        propose(".")
    assert not Path("benchmark.toml").exists()
    lay_out("one", scores="preds.npz")
    init()
    with pytest.raises(DataError, match=r"benchmark.toml: already exists \(hint: pass force=True to overwrite\)"):
        propose(".")
    assert propose(".", force=True).text == Path("benchmark.toml").read_text()
    with pytest.raises(DataError, match="nowhere: no such folder"):
        propose("nowhere")


def test_links_are_followed_and_circles_and_unreadable_files_do_no_harm(lay_out):
    lay_out("one", truth="tst.npz", scores="elsewhere/a.npz")
    Path("elsewhere").rename("../elsewhere")
    Path("preds").symlink_to("../elsewhere", target_is_directory=True)
    Path("preds/loop").symlink_to(Path.cwd(), target_is_directory=True)
    Path("preds/cut.npz").write_bytes(Path("preds/a.npz").read_bytes()[:200])
    Path("preds/empty.txt").touch()
    buffer = io.BytesIO()
    np.savez(buffer, weights=np.ones(3))
    Path("preds/model.npz").write_bytes(buffer.getvalue())
    assert "preds/model.npz (is not a sparse matrix but has the" in "\n".join(init().lines)
    assert list(planned()[1].values()) == [{"a": ["preds/a.npz"]}]
