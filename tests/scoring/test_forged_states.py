"""States that are damaged, old or made by hand: refused with what is wrong, and nothing is allocated for them."""

import io
import json
import random
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support.approved import check_answers
from support.files import write
from support.graded import N_LABELS, TRAINING
from support.states import forge, pack, unpack

import xmceval
from xmceval import DataError, XmcevalError

N_ROWS = 30
OPTIONS = {
    "plain": {"metrics": "P,nDCG,LRAP", "k": [1, 3], "shard": (1, 1)},
    "propensities": {"metrics": "PSP,macroF1(over=train)", "k": 2, "by_frequency": 3, **TRAINING},
    "inverse": {"metrics": "PSP", "k": 1, "inverse_propensities": np.linspace(1, 3, N_LABELS)},
    "weights": {"metrics": "P,macroF1,coverage", "k": 2, "sample_weight": np.linspace(0, 2, N_ROWS), "max_weight": 2},
    "decisions": {"metrics": "f1_score,MCC,RR@2", "k": 2, "threshold": 0.5, "unscored": "zero"},
    "filter": {"metrics": "P", "k": 1, "filter": [[0, 1], [3, 2], [3, 4]], "empty_rows": "drop"},
}


def make_case():
    rng = np.random.default_rng(0)
    return (rng.random((N_ROWS, N_LABELS)) < 0.2).astype(float), rng.random((N_ROWS, N_LABELS))


def state_of(kind, *, of_evaluator=False):
    """Return the bytes of a state: of `score`, or of an Evaluator, which has the tables of propensities too."""
    options, path = dict(OPTIONS[kind]), Path("made.state")
    if of_evaluator:
        weights = options.pop("sample_weight", None)
        options.pop("shard", None)
        evaluator = xmceval.Evaluator(**options)
        evaluator.update(*make_case(), weights)
        evaluator.save(path)
    else:
        xmceval.score(*make_case(), **options, save_state=path, force=True)
    return path.read_bytes()


def load(content):
    """Read a state from a file."""
    write("it", content)
    return xmceval.Evaluator.load("it")


def check_refused(content, message):
    with pytest.raises(DataError, match=f"^it: the state is {message}") as error:
        load(content)
    assert str(error.value).isprintable()


DAMAGED, WRONG = "damaged or cut short", "not one of xmceval: "
may_warn = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")


@pytest.fixture(params=[(kind, by) for kind in OPTIONS for by in ("score", "Evaluator")], ids=" by ".join)
def content(request):
    """The bytes of a state of each kind."""
    kind, by = request.param
    return state_of(kind, of_evaluator=by == "Evaluator")


@may_warn
def test_no_flipped_bit_changes_what_is_read(content):
    chosen, n_refused = random.Random(len(content)), 0
    for _ in range(40):
        damaged = bytearray(content)
        damaged[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
        try:
            read = load(bytes(damaged))
        except DataError:
            n_refused += 1
            continue
        read.save("copy")
        assert Path("copy").read_bytes() == content
    assert n_refused > 20


def test_what_is_cut_off_is_refused():
    content = state_of("plain")
    for n_bytes in [*range(41, len(content), 97), len(content) - 1]:
        check_refused(content[:n_bytes], DAMAGED)


def test_a_state_of_an_older_version_is_refused_with_what_wrote_it(run):
    write("a.state", b'{"schema": "xmceval/state/2", "digest": "00", "version": "0.0.7"}\nxyz')
    assert run("merge", "a.state") == (1, "", "Error: a.state: written by an older xmceval: score again\n")


def with_header(text):
    file = io.BytesIO()
    np.savez(file, header=np.frombuffer(text, dtype=np.uint8))
    return file.getvalue()


def without(name, fields):
    return {other: value for other, value in fields.items() if other != name}


def without_counts(content):
    header, arrays = unpack(content)
    return pack(header, without("tally.counts", arrays))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-1], DAMAGED),
        (
            lambda content: forge(content, schema="xmceval/state/99"),
            f"{WRONG}it has the schema xmceval/state/99, of xmceval {xmceval.__version__}; expected xmceval/state/7",
        ),
        (lambda content: forge(content, options={"metrics": ["PSP@1"]}), f"{WRONG}propensities: its metrics need them"),
        (lambda content: forge(content, shards=3), f"{WRONG}shards: cannot be '3'"),
        (without_counts, f"{WRONG}the array tally.counts is missing"),
        *((lambda _, text=text: with_header(text), WRONG) for text in (b"[" * 100_000, b'{"x": NaN}', b"[]", b"\xff")),
        (lambda _: with_header(b'{"schema": 3}'), f"{WRONG}has no header of a state"),
    ],
)
def test_merging_loading_inspecting_and_the_command_refuse_a_state_in_the_same_words(run, change, message):
    write("a.state", change(state_of("plain")))
    refusals = []
    for use in (lambda: xmceval.merge(["a.state"]), lambda: xmceval.Evaluator.load("a.state")):
        with pytest.raises(DataError) as error:
            use()
        refusals.append(str(error.value))
    [inspected] = xmceval.inspect("a.state").states
    assert {*refusals, inspected.fault} == {refusals[0]}
    assert refusals[0].startswith(f"a.state: the state is {message}")
    assert run("merge", "a.state") == (1, "", f"Error: {refusals[0]}\n")


