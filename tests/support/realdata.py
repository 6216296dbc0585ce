"""Real data: the systems of each set that other tools have values of, and a reader in Python's own means."""

import gzip

import numpy as np
from scipy.sparse import csr_matrix, load_npz

# Data set: its truth, its training labels, and the file of each system
SETS = {
    "bibtex": (
        "tst_X_Y.txt.gz",
        "trn_X_Y.txt.gz",
        {
            "napkinxc_plt": "napkinxc_plt.txt.gz",
            "napkinxc_br": "napkinxc_br.txt.gz",
            "pecos_xrlinear": "pecos_xrlinear.npz",
            "sklearn_ovr": "sklearn_ovr",
        },
    ),
    "cs771_bonsai": ("tst_X_Y.txt.gz", "trn_X_Y.txt.gz", {"bonsai_K130_T2": "score_mat.txt.gz"}),
    "eurlex_attentionxml": (
        "tst_X_Y.txt.gz",
        None,  # propensities in the expected files are from the truth
        {"attentionxml_tree0": "attentionxml_tree0.txt.gz", "attentionxml_ensemble": "attentionxml_ensemble.npz"},
    ),
}
SYSTEMS = [(name, system) for name, (_, _, systems) in SETS.items() for system in systems]
TIED = [each for each in SYSTEMS if each[1] not in {"napkinxc_plt", "napkinxc_br", "sklearn_ovr"}]

# Words of the expected values of XMLRepository's own sample: our names
GOLDEN = {
    "P": "P",
    "nDCG": "nDCG",
    "R": "R",
    "hit": "Hit",
    "MRR": "RR",
    "RP": "RP",
    "PSP": "PSP",
    "PSnDCG_jain_ratio_of_sums": "PSnDCG(norm=sum)",
    "PSnDCG_pyxclib_min_k_y": "PSnDCG",
    "PSP_unnormalised": "PSP(norm=none)",
    "PSnDCG_literal_formula": "PSnDCG(norm=none)",
    "PSR_normalised": "PSR",
}


def files_of(folder, system):
    """Return the names of the truth and of the predictions of a system."""
    truth, _, systems = SETS[folder]
    return truth, systems[system]


def read_matrix(path):
    """Read npz, or `rows cols` and lines of `idx:val idx:val`."""
    if path.suffix == ".npz":
        return load_npz(path).tocsr()
    with gzip.open(path, "rt") as lines:
        n_rows, n_labels = map(int, next(lines).split())
        rows = [[entry.split(":") for entry in line.split()] for line in lines]
    ends = np.cumsum([0, *map(len, rows)])
    labels, values = ([float(entry[i]) for row in rows for entry in row] for i in (0, 1))
    return csr_matrix((values, np.array(labels, dtype=np.int64), ends), shape=(n_rows, n_labels))
