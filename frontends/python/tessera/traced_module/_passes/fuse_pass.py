"""Passes that make one expression of two."""

import numpy as np

from ... import functional as F  # noqa: N812
from ... import module as M  # noqa: N812
from ..expr import CallFunction, CallMethod
from .layers import FUNCTIONS, MODULES, has_hooks, layer_of
from .matcher import PatternMatcher
from .operands import array_of, as_operand, fits, is_float, is_number
from .pass_base import BackwardPass, register_pass
from .pattern import is_const, is_op, is_var
from .utils import (
    attribute_value,
    get_const_value,
    is_output,
    may_be_changed,
    named_args,
    plain_value,
    replace_expr,
)

_NORMS = (M.BatchNorm1d, M.BatchNorm2d, M.BatchNorm3d, M.SyncBatchNorm)


def _any_of(targets):
    """A pattern for calls of one of these."""
    first, *rest = map(is_op, targets)
    for each in rest:
        first = first | each
    return first


@register_pass("FuseConvBn")
class FuseConvBn(BackwardPass):
    """Makes one layer of a convolution, a transposed one or a linear map and of the batch
    normalisation behind it, in inference.

    With s = gamma / sqrt(var + eps) for each channel the weight becomes weight * s and the bias
    beta + (bias - mean) * s, which a layer without bias gets (Jacob et al. 2018, arXiv:1712.05877,
    section 3.2). They are computed in float64 and rounded once, to the dtype of the weight: of a
    result, the difference is at most 1024 eps of its largest element, or 1/16 of it for float16 and
    bfloat16.

    Both may be modules of the package or functions, with constant weights and statistics. A layer
    whose result something else reads, too, stays. One that is called in several places stays for
    the others: this one gets a copy. What is then read by nobody leaves the module. Modules must be
    in inference; a user's own module must be flattened before.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> net = M.Sequential(M.Conv2d(3, 4, 3, bias=False), M.BatchNorm2d(4), M.ReLU())
    >>> net = tm.trace_module(net.eval(), F.ones((1, 3, 8, 8)))
    >>> print(net.graph)
    Sequential.Graph (self, inp) {
            %2:     _0 = getattr(self, "0") -> (Conv2d)
            %3:     _1 = getattr(self, "1") -> (BatchNorm2d)
            %4:     _2 = getattr(self, "2") -> (ReLU)
            %5:     _0_out = _0(inp, )
            %6:     _1_out = _1(_0_out, )
            %7:     _2_out = _2(_1_out, )
            return _2_out
    }
    >>> print(tm.optimize(net, "FuseConvBn").graph)
    Sequential.Graph (self, inp) {
            %2:     _0 = getattr(self, "0") -> (Conv2d)
            %4:     _2 = getattr(self, "2") -> (ReLU)
            %5:     _0_out = _0(inp, )
            %7:     _2_out = _2(_0_out, )
            return _2_out
    }
    """

    name = "FuseConvBn"
    roundings = 1024
    needs_inference = True

    def __init__(self):
        super().__init__()
        self._layer = _any_of([*MODULES, *FUNCTIONS])
        self._pattern = _any_of(_NORMS)(self._layer) | (
            is_op(F.batch_norm)(self._layer).not_all_args()
        )

    def run_transform(self, expr):
        """See BasePass."""
        matcher = PatternMatcher()
        if not matcher.match(self._pattern, expr):
            return expr
        layer = layer_of(matcher.matched_exprs[self._layer], self.whole)
        norm = _norm_of(expr, self.whole.changed)
        if layer is None or norm is None or not _fit(layer, norm, expr):
            return expr
        mean, variance, gamma, beta, eps = norm
        factors = gamma / np.sqrt(variance + eps)
        layer.scale(factors, beta - mean * factors)
        return replace_expr(expr, layer.expr.result, takes_name=False)


def _norm_of(expr, changed):
    """Mean, variance, gamma and beta as arrays, or numbers where there are none, and eps; None:
    they are not known, or are among the `changed` tensors.
    """
    if isinstance(expr, CallFunction):
        given = named_args(expr)
        nodes = [given[name] for name in ("running_mean", "running_var", "weight", "bias")]
        tensors = [None if node is None else get_const_value(node) for node in nodes]
        is_known = plain_value(given["training"]) is False and all(
            node is None or (tensor is not None and id(attribute_value(node.expr)) not in changed)
            for node, tensor in zip(nodes, tensors, strict=True)
        )
        eps = given["eps"]
    else:
        module = expr.args[0].owner
        tensors = [module.running_mean, module.running_var, module.weight, module.bias]
        is_known = type(module) in _NORMS and not has_hooks(module)
        is_known = is_known and changed.isdisjoint(map(id, module.tensors()))
        eps = module.eps
    if not is_known or tensors[0] is None or tensors[1] is None or not is_number(eps):
        return None
    arrays = [default if tensor is None else array_of(tensor).reshape(-1)
              for tensor, default in zip(tensors, (0.0, 1.0, 1.0, 0.0), strict=True)]  # fmt: skip
    return *arrays, eps


