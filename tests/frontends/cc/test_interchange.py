"""States written by Python are read by C++, and the other way round."""

import os
import subprocess

import numpy as np
import tessera
from tessera import module


def copy_state(source, target):
    """What the C++ program prints about an error; empty when it copied."""
    command = [os.environ["COPY_STATE"], os.fspath(source), os.fspath(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode == 0) == (not done.stderr), done
    return done.stderr


def test_arrays_and_tensors_go_through_cpp(tmp_path):
    state = {
        "weight": np.arange(6, dtype=np.float32).reshape(2, 3),
        "tensor": tessera.tensor([1, 2], dtype="int64"),
        "empty": np.zeros((0, 3), np.float64),
        "number": np.float16(0.5),
    }
    tessera.save(state, tmp_path / "a")
    assert copy_state(tmp_path / "a", tmp_path / "b") == ""
    copied = tessera.load(tmp_path / "b")
    assert sorted(copied) == sorted(state)
    for name, value in state.items():
        expected = np.asarray(value.numpy() if isinstance(value, tessera.Tensor) else value)
        assert copied[name].numpy().dtype == expected.dtype
        np.testing.assert_array_equal(copied[name].numpy(), expected)


def test_a_module_loads_what_cpp_wrote(tmp_path):
    first, second = module.Linear(3, 2), module.Linear(3, 2)
    tessera.save(first.state_dict(), tmp_path / "a")
    assert copy_state(tmp_path / "a", tmp_path / "b") == ""
    state = {name: value.numpy() for name, value in tessera.load(tmp_path / "b").items()}
    second.load_state_dict(state)
    np.testing.assert_array_equal(second.weight.numpy(), first.weight.numpy())


def test_cpp_names_what_it_cannot_read(tmp_path):
    tessera.save({"epoch": 3}, tmp_path / "a")
    assert "no tensor for 'epoch'" in copy_state(tmp_path / "a", tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_what_is_shared_and_complex_names(tmp_path):
    weight = tessera.tensor([1.0, 2.0])
    state = {"a.weight": weight, "b.weight": weight, 'a "quoted" n\u00e4me': tessera.tensor([True])}
    tessera.save(state, tmp_path / "a")
    assert copy_state(tmp_path / "a", tmp_path / "b") == ""
    copied = tessera.load(tmp_path / "b")
    assert {name: value.tolist() for name, value in copied.items()} == {
        name: value.tolist() for name, value in state.items()
    }


def test_damaged_files_are_errors(tmp_path):
    tessera.save({"a": np.arange(10), "b": tessera.tensor([1.0])}, tmp_path / "whole")
    whole, path = (tmp_path / "whole").read_bytes(), tmp_path / "a"
    for size in range(0, len(whole), 40):
        path.write_bytes(whole[:size])
        assert "load: " in copy_state(path, tmp_path / "b")
    for position in [*range(0, len(whole) - 84, 17), *range(len(whole) - 84, len(whole), 9)]:
        data = bytearray(whole)
        data[position] ^= 0x04
        path.write_bytes(data)
        if copy_state(path, tmp_path / "b") == "":
            copied = tessera.load(tmp_path / "b")
            assert copied["a"].tolist() == list(range(10)) and copied["b"].tolist() == [1.0]
    path.write_bytes(whole + b"x")
    assert "85 bytes of numbers where its header says 84" in copy_state(path, tmp_path / "b")


def test_files_of_other_tools(tmp_path):
    header = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    (tmp_path / "a").write_bytes(len(header).to_bytes(8, "little") + header + b"1234")
    assert "got another tool's tensors" in copy_state(tmp_path / "a", tmp_path / "b")
