"""Errors of the right type and form, on the calling line, and the process goes on."""

import gc
import os

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager

FORM = r"^[\w.]+: .+, got .+"


def ones(*shape, dtype="float32"):
    return tessera.Tensor(np.ones(shape), dtype=dtype)


WRONG = [
    (lambda: ones(2, 3) + ones(4), ValueError, r"add: .*\[2, 3\].*\[4\]"),
    (lambda: ones(2, 3) @ ones(4, 5), ValueError, r"matmul: .*K.*\[2, 3\].*\[4, 5\]"),
    (lambda: ones(2, 3).reshape(4, 2), ValueError, "reshape: "),
    (lambda: ones(2, 3).sum(axis=2), (ValueError, IndexError), "sum: .*2"),
    (lambda: ones(2, 3).sum(axis=(0, 0)), ValueError, "sum: "),
    (lambda: F.softmax(ones(2), axis=1), (ValueError, IndexError), "softmax: "),
    (lambda: F.concat([ones(2, 3), ones(3, 3)], axis=1), ValueError, "concat: "),
    (lambda: F.conv2d(ones(1, 3, 5, 5), ones(4, 2, 3, 3)), ValueError, "conv2d: "),
    (lambda: F.conv2d(ones(1, 3, 5, 5), ones(4, 3, 7, 7)), ValueError, "conv2d: "),
    (lambda: F.conv2d(ones(1, 3, 5, 5), ones(4, 3, 3, 3), stride=0), ValueError, "conv2d: .*0"),
    (lambda: F.max_pool2d(ones(1, 3, 2, 2), 3), ValueError, "max_pool2d: "),
    (lambda: F.logical_and(ones(2), ones(2)), TypeError, "logical_and: .*bool.*f(loat)?32"),
    (lambda: F.left_shift(ones(2), 1), TypeError, "left_shift: "),
    (lambda: F.cross_entropy(ones(2, 3), ones(2) > 0), TypeError, "cross_entropy: "),
    (lambda: F.argmax(ones(0, 3), axis=0), ValueError, "argmax: .*empty"),
    (lambda: F.broadcast_to(ones(2, 3), (3, 3)), ValueError, "broadcast_to: "),
    (lambda: F.transpose(ones(2, 3), (0, 0)), ValueError, "transpose: "),
    (lambda: F.exp("text"), TypeError, "operand: .*text"),
    (lambda: F.exp(), TypeError, "exp: every argument must be given, got none for operand x"),
    (lambda: F.exp(ones(1), ones(1)), TypeError, "exp: number of arguments must be"),
    (lambda: F.exp(y=ones(1)), TypeError, "exp: arguments must be among .*, got 'y'"),
    (lambda: F.clip(ones(1), "low"), TypeError, "clip: lower must be a number, got str"),
    (lambda: tessera.Tensor([[1, 2], [3]]), ValueError, "tensor"),
    (lambda: tessera.Tensor(object()), TypeError, "tensor"),
    (lambda: tessera.Tensor([1], dtype="float31"), TypeError, "dtype: .*float32.*float31"),
    (lambda: tessera.Tensor([1], device="gpu9"), ValueError, "tensor: device must .*gpu9"),
    (lambda: ones(2).item(), (ValueError, TypeError), "item"),
    (lambda: ones(2, 2)[5], IndexError, "5"),
    (lambda: GradManager().attach([ones(2)]).backward(ones(2)), RuntimeError, "backward: "),
]


@pytest.mark.parametrize(("call", "error", "text"), WRONG, ids=range(len(WRONG)))
def test_wrong_arguments(call, error, text):
    with pytest.raises(error, match=text) as caught:
        call()
    message, places = str(caught.value), [str(entry.path) for entry in caught.traceback]
    assert any(place.endswith("test_bad_input.py") for place in places[1:])  # the calling line
    assert message[0].islower() and not message.endswith(".")
    assert (ones(2) + 1).tolist() == [2.0, 2.0]


def elsewhere(*shape):
    return tessera.Tensor(np.ones(shape, dtype=np.float32), device="null0")


PLACES = [
    (
        lambda: ones(2) + elsewhere(2),
        r"add: .*got x \(operand 0\) on cpu0 and y \(operand 1\) on null0",
    ),
    (
        lambda: elsewhere(2) * ones(2),
        r"mul: .*got x \(operand 0\) on null0 and y \(operand 1\) on cpu0",
    ),
    (
        lambda: ones(2, 3) @ elsewhere(3, 4),
        r"matmul: .*operand 0\) on cpu0 and .*operand 1\) on null0",
    ),
    (
        lambda: F.where(ones(2) > 0, ones(2), elsewhere(2)),
        r"where: .*0\) on cpu0 and .*2\) on null0",
    ),
    (
        lambda: F.concat([ones(2), ones(2), elsewhere(2)]),
        r"concat: .*0\) on cpu0 and .*2\) on null0",
    ),
    (
        lambda: M.Linear(3, 4)(elsewhere(2, 3)),
        r"linear: .*operand 0\) on null0 and .*operand 1\) on cpu0",
    ),
]


