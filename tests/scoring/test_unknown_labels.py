"""Predicted names that are no label: an error that names the option, or a wrong prediction each."""

import json

import numpy as np
import pytest
from judge import table
from support.approved import check_lines
from support.close import close
from support.files import write
from support.measures import named, options_of, parse
from support.strategies import random_case, to_csr, to_text

import xmceval
from xmceval import METRICS

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
L = 12
NAMES = [f"name {label}" for label in range(L)]
MISSES = {"labels": "labels.txt", "unknown_labels": "miss"}
OTHERS = ["nonsense", "name 99", "é", "name  1"]
every_metric = pytest.mark.parametrize("name", METRICS)
REFUSED = {"tn", "MCC", "balanced_accuracy", "microAUC", "microRecallAtPrecision"}


def with_others(seed):
    """Return truth, and scores by name in which some names are no label, by row."""
    case, rng = random_case(seed), np.random.default_rng(seed)
    truth = [dict.fromkeys(row, 1.0) for row in case.truth]
    rows = []
    for scores in case.scores:
        row = {NAMES[label]: score for label, score in scores.items()}
        for name in rng.choice(OTHERS, rng.integers(0, 3), replace=False).tolist():
            row[name] = float(rng.integers(-3, 4)) * 0.5
        rows.append(row)
    return truth, rows


def as_json(rows):
    return "".join(json.dumps({"data": [*row.items()]}) + "\n" for row in rows)


@pytest.fixture
def files():
    truth, rows = with_others(3)
    write("labels.txt", "\n".join(NAMES))
    write("t.txt", to_text(truth, L))
    write("p.jsonl", as_json(rows))
    write("q.jsonl", as_json(rows[::-1]))
    return truth, rows


def best(scores, k):
    """Return the k best labels of a row, the lower one first where scores are equal."""
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k])


@every_metric
def test_each_is_one_more_label_of_its_row_that_is_never_true(name, files):
    """The judge has some more columns, which it leaves out of rows without such names; means over labels lack them."""
    truth, rows = files
    counts = [sum(word in OTHERS for word in row) for row in rows]
    scores = []
    for row in rows:
        others = iter(range(L, L + max(counts)))
        scores.append({NAMES.index(word) if word in NAMES else next(others): score for word, score in row.items()})
    filtered = [{*range(L + count, L + max(counts))} for count in counts]
    inverse = [*np.arange(1.0, L + 1), *[1.0] * max(counts)]
    options = MISSES | {"inverse_propensities": np.array(inverse[:L])}
    options["threshold"] = 0.0 if METRICS[name].family == "confusion" else None
    numbers = {key: 2 for key in METRICS[name].numbers if key in {"beta", "max"}}
    for chosen in options_of(METRICS[name]):
        asked = named(METRICS[name], {**chosen, **numbers}, 3)
        [measure] = parse([asked], [])
        if measure.average in {"micro", "sum"} and name in REFUSED:
            with pytest.raises(xmceval.UsageError, match="not available with unknown_labels='miss'"):
                xmceval.score("t.txt", "p.jsonl", metrics=asked, **options)
            continue
        result = xmceval.score("t.txt", "p.jsonl", metrics=asked, **options)
        rules = table.Rules(L + max(counts), inverse, threshold=0.0, filtered=filtered)
        shown = scores
        if measure.average in {"macro", "weighted", "labels", "columns"}:
            rules = table.Rules(L, inverse, threshold=0.0)
            depths = [len(true) if measure.metric.cuts_at_n else measure.k or L + 9 for true in truth]
            kept = [best(row, depth) for row, depth in zip(scores, depths, strict=True)]
            shown = [{label: score for label, score in row.items() if label < L} for row in kept]
        assert result[asked] == close(table.evaluate(asked, truth, shown, rules) or 0.0), asked


COLOURS = ["red", "orange", "light green", "blue"]
WORDS = [["red", "pink", "blue"], ["sky blue", "pink", "light green"], ["orange"]]  # ranked; two are no labels
TRUE = [[0, 3], [2], [0]]


def as_ranked(words):
    return as_json({word: -rank for rank, word in enumerate(row)} for row in words)


def as_matrix(words):
    return np.array([[*row, *[""] * (3 - len(row))] for row in words])


def as_table(words):
    pd = pytest.importorskip("pandas")
    rows = [(row, word, 1 / (1 + rank)) for row, words in enumerate(words) for rank, word in enumerate(words)]
    return pd.DataFrame(rows, columns=["row", "label", "score"])


FORMS = {
    "pairs.jsonl": lambda words: write("p.jsonl", as_ranked(words)),
    "escaped.jsonl": lambda words: write("p.jsonl", as_ranked(words).replace("p", "\\u0070")),
    "between tabs": lambda words: write("p.txt", "".join("\t".join(row) + "\n" for row in words)),
    "strings": lambda words: np.save("p.npy", as_matrix(words)) or "p.npy",
    "objects": lambda words: np.save("p.npy", as_matrix(words).astype(object)) or "p.npy",
    "table": as_table,
    "table in a file": lambda words: as_table(words).to_csv("p.csv", index=False) or "p.csv",
    "lists": lambda words: pytest.importorskip("pandas").DataFrame({"label": words}),
}


