"""Layers of a graph: convolutions, linear maps and embeddings whose weight is known."""

import copy
import math
import re
from dataclasses import dataclass, field

import numpy as np

from ... import functional as F  # noqa: N812
from ... import module as M  # noqa: N812
from ...functional._integer_sums import MOST_BIAS, deepest
from ...module import qat
from ...tensor import Parameter, Tensor
from ...traced_module._passes.layers import FUNCTIONS, has_hooks
from ...traced_module._passes.utils import attribute_value, get_const_value, named_args
from ...traced_module.expr import CallFunction, CallMethod, Constant, GetAttr
from ...traced_module.node import ModuleNode, ScalarNode, TensorNode
from ...traced_module.pytree import leaves_of
from ...utils.module_utils import set_expand_structure

# Modules by the function that they are, and the activation behind it.
_MODULES = {
    M.Conv1d: (F.conv1d, "identity"),
    M.Conv2d: (F.conv2d, "identity"),
    M.Conv3d: (F.conv3d, "identity"),
    M.ConvRelu2d: (F.conv2d, "relu"),
    M.ConvTranspose1d: (F.conv_transpose1d, "identity"),
    M.ConvTranspose2d: (F.conv_transpose2d, "identity"),
    M.ConvTranspose3d: (F.conv_transpose3d, "identity"),
    M.ConvTransposeRelu2d: (F.conv_transpose2d, "relu"),
    M.Linear: (F.linear, "identity"),
    M.LinearRelu: (F.linear, "relu"),
}
# Modules with a batch norm, which is folded before: the names of layers, and what they become.
_FOLDED = {
    M.ConvBn2d: ("conv", M.Conv2d),
    M.ConvBnRelu2d: ("conv", M.ConvRelu2d),
    M.ConvTransposeBn2d: ("conv_transpose2d", M.ConvTranspose2d),
    M.ConvTransposeBnRelu2d: ("conv_transpose2d", M.ConvTransposeRelu2d),
    M.LinearBn1d: ("linear", M.Linear),
    M.LinearBnRelu1d: ("linear", M.LinearRelu),
}
_SETTINGS = ("stride", "padding", "output_padding", "dilation", "groups")


@dataclass(eq=False)
class Layer:
    """One call of a linear map: its operands, and the numbers of its weight and bias.

    `weight` is float64 of shape [O, ...], or [I, O / groups, ...] where the layer is transposed;
    `bias` float64[O] or None. `module` is None where a function is called. `sources` are the
    tensors that weight and bias are made of.
    """

    name: str
    function: object
    expr: object
    data: object  # the node of its input
    weight: np.ndarray
    bias: np.ndarray | None
    device: object
    sources: tuple
    module: object = None
    activation: str = "identity"
    settings: dict = field(default_factory=dict)

    @property
    def operator(self):
        """The name of the function, such as "conv2d"."""
        return self.function.__name__

    @property
    def axes(self):
        """How many a kernel has."""
        return FUNCTIONS.get(self.function, (0, False))[0]

    @property
    def is_transposed(self):
        """Whether input channels come first in the weight."""
        return FUNCTIONS.get(self.function, (0, False))[1]

    @property
    def groups(self):
        """The number of groups."""
        return self.settings.get("groups", 1)

    @property
    def channel_axis(self):
        """The axis of the weight that scales of channels are along."""
        return 1 if self.is_transposed else 0

    @property
    def channels(self):
        """How many the result has."""
        size = self.weight.shape[self.channel_axis]
        return size * self.groups if self.is_transposed else size

    @property
    def depth(self):
        """How many products a sum has at most."""
        window = math.prod(self.weight.shape[2:])
        if self.is_transposed:
            return self.weight.shape[0] // self.groups * window
        return self.weight.shape[1] * window

    @property
    def pads_otherwise(self):
        """Whether its padding is not of zeros."""
        return getattr(self.module, "padding_mode", "zeros") != "zeros"

    @property
    def bias_shape(self):
        """The shape of the bias as the function takes it."""
        return (self.channels,) if self.axes == 0 else (1, self.channels, *(1,) * self.axes)

    def sums(self, x, weight):
        """Gives the result for x without the bias, with `weight`, an array like its own."""
        weight, settings = Tensor(np.float32(weight), device=x.device), dict(self.settings)
        if self.axes == 0:
            return F.linear(x, weight)
        if self.pads_otherwise:
            x, settings["padding"] = self.module._padded(x)
        if self.groups > 1:
            weight = weight.reshape(self.groups, -1, *weight.shape[1:])
        return self.function(x, weight, None, **settings)

    def over_channels(self, sums):
        """The mean of sums for each channel, float64[O]."""
        axis = sums.ndim - 1 if self.axes == 0 else 1
        others = tuple(each for each in range(sums.ndim) if each != axis)
        return sums.numpy().astype(np.float64).mean(others)

    def limits(self, input_scale):
        """The least scale of each channel of the weight, as an array of O or O / groups numbers:
        with smaller ones a bias would be no integer within 2**30.
        """
        if self.bias is None:
            return np.zeros(self.weight.shape[self.channel_axis])
        least = np.abs(self.bias) / (input_scale * (MOST_BIAS - 1))
        return least.reshape(self.groups, -1).max(0) if self.is_transposed else least


def folded(model):
    """Replaces modules with a batch norm at and below `model` by those without one; gives the
    model. Weights and biases are those of `module.qat`, in inference.
    """
    if type(model) in _FOLDED:
        return _without_norm(model)
    for path, each in list(model.named_modules()):
        if type(each) in _FOLDED and not has_hooks(each) and each.bn.running_mean is not None:
            set_expand_structure(model, path, _without_norm(each))
    return model