@pytest.mark.parametrize(("call", "text"), PLACES, ids=range(len(PLACES)))
def test_operands_on_two_devices(call, text):
    for function in (call, jit.trace(call)):
        with pytest.raises(ValueError, match=text) as caught:
            function()
        assert "operands must be on one device" in str(caught.value)
    assert (ones(2) + 1).tolist() == [2.0, 2.0]


def test_a_device_that_does_not_compute():
    x = elsewhere(2, 3)
    assert str(x.device) == "null0" and x.shape == (2, 3) and x.dtype == "float32"
    assert F.neg(x).shape == (2, 3) and str(F.neg(x).device) == "null0"
    with pytest.raises(NotImplementedError, match="mask_get: sizes must be known without data on"):
        x[x > 0]
    for read in (x.numpy, x.tolist, lambda: x.to("cpu0"), lambda: float(x[0, 0])):
        with pytest.raises(NotImplementedError, match="must be on .*, got .* on null0"):
            read()
    assert "no value" in repr(x)
    tessera.sync()  # nothing failed


def test_nan_and_infinity_pass_through():
    x = tessera.Tensor([np.nan, np.inf, -np.inf, 1.0])
    assert np.array_equal((x * 2).numpy(), np.float32([np.nan, np.inf, -np.inf, 2]), equal_nan=True)
    assert F.isnan(x).tolist() == [True, False, False, False]
    assert np.isnan(x.max().item()) and np.isnan(F.softmax(x, 0).numpy()).all()
    assert F.maximum(x, 0.0).numpy()[1:].tolist() == [np.inf, 0, 1]


def test_zero_size_dimensions():
    x = ones(0, 3)
    assert (x + 1).shape == (0, 3) and x.sum().item() == 0 and x.sum(axis=0).tolist() == [0, 0, 0]
    assert (x @ ones(3, 2)).shape == (0, 2) and (ones(2, 0) @ ones(0, 3)).tolist() == [[0] * 3] * 2
    net = M.Sequential(M.Conv2d(1, 2, 3), M.ReLU(), M.Flatten(), M.Linear(8, 2))
    assert net(ones(0, 1, 4, 4)).shape == (0, 2)
    assert F.concat([x, ones(2, 3)]).shape == (2, 3) and x.reshape(3, 0).shape == (3, 0)


def library(x, index):
    return inner_library(x, index)


def inner_library(x, index):
    return F.gather(x, 0, index)


class Picks(M.Module):
    def forward(self, x, index):
        return library(x, index)


def test_late_error_names_the_users_line():
    model = M.Sequential()
    model.picks = Picks()
    x = ones(4, 2)
    bad = tessera.Tensor([[9, 0]])
    y = model.picks(x, bad)  # no data is looked at yet, or the error comes here
    for _ in range(100):
        y = y * 1.5 + 0.5
    with pytest.raises(IndexError, match="gather: ") as caught:
        y.numpy()
    line = inner_library.__code__.co_firstlineno + 1
    assert f"test_bad_input.py:{line}" in str(caught.value), caught.value
    assert "picks" in str(caught.value) and "9" in str(caught.value)
    assert (x + 1).tolist() == [[2.0, 2.0]] * 4


def test_late_error_is_raised_at_sync():
    F.gather(ones(4, 2), 0, tessera.Tensor([[7, 0]]))
    with pytest.raises(IndexError, match="gather: "):
        tessera.sync()
    tessera.sync()


def test_repr_never_raises():
    bad = F.gather(ones(4, 2), 0, tessera.Tensor([[7, 0]]))
    assert "no value: gather: " in repr(bad)
    with pytest.raises(IndexError, match="gather: "):
        tessera.sync()


LATE = [
    lambda x, index: F.gather(x, 0, index),
    lambda x, index: x[index],
    lambda x, index: F.scatter(x, 0, index, x[:1]),
    lambda x, index: F.exp(F.gather(x * 2, 0, index) + 1),
]


@pytest.mark.parametrize("function", LATE, ids=range(len(LATE)))
def test_index_out_of_range_in_every_mode(tmp_path, function):
    x, good, bad = ones(4, 2), tessera.Tensor([[3, 0]]), tessera.Tensor([[7, 0]])
    traced = jit.trace(function, capture_as_const=True)
    want = [function(x, good).numpy(), traced(x, good).numpy(), traced(x, good).numpy()]
    traced.dump(tmp_path / "f.tess", arg_names=["x", "index"], targets=["host"])
    modes = [function, traced, jit.load(tmp_path / "f.tess")]
    modes.append(jit.load(tmp_path / "f.tess", allow_code=True))
    line = function.__code__.co_firstlineno
    for mode in modes:
        with pytest.raises(IndexError, match=r"^\w+: index must be .*, got 7") as caught:
            mode(x, bad).numpy()
        assert f"test_bad_input.py:{line}" in str(caught.value), caught.value
        assert (mode(x, good).numpy() == want[0]).all()
    tessera.sync()


LARGE = 1 << 20


def eager_memory():
    return F.zeros((LARGE,)).numpy()


