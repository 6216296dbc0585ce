"""The catalogue: facts on public sets, mismatches of data with them, and published results."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import xmceval
from xmceval import UsageError
from xmceval.labels import catalogue
from xmceval.labels.catalogue import Sizes, datasets, find_dataset, hint_at_dataset, published

ROWS = [(name, row) for name in datasets() for row in published(name)]


# The two files


def test_both_files_are_whole_and_name_their_source():
    assert len(ROWS) == sum(1 for _ in catalogue.read_table("published.tsv")) == 330
    assert len({name for name, _ in ROWS}) == 21
    for name in ("catalogue.tsv", "published.tsv"):
        lines = (Path(__file__).parents[2] / "datasets" / name).read_text(encoding="utf-8").splitlines()
        assert any("XMLRepository, http" in line for line in lines if line.startswith("#"))
        assert len({line.count("\t") for line in lines if not line.startswith("#")}) == 1


def test_rows_that_break_a_law_are_the_seventeen_known_ones_and_all_are_marked():
    broken = {"P@1 is not nDCG@1": 0, "PSP@1 is not PSnDCG@1": 0}
    for _, row in ROWS:
        for law in broken:
            one, other = law.split(" is not ")
            is_broken = one in row.values and other in row.values and row.values[one] != row.values[other]
            assert is_broken == (law in row.suspect)
            broken[law] += is_broken
    assert broken == {"P@1 is not nDCG@1": 11, "PSP@1 is not PSnDCG@1": 6}


@pytest.mark.parametrize(
    ("dataset", "method", "suspect"),
    [
        ("LF-Wikipedia-500K", "DiSMEC", "nDCG@3"),
        ("LF-Wikipedia-500K", "PfastreXML", "nDCG@3 below P@3"),
        ("LF-Wikipedia-500K", "ProXML", "nDCG@3 below P@3"),
        ("LF-Wikipedia-500K", "MACH", "LightXML"),
        ("LF-Wikipedia-500K", "ECLARE", "PSnDCG@5 below PSnDCG@3"),
        ("LF-WikiSeeAlso-320K", "DEXA", "PSnDCG@5 out of range"),
        ("Delicious-200K", "Parabel", "two rows"),
    ],
)
def test_other_anomalies_are_marked(dataset, method, suspect):
    rows = [row for row in published(dataset) if row.method == method]
    assert rows
    assert all(suspect in row.suspect for row in rows)


def test_a_method_appears_once_in_a_set_unless_it_is_marked():
    named = [(name, row.method, row.mark) for name, row in ROWS]
    twice = {each for each in named if named.count(each) > 1}
    assert all("two rows" in row.suspect for name, row in ROWS if (name, row.method, row.mark) in twice)


def test_published_values_are_fractions_sorted_by_the_first():
    assert all(0 < value < 1 for _, row in ROWS for value in row.values.values())
    first = [row.values.get("P@1", -1) for row in published("Mediamill")]
    assert first == sorted(first, reverse=True)
    assert published("EURLex-4K")[0].method == "MatchXML"
    assert published("EURLex-4K")[0].values["P@1"] == 0.8885


def test_sizes_agree_with_the_means():
    """Points per label times labels is labels per point times points, of the training or of all points."""
    for entry in datasets().values():
        pairs = entry.points_per_label * entry.labels
        points = [pairs / entry.labels_per_point / n for n in (entry.train, entry.train + entry.test)]
        assert min(abs(ratio - 1) for ratio in points) < 0.35, entry.name


# Looking a set up


LEGACY = {
    "DeliciousLarge": "Delicious-200K",
    "RCV1-X": "RCV1-2K",
    "WikipediaLarge-500K": "LF-Wikipedia-500K",
    "Wikipedia-500K": "LF-Wikipedia-500K",
}
WORDS = {word: name for name, entry in datasets().items() for word in (name, *entry.aliases)}


@pytest.mark.parametrize(("word", "name"), (WORDS | LEGACY).items())
def test_sets_are_found_in_any_case_with_any_dashes_and_by_their_aliases(word, name):
    for spelled in (word, word.upper(), word.replace("-", "_").lower(), word.replace("-", " ")):
        assert find_dataset(spelled).name == name


def test_no_word_means_two_sets():
    words = [catalogue._normalize(word) for entry in datasets().values() for word in (entry.name, *entry.aliases)]
    assert len(words) == len(set(words))


def test_an_unknown_set_is_refused_with_the_nearest_one():
    with pytest.raises(
        UsageError, match=r"unknown data set 'Amazon-67K' \(did you mean Amazon-670K\?\); expected one of "
    ):
        find_dataset("Amazon-67K")


def test_disagreements_differ_from_the_constants_and_from_each_other():
    for entry in datasets().values():
        pairs = [(entry.a, entry.b), *((each.a, each.b) for each in entry.disagreements)]
        assert len(pairs) == len(set(pairs)), entry.name
    assert {(each.a, each.b) for each in find_dataset("LF-WikiSeeAlsoTitles-320K").disagreements} == {
        (0.6, 2.6),
        (0.5, 0.4),
    }


# Mismatches


def mismatches(name, n_train=None, n_test=None, n_labels=None, is_filtered=False):
    return list(find_dataset(name).mismatches(Sizes(n_train, n_test, n_labels), is_filtered=is_filtered))


@pytest.mark.parametrize("sizes", [(15539, 3809, 3993), (15449, 3865, 3956), (None, 3865, None), (None, None, None)])
def test_sizes_of_any_variant_are_right(sizes):
    assert mismatches("EURLex-4K", *sizes) == []


@pytest.mark.parametrize(
    ("name", "sizes", "differences"),
    [
        ("EURLex-4K", (15449, 3865, 3993), "3,993 labels, but 3,956 in the published split"),
        (
            *("Bibtex", (4881, 2514, 160)),
            (
                "4,881 training instances, but 4,880 in the published split; 2,514 test instances, but 2,515 in the "
                "published split; 160 labels, but 159 in the published split"
            ),
        ),
        ("Bibtex", (None, None, 1), "1 label, but 159 in the published split"),
    ],
)
def test_sizes_that_fit_no_variant_are_compared_with_the_nearest(name, sizes, differences):
    (line,) = mismatches(name, *sizes)
    assert line.startswith(f"the sizes do not match {name}: {differences} (hint: ")


def test_a_filter_is_asked_for_only_where_none_is_given():
    assert "pass filter=" in mismatches("LF-Amazon-131K")[0]
    assert mismatches("LF-Amazon-131K", is_filtered=True) == []
    assert mismatches("LF-Wikipedia-500K") == []


def test_sets_without_agreed_constants_are_reported():
    assert "there are no agreed values of A and B for ORCAS-800K" in mismatches("ORCAS-800K")[0]


@pytest.fixture
def matrices(rng):
    truth = csr_matrix(rng.random((40, 159)) < 0.05)
    return truth, csr_matrix(rng.random((40, 159)))


@pytest.fixture
def bibtex(rng):
    """Training labels, truth and predictions of Bibtex's sizes."""
    train, truth = (csr_matrix(rng.random((n, 159)) < 0.02) for n in (4880, 2515))
    return train, truth, csr_matrix(np.where(rng.random((2515, 159)) < 0.05, rng.random((2515, 159)), 0) + truth)


