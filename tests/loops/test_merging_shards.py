"""Merging shards: mix-ups are refused, and warnings, filters and names are those of all; see test_ways for values."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from support.files import write
from support.shards import save

import xmceval
from xmceval import DataError

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
    with pytest.raises(DataError, match="the states are of systems named plt and br, which may be different ones"):
        xmceval.merge(["plt.npz", "br.npz"])
    values = {xmceval.merge(files, name="both")["P@1"] for files in (["plt.npz", "br.npz"], ["0.npz", "1.npz"])}
    assert values == {xmceval.merge(["0.npz", "1.npz"])["P@1"]}


def test_a_state_that_is_passed_as_an_input_is_named_with_what_shows_it(run):
    save_state("a.npz", 0)
    np.save("t.npy", TRUTH[0])
    for files in (("a.npz", "t.npy"), ("t.npy", "a.npz")):
        assert "(hint: merge shows its values)" in run("score", *files, "-m", "P@1")[2]
    assert xmceval.merge(["a.npz"]) == xmceval.score(TRUTH[0], SCORES[0], **FIRST)


def test_what_filters_did_adds_up():
    for i, pairs in enumerate(([[0, 1], [7, 2]], [[0, 1], [0, 1], [0, 2], [7, 3]])):
        save_state(f"{i}.state", i, filter=pairs)
    merged = xmceval.merge(["0.state", "1.state"]).filtered
    assert str(merged).startswith("filter: 5 pairs in 4 rows from filter, 5 predictions removed from 4 rows, ")
    evaluator = evaluate(2, slice(7), filter=[[7, 3]])
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
