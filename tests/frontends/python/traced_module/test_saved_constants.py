"""Values that a graph or a module holds, in the file of a traced module."""

import functools
import pickle
import subprocess
import sys
from collections import OrderedDict, namedtuple

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import dtype
from tessera.quantization import QuantMode
from tessera.random import RNG

from tests.frontends.python.traced_module.records import again, saved
from tests.frontends.python.traced_module.test_saved import check, traced_of
from tests.support.helper import same_bits

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Point = namedtuple("Point", "x y")


class Pair:
    """A container of the user."""

    def __init__(self, a, b):
        self.a, self.b = a, b


class Unknown:
    """No type that anybody has registered."""


def constants():
    array = np.arange(3, dtype=np.int16)
    return [
        None, True, 0, -1, 1 << 40, -(1 << 63), 1 << 80, 0.5, float("inf"), -0.0, 1 + 2j, "text ü",
        b"\0\xff", ..., (), [], {}, (1, (2,)), [1, [None]], {"a": 1, 2: (3,)},
        OrderedDict(b=1, a=2),
        {1, 2, 3}, frozenset((4,)), slice(1, None, 2), range(3, 9, 2), np.float32(1.5), array,
        np.int64(3), np.float32, int, float, bool, np.dtype("float16"), ts.bfloat16,
        dtype.qint8(0.25), dtype.quint8(0.5, 3), dtype.qint8([0.1, 0.3], axis=2), dtype.intb2,
        ts.device.Device("cpu0"), F.relu,
        F.concat, QuantMode.SYMMERTIC, M.Linear, ts.Tensor,
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(len(constants())))
def test_constants(number):
    value = constants()[number]
    holder = tm.TracedModule("Holder")
    holder.value = [value]
    loaded = again(holder)
    (found,) = loaded.value
    assert type(found) is type(value)
    if isinstance(value, np.ndarray):
        assert np.array_equal(found, value) and found.dtype == value.dtype
    elif isinstance(value, (type, type(F.relu), type(F.concat))) or value is None:
        assert found is value
    else:
        assert found == value and repr(found) == repr(value)
    if isinstance(value, np.dtype):
        assert dtype.is_dtype_equal(found, value)
    assert saved(loaded) == saved(holder)


def test_nan_is_a_constant():
    holder = tm.TracedModule("Holder")
    holder.value = float("nan")
    assert np.isnan(again(holder).value)


def test_random_numbers_go_on():
    holder = tm.TracedModule("Holder")
    holder.value = RNG(7)
    holder.value.uniform(size=(3,))
    loaded = again(holder)
    assert same_bits(loaded.value.uniform(size=(3,)), holder.value.uniform(size=(3,)))


def test_keys_and_dtypes_among_arguments():
    def function(self, x):
        y = x[..., 1:, None].astype("float16").astype(np.float32)
        return F.full_like(y, 2) if hasattr(F, "full_like") else y, x[np.array([1, 0])], x[:, 0]

    check(function)


def test_registered_types():
    tm.register_supported_type(Pair, lambda x: ([x.a, x.b], ("kept",)), lambda x, rest: Pair(*x))
    tm.register_supported_type(Point)

    def function(self, x):
        return Pair(x.a + x.b, Point(x.a, 3))

    given = Pair(ts.tensor(X), ts.tensor(X))
    traced = traced_of(function, given)
    found = again(traced)(given)
    assert type(found) is Pair and type(found.b) is Point and same_bits(found.a, given.a * 2)


_LOADS = """
import io, sys
import tessera as ts
try:
    ts.load(sys.argv[1])
except ValueError as error:
    print(error)
"""


def refusal(path):
    """The message of another process."""
    done = subprocess.run([sys.executable, "-c", _LOADS, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@tm.wrap
def doubled(x):
    """A function of the user."""
    return x + x


@tm.register_as_builtin
class Tripled(M.Module):
    """A closed module of the user."""

    def __init__(self):
        super().__init__()
        self.factor, self.function = ts.Parameter([3.0]), doubled

    def forward(self, x):
        return x * self.factor


def test_functions_and_classes_of_the_user(tmp_path):
    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.part = Tripled()

        def forward(self, x):
            return self.part(doubled(x))

    traced = tm.trace_module(Net(), ts.tensor(X))
    loaded = again(traced)
    assert type(loaded.part) is Tripled and loaded.part.function is doubled
    assert same_bits(loaded(ts.tensor(X)), traced(ts.tensor(X)))
    ts.save(traced, tmp_path / "net")
    assert refusal(tmp_path / "net") == (
        "load: functions and classes of users must be registered before a file that names them is "
        f"loaded, got '{__name__}:Tripled' (register the class by register_as_builtin)"
    )


def test_values_of_the_users_types(tmp_path):
    tm.register_supported_type(Point)
    holder = tm.TracedModule("Holder")
    holder.value = Point(1, 2)
    ts.save(holder, tmp_path / "net")
    assert refusal(tmp_path / "net").endswith(
        f"got '{__name__}:Point' (register the class by register_supported_type)"
    )


Other = namedtuple("Other", "x")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Unknown(), r"got \S*Unknown in Holder \(make it of numbers, texts, arrays and"),
        (Unknown, r"got \S*Unknown in Holder \(register the class by register_supp"),
        (Other(1), r"got \S*Other in Holder \(register the named tuple by register_"),
        (lambda x: x, r"got \S*<lambda> in Holder \(a file holds no code: have traced"),
        (functools.partial(print), r"got functools.partial in Holder \(a file holds no code"),
        (np.dtype("U3"), r"got numpy.* in Holder$"),
    ],
)  # fmt: skip
def test_other_constants_are_refused(value, text):
    holder = tm.TracedModule("Holder")
    holder.value = value
    start = "^save: what a traced module holds must be of a kind that files know, "
    for write in (saved, pickle.dumps):
        with pytest.raises(TypeError, match=start + text):
            write(holder)


def test_a_type_without_flatten_is_refused():
    tm.register_supported_type(Unknown)
    try:
        holder = tm.TracedModule("Holder")
        holder.value = [Unknown()]
        with pytest.raises(
            TypeError, match=r"\(give register_supported_type flatten and unflatten"
        ):
            saved(holder)
    finally:
        from tessera.traced_module import pytree

        del pytree._supported[Unknown]


def test_deep_containers_are_refused():
    holder = tm.TracedModule("Holder")
    for depth in (25, 26):
        holder.value = functools.reduce(lambda inner, _: {"a": inner}, range(depth), 1)
        if depth == 25:
            assert again(holder).value == holder.value
            continue
        with pytest.raises(
            TypeError, match=r"got builtins.dict in Holder \(containers may be 25 deep\)"
        ):
            saved(holder)


def test_texts_that_are_not_unicode_are_refused():
    holder = tm.TracedModule("Holder")
    holder.value = "\ud800"
    with pytest.raises((TypeError, ValueError), match="^save: "):
        saved(holder)
