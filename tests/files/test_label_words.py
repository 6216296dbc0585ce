"""Tables by row whose labels are text are joined by it, and give the values of the same tables with numbers."""

# ruff: noqa: F401 - lines use what is imported here

import re

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.approved import check_lines
from support.asked import doubts_of
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


WORDS, NAMED = named(TRUTH), named(PREDS)
DENSE = np.ones((N, N_LABELS))


@pytest.mark.parametrize("form", FORMS)
def test_text_never_meets_numbers_in_any_form(form):
    def no(*inputs, **options):
        text = refusal(*inputs, **{"metrics": "PSP" if "train" in options else "P", **options})
        for path, name in (("t", "y_true"), ("p", "y_score"), ("n", "train")):
            text = re.sub(rf"\b{path}\.\w+", name, text)
        return re.sub(r":\d+: |: entry \d+: ", ": ", text)  # lines of text are counted with the header

    def t(frame):
        return as_form(frame, form, "t")

    def p(frame):
        return as_form(frame, form, "p")

    def n(frame):
        return as_form(frame, form, "n")

    check_lines(__file__, "words in every form.txt", globals() | locals())


def test_words_are_joined_or_refused_with_their_names():
    WORDS.to_parquet("t")
    NAMED.to_parquet("p")
    WORDS.to_csv("t.csv", index=False)
    NAMED.to_csv("p.csv", index=False)
    labels = write("labels", "".join(f"{STYLES['words'](label)}\n" for label in range(N_LABELS + 5)))
    other = PREDS.assign(label="x" + PREDS.label.astype(str), score=-np.inf)
    check_lines(__file__, "words.txt", globals() | locals())
