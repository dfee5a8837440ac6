"""Names of values, operators and parameters in a file."""

import io

import pytest
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.utils.naming import AutoNaming
from tessera.utils.network import Network

from tests.frontends.python.jit.dumping import Model, model, tensor, traced
from tests.support.helper import same_bits


def network_of(call, **options):
    """That of the call's file, with its names of inputs and outputs."""
    file = io.BytesIO()
    call.dump(file, arg_names=["x"], output_names=["y"], targets=(), **options)
    file.seek(0)
    return Network.load(file)


def names(call, **options):
    return {opr.name for opr in network_of(call, **options).all_oprs}


def test_names_of_values():
    call = model()
    assert "y" in names(call) and "hidden" not in names(call)
    assert {"y", "hidden"} <= names(call, keep_var_name=2)
    none = network_of(call, keep_var_name=0)
    assert none.output_names == ["output0"] and none.input_vars[0].name == "x"
    with pytest.raises(ValueError, match="dump: keep_var_name must be 0, 1 or 2, got 3"):
        names(call, keep_var_name=3)


def test_names_of_parameters():
    call = model()
    assert {"first.weight", "second.bias"} <= names(call)
    assert not {"first.weight", "second.bias"} & names(call, keep_param_name=False)


def test_names_of_operators():
    call = model()
    network = network_of(call, keep_opr_name=True)
    found = [opr.name for opr in network.all_oprs if opr.opdef is not None]
    assert found == [
        "Model.first.linear", "hidden", "Model.second.linear", "Model.relu", "Model.sub", "y"
    ]  # fmt: skip
    again = io.BytesIO()
    network.dump(again, targets=(), keep_opr_name=True)
    again.seek(0)
    assert [opr.name for opr in Network.load(again).all_oprs if opr.opdef is not None] == found
    assert not {"Model.first.linear", "Model.sub"} & names(call)


def test_a_name_that_several_have_is_numbered():
    call = traced(lambda x: F.relu(F.relu(F.exp(x))) + 1, tensor(3))
    assert {"relu[0]", "relu[1]", "exp", "y"} <= names(call, keep_opr_name=True)


def test_a_module_with_a_name():
    class Named(M.Module):
        def __init__(self):
            super().__init__(name="simple")
            self.linear = M.Linear(6, 6, name="user-linear")

        def forward(self, x):
            return self.linear(x) + x

    call = traced(Named().eval().__call__, tensor(2, 6))
    assert "simple.user-linear.linear" in names(call, keep_opr_name=True)


def test_scopes_of_functions():
    def scoped(x):
        AutoNaming.push_scope("head")
        AutoNaming.push_scope(None)
        assert AutoNaming.get_scope() == "head"
        x = F.exp(x)
        AutoNaming.pop_scope()
        AutoNaming.pop_scope()
        return x + 1

    assert "head.exp" in names(traced(scoped, tensor(3)), keep_opr_name=True)
    AutoNaming.clear()
    assert AutoNaming.get_scope() == ""


def test_an_edited_network_names_operators_that_have_none():
    network = network_of(model())
    y = network.output_vars[0]
    network.replace_vars({y: F.exp(F.exp(y))})
    again = io.BytesIO()
    network.dump(again, targets=(), keep_opr_name=True)
    again.seek(0)
    found = {opr.name for opr in Network.load(again).all_oprs}
    assert {"exp", "Model.first.linear", "Model.sub"} <= found


def test_a_value_by_its_name_is_a_part(tmp_path):
    net, x = Model().eval(), tensor(2, 6)
    file = io.BytesIO()
    traced(net.__call__, x).dump(file, targets=(), keep_var_name=2)
    file.seek(0)
    part = Network.load(file, outspec=["hidden"])
    part.dump(tmp_path / "part.tess", targets=())
    assert same_bits(jit.load(tmp_path / "part.tess")(x), F.relu(net.first(x)))
