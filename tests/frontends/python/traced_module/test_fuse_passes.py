"""FuseConvBn: layers take in the batch norm behind them."""

import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm

from tests.frontends.python.traced_module.optimizing import (
    Chain,
    busy,
    error,
    floats,
    is_fused,
    optimized,
)
from tests.support.helper import bits

NORMS = {1: M.BatchNorm1d, 2: M.BatchNorm2d, 3: M.BatchNorm3d, 0: M.BatchNorm1d}

LAYERS = {
    "conv1d": (M.Conv1d(4, 6, 3), (2, 4, 9)),
    "conv1d of groups": (M.Conv1d(4, 6, 3, groups=2), (2, 4, 9)),
    "conv2d": (M.Conv2d(4, 6, 3, padding=1, stride=2), (2, 4, 9, 9)),
    "conv2d without bias": (M.Conv2d(4, 6, 3, bias=False), (2, 4, 9, 9)),
    "conv2d of groups": (M.Conv2d(4, 6, 3, groups=2), (2, 4, 9, 9)),
    "conv2d of each channel": (M.Conv2d(4, 4, 3, groups=4), (2, 4, 9, 9)),
    "conv2d with borders": (M.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"), (2, 4, 9, 9)),
    "conv3d": (M.Conv3d(2, 3, 2), (2, 2, 4, 4, 4)),
    "conv3d of groups": (M.Conv3d(4, 6, 2, groups=2), (2, 4, 4, 4, 4)),
    "transposed 1d": (M.ConvTranspose1d(4, 6, 3, stride=2), (2, 4, 5)),
    "transposed 2d": (M.ConvTranspose2d(4, 6, 3, stride=2), (2, 4, 5, 5)),
    "transposed 2d of groups": (M.ConvTranspose2d(4, 6, 3, groups=2, bias=False), (2, 4, 5, 5)),
    "transposed 3d": (M.ConvTranspose3d(2, 3, 2), (2, 2, 4, 4, 4)),
    "linear": (M.Linear(4, 6), (5, 4)),
    "linear without bias": (M.Linear(4, 6, bias=False), (5, 4)),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("affine", [True, False])
def test_layers_are_fused_with_the_norm_behind(name, affine):
    layer, shape = LAYERS[name]
    out = layer(floats(*shape))
    norm = NORMS[out.ndim - 2](out.shape[1], affine=affine)
    net = busy(M.Sequential(layer, norm))
    new = optimized(net, floats(*shape))
    assert is_fused(new) and new.graph.exprs().as_count() == 2
    assert list(dict(new.named_modules())) == ["", "0"]
    assert vars(new)["0"].bias is not None and type(vars(new)["0"]) is type(layer)
    assert len(list(new.parameters())) == 2


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtypes_are_kept(dtype):
    net = busy(M.Sequential(M.Conv2d(4, 6, 3, bias=False), M.BatchNorm2d(6)))
    for module in net.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, ts.Parameter):
                setattr(module, name, ts.Parameter(value.astype(dtype)))
            elif isinstance(value, ts.Tensor):
                setattr(module, name, value.astype(dtype))
    new = optimized(net, floats(2, 4, 9, 9, dtype=dtype), most=8)
    assert is_fused(new) and {str(each.dtype) for each in new.tensors()} == {dtype}


FUNCTIONS = {
    "conv2d": (F.conv2d, (6, 4, 3, 3), (2, 4, 9, 9), {"stride": 2, "padding": 1}),
    "conv2d of groups": (F.conv2d, (6, 2, 3, 3), (2, 4, 9, 9), {"groups": 2}),
    "conv2d of five axes": (F.conv2d, (2, 3, 2, 3, 3), (2, 4, 9, 9), {"groups": 2}),
    "conv1d": (F.conv1d, (6, 4, 3), (2, 4, 9), {}),
    "transposed": (F.conv_transpose2d, (4, 3, 3, 3), (2, 4, 5, 5), {"groups": 2}),
    "linear": (F.linear, (6, 4), (5, 4), {}),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("has_bias", [True, False])
def test_functions_are_fused(name, has_bias):
    function, weight, shape, settings = FUNCTIONS[name]
    out = function(floats(*shape), floats(*weight), **settings)
    each = (1, out.shape[1], *(1,) * (out.ndim - 2))

    class Net(M.Module):
        """A layer and a norm as functions."""

        def __init__(self):
            super().__init__()
            self.weight = ts.Parameter(floats(*weight))
            self.bias = ts.Parameter(floats(*(each if out.ndim > 2 else each[1:])))
            self.bias = self.bias if has_bias else None
            self.gamma, self.beta = ts.Parameter(floats(*each)), ts.Parameter(floats(*each))
            self.mean, self.running_var = floats(*each), floats(*each)

        def forward(self, x):
            y = function(x, self.weight, self.bias, **settings)
            return F.batch_norm(y, self.mean, self.running_var, self.gamma, bias=self.beta,
                                training=self.training, eps=0.01)  # fmt: skip

    new = optimized(busy(Net()), floats(*shape))
    assert is_fused(new)
    assert new.graph.get_function_by_type(function).as_unique().kwargs == settings
    assert not list(new.parameters())  # constants of the graph


def test_classes_of_a_user_are_fused_after_flatten():
    class Conv(M.Conv2d):
        """A class of a user."""

    class Norm(M.BatchNorm2d):
        """A class of a user."""

    with pytest.warns(RuntimeWarning, match="training=False of a module is a constant"):
        net = tm.trace_module(busy(M.Sequential(Conv(3, 4, 3), Norm(4))), floats(1, 3, 5, 5))
    net = net.flatten()
    new = tm.optimize(net)
    assert is_fused(new) and not is_fused(net)
    assert error(new(floats(1, 3, 5, 5)), net(floats(1, 3, 5, 5))) <= 64


def test_modules_that_are_called_twice_get_copies():
    def _twice(self, x):
        return self.a(self.conv(x)) + self.b(self.conv(x)) + self.conv(x)

    net = busy(Chain(_twice, conv=M.Conv2d(3, 4, 3), a=M.BatchNorm2d(4), b=M.BatchNorm2d(4)))
    new = optimized(net, floats(1, 3, 5, 5))
    names = set(dict(new.named_modules()))
    assert is_fused(new) and names == {"", "conv", "conv_1", "conv_2"}
    assert bits([new.conv.weight]) == bits([net.conv.weight])


def test_a_weight_that_is_read_beside_stays():
    net = busy(Chain(lambda self, x: (self.bn(self.conv(x)), self.conv.weight * 2),
                     conv=M.Conv2d(3, 4, 3), bn=M.BatchNorm2d(4)))  # fmt: skip
    traced = tm.trace_module(net, floats(1, 3, 5, 5))
    new = tm.optimize(traced)
    assert is_fused(new)
    assert bits([new(floats(1, 3, 5, 5))[1]]) == bits([traced(floats(1, 3, 5, 5))[1]])


def test_one_graph_that_is_called_twice_is_fused_once():
    block = Chain(lambda self, x: self.bn(self.conv(x)), conv=M.Conv2d(3, 3, 3, padding=1),
                  bn=M.BatchNorm2d(3))  # fmt: skip
    new = optimized(busy(Chain(lambda self, x: self.block(self.block(x)), block=block)),
                    floats(1, 3, 5, 5))  # fmt: skip
    assert is_fused(new) and set(dict(new.named_modules())) == {"", "block", "block.conv"}


def _hooked():
    conv = M.Conv2d(3, 4, 3)
    conv.register_forward_hook(lambda module, inputs, outputs: outputs * 2)
    return conv


LEFT = {
    "another reader": lambda self, x: self.bn(y := self.conv(x)) + F.relu(y),
    "an output": lambda self, x: [self.bn(y := self.conv(x)), y][0] + y,
    "a call between": lambda self, x: self.bn(F.relu(self.conv(x))),
    "another axis": lambda self, x: self.bn(self.linear(x)),
    "a weight that is computed": lambda self, x: self.bn(F.conv2d(x, self.conv.weight * 2)),
    "statistics that are computed": lambda self, x: F.batch_norm(
        self.conv(x), self.bn.running_mean * 2, self.bn.running_var
    ),
    "the batch's statistics": lambda self, x: F.batch_norm(self.conv(x), training=True),
    "hooks": lambda self, x: self.bn(self.hooked(x)),
}


@pytest.mark.parametrize("name", LEFT)
def test_other_places_are_left(name):
    net = busy(Chain(LEFT[name], conv=M.Conv2d(3, 4, 3), bn=M.BatchNorm2d(4), hooked=_hooked(),
                     linear=M.Linear(5, 5)))  # fmt: skip
    x = floats(2, 4, 5, 5) if name == "another axis" else floats(1, 3, 5, 5)
    traced = tm.trace_module(net, x)
    new = tm.optimize(traced)
    assert new.graph.diff(traced.graph) == []
    assert bits([new(x)]) == bits([traced(x)])


def test_a_weight_that_forward_sets_is_left():
    def _sets(self, x):
        y = self.bn(F.conv2d(x, self.weight))
        self.weight = self.weight * 2
        return y

    net = busy(Chain(_sets, bn=M.BatchNorm2d(4), weight=ts.Parameter(floats(4, 3, 3, 3))))
    traced = tm.trace_module(net, floats(1, 3, 5, 5))
    assert not is_fused(tm.optimize(traced))
    assert not is_fused(tm.optimize(traced, ["FuseConvBn", "AttrToConstant"]))


def test_modules_in_training_are_refused():
    net = tm.trace_module(M.Sequential(M.Conv2d(3, 4, 3), M.BatchNorm2d(4)), floats(1, 3, 5, 5))
    with pytest.raises(ValueError, match="FuseConvBn: modules must be in inference, as after ev"):
        tm.optimize(net)
    net.eval()
    vars(net)["1"].train()
    with pytest.raises(ValueError, match="got training of '1'"):
        tm.optimize(net)
    assert tm.optimize(net, "FuseAddMul").graph.exprs().as_count() == 4
