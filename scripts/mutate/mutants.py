"""Mutants: what may be changed in a function, one place at a time, and the code of the function with the change."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("statistics", "metrics", "labels", "scoring", "rows", "report", "files/text", "kernels")
# The loader of compiled code, intrinsics, and what needs them, do not run as plain Python; of drawings, eyes judge more
# than tests.
LEFT_OUT = ("kernels/compile/", "kernels/vector/", "kernels/text/pairs.py", "report/page/", "report/pictures/")
COMPILED_ONLY = ("join_digits", "parse_decimal", "to_float")  # of kernels/text, which parse numbers by words
WORDS = ("report",)  # rooms where text is what is computed
AROUND = 45  # characters of a statement that are shown before and after a change

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: in a function of a file, of a node to `new`, at a field of `parent` or in a list there."""

    file: str
    function: str
    line: int  # the first of the function
    number: int  # among the mutants of the function
    tree: ast.Module
    statement: ast.AST
    parent: ast.AST
    field: str
    index: int | None
    new: ast.AST

    @property
    def key(self) -> str:
        """What tells it from others, as long as its file stays as it is."""
        return f"{self.file}:{self.function}:{self.number}"

    def put(self, node: ast.AST) -> ast.AST:
        """Put a node in the place of the change; returns what was there."""
        if self.index is None:
            old: ast.AST = getattr(self.parent, self.field)
            setattr(self.parent, self.field, node)
        else:
            nodes = getattr(self.parent, self.field)
            old, nodes[self.index] = nodes[self.index], node
        return old

    def texts(self) -> tuple[str, str]:
        """The statement as it is and with the change, as far as it is near."""
        was = _text(self.statement)
        if self.parent is self.tree or _holds(self, self.statement):  # the statement itself is replaced
            became = _text(self.new)
        else:
            old = self.put(self.new)
            became = _text(self.statement)
            self.put(old)
        same = next(
            (at for at, (a, b) in enumerate(zip(was, became, strict=False)) if a != b), min(len(was), len(became))
        )
        end = next(
            (at for at, (a, b) in enumerate(zip(was[:same:-1], became[:same:-1], strict=False)) if a != b),
            min(len(was), len(became)) - same - 1,
        )
        start = max(0, same - AROUND)
        return tuple(each[start : len(each) - max(0, end - AROUND)].strip() for each in (was, became))  # type: ignore[return-value]

    def code(self) -> types.CodeType:
        """The code of the function with the change."""
        return self._compile(self.new)

    def is_possible(self) -> bool:
        """Whether a function can have the code in place of its own: a change may leave out what it has from outside."""
        before = self._compile(None)
        after = self._compile(self.new)
        return before.co_freevars == after.co_freevars and before.co_code + _constants(
            before
        ) != after.co_code + _constants(after)

    def _compile(self, node: ast.AST | None) -> types.CodeType:
        old = self.put(node) if node else None
        try:
            module = compile(self.tree, str(ROOT / self.file), "exec", dont_inherit=True)
        finally:
            if old:
                self.put(old)
        pending = [module]
        while pending:
            code = pending.pop()
            if (code.co_qualname, code.co_firstlineno) == (self.function, self.line):
                return code
            pending.extend(each for each in code.co_consts if isinstance(each, types.CodeType))
        raise LookupError(f"{self.file}: no function {self.function}")


def lines_of(statement: ast.AST) -> range:
    """Return the lines of a statement, without those of statements below it."""
    first = statement.lineno
    below = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if isinstance(below, list):
        start = below[0].pattern.lineno if isinstance(below[0], ast.match_case) else below[0].lineno
        return range(first, max(first + 1, start))
    return range(first, statement.end_lineno + 1)


def _constants(code: types.CodeType) -> bytes:
    return (
        repr([_constants(each) if isinstance(each, types.CodeType) else each for each in code.co_consts]).encode()
        + code.co_code
    )


def _holds(mutant: Mutant, statement: ast.AST) -> bool:
    value = getattr(mutant.parent, mutant.field)
    return statement is (value if mutant.index is None else value[mutant.index])


def _text(node: ast.AST) -> str:
    """A statement in one line, without the statements below it."""
    if getattr(node, "body", None) and isinstance(node.body, list):  # type: ignore[attr-defined]
        return " ".join(ast.unparse(node).split("\n")[0].split())
    return " ".join(ast.unparse(node).split())


def changes_of(node: ast.AST, *, has_words: bool) -> Iterator[ast.AST]:
    """Yield what a node may become."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield ast.Compare(node.left, [COMPARED[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        yield ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)
    elif isinstance(node, ast.AugAssign) and type(node.op) in COMPUTED:
        yield ast.AugAssign(node.target, COMPUTED[type(node.op)](), node.value)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, ast.Constant):
        yield from changes_of_constant(node.value, has_words=has_words)
    elif isinstance(node, ast.If):
        yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.While):
        yield ast.While(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()


def changes_of_constant(value: Any, *, has_words: bool) -> Iterator[ast.AST]:
    """Yield what a constant may become."""
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, (int, float)):
        yield ast.Constant(value + 1)
    elif isinstance(value, str) and has_words and value.strip():
        yield ast.Constant(f"XX{value}")


def children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    """Yield where nodes that may change are below a node: no types, decorators, defaults, docstrings and errors.

    `strict=` of `zip` is left as it is, too: it only tells of mistakes that the code does not make.
    """
    is_cast = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast"
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "args", "format_spec"} and not isinstance(
            node, ast.Call
        ):
            continue
        for index, each in enumerate(value) if isinstance(value, list) else [(None, value)]:
            is_text = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
            is_type = is_cast and field == "args" and index == 0
            if (
                isinstance(each, ast.AST)
                and not isinstance(each, (ast.Raise, ast.Assert))
                and not is_text
                and not is_type
                and not (isinstance(each, ast.keyword) and each.arg == "strict")
            ):
                yield field, index, each


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of the functions of a module."""
    file = path.relative_to(ROOT).as_posix()
    has_words = any(f"xmceval/{room}/" in file for room in WORDS)
    tree = ast.parse(path.read_text(encoding="utf-8"))

    def below(node: ast.AST, statement: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, str, int | None, ast.AST]]:
        for field, index, each in children(node):
            has_lines = isinstance(each, (ast.stmt, ast.ExceptHandler))
            inner = each if has_lines else statement
            for new in changes_of(each, has_words=has_words):
                yield inner, node, field, index, ast.fix_missing_locations(ast.copy_location(new, each))
            yield from below(each, inner)

    def functions(node: ast.AST, prefix: str) -> Iterator[Mutant]:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.ClassDef):
                yield from functions(each, f"{prefix}{each.name}.")
            elif isinstance(each, ast.FunctionDef) and each.name != "__repr__":
                first = min([each.lineno, *(decorator.lineno for decorator in each.decorator_list)])
                for number, found in enumerate(below(each, each)):
                    statement, parent, field, index, new = found
                    yield Mutant(file, prefix + each.name, first, number, tree, statement, parent, field, index, new)

    yield from functions(tree, "")


def all_mutants(only: str = "") -> list[Mutant]:
    """Return the mutants of all rooms, or of files whose path has a text."""
    files = [path for room in ROOMS for path in sorted((ROOT / "xmceval" / room).rglob("*.py"))]
    files = [path for path in files if not any(each in path.as_posix() for each in LEFT_OUT)]
    found = (mutant for path in files if only in path.relative_to(ROOT).as_posix() for mutant in mutants_of(path))
    return [mutant for mutant in found if mutant.function not in COMPILED_ONLY]
