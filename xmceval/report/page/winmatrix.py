"""Win matrix: on each metric how many others each system was found better and worse than, in signs and colours."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xmceval.errors import counted
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison
from xmceval.report.forms.markup import Child, Markup, element, join, name
from xmceval.report.page.pagecontent import PageContent
from xmceval.report.page.pageparts import PageColumn, draw_table, spaced, write_sentence
from xmceval.report.page.systemranking import SystemRanking
from xmceval.report.page.valuetables import describe_units
from xmceval.report.sheet.model import BEST, DOWN, UP
from xmceval.report.sheet.significance import describe_tests
from xmceval.report.sheet.verdicts import describe_level
from xmceval.scoring.comparing.testoptions import BETTER, NONE, WORSE

FEWEST = 3  # systems; of two, a sentence says it all
UNDETECTED = "\N{MIDDLE DOT}"
LEVELS = 3  # of each colour


@dataclass(frozen=True)
class MatrixCell:
    """Than how many other systems one was found better and worse on a metric, and from how many it was not told apart.

    With a baseline there is one other system, or of the baseline itself none.
    """

    measure: Measure
    better: int
    worse: int
    undetected: int
    n_others: int

    @classmethod
    def of(cls, ranking: SystemRanking, measure: Measure, system: str, against: str | None) -> MatrixCell:
        """Count for one system."""
        others = [each for each in (ranking.names if against is None else [against]) if each != system]
        n = Counter(ranking.mark(measure, system, other) for other in others)
        return cls(measure, n[BETTER], n[WORSE], n[NONE], len(others))

    @property
    def net(self) -> int:
        """Wins less losses."""
        return self.better - self.worse

    @property
    def signs(self) -> str:
        """Of wins and losses, with their numbers where there is more than one other system."""
        found = ((UP, self.better), (DOWN, self.worse))
        signs = (f"{sign}{number if self.n_others > 1 else ''}" for sign, number in found if number)
        return " ".join(signs) or (UNDETECTED if self.undetected else "")

    @property
    def words(self) -> str:
        """The same for those who hear it."""
        found = ((BETTER, self.better), (WORSE, self.worse), ("no difference detected from", self.undetected))
        words = ((f"{what} than" if what in {BETTER, WORSE} else what, number) for what, number in found if number)
        return ", ".join(f"{what} {number}" for what, number in words) if self.n_others else "baseline"

    @property
    def colour(self) -> str | None:
        """The class of its colour, stronger the more of the other systems it is of."""
        if not self.better + self.worse + self.undetected:
            return None
        level = math.ceil(LEVELS * abs(self.net) / max(self.n_others, 2))
        return f"{'won' if self.net > 0 else 'lost'}-{level}" if level else "even"


def draw_matrix(content: PageContent) -> Markup | None:
    """Draw the values of systems with what tests found, and a legend; None of two systems, or of nothing tested."""
    comparison, ranking = content.comparison, content.ranking
    if comparison is None or len(ranking.names) < FEWEST or not ranking.is_tested:
        return None
    against = comparison.testing.against
    counts = {
        system: [MatrixCell.of(ranking, each, system, against) for each in ranking.measures] for system in ranking.names
    }
    order = sorted(counts, key=lambda system: (system != against, -sum(each.net for each in counts[system])))
    table = draw_table(
        None,
        [
            PageColumn("System", numeric=False),
            *(PageColumn(_break_name(each), numeric=False) for each in ranking.measures),
        ],
        [element("tbody", [_draw_row(content, system, counts[system], against) for system in order])],
        label="Which systems are better and worse",
        longest=max(map(len, order)),
        class_="matrix",
    )
    signs = spaced(_explain_signs([each for own in counts.values() for each in own], against), " ")
    tests = spaced(_explain_tests(content, comparison), " ")
    return join([table, element("p", signs, class_="legend"), element("p", tests, class_="legend")])


def _break_name(measure: Measure) -> list[Child]:
    """Write the name of a measure, which may break at underscores and before its cutoff."""
    words = spaced(measure.head.split("_"), join(["_", element("wbr")]))
    return [words, [element("wbr"), f"@{measure.cutoff}"] if measure.cutoff else None]


def _draw_row(content: PageContent, system: str, counts: Sequence[MatrixCell], against: str | None) -> Markup:
    note = [" ", element("small", "baseline")] if system == against else None
    cells = [_draw_cell(content, system, each) for each in counts]
    return element("tr", element("th", name(system), note, scope="row"), cells)


def _draw_cell(content: PageContent, system: str, count: MatrixCell) -> Markup:
    """Draw a value, bold if it is the best as printed, and its signs."""
    ranking, measure = content.ranking, count.measure
    best, value = (
        content.layout.format(measure, ranking.value(each, measure)) for each in (ranking.order(measure)[0], system)
    )
    shown: Child = element("b", value, class_=BEST) if value == best else value
    signs = element("span", count.signs, class_="signs", aria_hidden="true") if count.signs else None
    words = element("span", f" {count.words}", class_="unseen") if count.words else None
    return element("td", shown, signs, words, class_=count.colour)


def _explain_signs(counts: Sequence[MatrixCell], against: str | None) -> Iterator[Markup]:
    """Explain the signs that there are, each beside its colour."""
    n_others = max(each.n_others for each in counts)
    best, worst = (max(counts, key=lambda each: sign * each.net) for sign in (1, -1))
    for chosen, sign, mark, number in ((best, UP, BETTER, best.better), (worst, DOWN, WORSE, worst.worse)):
        if chosen.net and number:
            chip = element("span", f"{sign}{number if n_others > 1 else ''}", class_=f"chip {chosen.colour}")
            than = name(against) if against else counted(number, "system")
            yield element("span", chip, f" {mark} than ", than, class_="sign")
    if any(each.undetected for each in counts):
        chip = element("span", UNDETECTED, class_="chip even")
        yield element("span", chip, " no difference detected", class_="sign")
    if any(each.n_others and not each.colour for each in counts):
        yield element("span", "no sign: not tested", class_="sign")
    yield element("span", element("b", "bold", class_=BEST), " best value", class_="sign")


def _explain_tests(content: PageContent, comparison: Comparison) -> Iterator[Child]:
    """Explain what was tested how, and that signs and intervals of differences may disagree."""
    units = describe_units(content.ranking.measures, content.layout)
    if units:
        yield f"{units}."
    against = comparison.testing.against
    compared: Child = ["only differences from ", name(against), " were tested"] if against else "all pairs were tested"
    yield [f"Signs where {describe_level(comparison)}; ", compared, "."]
    yield from (write_sentence(each, content.names) for each in describe_tests(comparison.testing, [comparison]))
    if comparison.testing.adjust != "none" and any(each.low is not None for each in content.ranking.differences):
        yield "So the interval of a difference may exclude 0 where there is no sign."
    yield "Systems are ordered by wins less losses."
