"""BackwardFoldScale: factors go back into the weights that they are factors of."""

from ... import functional as F  # noqa: N812
from ... import module as M  # noqa: N812
from ..expr import CallFunction, CallMethod, Constant
from ..node import ModuleNode, TensorNode
from ..pytree import leaves_of
from .layers import layer_of
from .matcher import PatternMatcher
from .operands import (
    array_of,
    as_operand,
    fits,
    is_constant,
    is_float,
    is_number,
    is_variable,
    tensor_of,
)
from .pass_base import BackwardPass, register_pass
from .pattern import is_const, is_op, is_var
from .utils import is_output, replace_expr

# Maps f with f(s x) = s f(x) of their first argument: for every s, and for s > 0 alone.
_LINEAR = {F.reshape, F.transpose, F.avg_pool2d, F.adaptive_avg_pool2d, F.expand_dims, F.squeeze,
           F.flatten, F.concat, F.stack, F.mean, F.sum, F.neg, "reshape", "transpose", "mean",
           "sum", "flatten", "__getitem__", "__neg__", M.AvgPool2d, M.AdaptiveAvgPool2d,
           M.Identity}  # fmt: skip
_POSITIVE = {F.relu, F.leaky_relu, F.abs, F.min, F.max, F.max_pool2d, F.adaptive_max_pool2d, "min",
             "max", M.ReLU, M.LeakyReLU, M.MaxPool2d, M.AdaptiveMaxPool2d}  # fmt: skip
_NARROW, _WIDE = 2.0**10, 2.0**40  # the largest factors for float16 and for others


@register_pass("BackwardFoldScale")
class BackwardFoldScale(BackwardPass):
    """Puts factors into the weights and biases of layers before them: numbers, constants of one
    element, negations. Required: AttrToConstant, NormElemWise; `optimize` adds FuseConvBn.

    A factor goes back through sums, products with constants, and what it commutes with: relu (where
    it is positive), pooling, views, concatenation, means. It stays where something on the way is
    read by others, too, or begins with an input. New weights are computed in float64 and rounded
    once: of a result, the difference is at most 1024 eps of its largest element, or 1/16 of it for
    float16 and bfloat16.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> class Net(M.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.conv = M.Conv2d(1, 1, 1)
    ...     def forward(self, x):
    ...         x = F.relu(self.conv(x))
    ...         return ((x + 3) + (x + 4)) * 3
    >>> net = tm.trace_module(Net().eval(), F.zeros((1, 1, 2, 2)))
    >>> print(net.graph)
    Net.Graph (self, x) {
            %2:     conv = getattr(self, "conv") -> (Conv2d)
            %3:     conv_out = conv(x, )
            %4:     relu_out = nn.relu(conv_out, )
            %5:     add_out = relu_out.__add__(3, )
            %6:     add_out_1 = relu_out.__add__(4, )
            %7:     add_out_2 = add_out.__add__(add_out_1, )
            %8:     mul_out = add_out_2.__mul__(3, )
            return mul_out
    }
    >>> print(tm.optimize(net, ["FuseConvBn", "BackwardFoldScale"]).graph)
    Net.Graph (self, x) {
            %2:     conv = getattr(self, "conv") -> (Conv2d)
            %3:     conv_out = conv(x, )
            %4:     relu_out = nn.relu(conv_out, )
            %5:     add_out = relu_out.__add__(9, )
            %6:     add_out_1 = relu_out.__add__(12, )
            %7:     add_out_2 = add_out.__add__(add_out_1, )
            return add_out_2
    }
    """

    name = "BackwardFoldScale"
    required_pass = ("AttrToConstant", "NormElemWise")
    roundings = 1024

    def __init__(self):
        super().__init__()
        variable = is_var().check_users(False)
        product = is_op("__mul__")
        self._pattern = product(variable, is_const()) | product(variable, "*") | (
            is_op(F.neg)(variable) | is_op("__neg__")(variable)
        )  # fmt: skip

    def run_transform(self, expr):
        """See BasePass."""
        if not PatternMatcher().match(self._pattern, expr) or not is_float(expr):
            return expr
        node, factor = expr.args[0], _factor_of(expr)
        if factor is None or node.shape != expr.result.shape:
            return expr
        changes = _Plan(expr, factor, self.whole).changes(node)
        if changes is None:
            return expr
        for change in changes:
            change()
        return replace_expr(expr, node, takes_name=False)


