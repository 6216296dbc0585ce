"""Measure xmceval: as whole processes beside `wc -w`, `cat`, other tools and other revisions, and in memory.

All data are made, of the shape of real sets. A subcommand may be written as an option:
`python scripts/bench --against REV`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

if not __package__:  # run as `python scripts/bench`
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench.measure import (
    FORM,
    ROOT,
    Command,
    Figures,
    Usage,
    alternate,
    command_of,
    entries,
    figures_of,
    install_revision,
    install_tree,
    measure,
    module,
    program,
    progress,
    provenance,
    ratios,
    record,
    score,
    table,
    verdict,
    write,
)
from bench.model import MODELS, Case, Cluster, Merge
from bench.peers import agreement, can_hold, measure_tools, replaced, tools_of
from bench.peertable import RECORDED as SPEED
from bench.picture import FIGURES, LARGE, OURS, ROWS, UTF8, WORDS, redraw
from bench.ranking import arguments_of

# This process never imports numpy: on Linux a child's peak memory begins at that of the process that started it.
SHAPES = ("small", "amazon-670k", "amazon-3m")
RECORDED = Path(__file__).with_name("check.json")
TITLES = tuple(f"titles-{rows}" for rows in ROWS)
MEMORY_SHAPES = ("rows-40k", "rows-80k", "rows-160k", "rows-320k")


def made(options: argparse.Namespace, shape: str) -> dict[str, str]:
    """Make the data of a shape in a process of its own, unless it is there, and return the paths."""
    layout = ["--order", options.order, "--digits", str(options.digits), "--value", options.value]
    argv = [sys.executable, __file__, "make", shape, str(options.dir or ""), *layout]
    return dict(json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout))


# Subcommands


def make(options: argparse.Namespace) -> None:
    """Make the data of a shape and print the paths."""
    from bench import data

    layout, folder = data.Layout(options.order, options.digits, options.value), Path(options.dir or data.default_dir())
    if options.shape.startswith("states-"):
        paths = data.make_states(options.shape, folder)
    else:
        shape = data.SHAPES.get(options.shape) or data.Shape.of_name(options.shape)
        paths = data.make(options.shape, shape, folder, layout)
    print(json.dumps({kind: str(path) for kind, path in paths.items()}))


def run(options: argparse.Namespace) -> Figures:
    """Measure xmceval, wc -w and cat; or threads."""
    if options.threads:
        return threaded(options)
    figures = beside_words(options, options.shape)
    compared = [ratio for ratio in figures["ratios"] if ratio["to"] == WORDS]
    print(table(title(options, options.shape), figures["measured"], compared))
    return figures


def title(options: argparse.Namespace, shape: str) -> str:
    """Return what stands above a table."""
    size = sum(Path(path).stat().st_size for path in made(options, shape).values()) / 1e6
    return f"{shape}: {size:,.0f} MB in three files, {os.cpu_count()} processors, medians of {options.runs}"


def beside_words(options: argparse.Namespace, shape: str) -> Figures:
    """Measure xmceval in turns with what only counts words, and what only copies."""
    paths = made(options, shape)
    files = tuple(paths.values())
    commands = {
        OURS: Command((score(paths),)),
        WORDS: Command((("wc", "-w", *files),), {"LC_ALL": "C"}),
        UTF8: Command((("wc", "-w", *files),), {"LC_ALL": "C.UTF-8"}),
        "cat": Command((("cat", *files),)),
    }
    found = alternate(commands, options.runs)
    return {"measured": entries(shape, found), "ratios": ratios(shape, found, WORDS) + ratios(shape, found, UTF8)}


def threaded(options: argparse.Namespace) -> Figures:
    """Measure one process with so many threads, two independent ones of one thread, and the start-up alone."""
    paths, small = made(options, options.shape), made(options, "small")
    alone = score(paths, 1)
    names = {n: f"xmceval, {n} thread{'s' * (n > 1)}" for n in options.threads}
    commands = {
        **{name: Command((score(paths, n),)) for n, name in names.items()},
        "two of 1 thread": Command((alone, alone)),
        "start-up (small)": Command((score(small, 1),)),
    }
    measured = entries(options.shape, alternate(commands, options.runs))
    print(table(title(options, options.shape), measured))
    if not {1, 2} <= set(options.threads):
        return {"measured": measured}
    wall = {entry["contestant"]: entry["wall"]["median"] for entry in measured}
    start = wall["start-up (small)"]
    work = wall[names[1]] - start
    threads, processes = work / (wall[names[2]] - start), 2 * work / (wall["two of 1 thread"] - start)
    share = threads / processes
    print(f"after start-up: two threads {threads:.2f}x, two processes {processes:.2f}x, share {share:.0%}")
    return {"measured": measured, "two_processors": {"threads": threads, "processes": processes, "share": share}}


def against(options: argparse.Namespace) -> Figures:
    """Measure this tree, with what is not committed, and another revision in turns, and say which is faster."""
    folder = Path(options.dir or Path(tempfile.gettempdir()) / "xmceval-bench") / "revisions"
    folder.mkdir(parents=True, exist_ok=True)
    here, there = install_tree(folder), install_revision(options.revision, folder)
    figures: Figures = {"measured": [], "ratios": []}
    for shape in options.shapes:
        arguments = score(made(options, shape), command="xmceval")[1:]
        commands = {"this tree": command_of(here, arguments), options.revision: command_of(there, arguments)}
        found = alternate(commands, options.runs)
        measured, [ratio] = entries(shape, found), ratios(shape, found, options.revision)
        print(table(f"{shape}: medians of {options.runs}", measured))
        for key, name in (("cpu", "processor time"), ("wall", "wall clock"), ("peak", "peak memory")):
            print(f"  {name + ':':<16}{verdict(ratio[key])}")
        figures["measured"] += measured
        figures["ratios"].append(ratio)
    return figures


def memory(options: argparse.Namespace) -> Figures:
    """Measure peak memory while the number of rows doubles."""
    commands = {shape: Command((score(made(options, shape)),)) for shape in MEMORY_SHAPES}
    measured = entries("memory", alternate(commands, options.runs))
    print(table("peak memory as rows grow (670,091 labels, 100 predictions a row)", measured))
    return {"measured": measured}


def startup(options: argparse.Namespace) -> Figures:
    """Measure --help, a small score with compiled kernels, and the first score ever (no compiled kernels)."""
    argv = score(made(options, "small"))
    warm = {
        "python -c pass": Command(((sys.executable, "-c", "pass"),)),
        "python -c 'import numba'": Command(((sys.executable, "-c", "import numba"),)),
        "xmceval --help": Command(((program(), "--help"),)),
        "small score, warm": Command((argv,)),
    }
    found = alternate(warm, options.runs)
    found["small score, first ever"] = []
    for _ in range(min(options.runs, 3)):
        with tempfile.TemporaryDirectory() as empty:
            found["small score, first ever"].append(measure(Command((argv,), {"NUMBA_CACHE_DIR": empty})))
    measured = entries("start-up", found)
    print(table(f"start-up, medians of {options.runs}", measured))
    return {"measured": measured}


def benchmark(options: argparse.Namespace) -> Figures:
    """Measure a benchmark of six data sets by eight systems beside compare on each."""
    folder = Path(options.dir or Path(tempfile.gettempdir()) / "xmceval-bench") / "datasets"
    made = figures_of("datasets", str(folder))
    each = [compare_in(folder / name, made["systems"]) for name in made["datasets"]]
    whole = (program(), "benchmark", str(folder / made["file"]), "-q")
    found: dict[str, list[Usage]] = {name: [] for name in ("compare, one by one", "benchmark")}
    for turn in range(options.runs + 1):
        usages = add_up([measure(Command((argv,))) for argv in each]), measure(Command((whole,)))
        for of_name, usage in zip(found.values(), usages if turn else (), strict=False):
            of_name.append(usage)
    subject = f"{len(made['datasets'])} data sets by {len(made['systems'])} systems"
    measured, compared = entries(subject, found), ratios(subject, found, "compare, one by one")
    print(table(f"{subject}, medians of {options.runs}", measured, compared))
    return {"measured": measured, "ratios": compared}


def compare_in(home: Path, systems: Sequence[str]) -> tuple[str, ...]:
    """Return the command that compares all systems of a data set as the benchmark does."""
    files = (str(home / "truth.npz"), *(str(home / f"{name}.npz") for name in systems))
    options = ("--train", str(home / "train.npz"), "-m", "P,PSP@1,3,5", "--against", f"{systems[0]}.npz", "-q")
    return (program(), "compare", *files, *options)


def add_up(usages: Sequence[Usage]) -> Usage:
    """Return what processes used one after the other."""
    cpu, peak = sum(each.cpu or 0 for each in usages), max(each.peak or 0 for each in usages)
    return Usage(sum(each.wall for each in usages), cpu, peak)


def arrays(options: argparse.Namespace) -> Figures:
    """Measure xmceval.score on CSR matrices in memory: the first call and the later ones, in a process of its own."""
    found = figures_of("arrays", options.shape, str(options.runs))
    calls = [Usage(**each) for each in found["calls"]]
    measured = entries(options.shape, {"first call": calls[:1], "later calls": calls[1:]})
    print(table(f"{options.shape}: CSR float32, int32 in memory; P@1 {found['P@1']:.4f}", measured))
    return {"measured": measured}


def dense(options: argparse.Namespace) -> Figures:
    """Measure a batch of dense logits, 256 x 1,000,000, beside one pass over its memory, numpy and torch."""
    found = figures_of("arrays", "dense", str(options.runs))
    figures: Figures = {"measured": [], "ratios": [], "peak_beyond_matrix_mb": found["peak"]}
    print(f"256 x 1,000,000 logits in memory; {found['peak']:.0f} MB beyond the matrix")
    for batch, walls in found["batches"].items():
        usages = {name: [Usage(wall) for wall in each] for name, each in walls.items()}
        figures["measured"] += entries(batch, usages)
        figures["ratios"] += ratios(batch, usages, "x.max()")
        print(table(f"\n{batch}", entries(batch, usages), ratios(batch, usages, "x.max()")))
    return figures


def evaluator(options: argparse.Namespace) -> Figures:
    """Measure `Evaluator.update` on batches of 256 lists of 100 labels, beside torchmetrics where it is installed."""
    return {"microseconds": figures_of("arrays", "evaluator", str(options.runs))}


def peers(options: argparse.Namespace) -> Figures:
    """Measure small and middling work in memory, and runs with qrels, by xmceval and by others in turns."""
    figures: Figures = {"measured": [], "ratios": [], "tools": figures_of("works", python=options.python)["tools"]}
    found = {work: in_memory(work, options) for work in figures_of("works")["works"] if options.only in work}
    found |= dict(runs_and_qrels(options))
    for work, used in found.items():
        figures["measured"] += entries(work, used)
        figures["ratios"] += ratios(work, used, next(iter(used)))
        print(milliseconds(work, entries(work, used)))
    if options.record:
        whole = json.loads(SPEED.read_text(encoding="utf-8")) if SPEED.exists() else record("peers", {}, {})
        works = list(dict.fromkeys(each["subject"] for each in (*whole["measured"], *figures["measured"])))
        for key in ("measured", "ratios"):
            entries_of = [each for each in whole[key] if each["subject"] not in found] + figures[key]
            whole[key] = sorted(entries_of, key=lambda each: works.index(each["subject"]))
        write(SPEED, whole | provenance() | {"tools": figures["tools"]})
    return figures


def in_memory(work: str, options: argparse.Namespace) -> dict[str, list[Usage]]:
    """Measure a work by each contestant that this interpreter or that of the tools has."""
    pythons = dict.fromkeys((options.python, sys.executable))  # what both have runs in this one
    able = {name: python for python in pythons for name in figures_of("works", work, python=python)}
    found: dict[str, list[Usage]] = {name: [] for name in able}
    for turn in range(options.runs):
        for name, python in able.items():
            progress(f"{work}: {turn + 1}/{options.runs} {name}")
            timed = figures_of("works", work, name, python=python)
            found[name].append(Usage(timed["wall"], timed["cpu"], timed["peak"]))
    progress("")
    return found


def runs_and_qrels(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, list[Usage]]]]:
    """Measure one run and two with a paired test, beside pytrec_eval (and scipy): whole processes."""
    folder = str(Path(tempfile.gettempdir()) / "xmceval-bench")
    for n_queries, n_runs in ((2_000, 1), (2_000, 2), (20_000, 1), (20_000, 2)):
        work = f"{'two TREC runs and t tests' if n_runs == 2 else 'a TREC run'}, {n_queries:,} queries × 500"
        if options.only in work:
            files = figures_of("ranking", folder, str(n_queries))[: 1 + n_runs]
            command = "compare" if n_runs == 2 else "score"
            commands = {f"xmceval {command}": Command(((program(), *arguments_of(*files)),))}
            if figures_of("ranking", python=options.python):
                commands["pytrec_eval"] = module("ranking", "pytrec_eval", *files, python=options.python)
            yield work, alternate(commands, options.runs)


def milliseconds(title: str, measured: Sequence[Figures]) -> str:
    """Return entries of short calls as a table for a terminal."""
    lines = [f"{title:<32}{'cpu ms':>10}{'wall ms':>10}{'MB':>7}"]
    for entry in measured:
        cpu, wall, peak = (entry[key]["median"] for key in ("cpu", "wall", "peak"))
        lines.append(f"  {entry['contestant']:<30}{1e3 * cpu:>10.3f}{1e3 * wall:>10.3f}{peak:>7.0f}")
    return "\n".join(lines)


def texts(options: argparse.Namespace) -> Figures:
    """Measure how fast one thread reads text of each kind, in MB per second of processor time; beside a revision."""
    folder = Path(options.dir or Path(tempfile.gettempdir()) / "xmceval-bench")
    trees = {"this tree": ROOT}
    if options.against:
        (folder / "revisions").mkdir(parents=True, exist_ok=True)
        trees[options.against] = install_revision(options.against, folder / "revisions")
    kinds = figures_of("texts", str(folder / "texts"))
    figures: Figures = {"measured": [], "ratios": []}
    for kind in (kind for kind in kinds if options.only in kind):
        found: dict[str, list[Usage]] = {name: [] for name in trees}
        for turn in range(options.runs):
            for name, tree in trees.items():
                progress(f"{kind}: {turn + 1}/{options.runs} {name}")
                timed = figures_of("texts", str(folder / "texts"), kind, tree=tree)
                if not Path(timed["xmceval"]).is_relative_to(tree):
                    sys.exit(f"{timed['xmceval']} was measured, not {tree}: run this in another directory")
                found[name].append(Usage(timed["wall"], timed["cpu"]))
        progress("")
        figures["measured"] += entries(kind, found)
        figures["ratios"] += ratios(kind, found, next(iter(trees)))
        size = timed["bytes"] / 1e6
        rates = [f"{each['contestant']} {size / each['cpu']['median']:.0f} MB/s" for each in entries(kind, found)]
        print(f"{kind + ':':<32}{', '.join(rates)}")
    return figures


def scaling(options: argparse.Namespace) -> Figures:
    """Measure how cost grows with rows, labels, predictions, k, metrics, systems ...; say where faster than n log n."""
    return {"scaling": figures_of("scaling", options.only)}


def model(options: argparse.Namespace) -> Figures:
    """Fit how time and memory of `score`, `merge` and Dask grow with sizes; check the fit on other cases."""
    folder = Path(options.dir or Path(tempfile.gettempdir()) / "xmceval-bench")
    measured: dict[str, list[list[object]]] = {}
    for name in (name for name in MODELS if options.only in name):
        runs: dict[Any, list[dict[str, float]]] = {case: [] for case in MODELS[name].cases + MODELS[name].checks}
        inputs = {case: inputs_of_case(case, options, folder) for case in runs}
        for turn in range(options.runs + 1):  # the first one warms files and compiled kernels
            for case, found in runs.items():
                progress(f"{turn}/{options.runs} {case}")
                values = measure_case(case, inputs[case])
                found.extend([values] if turn else [])
        progress("")
        measured[name] = [
            [case, {figure: statistics.median(each[figure] for each in found) for figure in found[0]}]
            for case, found in runs.items()
        ]
    with tempfile.TemporaryDirectory() as empty:
        path = Path(empty) / "measured.json"
        path.write_text(json.dumps(measured), encoding="utf-8")
        figures = figures_of("model", str(path))
    for name, fitted in figures.items():
        for figure, fit in fitted.items():
            unit = "s" if figure.endswith("cpu") else "MB"
            print(f"{name}, {figure}")
            for term, factor in fit["factors"].items():
                print(f"{term:<46}{factor:>10.4f} {unit}")
            for each in fit["cases"]:
                mark, ratio = "check" if each["is_check"] else "", each["predicted"] / each["measured"]
                sizes = ", ".join(f"{size:,} {noun}" for noun, size in each["case"].items())
                print(f"  {mark:<6}{each['measured']:>8.2f} {unit}, model {ratio:.2f} of it: {sizes}")
    return {"model": figures}


def inputs_of_case(case: Case | Merge | Cluster, options: argparse.Namespace, folder: Path) -> dict[str, str]:
    """Make the data of a case and return the paths; files and systems beyond the first are links to these."""
    if isinstance(case, Cluster):
        return inputs_of_case(case.files_case, options, folder)
    paths = made(options, case.name)
    if isinstance(case, Merge):
        return paths
    inputs = {"train": paths["train"]}
    for kind, n in (("truth", 1), ("preds", case.systems)):
        for system in range(n):
            links = [folder / case.name / f"{kind}-{system}-{number}.txt" for number in range(case.files)]
            for link in links:
                link.unlink(missing_ok=True)
                os.link(paths[kind], link)
            name = folder / case.name / f"{kind}-{system}-of-{case.files}.list"
            name.write_text("".join(f"{link}\n" for link in links), encoding="utf-8")
            inputs[f"{kind}-{system}"] = f"@{name}" if case.files > 1 else str(links[0])
    return inputs


def measure_case(case: Case | Merge | Cluster, inputs: dict[str, str]) -> dict[str, float]:
    """Return the figures of one run of a case."""
    if isinstance(case, Cluster):
        files = inputs["truth-0"], inputs["preds-0"]
        return dict(figures_of("workers", *files, str(case.parts), str(case.workers)))
    if isinstance(case, Merge):
        usage = measure(Command(((program(), "merge", inputs["states"], "-o", "json"),)))
    else:
        systems = [inputs[f"preds-{system}"] for system in range(case.systems)]
        options = ("--train", inputs["train"], "-k", "1,3,5", "-o", "json")
        usage = measure(Command(((program(), "score", inputs["truth-0"], *systems, *options),)))
    return {"cpu": usage.cpu or 0, "peak": usage.peak or 0}


def check(options: argparse.Namespace) -> Figures:
    """Compare processor times with a loop that is timed in the same process; fail if far slower than was recorded."""
    found = figures_of("check", *(["--record"] if options.record else []))
    figures = {"check": found, "failed": bool(found["slow"])}
    if options.record:
        write(RECORDED, record("check", {}, figures))
    return figures


def picture(options: argparse.Namespace) -> None:
    """Draw the picture of the README and write its figures, after measuring shapes if asked."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else record("picture", {}, {})
    for shape in options.measure:
        if shape in LARGE:
            new = beside_words(options, shape)
        else:
            tools, rows = tools_of(options.python), int(shape.rpartition("-")[2])
            able = [tool for tool in tools if can_hold(tool, rows, figures["measured"])]
            used, values = measure_tools(made(options, shape), able, options.python)
            new = {"measured": entries(shape, used), "agreement": agreement(shape, values)}
            figures["tools"] = tools
        sizes = [Path(path).stat().st_size for path in made(options, shape).values()]
        new["inputs"] = [{"subject": shape, "bytes": sum(sizes)}]
        print(table(shape, new["measured"]))
        for key, found in new.items():
            figures[key] = replaced(figures.get(key, []), shape, found)
        write(FIGURES, figures | provenance())
    redraw()


