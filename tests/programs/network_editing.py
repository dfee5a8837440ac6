"""Dumped graphs as data: looked at, changed, dumped again, run."""

import io

import megengine as mge
import megengine.functional as F  # noqa: N812
import megengine.module as M  # noqa: N812
import numpy as np
from megengine.jit import trace
from megengine.utils import comp_graph_tools as cgtools
from megengine.utils.network import Network
from megengine.utils.network_node import Elemwise, Host2DeviceCopy


class Net(M.Module):
    """Two linear layers."""

    def __init__(self):
        super().__init__()
        self.first = M.Linear(6, 5)
        self.second = M.Linear(5, 3)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


def dumped(function, *args, **names):
    """The file of a traced function."""
    call = trace(function, symbolic=True, capture_as_const=True)
    call(*map(mge.tensor, args))
    file = io.BytesIO()
    call.dump(file, optimize_for_inference=False, **names)
    return file


def loaded(file):
    file.seek(0)
    return Network.load(file)


def run(network, **inputs):
    """The outputs of an edited network, dumped and run."""
    file = io.BytesIO()
    network.dump(file, optimize_for_inference=False)
    file.seek(0)
    graph = cgtools.GraphInference(file)
    return [np.asarray(each) for each in graph.run(inp_dict=inputs).values()]


def find_relu(network):
    """The one elementwise operator of this mode."""
    found = network.opr_filter.type(Elemwise)
    (relu,) = [opr for opr in found if opr.params["mode"] == "RELU"]
    return relu


def check_looking(file, model):
    """What a graph consists of, by types and by names."""
    network = loaded(file)
    (data,) = network.input_vars
    (logits,) = network.output_vars
    assert data.name == "data" and logits.name == "logits"
    assert logits.dtype == np.float32 and tuple(logits.shape) == (4, 3)
    assert [opr.name for opr in network.data_providers_filter] == ["data"]
    inputs = network.opr_filter.type(Host2DeviceCopy)
    assert [opr.outputs[0].name for opr in inputs] == ["data"]
    relu = find_relu(network)
    assert network.get_var_receive_oprs(relu.inputs[0]) == [relu]
    assert any(var is data for var in network.all_vars)
    first = network.all_oprs[0]
    assert isinstance(first, Host2DeviceCopy) and first.outputs[0] is data
    shapes = {tuple(opr.outputs[0].shape) for opr in network.params_filter}
    assert tuple(model.first.weight.shape) in shapes
    assert network.var_filter.name("logits").as_unique() is logits


def check_adding(file, data, expected):
    """Another output, computed of one that is there."""
    network = loaded(file)
    (logits,) = network.output_vars
    probability = F.softmax(logits, axis=1)
    probability.name = "probability"
    network.add_output(probability)
    got = run(network, data=data)
    np.testing.assert_array_equal(got[0], expected)
    wanted = F.softmax(mge.tensor(expected), axis=1).numpy()
    np.testing.assert_allclose(got[1], wanted, rtol=1e-5)
    network.remove_output(logits)
    (alone,) = run(network, data=data)
    np.testing.assert_array_equal(alone, got[1])


def check_replacing(file, model, data):
    """Each relu becomes a tanh; then a scaled copy of the input comes first."""
    network = loaded(file)
    relu = find_relu(network)
    network.replace_vars({relu.outputs[0]: F.tanh(relu.inputs[0])})
    (got,) = run(network, data=data)
    hidden = F.tanh(model.first(mge.tensor(data)))
    np.testing.assert_allclose(got, model.second(hidden).numpy(), rtol=1e-5, atol=1e-6)

    network = loaded(file)
    (x,) = network.input_vars
    other = network.make_input_node(shape=(4, 6), dtype=np.float32, name="other")
    network.replace_vars({x: other * 2.0})
    (got,) = run(network, other=data)
    np.testing.assert_allclose(got, model(mge.tensor(2 * data)).numpy(), rtol=1e-5, atol=1e-6)


def check_operators(file, model, data):
    """An operator gives way to another one."""
    network = loaded(file)
    relu = find_relu(network)
    sigmoid = F.sigmoid(relu.inputs[0])
    network.add_dep_oprs(sigmoid)
    network.replace_oprs({relu: sigmoid.owner})
    (got,) = run(network, data=data)
    hidden = F.sigmoid(model.first(mge.tensor(data)))
    np.testing.assert_allclose(got, model.second(hidden).numpy(), rtol=1e-5, atol=1e-6)


def check_batch(file, model):
    """Another size of the batch."""
    network = loaded(file)
    network.reset_batch_size(7)
    data = np.random.RandomState(1).normal(size=(7, 6)).astype("float32")
    (got,) = run(network, data=data)
    np.testing.assert_allclose(got, model(mge.tensor(data)).numpy(), rtol=1e-5, atol=1e-6)


def main():
    mge.random.seed(6)
    model = Net()
    data = np.random.RandomState(0).normal(size=(4, 6)).astype("float32")
    file = dumped(model, data, arg_names=["data"], output_names=["logits"])
    (expected,) = run(loaded(file), data=data)
    np.testing.assert_allclose(expected, model(mge.tensor(data)).numpy(), rtol=1e-6)
    check_looking(file, model)
    check_adding(file, data, expected)
    check_replacing(file, model, data)
    check_operators(file, model, data)
    check_batch(file, model)
    print("outputs added, operators replaced, the batch resized")


if __name__ == "__main__":
    main()
