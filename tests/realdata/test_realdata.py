"""Real predictions of real models: the values that independent tools give for them, and published ones."""

import gzip
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from numba import config
from scipy.sparse import csr_matrix
from support.realdata import GOLDEN, SETS, SYSTEMS, TIED, read_matrix

import xmceval

FOLDER = Path(os.environ.get("XMCEVAL_REALDATA", "."))
pytestmark = [
    pytest.mark.skipif("XMCEVAL_REALDATA" not in os.environ, reason="XMCEVAL_REALDATA is unset"),
    pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too much data for plain Python"),
]

# By tool, their word for it and our name. A list has the values at k = 1, 2, ...; elsewhere k is part of their word.
NAMES = json.loads(Path(__file__).with_name("names.json").read_text(encoding="utf-8"))

# By how much values may differ. pyxclib sums discounts in 32-bit floats; trec_eval prints four digits (and drops rows
# without truth, of which there are none here); xCOLUMNs adds an epsilon to rates, 1e-9 unless asked for another.
TOLERANCES = {
    "pyxclib": 1e-7,
    "xcolumns": 1e-8,
    "xcolumns with an epsilon": 5e-4,
    "treceval": 5.001e-5,
    "torchmetrics": 1e-6,
}
TOOLS = {tool: (words, TOLERANCES.get(tool, 1e-12)) for tool, words in NAMES.items()}
OURS = sorted({ours for words, _ in TOOLS.values() for ours in words.values()})
OF_LISTS = [(*pair, tool) for pair in SYSTEMS for tool in TOOLS if tool != "torchmetrics" or pair in SYSTEMS[:3]]


def expected_of(folder, tool):
    return json.loads((FOLDER / folder / f"expected_{tool.partition(' ')[0]}.json").read_text())


def their_values(values, words):
    """Yield our name, at a cutoff where it has one, and their value."""
    for theirs, ours in words.items():
        if "{}" in theirs:
            names = {k: theirs.format(k) for k in range(1, 11)}
            yield from ((f"{ours}@{k}", values[name]) for k, name in names.items() if name in values)
        elif isinstance(values[theirs], list):
            yield from ((f"{ours}@{k}", value) for k, value in enumerate(values[theirs], 1))
        else:
            yield ours, values[theirs]


def score(folder, truth, scores, train, **options):
    """Score all metrics that other tools have values of."""
    if train is not None:
        options["train"] = FOLDER / folder / train
    return xmceval.score(FOLDER / folder / truth, scores, metrics=OURS, k=range(1, 11), unscored="zero", **options)


@pytest.fixture(scope="module")
def results():
    """Return a function that scores a system once."""
    known = {}

    def result_of(folder, system):
        if (folder, system) not in known:
            truth, train, files = SETS[folder]
            known[folder, system] = score(folder, truth, FOLDER / folder / files[system], train)
        return known[folder, system]

    return result_of


@pytest.mark.parametrize(("folder", "system", "tool"), OF_LISTS)
def test_values_are_those_of(folder, system, tool, results):
    words, tolerance = TOOLS[tool]
    result, compared = results(folder, system), 0
    for name, value in their_values(expected_of(folder, tool)["results"][system], words):
        # Each tool orders ties in its own way: where they matter, its value lies between the bounds.
        low, high = result.tie_bounds(name)
        if not math.isnan(low):
            assert low - tolerance <= value <= high + tolerance, name
            is_settled = high - low < 1e-12
        else:
            cutoff = name.rpartition("@")[2]
            is_settled = tool == "octave coverage" or not result.counts.tied_rows.get(
                int(cutoff) if cutoff.isdigit() else 0
            )
        if is_settled:
            assert result[name] == pytest.approx(value, abs=tolerance, rel=tolerance), name
        compared += 1
    assert compared >= len(words)


