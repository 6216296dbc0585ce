"""The catalogue: facts on public sets, mismatches of data with them, and published results."""

import json
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from support.approved import check_lines

import xmceval
from xmceval.labels import catalogue
from xmceval.labels.catalogue import Sizes, datasets, find_dataset, hint_at_dataset, published

ROWS = [(name, row) for name in datasets() for row in published(name)]


def test_both_files_are_whole_and_name_their_source():
    assert len(ROWS) == sum(1 for _ in catalogue.read_table("published.tsv")) == 330
    assert len({name for name, _ in ROWS}) == 21
    for name in ("catalogue.tsv", "published.tsv"):
        lines = (Path(__file__).parents[2] / "datasets" / name).read_text(encoding="utf-8").splitlines()
        assert any("XMLRepository, http" in line for line in lines if line.startswith("#"))
        assert len({line.count("\t") for line in lines if not line.startswith("#")}) == 1


def test_a_method_appears_once_in_a_set_unless_it_is_marked():
    named = [(name, row.method, row.mark) for name, row in ROWS]
    twice = {each for each in named if named.count(each) > 1}
    assert all("two rows" in row.suspect for name, row in ROWS if (name, row.method, row.mark) in twice)


def suspects(dataset, method):
    return [row.suspect for row in published(dataset) if row.method == method]


def broken(one, other):
    """Return how many rows break the law that two values are equal; each of them is marked, and no other."""
    pairs = [(row, row.values.get(one), row.values.get(other)) for _, row in ROWS]
    wrong = [row for row, a, b in pairs if None not in {a, b} and a != b]
    assert wrong == [row for _, row in ROWS if f"{one} is not {other}" in row.suspect]
    return len(wrong)


def found(*words):
    """Return the set that is found by a word in any case and with any dashes."""
    ways = (str, str.upper, lambda word: word.replace("-", "_").lower(), lambda word: word.replace("-", " "))
    names = {find_dataset(way(word)).name for word in words for way in ways}
    return " ".join(sorted(names))


def test_what_is_known_of_sets_and_said_of_sizes(rng):
    train, truth = (csr_matrix(rng.random((n, 159)) < 0.02) for n in (4880, 2515))
    scores = csr_matrix(np.where(rng.random((2515, 159)) < 0.05, rng.random((2515, 159)), 0) + truth)
    few = csr_matrix(np.arange(40)[:, None] > np.arange(159) / 4)

    def said(*inputs, **options):
        lines = xmceval.score(*inputs, k=1, **options).warnings
        return "\n".join(line for line in lines if "sizes" in line) or "nothing"

    check_lines(__file__, "sets.txt", globals() | locals())


def test_sizes_agree_with_the_means():
    """Points per label times labels is labels per point times points, of the training or of all points."""
    for entry in datasets().values():
        pairs = entry.points_per_label * entry.labels
        points = [pairs / entry.labels_per_point / n for n in (entry.train, entry.train + entry.test)]
        assert min(abs(ratio - 1) for ratio in points) < 0.35, entry.name


def test_no_word_means_two_sets():
    words = [catalogue._normalize(word) for entry in datasets().values() for word in (entry.name, *entry.aliases)]
    assert len(words) == len(set(words))


def test_disagreements_differ_from_the_constants_and_from_each_other():
    for entry in datasets().values():
        pairs = [(entry.a, entry.b), *((each.a, each.b) for each in entry.disagreements)]
        assert len(pairs) == len(set(pairs)), entry.name
    assert {(each.a, each.b) for each in find_dataset("LF-WikiSeeAlsoTitles-320K").disagreements} == {
        (0.6, 2.6),
        (0.5, 0.4),
    }


def mismatches(name, n_train=None, n_test=None, n_labels=None, is_filtered=False):
    return list(find_dataset(name).mismatches(Sizes(n_train, n_test, n_labels), is_filtered=is_filtered))


def test_real_data_have_the_sizes_of_the_catalogue(realdata):
    train, test = (realdata / "delicious" / name for name in ("trn_X_Y.txt.gz", "tst_X_Y.txt.gz"))
    result = xmceval.score(test, realdata / "delicious" / "napkinxc_plt.txt.gz", train=train, dataset="Delicious")
    assert not any("sizes" in line for line in result.warnings)
    assert (result.propensities.a, result.propensities.b, result.propensities.n) == (0.55, 1.5, 12920)


def hints(**sizes):
    return list(hint_at_dataset(Sizes(**sizes)))


def test_every_set_is_hinted_at_with_its_own_constants():
    for entry in datasets().values():
        for split in entry.splits:
            (line,) = hint_at_dataset(split.sizes)
            assert entry.name in line.partition(":")[0]
            assert entry.constants in line


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
