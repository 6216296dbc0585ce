"""The grammar of lists: names and cutoffs separated by commas, ranges of cutoffs; the same everywhere."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.files import write

import xmceval
from xmceval import METRICS, UsageError
from xmceval.metrics.names import parse, parse_cutoffs, split_names
from xmceval.scoring.options import Options


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("P,nDCG", ["P@2", "P@4", "nDCG@2", "nDCG@4"]),
        ("P@1,3,nDCG@5", ["P@1", "P@3", "nDCG@5"]),
        ("P@1,3, nDCG", ["P@1", "P@3", "nDCG@2", "nDCG@4"]),
        ("nDCG(gain=exp,discount=letor)@1,LRAP,R@n", ["nDCG(discount=letor,gain=exp)@1", "LRAP", "R@n"]),
        ("nDCG@3,all,R@ALL,2", ["nDCG@3", "nDCG@all", "R@all", "R@2"]),
        ("P@1-3", ["P@1", "P@2", "P@3"]),
        ("P@1 - 3,7,nDCG@2-2", ["P@1", "P@2", "P@3", "P@7", "nDCG@2"]),
        ("confusion,P@1", ["tp", "fp", "fn", "tn", "P@1"]),
        ("P_5,ndcg_cut_10,recall_at_3", ["P@5", "nDCG@10", "R@3"]),
        ("recall@gt,P@1", ["R@n", "P@1"]),
        ("map,P@1", ["AP@2", "AP@4", "P@1"]),
        ("precision@5", ["P@5"]),
        ("psp@5", ["PSP@5"]),
        ("abandonment@5", ["Abandonment@5"]),
        ("recall_5", ["R@5"]),
        ("success_1", ["Hit@1"]),
        ("recip_rank", ["RR@2", "RR@4"]),
        ("P@1,3,5", ["P@1", "P@3", "P@5"]),
        ("map_cut_3", ["AP@3"]),
        ("P@1,2, PSnDCG(discount=ln,norm=sum)@1", ["P@1", "P@2", "PSnDCG(norm=sum,discount=ln)@1"]),
        ("r@N", ["R@n"]),
        ("Rprec", ["R@n"]),
        ("AUC", ["AUC"]),
        ("AUC@4", ["AUC@4"]),
        ("precision_at_k", ["P@2", "P@4"]),
        ("nDCG(base=e)@1", ["nDCG(discount=ln)@1"]),
        ("nDCG(base=2)@1", ["nDCG@1"]),
        ("nDCG(gain=exp, discount=letor)@1", ["nDCG(discount=letor,gain=exp)@1"]),
        ("P(rel=3.0)@1", ["P(rel=3)@1"]),
        ("RBP(p=.50)@1", ["RBP(p=0.5)@1"]),
        ("CG@1", ["DCG(discount=none)@1"]),
        ("one_error", ["Abandonment@1"]),
        ("one-error@1", ["Abandonment@1"]),
        ("HR@3", ["Hit@3"]),
        ("exact_match", ["subset_accuracy"]),
        ("EMR", ["subset_accuracy"]),
        ("zero_one_loss", ["zero_one_loss"]),
        ("map@5", ["AP@5"]),
        ("ERR@all", ["ERR@all"]),
        ("SetP", ["P@all"]),
        ("set_recall", ["R@all"]),
        ("SetF(beta=4,rel=2)", ["F1(beta=2,rel=2)@all"]),
        ("num_rel_ret,num_ret", ["tp", "NumRet"]),
        ("IPrec@0.10,1.0", ["IPrec@0.1", "IPrec@1"]),
        ("iprec_at_recall_0.10", ["IPrec@0.1"]),
        ("iprec_at_recall.0.1,.25,set_P", ["IPrec@0.1", "IPrec@0.25", "P@all"]),
        ("IPrec(recall=0.3,rel=2)", ["IPrec(rel=2)@0.3"]),
        ("RBP(p=0.5)@all", ["RBP(p=0.5)@all"]),
        ("item_coverage@5,catalog_coverage@5,ItemCoverage@5", ["coverage(of=recommended,over=all)@5"]),
    ],
)
def test_a_list_of_names_means(names, expected):
    assert [str(measure) for measure in parse(names, [2, 4])] == expected
    assert [str(measure) for measure in parse([names], [2, 4])] == expected


@given(st.lists(st.tuples(st.sampled_from(sorted(METRICS)), st.lists(st.integers(1, 9), max_size=3)), min_size=1))
def test_names_joined_by_commas_are_the_names(pairs):
    names = []
    for name, cutoffs in pairs:
        takes_cutoff = METRICS[name].cutoff != "none" and "@" not in name
        names.append(f"{name}@{','.join(map(str, cutoffs))}" if takes_cutoff and cutoffs else name.replace("@k", "@3"))
    assert split_names(",".join(names)) == names
    assert parse(",".join(names)) == parse(names)


def test_a_metric_is_asked_for_by_its_name():
    for metrics in (METRICS["P"], ["R", METRICS["P"]]):
        with pytest.raises(UsageError, match=r"got a Metric \(hint: pass its name, 'P'\)"):
            parse(metrics)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("P,", "cannot read the metric name ''"),
        (",P", "cannot read the metric name ''"),
        ("P,1", "cannot read the metric name '1'"),
        ("P@1,,3", "got ''"),
        ("P@1,n", "got 'n'"),
        ("P@1,nDGC", "unknown metric 'nDGC'; did you mean nDCG?"),
        ("P@3-1", "cutoffs must ascend, got '3-1'"),
        ("P@0-3", "k must be a whole number of at least 1, got '0'"),
        ("P@1-", "got '1-'"),
        ("P@1-999999999999", "a range has at most 1,000 cutoffs"),
        ("P(rel=1,2)@1", "P has no option '2'"),
        ("PPP@5", "unknown metric 'PPP@5'"),
        ("nDGC@5", "did you mean nDCG?"),
        ("roc_auc", "did you mean macroAUC or microAUC or AUC?"),
        ("roc_auc_score@5", "did you mean macroAUC or microAUC or AUC?"),
        ("average_precision_score", "did you mean macroAP or microAP?"),
        ("bpref", "bpref is not computed here; ir_measures has it"),
        ("inf_ap@5", "inf_ap is not computed here; ir_measures has it"),
        ("gm_map", "gm_map is not computed here; trec_eval has it"),
        ("brier", "brier is not computed here; scikit-learn has brier_score_loss"),
        ("neg_log_loss", "neg_log_loss is not computed here; scikit-learn has log_loss"),
        ("top_k_accuracy", "did you mean Hit@k?"),
        ("ndcg_score", "did you mean nDCG or "),
        ("f1-macro", "did you mean f1_score(average=macro) or macroF1@k?"),
        ("f1_samples", "did you mean f1_score(average=samples)?"),
        ("recall_weighted@5", "did you mean recall_score(average=weighted) or weightedR@k?"),
        ("PSP(norm=row)@5", "PSP(norm=row): expected one of ratio, none"),
        ("nDCG(base=10)@5", "nDCG has no option 'base'; its options: discount, gain"),
        ("R(norm=k)@5", "R has no option 'norm'; its options: rel"),
        ("P(rel=0)@5", "P(rel=0): expected a whole number of at least 1"),
        ("P(rel=1.5)@5", "P(rel=1.5): expected a whole number of at least 1"),
        ("RBP(p=1)@5", "RBP(p=1): expected a number between 0 and 1"),
        ("ERR(max=41)@5", "ERR(max=41): expected a whole number from 1 to 40"),
        ("RBP(p=x)@5", "RBP(p=x): expected a number between 0 and 1"),
        ("P@0", "k must be a whole number of at least 1, got '0'"),
        ("P@-1", "got '-1'"),
        ("P@1.5", "got '1.5'"),
        ("RP@all", "RP needs a cutoff, got @all"),
        ("IPrec@2", "IPrec(recall=2): expected a number from 0 to 1"),
        ("IPrec(recall=0.5)@0.1", "IPrec has its recall twice: as an option and after the @"),
        ("NumRet(rel=1)", "NumRet has no option 'rel'; its options: none"),
        ("SetP@5", "SetP is P@all, got @5"),
        ("LRAP@5", "LRAP has no cutoff, got @5"),
        ("one_error@5", "one_error is Abandonment@1, got @5"),
        ("P@", "got ''"),
        ("P(", "cannot read the metric name 'P('"),
        ("", "cannot read the metric name ''"),
    ],
)
def test_a_wrong_list_is_refused(names, message):
    with pytest.raises(UsageError) as error:
        parse(names)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (5, [5]),
        (np.int64(5), [5]),
        ("5", [5]),
        ("1,3,5", [1, 3, 5]),
        ("1-5", [1, 2, 3, 4, 5]),
        (" 1-3, 10 ", [1, 2, 3, 10]),
        ("4-4", [4]),
    ],
)
def test_cutoffs_mean(k, expected):
    assert parse_cutoffs(k) == Options(k=k).cutoffs == expected


@pytest.mark.parametrize("k", ["", "1,", "x", "1-x", "-1", "2-1", "1.5", "1--2", "1-2-3", "²", "1-2000", 1.5, True, 0])
def test_wrong_cutoffs_are_refused(k):
    with pytest.raises(UsageError):
        parse_cutoffs(k)


def test_cutoffs_may_be_text_within_a_list():
    assert Options(k=["1-3", 5]).cutoffs == [1, 2, 3, 5]


def test_python_and_the_command_understand_the_same_lists(run):
    write("t.txt", "2 4\n0:1 2:1\n1:1\n")
    write("p.txt", "2 4\n0:.9 1:.8 2:.7\n1:.5 2:.1 3:.2\n")
    result = xmceval.score("t.txt", "p.txt", k="1-3", metrics="P,nDCG@2,LRAP")
    assert list(result) == ["P@1", "P@2", "P@3", "nDCG@2", "LRAP"]
    asked = ["score", "t.txt", "p.txt", "-k", "1-3", "-m", "P,nDCG@2", "-m", "LRAP", "-o", "csv", "-q"]
    lines = run(*asked)[1].splitlines()[1:]
    shown = [line.split(",") for line in lines]
    assert [f"{row[1]}@{row[2]}" if row[2] else row[1] for row in shown] == list(result)
    assert [float(row[5]) for row in shown] == list(result.values())


@pytest.mark.parametrize("name", METRICS)
def test_every_name_of_the_table_is_understood_as_a_name(name):
    measures = parse([name], [1, 5])
    assert {measure.metric.name for measure in measures} == {name}
    cutoffs = [str(i / 10).removesuffix(".0") for i in range(11)] if name == "IPrec" else ["1", "5"]
    has_several = METRICS[name].cutoff != "none" or METRICS[name].level
    assert [measure.cutoff for measure in measures] == (cutoffs if has_several else [name.partition("@")[2]])


def test_a_cutoff_k_is_none_of_a_metric_that_has_no_cutoff():
    with pytest.raises(UsageError, match="coverage_error has no cutoff, got @k"):
        parse("coverage_error@k")


@pytest.mark.parametrize(
    ("name", "ks", "expected"),
    [
        ("ndcg_cut.10", None, ["nDCG@10"]),
        ("P.5,10,recall.3", None, ["P@5", "P@10", "R@3"]),
        ("P.1-3", None, ["P@1", "P@2", "P@3"]),
        ("map,AP,mrr,recip_rank,RBP,ERR", None, ["AP@all", "RR@all", "RBP@all", "ERR@all"]),
        ("P,nDCG", None, ["P@1", "P@3", "P@5", "nDCG@1", "nDCG@3", "nDCG@5"]),
        ("map,RR,P", [2], ["AP@2", "RR@2", "P@2"]),
        ("nDCG(dcg=exp-log2)@5", None, ["nDCG(gain=exp)@5"]),
        ("nDCG(dcg=log2)@5", None, ["nDCG@5"]),
    ],
)
def test_names_of_the_ranking_field_mean_what_they_mean_there(name, ks, expected):
    assert [each.name for each in parse(name, ks)] == expected


@pytest.mark.parametrize("metrics", [{}, {"P": 5}, {"P": [1, 5], "nDCG": (3,), "RR": None}, {"P@5": "precision"}])
@pytest.mark.parametrize("call", [lambda **options: xmceval.score(np.eye(3), np.eye(3), **options), xmceval.Evaluator])
def test_a_dict_of_metrics_is_refused(call, metrics):
    with pytest.raises(UsageError) as error:
        call(metrics=metrics)
    hint = "(hint: names contain their cutoffs, as in ['P@1,5', 'nDCG@3'])"
    assert str(error.value) == f"metrics must be names such as 'P@5', got a dict {hint}"


@pytest.mark.parametrize("metrics", [5, 0.5])
def test_what_is_no_list_of_metrics_is_refused(metrics):
    with pytest.raises(UsageError, match=rf"^metrics must be names such as 'P@5', got an? {type(metrics).__name__}$"):
        xmceval.score(np.eye(3), np.eye(3), metrics=metrics)