def test_values_of_dense_scores_are_those_of_scikit_learn_and_torchmetrics():
    scores = np.load(FOLDER / "bibtex" / "sklearn_ovr.dense.npy")
    result = xmceval.score(
        FOLDER / "bibtex" / "tst_X_Y.txt.gz",
        scores,
        metrics=[*NAMES["torchmetrics"].values(), "ranking_loss", "AP@all"],
    )
    full = {"lrap_full": "LRAP", "coverage_error_full": "coverage_error", "label_ranking_loss_full": "ranking_loss"}
    full["average_precision_samples_full"] = "AP@all"
    for tool, words, tolerance in (("sklearn", full, 1e-9), ("torchmetrics", NAMES["torchmetrics"], 2e-6)):
        for name, value in their_values(expected_of("bibtex", tool)["results"]["sklearn_ovr"], words):
            assert result[name] == pytest.approx(value, abs=tolerance, rel=tolerance / 2), name


@pytest.mark.parametrize(("folder", "system"), SYSTEMS)
def test_ties_do_not_move_what_is_compared_to_the_digit(folder, system, results):
    result = results(folder, system)
    moved = {name for name in result if result.tie_bounds(name)[1] - result.tie_bounds(name)[0] >= 1e-12}
    # cs771: scores saturated at 1.000000. PECOS and the ensemble: a few ties, which move weighted metrics only.
    most = {"bonsai_K130_T2": 0.75, "pecos_xrlinear": 0.2, "attentionxml_ensemble": 0.2}.get(system, 0.0)
    assert len(moved) <= most * len(result)


@pytest.mark.parametrize(("folder", "system"), TIED)
def test_tie_bounds_and_their_counts_are_those_over_all_orders(folder, system, results):
    result = results(folder, system)
    for cut, values in expected_of(folder, "tie_bounds")[system].items():
        assert result.counts.tied_rows[int(cut[1:])] == values["rows_with_tie_at_cut"]
        for metric in ("P", "R"):
            right = values[f"{metric}_min"], values[f"{metric}_max"]
            assert result.tie_bounds(metric + cut) == pytest.approx(right, abs=1e-12)


# The sample that XMLRepository ships with its scripts: integer scores, ties in nearly all rows


@pytest.fixture(scope="module")
def official():
    folder = FOLDER / "bibtex_official_sample"
    return xmceval.score(folder / "labels.npz", folder / "scores.npz", metrics=GOLDEN.values(), k=range(1, 6))


@pytest.mark.parametrize("key", GOLDEN)
def test_the_official_sample_to_all_digits(official, key):
    right = expected_of("bibtex_official_sample", "golden")["values_at_1_to_5"][key]
    assert [official[f"{GOLDEN[key]}@{k}"] for k in range(1, 6)] == pytest.approx(right, abs=1e-12)


@pytest.mark.parametrize("generation", ["XMLPerf2015", "Tools_metrics_with_stable_sort (lowest label id first)"])
def test_the_official_sample_as_both_generations_of_scripts_print_it(official, generation):
    names = {"evalPrecision": "P", "evalnDCG": "nDCG", **NAMES["octave"]}
    for theirs, right in expected_of("bibtex_official_sample", "octave")[generation].items():
        if theirs in names:
            printed = [float(f"{100 * official[f'{names[theirs]}@{k}']:.4f}") for k in range(1, 6)]
            assert printed == right, theirs


def test_another_order_of_ties_lies_within_the_official_samples_bounds(official):
    for theirs, right in expected_of("bibtex_official_sample", "octave")[
        "Tools_metrics_with_original_mex_std_sort (g++ 12)"
    ].items():
        for k, value in enumerate(right, 1):
            if theirs in NAMES["octave"]:
                low, high = official.tie_bounds(f"{NAMES['octave'][theirs]}@{k}")
                assert 100 * low - 5e-5 <= value <= 100 * high + 5e-5


# Published values


