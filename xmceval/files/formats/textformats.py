"""Formats of text, one row per line."""

from __future__ import annotations

from xmceval.files.formats.format import IDS, SCORES, SIZES, TRUTH, Known, Sample

TEXT: dict[str, Known] = {
    "pairs": Known(
        "rows of idx:value",
        (TRUTH, SCORES),
        "text with one row per instance, of label:value between blanks",
        (
            Sample("tst_X_Y.txt", "3 5\n0:1.0 4:1.0\n\n2:1.0\n", "truth; the header is rows and labels"),
            Sample("score_mat.txt", "3 5\n0:0.91 4:0.3\n1:0.2\n2:-1.5 3:-2\n", "predictions, in any order in a row"),
            Sample("predictions.txt", "3 2\n4:0.91 0:0.3\n1:0.2 2:0.1\n2:1 3:0\n", "header of rows and k, by DiSMEC++"),
            Sample("predict.txt", "4:0.91 0:0.3 \n1:0.2 \n2:1.0 3:0.5 \n", "without a header, by napkinXC"),
        ),
        {
            "XMLRepository": "trn_X_Y.txt and tst_X_Y.txt as truth; score_mat.txt of its scripts",
            "napkinXC": "what nxc predict prints, without a header",
            "DiSMEC++": "predictions.txt, with the header rows k",
            "pyxclib": "what write_sparse_file writes",
        },
        "by an integer and a colon at the start of a row; two numbers on the first line are the header",
        f"{SIZES}; {IDS}; that a header of truth and predictions agree; that values are numbers and not NaN",
        ("xmc", "plain"),
    ),
    "labels": Known(
        "rows of label,label feature:value",
        (TRUTH,),
        "text of labels and features; the features are skipped",
        (Sample("test.txt", "4 5 3\n0,2 0:0.5 3:1.2\n1 1:0.3\n 0:0.7 4:0.1\n0,1,2 2:1.0\n"),),
        {
            "XMLRepository": "train.txt and test.txt, the data sets with features",
            "omikuji": "its data files",
            "napkinXC": "its data files",
            "DiSMEC": "its data files",
        },
        "by the header points, features and labels, or by rows of labels before a feature:value",
        f"{SIZES}; {IDS}; a row without labels begins with a blank",
    ),
    "ids": Known(
        "lists of label ids",
        (TRUTH, SCORES),
        "text of label ids between commas or blanks; as predictions the best first",
        (
            Sample("GS.txt", "3,17\n5\n0,2,9\n", "true labels"),
            Sample("topk.txt", "17 3 8\n5 1 0\n2 0 4\n", "predictions in the order of their rank"),
        ),
        {"DiSMEC": "topk.txt of its Java version as predictions, GS.txt as truth"},
        "by rows that are nothing but whole numbers",
        IDS,
        ("lists",),
    ),
    "scored": Known(
        "rows of tab-separated 'label score'",
        (SCORES,),
        "text of label, blank and score, with tabs between",
        (Sample("predictions.tsv", "3 0.912\t17 0.344\t5 0.1\n17 0.5\n\n8 0.777\t3 0.001\n"),),
        {"omikuji": "what omikuji test writes to --out_path"},
        "by whole numbers, each with a number after one blank, between tabs",
        f"{IDS}; an empty line is a row without predictions",
        ("omikuji",),
    ),
    "names": Known(
        "lists of label names",
        (TRUTH, SCORES),
        "text of label names between blanks; with --labels FILE, one name per line",
        (Sample("test_labels.txt", "red blue\ngreen\nblue red\n"),),
        {"AttentionXML": "test_labels.txt as truth", "LightXML": "test_labels.txt as truth"},
        "by words that are not all numbers; --labels is needed then",
        "that every word is a name of a label",
    ),
    "tabbed-names": Known(
        "tab-separated lists of label names",
        (TRUTH, SCORES),
        "text of label names between tabs, so that names may have blanks; with --labels FILE",
        (Sample("labels.txt", "light red\tblue\ngreen\nblue\tlight red\n"),),
        {"PECOS": "the labels of text2text"},
        "by tabs, where the words between blanks are not all names of labels",
        "that every field is a name of a label",
    ),
    "comma-names": Known(
        "lists of label names between commas",
        (TRUTH, SCORES),
        "text of label names that are numbers, between commas; with --labels FILE",
        (Sample("labels.txt", "1001,1005\n1003\n1005,1001\n"),),
        {},
        "by whole numbers of which at least one is a name in --labels",
        "that every number is a name of a label",
    ),
    "fasttext": Known(
        "rows of __label__name",
        (TRUTH, SCORES),
        "text with __label__ before each label; in predictions each is followed by its score",
        (
            Sample("test.txt", "__label__3 __label__17 some words\nmore words __label__5\n", "truth among words"),
            Sample("predictions.txt", "__label__17 0.91 __label__3 0.3\n__label__5 0.5\n", "predictions"),
        ),
        {"fastText": "its data files; what predict-prob prints", "extremeText": "the same"},
        "by the prefix __label__ at the start of a word",
        "that labels are ids, or with --labels names",
    ),
    "fasttext-lists": Known(
        "lists of __label__name",
        (TRUTH, SCORES),
        "text of nothing but labels after __label__; as predictions the best first",
        (Sample("predictions.txt", "__label__17 __label__3\n__label__5 __label__17\n"),),
        {"fastText": "what predict prints", "extremeText": "the same"},
        "by rows in which every word begins with __label__",
        "that labels are ids, or with --labels names",
    ),
    "json": Known(
        "JSON lines",
        (TRUTH, SCORES),
        "one JSON object, or one list of objects, per line",
        (
            Sample("tst.json", '{"uid": "a", "target_ind": []}\n{"uid": "b", "target_ind": [3, 17]}\n', "truth"),
            Sample("predictions.json", '{"data": [[17, 0.91], [3, 0.3]]}\n{"data": [[5, 0.5]]}\n', "predictions"),
            Sample("ranked.jsonl", '[{"label": 17, "score": 0.91}]\n[{"label": 3, "score": 0.3}]\n', "predictions"),
        ),
        {
            "XMLRepository": "tst.json.gz of the raw texts as truth",
            "PECOS": "predictions of text2text, with --labels of its output items",
        },
        "by { or [ at the start of the first row",
        "that each row is such an object, that labels are ids or with --labels names, and that scores are numbers",
    ),
}