FIELDS = {
    *("schema", "version", "options", "n_labels", "n_rows", "n_shards", "propensities", "filter", "weight_unit"),
    *("weight_range", "max_weight", "removed", "truth", "scores", "systems", "shards", "are_queries", "inputs"),
    *("labels_by", "labels", "doubts", "facts"),
}


@may_warn
def test_every_field_and_array_is_required_and_there_are_no_others(content):
    document, arrays = unpack(content)
    load(pack(document, arrays))
    assert (document["n_rows"], set(document)) == (N_ROWS, FIELDS)
    for name in document:
        message = "has no header of a state" if name == "schema" else f"{name}: is missing"
        check_refused(pack(without(name, document), arrays), WRONG + message)
    for name in arrays:
        check_refused(pack(document, without(name, arrays)), f"{WRONG}.*(is missing$|too few numbers)")
    for more in ("x", "tally.x", "0.x", "99.sums"):
        wrong = pack(document, arrays | {more: np.zeros(1)})
        check_refused(wrong, f"{WRONG}.*there is no array .*{more.rpartition('.')[2]}$")
    check_refused(pack(document | {"x": 1}, arrays), f"{WRONG}x: is no field")


def changed(value, path, new):
    """Return a copy of a document with another value at a path."""
    if not path:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


def test_a_value_of_another_type_or_out_of_its_range_is_refused_as_it_was_approved():
    """A line has the kind of a state, a field of its header by its path or an array, and its (first) value."""
    states = {kind: unpack(state_of(kind, of_evaluator=kind == "propensities")) for kind in OPTIONS}

    def answer(line):
        where, _, text = line.partition(": ")
        kind, _, place = where.partition(" ")
        document, arrays = states[kind]
        value = eval(text, {"nan": np.nan, "inf": np.inf})
        if place in arrays:
            wrong = arrays[place].astype(np.float64 if arrays[place].dtype.kind == "f" else np.int64)
            wrong.flat[0] = value
            content = pack(document, arrays | {place: wrong})
        else:
            content = pack(changed(document, place.split(), value), arrays)
        with pytest.raises(DataError, match=f"^it: the state is {WRONG}") as error:
            load(content)
        assert str(error.value).isprintable()
        return [str(error.value)]

    check_answers(__file__, "states.txt", answer)


@pytest.mark.parametrize("value", [1e308, -1e308, 2.0**62, -(2.0**62)])
@pytest.mark.parametrize("kind", ["plain", "propensities", "weights", "decisions"])
def test_extreme_rows_that_no_exact_sum_has_are_refused(kind, value):
    document, arrays = unpack(state_of(kind))
    for name in (name for name in arrays if name.endswith("extremes")):
        if arrays[name].size:
            wrong = np.full_like(arrays[name], value)
            check_refused(pack(document, arrays | {name: wrong}), f"{WRONG}.*extremes has rows out of range")


