"""Records: JSON, CSV and frames have the same values; every attribute of what is written is in its JSON."""

import csv
import io
import json
import math
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import xmceval
from xmceval.comparison.comparison import Comparison
from xmceval.comparison.difference import Difference
from xmceval.comparison.options import Testing
from xmceval.files.saved_rows import read_rows
from xmceval.inspection.file import FileInspection
from xmceval.inspection.pair import PairInspection
from xmceval.inspection.report import StateInspection
from xmceval.labels.bins import Bin
from xmceval.labels.catalogue import Constants, Dataset, Published, Split
from xmceval.report.dataset_list import write_datasets
from xmceval.report.forms.data import to_plain, write_document
from xmceval.rows.filters import FilterReport
from xmceval.scoring.estimates import Estimate


@dataclass
class Bar:
    low: int
    high: float


def test_a_document_has_null_for_what_is_no_number_and_texts_for_keys():
    document = {"bars": (Bar(1, 2.0), Bar(3, math.inf)), "by": {1: 0.25, "x": math.nan}, "note": None, "is": True}
    assert to_plain(document) == {
        "bars": [{"low": 1, "high": 2.0}, {"low": 3, "high": None}],
        "by": {"1": 0.25, "x": None},
        "note": None,
        "is": True,
    }
    assert write_document({"a": "ä"}) == '{\n "a": "\\u00e4"\n}\n'
    assert write_document({"a": "ä"}, is_ascii=False) == '{\n "a": "ä"\n}\n'


def test_an_infinite_value_is_null_in_json_empty_in_csv_and_itself_in_a_frame():
    result = xmceval.score(np.eye(3), np.eye(3), k=1, metrics="P")
    (figure,) = result.figures
    infinite = replace(result, figures=(replace(figure, estimate=replace(figure.estimate, value=math.inf)),))
    (system,) = infinite.to_dict()["systems"]
    assert system["metrics"]["P@1"]["value"] is None
    (line,) = csv.DictReader(io.StringIO(infinite._render("csv")))
    assert line["value"] == ""
    assert infinite.to_frame()["value"].tolist() == [math.inf]


NAMES = ["a\rb", "c\nd", "e\r\nf", 'g"h', "i,j", "\r", "k"]


def test_every_csv_is_read_back_with_the_names_and_ids_that_it_was_written_with():
    def column(name, text):
        lines = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
        assert all(None not in line for line in lines)
        return list(dict.fromkeys(line[name] for line in lines))

    truth, options = np.eye(7), {"metrics": "P", "k": 1}
    systems = {name: np.eye(7)[::-1] if i % 2 else np.eye(7) for i, name in enumerate(NAMES)}
    assert column("system", xmceval.score_all(truth, systems, **options).to_csv()) == NAMES
    comparison = xmceval.compare(truth, systems, **options)
    written = comparison.to_csv()
    assert {*column("system", written), *column("baseline", written)} == {*NAMES}
    datasets = {name: {"truth": truth} for name in NAMES}
    written = xmceval.benchmark({**options, "datasets": datasets, "systems": systems}).to_csv()
    assert (column("dataset", written), column("system", written)) == (NAMES, NAMES)
    xmceval.compare(truth, systems, **options, row_ids=NAMES, save_rows="rows.csv")
    written = Path("rows.csv").read_bytes().decode()
    assert (column("row", written), column("system", written)) == (NAMES, NAMES)
    assert (read_rows("rows.csv").rows, read_rows("rows.csv").systems) == (tuple(NAMES), tuple(NAMES))
    assert {d.p for d in xmceval.compare_rows(["rows.csv"]).differences} == {d.p for d in comparison.differences}


@pytest.fixture(scope="module", name="documents")
def make_documents(tmp_path_factory):
    """A comparison, an inspection and the catalogue, with everything that their JSON can have."""
    folder = tmp_path_factory.mktemp("records")
    rng = np.random.default_rng(1)
    truth = (rng.random((40, 9)) < 0.3).astype(int)
    scores = {name: rng.random(truth.shape) + 0.3 * truth for name in "ab"}
    options = {"metrics": "P", "k": 1, "train": truth, "by_frequency": 2, "filter": np.array([[0, 1]])}
    comparison = xmceval.compare(truth, scores, **options)
    for name, matrix in {"t": truth, "p": scores["a"]}.items():
        np.save(folder / f"{name}.npy", matrix)
    xmceval.score(truth, scores["a"], metrics="P", k=1, save_state=folder / "s.state")
    report = xmceval.inspect([folder / "t.npy", folder / "p.npy", folder / "s.state"])
    datasets = json.loads(write_datasets(["Amazon-670K", "EURLex-4K"], "json"))["datasets"]
    return comparison.to_dict(), json.loads(report.to_json()), datasets


# Attributes that no program reads, or reads under another name.
RECORDS = [
    (FileInspection, lambda _, report, __: report["files"][0], {"file"}),
    (PairInspection, lambda _, report, __: report["together"][0], set()),
    (StateInspection, lambda _, report, __: report["states"][0], set()),
    (Estimate, lambda comparison, *_: comparison["systems"][0]["metrics"]["P@1"], {"sd"}),
    (Bin, lambda comparison, *_: comparison["systems"][0]["slices"][0], set()),
    (FilterReport, lambda comparison, *_: comparison["systems"][0]["filter"], set()),
    (Difference, lambda comparison, *_: comparison["comparisons"][0], {"measure", "nouns", "test"}),
    (Testing, lambda comparison, *_: comparison, set()),
    (Comparison, lambda comparison, *_: comparison, {"results", "differences", "testing", "gates", "warnings"}),
    (Dataset, lambda _, __, datasets: datasets[0], set()),
    (Constants, lambda _, __, datasets: find(datasets, "disagreements"), set()),
    (Split, lambda _, __, datasets: find(datasets, "variants"), set()),
    (Published, lambda _, __, datasets: find(datasets, "published"), {"values"}),
]


def find(datasets, name):
    return next(each[name][0] for each in datasets if each[name])


@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
@pytest.mark.parametrize(("kind", "choose", "unread"), RECORDS, ids=[kind.__name__ for kind, *_ in RECORDS])
def test_every_attribute_of_a_record_is_in_json(kind, choose, unread, documents):
    assert {field.name for field in fields(kind)} - set(choose(*documents)) == unread


@pytest.mark.parametrize(("top", "keys"), [(2.0, {"1", "2"}), (0.5, {"0", "1", "2"})], ids=["whole", "fractions"])
def test_true_labels_without_a_score_are_keyed_by_the_lowest_grade_that_is_true(top, keys):
    metrics = ["LRAP", "LRAP(rel=2)"] if top == 2.0 else ["LRAP", "LRAP(rel=1)", "LRAP(rel=2)"]
    truth, scores = np.array([[top, 2, 1]]), csr_matrix([[0, 0, 1.0]])
    result = xmceval.score(truth, scores, metrics=metrics, grades=True)
    [system] = json.loads(result.to_json())["systems"]
    assert system["unscored"].keys() == keys
    assert system["unscored"][min(keys)] == {"number": 2, "n_true": 3}
