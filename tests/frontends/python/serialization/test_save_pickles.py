"""Pickles in tessera.load: modules with allow_code, MegEngine's checkpoints without."""

import collections
import io
import os
import pickle
import pickletools
import re
import sys
import types

import numpy as np
import pytest
import tessera
from tessera import functional, module
from tessera.traced_module import trace_module

from tests.support.helper import same_bits

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


class Tied(module.Module):
    """A module with one parameter in two places, an array, and a tensor that is no member."""

    def __init__(self):
        super().__init__()
        self.first = module.Linear(3, 3)
        self.second = module.Linear(3, 3)
        self.second.weight = self.first.weight
        self.scale = np.float32([2.0])
        self.settings = types.SimpleNamespace(kept=tessera.Tensor([1.0, 2.0]))

    def forward(self, x):
        """Both layers."""
        return self.second(functional.relu(self.first(x))) * float(self.scale[0])


def saved(value, **options):
    file = io.BytesIO()
    tessera.save(value, file, **options)
    return file.getvalue()


def loaded(content, **options):
    return tessera.load(io.BytesIO(content), **options)


@pytest.mark.parametrize("protocol", [None, *range(pickle.HIGHEST_PROTOCOL + 1)])
def test_modules_come_back_with_allow_code(protocol):
    net, x = Tied(), tessera.Tensor(np.ones((2, 3), dtype=np.float32))
    content = saved({"net": net, "weight": net.first.weight}, pickle_protocol=protocol)
    got = loaded(content, allow_code=True)
    assert type(got["net"]) is Tied and same_bits(got["net"](x), net(x))
    assert got["net"].first.weight is got["net"].second.weight is got["weight"]
    assert type(got["weight"]) is tessera.Parameter
    assert got["net"].settings.kept.tolist() == [1.0, 2.0]
    assert [name for name, _ in got["net"].named_parameters()] == [
        name for name, _ in net.named_parameters()
    ]


def test_a_module_alone_and_mapped(tmp_path):
    net, path = module.Sequential(module.Linear(2, 2), module.BatchNorm1d(2)), tmp_path / "net"
    tessera.save(net, path)
    for mmap in (False, True):
        got = tessera.load(path, allow_code=True, mmap=mmap)
        for name, value in net.state_dict().items():
            assert same_bits(got.state_dict()[name], value)


def test_tensors_of_modules_are_tensors_by_name():
    content = saved({"net": Tied()})
    names = re.findall(rb'"(net\.[^"]*)":{"dtype"', content)
    assert set(names) == {b"net.first.weight", b"net.first.bias", b"net.second.bias",
                          b"net.tensor", b"net.pickle"}  # fmt: skip


def test_a_module_in_two_places_is_one():
    tied = Tied()
    got = loaded(saved({"a": tied, "b": [tied]}), allow_code=True)
    assert got["a"] is got["b"][0]


def test_traced_modules_within_pickles():
    """A module of the user that holds one is a pickle; tensors stay where other tools find them."""
    x = tessera.tensor([[1.0, 2.0, 3.0]])
    traced = trace_module(module.Sequential(module.Linear(3, 3)), x)
    holder = module.Sequential(traced, module.ReLU())
    content = saved({"net": holder, "weight": vars(traced)["0"].weight})
    got = loaded(content, allow_code=True)
    inner = vars(got["net"])["0"]
    assert same_bits(got["net"](x), holder(x)) and vars(inner)["0"].weight is got["weight"]
    assert content.count(b'"net.0.0.weight":{') == 1


def test_map_location_of_modules():
    seen = []
    loaded(saved(Tied()), allow_code=True, map_location=lambda name: seen.append(name) or "cpu0")
    assert seen == ["cpu0"] * 4


def test_code_is_refused_by_default():
    with pytest.raises(
        ValueError,
        match=r"^load: allow_code must be True .* pickle .*, got False; a state_dict\(\)",
    ):
        loaded(saved(Tied()))


def test_modules_that_cannot_be_pickled():
    net = module.Linear(2, 2)
    net.hook = lambda: None
    with pytest.raises(
        TypeError, match=r"^save: a module must be picklable, got Linear, .*; save its state_dict"
    ):
        saved([net])


def test_modules_whose_class_is_gone(monkeypatch):
    content = saved(Tied())
    monkeypatch.delattr(sys.modules[__name__], "Tied")
    with pytest.raises(
        ValueError,
        match="^load: the classes of a saved module must be .*, got Attrib.*Tied",
    ):
        loaded(content, allow_code=True)


class MegTensor:
    """Pickles as megengine.Tensor does: data, dtype and device, then a state."""

    __module__, __qualname__ = "megengine.tensor", "Tensor"

    def __new__(cls, data, dtype=None, device=None):
        made = super().__new__(cls)
        made.given = data, dtype, device
        made.state = {"qdict": {"mode": None, "scale": None, "zero_point": None}}
        return made

    def __getnewargs__(self):
        return self.given

    def __getstate__(self):
        return self.state


