"""Mutants: what scripts/mutate changes, and each survivor that is listed is of a function that exists."""

import ast
from functools import cache

import pytest
from mutate.mutants import ROOT, mutants_of
from mutate.record import read_reasons

SURVIVORS = read_reasons()
MODULE = '''
"""Text."""
def f(a: int = 1, *, b="x"):
    """Text."""
    if a < 2:
        raise ValueError("3" + 4)
    print(a + 1)
    return f"{a:>5}" if not b else -a
'''


@cache
def functions_of(file):
    def below(node, prefix):
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.FunctionDef):
                yield prefix + each.name
            elif isinstance(each, ast.ClassDef):
                yield from below(each, f"{prefix}{each.name}.")

    return set(below(ast.parse((ROOT / file).read_text(encoding="utf-8")), ""))


@pytest.mark.parametrize("survivor", SURVIVORS, ids=" ".join)
def test_a_survivor_is_of_a_function_that_exists_and_has_a_reason(survivor):
    file, function, was, became = survivor
    assert function in functions_of(file)
    assert was != became
    assert SURVIVORS[survivor]


def test_a_mutant_is_one_change_of_what_a_function_does(tmp_path, monkeypatch):
    path = tmp_path / "module.py"
    path.write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr("mutate.mutants.ROOT", tmp_path)
    assert {mutant.texts() for mutant in mutants_of(path)} == {
        ("if a < 2:", "if not a < 2:"),
        ("if a < 2:", "if a <= 2:"),
        ("if a < 2:", "if a < 3:"),
        ("print(a + 1)", "pass"),
        ("print(a + 1)", "print(a - 1)"),
        ("print(a + 1)", "print(a + 2)"),
        ("return f'{a:>5}' if not b else -a", "return f'{a:>5}' if not not b else -a"),
        ("return f'{a:>5}' if not b else -a", "return f'{a:>5}' if b else -a"),
        ("return f'{a:>5}' if not b else -a", "return f'{a:>5}' if not b else a"),
    }