@pytest.mark.parametrize("counts", [[2, 2, 1], [2, 1, 2], [1, 3, 2], [N_ROWS, 1, 0]])
def test_counts_of_a_label_that_contradict_each_other_are_refused(counts):
    document, arrays = unpack(state_of("weights"))
    units = 1 << 40  # of sample weights
    label = {"1.ids": np.array([3]), "1.counts": np.array([counts]) * units, "1.rows": np.array([N_ROWS * units])}
    content = pack(document, arrays | label)
    if counts == [2, 2, 1]:
        load(content)
    else:
        check_refused(content, f"{WRONG}1.counts has more hits than true labels or predictions, or more than")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.array([{"a": 1}], dtype=object), ""),
        (np.array(["x"]), ""),
        *((np.zeros(2, dtype=kind), "") for kind in ([("a", "<i8")], bool, "<c16", float)),
        (np.zeros((2, 3), order="F"), ""),
        (np.zeros((2, 2), dtype=np.int64), ""),
        (np.zeros(11), "tally.counts has numbers of type float64"),
        (np.zeros(10, dtype=np.int64), r"tally.counts has shape \(10,\), expected \(11,\)"),
    ],
    ids=str,
)
def test_arrays_of_other_kinds_and_shapes_and_pickles_are_refused(wrong, message):
    header, arrays = unpack(state_of("plain"))
    check_refused(
        pack(header, arrays | {"tally.counts": wrong}), WRONG + message if message else f"({DAMAGED}|{WRONG})"
    )


def test_archives_that_are_compressed_or_hold_something_else_are_refused():
    header, arrays = unpack(state_of("plain"))
    text, packed, other = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), io.BytesIO(), io.BytesIO()
    np.savez_compressed(packed, header=text, **arrays)
    check_refused(packed.getvalue(), f"{DAMAGED}: its arrays are compressed")
    np.savez(other, labels=text)
    with pytest.raises(DataError, match=r"^it: not a state of xmceval"):
        load(other.getvalue())


def test_an_array_that_declares_more_than_it_holds_is_refused_without_room_for_it():
    content, file = state_of("plain"), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(file, "w") as forged:
        for member in archive.infolist():
            array = archive.read(member)
            if member.filename == "tally.grades.npy":
                assert array.count(b"(2,), }         ") == 1
                array = array.replace(b"(2,), }         ", b"(9999999999,), }")
            forged.writestr(member.filename, array)
    check_refused(file.getvalue(), DAMAGED)


@pytest.mark.parametrize(
    "change",
    [
        {"n_labels": (1 << 27) - 1},
        {"n_labels": 2**62},
        {"options": {"metrics": [f"P@{k}" for k in range(1, 2_000)]}},
        {"options": {"metrics": ["P@1", "macroF1@1"], "by_frequency": 1_000}},
        {"shards": [1], "n_shards": 1 << 20},
    ],
)
def test_nothing_is_allocated_that_the_size_of_the_file_does_not_justify(change):
    evaluator = xmceval.Evaluator(metrics="P,macroF1", k=1)
    evaluator.update(*make_case())
    evaluator.save("a.state")
    content = forge(Path("a.state").read_bytes(), **change)
    write("a.state", content)
    use_all("a.state")  # what is loaded at first use
    tracemalloc.start()
    try:
        use_all("a.state")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * len(content) + (16 << 20)


def use_all(name):
    """Merge, load and inspect a state, whatever is wrong with it."""
    for use in (
        lambda: str(xmceval.merge([name])),
        lambda: xmceval.Evaluator.load(name).result().to_json(),
        lambda: str(xmceval.inspect(name)),
    ):
        with suppress(XmcevalError):
            use()


VALUES = [
    *(-1, 0, 1, 2, 2**31, 2**53, 2**62, 2**63, -(2**63), 1e300, 10**400),
    *("", "x", "7", "inf", "nan", "0x1p1000", "P@1", "1-10000", "\x1b]0;x\x07\nError: y"),
    *(None, True, [], {}, ["1", "1"], [1, 2, 3], [1, 1], {"a": 1}, [[]]),
]