class MegParameter(MegTensor):
    """Pickles as megengine.Parameter does."""

    __module__, __qualname__ = "megengine.tensor", "Parameter"


def pickled(value, protocol=pickle.DEFAULT_PROTOCOL):
    """The pickle of `value`, written while there is a package megengine."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("megengine", "megengine.tensor"):
            patch.setitem(sys.modules, name, types.ModuleType(name))
        sys.modules["megengine.tensor"].Tensor = MegTensor
        sys.modules["megengine.tensor"].Parameter = MegParameter
        return pickle.dumps(value, protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_megengine_checkpoints(protocol):
    weight = np.float32([[1, 2, 3], [4, 5, 6]])
    value = {
        "state_dict": collections.OrderedDict(
            [("weight", weight), ("t", weight.T), ("big", np.array([1], ">i8"))]
        ),
        "scalars": [np.float32(1.5), np.int64(3), 1, 2.5, None, True, b"\x00\xff", "ü", 2**70, -1],
        "empty": [np.zeros((0, 3)), (), [], {}, set(), frozenset(), {1, 2}, frozenset("a")],
        "more": [slice(1, None), 1 + 2j, (1, 2, 3, 4)],
        0: np.array([True, False]),
        "tensor": MegTensor(np.int32([1, 2]), np.int32, "xpux"),
        "parameter": MegParameter(weight, np.dtype("float32"), "gpu0:0"),
    }
    seen = []
    got = loaded(pickled(value, protocol), map_location=lambda name: seen.append(name) or "cpu0")
    assert seen == ["xpux", "gpu0:0"]
    for name in ("weight", "t", "big"):
        array = got["state_dict"][name]
        assert array.dtype == value["state_dict"][name].dtype.newbyteorder("=")
        np.testing.assert_array_equal(array, value["state_dict"][name])
        array[...] = 0
    assert type(got["state_dict"]) is collections.OrderedDict and got["scalars"] == value["scalars"]
    assert [type(each) for each in got["scalars"]] == [type(each) for each in value["scalars"]]
    assert got["empty"][0].shape == (0, 3) and got["empty"][1:] == value["empty"][1:]
    assert got["more"] == value["more"] and got[0].tolist() == [True, False]
    assert got["tensor"].dtype == "int32" and got["tensor"].tolist() == [1, 2]
    assert (
        type(got["parameter"]) is tessera.Parameter and (got["parameter"].numpy() == weight).all()
    )


def test_what_is_shared_in_a_pickle_stays_shared():
    tensor, array, items = MegTensor(np.int32([1]), np.int32, "xpux"), np.arange(3), [1]
    items.append(items)
    got = loaded(pickled([tensor, tensor, array, array, items]))
    assert got[0] is got[1] and got[2] is got[3] and got[4][1] is got[4]


def test_states_of_older_tensors():
    tensor = MegTensor(np.zeros(1), np.float64, "xpux")
    tensor.state = {"data": np.float32([7.0]), "dtype": np.float32, "device": "xpux"}
    got = loaded(pickled(tensor))
    assert got.tolist() == [7.0] and got.dtype == "float32"
    tensor.state = {"qdict": {"mode": 1, "scale": 0.5}}
    with pytest.raises(ValueError, match="^load: a pickle must hold .*, got a quantized tensor"):
        loaded(pickled(tensor))


def test_tensors_that_are_refused():
    refused(pickled(MegTensor([[1]], np.int32, "xpux")), "a tensor of list")
    refused(pickled(MegTensor(np.zeros(1), np.dtype("M8[s]"), "xpux")), "the dtype 'M8'")
    with pytest.raises(ValueError, match="^load: a pickle must be whole and undamaged, got "):
        loaded(pickled(MegTensor(np.zeros(1), "int7", "xpux")))


class Hostile:
    """Calls a function when it is unpickled."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def refused(content, what):
    with pytest.raises(
        ValueError,
        match=f"^load: a pickle must hold only containers, arrays .*, got {re.escape(what)}; ",
    ):
        loaded(content)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_hostile_pickles_are_refused_by_name(protocol, tmp_path):
    mark = tmp_path / "mark"
    for function, *arguments in (
        (os.system, f"touch {mark}"), (eval, f"open({str(mark)!r}, 'w')"), (open, str(mark), "w"),
        (getattr, mark, "touch"), (pickle.loads, b"N."), (np.load, str(mark)), (np.array, [1]),
        (module.Linear, 1, 1), (bytearray, 1 << 40), (tessera.load, str(mark)),
    ):  # fmt: skip
        content = pickle.dumps({"state": [Hostile(function, *arguments)]}, protocol)
        with pytest.raises(
            ValueError, match=r"^load: a pickle must hold .*, got [\w.]+; "
        ) as raised:
            loaded(content)
        assert f".{function.__name__.split('.')[-1]}; " in str(raised.value)
    assert not mark.exists() and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x80\x02cos\nsystem\n.", "os.system"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "os.system"),
        (b"\x80\x04\x8c\x05numpy\x8c\x0fdtype.__class__\x93.", "numpy.dtype.__class__"),
        (b"\x80\x04K\x01Q.", "the instruction BINPERSID"),
        (b"\x80\x02ios\nsystem\n.", "the instruction INST"),
        (b"\x80\x04]}b.", "a state for list"),
        (b"\x80\x04}]K\x01s.", "a key of type list"),
        (
            b"\x80\x04}K\x01" + b"\x85" * 1000 + b"Ns.",
            "a key of type tuple",
        ),
    ],
)
def test_instructions_that_are_refused(content, what):
    refused(content, what)


