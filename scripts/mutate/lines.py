"""Which lines of functions tests run, as plain Python: what was learnt, by package."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from mutate.mutants import ROOT, lines_of

# What only compiled code needs: compilers, and instructions, in whose place plain Python takes other lines.
COMPILED = (
    "xmceval/kernels/compile/",
    "xmceval/kernels/text/pairs.py",
    "xmceval/kernels/vector/",
    "xmceval/scoring/ahead.py",
    "xmceval/scoring/warmup.py",
)


def statements_of_functions(path: Path) -> dict[int, range]:
    """Return the lines of the statements in functions of a module, by their first; docstrings and ellipses are none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    statements = {node for function in functions for each in function.body for node in ast.walk(each)}
    return {node.lineno: lines_of(node) for node in statements if isinstance(node, ast.stmt) and not _is_text(node)}


def _is_text(node: ast.stmt) -> bool:
    """Whether it does nothing: a docstring, an ellipsis, a declaration."""
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant or isinstance(node, (ast.Global, ast.Nonlocal)) or _is_declared(node)


def _is_declared(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and node.value is None


def count_lines(run: Mapping[str, Collection[int]]) -> Iterator[tuple[str, int, list[int]]]:
    """Yield each file of the package, how many lines of functions it has, and which of them no test runs."""
    for path in sorted((ROOT / "xmceval").rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        own, lines = statements_of_functions(path), run.get(file, ())
        yield file, len(own), sorted(first for first, span in own.items() if not any(each in lines for each in span))


def print_lines(run: Mapping[str, Collection[int]], *, has_missing: bool) -> None:
    """Print the share of lines that tests run, by package, and which they do not."""
    counts: dict[str, list[int]] = {}
    for file, n, missing in count_lines(run):
        names = ["all", file.split("/")[1].removesuffix(".py")]
        names += [] if file.startswith(COMPILED) else ["uncompiled"]
        for name in names:
            both = counts.setdefault(name, [0, 0])
            both[0] += n - len(missing)
            both[1] += n
        if has_missing and missing:
            print(f"{file}: {' '.join(map(str, missing))}")
    for name, (n_run, n) in sorted(counts.items()):
        print(f"{name:<12} {n_run:>6,} of {n:>6,} lines of functions are run, {n_run / max(n, 1):.1%}")
