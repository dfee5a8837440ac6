"""Edits: dumped and run in C++ they give the bits of the edited function traced anew."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.core.ops import builtin as B  # noqa: N812
from tessera.utils import network_node as N  # noqa: N812
from tessera.utils.network import Network

from tests.frontends.python.network.graphs import Model, dumped, image, network_of, run, traced_anew
from tests.support.helper import floats, same_bits


@pytest.fixture
def model():
    return Model().eval()


@pytest.fixture
def network(model, tmp_path):
    return network_of(tmp_path, model.__call__, image())


def test_unchanged(network, model, tmp_path):
    x = image(seed=1)
    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(model.forward, x))


def test_an_output_in_the_middle(network, model, tmp_path):
    hidden = network.get_opr_by_type(N.Relu).outputs[0]
    hidden.name = "hidden"
    network.add_output(hidden)
    x = image(seed=1)
    results = run(network, tmp_path, x=x)
    expected = traced_anew(lambda x: (model(x), model.features(x)), x)
    assert same_bits(list(results.values()), expected) and list(results) == ["y", "hidden"]
    network.remove_output(network.get_var_by_name("y"))
    assert same_bits(run(network, tmp_path, x=x)["hidden"], expected[1])
    assert not network.opr_filter.type(N.Linear).as_list()  # no output needs it


def test_a_variable_becomes_a_function_of_itself(network, model, tmp_path):
    hidden = network.get_opr_by_type(N.Relu).outputs[0]
    network.replace_vars({hidden: F.tanh(hidden) * 2 + 1})
    x = image(seed=1)

    def edited(x):
        return model.head(model.fc(F.flatten(F.tanh(model.features(x)) * 2 + 1, 1)))

    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(edited, x))


def test_an_output_is_replaced_and_keeps_its_name(network, model, tmp_path):
    y = network.get_var_by_name("y")
    network.replace_vars({y: F.argmax(y, -1)})
    x = image(seed=1)
    assert same_bits(
        run(network, tmp_path, x=x)["y"], traced_anew(lambda x: F.argmax(model(x), -1), x)
    )
    assert network.get_var_by_name("y").dtype == np.int32


def test_an_operator_is_replaced(network, model, tmp_path):
    old = network.get_opr_by_type(N.Softmax)
    new = F.logsoftmax(old.inputs[0]).owner
    network.replace_oprs({old: new})
    assert old.outputs[0].owner is new and new.outputs[0] is old.outputs[0]
    model.head, x = F.logsoftmax, image(seed=1)
    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(model.forward, x))


def test_an_operator_of_core_joins(network, model, tmp_path):
    hidden = network.get_opr_by_type(N.Relu).outputs[0]
    [sums] = tessera.core.apply(B.Sum(axes=[1, 2, 3]), hidden)
    sums.name = "sums"
    network.add_output(sums)
    x = image(seed=1)
    results = run(network, tmp_path, x=x)
    expected = traced_anew(lambda x: model.features(x).sum((1, 2, 3)), x)
    assert same_bits(results["sums"], expected)


def test_parameters_of_operators_change(network, model, tmp_path):
    softmax = network.get_opr_by_type(N.Softmax)
    assert softmax.params == {"axis": 1} and softmax.opdef == B.Softmax(1)
    softmax.params["axis"] = 0
    assert softmax.params["axis"] == 0
    x = image(seed=1)
    model.head = lambda x: F.softmax(x, 0)
    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(model.forward, x))
    softmax.params.update(axis=1)
    assert softmax.opdef.axis == 1


def test_the_value_of_a_parameter_changes(network, model, tmp_path):
    weight = floats(5, 36, seed=7)
    network.get_opr_by_name("fc.weight").set_value(weight)
    network.get_var_by_name("fc.bias").set_value([1, 2, 3, 4, 5])
    model.fc.weight.set_value(weight)
    model.fc.bias.set_value([1, 2, 3, 4, 5])
    x = image(seed=1)
    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(model.forward, x))
    assert network.get_var_by_name("fc.bias").numpy().tolist() == [1, 2, 3, 4, 5]


def test_a_constant_takes_the_place_of_an_input(tmp_path):
    a, b = (tessera.Tensor(floats(3, seed=n)) for n in range(2))
    network = network_of(tmp_path, lambda a, b: (a + b) * 2, a, b, arg_names=("a", "b"))
    network.replace_vars({network.get_var_by_name("b"): network.make_const(b, name="b")})
    assert same_bits(run(network, tmp_path, a=a)["y"], (a + b) * 2)
    assert [var.name for var in network.input_vars] == ["a"]


def test_an_input_is_added(tmp_path):
    a, c = (tessera.Tensor(floats(3, seed=n)) for n in range(2))
    network = network_of(tmp_path, lambda a: a * 2, a, arg_names=("a",))
    old, more = network.get_var_by_name("y"), network.make_input_node((3,), "float32", name="c")
    total = F.add(old, more)
    total.name = "total"
    network.remove_output(old)
    network.add_output(total)
    results = run(network, tmp_path, a=a, c=c)
    assert list(results) == ["total"] and same_bits(results["total"], a * 2 + c)


def test_networks_are_spliced(model, network, tmp_path):
    second = Network.load(
        dumped(tmp_path / "second.tess", lambda z: F.exp(z) - 1, image(), arg_names=("z",),
               output_names=("w",))
    )  # fmt: skip
    second.modify_opr_names("before")
    network.replace_vars({network.get_var_by_name("x"): second.output_vars[0]})
    assert [var.name for var in network.input_vars] == ["before.z"]
    x = image(seed=1)
    results = run(network, tmp_path, **{"before.z": x})
    assert same_bits(results["y"], traced_anew(lambda x: model(F.exp(x) - 1), x))


def test_one_variable_for_two_inputs(tmp_path):
    c, d = (tessera.Tensor(floats(3, seed=n)) for n in range(2))
    first = network_of(tmp_path, lambda a, b: (a + b) * 2, c, d, arg_names=("a", "b"))
    second = network_of(tmp_path, lambda c, d: c - d * 3, c, d, arg_names=("c", "d"))
    difference = second.output_vars[0]
    first.replace_vars({var: difference for var in first.input_vars})
    results = run(first, tmp_path, c=c, d=d)
    assert same_bits(results["y"], traced_anew(lambda c, d: ((c - d * 3) + (c - d * 3)) * 2, c, d))


@pytest.mark.parametrize("free", [False, True])
def test_the_batch_is_reset(free, model, tmp_path):
    dims = {"x": {0: jit.Dim("batch", 1, 8)}} if free else None
    network = network_of(tmp_path, model.__call__, image(), dims=dims)
    network.reset_batch_size(3)
    assert network.data_providers_filter.as_unique().shape == (3, 3, 5, 5)
    assert network.get_var_by_name("y").shape == (3, 5)
    x = image(3, seed=1)
    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(model.forward, x))
    network.reset_batch_size(jit.Dim("rows", 1, 4))
    assert str(network.get_var_by_name("y").shape) == "(rows, 5)"
    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(model.forward, x))


def test_state_stays_state(tmp_path):
    count = tessera.Tensor([0.0])

    def function(x):
        count._reset(count + 1)
        return x * count

    network = network_of(tmp_path, function, tessera.Tensor([2.0]))
    y = network.get_var_by_name("y")
    network.replace_vars({y: y + 1})
    network.dump(tmp_path / "edited.tess")
    program = jit.load(tmp_path / "edited.tess")
    start = next(iter(program.state_dict().values())).item()
    found = [program(tessera.Tensor([2.0])).item() for _ in range(3)]
    assert found == [2 * (start + n) + 1 for n in (1, 2, 3)]
    state = network.get_opr_by_type(N.SharedDeviceTensor)
    state.set_value([10.0])
    network.add_output(state.outputs[0])
    network.dump(tmp_path / "edited.tess")
    program = jit.load(tmp_path / "edited.tess")
    rows = [[each.item() for each in program(tessera.Tensor([2.0]))] for _ in range(2)]
    assert rows == [[23.0, 10.0], [25.0, 11.0]]
    with pytest.raises(
        ValueError, match=r"set_value: the value of a state must be f32\[1\], got f32\[2\]"
    ):
        state.set_value([1.0, 2.0])


def test_a_chain_of_edits(network, model, tmp_path):
    for _ in range(3):
        y = network.output_vars[0]
        network.replace_vars({y: F.sigmoid(y)})
    x = image(seed=1)
    model.head = lambda x: F.sigmoid(F.sigmoid(F.sigmoid(F.softmax(x))))
    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(model.forward, x))


REFUSED = {
    "a shape": (
        lambda net: net.replace_vars(
            {net.get_var_by_name("x"): net.make_input_node((2, 3), "float32")}
        ),
        r"conv2d: .+, got .+",
    ),
    "a dtype": (
        lambda net: net.replace_vars(
            {net.get_opr_by_type(N.Softmax).inputs[0]: net.make_input_node((2, 5), "bool")}
        ),
        r"softmax: .+, got .+",
    ),
    "a value": (
        lambda net: net.get_opr_by_name("fc.weight").set_value(np.zeros((5, 7), "float32")),
        r"linear: .+, got .+",
    ),
    "a parameter's value": (
        lambda net: net.get_opr_by_type(N.Softmax).set_params(axis=4),
        r"softmax: .+, got .+",
    ),
    "a parameter's name": (
        lambda net: net.get_opr_by_type(N.Softmax).set_params(dim=1),
        r"set_params: parameters must be among \['axis'\], got \['dim'\]",
    ),
    "a batch": (
        lambda net: net.reset_batch_size(3, blacklist=["z"]),
        r"reset_batch_size: blacklist must be names of inputs, got \['z'\]",
    ),
    "results": (
        lambda net: net.replace_oprs(
            {net.get_opr_by_type(N.Softmax): F.topk(net.output_vars[0], 1)[0].owner}
        ),
        r"replace_oprs: operators must have equally many results, got softmax.+ with 1 and topk.+",
    ),
    "a shape of an input": (
        lambda net: setattr(net.get_opr_by_name("x"), "shape", (2, 4, 5, 5)),
        r"conv2d: .+, got .+",
    ),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_what_does_not_fit_changes_nothing(what, network, model, tmp_path):
    edit, message = REFUSED[what]
    before = [repr(each) for each in [*network.all_oprs, *network.all_vars]]
    with pytest.raises((ValueError, TypeError, IndexError), match=message):
        edit(network)
    assert [repr(each) for each in [*network.all_oprs, *network.all_vars]] == before
    x = image(seed=1)
    assert same_bits(run(network, tmp_path, x=x)["y"], traced_anew(model.forward, x))


def test_a_reshape_to_numbers_refuses_another_batch(tmp_path):
    network = network_of(tmp_path, lambda x: x.reshape(6, 1), tessera.Tensor(floats(2, 3)))
    with pytest.raises(ValueError, match=r"reshape: .+, got .+ at .*test_edits.py"):
        network.reset_batch_size(5)
    assert network.input_vars[0].shape == (2, 3)
    with pytest.raises(ValueError, match="inputs must have one first size, got none"):
        Network().reset_batch_size(5)
