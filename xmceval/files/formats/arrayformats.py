"""Formats of arrays."""

from __future__ import annotations

from xmceval.files.formats.format import IDS, SCORES, TRUTH, Format, python

ARRAYS = (
    Format(
        "npz",
        "npz, scipy.sparse",
        (TRUTH, SCORES),
        "a sparse matrix instances x labels, in CSR, CSC or COO; stored entries are predictions, whatever their order",
        (
            python(
                "score.npz",
                "import scipy.sparse",
                "scores = scipy.sparse.csr_matrix([[0.91, 0, 0.3], [0, 0.5, 0]])",
                "scipy.sparse.save_npz('score.npz', scores)",
            ),
        ),
        {
            "PECOS": "what -so of xlinear predict names; Y.tst.npz as truth",
            "XR-Transformer": "what -so of its predict names",
            "X-Transformer": "what -p or -so of its predict names; Y.tst.npz as truth",
            "DeepXML": "tst_predictions_clf.npz, tst_predictions_knn.npz, score.npz",
            "SiameseXML": "tst_predictions_*.npz",
            "NGAME": "tst_predictions_*.npz, score_*.npz",
            "DEXA": "tst_predictions_*.npz, score_*.npz",
            "DECAF": "*_predictions*.npz",
            "ECLARE": "*_predictions*.npz",
            "Renee": "score_mat.npz, saved before its filter is applied (pass --filter)",
            "ELIAS": "tst_score_mat.npz",
            "DEXML": "tst_score_mat.npz",
            "CascadeXML": "*_preds.npz, which has one column too many: it is dropped and counted",
            "pyxclib": "predictions that are saved as .npz",
        },
        "by the signature of a zip archive, and the arrays data, indices, indptr and shape",
        f"that the arrays fit together and the shape fits the truth; {IDS}; that no score is NaN",
        ("npz",),
    ),
    Format(
        "npz-arrays",
        "npz arrays",
        (SCORES,),
        "two arrays instances x k, labels and scores; -1 is padding",
        (
            python(
                "top.npz",
                "import numpy",
                "numpy.savez('top.npz', labels=[[17, 3], [5, -1]], scores=[[0.91, 0.3], [0.5, 0]])",
            ),
        ),
        {"pyxclib": "a dict of indices and scores that is saved with numpy.savez"},
        "by arrays called labels or indices, and scores",
        f"that both have one shape; {IDS}",
    ),
    Format(
        "npy-pair",
        "npy pair",
        (SCORES,),
        "NAME-labels.npy and NAME-scores.npy, instances x k; either file or NAME is passed",
        (
            python(
                "model-labels.npy",
                "import numpy",
                "numpy.save('model-labels.npy', [[17, 3], [5, -1]])",
                "numpy.save('model-scores.npy', [[0.91, 0.3], [0.5, 0]])",
            ),
        ),
        {
            "AttentionXML": "results/NAME-labels.npy and -scores.npy; the labels are names, so pass --labels",
            "LightXML": "results/NAME-labels.npy and -scores.npy, for Wikipedia-500K and Amazon-670K; ids are places "
            "in the sorted set of all labels, or names with --labels",
        },
        "by the ending -labels.npy or -scores.npy",
        f"that both have one shape; {IDS}; that names are those of --labels",
        ("npy",),
    ),
    Format(
        "npy-ranked",
        "npy, ranked",
        (SCORES,),
        "an array instances x k of label ids or names, the best first; -1 is padding",
        (
            python(
                "ranked.npy",
                "import numpy",
                "numpy.save('ranked.npy', [[17, 3], [5, 8]])",
            ),
        ),
        {"Faiss": "the ids that a search returns, saved with numpy.save"},
        "by whole numbers of which some exceed the width of the array",
        IDS,
    ),
    Format(
        "npy",
        "npy, dense",
        (TRUTH, SCORES),
        "an array instances x labels; in predictions -inf is not predicted",
        (
            python(
                "scores.npy",
                "import numpy",
                "numpy.save('scores.npy', [[0.91, 0.1, 0.3], [0.2, 0.5, 0.4]])",
            ),
        ),
        {
            "LightXML": "the logits of small data sets, which its ensemble reads",
            "PyTorch": "logits.numpy() that is saved with numpy.save",
        },
        "by the signature of npy, and two dimensions",
        "that its shape fits the truth and no score is NaN",
    ),
)
