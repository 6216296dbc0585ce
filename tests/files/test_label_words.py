"""Tables by row whose labels are text are joined by it, and give the values of the same tables with numbers."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.executors import PicklingExecutor
from support.files import write

import xmceval

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
from support.tables import FORMS, LIST_FORMS, as_form, refusal, value  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N, N_LABELS = 40, 30
OPTIONS = {"metrics": "P,nDCG,AP,RR,microF1,macroF1,coverage(of=recommended,over=all)", "k": [1, 3], "n_labels": 35}
RNG = np.random.default_rng(8)
TRUTH, TRAIN = (
    pd.DataFrame(
        [(row, label) for row in range(n) for label in RNG.choice(N_LABELS, 3, replace=False)], columns=["row", "label"]
    )
    for n in (N, 90)
)
TRUTH = TRUTH[TRUTH.row != 7]  # which only the predictions have
PREDS = pd.DataFrame(
    [(row, label, RNG.random()) for row in range(N) for label in RNG.choice(35, 6, replace=False)],
    columns=["row", "label", "score"],
)
STYLES = {
    "words": lambda label: f"label {label * 7 % 37:02d}",
    "codes": lambda label: f"{label * 7 % 37}" if label % 3 else f"V{label}",  # as those of ICD-9
    "non-ASCII": lambda label: "é" * (label + 1),
}


def named(frame, style="words"):
    return frame.assign(label=frame.label.map(STYLES[style]))


def listed(frame):
    columns = [name for name in ("label", "score") if name in frame]
    rows = frame.groupby("row")[columns].agg(list).reindex(range(N))
    return rows.map(lambda row: row if isinstance(row, list) else []).reset_index(drop=True)


def values(truth, scores, **options):
    return dict(xmceval.score(truth, scores, **{**OPTIONS, **options}))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("style", STYLES)
def test_tables_with_text_have_the_values_of_numbers(style, form):
    expected, scores = values(TRUTH, PREDS), named(PREDS, style)
    frames = [named(TRUTH, style), scores.sample(frac=1, random_state=2)]
    assert values(*map(as_form, frames, [form] * 2, "tp")) == expected
    if form in LIST_FORMS:
        frames = [listed(named(frame, style)) for frame in (TRUTH, PREDS)]
        assert values(*map(as_form, frames, [form] * 2, "tp")) == expected
        assert values(frames[0], as_form(scores, form, "p")) == expected


@pytest.mark.parametrize("form", FORMS)
def test_training_labels_are_joined_by_the_same_words(form):
    options = {"metrics": "PSP,PSnDCG", "by_frequency": 2, "n_labels": 40}
    train = as_form(named(TRAIN), form, "train")
    found = values(named(TRUTH), named(PREDS), train=train, **options)
    assert found == pytest.approx(values(TRUTH, PREDS, train=TRAIN, **options))


@given(st.randoms(use_true_random=False), st.sampled_from([1, 2, 3]))
def test_the_order_of_lines_changes_nothing(rng, n_scores):
    truth, scores = (named(frame[frame.row < 5]) for frame in (TRUTH, PREDS))
    scores["score"] = [rng.randrange(n_scores) for _ in range(len(scores))]
    shuffled = [frame.iloc[rng.sample(range(len(frame)), len(frame))] for frame in (truth, scores)]
    names = {"row": "query_id", "label": "doc_id"}
    by_query = values(*(frame.rename(columns=names) for frame in (truth, scores)))
    assert values(*shuffled) == values(truth, scores) == by_query


def test_systems_tasks_and_missing_scores_change_nothing():
    scores, other = named(PREDS), PREDS.assign(label="x" + PREDS.label.astype(str), score=-np.inf)
    expected = values(TRUTH, PREDS)
    results = xmceval.score_all(named(TRUTH), {"a": other, "b": scores}, **OPTIONS | {"n_labels": 80})
    assert dict(results["b"]) == values(TRUTH, PREDS, n_labels=80)
    assert results["a"]["P@1"] == 0
    named(TRUTH).to_parquet("t")
    scores.to_parquet("p")
    assert values("t", "p", executor=PicklingExecutor()) == expected
    write("labels", "".join(f"{STYLES['words'](label)}\n" for label in range(N_LABELS + 5)))
    assert values("t", "p", labels="labels") == expected


@pytest.mark.parametrize("form", FORMS)
def test_text_never_meets_numbers(form):
    truth, scores = named(TRUTH), named(PREDS)
    dense = np.ones((N, N_LABELS))
    for pair, options, message in (
        ((as_form(truth, form, "t"), PREDS), {}, "its labels are text, and y_score has them by number"),
        ((truth, as_form(PREDS, form, "p")), {}, "y_true: its labels are text, and "),
        ((truth, dense), {}, "y_true: its labels are text, and y_score has them by number"),
        ((TRUTH, as_form(scores, form, "q")), {}, "is a name, not a label id"),
        ((dense, as_form(scores, form, "o")), {}, "is a name, not a label id"),
        ((truth, scores), {"train": as_form(TRAIN, form, "r")}, "y_true: its labels are text, and "),
        ((truth, scores), {"train": dense}, "y_true: its labels are text, and train has them by number"),
        ((TRUTH, PREDS), {"train": as_form(named(TRAIN), form, "n")}, "its labels are text, and y_true has them by"),
        ((dense, dense), {"train": as_form(named(TRAIN), form, "m")}, "its labels are text, and y_true has them by"),
        ((truth, scores), {"counts": np.ones(35), "n_train": 9}, "and counts has them by number"),
        ((truth, scores), {"inverse_propensities": np.ones(35)}, "and inverse_propensities has them by number"),
        ((truth, scores), {"filter": [(0, 1)]}, "and filter has them by number"),
    ):  # fmt: skip
        found = refusal(*pair, **{"metrics": "PSP" if "train" in options else "P", **options})
        assert message in found
        assert "pass labels=" in found


def test_what_needs_numbers_of_labels_is_refused():
    truth, scores = named(TRUTH), named(PREDS)
    with pytest.raises(xmceval.UsageError, match="the labels of y_true have no numbers"):
        value(truth, scores, metrics="macroF1(over=largest)")
    with pytest.raises(xmceval.DataError, match="its labels are only numbered by their places"):
        value(truth, scores, save_state="s")
    with pytest.raises(xmceval.DataError, match=r"y_true\[0\]: is a shard, and its labels are text"):
        value(xmceval.Shards([truth] * 2), xmceval.Shards([scores] * 2))
    with pytest.raises(xmceval.DataError, match="train: its labels are text"):
        xmceval.Evaluator(metrics="PSP", train=named(TRAIN))


def test_messages_and_doubts_name_the_labels():
    twice, others = pd.concat([named(PREDS), named(PREDS).iloc[[0]]]), "other " + PREDS.label.astype(str)
    with pytest.raises(xmceval.DataError, match=r"y_score row 0: label 'label \d\d' appears twice in this row"):
        value(named(TRUTH), twice)
    result = xmceval.score(named(TRUTH), named(PREDS).assign(label=others), metrics="P", k=1)
    doubt = "y_score: has no label of y_true: are they named alike, such as 'other "
    assert any(doubt in line for line in result.doubts)


def test_files_are_read_as_matrices():
    truth = named(TRUTH)
    truth.to_csv("t.csv", index=False)
    named(PREDS).to_csv("p.csv", index=False)
    labels = sorted(truth.label.unique())
    expected = [label for row in range(N) for label in sorted(truth[truth.row == row].label)]
    assert [labels[label] for label in xmceval.read("t.csv", kind="truth").indices] == expected
    assert xmceval.read("p.csv", truth="t.csv").shape[0] == N
