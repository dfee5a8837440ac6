"""NodeFilter: nodes by class, name and input, as lists, dicts, counts."""

import pytest
import tessera.functional as F  # noqa: N812
from tessera.utils import network_node as N  # noqa: N812
from tessera.utils.network import NodeFilter

from tests.frontends.python.network.graphs import Model, image, network_of


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return network_of(tmp_path_factory.mktemp("filter"), Model().eval().__call__, image())


def test_by_class(network):
    oprs = network.opr_filter
    assert oprs.type(N.ConvolutionForward).as_count() == 1
    assert oprs.type(N.Elemwise).as_count() == 2  # the bias of the convolution, and relu
    rest = oprs.not_type(N.Elemwise)
    assert rest.as_count() == len(network.all_oprs) - 2
    assert rest.check_type(N.OpNode).as_count() == rest.as_count()
    with pytest.raises(TypeError, match="check_type: nodes must be Elemwise, got "):
        oprs.check_type(N.Elemwise).as_list()
    with pytest.raises(TypeError, match="type: value must be a class of nodes, got <class 'int'>"):
        oprs.type(int).as_list()
    assert network.data_providers_filter.as_unique().name == "x"
    assert network.params_filter.as_count() == 8
    assert network.var_filter.type(N.VarNode).as_count() == len(network.all_vars)


def test_by_name(network):
    assert network.var_filter.name("*.bias").as_count() == 3
    assert network.opr_filter.name("FC.*").as_count() == 2
    assert network.opr_filter.name("FC.*", ignorecase=False).as_count() == 0
    assert network.get_var_by_name("fc.?eight").name == "fc.weight"
    assert len(network.get_opr_by_name("fc.*", unique=False)) == 2
    assert network.get_opr_by_type(N.Softmax, unique=False) == [network.get_opr_by_type(N.Softmax)]
    with pytest.raises(ValueError, match=r"there must be one node with name 'fc.\*', got 2"):
        network.get_opr_by_name("fc.*")
    with pytest.raises(ValueError, match="there must be one node with type Exp, got 0"):
        network.get_opr_by_type(N.Exp)


def test_by_input_and_as_what(network):
    x = network.input_vars[0]
    conv = network.opr_filter.has_input(x).as_unique()
    assert isinstance(conv, N.Conv2d)
    assert list(network.params_filter.name("fc.*").as_dict()) == ["fc.weight", "fc.bias"]
    with pytest.raises(ValueError, match="as_unique: there must be one node, got 8"):
        network.params_filter.as_unique()
    assert "NodeFilter([" in repr(network.params_filter)


def test_of_what_something_depends_on(network):
    relu = network.get_opr_by_type(N.Relu)
    before = NodeFilter(relu)
    assert relu not in before.as_list() and before.type(N.Conv2d).as_count() == 1
    assert NodeFilter(relu.outputs[0]).as_list() == before.as_list()
    assert NodeFilter.make_all_deps(relu.outputs[0]).as_list() == [*before, relu]
    with pytest.raises(TypeError, match="NodeFilter: nodes must be VarNode or OpNode, got 3"):
        NodeFilter([3]).as_list()


def test_classes(network):
    assert N.Relu.__mro__[1] is N.Elemwise and N.Conv2d.__mro__[1] is N.ConvolutionForward
    assert N.Softmax.type == "Softmax" and N.BatchNormForward.type == "BatchNorm"
    with pytest.raises(AttributeError, match="network_node: name must be that of an operator"):
        N.Nothing  # noqa: B018
    exp = F.exp(network.input_vars[0]).owner
    assert isinstance(exp, N.Exp) and exp.priority == (0, exp.id)
