"""tessera.jit: dump, load, and the programs in between."""

import io
import re
import subprocess
import sys

import numpy as np
import pytest
import tessera
from tessera import jit
from tessera import module as M  # noqa: N812

from tests.support.helper import floats, same_bits
from tests.support.networks import Net, tensor


@pytest.fixture
def dumped(tmp_path):
    net = Net().eval()
    traced = jit.trace(net.__call__, capture_as_const=True)
    traced(tensor(4, 6))
    path = tmp_path / "net.tess"
    traced.dump(path, arg_names=["x"], output_names=["y"], dims={"x": {0: jit.Dim("batch", 1, 32)}})
    return net, path


@pytest.mark.parametrize("batch", [1, 4, 5, 32])
def test_load_with_a_free_dimension(dumped, batch):
    net, path = dumped
    program, x = jit.load(path), tensor(batch, 6)
    assert same_bits(program(x), net(x)) and same_bits(program(x=x), net(x))


def test_loaded_signature(dumped):
    program = jit.load(dumped[1])
    assert "x" in str(program.inputs) and "y" in str(program.outputs)
    assert "batch" in str(program.dims) and "32" in str(program.dims)
    assert "linear" in program.graph_text() or "matmul" in program.graph_text()
    assert "fc1" in program.graph_text() and "net.tess" in repr(program)


class Nested(M.Module):
    def __init__(self):
        super().__init__()
        self.head = M.Linear(6, 6)
        self.body = M.Sequential(M.ReLU(), M.Sequential(M.Softmax(axis=1)))

    def forward(self, x):
        return self.body(self.head(x)) * 2.0


def test_every_operator_names_the_path_of_its_module(tmp_path):
    traced = jit.trace(Nested().eval(), capture_as_const=True)
    traced(tensor(4, 6))
    traced.dump(tmp_path / "nested.tess", targets=[])
    text = jit.load(tmp_path / "nested.tess").graph_text()
    lines = [line for line in text.splitlines() if " tess." in line and "tess.constant" not in line]
    places = {re.search(r"tess\.(\w+)", line)[1]: line for line in lines}
    for op, path in {"linear": "head", "relu": "body.0", "softmax": "body.1.0"}.items():
        assert f"({'Nested.' + path})" in places[op], places[op]
    assert "(Nested)" in places["mul"] and "test_dump.py" in places["mul"]


def test_dimension_out_of_its_bounds(dumped):
    program = jit.load(dumped[1])
    with pytest.raises(ValueError, match="batch.*32.*33"):
        program(tensor(33, 6))
    with pytest.raises(ValueError, match="6.*5|5.*6"):
        program(tensor(3, 5))
    with pytest.raises((TypeError, ValueError), match="float32.*float64|f32.*f64|float64"):
        program(tessera.Tensor(np.ones((3, 6)), dtype="float64"))


def test_inputs_by_name(dumped):
    program, x = jit.load(dumped[1]), tensor(2, 6)
    for args, kwargs in (((), {}), ((), {"z": x}), ((x,), {"x": x}), ((x, x), {})):
        with pytest.raises(TypeError, match=r"net.tess: inputs must be \['x'\], got"):
            program(*args, **kwargs)


def test_code_in_a_file_runs_only_when_allowed(dumped):
    net, path = dumped
    x = tensor(3, 6)
    assert same_bits(jit.load(path, allow_code=True)(x), net(x))


def test_dump_to_a_stream(tmp_path):
    traced = jit.trace(lambda x: x * 2, capture_as_const=True)
    x = tensor(3)
    traced(x)
    stream = io.BytesIO()
    traced.dump(stream)
    (tmp_path / "f.tess").write_bytes(stream.getvalue())
    assert same_bits(jit.load(tmp_path / "f.tess")(x), x * 2)


def test_dump_in_another_process(dumped, tmp_path):
    net, path = dumped
    x = floats(3, 6)
    np.save(tmp_path / "x.npy", x)
    script = (
        "import sys, numpy as np; from tessera import jit, Tensor\n"
        "p = jit.load(sys.argv[1]); np.save(sys.argv[3], p(Tensor(np.load(sys.argv[2]))).numpy())"
    )
    subprocess.run(
        [sys.executable, "-c", script, path, tmp_path / "x.npy", tmp_path / "y.npy"], check=True
    )
    assert same_bits(np.load(tmp_path / "y.npy"), net(tessera.Tensor(x)).numpy())


def test_dump_arguments(tmp_path):
    x, path = tensor(2), tmp_path / "f.tess"
    plain = jit.trace(lambda x: x + 1)
    plain(x)
    with pytest.raises(RuntimeError, match="dump: the trace must have capture_as_const=True"):
        plain.dump(path)
    traced = jit.trace(lambda x: x + 1, capture_as_const=True)
    with pytest.raises(RuntimeError, match="dump: the function must have been called"):
        traced.dump(path)
    traced(x)
    with pytest.raises(ValueError, match="dump: dims must be of arguments in arg_names"):
        traced.dump(path, arg_names=["a"], dims={"b": {0: jit.Dim("n")}})
    with pytest.raises(ValueError, match="dump"):
        traced.dump(path, arg_names=["a", "b"])
    with pytest.raises(ValueError, match="Dim: name must be an identifier"):
        jit.Dim("no name")
    with pytest.raises(ValueError, match="Dim: bounds must be"):
        jit.Dim("n", 5, 3)
    assert not path.exists()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("z80", "name must be host, x86-64-v3, x86-64-v4, sim or sm_<number>"),
        ("host-checked", "code in a file must be good in other processes"),
    ],
)
def test_wrong_targets(tmp_path, target, message):
    traced = jit.trace(lambda x: x + 1, capture_as_const=True)
    traced(tessera.tensor([1.0]))
    with pytest.raises(ValueError, match=f"target: {message}, got {target}"):
        traced.dump(tmp_path / "x.tess", targets=[target])
    assert not (tmp_path / "x.tess").exists()


def test_a_size_that_data_decides_may_grow_from_call_to_call(tmp_path):
    taking = jit.trace(lambda x: x[x > 0], capture_as_const=True)
    rows = [np.full(4096, -1, np.float32) for _ in range(3)]
    rows[1][:], rows[2][:7] = 1, 1
    taking(tessera.Tensor(rows[0]))
    taking.dump(tmp_path / "p", arg_names=["x"])
    program = jit.load(tmp_path / "p")
    for row in (*rows, *rows[::-1]):
        np.testing.assert_array_equal(program(tessera.Tensor(row)).numpy(), row[row > 0])


def test_a_loaded_program_is_no_part_of_a_traced_function(tmp_path):
    double, x = jit.trace(lambda x: x * 2, capture_as_const=True), tensor(3)
    double(x)
    double.dump(tmp_path / "double.tess", arg_names=["x"])
    program = jit.load(tmp_path / "double.tess")
    with pytest.raises(ValueError, match="double.tess: a loaded program must run outside of a tr"):
        jit.trace(lambda x: program(x) + 1)(x)
    assert same_bits(program(x) + 1, x * 2 + 1)