@pytest.mark.parametrize(
    "shape", [b"J\xff\xff\xff\xff\x85", b"\x88\x85", b"(" + b"K\x01" * 65 + b"t"]
)
def test_shapes_that_are_refused(shape):
    start = b"\x80\x04\x8c\x12numpy.core.numeric\x8c\x0b_frombuffer\x93(C\x01a"
    dtype = b"\x8c\x05numpy\x8c\x05dtype\x93\x8c\x02u1\x85R"
    assert loaded(start + dtype + b"K\x01\x85\x8c\x01CtR.").tolist() == [97]
    with pytest.raises(ValueError, match="^load: a pickle must be whole .*a shape that is none"):
        loaded(start + dtype + shape + b"\x8c\x01CtR.")


def test_arrays_that_are_refused():
    refused(pickle.dumps(np.array([1], dtype=object)), "the dtype 'O8'")
    refused(pickle.dumps(np.zeros(1, [("a", "i4")])), "the dtype 'V4'")
    refused(pickle.dumps(np.array(["2020"], "datetime64[D]")), "the dtype 'M8'")
    metadata = np.zeros(1, np.dtype("uint8", metadata={"mgb_dtype": {"name": "Quantized8Asymm"}}))
    refused(pickle.dumps(metadata), "the dtype 'u1'")
    refused(pickle.dumps([module.Linear(1, 1)]), "tessera.module.linear.Linear")


def test_damaged_pickles():
    content = pickle.dumps({"a": np.arange(10), "b": [1, (2, "c")]}, 4)
    for length in range(1, len(content)):
        with pytest.raises(ValueError, match="^load: .* must .*, got "):
            loaded(content[:length])
    random = np.random.RandomState(0)
    for _ in range(3000):
        data = bytearray(content)
        for position in random.randint(2, len(content), random.randint(1, 4)):
            data[position] = random.randint(256)
        try:
            loaded(bytes(data))
        except ValueError as error:
            assert re.match("(?s)load: .* must .*, got ", str(error))


@pytest.mark.parametrize(
    "rest",
    [
        b".", b"(.", b"e.", b"K\x01e.", b"K\x01(K\x01e.", b"h\x05.", b"K\x01K\x02R.", b"(K\x01d.",
        b"N0", b"(t(0.", b"K\x01\x8c\x01a\x93.", b"cnumpy\nndarray\n)R.", b"cnumpy\ndtype\n)R.",
    ],
)  # fmt: skip
def test_pickles_without_sense(rest):
    with pytest.raises(ValueError, match="(?s)^load: a pickle must .*, got "):
        loaded(b"\x80\x04" + rest)


def test_few_bytes_do_not_become_many():
    content = pickle.dumps([np.zeros(1000)], 4)
    frombuffer = b"\x8c\x12numpy.core.numeric\x8c\x0b_frombuffer\x93"
    dtype = b"\x8c\x05numpy\x8c\x05dtype\x93\x8c\x02u1\x85R\x94"
    data = b"B" + (100_000).to_bytes(4, "little") + bytes(100_000) + b"\x94"
    one = frombuffer + b"(h\x01h\x00J\xa0\x86\x01\x00\x85\x8c\x01Ct\x52"
    many = b"\x80\x04" + dtype + data + b"](" + one * 1000 + b"e."
    assert sum(1 for _ in pickletools.genops(many)) > 8000 and len(content) < 10_000
    refused(many, "more numbers than the file has bytes")
    frozen = b"\x80\x04](" + b"K\x01" * 50_000 + b"e\x94](" + (
        b"\x8c\x08builtins\x8c\x09frozenset\x93h\x00\x85R" * 5000
    )  # fmt: skip
    refused(frozen + b"e.", "more numbers than the file has bytes")
