"""VarNode: every function takes variables, and what it makes of them joins the graph."""

import copy

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.utils.network import Network

from tests.frontends.python.network.graphs import network_of, run, traced_anew
from tests.support.helper import floats, same_bits
from tests.support.networks import scaled_windows, windows

FUNCTIONS = {
    "operators": lambda x: (x + 1) * x - x / 2 // 3 % 2 ** abs(-x),
    "reflected": lambda x: 1 - (2 / (3 + x * x)),
    "comparisons": lambda x: F.where((x > 0) & (x <= 1), x, 0.5),
    "methods": lambda x: x.reshape(-1, 2).sum(1, keepdims=True).astype("float64"),
    "subscripts": lambda x: x[:, 1:3] + x[0, -1] + x[None, ..., 0].T,
    "index arrays": lambda x: x[np.array([0, 1, 0])],
    "masks of sizes that data decides": lambda x: parted(x)[np.array([True, False, True])],
    "in place": lambda x: changed(x),
    "loops of Python": lambda x: F.concat([row * n for n, row in enumerate(x)], 0),
    "dtypes": lambda x: F.maximum(x.astype("int32"), 1) + x,
    "splits": lambda x: F.split(x, 2, axis=1)[1],
    "stack": lambda x: F.stack([x, x * 2], axis=0),
    "norm": lambda x: F.layer_norm(x, (4,), False),
    "scan": lambda x: F.scan(lambda c, v: (c + v, c * v), F.zeros(4), x)[1],
    "cond": lambda x: F.cond(x.sum() > 0, lambda v: v * 2, lambda v: v - 1, x),
    "while": lambda x: F.while_loop(lambda v: v.sum() < 50, lambda v: v * 1.5 + x[0] + 1, x),
    "rnn": lambda x: F.rnn(x.reshape(3, 2, 2), None, F.ones((2, 2)), F.ones((2, 2)))[0],
    "attention": lambda x: F.scaled_dot_product_attention(*[F.reshape(x, (1, 1, 3, 4))] * 3),
    "sort": lambda x: F.topk(x, 2)[0] + F.sort(x)[0][:, :2],
    "other tensors": lambda x: F.matmul(x, tessera.Tensor(floats(4, 2, seed=9))),
    "modules": lambda x: M.LSTMCell(4, 3).eval()(x)[0] * 0 + F.mean(x),
}


def parted(x):
    """The rows that start above 0, then the others: all rows, which their sizes do not show."""
    return F.concat([x[x[:, 0] > 0], x[x[:, 0] <= 0]], 0)


def changed(x):
    x = x + 0
    x += 1
    x[0, 1:] = 7.0
    x[:, 0] *= 2
    return x


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_functions_take_variables(name, tmp_path):
    function, x = FUNCTIONS[name], tessera.Tensor(floats(3, 4))
    network = Network()
    result = function(network.make_input_node((3, 4), "float32", name="x"))
    result.name = "y"
    network.add_output(result)
    assert same_bits(run(network, tmp_path, x=x)["y"], function(x))


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_free_sizes(batch, tmp_path):
    network = Network()
    x = network.make_input_node((jit.Dim("batch", 1, 8), 4), "float32", name="x")

    def function(x):
        flat = F.reshape(x, (x.shape[0] * 2, -1))
        wide = F.broadcast_to(x[0], x.shape) * tessera.tensor(x.shape, dtype="float32").sum()
        return F.concat([flat[-1:], flat[: x.shape[0]]], 0) / x.shape[0], wide

    for name, result in zip("ab", function(x), strict=True):
        result.name = name
        network.add_output(result)
    assert str(x.shape) == "(batch, 4)" and str(x.size) == "4*batch"
    assert str(network.get_var_by_name("a").shape) == "(batch + 1, 2)"
    value = tessera.Tensor(floats(batch, 4))
    found = run(network, tmp_path, x=value)
    assert same_bits([found["a"], found["b"]], function(value))


def test_sizes_that_data_decides(tmp_path):
    network = Network()
    x = network.make_input_node((3, 4), "float32", name="x")

    def function(x):
        positive = x[x > 0]
        return F.ones(positive.shape) * positive.shape[0] + positive

    result = function(x)
    result.name = "y"
    network.add_output(result)
    value = tessera.Tensor(floats(3, 4))
    assert same_bits(run(network, tmp_path, x=value)["y"], function(value))


