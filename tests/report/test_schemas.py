"""JSON Schemas: what commands write fits them, and every field that they describe is written."""

import ast
import copy
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from support.benchmarks import benchmark, published_row
from support.files import write

import xmceval
from xmceval import version
from xmceval.cli import COMMANDS, cli
from xmceval.labels.catalogue import datasets, published
from xmceval.labels.standings import Standings, rank_among_published
from xmceval.report.fields.documents import DOCUMENTS, find_schema, load_document
from xmceval.report.forms.registry import render
from xmceval.report.gates import judge_datasets, judge_values, parse_required, parse_worse
from xmceval.scoring.options import Options, specs

STATE = b'{"schema": "xmceval/state/2"}'
SOME = {
    ("score", "options"),
    ("merge", "options"),
    ("inspect", "states", "[]", "options"),
    ("compare", "options"),
    ("benchmark", "datasets", "[]", "comparison", "options"),
    ("metrics", "metrics", "[]", "options", "*"),
}


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def fields(schema, path):
    """Yield the path and the schema of each field, of each item of an array, and of each value by name."""
    for name, own in schema.get("properties", {}).items():
        yield (*path, name), own
        yield from fields(own, (*path, name))
    for key, name in (("items", "[]"), ("additionalProperties", "*")):
        if isinstance(schema.get(key), dict):
            yield (*path, name), schema[key]
            yield from fields(schema[key], (*path, name))
    for place, own in enumerate(schema.get("prefixItems", ())):
        yield (*path, str(place)), own
        yield from fields(own, (*path, str(place)))