@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_score_warns_of_sizes_without_propensities_and_counts_instances_that_are_left_out(matrices, empty_rows):
    truth = matrices[0].tolil()
    truth[:3] = 0
    result = xmceval.score(truth.tocsr(), matrices[1], metrics="P", dataset="Bibtex", empty_rows=empty_rows)
    line = "the sizes do not match Bibtex: 40 test instances, but 2,515 in the published split"
    assert any(line in warning for warning in result.warnings)


def test_real_data_have_the_sizes_of_the_catalogue(realdata):
    train, test = (realdata / "delicious" / name for name in ("trn_X_Y.txt.gz", "tst_X_Y.txt.gz"))
    result = xmceval.score(test, realdata / "delicious" / "napkinxc_plt.txt.gz", train=train, dataset="Delicious")
    assert not any("sizes" in line for line in result.warnings)
    assert (result.propensities.a, result.propensities.b, result.propensities.n) == (0.55, 1.5, 12920)


# Hints at sets


def hints(**sizes):
    return list(hint_at_dataset(Sizes(**sizes)))


@pytest.mark.parametrize(
    ("sizes", "facts", "hint"),
    [
        (Sizes(490449, 153025, 670091), "Amazon-670K: A=0.6 B=2.6, no filter", "dataset='Amazon-670K'"),
        (
            Sizes(294805, 134835, 131073),
            "LF-AmazonTitles-131K and LF-Amazon-131K: A=0.6 B=2.6, with a filter of reciprocal pairs",
            "dataset='LF-AmazonTitles-131K' and filter=",
        ),
        (
            Sizes(15449, 3865, 3956),
            "EURLex-4K in the split of AttentionXML, LightXML: A=0.55 B=1.5, no filter",
            "dataset='EURLex-4K'",
        ),
        (
            Sizes(7360881, 2547702, 797322),
            "ORCAS-800K: no agreed A and B, not known whether with a filter",
            "dataset='ORCAS-800K'",
        ),
    ],
)
def test_sizes_that_fit_exactly_are_hinted_at(sizes, facts, hint):
    assert list(hint_at_dataset(sizes)) == [f"the sizes match {facts} (hint: pass {hint})"]


