"""Lazy dataclasses against those of the standard library."""

import dataclasses
import pickle
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError, dataclass as standard, field, fields, is_dataclass, replace

import pytest

from xmceval.lazily import dataclass as lazy
from xmceval.scoring.state import Part


def make(dataclass):
    """Return classes of the kinds that the package has."""

    @dataclass
    class Plain:
        a: int
        b: list = field(default_factory=list)

    @dataclass(frozen=True)
    class Frozen:
        a: int
        b: str = "b"
        c: float = field(default=1.5, metadata={"unit": "s"})

        @property
        def double(self):
            return 2 * self.a

        def __post_init__(self):
            if self.a < 0:
                raise ValueError("negative")

    @dataclass(frozen=True)
    class Derived(Frozen):
        d: tuple = ()

    @dataclass(frozen=True, kw_only=True, eq=False)
    class Unequal:
        a: int = 0

    class Undecorated(Derived):
        pass

    @dataclass
    class Named:
        a: int

        def __repr__(self):
            return "named"

    return [Plain, Frozen, Derived, Unequal, Undecorated, Named]


def behaviour(cls):
    """Return what a class does, in the order of a fresh process, as text."""
    found = []

    def note(action):
        try:
            found.append(repr(action()))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")

    note(lambda: cls(a=1))
    note(lambda: cls(1))
    note(lambda: cls(1, 2, 3, 4, 5))
    note(lambda: cls(wrong=1))
    note(lambda: cls(a=-1))
    note(lambda: (cls(a=1) == cls(a=1), cls(a=1) == cls(a=2), cls(a=1) == 1))
    note(lambda: {cls(a=1): 1}[cls(a=1)])
    note(lambda: setattr(cls(a=1), "a", 2))
    note(lambda: delattr(cls(a=1), "a"))
    note(lambda: replace(cls(a=1), a=2))
    note(lambda: [(each.name, each.type, each.default, each.kw_only, dict(each.metadata)) for each in fields(cls)])
    note(lambda: dataclasses.asdict(cls(a=1)))
    note(lambda: [name for name in ("a", "b", "c", "d") if hasattr(cls, name)])
    note(lambda: is_dataclass(cls))
    note(lambda: cls(a=3).double)
    return found


@pytest.mark.parametrize("kind", range(6))
def test_a_lazy_class_behaves_as_a_standard_one(kind):
    ours, theirs = behaviour(make(lazy)[kind]), behaviour(make(standard)[kind])
    assert [each for each in ours if " at 0x" not in each] == [each for each in theirs if " at 0x" not in each]


@pytest.mark.parametrize("first", [repr, hash, fields, is_dataclass, replace, lambda each: each == 1])
def test_whatever_is_needed_first_is_there(first):
    # As after unpickling, where nothing has called __init__.
    cls = make(lazy)[2]
    instance = object.__new__(cls)
    vars(instance).update(a=1, b="b", c=1.5, d=())
    first(instance)
    assert instance == cls(1)


def test_a_frozen_class_is_so_from_the_start():
    instance = object.__new__(make(lazy)[1])
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'a'"):
        instance.a = 1
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'a'"):
        del instance.a


def test_threads_that_make_the_first_instances_at_once_all_get_them():
    for _ in range(20):
        cls, made = make(lazy)[2], []
        threads = [threading.Thread(target=lambda cls=cls, made=made: made.append(cls(1))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [cls(1)] * 8


def test_instances_pass_between_processes():
    code = (
        "import pickle, sys; one = pickle.load(sys.stdin.buffer);"
        "print(one == pickle.loads(pickle.dumps(one)), one.name);"
        "print(type(one)('b', 1).name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(Part("a", 1)), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"True a\nb\n")
