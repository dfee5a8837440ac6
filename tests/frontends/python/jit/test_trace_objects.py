"""Programs at random that read objects of many kinds, which change between calls."""

import array
import collections
import contextvars
import dataclasses
import enum
import functools
import random
import threading
import types
import warnings
import weakref

import numpy as np
import pytest
import tessera
from tessera import jit
from tessera.jit.frozen import frozen

from tests.support.helper import same_bits


class Holder:
    """One number that a program may read and the caller may change."""

    def __init__(self, read, write):
        self.read, self.write = read, write


class Plain:
    number = 2.0

    def __init__(self):
        self.own = 2.0

    @property
    def doubled(self):
        return self.own * 2

    def method(self):
        return self.own

    @staticmethod
    def fixed():
        return 2.0

    def __getitem__(self, key):
        return self.own + key


def of_attribute():
    thing = Plain()
    return Holder(lambda: thing.own, lambda v: setattr(thing, "own", v))


def of_property():
    thing = Plain()
    return Holder(lambda: thing.doubled, lambda v: setattr(thing, "own", v))


def of_method():
    thing = Plain()
    return Holder(lambda: thing.method() + thing[1], lambda v: vars(thing).update(own=v))


def of_a_class():
    kind = type("Kind", (Plain,), {})
    thing = kind()
    return Holder(lambda: thing.number + kind.number, lambda v: setattr(kind, "number", v))


def of_a_base():
    base = type("Base", (), {"number": 2.0})
    thing = type("Derived", (base,), {})()
    return Holder(lambda: thing.number, lambda v: setattr(base, "number", v))


def of_a_replaced_method():
    kind = type("Kind", (Plain,), {})
    thing = kind()
    return Holder(lambda: thing.method(), lambda v: setattr(kind, "method", lambda self: v))


def of_a_static_method():
    kind = type("Kind", (Plain,), {})
    return Holder(lambda: kind.fixed(), lambda v: setattr(kind, "fixed", staticmethod(lambda: v)))


def of_replaced_code():
    def given():
        return 2.0

    codes = {1.0: lambda: 1.0, 2.0: lambda: 2.0, 3.0: lambda: 3.0}
    return Holder(lambda: given(), lambda v: setattr(given, "__code__", codes[v].__code__))


def of_a_default():
    def given(value=2.0):
        return value

    return Holder(lambda: given(), lambda v: setattr(given, "__defaults__", (v,)))


def of_a_keyword_default():
    def given(*, value=2.0):
        return value

    return Holder(lambda: given(), lambda v: given.__kwdefaults__.update(value=v))


def of_a_partial():
    bound = functools.partial(lambda *, value: value, value=2.0)
    return Holder(lambda: bound(), lambda v: bound.keywords.update(value=v))


def of_a_function():
    def given():
        return 0

    given.number = 2.0
    return Holder(lambda: given.number, lambda v: setattr(given, "number", v))


def of_slots():
    kind = type("Slots", (), {"__slots__": ("number",)})
    thing = kind()
    thing.number = 2.0
    return Holder(lambda: thing.number, lambda v: setattr(thing, "number", v))


def of_a_namespace():
    space = types.SimpleNamespace(number=2.0)
    return Holder(lambda: space.number, lambda v: setattr(space, "number", v))


def of_a_module():
    module = types.ModuleType("settings")
    module.number = 2.0
    return Holder(lambda: module.number, lambda v: setattr(module, "number", v))


def of_a_dataclass():
    kind = dataclasses.make_dataclass("Record", [("number", float)])
    thing = kind(2.0)
    return Holder(
        lambda: dataclasses.asdict(thing)["number"], lambda v: setattr(thing, "number", v)
    )


def of_a_proxy():
    thing = Plain()
    proxy = weakref.proxy(thing)
    return Holder(lambda: proxy.own, lambda v, thing=thing: setattr(thing, "own", v))


def of_a_weak_reference():
    thing = Plain()
    weak = weakref.ref(thing)
    return Holder(lambda: weak().own, lambda v, thing=thing: setattr(thing, "own", v))


def of_a_closure():
    number = 2.0

    def write(value):
        nonlocal number
        number = value

    return Holder(lambda: number, write)


def of_a_name():
    thing, name = Plain(), "own"
    return Holder(lambda: getattr(thing, name), lambda v: setattr(thing, name, v))


def of_names():
    thing = Plain()
    return Holder(lambda: sum(vars(thing).values()), lambda v: setattr(thing, "own", v))