def mutated(value, chosen):
    """Return a document with one other, missing or further value, somewhere in it."""
    if not isinstance(value, (dict, list)) or not value or chosen.random() < 0.1:
        return chosen.choice(VALUES)
    copy = list(value) if isinstance(value, list) else dict(value)
    place = chosen.choice(list(copy)) if isinstance(copy, dict) else chosen.randrange(len(copy))
    if chosen.random() < 0.1:
        del copy[place]
    else:
        copy[place] = mutated(copy[place], chosen)
    return copy


def mutated_arrays(arrays, chosen):
    """Return arrays of which one is missing, shorter, or has other numbers."""
    name = chosen.choice(list(arrays))
    numbers = arrays[name].copy()
    if chosen.random() < 0.1 or not numbers.size:
        return {other: array for other, array in arrays.items() if other != name}
    if chosen.random() < 0.1:
        return arrays | {name: numbers.reshape(-1)[1:]}
    for place in chosen.choices(range(numbers.size), k=chosen.choice([1, 3])):
        if numbers.dtype.kind == "f":
            numbers.flat[place] = chosen.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1e300, 5e-324])
            continue
        own, numbers = int(numbers.flat[place]), numbers.astype(np.int64)
        others = [-1, 0, 1, 3, own + 1, own - 1, 2 * own, 41, 2**31, 2**53, 2**60 - 1, 2**62, 2**63 - 1, -(2**63)]
        numbers.flat[place] = min(max(chosen.choice(others), -(2**63)), 2**63 - 1)
    return arrays | {name: numbers}


@may_warn
def test_no_state_made_by_hand_ends_in_a_traceback(content):
    document, arrays = unpack(content)
    chosen = random.Random(len(content))
    for i in range(60):
        of_document = mutated(document, chosen) if i % 2 else document
        if isinstance(of_document, dict):
            write("made.state", pack(of_document, arrays if i % 2 else mutated_arrays(arrays, chosen)))
            use_all("made.state")


def test_warnings_of_a_state_cannot_pretend_to_be_others_on_a_terminal(run):
    content = forge(state_of("plain"), doubts=["\x1b]0;title\x07 and\nError: fake"], scores=["\x1b[31mx"])
    write("a.state", content)
    for command in ("merge", "inspect"):
        code, out, err = run(command, "a.state")
        assert code == 0
        assert all(line.isprintable() and not line.startswith("Error") for line in (out + err).split("\n"))
    assert json.loads(xmceval.inspect("a.state").to_json())["states"][0]["is_sound"]


# Files that an earlier xmceval saved, at the commit adf501cf: of 12 rows, 6 labels and, of the rows, two systems.

SAVED = Path(__file__).parent / "saved"
REPORTED = {
    "P@1": (0.08333333333333333, 0.5),
    "P@3": (0.2777777777777778, 0.3611111111111111),
    "nDCG@1": (0.08333333333333333, 0.5),
    "nDCG@3": (0.3560542926981464, 0.5128633460132972),
    "PSP@1": (0.08206014768041486, 0.4790577150684621),
    "PSP@3": (0.4435664166610429, 0.5635617030037421),
    "LRAP": (0.4523148148148148, 0.6206018518518518),
}


def test_saved_values_of_rows_are_compared_to_the_values_that_were_reported():
    found = xmceval.compare_rows([SAVED / "rows-1.npz"])
    assert {name: tuple(result[name] for result in found.results) for name in found.results[0]} == REPORTED
    difference = found["LRAP", "b", "a"]
    assert (difference.difference, difference.p) == pytest.approx((0.16828703703703704, 0.09313873558552188), rel=1e-12)


def test_a_saved_state_of_another_schema_is_refused_with_a_hint():
    path = SAVED / "state-4.npz"
    message = (
        f"{path}: the state is not one of xmceval: it has the schema xmceval/state/4, of xmceval 0.1.0; expected "
        "xmceval/state/7 (hint: score again, or merge with the version that saved it)"
    )
    for read in (lambda: xmceval.merge([path]), lambda: xmceval.Evaluator.load(path)):
        with pytest.raises(DataError) as error:
            read()
        assert str(error.value) == message
