"""Docstrings of public names document the parameters and fields that exist, in their order, as editors show them."""

import dataclasses
import inspect
import re

import pytest

import xmceval

ENTRY = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*)( : \S.*)?")
MOST_USED = [
    *("score", "score_all", "compare", "benchmark", "merge", "Evaluator", "Result", "Results", "Comparison"),
    *("precision_at_k", "ndcg_at_k", "psp_at_k", "ndcg_score", "roc_auc_score", "group_auc"),
]

PUBLIC = {name: getattr(xmceval, name) for name in xmceval.__all__}
FUNCTIONS = {name: each for name, each in PUBLIC.items() if inspect.isfunction(each)}


def classes():
    """Yield the public classes of this package, and those that public functions return."""
    yield from (each for each in PUBLIC.values() if inspect.isclass(each) and each.__module__.startswith("xmceval."))
    for function in FUNCTIONS.values():
        returned = function.__globals__.get(str(inspect.signature(function).return_annotation))
        if inspect.isclass(returned) and returned.__module__.startswith("xmceval."):
            yield returned


CLASSES = {each.__name__: each for each in classes() if not issubclass(each, Exception)}


def methods():
    """Yield the public methods of public classes, by the class in which they are written."""
    for own in CLASSES.values():
        for method, found in inspect.getmembers(own, lambda each: inspect.isfunction(each) or inspect.ismethod(each)):
            if not method.startswith("_") and found.__module__.startswith("xmceval."):
                yield found.__qualname__, found


CALLABLES = FUNCTIONS | dict(methods())


def section(docstring, title):
    """Return the lines of a numpydoc section without its indentation; None without the section."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", docstring, re.MULTILINE | re.DOTALL)
    return None if found is None else found[1].splitlines()


def entries(docstring, title):
    """Yield the name and the type, which may be empty, of each entry of a section."""
    for line in section(docstring, title) or []:
        if line and not line.startswith(" "):
            names, kind = ENTRY.fullmatch(line).groups()
            yield from ((name, kind) for name in names.split(", "))


def check_entries(found, expected):
    assert [name for name, _ in found] == expected
    assert [name for name, kind in found if not kind and not name.startswith("*")] == [], "an entry has no type"


def parameters(function):
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = inspect.signature(function).parameters.values()
    return [stars.get(each.kind, "") + each.name for each in found if each.name != "self"]


@pytest.mark.parametrize("name", sorted(CALLABLES))
def test_the_parameters_of_a_function_are_documented_in_its_order_with_types_and_so_is_what_it_returns(name):
    function = CALLABLES[name]
    docstring = inspect.getdoc(function)
    check_entries(list(entries(docstring, "Parameters")), parameters(function))
    returned = inspect.signature(function).return_annotation
    is_said = section(docstring, "Returns") is not None or ("." in name and docstring.startswith("Return "))
    assert is_said or returned == "None"


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_fields_of_a_class_are_documented_in_their_order_with_types(name):
    own = CLASSES[name]
    is_table = dataclasses.is_dataclass(own)
    expected = [each.name for each in dataclasses.fields(own)] if is_table else parameters(own.__init__)
    docstring = inspect.getdoc(own)
    check_entries([*entries(docstring, "Parameters"), *entries(docstring, "Attributes")], expected)
    properties = (each for each, _ in inspect.getmembers(own, lambda each: isinstance(each, property)))
    assert [each for each in properties if not each.startswith("_") and not inspect.getdoc(getattr(own, each))] == []


@pytest.mark.parametrize("name", MOST_USED)
def test_the_most_used_names_have_an_example(name):
    assert section(inspect.getdoc(PUBLIC[name]), "Examples") is not None


def test_other_functions_that_are_named_exist():
    for name, each in (CALLABLES | CLASSES).items():
        for line in section(inspect.getdoc(each), "See Also") or []:
            if not line.startswith(" "):
                names = line.partition(" : ")[0].split(", ")
                assert [known for known in names if known not in PUBLIC] == [], name
