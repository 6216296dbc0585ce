"""Merging shards: mix-ups are refused, and warnings, filters and names are those of all; see test_ways for values."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from support.files import write
from support.shards import save

import xmceval
from xmceval import DataError, UsageError

RNG = np.random.default_rng(5)
TRUTH = (RNG.random((3, 8, 9)) < 0.4).astype(float)  # three shards, of enough labels to be recognised
SCORES = TRUTH * 0.5 + RNG.random(TRUTH.shape)
FIRST = {"metrics": "P", "k": 1}


def save_state(name, i, **options):
    """Score a shard, save its state and return its result."""
    return xmceval.score(TRUTH[i], SCORES[i], **FIRST | {"save_state": name} | options)


def evaluate(i, rows=slice(None), **options):
    """Return an Evaluator of rows of a shard."""
    evaluator = xmceval.Evaluator(**FIRST, **options)
    evaluator.update(TRUTH[i][rows], SCORES[i][rows])
    return evaluator


def refused(states, message):
    with pytest.raises(DataError) as error:
        xmceval.merge(states)
    assert message in str(error.value)


def test_missing_and_repeated_shards_are_refused_with_their_names():
    one, two, three = names = [f"{i}.state" for i in (1, 2, 3)]
    for i, name in enumerate(names):
        save_state(name, i, shard=f"{i + 1}/3")
    refused([three, one], "shard 2 of 3 is missing (hint: merge all of them, or pass save_state= to merge")
    refused([two], "shards 1, 3 of 3 are missing (hint")
    shutil.copy(two, "copy.state")
    refused([one, two, three, "copy.state"], "2.state and copy.state are both shard 2 of 3")
    save_state("other.state", 2, shard=(2, 4))
    refused([one, two, "other.state"], "1.state is shard 1 of 3, but other.state is shard 2 of 4")
    save_state("none.state", 2)
    refused([one, two, "none.state"], "1.state is shard 1 of 3, but none.state was saved without shard")
    save_state("many.state", 2, shard=(3, 2**20))
    refused(["many.state"], "shards 1, 2, 4, 5, 6 and 1,048,570 more of 1048576 are missing (hint")


def test_the_same_file_or_evaluator_twice_is_refused():
    evaluator, other = evaluate(0), xmceval.Evaluator(**FIRST)
    evaluator.save("own.state")
    refused(["own.state", Path("own.state").resolve()], f"own.state and {Path.cwd() / 'own.state'} are the same file")
    refused(["own.state", "own.state"], "own.state and own.state are the same file")
    refused([evaluator, other, evaluator], "state 1 and state 3 are the same Evaluator")


def test_more_rows_are_added_to_saved_totals_or_by_another_evaluator():
    save_state("1.state", 0)
    saved, evaluator = xmceval.Evaluator.load("1.state"), evaluate(1)
    expected = xmceval.score(list(TRUTH[:2]), list(SCORES[:2]), **FIRST)
    assert evaluator.merge(saved).result().figures == expected.figures
    evaluator.update(TRUTH[2], SCORES[2])
    assert evaluator.result().counts.n_instances == 24
    saved.update(TRUTH[1], SCORES[1])
    assert saved.result().figures == expected.figures


def test_states_of_systems_that_were_named_differently_are_one_system_only_if_a_name_says_so(run):
    for i, name in enumerate(["plt", "br"]):
        save_npz(f"truth-{i}.npz", csr_matrix(TRUTH[i]))
        save_npz(f"preds-{i}.npz", csr_matrix(SCORES[i]))
        run("score", f"truth-{i}.npz", f"{name}=preds-{i}.npz", "-mP", "-k1", "-q", "--save-state", f"{name}.npz")
        run("score", f"truth-{i}.npz", f"preds-{i}.npz", "-mP", "-k1", "-q", "--save-state", f"{i}.npz")
    refused(["plt.npz", "br.npz"], "the states are of systems named plt and br, which may be different ones")
    values = {xmceval.merge(files, name="both")["P@1"] for files in (["plt.npz", "br.npz"], ["0.npz", "1.npz"])}
    assert values == {xmceval.merge(["0.npz", "1.npz"])["P@1"]}


def test_no_rows_are_added_to_weights_whose_largest_is_not_known():
    save_state("w.state", 0, sample_weight=[2.0] * 8)
    with pytest.raises(UsageError, match=r"^w.state has sample weights, whose largest is known only of its own rows"):
        xmceval.Evaluator.load("w.state").update(TRUTH[1], SCORES[1])


COUNTS = np.arange(9) ** 2


@pytest.mark.parametrize(
    ("difference", "options"),
    [
        ("metrics: P@1, PSP@1 and P@2, PSP@2", {"k": 2}),
        ("ties: none and best", {"ties": "best"}),
        ("empty_rows: none and drop", {"empty_rows": "drop"}),
        ("ceiling: none and True", {"ceiling": True}),
        ("dataset: none and Bibtex", {"dataset": "Bibtex"}),
        ("N: 99 and 98", {"n_train": 98}),
        ("A: 0.55 and 0.5", {"a": 0.5}),
        ("B: 1.5 and 0.4", {"b": 0.4}),
        ("training counts: ", {"counts": COUNTS + 1}),
        ("number of labels: 9 and 10", {"counts": np.append(COUNTS, 0)}),
        ("scale of sample weights: none and 2.0", {"sample_weight": [2.0] * 8}),
    ],
)
def test_states_that_were_made_otherwise_are_refused_with_both_names(difference, options):
    base = {"metrics": "P,PSP", "k": 1, "counts": COUNTS, "n_train": 99}
    save_state("a.state", 0, **base)
    wider = np.pad([TRUTH[1], SCORES[1]], ((0, 0), (0, 0), (0, len(options.get("counts", COUNTS)) - 9)))
    xmceval.score(*wider, **(base | options), save_state="b.state")
    refused(["a.state", "b.state"], f"a.state and b.state differ in {difference}")


def test_a_state_that_is_passed_as_an_input_is_named_with_what_shows_it(run):
    save_state("a.npz", 0)
    np.save("t.npy", TRUTH[0])
    hint = r"a.npz: is a state of xmceval, which save_state wrote; .*\(hint: merge shows its values"
    for files in (("a.npz", "t.npy"), ("t.npy", "a.npz")):
        with pytest.raises(DataError, match=hint):
            xmceval.score(*(name if name == "a.npz" else TRUTH[0] for name in files), **FIRST)
        assert "(hint: merge shows its values)" in run("score", *files, "-m", "P@1")[2]
    assert xmceval.merge(["a.npz"]) == xmceval.score(TRUTH[0], SCORES[0], **FIRST)


def test_documents_that_are_numbered_by_their_places_have_no_state():
    write("q.txt", "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n")
    write("r.txt", "q1 Q0 d1 1 0.5 tag\nq2 Q0 d1 1 0.5 tag\n")
    with pytest.raises(DataError, match=r"q.txt: its documents are only numbered by their places in it"):
        xmceval.score("q.txt", "r.txt", **FIRST, save_state="q.state")


def test_what_filters_did_adds_up_and_they_are_of_all_states_or_of_none():
    for i, pairs in enumerate(([[0, 1], [7, 2]], [[0, 1], [0, 1], [0, 2], [7, 3]])):
        save_state(f"{i}.state", i, filter=pairs)
    merged = xmceval.merge(["0.state", "1.state"]).filtered
    assert str(merged).startswith("filter: 5 pairs in 4 rows from filter, 5 predictions removed from 4 rows, ")
    save_state("none.state", 0)
    refused(["1.state", "none.state"], "1.state and none.state differ in filter: pairs to remove and none")
    with pytest.raises(
        UsageError, match=r"^0.state has a filter, whose pairs are not kept with the totals, so no rows"
    ):
        xmceval.Evaluator.load("0.state").update(TRUTH[1], SCORES[1])
    evaluator = evaluate(2, slice(7), filter=[[7, 3]])
    refused([evaluator, "1.state"], "row 7 is outside 0..6")
    evaluator.update(TRUTH[2][7:], SCORES[2][7:])
    assert xmceval.merge([evaluator, "1.state"]).filtered.pairs == 4


def test_evaluators_and_files_merge():
    save_state("b.state", 1)
    expected = xmceval.score(np.vstack(TRUTH[:2]), np.vstack(SCORES[:2]), **FIRST)
    result = xmceval.merge([evaluate(0), "b.state"], name="both")
    assert result.estimates == expected.estimates
    assert result.name == "both"


def test_warnings_on_weights_are_of_all_shards():
    weights = [[1.0] * 8, [2.0**-31] * 8]
    for i in range(2):
        assert not save_state(f"{i}.state", i, sample_weight=weights[i], max_weight=1).warnings
    with pytest.warns(xmceval.XmcevalWarning, match=r"^the smallest weight is 5e-10 of the largest") as caught:
        xmceval.merge(["0.state", "1.state"])
    assert len(caught) == 1
    with pytest.warns(xmceval.XmcevalWarning, match="the smallest weight"):
        save_state("w", 0, sample_weight=[*weights[0][1:], 2.0**-40])
    with pytest.warns(xmceval.XmcevalWarning) as caught:
        xmceval.merge(["w"])
    assert len(caught) == 1


def test_commands_score_save_merge_and_inspect(run):
    def printed(*arguments, code=0):
        ended, out, _ = run(*arguments)
        assert ended == code
        return out

    for folder, parts in (("t", TRUTH), ("p", SCORES)):
        Path(folder).mkdir()
        for i, part in enumerate(parts):
            save([dict(enumerate(row)) for row in part.tolist()], 9, f"{folder}/{i}", "text")
    asked = ("-m", "P", "-m", "macroF1", "-k", "1,3")
    together = json.loads(printed("score", "t/*", "p/*", *asked, "-o", "json", "-q"))
    assert (together["truth"], together["systems"][0]["name"]) == ("t", "p")
    assert "\n24 instances · " in printed("compare", "t/*", "p/*", "p/*", *asked, "-q")
    printed("score", "t/*", "p/*", *asked, "--page", "page.html", "-q")
    page = Path("page.html").read_text()
    assert all(f"{folder}/{i}.txt" in page for folder in "tp" for i in range(3))  # with their checksums
    for i in range(3):
        printed(
            "score", f"t/{i}.txt", f"p/{i}.txt", *asked, "--save-state", f"{i}.state", "--shard", f"{i + 1}/3", "-q"
        )
    merged = json.loads(printed("merge", "[0-2].state", "--name", "p", "-o", "json", "-q"))
    for document in (together, merged):
        del document["truth"], document["systems"][0]["scores"], document["systems"][0]["inputs"]
    assert merged == together
    line = f"0.state: valid: 8 rows, 9 labels; state of xmceval {xmceval.__version__}, 0.txt on 0.txt, shard 1 of 3\n"
    assert printed("inspect", "0.state") == line
    assert printed("inspect", "0.state", "-v") == f"{line}\n0.state\n  metrics: P@1, P@3, macroF1@1, macroF1@3\n"
    write("cut.state", Path("0.state").read_bytes()[:-2])
    report = json.loads(printed("inspect", "cut.state", "-o", "json", code=1))
    assert report["states"][0]["fault"].startswith("cut.state: the state is damaged or cut short")