@pytest.mark.parametrize("form", FORMS)
def test_names_in_any_form_are_misses_at_their_ranks(form):
    result = xmceval.score(
        TRUE, FORMS[form](WORDS), labels=COLOURS, unknown_labels="miss", k=[1, 3], metrics="P,RR,microP,macroP"
    )
    assert [result[name] for name in ("P@1", "P@3", "RR@3", "microP@3")] == close([1 / 3, 1 / 3, 4 / 9, 3 / 7])
    assert result["macroP@3"] == close(3 / 4)
    [fact] = [line for line in result.facts if "no label" in line]
    assert fact.endswith("names that are no label count as wrong predictions: 2, such as 'pink', 'sky blue'")


def test_documents_of_a_run_are_misses_beside_a_list_of_labels():
    qrels = {"q1": {"red": 1}, "q2": {"blue": 1}}
    run = {"q1": {"pink": 0.9, "red": 0.8}, "q2": {"blue": 0.9, "pink": 0.1}}
    result = xmceval.score(qrels, run, labels=COLOURS, unknown_labels="miss", metrics="RR,coverage_error")
    assert dict(result) == {"RR@all": 0.75, "coverage_error": 1.5}


def test_systems_have_their_own_and_states_add_up(files, run):
    options = ("--labels", "labels.txt", "--unknown-labels", "miss", "-m", "P,microF1,macroF1", "-k", "3")
    report = json.loads(run("compare", "t.txt", "p.jsonl", "q.jsonl", *options, "-o", "json")[1])
    assert report["options"]["unknown_labels"] == "miss"
    alone = MISSES | {"metrics": "P,microF1,macroF1", "k": 3}
    for system, path in zip(report["systems"], ("p.jsonl", "q.jsonl"), strict=True):
        result = xmceval.score("t.txt", path, **alone)
        assert {name: metric["value"] for name, metric in system["metrics"].items()} == dict(result)
    truth, rows = files
    for number, part in enumerate((slice(15), slice(15, None))):
        write("t0.txt", to_text(truth[part], L))
        write("p0.jsonl", as_json(rows[part]))
        xmceval.score("t0.txt", "p0.jsonl", save_state=f"{number}.npz", **alone)
    merged = xmceval.merge(["0.npz", "1.npz"])
    assert dict(merged) == close(dict(xmceval.score("t.txt", "p.jsonl", **alone)))
    assert sum("no label" in line for line in merged.facts) == 2


@pytest.mark.parametrize(
    "metric", ["macroF1(over=truth)@3", "macroP(over=seen)@3", "f1_score(average=macro,over=truth)"]
)
def test_differences_of_means_over_labels_are_tested_without_them(files, metric):
    """As over true labels, where such names are columns that are never true; here every label is true somewhere."""
    truth, _ = files
    systems = {
        name: [
            {f"{word} {i}" if word in OTHERS else word: score for word, score in row.items()}
            for i, row in enumerate(with_others(seed)[1])
        ]
        for name, seed in (("a", 3), ("b", 5))
    }
    paths = {name: write(f"{name}.jsonl", as_json(rows)) for name, rows in systems.items()}
    [tested] = xmceval.compare("t.txt", paths, metrics=metric, **MISSES).differences
    words = [word for rows in systems.values() for row in rows for word in row]
    columns = {name: label for label, name in enumerate(dict.fromkeys([*NAMES, *words]))}
    matrices = {
        name: to_csr([{columns[word]: score for word, score in row.items()} for row in rows], len(columns), np.float64)
        for name, rows in systems.items()
    }
    over_true = metric.replace("seen", "truth")
    [wide] = xmceval.compare(to_csr(truth, len(columns)), matrices, metrics=over_true).differences
    assert (tested.difference, tested.p) == close((wide.difference, wide.p))


@pytest.mark.usefixtures("files")
def test_beside_some_labels_they_stay_misses():
    """As if the other labels were neither true nor predicted."""
    options = MISSES | {"metrics": "P,microP,LRAP,AUC", "k": 2}
    result = xmceval.score("t.txt", "p.jsonl", only_labels=NAMES[2:7], **options)
    truth, rows = with_others(3)
    write("few.txt", "\n".join(NAMES[2:7]))
    left = [{word: score for word, score in row.items() if word not in {*NAMES} - {*NAMES[2:7]}} for row in rows]
    write("cut.jsonl", as_json(left))
    true = [[label - 2 for label in row if 2 <= label < 7] for row in truth]
    assert dict(result) == dict(xmceval.score(true, "cut.jsonl", **{**options, "labels": "few.txt"}))


@pytest.mark.usefixtures("files")
def test_what_is_refused_is_refused_in_these_words():
    def score(lines, **options):
        text = "".join(json.dumps({"data": row}) + "\n" for row in lines)
        return xmceval.score(
            [[0], [1]], write("s.jsonl", text), **{"k": 1, "metrics": "P", "labels": "labels.txt", **options}
        )

    check_lines(__file__, "unknownlabels.txt", globals() | locals())
