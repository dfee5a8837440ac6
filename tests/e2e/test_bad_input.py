"""Errors of the right type and form, on the calling line, and the process goes on."""

import resource
import signal
import subprocess
import sys

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
    (lambda: F.cross_entropy(ones(2, 3), ones(2)), TypeError, "cross_entropy: "),
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


def test_memory_limit():
    from tessera import device

    tessera.sync()
    device.set_memory_limit(device.get_allocated_memory() + (1 << 20))
    try:
        with pytest.raises(MemoryError, match="got"):
            F.zeros((1 << 20,)).numpy()
    finally:
        device.set_memory_limit(1 << 40)
    assert F.zeros((1 << 20,)).sum().item() == 0


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


def dumps():
    traced = jit.trace(lambda x: x + 1, capture_as_const=True)
    traced(ones(4))
    return traced


def test_unwritable_path(tmp_path):
    with pytest.raises(OSError, match="missing"):
        dumps().dump(tmp_path / "missing" / "f.tess")


def test_failed_dump_leaves_the_old_file(tmp_path):
    path, traced = tmp_path / "f.tess", dumps()
    path.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
    try:
        with pytest.raises(OSError, match="f.tess"):
            traced.dump(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["f.tess"]


WRITER = """
import sys, numpy as np, tessera
from tessera import jit
weight = tessera.Tensor(np.ones((64, 256), dtype=np.float32))
traced = jit.trace(lambda x: x @ weight, capture_as_const=True)
traced(tessera.Tensor(np.ones((1, 64), dtype=np.float32)))
traced.dump(sys.argv[1], targets=[])
print("ready", flush=True)
while True:
    traced.dump(sys.argv[1], targets=[])
"""


def test_killed_at_50_seeded_moments(tmp_path):
    path, x = tmp_path / "f.tess", ones(1, 64)
    moments = np.random.RandomState(7).uniform(0.0, 0.02, 50)
    for moment in moments:
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout.readline() == "ready\n"
        try:
            writer.wait(moment)
        except subprocess.TimeoutExpired:
            writer.kill()
        writer.wait()
        writer.stdout.close()
        assert jit.load(path)(x).numpy().sum() == 64 * 256


FULL = """
import sys, os, ctypes, numpy as np, tessera
from tessera import jit
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x00020000 | 0x10000000) and libc.unshare(0x00020000):
    print("skip: no mount namespace"); sys.exit()
libc.mount(None, b"/", None, 16384 | (1 << 18), None)
if libc.mount(b"tmpfs", sys.argv[1].encode(), b"tmpfs", 0, b"size=1m"):
    print("skip: no tmpfs"); sys.exit()
path = sys.argv[1] + "/f.tess"
def traced(rows):
    weight = tessera.Tensor(np.ones((64, rows), dtype=np.float32))
    f = jit.trace(lambda x: x @ weight, capture_as_const=True)
    f(tessera.Tensor(np.ones((1, 64), dtype=np.float32)))
    return f
traced(16).dump(path, targets=[])
try:
    traced(64 * 1024).dump(path, targets=[])
    print("must be an error, got none")
except OSError as error:
    x = tessera.Tensor(np.ones((1, 64), dtype=np.float32))
    good = jit.load(path)(x).shape == (1, 16) and os.listdir(sys.argv[1]) == ["f.tess"]
    print("good" if good else "bad", error)
"""


def test_full_disk(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    if done.stdout.startswith("skip"):
        pytest.skip(done.stdout[6:].strip())
    assert done.stdout.startswith("good"), done.stdout + done.stderr