def of_items(make):
    """A dict or list, whose element 0 is read by itself, with all others, or by a loop."""

    def holder():
        items = make()
        reads = [
            lambda: items[0],
            lambda: [each for each in (items.values() if hasattr(items, "values") else items)][0],
            lambda: sum(items.values() if hasattr(items, "values") else items),
        ]
        return Holder(random.choice(reads), lambda v: items.__setitem__(0, v))

    return holder


def of_order():
    table = collections.OrderedDict(a=1.0, b=2.0, c=3.0)
    keys = {1.0: "a", 2.0: "b", 3.0: "c"}
    return Holder(
        lambda: next(iter(table.values())), lambda v: table.move_to_end(keys[v], last=False)
    )


def of_insertion():
    table = {"a": 1.0, "b": 2.0, "c": 3.0}
    keys = {1.0: "a", 2.0: "b", 3.0: "c"}
    return Holder(
        lambda: list(table.values())[-1], lambda v: table.__setitem__(keys[v], table.pop(keys[v]))
    )


def of_a_length():
    items = []
    return Holder(lambda: len(items), lambda v: items.append(v))


def of_truth():
    items = []
    return Holder(lambda: 1 if items else 3, lambda v: items.clear() if items else items.append(v))


def of_members():
    known = set()
    return Holder(lambda: 1 if 2.0 in known else 3, lambda v: known.__ixor__({v}))


def of_bytes():
    data = bytearray([2])
    return Holder(lambda: float(data[0]), lambda v: data.__setitem__(0, int(v)))


def of_numbers():
    data = array.array("d", [2.0])
    return Holder(lambda: data[0], lambda v: data.__setitem__(0, v))


def of_an_array():
    data = np.full(3, 2.0)
    return Holder(lambda: float(data[1]), lambda v: data.fill(v))


def of_a_context():
    variable = contextvars.ContextVar("number", default=2.0)
    return Holder(lambda: variable.get(), lambda v: variable.set(v))


def of_a_thread():
    local = threading.local()
    local.number = 2.0
    return Holder(lambda: local.number, lambda v: setattr(local, "number", v))


def of_a_subclass():
    items = type("Items", (collections.deque,), {})([2.0])
    return Holder(lambda: items[0], lambda v: items.__setitem__(0, v))


def of_an_enumeration():
    kind = enum.Enum("Kind", ["A"])
    kind.A.number = 2.0
    return Holder(lambda: kind.A.number, lambda v: setattr(kind.A, "number", v))


CONTAINERS = {
    "list": lambda: [2.0, 1.0],
    "dict": lambda: {0: 2.0, 1: 1.0},
    "deque": lambda: collections.deque([2.0, 1.0]),
    "UserDict": lambda: collections.UserDict({0: 2.0, 1: 1.0}),
    "UserList": lambda: collections.UserList([2.0, 1.0]),
    "OrderedDict": lambda: collections.OrderedDict({0: 2.0, 1: 1.0}),
    "defaultdict": lambda: collections.defaultdict(float, {0: 2.0, 1: 1.0}),
    "Counter": lambda: collections.Counter({0: 2.0, 1: 1.0}),
    "ChainMap": lambda: collections.ChainMap({0: 2.0}, {1: 1.0}),
}
KINDS = {name: make for name, make in globals().items() if name.startswith("of_")}
KINDS.pop("of_items")
KINDS |= {f"items of {name}": of_items(make) for name, make in CONTAINERS.items()}


def check(holders):
    """A program that multiplies by what each holder gives, in calls between which some change."""
    plain = lambda x: functools.reduce(lambda y, holder: y * holder.read(), holders, x)  # noqa: E731
    traced, number = jit.trace(plain), float(random.randint(1, 9))
    for step in range(10):
        x = tessera.Tensor([number + step])
        assert same_bits(traced(x), plain(x)), step
        if step > 1 and random.random() < 0.5:
            random.choice(holders).write(random.choice([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("kind", KINDS)
def test_objects_of_one_kind(kind):
    for seed in range(4):
        random.seed(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check([KINDS[kind]()])


def test_programs_of_several_kinds():
    for seed in range(200):
        random.seed(seed)
        names = random.choices(list(KINDS), k=random.randint(2, 4))
        try:
            check([KINDS[name]() for name in names])
        except Exception as error:
            raise AssertionError(f"seed {seed}: {names}") from error


def test_the_warning_of_copies_of_iterators_stays_out():
    """Python 3.12 and 3.13 warn where one of itertools is reduced."""

    class Count:
        number = 1

        def __reduce_ex__(self, version):
            warnings.warn("support will be removed", DeprecationWarning, stacklevel=2)
            return Count, (self.number,)

    Count.__module__ = "itertools"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert frozen(Count()) == (Count, (tuple, 1))
