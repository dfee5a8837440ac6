"""comp_graph_tools: what variables depend on, copies with parts replaced, GraphInference."""

import io

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.utils import comp_graph_tools as cgtools
from tessera.utils import network_node as N  # noqa: N812
from tessera.utils.network import Network

from tests.frontends.python.network.graphs import dumped, run
from tests.support.helper import floats, same_bits


@pytest.fixture
def file(tmp_path):
    a, b = (tessera.Tensor(floats(3, seed=n)) for n in range(2))
    return dumped(tmp_path / "f.tess", lambda a, b: ((a + b) * 2, F.exp(a)), a, b,
                  arg_names=("a", "b"), output_names=("p", "q"))  # fmt: skip


@pytest.fixture
def network(file):
    return Network.load(file)


def test_dependencies(network):
    p, q = network.output_vars
    names = {var.name for var in cgtools.get_dep_vars(p)}
    assert {"a", "b", "p"} < names and "q" not in names and cgtools.get_dep_vars(p)[0] is p
    inputs = cgtools.get_dep_vars([p, q], "Host2DeviceCopy")
    assert sorted(var.name for var in inputs) == ["a", "b"]
    assert cgtools.get_dep_vars(p, ["Elemwise", "ImmutableTensor"])[0] is p
    assert [var.name for var in cgtools.get_dep_vars(q, "Exp")] == ["q"]
    assert cgtools.get_owner_opr_type(q) == "Elemwise"
    assert cgtools.get_owner_opr_inputs(q)[0] is network.get_var_by_name("a")
    assert cgtools.get_opr_type(q.owner) == "Elemwise"
    with pytest.raises(TypeError, match="get_opr_type: operator must be an OpNode, got"):
        cgtools.get_opr_type(q)
    with pytest.raises(TypeError, match="get_dep_vars: variables must be VarNode, got 3"):
        cgtools.get_dep_vars([3])


def test_orders(network):
    oprs = cgtools.get_oprs_seq(network.output_vars)
    places = {opr.id: place for place, opr in enumerate(oprs)}
    for opr in oprs:
        for var in opr.inputs:
            assert var.owner.type == "ImmutableTensor" or places[var.owner.id] < places[opr.id]
    whole = cgtools.get_oprs_seq(network.output_vars, prune_immtensor=False)
    assert len(whole) == len(oprs) + 1
    cgtools.set_priority_to_id(network.output_vars)
    assert cgtools.get_oprs_seq(network.output_vars) == oprs


def test_traversal(network):
    oprs, variables, readers, receivers, by_degree, degrees = cgtools.graph_traversal(
        network.output_vars
    )
    a = network.get_var_by_name("a")
    add, exp = (network.get_opr_by_type(cls) for cls in (N.Add, N.Exp))
    assert oprs[add.id] is add and variables[a.id] is a
    assert set(readers[a.id]) == {(add.id, 0), (exp.id, 0)}
    assert set(receivers[a.owner.id]) == {add.id, exp.id}
    assert degrees[add.id] == 2 and exp.id in by_degree[1] and a.owner.id in by_degree[0]


def test_replaced_variables_are_copies(network, tmp_path):
    a, b = (network.get_var_by_name(name) for name in "ab")
    add = network.get_opr_by_type(N.Add).outputs[0]
    p, q = network.output_vars
    new = cgtools.replace_vars([p, q], {add: a * b})
    assert new[0] is not p and new[1] is q and new[0].name == "p"
    x, y = (tessera.Tensor(floats(3, seed=n)) for n in range(2))
    assert same_bits(run(network, tmp_path, a=x, b=y)["p"], (x + y) * 2)
    network.remove_output(p, q)
    network.add_output(*new)
    assert same_bits(run(network, tmp_path, a=x, b=y)["p"], x * y * 2)
    [same] = cgtools.replace_oprs([new[0]], {new[0].owner: F.tanh(a).owner})
    assert same.owner.type == "Elemwise" and same.owner.params["mode"] == "TANH"
    with pytest.raises(ValueError, match="add: operands must broadcast, got .+"):
        cgtools.replace_vars([p], [(a, network.make_input_node((4, 5), "float32"))])
    with pytest.raises(ValueError, match="replace_oprs: operators must have equally many results"):
        cgtools.replace_oprs([p], {p.owner: F.topk(a, 1)[0].owner})


def test_inference(file):
    a, b = (tessera.Tensor(floats(3, seed=n)) for n in range(2))
    whole = cgtools.GraphInference(file)
    found = whole.run(a, b)
    assert list(found) == ["p", "q"] and isinstance(found["p"], np.ndarray)
    assert same_bits([found["p"], found["q"]], [(a + b) * 2, F.exp(a)])
    again = whole.run(a.numpy(), inp_dict={"b": b.numpy()})
    assert same_bits(again["p"], found["p"])
    with open(file, "rb") as stream:
        part = cgtools.GraphInference(io.BytesIO(stream.read()), outputs=["q"])
    assert same_bits(
        part.run(inp_dict={"a": a, "b": b} if len(part._program.inputs) > 1 else {"a": a})["q"],
        F.exp(a),
    )
    with pytest.raises(TypeError, match=r"f.tess: inputs must be \['a', 'b'\], got"):
        whole.run(a)
    with pytest.raises(ValueError, match="there must be one node with name 'r', got 0"):
        cgtools.GraphInference(file, outputs=["r"])
