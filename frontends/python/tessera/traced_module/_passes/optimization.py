"""optimize: runs passes over a copy of a TracedModule, and checks what comes out."""

import copy

import numpy as np

from ...logger import get_logger
from ...module import Module
from ...tensor import Tensor
from ..attributes import attribute_of
from ..checking import TracedModuleChecker, checks_outputs
from ..expr import GetAttr, SetAttr
from ..node import ModuleNode, ScalarNode, TensorNode
from ..pytree import map_leaves
from ..traced_module import TracedModule
from ..unchanged import Unchanged
from .operands import limits_of
from .pass_base import get_default_pass_context, get_registered_pass, passes_before
from .utils import Whole, every_expr

_logger = get_logger(__name__)

# The order in which the package's passes run: constants first, as all others read them; additions
# and products once more behind the factors, which leave some.
_ORDER = ("FixInputShape", "FuseConvBn", "AttrToConstant", "FoldConstant", "NormElemWise",
          "FuseAddMul", "BackwardFoldScale")  # fmt: skip
_LARGEST_ERROR = 1 / 16


def optimize(module, enabled_pass=("FuseConvBn",)):
    """A TracedModule that computes what `module` does with fewer expressions.

    Passes of the package run in an order of their own; those of a user, which `register_pass`
    knows, run behind them in the order that is given. The package has FuseConvBn, FuseAddMul,
    BackwardFoldScale, which brings FuseConvBn along, AttrToConstant, FixInputShape, FoldConstant
    and NormElemWise; each class in `tessera.traced_module._passes` shows what it does. They work
    within one graph: a module of several is flattened first where they should meet.

    Unless `disable_default_checker()` was called, results for inputs of the recorded shapes (random
    floats, zeros for integers) are compared with those before.

    Args:
        module: a TracedModule, which stays as it is
        enabled_pass: a name of a pass, or several

    Returns:
        a new TracedModule; parameters and modules that no graph reads any more are not in it

    Raises:
        TypeError: module must be a TracedModule, enabled_pass names
        ValueError: passes must be known; modules must be in inference for FuseConvBn; the results
            must be those of `module` within the roundings that the passes state
        RuntimeError: passes must come to an end

    Example:
        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> import tessera.traced_module as tm
        >>> net = M.Sequential(M.Conv2d(3, 4, 3), M.BatchNorm2d(4)).eval()
        >>> net = tm.trace_module(net, F.ones((1, 3, 8, 8)))
        >>> print(tm.optimize(net).graph)
        Sequential.Graph (self, inp) {
                %2:     _0 = getattr(self, "0") -> (Conv2d)
                %4:     _0_out = _0(inp, )
                return _0_out
        }
    """
    if not isinstance(module, TracedModule):
        raise TypeError(f"optimize: module must be a TracedModule, got {module!r}")
    names = _in_order(enabled_pass)
    made = [get_registered_pass(name)() for name in names]
    context, new = get_default_pass_context(), copy.deepcopy(module)
    before = _read_attributes(new)
    for each in made:
        each.apply_optimization(new, context)
    _forget(before, _read_attributes(new))
    if checks_outputs():
        _check(new, module, max((each.roundings for each in passes_before(names)), default=0))
    return new


def _in_order(enabled_pass):
    names = [enabled_pass] if isinstance(enabled_pass, str) else list(enabled_pass)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"optimize: enabled_pass must be names of passes, got {enabled_pass!r}")
    if "BackwardFoldScale" in names and "FuseConvBn" not in names:
        _logger.warning("optimize: BackwardFoldScale brings FuseConvBn along")
        names.append("FuseConvBn")
    own = [name for name in _ORDER if name in names]
    if "BackwardFoldScale" in own and "FuseAddMul" in own:
        own.append("FuseAddMul")
    return own + [name for name in dict.fromkeys(names) if name not in _ORDER]


# Attributes that nobody reads.


def _read_attributes(module):
    """(module, name) of each attribute of a TracedModule that an expression reads, by ids."""
    found = {}
    for expr in every_expr(Whole(module).graphs):
        if isinstance(expr, (GetAttr, SetAttr)) and isinstance(expr.args[0], ModuleNode):
            keys = expr.name.split(".")
            for count in range(len(keys)):
                path = ".".join(keys[:count])
                owner = expr.args[0].owner
                holder = attribute_of(owner, path, None) if path else owner
                if isinstance(holder, TracedModule):
                    found[id(holder), keys[count]] = holder
    return found


def _forget(before, after):
    """Takes away what was read before and is not any more."""
    for (number, name), holder in before.items():
        if (number, name) not in after and isinstance(vars(holder).get(name), (Tensor, Module)):
            delattr(holder, name)


# Checks.


def _check(new, module, roundings):
    given = [_example(graph) for graph in (module.graph, new.graph)]
    if None in given:
        return
    (args, kwargs), _ = given
    with Unchanged(module):
        expected = module(*args, **kwargs)
    with Unchanged(new):
        found = new(*args, **kwargs)
    TracedModuleChecker("optimize", _tolerance(module, roundings)).check_net_outputs(
        found, expected
    )


def _tolerance(module, roundings):
    """The largest difference, as a part of the largest element: that of the coarsest dtype."""
    nodes = [node for graph in Whole(module).graphs for node in graph.every_node(recursive=False)]
    dtypes = {node.dtype for node in nodes if isinstance(node, TensorNode) and node.dtype}
    limits = [limits for limits in map(limits_of, dtypes) if limits]
    return min(_LARGEST_ERROR, roundings * max((eps for eps, _, _ in limits), default=0))


def _example(graph):
    """(args, kwargs) of a call for inputs as they were recorded; None: a shape is not known."""
    values, random = {}, np.random.RandomState(0)
    for node in graph.inputs[1:]:
        value = _value(node, random)
        if value is None:
            return None
        values[id(node)] = value
    args, kwargs = [], {}
    for each in graph.signature.parameters:
        value = map_leaves(lambda leaf: values.get(id(leaf), leaf), each.tree)
        if each.kind in (each.kind.POSITIONAL_ONLY, each.kind.POSITIONAL_OR_KEYWORD):
            args.append(value)
        elif each.kind is each.kind.VAR_POSITIONAL:
            args += value
        else:
            kwargs.update(value if each.kind is each.kind.VAR_KEYWORD else {each.name: value})
    return args, kwargs


def _value(node, random):
    if isinstance(node, ScalarNode):
        return node.value
    if not isinstance(node, TensorNode) or node.shape is None:
        return None
    is_float = limits_of(node.dtype) is not None
    array = random.standard_normal(node.shape) if is_float else np.zeros(node.shape)
    return Tensor(array.astype(np.float32), device=node.device).astype(node.dtype)