def _factor_of(expr):
    """The number that the call multiplies with; None: it is none that can move."""
    if len(expr.args) == 1:
        return -1
    factor = expr.args[1]
    if isinstance(factor, TensorNode):
        values = array_of(factor)
        factor = values.item() if values.size == 1 else 0
    name, size = str(expr.result.dtype), abs(factor)
    most = _NARROW if name == "float16" else _WIDE
    return factor if 1 / most <= size <= most else None


class _Plan:
    """Changes of the expressions before a product with `factor`, which goes into them."""

    def __init__(self, product, factor, whole):
        self._factor, self._whole, self._graph = factor, whole, product.top_graph
        self._scaled = {id(product)}  # expressions that may read what is scaled
        self._dtype = product.result.dtype

    def changes(self, node):
        """Functions that make the changes; None: the factor must stay.

        Expressions are looked at from the last to the first, so that all readers of one are known.
        """
        places = {id(expr): i for i, expr in enumerate(self._graph.own_exprs)}
        wanted, changes = {id(node.expr): node.expr}, []
        while wanted:
            expr = wanted.pop(max(wanted, key=lambda key: places.get(key, -1)))
            if id(expr) not in places or not self._is_read_by_scaled(expr):
                return None
            step = self._step(expr)
            if step is None:
                return None
            nodes, change = step
            self._scaled.add(id(expr))
            changes += [change] if change else []
            wanted.update((id(each.expr), each.expr) for each in nodes)
        return changes

    def _is_read_by_scaled(self, expr):
        node = expr.result
        return (
            isinstance(node, TensorNode)
            and node.dtype == self._dtype
            and not is_output(node)
            and all(id(user) in self._scaled for user in node.users)
        )

    def _step(self, expr):
        """(the nodes to scale instead of the expression's result, a change of it or None); None:
        its result cannot be scaled.
        """
        if isinstance(expr, Constant):
            return self._constant(expr)
        if not isinstance(expr, (CallFunction, CallMethod)):
            return None
        layer = layer_of(expr, self._whole)
        if layer is not None:
            return (), lambda: layer.scale(self._factor)
        target = _target_of(expr)
        if target in ("__add__", "__mul__"):
            return self._elementwise(expr, target) if is_float(expr) else None
        if target in _LINEAR or (self._factor > 0 and target in _POSITIVE):
            return self._through(expr)
        return None

    def _constant(self, expr):
        """The constant, scaled: all that read it are."""
        value = array_of(expr.result) * self._factor
        if not fits(value, self._dtype):
            return None

        def _scale():
            expr.value = tensor_of(value, expr.result)
            expr.top_graph.changed()

        return (), _scale

    def _elementwise(self, expr, target):
        left, right = expr.args
        if is_variable(right):
            return ((left, right), None) if target == "__add__" else None
        if is_constant(right):
            is_shared = any(
                id(user) not in self._scaled for user in right.users if user is not expr
            )
            if not is_shared and not is_output(right) and target == "__mul__":
                return (right,), None
        change = self._new_constant(expr, right)
        if change is None:
            return None
        return ((left,) if target == "__add__" else ()), change

    def _new_constant(self, expr, operand):
        if not is_number(operand) and not is_constant(operand):
            return None
        value = array_of(operand) * self._factor
        if not fits(value, self._dtype):
            return None

        def _scale():
            new = value if is_number(operand) else as_operand(value, operand, expr)
            expr.set_arguments((expr.args[0], new), {})
            expr.top_graph.compile()
            expr.top_graph.changed()

        return _scale

    def _through(self, expr):
        position = 1 if isinstance(expr.args[0], ModuleNode) else 0
        if len(expr.args) <= position or expr.kwargs.get("inplace"):
            return None
        nodes = leaves_of(expr.args[position])
        return (nodes, None) if nodes and all(isinstance(n, TensorNode) for n in nodes) else None


def _target_of(expr):
    """The function, the class of the module, or the name of the method that is called."""
    if isinstance(expr, CallFunction):
        return expr.func
    if expr.method != "__call__":
        return expr.method
    node = expr.args[0]
    return type(node.owner) if isinstance(node, ModuleNode) else None
