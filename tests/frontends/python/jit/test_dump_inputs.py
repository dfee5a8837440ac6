"""Inputs of a file: each is a value of its own, whatever tensors the recorded call had."""

import io
import logging

import pytest
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import jit
from tessera.jit import Dim, load
from tessera.utils.network import Network

from tests.frontends.python.jit.dumping import traced


def dumped(call, path, **options):
    call.dump(path, **options)
    return load(path)


def test_one_tensor_for_several_arguments_is_several_inputs(tmp_path):
    x = F.ones(1)
    call = traced(lambda x, y, z: x * 2 + y * 3 + z * 5, x, x, x)
    program = dumped(call, tmp_path / "sum.tess", arg_names=["x", "y", "z"])
    assert program(F.full(1, 1.0), F.full(1, 10.0), F.full(1, 100.0)).item() == 532
    assert call(x, x, x).item() == 10


def test_one_tensor_in_a_container_and_by_keyword_is_two_inputs(tmp_path):
    x = F.ones((2, 3))
    call = traced(lambda pair, scale: pair[0] - pair[1] * scale, [x, x], scale=x)
    options = {"arg_names": ["a", "b"], "dims": {"a": {0: Dim("n")}, "b": {0: Dim("n")},
                                                 "scale": {0: Dim("n")}}}  # fmt: skip
    program = dumped(call, tmp_path / "p.tess", **options)
    assert program.inputs == ["a", "b", "scale"]
    values = [F.full((4, 3), number) for number in (7.0, 2.0, 3.0)]
    assert (program(*values).numpy() == 1).all()


def test_an_argument_that_is_overwritten_leaves_the_others(tmp_path):
    def function(x, y):
        x += 1
        return x * 10 + y

    call = jit.trace(function, capture_as_const=True)
    x = F.ones(1)
    call(x, x)
    program = dumped(call, tmp_path / "p.tess", arg_names=["x", "y"])
    assert program(F.full(1, 1.0), F.full(1, 5.0))[0].item() == 25  # then the new value of x


def test_a_tensor_from_outside_that_was_an_argument_is_a_constant(tmp_path):
    weight = F.full(1, 3.0)
    call = traced(lambda x: x * 10 + weight, weight)
    program = dumped(call, tmp_path / "p.tess", arg_names=["x"])
    assert program(F.full(1, 1.0)).item() == 13
    assert call(F.full(1, 1.0)).item() == 13 and call(weight).item() == 33


def test_a_function_that_needs_one_tensor_is_refused(tmp_path):
    def function(x, y):
        if x is not y:
            raise ValueError("they differ")
        return x + y

    x = F.ones(1)
    message = r"dump: inputs must be different .* got one for \['x', 'y'\] and then: they"
    with pytest.raises(ValueError, match=message):
        traced(function, x, x).dump(tmp_path / "p.tess", arg_names=["x", "y"])
    assert not (tmp_path / "p.tess").exists()


def test_a_function_that_does_otherwise_for_different_tensors_is_dumped_so(tmp_path):
    x = F.ones(1)
    call = traced(lambda x, y: x + y if x is y else x - y, x, x)
    program = dumped(call, tmp_path / "p.tess", arg_names=["x", "y"])
    assert program(F.full(1, 7.0), F.full(1, 5.0)).item() == 2


def test_a_call_of_size_1_tells_what_is_free(tmp_path, caplog):
    call = traced(lambda x, y: x + y, F.ones((1, 3)), F.ones((1, 1)))
    with caplog.at_level(logging.INFO, "tessera"):
        call.dump(tmp_path / "p", arg_names=["x", "y"], dims={"x": {0: Dim("n", 1, 9)}})
    told = "inputs are x [n from 1 to 9, 3], y [1, 1]; sizes that are numbers are fixed"
    assert told in caplog.text
    caplog.clear()
    larger = traced(lambda x: x + 1, F.ones((2, 3)))
    with caplog.at_level(logging.INFO, "tessera"):
        larger.dump(tmp_path / "p", arg_names=["x"])
    assert "inputs are" not in caplog.text


def test_a_size_of_1_beside_a_free_one_is_a_number(tmp_path):
    call = traced(lambda x: x / x.shape[1] + x.shape[0], F.ones((11, 1)))
    program = dumped(call, tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 1, 99)}})
    for size in (1, 2, 30):
        assert program(F.ones((size, 1))).tolist() == [[1 + size]] * size


def test_a_size_that_may_be_0_stays_free(tmp_path):
    function = lambda x: F.zeros(x.shape) + x / x.shape[0] + x.sum(0)  # noqa: E731
    call = traced(function, F.ones((3, 2)))
    program = dumped(call, tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 0, 99)}})
    for size in (0, 1, 4):
        x = F.full((size, 2), 3.0)
        assert program(x).tolist() == function(x).tolist()
    at_least_1 = traced(lambda x: F.zeros((max(x.shape[0], 1),)), F.ones((3, 2)))
    refusal = (
        r"a free dimension must not be fixed in the program, .* \(a size is compared at test_d"
        r".*:\d+: core.sym_max and core.sym_min stay sizes, max and"
    )
    with pytest.raises(ValueError, match=refusal):
        at_least_1.dump(tmp_path / "q", arg_names=["x"], dims={"x": {0: Dim("n", 0, 99)}})


def _normalised(x):
    return M.BatchNorm2d(3)(x)


def test_batch_norm_in_training_is_refused_wherever_it_was_made(tmp_path):
    call = traced(_normalised, F.ones((2, 3, 4, 4)))
    message = "batch normalisation must be in inference mode, .* got one in training at"
    with pytest.raises(RuntimeError, match=message):
        call.dump(tmp_path / "p")
    call.dump(tmp_path / "p", training=True)
    traced(lambda x: M.BatchNorm2d(3).eval()(x), F.ones((2, 3, 4, 4))).dump(tmp_path / "p")
    batch_only = traced(lambda x: F.batch_norm(x, training=True), F.ones((2, 3, 4, 4)))
    batch_only.dump(tmp_path / "p")  # it has no other mode


class Simple(M.Module):
    def __init__(self):
        super().__init__()
        self.name = "simple"

    def forward(self, x):
        return F.relu(F.relu(x + x))


def _oprs(call, **options):
    file = io.BytesIO()
    call.dump(file, arg_names=["x"], keep_opr_name=True, keep_var_name=2, targets=(), **options)
    file.seek(0)
    network = Network.load(file)
    return [opr.name for opr in network.all_oprs if opr.opdef is not None], network.output_names


def test_operators_of_outputs_have_their_names():
    names, outputs = _oprs(traced(Simple().__call__, F.ones(3)))
    assert names == ["simple.add", "simple.relu[0]", "simple.relu[1]"]
    assert outputs == ["simple.relu[1]"]
    assert _oprs(traced(Simple().__call__, F.ones(3)), output_names=["y"])[1] == ["y"]


def _scored(x):
    y = F.exp(x)
    y.name = "scores"
    return y, y * 2, F.relu(y)


def test_outputs_have_the_names_that_the_function_gave(tmp_path):
    program = dumped(traced(_scored, F.ones(3)), tmp_path / "p")
    assert program.outputs == ["scores", "output1", "output2"]
    names, outputs = _oprs(traced(_scored, F.ones(3)))
    assert names == ["scores", "mul", "relu"] and outputs[0] == "scores"


def test_a_name_of_two_results_counts_once(tmp_path):
    def function(x):
        y, z = x + 1, x + 2
        y.name = z.name = "same"
        return y, z

    assert dumped(traced(function, F.ones(3)), tmp_path / "p").outputs == ["same", "output1"]