COMMANDS: dict[str, Callable[[argparse.Namespace], Figures | None]] = {
    "make": make,
    "run": run,
    "against": against,
    "benchmark": benchmark,
    "arrays": arrays,
    "dense": dense,
    "evaluator": evaluator,
    "memory": memory,
    "startup": startup,
    "peers": peers,
    "texts": texts,
    "scaling": scaling,
    "model": model,
    "check": check,
    "picture": picture,
}
NEEDS_DATA = {"make", "run", "against", "memory", "startup", "picture", "benchmark", "model", "texts"}


def parser() -> argparse.ArgumentParser:
    """Return the parser; subcommands and their help come from COMMANDS."""
    as_is = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(description=__doc__, epilog=FORM, formatter_class=as_is)
    commands = top.add_subparsers(dest="command", required=True)
    for name, function in COMMANDS.items():
        sub = commands.add_parser(name, help=function.__doc__, description=function.__doc__)
        if name == "make":
            sub.add_argument(
                "shape", help=f"{', '.join((*SHAPES, *MEMORY_SHAPES, *TITLES))}, or of a case of the model"
            )
        if name in {"run", "arrays"}:
            sub.add_argument("shape", choices=(*SHAPES, *MEMORY_SHAPES, *TITLES))
        if name == "against":
            sub.add_argument("revision", help="anything that git rev-parse knows, such as HEAD or a branch")
        if name in NEEDS_DATA:
            where = "where made files are kept (default: below the system's temp folder)"
            sub.add_argument("dir", nargs="?", help=where)
            sub.add_argument("--order", choices=("label", "score"), default="label", help="order within a row")
            sub.add_argument("--digits", type=int, choices=range(1, 10), default=6, help="digits of a score")
            sub.add_argument("--value", choices=("1", "1.00000"), default="1", help="value of a true label in the text")
        if name not in {"make", "scaling", "check"}:
            sub.add_argument("--runs", type=int, default=9 if name == "against" else 5)
        if name not in {"make", "picture"}:
            sub.add_argument("--json", metavar="FILE", help="write the figures there as well")
    numbers = lambda text: [int(word) for word in text.split(",")]  # noqa: E731
    words = lambda text: text.split(",")  # noqa: E731
    commands.choices["run"].add_argument("--threads", type=numbers, help="such as 1,2: compare numbers of threads")
    commands.choices["against"].add_argument("--shapes", type=words, default=["small", "amazon-670k"])
    drawn = commands.choices["picture"]
    drawn.add_argument("--measure", type=words, default=[], help=f"of {','.join((*TITLES, *LARGE))}")
    for sub in (drawn, commands.choices["peers"]):
        sub.add_argument("--python", default=sys.executable, help="the interpreter that has the other tools")
    for name, path in (("check", RECORDED), ("peers", SPEED)):
        commands.choices[name].add_argument("--record", action="store_true", help=f"write {path.name} anew")
    commands.choices["texts"].add_argument("--against", metavar="REV", help="another revision, measured in turns")
    for name in ("scaling", "peers", "texts", "model"):
        commands.choices[name].add_argument("--only", default="", help="only lines that have this in their name")
    return top


def main() -> int:
    """Run one subcommand; return 1 if it found that something is too slow."""
    words = sys.argv[1:]
    if words and words[0].removeprefix("--") in COMMANDS:
        words[0] = words[0].removeprefix("--")
    options = parser().parse_args(words)
    figures = COMMANDS[options.command](options)
    if figures is not None and options.json:
        given = {name: value for name, value in vars(options).items() if name not in {"command", "json"}}
        write(Path(options.json), record(options.command, given, figures))
    return int(bool(figures and figures.get("failed")))


if __name__ == "__main__":
    sys.exit(main())
