"""tessera.save and load."""

import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import zipfile
from collections import OrderedDict

import ml_dtypes
import numpy as np
import pytest
import tessera

from tests.python.helper import same_bits

NUMPY_DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool"]


def round_trip(value):
    file = io.BytesIO()
    tessera.save(value, file)
    return tessera.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, "bfloat16"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_tensors_keep_their_bits(dtype, shape):
    values = np.random.RandomState(0).randint(0, 2, shape)
    tensor = tessera.Tensor(values, dtype=dtype)
    got = round_trip(tensor)
    assert isinstance(got, tessera.Tensor) and got.dtype == dtype and tuple(got.shape) == shape
    assert same_bits(got, tensor)


@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, ">f4", ">i8", "uint16", "complex64"])
def test_arrays_keep_their_values(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    got = round_trip({"a": array, "b": array.T})
    assert isinstance(got["a"], np.ndarray) and got["a"].dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(got["a"], array)
    np.testing.assert_array_equal(got["b"], array.T)


def test_bfloat16_arrays_keep_their_bits():
    bits = np.array([0, 0x8000, 0x3EAB, 0x7F80, 0x7F81, 0xFFC1, 1], np.uint16)
    array = bits.view(ml_dtypes.bfloat16)
    got, one = round_trip([array, array[2]])
    assert got.dtype == one.dtype == ml_dtypes.bfloat16 and one == array[2]
    assert got.view(np.uint16).tolist() == bits.tolist()


def test_loaded_arrays_are_writable():
    got = round_trip(np.arange(3))
    got[0] = 7
    assert got.tolist() == [7, 1, 2]


def test_containers_and_plain_values():
    value = {
        "numbers": [1, -(2**70), 2.5, True, None, 1e-300, np.float32(1.5), np.int64(3)],
        "strange": [float("inf"), float("-inf"), -0.0],
        3: ("a", b"\x00\xff", ()),
        (1, 2): {},
        "ordered": OrderedDict([("z", 1), ("a", 2)]),
        "é\n": "ü\x00",
    }
    got = round_trip(value)
    assert got == value and type(got["ordered"]) is OrderedDict and type(got[3]) is tuple
    assert list(map(type, got["numbers"])) == list(map(type, value["numbers"]))
    assert np.isnan(round_trip(float("nan"))) and np.signbit(round_trip(-0.0))


def test_names_and_parameters():
    parameter = tessera.Parameter(np.ones(2, dtype=np.float32))
    parameter.name = "layer.weight"
    got = round_trip([parameter])[0]
    assert isinstance(got, tessera.Parameter) and got.name == "layer.weight"


def test_equal_values_make_equal_files():
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        tessera.save({"a": np.arange(5)}, file)
    assert files[0].getvalue() == files[1].getvalue()


@pytest.mark.parametrize("value", [{"a": [object()]}, {"f": len}, {1, 2}, np.array(["text"])])
def test_values_without_a_place(value):
    with pytest.raises(TypeError, match="save: (values|arrays) must .* at object"):
        tessera.save(value, io.BytesIO())


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "state"
    tessera.save({"old": np.arange(3)}, path)
    with pytest.raises(TypeError):
        tessera.save({"new": object()}, path)
    assert list(tessera.load(path)) == ["old"] and os.listdir(tmp_path) == ["state"]


def test_a_save_that_ends_half_way_leaves_the_old_file(tmp_path, monkeypatch):
    def half(file, *_):
        file.write(b"half")
        raise RuntimeError("stop")

    path = tmp_path / "state"
    tessera.save({"old": np.arange(3)}, path)
    monkeypatch.setattr(tessera.serialization, "_write", half)
    with pytest.raises(RuntimeError, match="stop"):
        tessera.save({"new": 1}, path)
    assert list(tessera.load(path)) == ["old"] and os.listdir(tmp_path) == ["state"]


def test_unwritable_path(tmp_path):
    wanted = "missing/file: must be able to create a file beside it, got No such file"
    with pytest.raises(OSError, match=wanted):
        tessera.save(1, tmp_path / "missing" / "file")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        tessera.load(tmp_path / "missing")


@pytest.fixture(scope="module")
def whole():
    file = io.BytesIO()
    tessera.save({"w": np.arange(100, dtype=np.float32), "epoch": 3}, file)
    return file.getvalue()


def test_truncated_files_are_errors(whole):
    for length in range(0, len(whole), 7):
        with pytest.raises(ValueError, match="load: "):
            tessera.load(io.BytesIO(whole[:length]))


def test_flipped_bits_never_change_values(whole):
    expected = np.arange(100, dtype=np.float32)
    for position in range(0, len(whole), 5):
        data = bytearray(whole)
        data[position] ^= 0x10
        try:
            got = tessera.load(io.BytesIO(bytes(data)))
        except ValueError as error:
            assert re.match("load: .* must .*, got ", str(error))
            continue
        np.testing.assert_array_equal(
            got["w"], expected
        )  # a field that says nothing of the content


def foreign(**changes):
    tree = {"format": "tessera-save", "version": 1, "tree": None, **changes}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tree.json", json.dumps(tree))
        archive.writestr("arrays/0", b"1234")
    return io.BytesIO(file.getvalue())


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "other"},
        {"version": 2},
        {"tree": {"unknown": 1}},
        {"tree": {"array": {"dtype": "object", "shape": [1], "member": 0}}},
        {"tree": {"array": {"dtype": "float32", "shape": [-1], "member": 0}}},
        {"tree": {"array": {"dtype": "float32", "shape": [2**62], "member": 0}}},
        {"tree": {"array": {"dtype": "float32", "shape": [1], "member": 5}}},
        {"tree": {"list": 3}},
        {"tree": {"a": 1, "b": 2}},
        {"tree": {"float": "a"}},
        {"tree": {"bytes": "a"}},
        {"tree": {"dict": [[{"list": []}, 1]]}},
        {"tree": {"list": [{"array": {"dtype": "int32", "shape": [1], "member": 0}}] * 2}},
    ],
)
def test_foreign_files(changes):
    with pytest.raises(ValueError, match="load: "):
        tessera.load(foreign(**changes))