def read_size(x):
    return range(x.shape[0])


NUMBERS = {
    "a size": (read_size, "shape: a free size of a network must stay an expression, got a use of"),
    "a length": (
        len,
        "len: a free size of a network must stay an expression, got a use of 'batch'",
    ),
    "a loop": (list, "len: a free size of a network must stay an expression"),
    "a comparison": (lambda x: x.shape[0] == 3, "shape: a free size of a network must stay"),
    "values": (
        lambda x: x.numpy(),
        "value: a variable of a network must be computed by its dumped",
    ),
    "an item": (lambda x: x[0, 0].item(), "value: a variable of a network must be computed"),
    "a number": (lambda x: float(x[0, 0]), "value: a variable of a network must be computed"),
    "a new value": (
        lambda x: x.set_value([1.0]),
        "set_value: the variable must be a constant, got",
    ),
    "a parameter": (
        lambda x: tessera.Parameter([1.0])._reset(x[0, :1]),
        r"update: a tensor outside of a network must not take a value of one, got one for f32\[1\]",
    ),
    "a parameter's new value": (
        lambda x: tessera.Parameter([1.0]).set_value(x[0, :1]),
        "update: a tensor outside of a network must not take a value of one",
    ),
    "running statistics": (
        lambda x: M.BatchNorm1d(4)(x),
        "update: a tensor outside of a network must not take a value of one",
    ),
    "operands": (lambda x: F.matmul(x, F.ones((3, 2))), r"matmul: dimension K must match, got"),
}


@pytest.mark.parametrize("what", list(NUMBERS))
def test_what_a_variable_does_not_know(what):
    x = Network().make_input_node((jit.Dim("batch", 1, 8), 4), "float32", name="x")
    function, message = NUMBERS[what]
    with pytest.raises(ValueError, match=message):
        function(x)


@pytest.mark.parametrize("function, message", [
    (lambda w: windows(w).size, "shape: a size of a network must be an expression of at most 256"),
    (scaled_windows, "scan: sizes of the step must have at most 256 parts in the network, got"),
])  # fmt: skip
def test_a_size_with_too_many_parts(function, message):
    sizes = [jit.Dim(name, 2, 100) for name in "nhk"]
    w = Network().make_input_node((sizes[0], *sizes), "float32", name="w")
    with pytest.raises(ValueError, match=message):
        function(w)


def test_an_error_names_the_line():
    x = Network().make_input_node((2, 4), "float32")
    with pytest.raises(ValueError, match=r"matmul: .+, got .+ at .*test_variables.py:\d+"):
        F.matmul(x, x)


def test_variables_are_found_by_identity():
    x = Network().make_input_node((2,), "float32", name="x")
    y = x + 1
    assert y in [x, y] and x not in [y] and [x, y].index(y) == 1 and not x
    assert {x: 1}[x] == 1 and x.var is x and x.id != y.id
    assert y.owner.inputs[0] is x and y.owner.outputs[0] is y
    name = y.name
    assert name.startswith("add_") and y.name == name
    y.name = "sum"
    assert y.name == "sum" and y.owner.name == "sum"
    assert F.topk(x, 1)[1].name.endswith(":1")


def test_a_traced_function_does_not_hold_variables():
    x = Network().make_input_node((2,), "float32", name="x")
    free = Network().make_input_node((jit.Dim("n", 1, 4),), "float32", name="x")
    message = "trace: a traced function must use no variable of a network, got one in mul"
    plain = tessera.Tensor([1.0])
    for function, argument in [(lambda y: y * 2, x), (lambda y: y * x, plain),
                               (lambda y: y * free, plain)]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            jit.trace(function)(argument)


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_loops_over_free_sizes(batch, tmp_path):
    network = Network()
    x = network.make_input_node((jit.Dim("batch", 1, 8), 4), "float32", name="x")

    def function(x):
        def step(total, row):
            wide = F.broadcast_to(row, x.shape)
            return total + wide.sum(0), F.reshape(wide, (-1, 2)) * x.shape[0]

        total, rows = F.scan(step, F.zeros(4), x)
        return rows.sum(0) + total[:2], F.scan(lambda c, _: (c * 2, c), x, None, x.shape[0])[1]

    for name, result in zip("ab", function(x), strict=True):
        result.name = name
        network.add_output(result)
    value = tessera.Tensor(floats(batch, 4))
    found = run(network, tmp_path, x=value)
    assert same_bits([found["a"], found["b"]], function(value))


