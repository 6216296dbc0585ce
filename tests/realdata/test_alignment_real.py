"""Real predictions of good models: no doubt as they are, and one with their rows or labels in other places."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from numba import config
from scipy.sparse import csr_matrix
from support.realdata import read_matrix

import xmceval

FOLDER = Path(os.environ.get("XMCEVAL_REALDATA", "."))
pytestmark = [
    pytest.mark.skipif("XMCEVAL_REALDATA" not in os.environ, reason="XMCEVAL_REALDATA is unset"),
    pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too much data for plain Python"),
]
SETS = {
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


@pytest.mark.parametrize(("name", "file"), [(name, file) for name, (_, files) in SETS.items() for file in files])
@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
def test_good_models_raise_a_doubt_only_where_rows_or_labels_are_in_other_places(name, file):
    truth, scores = (read_matrix(FOLDER / name / each) for each in (SETS[name][0], file))

    def doubts(y_score):
        lines = xmceval.score(truth, y_score, metrics=["P"], k=[1, 5]).warnings
        return [line.rpartition(": ")[2] for line in lines if line.startswith("P@1 is ")]

    assert doubts(scores) == []
    assert doubts(scores[np.random.default_rng(0).permutation(scores.shape[0])]) == ["are the rows shuffled?"]
    assert doubts(moved(scores, 1)) == ["are the labels 1-based, and those of the truth 0-based?"]
    assert doubts(moved(scores, -1)) == ["are the labels 0-based, and those of the truth 1-based?"]
    assert doubts(scores[np.roll(np.arange(scores.shape[0]), 1)]) == [
        "do the predictions have a row too many at the start?"
    ]
    assert doubts(scores[np.roll(np.arange(scores.shape[0]), -1)]) == ["do the predictions lack their first row?"]
    assert doubts(csr_matrix((-scores.data, scores.indices, scores.indptr), scores.shape)) == [
        "are low scores the best?"
    ]


@pytest.mark.parametrize(
    ("name", "file"), [(name, file) for name, (_, files) in SETS.items() for file in files if file.endswith(".txt.gz")]
)
def test_files_without_their_headers_are_read_alike_and_transposed_ones_are_refused(name, file):
    """Without a header the number of labels is unknown, on which the values do not depend; nothing is in doubt."""
    paths = [FOLDER / name / part for part in (SETS[name][0], file)]
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