def _without_norm(module):
    name, kind = _FOLDED[type(module)]
    layer = getattr(module, name)
    simulated = getattr(qat, type(module).__name__).from_float_module(module)
    weight, bias = simulated._weight_and_bias()
    made = copy.copy(layer)
    made.__class__ = kind
    made.weight, made.bias = Parameter(weight.detach()), Parameter(bias.detach())
    return made


def layer_of(expr):
    """The Layer that an expression calls; None: it calls none, or its weight is not known."""
    if isinstance(expr, CallFunction) and expr.func in FUNCTIONS:
        return _checked(_of_function(expr))
    factors = _factors(expr)
    if factors is not None:
        return _checked(_of_product(expr, *factors))
    module = _called(expr, _MODULES)
    return None if module is None else _checked(_of_module(expr, module))


def table_of(expr):
    """The Layer of an embedding whose table is known; None: an expression calls none."""
    module = _called(expr, (M.Embedding,))
    if module is not None:
        data, source = expr.args[1], module.weight
    elif isinstance(expr, CallFunction) and expr.func is F.embedding:
        given = named_args(expr)
        data, node = given["inp"], given["weight"]
        source = attribute_value(node.expr) if isinstance(node, TensorNode) else None
    else:
        return None
    if not isinstance(data, TensorNode) or not isinstance(source, Tensor):
        return None
    weight = source.detach()
    is_known = weight.dtype == expr.result.dtype == np.float32 and weight.ndim == 2
    numbers = weight.numpy().astype(np.float64)
    if not is_known or not np.isfinite(numbers).all():
        return None
    name, device = _name_of(expr), weight.device
    return Layer(name, F.embedding, expr, data, numbers, None, device, (source,), module)


def _called(expr, kinds):
    """The module of one of these classes that an expression calls; None: it calls none."""
    if not isinstance(expr, CallMethod) or expr.method != "__call__" or expr.kwargs:
        return None
    node = expr.args[0]
    module = node.owner if isinstance(node, ModuleNode) else None
    is_known = type(module) in kinds and not has_hooks(module) and len(expr.args) == 2
    return module if is_known and isinstance(node.expr, (Constant, GetAttr)) else None


def _name_of(expr):
    """The path of the module that is called, or what the result is called by."""
    if getattr(expr, "method", None) != "__call__":
        return re.sub(r"_out(?=_\d+$|$)", "", expr.result.name)
    getter = expr.args[0].expr
    return getter.name if isinstance(getter, GetAttr) else expr.args[0].name


def _of_module(expr, module):
    function, activation = _MODULES[type(module)]
    settings = {name: getattr(module, name) for name in _SETTINGS if hasattr(module, name)}
    if sum(getattr(module, "_behind", ())) and module.padding_mode == "zeros":
        settings["padding"] = "same"
    sources = module.weight, module.bias
    return _made(expr, function, expr.args[1], *sources, sources, module=module,
                 activation=activation, settings=settings)  # fmt: skip


def _of_function(expr):
    given = named_args(expr)
    nodes = given["weight"], given["bias"]
    values = [None if node is None else get_const_value(node) for node in nodes]
    settings = {name: given[name] for name in _SETTINGS if name in given}
    if values[0] is None or any(
        (node is None) != (value is None) for node, value in zip(nodes, values, strict=True)
    ):
        return None
    if any(isinstance(leaf, ScalarNode) for leaf in leaves_of(settings)):
        return None
    sources = [attribute_value(node.expr) for node in nodes if node is not None]
    return _made(expr, expr.func, given["inp"], *values, sources, settings=settings)


def _factors(expr):
    """(data, weight, whether the weight is transposed) of a matrix product; None: it is none."""
    if isinstance(expr, CallFunction) and expr.func is F.matmul:
        given = named_args(expr)
        is_plain = given["transpose_a"] is False and given["dtype"] is None
        return (given["inp1"], given["inp2"], given["transpose_b"]) if is_plain else None
    is_product = isinstance(expr, CallMethod) and expr.method == "__matmul__"
    return (*expr.args, False) if is_product else None


def _of_product(expr, data, weight, is_transposed):
    """The Layer of a matrix product with a constant matrix on the right."""
    value = get_const_value(weight) if isinstance(weight, TensorNode) else None
    if value is None or value.ndim != 2 or not isinstance(data, TensorNode):
        return None
    value = value if is_transposed else F.transpose(value, (1, 0))
    source = attribute_value(weight.expr)
    return _made(expr, F.linear, data, value, None, [source])


def _made(expr, function, data, weight, bias, sources, **others):
    if not weight.dtype == data.dtype == expr.result.dtype == np.float32:
        return None
    axes, device = FUNCTIONS[function][0], weight.device
    weight = weight.numpy().astype(np.float64)
    if weight.ndim == axes + 3:
        weight = weight.reshape(-1, *weight.shape[2:])
    bias = None if bias is None else bias.numpy().astype(np.float64).reshape(-1)
    sources = tuple(each for each in sources if each is not None)
    return Layer(_name_of(expr), function, expr, data, weight, bias, device, sources, **others)


def _checked(layer):
    """The layer itself; None: its sums have no integer form."""
    if layer is None or not isinstance(layer.data, TensorNode) or layer.data.shape is None:
        return None
    has_batch = layer.axes == 0 or len(layer.data.shape) == layer.axes + 2
    is_whole = layer.bias is None or layer.bias.size == layer.channels
    is_padded = not layer.pads_otherwise or layer.operator == "conv2d"
    is_finite = np.isfinite(layer.weight).all()
    return layer if has_batch and is_whole and is_padded and is_finite else None


def is_too_deep(layer, dtype):
    """Whether sums of its products, with a bias, might leave int32."""
    return layer.depth > deepest(dtype == "quint8")