def test_a_size_that_a_variable_says_must_follow_from_constants():
    network = Network()
    x = network.make_input_node((jit.Dim("n", 2, 64), 3), "float32", name="x")
    said = F.concat([[2], F.relu(x).shape])
    for look in (said.tolist, said.numpy, lambda: F.ones(said)):
        with pytest.raises(ValueError, match="value: a variable of a network must be"):
            look()
    known = F.concat([[2], network.make_input_node((4, 3), "float32", name="y").shape])
    assert known.tolist() == [2, 4, 3] and F.ones(known).shape == (2, 4, 3)


def test_functions_of_plain_tensors_run_as_before():
    x = Network().make_input_node((2,), "float32", name="x")
    plain = tessera.Tensor([1.0, 2.0]) * 2
    assert type(plain) is tessera.Tensor and plain.tolist() == [2.0, 4.0]
    assert type(x * plain) is type(x)
    assert copy.copy(plain).tolist() == [2.0, 4.0]


def test_bits_of_a_module_called_with_a_variable(tmp_path):
    module = M.Sequential(M.Linear(4, 8), M.GELU(), M.Linear(8, 2)).eval()
    network = Network()
    y = module(network.make_input_node((3, 4), "float32", name="x"))
    y.name = "y"
    network.add_output(y)
    x = tessera.Tensor(floats(3, 4))
    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(module.forward, x))
    assert network.params_filter.as_count() == 4


def test_a_loop_of_the_file_is_one_operator(tmp_path):
    x = tessera.Tensor(floats(5, 3))

    def function(x):
        state, rows = F.scan(lambda c, v: (c + v, c * v), F.zeros(3), x)
        return rows + state

    network = network_of(tmp_path, function, x)
    loops = [opr for opr in network.all_oprs if opr.type is None]
    assert len(loops) == 1 and loops[0].opdef is None and loops[0].params == {}
    with pytest.raises(TypeError, match="set_params: operator must have parameters, got scan_"):
        loops[0].set_params(length=3)
    y = network.output_vars[0]
    network.replace_vars({y: y * 2})
    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(lambda x: function(x) * 2, x))


def test_what_constants_give_has_a_value():
    network = Network()
    constant = network.make_const(np.arange(6, dtype="float32").reshape(2, 3))
    double = F.matmul(constant, constant.T) * 2
    wanted = constant.numpy() @ constant.numpy().T * 2
    assert same_bits(double.numpy(), wanted) and same_bits(np.asarray(double), wanted)
    assert double.tolist() == wanted.tolist() and double[1, 0].item() == wanted[1, 0]
    assert float(double[0, 0]) == wanted[0, 0] and int(double[0, 0]) == wanted[0, 0]
    constant.set_value(np.ones((2, 3), "float32"))
    assert double.tolist() == [[6, 6], [6, 6]]
    x = network.make_input_node((2, 2), "float32")
    with pytest.raises(ValueError, match="value: a variable of a network must be computed"):
        (double + x).numpy()


def test_an_input_without_a_name_has_the_one_that_it_shows(tmp_path):
    network = Network()
    first, second = (network.make_input_node((2,), "float32") for _ in range(2))
    network.add_output(first - second)
    shown = [var.name for var in network.input_vars]
    assert shown == [first.name, second.name] and len(set(shown)) == 2 and all(shown)
    network.dump(tmp_path / "net.tess")
    assert [var.name for var in Network.load(tmp_path / "net.tess").input_vars] == shown
    program = jit.load(tmp_path / "net.tess")
    assert program.inputs == shown
    values = {shown[0]: F.full(2, 5.0), shown[1]: F.full(2, 2.0)}
    assert program(**values).tolist() == [3, 3]