def test_every_set_is_hinted_at_with_its_own_constants():
    for entry in datasets().values():
        for split in entry.splits:
            (line,) = hint_at_dataset(split.sizes)
            assert entry.name in line.partition(":")[0]
            assert entry.constants in line


@pytest.mark.parametrize("name", ["train", "test", "labels"])
def test_sizes_that_are_unknown_or_one_off_are_not_hinted_at(name):
    sizes = {"train": 4880, "test": 2515, "labels": 159}
    assert hints(**sizes)
    assert hints(**{**sizes, name: sizes[name] + 1}) == []
    assert hints(**{**sizes, name: None}) == []


def test_score_hints_at_a_set_that_was_not_named(bibtex):
    train, *matrices = bibtex
    line = "the sizes match Bibtex: A=0.55 B=1.5, no filter (hint: pass dataset='Bibtex')"
    assert line in xmceval.score(*matrices, train=train, a=0.6).warnings
    assert line not in xmceval.score(*matrices, train=train).warnings  # these are the constants in use
    assert line not in xmceval.score(*matrices, train=train, dataset="Bibtex").warnings
    assert line not in xmceval.score(*matrices, train=train[:-1], a=0.6).warnings
    assert line not in xmceval.score(*matrices).warnings


# The command


def test_every_set_can_be_shown(run):
    code, out, _ = run("datasets", *datasets())
    assert code == 0
    assert all(f"{name}\n" in out for name in datasets())


def test_json_has_sizes_and_of_sets_that_are_named_published_results(run):
    found = json.loads(run("datasets", "-o", "json")[1])["datasets"]
    assert [(each["name"], each["train"]) for each in found] == [
        (each.name, each.train) for each in datasets().values()
    ]
    assert not any("published" in each for each in found)
    found = json.loads(run("datasets", "Bibtex", "EURLex-4K", "-o", "json")[1])["datasets"]
    expected = [(name, row.method, row.values) for name in ("Bibtex", "EURLex-4K") for row in published(name)]
    assert [(each["name"], row["method"], row["metrics"]) for each in found for row in each["published"]] == expected
