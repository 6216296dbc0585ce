"""Formats that list entries, of tables and of the ranking field."""

from __future__ import annotations

from xmceval.files.formats.format import ENTRIES, SCORES, TRUTH, Format, Sample, python

HELD = (
    Format(
        "triples",
        "lines of row, label and score",
        (TRUTH, SCORES),
        "CSV or TSV of one entry per line; truth may lack the score",
        (
            Sample("predictions.csv", "row,label,score\n0,17,0.91\n0,3,0.3\n1,5,0.5\n", "columns by their names"),
            Sample("predictions.tsv", "0\t17\t0.91\n0\t3\t0.3\n1\t5\t0.5\n", "in this order, without a header"),
        ),
        {"pandas": "to_csv(index=False)"},
        "by a header that names row and label, or by three columns of which the last has fractions",
        ENTRIES,
    ),
    Format(
        "parquet",
        "Parquet",
        (TRUTH, SCORES),
        "the columns row, label and score; needs the extra xmceval[parquet]",
        (
            python(
                "predictions.parquet",
                "import pyarrow, pyarrow.parquet",
                "table = pyarrow.table({'row': [0, 0, 1], 'label': [17, 3, 5], 'score': [0.91, 0.3, 0.5]})",
                "pyarrow.parquet.write_table(table, 'predictions.parquet')",
            ),
        ),
        {"pandas": "to_parquet", "Spark": "write.parquet, one file of it"},
        "by the bytes PAR1 at the start; columns by their names",
        f"{ENTRIES}; that no value is missing",
    ),
)

RANKING = (
    Format(
        "qrels",
        "TREC qrels",
        (TRUTH,),
        "query, 0, document and grade; rows are queries, labels documents",
        (Sample("test.qrels", "q1 0 doc7 2\nq1 0 doc9 0\nq2 0 doc7 1\n"),),
        {"TREC": "qrels", "ir_datasets": "exported qrels"},
        "by four columns, of which the second is 0 and the last a whole number",
        "that every line has four columns; grades below 0 count as not judged, with a warning",
    ),
    Format(
        "beir",
        "BEIR qrels",
        (TRUTH,),
        "query, document and grade between tabs, below a header; rows are queries, labels documents",
        (Sample("test.tsv", "query-id\tcorpus-id\tscore\nq1\tdoc7\t1\nq2\tdoc9\t1\n"),),
        {"BEIR": "qrels/test.tsv"},
        "by the header query-id, corpus-id and score",
        "that every line has three columns",
    ),
    Format(
        "run",
        "TREC run",
        (SCORES,),
        "query, Q0, document, rank, score and tag, beside qrels as truth; the score decides, not the rank",
        (Sample("bm25.run", "q1 Q0 doc7 1 3.5 bm25\nq1 Q0 doc9 2 1.25 bm25\nq2 Q0 doc7 1 2 bm25\n", beside="qrels"),),
        {"TREC": "runs", "Anserini": "runs", "Pyserini": "runs", "PyTerrier": "runs", "ranx": "runs"},
        "by six columns, of which the second is Q0 or 0 and the fifth a number",
        "that scores are numbers; queries without judgments, and judged ones without a line, are reported",
    ),
)