def written(value, schema, path):
    """Yield the paths of the fields of a document that are not null."""
    if value is None:
        return
    yield path
    if isinstance(value, dict):
        for name, own in value.items():
            inside = schema.get("properties", {}).get(name)
            yield from written(own, inside or schema["additionalProperties"], (*path, name if inside else "*"))
    elif isinstance(value, list):
        for place, own in enumerate(value):
            kinds = schema.get("prefixItems")
            yield from written(own, kinds[place] if kinds else schema["items"], (*path, str(place) if kinds else "[]"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with files in which everything happens that a field reports."""
    folder = tmp_path_factory.mktemp("rich")
    rng = np.random.default_rng(7)
    n, n_labels = 240, 8
    truth, scores = rng.random((n, n_labels)) < 0.3, np.round(rng.random((n, n_labels)), 1)
    truth[0], scores[:, 5:] = False, 0

    def rows(matrix, zero=""):
        lines = (" ".join(f"{j}:{x:g}" for j, x in enumerate(row) if x) for row in matrix.astype(float))
        return f"{n} {n_labels}\n" + zero + "\n".join(lines) + "\n"

    texts = {"t.txt": rows(truth).replace("\n", "\n7:0 ", 1), "train.txt": rows(truth)}
    texts |= {f"{name}.txt": rows(scores[rng.permutation(n)] if name != "a" else scores) for name in "abcd"}
    texts["shifted.txt"] = rows(np.roll(truth, 1, axis=1)).rstrip()
    texts["filter.txt"] = "0 0\n1 1\n1 2\n"
    texts["odd.txt"] = "3 4\n0:1 1:-1\n2:0.5 2:0.5\n3:0 1:inf\n"
    texts["again.txt"] = texts["a.txt"]
    texts |= {"none.txt": "3 4\n\n\n\n", "one.txt": "1 4\n0:1\n", "grades.txt": "2 3\n0:3 1:1\n2:2\n"}
    texts |= {f"shard{i}.txt": texts["one.txt"] for i in (1, 2)}
    texts |= {"weights.txt": "0.5\n2\n" * (n // 2), "inverse.txt": "1.5\n" * n_labels, "counts.txt": "2\n" * n_labels}
    texts |= {"values.csv": "row,P@1\n" + "1,1\n2,0\n3,0\n", "others.csv": "row,P@1\n" + "1,0\n2,0\n3,1\n"}
    for name, text in texts.items():
        write(folder / name, text)
    for name in "ab":
        saved = {"save_rows": folder / f"{name}.rows.npz", "save_state": folder / f"{name}.state"}
        xmceval.score(folder / "t.txt", folder / f"{name}.txt", k=1, metrics="P,macroF1", **saved)
    return folder


def asked_for(folder):
    options = {"k": "1,5", "metrics": ["P", "PSP", "LRAP", "AUC"], "train": folder / "train.txt", "threads": 1}
    return options | {"by_frequency": "head,tail", "ceiling": True, "filter": folder / "filter.txt"}


OF_GROUPS = ("tie_low", "tie_high", "ceiling")  # figures of bins of labels do not have them
OF_EITHER = {
    "low",
    "high",
    "n_labels",
    "mass",
    "n_instances",
    *OF_GROUPS,
}  # of bins of labels or of groups of rows
FEW_ROWS = np.eye(6)[np.arange(20) % 6]
OF_FEW_ROWS = {"metrics": "P", "k": 1, "train": FEW_ROWS, "by_frequency": 2}
BY_GROUP = {"metrics": "P", "k": 1, "by_group": np.arange(20) % 2, "ceiling": True}


def rich_score(folder):
    result = xmceval.score(folder / "t.txt", folder / "a.txt", **asked_for(folder), plots="gain")
    entry = next(each for name in datasets() for each in published(name) if each.suspect and each.values)
    name = next(name for name in datasets() if entry in published(name))
    metric, value = next(iter(entry.values.items()))
    ranked = [rank_among_published({metric: each}, name) for each in (value - 1e-9, value + 1e-9)]
    shown = [
        replace(result, name=f"{i}", published=each) for i, each in enumerate([*ranked, Standings(name, (), "no")])
    ]
    few = xmceval.score(FEW_ROWS, FEW_ROWS, **OF_FEW_ROWS)
    gated = replace(few, gates=judge_values([parse_required("P@1>=34")], few))
    grouped = xmceval.score(FEW_ROWS, FEW_ROWS, **BY_GROUP)
    return [json.loads(render("json", shown)), few.to_dict(), gated.to_dict(), grouped.to_dict()]


@cache
def rich_comparisons(folder):
    runs = {"old": [folder / f"{name}.txt" for name in "bcd"], "new": [folder / f"{name}.txt" for name in "abc"]}
    options = {"k": 3, "metrics": "P,PSP,LRAP,AUC,macroP", "train": folder / "train.txt", "by_frequency": 2}
    options |= {"filter": folder / "filter.txt", "ceiling": True, "threads": 1}
    spread = xmceval.compare(folder / "t.txt", runs, **options, against="new")
    alone = {"a": folder / "a.txt", "b": folder / "b.txt"}
    collected = {"plots": ["rows", "gain"], "save_labels": folder / "compare.labels.npz"}
    pair = xmceval.compare(folder / "t.txt", alone, **options, **collected)
    hits = {name: np.where(np.arange(20)[:, None] < n, FEW_ROWS, 0.5) for name, n in (("few", 2), ("more", 14))}
    few = xmceval.compare(FEW_ROWS, hits, **OF_FEW_ROWS, against="few")
    grouped = xmceval.compare(FEW_ROWS, hits, **BY_GROUP)
    rows = xmceval.compare_rows([folder / "values.csv", folder / "others.csv"])
    return spread, pair, few, grouped, rows, replace(few, gates=xmceval.check_worse(few, "P@1"))


def rich_compare(folder):
    return [each.to_dict() for each in rich_comparisons(folder)]


def rich_benchmark(folder):
    why = {"gone": "no file gone.txt"}
    comparisons = rich_comparisons(folder)
    names = dict.fromkeys(name for comparison in comparisons for name in comparison.systems)
    shown = benchmark(
        {"x": {}, "y": {}}, published={"y": {"Known": published_row(P_at_1=0.5)}}, why=why, failed=[("x", "gone")]
    )
    outcomes = [replace(shown.datasets[i % 2], name=f"{i}", comparison=each) for i, each in enumerate(comparisons)]
    known = replace(published_row(P_at_1=0.5), suspect="P@1 is too high")
    outcomes[1] = replace(outcomes[1], entry="Bibtex", notes=("no PSP",), published={"Known": known})
    scored = replace(outcomes[0].cells[0], status="scored", digest="5c1e")
    outcomes[0] = replace(outcomes[0], cells=(scored, *outcomes[0].cells))
    several = {f"{i}": {"a": 20 + i, "b": 10 - i % 2, "c": 9, "d": 3} for i in range(5)}
    tested = benchmark(several, against="a")
    first = tested.datasets[0].comparison.results[0].figures[0].measure
    mixed = replace(tested, datasets=tuple(outcomes), systems=(*names, "Known"), measures=(first,))
    gates = judge_datasets([parse_worse("P@1")], tested, tested.systems, "a")
    return [replace(mixed, warnings=("one",)).to_dict(), replace(tested, gates=gates).to_dict()]


def rich_inspect(folder):
    report = xmceval.inspect(
        [folder / name for name in ("t.txt", "a.txt", "odd.txt", "t.txt")], filter=folder / "filter.txt", threads=1
    )
    shifted = xmceval.inspect([folder / "t.txt", folder / "shifted.txt"], threads=1)
    states = save_state(folder, "inspect.state", shard="1/2"), write(folder / "broken.state", STATE)
    return [*(json.loads(each.to_json()) for each in (report, shifted, xmceval.inspect(states)))]


def save_state(folder, name, **options):
    xmceval.score(folder / "t.txt", folder / "a.txt", **asked_for(folder), save_state=folder / name, **options)
    return folder / name


def rich_merge(folder):
    xmceval.score(FEW_ROWS, FEW_ROWS, **OF_FEW_ROWS, save_state=folder / "few.state")
    return [xmceval.merge([path]).to_dict() for path in (save_state(folder, "merge.state"), folder / "few.state")]


def rich_listings(command):
    return [json.loads(run(command, "-o", "json").stdout), *([] if command != "datasets" else named_datasets())]


def named_datasets():
    return [json.loads(run("datasets", *datasets(), "-o", "json").stdout)]


RICH = {
    "score": rich_score,
    "compare": rich_compare,
    "benchmark": rich_benchmark,
    "merge": rich_merge,
    "inspect": rich_inspect,
    **{name: lambda _, name=name: rich_listings(name) for name in ("metrics", "datasets", "formats")},
}


@pytest.fixture(scope="module")
def documents(folder):
    return {command: make(folder) for command, make in RICH.items()}


# Ranks within published results are for score alone, and states have nothing for pictures. Gates of values have no
# baseline, and only those of a benchmark have a data set.
UNSEEN = {"compare": {("systems", "[]", "published"), ("gates", "[]", "dataset")}}
UNSEEN["benchmark"] = {("datasets", "[]", "comparison", *path) for path in UNSEEN["compare"]}
UNSEEN["merge"] = {("systems", "[]", each) for each in ("published", "gain")} | {("gates",)}
# Groups of rows are not available for states.
SLICES = ("systems", "[]", "slices", "[]")
UNSEEN["merge"] |= {
    (*SLICES, "n_instances"),
    *((*SLICES, "metrics", "*", each) for each in OF_GROUPS),
}
UNSEEN["score"] = {("gates", "[]", each) for each in ("baseline", "dataset", "p_adjusted")}


@pytest.mark.parametrize("command", DOCUMENTS)
def test_every_field_that_is_described_is_written(documents, command):
    schema = find_schema(command)
    described = {path for path, _ in fields(schema, ())}
    seen = {path for document in documents[command] for path in written(document, schema, ())}
    options = {path for path in described if "options" in path[:-1] and command != "metrics"}
    never = described - seen - options
    unseen = UNSEEN.get(command, set())
    assert {path for path in never if not any(path[: len(each)] == each for each in unseen)} == set()
    assert unseen <= never


@pytest.mark.parametrize("command", DOCUMENTS)
def test_schemas_are_strict_and_describe_every_field(command):
    schema = find_schema(command)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for path, own in fields(schema, ()):
        assert own["description"].endswith((".", ":", "]")), path
        if own.get("type") == "object" or "properties" in own:
            is_closed = own["additionalProperties"] is False
            assert is_closed == ("properties" in own), path
        of_either = OF_EITHER if "slices" in path else set()
        if "properties" in own and (command, *path) not in SOME:
            assert set(own["properties"]) - set(own["required"]) <= {"published", "gates"} | of_either, path


def validate(document):
    """Check a document against the schema that it names."""
    jsonschema.Draft202012Validator(find_schema(document["schema"])).validate(document)


@pytest.mark.parametrize("command", DOCUMENTS)
def test_documents_fit_their_schema(documents, command):
    for document in documents[command]:
        assert document["schema"] == load_document(command).name
        validate(document)


@pytest.mark.parametrize("command", DOCUMENTS)
def test_a_field_more_or_less_breaks_the_schema(documents, command):
    for document in documents[command][:1]:
        more = {**copy.deepcopy(document), "new": 1}
        less = {name: value for name, value in document.items() if name != list(document)[-1]}
        for wrong in (more, less):
            with pytest.raises(jsonschema.ValidationError):
                validate(wrong)


TUKEY = ["--test", "randomization", "--adjust", "tukey", "--resamples", "100"]
WEIGHTS = ("--sample-weight", "weights.txt")
DECISIONS = ["--threshold", "0.5", "-m", "f1_score,Jaccard,MCC"]
WRITTEN = {
    "defaults": ["score", "t.txt", "a.txt", "b.txt"],
    "whole rows": ["score", "t.txt", "a.txt", "-m", "AP,RR,R@n,LRAP,coverage_error,ranking_loss,AUC,GAUC", "-v"],
    "decisions": ["score", "t.txt", "a.txt", *DECISIONS],
    "labels": ["score", "t.txt", "a.txt", "-m", "macroF1,microF1,coverage,macroAUC,microAUC", "-k", "1-3"],
    "counts": ["score", "t.txt", "a.txt", "--counts", "counts.txt", "--n-train", "240", "-m", "PSDCG,PSP"],
    "expected ties": ["score", "t.txt", "a.txt", "--ties", "expected", "--empty-rows", "drop"],
    "weights": ["score", "t.txt", "a.txt", "--train", "train.txt", "--by-frequency", "2,4", *WEIGHTS],
    "inverse propensities": ["score", "t.txt", "a.txt", "--inverse-propensities", "inverse.txt", "-m", "PSP,PSnDCG"],
    "no entries": ["score", "none.txt", "none.txt", "-k", "1", "-m", "P,AUC,LRAP,macroP"],
    "one row": ["score", "one.txt", "one.txt", "-k", "1"],
    "grades": ["score", "grades.txt", "grades.txt", "-k", "2", "-m", "nDCG,DCG,nDCG(gain=exp)"],
    "fused": ["score", "t.txt", "a.txt", "--fuse", "both=a.txt,b.txt"],
    "shards": ["score", "shard*.txt", "shard*.txt", "-k", "1"],
    "pairs": ["compare", "t.txt", "a.txt", "b.txt", "c.txt"],
    "randomization": ["compare", "t.txt", "a.txt", "b.txt", "--test", "randomization", "--resamples", "100"],
    "bootstrap": ["compare", "t.txt", "a.txt", "b.txt", "--test", "bootstrap", "--resamples", "100"],
    "tukey": ["compare", "t.txt", "a.txt", "b.txt", "c.txt", *TUKEY],
    "compared decisions": ["compare", "t.txt", "a.txt", "b.txt", *DECISIONS],
    "same lists": ["compare", "t.txt", "a.txt", "again.txt"],
    "values of rows": ["compare", "--rows", "values.csv", "others.csv"],
    "saved rows": ["compare", "a.rows.npz", "b.rows.npz"],
    "states": ["merge", "a.state"],
    "sound": ["inspect", "t.txt", "a.txt"],
    "unsound": ["inspect", "odd.txt", "none.txt", "one.txt"],
    "a state": ["inspect", "a.state"],
    "some metrics": ["metrics", "P", "PSnDCG(norm=sum)@5", "macroF1"],
    "some data sets": ["datasets", "Bibtex", "Amazon-670K"],
    "some formats": ["formats", "npz", "AttentionXML"],
}


@pytest.mark.parametrize("words", WRITTEN.values(), ids=WRITTEN)
def test_what_commands_write_fits_its_schema(folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    ended = run(*words, "-o", "json")
    assert ended.stdout, ended.exception or ended.stderr
    document = json.loads(ended.stdout)
    assert document["schema"] == load_document(words[0]).name
    validate(document)


def test_documents_are_made_of_fields_alone():
    """What names the schema of a document is the table of its fields, so that nothing writes one by hand."""
    home = Path(xmceval.__file__).parent
    described = {each.name for each in map(load_document, DOCUMENTS)}
    names = {name for name, value in vars(version).items() if str(value) in described}
    users = {
        file.relative_to(home).parts[:2]
        for file in home.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.alias) and node.name in names
    }
    assert len(names) == 7
    assert users == {("report", "fields"), ("report", "listings")}


@pytest.mark.parametrize("command", DOCUMENTS)
def test_the_kind_in_the_name_of_a_schema_is_its_command(command):
    kind = "score" if command == "merge" else command
    assert re.fullmatch(rf"xmceval/{kind}/[1-9][0-9]*", load_document(command).name)


def test_every_command_that_writes_json_has_a_schema():
    with_json = []
    for name in COMMANDS:
        forms = [each for each in cli.get_command(None, name).params if each.name == "form"]
        with_json += [name for each in forms if "json" in each.type.choices]
    assert set(with_json) == set(DOCUMENTS)


def test_options_of_scoring_are_described():
    described = find_schema("score")["properties"]["options"]["properties"]
    assert set(described) == {name for name, spec in specs(Options).items() if spec.shown != "nowhere"}


def test_the_command_prints_a_schema_by_command_or_name():
    listed = run("schema").stdout
    for command in DOCUMENTS:
        name = load_document(command).name
        assert f"\n{command} " in listed
        assert json.loads(run("schema", command).stdout) == json.loads(run("schema", name).stdout)
        assert json.loads(run("schema", command).stdout)["title"] == name
    ended = run("schema", "xmceval/9")
    assert "unknown schema 'xmceval/9'; expected one of score, compare, " in str(ended.exception)