def traced_memory():
    traced = jit.trace(lambda x: (x @ x + 1).sum())
    for _ in range(2):
        traced(ones(700, 700))
    return traced(ones(700, 700)).numpy()


def training_memory():
    net = M.Linear(LARGE // 512, 512)
    manager = GradManager().attach(net.parameters())
    with manager:
        manager.backward(net(ones(4, LARGE // 512)).sum())
    return net.weight.grad.numpy()


@pytest.mark.parametrize("call", [eager_memory, traced_memory, training_memory])
def test_memory_limit(call):
    from tessera import device

    tessera.sync()
    device.set_memory_limit(device.get_allocated_memory() + (1 << 19))
    try:
        with pytest.raises(MemoryError, match=r"cpu0: .* must .*, got .*"):
            call()
            tessera.sync()
        gc.collect()  # frames of the traceback hold tensors
        assert (ones(8) + 1).tolist() == [2.0] * 8  # what fits still runs
    finally:
        device.set_memory_limit(1 << 40)
    tessera.sync()
    assert np.isfinite(call()).all()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "f.tess"
    weight = tessera.Tensor(np.random.RandomState(0).rand(64, 8), dtype="float32")
    traced = jit.trace(lambda x: F.exp(x @ weight), capture_as_const=True)
    traced(ones(4, 64))
    traced.dump(path, arg_names=["x"], output_names=["y"], targets=[])
    return path, path.read_bytes()


def load_bytes(folder, data):
    path = folder / "bad.tess"
    path.write_bytes(data)
    return jit.load(path)


CALLS = [
    (lambda f, x: f(), TypeError, r"f.tess: inputs must be \['x'\], got"),
    (lambda f, x: f(x, x), TypeError, r"f.tess: inputs must be \['x'\], got"),
    (lambda f, x: f(y=x), TypeError, r"f.tess: inputs must be \['x'\], got .*'y'"),
    (lambda f, x: f(x, x=x), TypeError, r"f.tess: inputs must be \['x'\], got .*'x'"),
    (lambda f, x: f(x[:, :63]), ValueError, r"f.tess: input x must .*64.*, got .*63"),
    (lambda f, x: f(x[0]), ValueError, r"f.tess: input x must .*, got f32\[64\]"),
    (lambda f, x: f(x.astype("float64")), TypeError, r"f.tess: input x must .*f32.*, got f64"),
    (lambda f, x: f("text"), TypeError, "tensor: data must hold numbers .*, got an array of str"),
    (lambda f, x: f(None), TypeError, "tensor: data must hold numbers .*, got an array of object"),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS, ids=range(len(CALLS)))
def test_wrong_inputs_of_a_program(program, call, error, text):
    function, x = jit.load(program[0]), ones(4, 64)
    with pytest.raises(error, match=text) as caught:
        call(function, x)
    assert any(str(entry.path).endswith("test_bad_input.py") for entry in caught.traceback[1:])
    assert function(x).shape == (4, 8)


@pytest.mark.parametrize("part", [0.0, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_truncated_program(program, tmp_path, part):
    data = program[1]
    with pytest.raises(ValueError, match="tess"):
        load_bytes(tmp_path, data[: int(len(data) * part)])


def test_flipped_bits(program, tmp_path):
    data, x = program[1], ones(4, 64)
    expected = jit.load(program[0])(x).numpy().tobytes()
    positions = np.random.RandomState(1).choice(len(data), 200, replace=False)
    for position in positions:
        changed = bytearray(data)
        changed[position] ^= 1 << (int(position) % 8)
        try:
            got = load_bytes(tmp_path, bytes(changed))(x).numpy().tobytes()
        except (ValueError, TypeError, NotImplementedError) as error:
            assert ": " in str(error)
            continue
        assert got == expected, position  # padding


@pytest.mark.parametrize("data", [b"", b"\x7fELF" + b"\0" * 400, b"PK\x03\x04" * 100, b"a" * 5000])
def test_foreign_program(tmp_path, data):
    with pytest.raises(ValueError, match="bad.tess|tess"):
        load_bytes(tmp_path, data)


def test_missing_program(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing.tess"):
        jit.load(tmp_path / "missing.tess")


def test_program_that_is_cut_while_it_is_loaded(tmp_path):
    path = tmp_path / "f.tess"
    traced = jit.trace(lambda x: x @ ones(64, 64), capture_as_const=True)
    traced(ones(4, 64))
    dims = {"x": {0: jit.Dim("batch", 1, 99)}}
    traced.dump(path, arg_names=["x"], dims=dims, targets=["host"])
    function = jit.load(path, allow_code=True)
    assert function(ones(2, 64)).shape == (2, 64)
    os.truncate(path, 100)
    for rows in (3, 4):  # each is a bind of its own
        with pytest.raises(ValueError, match=r"f.tess: must keep its \d+ bytes .*, got 100$"):
            function(ones(rows, 64))
    with pytest.raises(ValueError, match="f.tess: must have .* bytes, got 100: the file is cut"):
        jit.load(path)