def test_cs771_is_what_its_authors_printed(results):
    published = expected_of("cs771_bonsai", "published")["cs771_bonsai/bonsai_K130_T2"]
    result, bounds = results("cs771_bonsai", "bonsai_K130_T2"), published["mprec_min_max_over_tie_orders"]
    printed = dict(zip(published["columns"], published["published"], strict=True))
    for column, value in printed.items():
        if column.startswith("prec@"):
            assert round(result[f"P@{column[5:]}"], 3) == value
    least, greatest = bounds["mprec@1"]
    assert least <= result["macroR@1"] <= greatest
    for k in (3, 5):
        assert result[f"macroR@{k}"] == pytest.approx(bounds[f"mprec@{k}"][0])
        assert f"{result[f'macroR@{k}']:.5f}" == f"{printed[f'mprec@{k}']:.5f}"


def test_the_attentionxml_ensemble_is_what_was_recomputed(results):
    right = expected_of("eurlex_attentionxml", "published")["eurlex_attentionxml/attentionxml_ensemble"]["ours_P135"]
    result = results("eurlex_attentionxml", "attentionxml_ensemble")
    assert [round(100 * result[f"P@{k}"], 2) for k in (1, 3, 5)] == right


# One truth, many forms


@pytest.mark.parametrize("truth", ["tst_X_Y.txt.gz", "test.txt.gz"])
@pytest.mark.parametrize("form", ["sklearn_ovr", "sklearn_ovr-labels.npy", "sklearn_ovr-scores.npy", "arrays"])
def test_bibtex_in_any_form_gives_the_same_bits(results, truth, form):
    folder = FOLDER / "bibtex"
    pair = tuple(np.load(folder / f"sklearn_ovr-{part}.npy", mmap_mode="r") for part in ("labels", "scores"))
    scores = pair if form == "arrays" else folder / form
    again = score("bibtex", truth, scores, "trn_X_Y.txt.gz")
    assert again.estimates == results("bibtex", "sklearn_ovr").estimates


OF_ALL_LABELS = {"AP@all", "LRAP", "RR@all", "coverage_error", "ranking_loss"}


def test_dense_scores_of_all_labels_rank_as_the_best_100_do(results):
    dense = np.load(FOLDER / "bibtex" / "sklearn_ovr.dense.npy")
    again = score("bibtex", "test.txt.gz", dense, "trn_X_Y.txt.gz")
    assert again.counts.n_predictions == dense.size
    of_listed = results("bibtex", "sklearn_ovr").estimates
    assert {name for name in of_listed if again.estimates[name] != of_listed[name]} == OF_ALL_LABELS


def test_a_truth_with_a_comment_for_header_gives_the_same_bits(results):
    scores = FOLDER / "cs771_bonsai" / "score_mat.txt.gz"
    again = score("cs771_bonsai", "tst_data.y", scores, "trn_X_Y.txt.gz", n_labels=3400)
    assert again.estimates == results("cs771_bonsai", "bonsai_K130_T2").estimates


@pytest.mark.parametrize(
    ("folder", "systems"),
    [
        ("delicious", ["napkinxc_plt.txt.gz", "pecos_xrlinear.txt.gz"]),
        ("eurlex4k", ["napkinxc_plt.txt.gz", "pecos_xrlinear.txt.gz"]),
        ("wiki10_haxmlnet", ["haxmlnet1024.txt.gz", "haxmlnet2048.txt.gz"]),
    ],
)
def test_files_and_their_matrices_give_the_same_bits(folder, systems):
    truth = FOLDER / folder / "tst_X_Y.txt.gz"
    train = FOLDER / folder / "trn_X_Y.txt.gz"
    weighing = {"train": train} if train.exists() else {}
    matrices = {"train": read_matrix(train)} if train.exists() else {}
    for system in systems:
        by_file = xmceval.score(truth, FOLDER / folder / system, metrics=OURS, **weighing)
        by_array = xmceval.score(read_matrix(truth), read_matrix(FOLDER / folder / system), metrics=OURS, **matrices)
        assert by_array.estimates == by_file.estimates


# Doubts: none about good models, and one if their rows or labels are moved


