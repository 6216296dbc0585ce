"""Lists of what benchmarks come to across data sets: tests of mean ranks, tests against a baseline, and wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xmceval.errors import counted, listed
from xmceval.metrics.measure import Measure
from xmceval.report.benchmark import Benchmark
from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.model import Listing
from xmceval.report.sheet.significance import find_signs
from xmceval.report.sheet.systemtable import join_cutoffs
from xmceval.report.sheet.verdicts import format_p
from xmceval.scoring.comparing.testoptions import BETTER
from xmceval.statistics.across import Across
from xmceval.statistics.multiplicity import LEVEL


def list_across(benchmark: Benchmark, layout: Layout) -> Iterator[Listing]:
    """List the tests across data sets: of all systems by their ranks, then of each against a baseline."""
    found = {each: benchmark.across(each.name) for each in benchmark.measures}
    by_ranks = {measure: each for measure, each in found.items() if each.friedman is not None}
    by_signs = {measure: each for measure, each in found.items() if each.signed_ranks}
    if by_ranks:
        yield _list_rank_tests(benchmark, by_ranks)
    if by_signs:
        yield _list_signed_ranks(benchmark, by_signs, layout)


def _list_rank_tests(benchmark: Benchmark, found: Mapping[Measure, Across]) -> Listing:
    """List the tests of Friedman, and which systems Nemenyi's tells apart."""
    head = ("", "data sets", "systems", "F", "df", "p", "critical difference")
    rows = []
    for measure, each in found.items():
        friedman, nemenyi = each.friedman, each.nemenyi
        if friedman is None or nemenyi is None:
            continue
        rows.append(
            (
                measure.name,
                f"{len(each.datasets)}",
                f"{len(each.systems)}",
                "inf" if friedman.f is None else f"{friedman.f:.2f}",
                "{}, {}".format(*friedman.df),
                format_p(friedman.p),
                f"{nemenyi.critical_difference:.2f}",
            )
        )
    title = "across data sets: Friedman test of ranks, F of Iman and Davenport · Nemenyi, 5%"
    numeric = frozenset(range(1, len(head)))
    return Listing(title, (head, *rows), numeric, tuple(_describe_nemenyi(benchmark, found)), has_head=True)


def _describe_nemenyi(benchmark: Benchmark, found: Mapping[Measure, Across]) -> Iterator[str]:
    """Write which systems are ahead of which, on which metrics."""
    names = benchmark.systems
    ahead: dict[tuple[str, str], list[Measure]] = {}
    for measure, each in found.items():
        for i, j in () if each.nemenyi is None else each.nemenyi.ahead:
            ahead.setdefault((names[i], names[j]), []).append(measure)
    for (system, other), measures in sorted(ahead.items(), key=lambda item: [names.index(name) for name in item[0]]):
        yield f"{system} is ahead of {other} on {listed(join_cutoffs(measures))}"
    yield "no other pair is told apart" if ahead else "no pair is told apart"


def _list_signed_ranks(benchmark: Benchmark, found: Mapping[Measure, Across], layout: Layout) -> Listing:
    """List the p values of signed ranks: a line for each metric, a column for each system."""
    signs = {word == BETTER: sign for word, sign in find_signs(layout).items()}
    tests = {measure: {each.system: each for each in own.signed_ranks} for measure, own in found.items()}
    systems = sorted({i for own in tests.values() for i in own})
    baseline = benchmark.systems[next(iter(found.values())).signed_ranks[0].baseline]
    rows = []
    for measure, own in tests.items():
        cells = []
        for i in systems:
            mark = signs[own[i].is_better] if i in own and own[i].is_detected else ""
            cells.append(f"{format_p(own[i].p_adjusted)} {mark or ' '}" if i in own else "")
        rows.append((measure.name, *cells))
    head = ("", *(f"{benchmark.systems[i]}  " for i in systems))
    adjusted = "p (Holm)" if len(systems) > 1 else "p"
    is_marked = any(each.is_detected for own in tests.values() for each in own.values())
    explained = f" · {', '.join(f'{sign} {word}' for word, sign in find_signs(layout).items())}" if is_marked else ""
    title = f"across data sets: against {baseline}, exact Wilcoxon test of signed ranks, {adjusted}{explained}"
    numeric = frozenset(range(1, len(head)))
    return Listing(title, (head, *rows), numeric, tuple(describe_reach(found)), has_head=True)


def describe_reach(found: Mapping[Measure, Across]) -> Iterator[str]:
    """Write on which metrics no difference can be significant, and how many data sets that would take."""
    unreachable: dict[tuple[int, int, float], list[Measure]] = {}
    for measure, each in found.items():
        if each.least_p > LEVEL:
            key = len(each.datasets), each.n_needed, each.least_p
            unreachable.setdefault(key, []).append(measure)
    for (n, needed, least), measures in unreachable.items():
        of = "" if len(measures) == len(found) else f" of {listed(join_cutoffs(measures))}"
        yield f"with {counted(n, 'data set')} no p{of} can be below {format_p(least)}; {needed} are needed"


def list_wins(benchmark: Benchmark) -> Iterator[Listing]:
    """List for each metric on how many data sets each system is ahead of each other one."""
    for measure in benchmark.measures:
        counts = benchmark.wins(measure.name)
        systems = list(dict.fromkeys(name for name, _ in counts))
        if systems:
            yield _list_matrix_of_wins(measure, systems, counts)


def _list_matrix_of_wins(
    measure: Measure, systems: Sequence[str], counts: Mapping[tuple[str, str], Sequence[int]]
) -> Listing:
    def show(system: str, other: str) -> str:
        if system == other or not sum(counts[system, other]):
            return ""
        return f"{counts[system, other][0]}/{sum(counts[system, other])}"

    rows = ((system, *(show(system, other) for other in systems)) for system in systems)
    title = (
        f"{measure.name} · data sets on which the system in the row is ahead of that in the column, of all with both"
    )
    return Listing(title, (("", *systems), *rows), frozenset(range(1, len(systems) + 1)), has_head=True)
