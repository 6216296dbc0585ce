"""Measure xmceval beside what was recorded, another revision, and other tools. All data are synthetic.

This process never imports numpy: on Linux a child's peak memory begins at that of the process that started it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

if not __package__:  # run as `python scripts/bench`
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench import measure, picture
from bench.measure import CUTS, ROOT, WHOLE, Command, Figures, Usage, alternate, entries, figures_of

TURNS = 3  # of picture and peers


def draw(options: argparse.Namespace) -> None:
    """Draw the picture of the README and write its figures, after measuring shapes if asked."""
    figures = json.loads(picture.FIGURES.read_text(encoding="utf-8"))
    for shape in options.measure:
        paths = figures_of("data", shape)
        commands = {picture.OURS: measure.xmceval(*measure.score_of(paths))}
        if shape in picture.LARGE:
            for name, locale in {"wc -w": "C", "wc -w, UTF-8": "C.UTF-8"}.items():
                commands[name] = Command(("wc", "-w", *paths.values()), {"LC_ALL": locale})
            commands["cat"] = Command(("cat", *paths.values()))
        else:
            figures["tools"] = figures_of("works", python=options.python)["tools"]
            files = (paths["truth"], paths["preds"], paths["train"])
            for tool in (tool for tool in figures["tools"] if tool not in options.without):
                commands[tool] = measure.module("works", tool, *files, python=options.python)
        used, printed = alternate(commands, options.runs or TURNS)
        new = {"measured": list(entries(shape, used))}
        if shape not in picture.LARGE:
            new["agreement"] = list(find_agreement(shape, printed))
        print(measure.table(shape, new["measured"]))
        for key, found in new.items():
            figures[key] = [entry for entry in figures[key] if entry["subject"] != shape] + found
        measure.write(picture.FIGURES, figures | measure.provenance())
    picture.redraw()


def find_agreement(subject: str, printed: Mapping[str, str]) -> Iterator[Figures]:
    """Yield for each tool how far its values are from ours at most; all four metrics are defined alike."""
    values = {name: json.loads(text) for name, text in printed.items()}
    ours = values.pop(picture.OURS)["systems"][0]["metrics"]
    for name, found in values.items():
        gaps = [abs(value - ours[f"{m}@{k}"]["value"]) for m in found for k, value in zip(CUTS, found[m], strict=True)]
        yield {"subject": subject, "contestant": name, "metrics": list(found), "largest_difference": max(gaps)}


def check(options: argparse.Namespace) -> bool:
    """Compare processor times with a loop that is timed in the same process; fail if far slower than was recorded."""
    found = figures_of("check", *(["--record"] if options.record else []))
    return bool(found) and not options.record


def peers(options: argparse.Namespace) -> None:
    """Measure smaller work by xmceval and by others in turns; print a line for each."""
    listed = figures_of("works")
    for work in listed["works"]:
        if options.only in work:
            print("\n".join(lines_of_work(work, list(entries(work, measure_work(work, options))))), flush=True)
    versions = listed["versions"] | figures_of("works", python=options.python)["versions"]
    print("\nMeasured with " + ", ".join(f"{name} {version}" for name, version in versions.items()))


def measure_work(work: str, options: argparse.Namespace) -> dict[str, list[Usage]]:
    """Measure a work by each contestant that this interpreter or that of the tools has."""
    pythons = dict.fromkeys((options.python, sys.executable))  # what both have runs in this one
    able = {name: python for python in pythons for name in figures_of("works", work, python=python)}
    if work.startswith(WHOLE):
        commands = {name: measure.module("works", work, name, python=python) for name, python in able.items()}
        return alternate(commands, options.runs or TURNS)[0]
    found: dict[str, list[Usage]] = {name: [] for name in able}
    for _ in range(options.runs or TURNS):
        for name, python in able.items():
            found[name].append(Usage(**figures_of("works", work, name, python=python)))
    return found


def lines_of_work(work: str, measured: Sequence[Figures]) -> Iterator[str]:
    """Yield a line of the guide's table for each way of ours to do a work, beside the fastest other."""
    ours = [entry for entry in measured if entry["contestant"].startswith(picture.OURS)]
    others = [entry for entry in measured if entry not in ours]
    best = min(others, key=lambda entry: entry["cpu"]["median"], default=ours[0])
    for entry in ours:
        name, times = entry["contestant"].removeprefix("xmceval."), entry["cpu"]["median"] / best["cpu"]["median"]
        yield f"| {work} | {name}: {amounts(entry)} | {best['contestant']}: {amounts(best)} | {times:.2f} |"


