"""Files of tessera.save: errors of the system, replacing in one step, mapped memory, devices."""

import errno
import io
import os
import resource
import signal
import stat

import numpy as np
import pytest
import tessera


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
    monkeypatch.setattr(tessera.serialization.checkpoint, "write_safetensors", half)
    with pytest.raises(RuntimeError, match="stop"):
        tessera.save({"new": 1}, path)
    assert list(tessera.load(path)) == ["old"] and os.listdir(tmp_path) == ["state"]


def test_unwritable_path(tmp_path):
    wanted = "missing/file: must be able to create a file beside it, got No such file"
    with pytest.raises(OSError, match=wanted):
        tessera.save(1, tmp_path / "missing" / "file")


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("missing", FileNotFoundError, "no such file or directory"),
        (".", IsADirectoryError, "is a directory"),
        ("file/below", NotADirectoryError, "not a directory"),
    ],
)
def test_paths_that_are_no_files(name, error, says, tmp_path):
    (tmp_path / "file").write_text("")
    path = os.path.join(tmp_path, name)
    with pytest.raises(error, match=f"^load: {path} must be readable, got {says}$") as raised:
        tessera.load(path)
    assert raised.value.errno == raised.value.__cause__.errno


def test_a_directory_is_not_replaced(tmp_path):
    with pytest.raises(OSError, match=f"{tmp_path}: must be able to replace, got Is a directory"):
        tessera.save(1, tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("call", [lambda f: tessera.save(1, f), tessera.load], ids=["save", "load"])
def test_files_that_are_not_open_binary_files(call):
    closed = io.BytesIO()
    closed.close()
    with pytest.raises(ValueError, match="^(save|load): the file must be open, got a closed one$"):
        call(closed)
    with pytest.raises(TypeError, match="^(save|load): the file must be binary, got StringIO$"):
        call(io.StringIO())
    with pytest.raises(
        TypeError, match="^(save|load): f must be a path or a binary file, got int$"
    ):
        call(0)


def test_a_stream_for_the_other_direction(tmp_path):
    path = tmp_path / "file"
    with (
        open(path, "wb") as file,
        pytest.raises(OSError, match="^load: the file must be readable, got "),
    ):
        tessera.load(file)
    with (
        open(path, "rb") as file,
        pytest.raises(OSError, match="^save: the file must be writable, got "),
    ):
        tessera.save(1, file)


def test_streams_that_give_and_take_little(tmp_path):
    value = {"a": np.arange(100_000)}
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        os.close(receive)
        with open(send, "wb", buffering=0) as file:
            tessera.save(value, file)
        os._exit(0)
    os.close(send)
    with open(receive, "rb", buffering=0) as file:
        assert (tessera.load(file)["a"] == value["a"]).all()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_the_mode_bits_of_a_file_stay(mode, tmp_path):
    path = tmp_path / "state"
    tessera.save("old", path)
    path.chmod(mode)
    tessera.save("new", path)
    assert stat.S_IMODE(path.stat().st_mode) == mode and tessera.load(path) == "new"


def test_a_link_stays_a_link(tmp_path):
    path, link = tmp_path / "state", tmp_path / "latest"
    tessera.save("old", path)
    link.symlink_to("state")
    tessera.save("new", link)
    assert link.is_symlink() and tessera.load(path) == "new"


def test_file_size_limit(tmp_path):
    path = tmp_path / "state"
    tessera.save("old", path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(
            OSError, match=f"^save: {path} must be writable, got file too large$"
        ) as raised:
            tessera.save(np.zeros(10_000), path)
        assert raised.value.errno == errno.EFBIG
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert tessera.load(path) == "old" and os.listdir(tmp_path) == ["state"]


def mapped_files():
    """Lines of this process's memory map that name a file of saved values."""
    with open("/proc/self/maps") as maps:
        return [line for line in maps if line.rstrip().endswith(".mapped")]


def test_mapped_files(tmp_path):
    path = tmp_path / "state.mapped"
    weight = tessera.Parameter(np.arange(1000, dtype=np.float32))
    weight.name = "weight"
    value = {
        "w": weight,
        "half": tessera.Tensor([1.0, 2.0], dtype="bfloat16"),
        "bool": tessera.Tensor([True, False]),
        "empty": tessera.Tensor(np.zeros((0, 2), dtype=np.float32)),
        "array": np.arange(3, dtype=np.int16),
        "complex": np.array([1 + 2j]),
        "plain": [1, "a"],
    }
    tessera.save(value, path)
    before = path.read_bytes()
    got = tessera.load(path, mmap=True)
    assert mapped_files()
    assert type(got["w"]) is tessera.Parameter and got["w"].name == "weight"
    for name in ("w", "half", "bool", "empty"):
        assert got[name].dtype == value[name].dtype and got[name].shape == value[name].shape
        assert got[name].tolist() == value[name].tolist()
    assert got["array"].tolist() == [0, 1, 2] and got["complex"].tolist() == [1 + 2j]
    assert got["plain"] == [1, "a"] and (got["w"] + 1).tolist() == (weight + 1).tolist()
    got["array"][0] = 7
    got["w"][0] = 7.0
    tessera.save("new", path)  # the old file stays as long as it is mapped
    assert got["w"].tolist()[:2] == [7.0, 1.0] and path.read_bytes() != before
    del got
    assert not mapped_files()


def test_what_cannot_be_mapped(tmp_path):
    path = tmp_path / "state"
    tessera.save(1, path)
    with (
        open(path, "rb") as file,
        pytest.raises(ValueError, match="^load: f must be a path for mmap=True, got Buff"),
    ):
        tessera.load(file, mmap=True)
    for content, kind in ((b"PK\5\6" + bytes(18), "a zip archive"), (b"\x80\x04N.", "a pickle")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"^load: a file for mmap=True must .*, got {kind}"):
            tessera.load(path, mmap=True)


def test_a_mapped_file_is_checked_but_for_its_numbers(tmp_path):
    path = tmp_path / "state"
    tessera.save({"a": np.zeros(8)}, path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match="^load: the file must be whole, got 63 of 64 bytes$"):
        tessera.load(path, mmap=True)
    path.write_bytes(whole + b"x")
    with pytest.raises(ValueError, match="^load: the file must end where its header says"):
        tessera.load(path, mmap=True)


def device_of(map_location, saved="cpu0"):
    """The device that `map_location` gives for a tensor that was on `saved`."""
    from tessera.serialization.location import locator

    return locator(map_location)(saved)


def test_map_location():
    file = io.BytesIO()
    tessera.save([tessera.Tensor([1.0])], file)
    seen = []
    for location in ("cpu0", {"cpu0": "cpu0"}, lambda device: seen.append(device) or "cpu0", None):
        (got,) = tessera.load(io.BytesIO(file.getvalue()), map_location=location)
        assert got.device == "cpu0"
    assert seen == ["cpu0"]
    for location in ("null0", {"cpu0": "null0"}, lambda device: "null0"):
        (got,) = tessera.load(io.BytesIO(file.getvalue()), map_location=location)
        assert got.device == "null0"
    assert device_of({"gpu0": "cpu0"}, "gpu0:1") == "cpu0" and device_of({}, "gpu0") == "gpu0"
    assert device_of({"gpu0": "cpu0"}, "xpux") is None and device_of(None, "gpu7") is None


def test_what_is_no_map_location():
    file = io.BytesIO()
    tessera.save([tessera.Tensor([1.0])], file)
    content = file.getvalue()
    with pytest.raises(TypeError, match="^load: map_location must be a device's name, .*, got int"):
        tessera.load(io.BytesIO(content), map_location=3)
    with pytest.raises(RuntimeError, match="^load: map_location must give .*'cpu0', got KeyError"):
        tessera.load(io.BytesIO(content), map_location=lambda device: {}[device])
    with pytest.raises(ValueError, match="device"):
        tessera.load(io.BytesIO(content), map_location="nowhere")
