"""Formats of files that are passed beside truth and predictions, or to a command of their own."""

from __future__ import annotations

from xmceval.files.formats.format import Format, Sample

BESIDE = (
    Format(
        "filter",
        "",
        ("--filter",),
        "text of 'row label' pairs that are removed from the predictions",
        (Sample("filter_labels_test.txt", "0 54982\n0 90562\n3 111142\n"),),
        {"XMLRepository": "filter_labels_test.txt of the LF sets", "DeepXML": "tst_filter_labels.txt"},
        "",
        "that both are whole numbers within the rows and labels of the truth; floats such as 3.0 are read too",
    ),
    Format(
        "label-names",
        "",
        ("--labels",),
        "text of one label name per line, label 0 first; or an npy array of strings",
        (Sample("lbl.txt", "red\nblue\ngreen\n"),),
        {
            "XMLRepository": "lbl.txt of the raw texts",
            "AttentionXML": "the classes_ of labels_binarizer, written one per line",
            "PECOS": "output-items.txt",
        },
        "",
        "that no line is empty and no name appears twice",
    ),
    Format(
        "numbers",
        "",
        ("--counts", "--inverse-propensities", "--sample-weight"),
        "text of one number per line, or an npy array of one dimension",
        (Sample("inv_prop.txt", "1.25\n3.5\n2.75\n"),),
        {"XMLRepository": "inv_prop.txt", "napkinXC": "its inverse propensities", "DiSMEC++": "its label weights"},
        "",
        "that there is one number per label, or per row; 1/p is at least 1",
    ),
    Format(
        "row-values",
        "",
        ("compare --rows",),
        "values of metrics by row, as --save-rows and tools of the ranking field write them",
        (Sample("eval.txt", "map q1 0.5\nmap q2 0.25\nmap all 0.375\n"),),
        {"TREC": "what trec_eval -q prints", "ir_measures": "what -q prints"},
        "by three columns in any order that a header names, or measure, query and value",
        "that every row has one value of each measure",
    ),
)