def _fit(layer, norm, expr):
    """Whether the batch norm is over the layer's channels, and gives the layer's dtype."""
    before, after = layer.expr.result, expr.result
    sizes = [np.size(each) for each in norm[:4]]
    return (
        before.shape is not None
        and len(before.shape) == layer.axes + 2
        and before.shape == after.shape
        and before.dtype == after.dtype
        and all(size in (1, layer.channels) for size in sizes)
    )


@register_pass("FuseAddMul")
class FuseAddMul(BackwardPass):
    """Makes one addition of two with constants, one product of two with constants or negations, and
    one power of two with whole exponents. Required: NormElemWise.

    The constants are combined in float64 and rounded once. With (x + a) + b an element differs by
    at most 2 eps (|x| + |a| + |b|), with (x * a) * b by 2 eps of itself; a power by 8 eps of itself
    for exponents up to 3. Only floats are changed, where no constant changes shape or dtype. A sum
    with 0 and a product with 1 become the operand itself, unless an output would be an input then.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> class Net(M.Module):
    ...     def forward(self, x):
    ...         x = x + 1
    ...         x = 2 + x
    ...         x = x * 4
    ...         return x * 0.25
    >>> net = tm.trace_module(Net(), F.zeros(2))
    >>> print(net.graph)
    Net.Graph (self, x) {
            %2:     add_out = x.__add__(1, )
            %3:     radd_out = add_out.__radd__(2, )
            %4:     mul_out = radd_out.__mul__(4, )
            %5:     mul_out_1 = mul_out.__mul__(0.25, )
            return mul_out_1
    }
    >>> print(tm.optimize(net, "FuseAddMul").graph)
    Net.Graph (self, x) {
            %7:     radd_out = x.__add__(3, )
            return radd_out
    }
    """

    name = "FuseAddMul"
    required_pass = ("NormElemWise",)
    run_once = False
    roundings = 1024

    def __init__(self):
        super().__init__()
        self._variable = is_var().check_users(False)
        self._patterns = []
        for inner, outer, kind in [("add", "add", "add"), ("pow", "pow", "pow"),
                                   ("mul", "mul", "mul"), ("neg", "mul", "mul"),
                                   ("mul", "neg", "mul"), ("neg", "neg", "mul")]:  # fmt: skip
            first = _with_constant(inner, self._variable)
            self._patterns.append((_with_constant(outer, first), first, kind))

    def run_transform(self, expr):
        """See BasePass."""
        for pattern, inner, kind in self._patterns:
            matcher = PatternMatcher()
            if matcher.match(pattern, expr):
                found = matcher.matched_exprs
                node = found[inner].args[0]
                return self._folded(expr, found[inner], node, kind)
        return expr

    def _folded(self, expr, inner, node, kind):
        if not (is_float(expr) and is_float(inner)) or not (
            (node.shape, node.dtype) == (expr.result.shape, expr.result.dtype)
            and inner.result.shape == node.shape
            and not may_be_changed(node)
        ):
            return expr
        values = array_of(_constant_of(expr)), array_of(_constant_of(inner))
        if kind == "pow" and not all(is_number(each) and each == int(each) for each in values):
            return expr
        with np.errstate(over="ignore"):
            value = values[0] + values[1] if kind == "add" else values[0] * values[1]
        if not fits(value, node.dtype) or not all(fits(each, node.dtype) for each in values):
            return expr
        if is_number(value) and value == (0 if kind == "add" else 1):
            may_go = _can_stand_for(node, expr.result)
            return replace_expr(expr, node, takes_name=False) if may_go else expr
        operand = as_operand(value, expr.result, expr)
        with expr.top_graph.insert_exprs(expr):
            new = {"add": lambda: node + operand, "mul": lambda: node * operand,
                   "pow": lambda: F.pow(node, operand)}[kind]()  # fmt: skip
        return replace_expr(expr, new)


def _can_stand_for(node, result):
    """Whether those that get `result`, a tensor of its own, may get the tensor of `node` instead:
    none changes it, and no caller is given a tensor that others have, too.
    """
    is_own = isinstance(node.expr, (CallFunction, CallMethod)) and not is_output(node)
    return not may_be_changed(result) and (is_own or not is_output(result))


def _with_constant(kind, operand):
    """A pattern for the form that NormElemWise gives such a call."""
    if kind == "neg":
        return is_op(F.neg)(operand) | is_op("__neg__")(operand)
    if kind == "pow":
        return is_op(F.pow)(operand) | is_op("__pow__")(operand)
    op = is_op(f"__{kind}__")
    return op(operand, is_const()) | op(operand, "*")


def _constant_of(expr):
    """The constant operand of such a call."""
    return expr.args[1] if len(expr.args) > 1 else -1