DOUBTED = {
    "bibtex": ("tst_X_Y.txt.gz", ["napkinxc_br.txt.gz", "napkinxc_plt.txt.gz", "pecos_xrlinear.npz"]),
    "bibtex_official_sample": ("labels.npz", ["scores.npz"]),
    "cs771_bonsai": ("tst_X_Y.txt.gz", ["score_mat.txt.gz"]),
    "delicious": ("tst_X_Y.txt.gz", ["napkinxc_plt.txt.gz", "pecos_xrlinear.txt.gz"]),
    "eurlex4k": ("tst_X_Y.txt.gz", ["napkinxc_plt.txt.gz", "pecos_xrlinear.txt.gz"]),
    "eurlex_attentionxml": ("tst_X_Y.txt.gz", ["attentionxml_ensemble.npz", "attentionxml_tree0.txt.gz"]),
    "wiki10_haxmlnet": ("tst_X_Y.txt.gz", ["haxmlnet1024.txt.gz", "haxmlnet2048.txt.gz"]),
}


def moved(scores, by):
    """The scores of each label as those of another one; the label at the end has none."""
    kept = (scores.indices + by >= 0) & (scores.indices + by < scores.shape[1])
    ends = np.concatenate([[0], np.cumsum(kept)])[scores.indptr]
    return csr_matrix((scores.data[kept], scores.indices[kept] + by, ends), shape=scores.shape)


EVERY_FILE = [(name, file) for name, (_, files) in DOUBTED.items() for file in files]


@pytest.mark.parametrize(("name", "file"), EVERY_FILE)
@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
def test_good_models_raise_a_doubt_only_where_rows_or_labels_are_in_other_places(name, file):
    truth, scores = (read_matrix(FOLDER / name / each) for each in (DOUBTED[name][0], file))

    def doubts(y_score):
        lines = xmceval.score(truth, y_score, metrics=["P"], k=[1, 5]).warnings
        return [line.rpartition(": ")[2] for line in lines if line.startswith("P@1 is ")]

    assert doubts(scores) == []
    assert doubts(scores[np.random.default_rng(0).permutation(scores.shape[0])]) == ["are the rows shuffled?"]
    assert doubts(moved(scores, 1)) == ["are the labels 1-based, and the truth's 0-based?"]
    assert doubts(moved(scores, -1)) == ["are the labels 0-based, and the truth's 1-based?"]
    rows = np.arange(scores.shape[0])
    assert doubts(scores[np.roll(rows, 1)]) == ["do the predictions have a row too many at the start?"]
    assert doubts(scores[np.roll(rows, -1)]) == ["do the predictions lack their first row?"]
    assert doubts(csr_matrix((-scores.data, scores.indices, scores.indptr), scores.shape)) == [
        "are low scores the best?"
    ]


@pytest.mark.parametrize(("name", "file"), [pair for pair in EVERY_FILE if pair[1].endswith(".txt.gz")])
def test_files_without_their_headers_are_read_alike_and_transposed_ones_are_refused(name, file):
    """Without a header the number of labels is unknown, on which the values do not depend; nothing is in doubt."""
    paths = [FOLDER / name / part for part in (DOUBTED[name][0], file)]
    headless = []
    for number, path in enumerate(paths):
        Path(str(number)).write_bytes(gzip.decompress(path.read_bytes()).partition(b"\n")[2])
        headless.append(str(number))
    expected = xmceval.score(*paths, metrics="P,nDCG", k=[1, 5])
    for pair in (headless, (paths[0], headless[1]), (headless[0], paths[1])):
        result = xmceval.score(*pair, metrics="P,nDCG", k=[1, 5])
        assert (dict(result), result.doubts) == (dict(expected), expected.doubts)
    with pytest.raises(xmceval.DataError, match=r"y_score has .* columns, but .* labels"):
        xmceval.score(paths[0], read_matrix(paths[1]).T, metrics="P", k=1)