def amounts(entry: Figures) -> str:
    """Return the processor time and the memory of an entry for people."""
    seconds, memory = entry["cpu"]["median"], f"{entry['peak']['median']:.0f} MB"
    return f"{seconds:.1f} s, {memory}" if seconds >= 1 else f"{1e3 * seconds:#.3g} ms, {memory}"


def against(options: argparse.Namespace) -> None:
    """Measure this tree, with what is not committed, and another in turns, and say which is faster."""
    runs, trees = options.runs or 9, {"this tree": ROOT, options.other: measure.tree_of(options.other)}
    for shape in options.shapes:
        arguments = measure.score_of(figures_of("data", shape))
        commands = {name: measure.xmceval(*arguments, tree=tree) for name, tree in trees.items()}
        report(f"score, {shape}", alternate(commands, runs)[0], options.other, measure.KEYS)
    calls: dict[str, dict[str, list[Usage]]] = {}
    for _ in range(runs):
        for name, tree in trees.items():
            for call, seconds in figures_of("check", "--seconds", tree=tree).items():
                calls.setdefault(call, {}).setdefault(name, []).append(Usage(seconds, seconds))
    for call, found in calls.items():
        report(f"in memory, {call}", found, options.other, ["cpu"])


def report(title: str, found: Mapping[str, list[Usage]], base: str, keys: Sequence[str]) -> None:
    """Print what two trees used, and what that shows."""
    print(measure.table(title, list(entries(title, found))))
    this, other = found["this tree"], found[base]
    for key in keys:
        ratios = measure.spread([getattr(a, key) / getattr(b, key) for a, b in zip(this, other, strict=True)])
        print(f"    {key:<5}{measure.verdict(ratios)}")


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the options, with the function of the use as `run`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    uses = parser.add_subparsers(required=True, metavar="{picture,check,peers,against}")
    subs = {}
    for name, function in {"picture": draw, "check": check, "peers": peers, "against": against}.items():
        subs[name] = uses.add_parser(name, help=function.__doc__, description=function.__doc__)
        subs[name].set_defaults(run=function)
    shapes = [*(f"titles-{rows}" for rows in picture.ROWS), *picture.LARGE]
    subs["picture"].add_argument("--without", nargs="*", default=[], metavar="TOOL", help="that takes too long")
    subs["picture"].add_argument(
        "--measure", nargs="+", default=[], choices=shapes, metavar="SHAPE", help=", ".join(shapes)
    )
    subs["check"].add_argument("--record", action="store_true", help="write check.json anew")
    subs["peers"].add_argument("--only", default="", help="only works that have this in their name")
    subs["against"].add_argument("other", help="a revision, or the folder of another checkout")
    subs["against"].add_argument("--shapes", nargs="*", default=["small", "amazon-670k"], help="of files to score")
    for name in ("picture", "peers"):
        subs[name].add_argument("--python", default=sys.executable, help="the interpreter that has the other tools")
    for name in ("picture", "peers", "against"):
        subs[name].add_argument("--runs", type=int, help="turns; from 6 on, differences have an interval")
    return parser.parse_args(words)


if __name__ == "__main__":
    chosen = parse(sys.argv[1:])
    sys.exit(bool(chosen.run(chosen)))
