"""Programs: every measure has one task, every rule of the table is implemented, and unknown rules are errors."""

import pickle
from dataclasses import replace

import pytest
from judge import naive_labels
from support.approved import check_answers, evaluate
from support.measures import names_of

from xmceval import METRICS
from xmceval.metrics.measure import Measure
from xmceval.metrics.metric import Norm  # noqa: F401 - in programs.txt
from xmceval.metrics.names import parse
from xmceval.metrics.rates import RATES
from xmceval.rows.width import Width
from xmceval.scoring.compile import compile_program
from xmceval.scoring.options import Options
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.tasks.labelwise import Labelwise
from xmceval.scoring.tasks.task import TREATMENTS, RowTask
from xmceval.scoring.totals import Part


def measures(name):
    return [measure for each in names_of(METRICS[name]) for measure in parse(each)]


@pytest.mark.parametrize("name", METRICS)
def test_each_measure_is_computed_by_one_kind_of_task(name):
    for measure in measures(name):
        assert [task.measures for task in compile_program([measure]).tasks] == [(measure,)], str(measure)


@pytest.mark.parametrize("name", METRICS)
def test_every_rule_of_the_table_is_implemented(name):
    program = compile_program(measures(name))
    computed = [str(measure) for task in program.tasks for measure in task.measures]
    assert sorted(computed) == sorted(map(str, program.measures))


def compiled(name, k=5, **change):
    """Compile a metric of the table that is changed."""
    metric = replace(METRICS[name], **change)
    return compile_program([Measure(metric, None if metric.cutoff == "none" else k)])


def test_an_unknown_rule_is_an_error_when_the_program_is_compiled_as_it_was_approved():
    def answer(line):  # rates are a set, whose order differs
        return [text.partition("; known: ")[0] for text in evaluate(line, globals())]

    check_answers(__file__, "programs.txt", answer)


EVERY_MEASURE = [measure for name in METRICS for measure in measures(name)]
TASKS = compile_program(list(dict.fromkeys(EVERY_MEASURE))).tasks


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_what_a_task_declares_is_what_it_has(task):
    setup = Setup(options=Options(), program=compile_program(task.measures), width=Width(5, "the test"))
    part = task.empty(setup)
    assert task.finish_bins(part, setup, 0) == []
    assert isinstance(part, Part)
    assert set(part.fields) == set(part)
    assert task.unscored(part) in {None, (0, 0)}
    assert not isinstance(task, RowTask) or part["left_out"].tolist() == [0] * len(task.measures)
    assert set(task.tied_by_label) <= set(TREATMENTS)
    assert {measure for tied in task.tied_by_label.values() for measure in tied} <= set(task.measures)


def test_a_program_can_be_pickled():
    """It goes to other processes with all tasks; its measures are found again by their names."""
    program = compile_program(parse(METRICS, [1, 3]))
    copy = pickle.loads(pickle.dumps(program))
    assert copy.measures == program.measures
    assert [(type(each), each.measures, each.rel) for each in copy.tasks] == [
        (type(each), each.measures, each.rel) for each in program.tasks
    ]
    assert [1, 3] in [each.cutoffs.tolist() for each in copy.tasks if isinstance(each, Labelwise)]
    assert all(own.metric is its.metric for own, its in zip(program.measures, copy.measures, strict=True))


def test_columns_are_in_the_order_of_tasks_and_known_by_measure():
    program = compile_program(parse("AP,P,LRAP,macroF1,nDCG", [3, 1]))
    assert [*program.columns] == [each for each in program.measures if each.name.partition("@")[0] != "macroF1"]
    assert sorted(program.columns, key=program.columns.get) == program.row_measures
    assert len(program.columns) == sum(len(task.measures) for task in program.row_tasks) == 7


def test_every_rate_has_a_judge():
    assert set(RATES) == naive_labels.RATES