def test_few_bytes_do_not_become_many(whole):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tree.json", "[" * (1 << 20))
    with pytest.raises(ValueError, match="load: .*, got KeyError.*compressed member 'tree.json'"):
        tessera.load(bomb)
    entry = whole[whole.index(b"PK\1\2") : whole.index(b"PK\5\6")]
    more, count = entry * 50, 50 * whole.count(b"PK\1\2")
    end = bytearray(whole[whole.index(b"PK\5\6") :])
    end[8:16] = count.to_bytes(2, "little") * 2 + len(more).to_bytes(4, "little")
    with pytest.raises(ValueError, match="load: .*, got KeyError.*members over each other"):
        tessera.load(io.BytesIO(whole[: whole.index(b"PK\1\2")] + more + bytes(end)))


def test_pickle_is_not_read(tmp_path):
    import pickle

    path = tmp_path / "file"
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ValueError, match="load: the file must be a whole zip archive"):
        tessera.load(path)


WRITER = """
import sys, numpy as np, tessera
path = sys.argv[1]
print("ready", flush=True)
n = 0
while True:
    n += 1
    tessera.save({"n": n, "data": np.full(200_000, n, dtype=np.int64)}, path)
"""


def test_killed_at_seeded_moments(tmp_path):
    path, moments = tmp_path / "state", np.random.RandomState(4).uniform(0.0, 0.05, 10)
    tessera.save({"n": 0, "data": np.zeros(200_000, dtype=np.int64)}, path)
    for moment in moments:
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout.readline() == "ready\n"
        time.sleep(moment)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        got = tessera.load(path)
        assert (got["data"] == got["n"]).all()


def test_file_size_limit(tmp_path):
    path = tmp_path / "state"
    tessera.save("old", path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError):
            tessera.save(np.zeros(10_000), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert tessera.load(path) == "old" and os.listdir(tmp_path) == ["state"]
