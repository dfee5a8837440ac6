"""Records calls of this thread as expressions."""

import types

import numpy as np

from .. import _caller, _core, effects
from ..autodiff import Function, checkpoint
from ..functional import cond, scan, while_loop
from ..module import Module
from ..tensor import Tensor
from . import _current
from .body import Body
from .calls import Call, Method, method_caller
from .expr import Apply, CallFunction, CallMethod, Constant, GetAttr, new_node
from .functions import REFUSED, custom_gradient, recorded
from .modes import ENTERING, LEAVING, mode_of
from .node import ModuleNode, Node, ScalarNode, TensorNode
from .proxies import FlagProxy, NumberProxy, TensorProxy
from .pytree import leaves_of, map_leaves, supported
from .views import View, module_of

_SCALARS = (NumberProxy, FlagProxy)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type, np.generic, np.dtype, range,
          types.EllipsisType, frozenset, set, types.FunctionType, types.BuiltinFunctionType,
          types.MethodType)  # fmt: skip
_SIZES = ("shape", "size")
LOOPS = (
    cond,
    scan,
    while_loop,
    checkpoint,
)  # functions of functions, which become bodies


class Recorder:
    """Base of what records: expressions of calls into the graph of its innermost scope.

    A subclass says what a call gives (`evaluate`) and what stands for its result (`stand_in`).
    """

    is_inserting = False

    def __init__(self, refuses_constants=False):
        self._watch = None  # while it is at work, because it keeps this object
        self.refuses_constants, self.is_muted = refuses_constants, False
        self.scopes, self.modes, self._told = [], (), set()

    def __enter__(self):
        if _current.recorder() is not None:
            raise RuntimeError(
                "trace_module: a thread must record one module at a time, got another one within "
                "(a module that is recorded calls it)"
            )
        _current.set_recorder(self)
        effects.set_plain(True)
        self._watch = _core.CallWatch(recorded(), self)
        self._watch.start()
        return self

    def __exit__(self, *exc):
        self._watch.stop()
        self._watch = None
        effects.set_plain(False)
        _current.set_recorder(None)

    def mute(self, value=True):
        """Whether calls count as none; returns what it was."""
        before, self.is_muted = self.is_muted, value
        if self._watch is not None:
            self._watch.set_muted(value)
        return before

    @property
    def scope(self):
        """The innermost one."""
        return self.scopes[-1]

    # Told by the watch.

    def call(self, callable, args, kwargs):  # noqa: A002  # the watch's name
        """Stands for the call of an operator, or of the class Tensor."""
        before = self.mute()
        try:
            if isinstance(callable, type):
                return self.make_tensor(callable, args, kwargs)
            if callable is _core.apply:
                return self._apply(*args)
            return self.call_function(callable, args, kwargs)
        finally:
            self.mute(before)

    def enter(self, function, values):
        """See _core.CallWatch."""
        before = self.mute()
        try:
            if function is Module.__call__:
                return self.enter_module(*values)
            if function in ENTERING or function in LEAVING:
                return self._change_modes(function, values[0])
            if function in REFUSED:
                raise NotImplementedError(
                    f"trace_module: functions of functions must be cond, scan, while_loop or "
                    f"checkpoint, got {function.__name__} at {_caller.line()}"
                )
            if function in LOOPS:
                return self.enter_loop(Call(function, values), values)
            call = Call(function, values)
            if function is Function.__call__:
                call.function = custom_gradient
            if call.is_creation and not self.has_nodes(values):
                return None  # its result is a constant
            nodes = self.nodes_of(call.arguments)
            return (call, nodes), self.values_of(values), True
        finally:
            self.mute(before)

    def leave(self, token, result):
        """See _core.CallWatch."""
        before = self.mute()
        try:
            if not isinstance(token[0], Call):
                return self.leave_module(token, result)
            call, (args, kwargs) = token
            expr = CallFunction(self.scope.graph, call.function, args, kwargs, _caller.line())
            return self.finish(expr, result, call.function.__name__)
        finally:
            self.mute(before)

    def fail(self, token):
        """See _core.CallWatch."""
        if not isinstance(token[0], Call):
            self.fail_module(token)

    def _change_modes(self, function, context):
        """A context around calls begins or ends; the function itself runs as ever."""
        if function in ENTERING:
            self.modes = (*self.modes, mode_of(context))
        else:
            self.modes = self.modes[:-1]

    # Calls.

    def call_function(self, function, args, kwargs):
        """Records and makes a call of a function."""
        result = self.evaluate(function, args, kwargs)
        args, kwargs = self.nodes_of((args, kwargs))
        expr = CallFunction(self.scope.graph, function, args, kwargs, _caller.line())
        return self.finish(expr, result, function.__name__)

    def _apply(self, opdef, *args):
        result = self.evaluate(_core.apply, (opdef, *args), {})
        expr = Apply(self.scope.graph, opdef, self.nodes_of(args), _caller.line())
        return self.finish(expr, result, opdef.name.lower())

    def call_method(self, target, name, args, kwargs):
        """Records and makes a call of a method of a tensor or a number."""
        before = self.mute()
        try:
            result = self.evaluate(method_caller(name), (target, *args), kwargs)
            if result is NotImplemented:
                return result
            nodes, named = self.nodes_of(((target, *args), kwargs))
            expr = CallMethod(self.scope.graph, name, nodes, named, _caller.line())
            return self.finish(expr, result, name.strip("_"))
        finally:
            self.mute(before)

    def attribute(self, target, name):
        """Gives what a tensor, or a node, has under that name: a method tells of its call."""
        before = self.mute()
        try:
            value = self.evaluate(getattr, (target, name), {})
            if callable(value):
                return Method(self, target, name)
            if name not in _SIZES and not isinstance(value, Tensor):
                return value
            node = self.node_of(target)
            if (id(node), name) in self.scope.sizes:
                return self.scope.sizes[id(node), name]
            expr = GetAttr(self.scope.graph, node, name, _caller.line())
            found = self.finish(expr, value, name)
            if name in _SIZES:
                self.scope.sizes[id(node), name] = found
            return found
        finally:
            self.mute(before)

    def make_tensor(self, kind, args, kwargs):
        """A tensor that the recorded code makes by the class."""
        if self.has_nodes((args, kwargs)):
            return self.call_function(kind, args, kwargs)
        made = kind(*args, **kwargs)
        self.scope.made[id(made)] = made, made.detach()
        return made

    def append(self, expr):
        """Takes an expression into the graph."""
        if not isinstance(expr, (Constant, GetAttr)):
            expr.modes = self.modes[self.scope.num_modes :]
        self.scope.graph.own_exprs.append(expr)

    def finish(self, expr, result, name):
        """Takes the expression into the graph; gives what stands for its result."""
        self.append(expr)
        to_node = self._any_node if _gives_sizes(expr) else self._tensor_node
        expr.result = map_leaves(lambda leaf: to_node(expr, leaf, name), result)
        stand_ins = iter(leaves_of(expr.result))
        return map_leaves(lambda leaf: self.stand_in(next(stand_ins), leaf), result)

    def _tensor_node(self, expr, leaf, name):
        if not isinstance(leaf, Tensor):
            if _is_number(leaf) and expr.inputs:
                self.tell_constant(f"the result of {name}")
            return leaf
        return new_node(expr, _node_name(expr, name), TensorNode, leaf)

    def _any_node(self, expr, leaf, name):
        if type(leaf) in (int, float, bool):
            return new_node(expr, _node_name(expr, name), ScalarNode, leaf)
        return self._tensor_node(expr, leaf, name)

    # Arguments.

    def has_nodes(self, tree):
        """Whether a stand-in is among the leaves."""
        return any(_is_stand_in(leaf) for leaf in leaves_of(tree))

    def nodes_of(self, tree):
        """`tree` with nodes in the places of stand-ins, tensors and modules."""
        return map_leaves(self._argument, tree)

    def _argument(self, leaf):
        node = self.node_of(leaf)
        if node is not None:
            return node
        if isinstance(leaf, np.ndarray):
            return leaf.copy()
        if isinstance(leaf, (*_PLAIN, Body, Function)) or supported(type(leaf)) or _is_ours(leaf):
            return leaf
        raise TypeError(
            f"trace_module: arguments of recorded calls must be tensors, modules, plain values, "
            f"containers or of a type that register_supported_type knows, got "
            f"{type(leaf).__name__} at {_caller.line()}"
        )

    def node_of(self, value):
        """The node that stands for a value in this scope; None: it is a constant."""
        kind = type(value)
        if kind is TensorProxy or kind in _SCALARS:
            return self.check_node(value.node)
        if isinstance(value, Node):
            return self.check_node(value)
        if (module := module_of(value)) is not None:
            return self.held_node(module)
        return self.held_node(value) if isinstance(value, Tensor) else None

    def check_node(self, node):
        """The node itself. RuntimeError: it must be of this scope, or of one around."""
        if any(scope.graph is node.top_graph for scope in self.scope.lexical()):
            return node
        raise RuntimeError(
            f"trace_module: a tensor must be used in the module that made it or be given to the "
            f"other one as an argument, got {node.qualname} in {self.scope.graph.qualname} "
            f"({_caller.line()})"
        )

    def held_node(self, item):
        """The node of a tensor or a module that is no stand-in: of an attribute, or a constant."""
        known = self.scope.known(item)
        if known is not None:
            return known
        path = self.scope.path_of(item)
        if path is not None:
            return self.read_attribute(self.scope.self_node, path, item)
        return self._constant(item)

    def _constant(self, item):
        made = self.scope.made_value(item)
        if made is None:
            kind = "module" if isinstance(item, Module) else "tensor"
            self.tell_constant(f"a {kind} from outside of the module")
        elif self.refuses_constants:
            self.tell_constant("a tensor that is made of numbers")
        value = item if made is None else made
        expr = Constant(self.scope.graph, value, _caller.line(), made is not None)
        self.append(expr)
        is_module = isinstance(item, Module)
        kind = ModuleNode if is_module else TensorNode
        expr.result = new_node(expr, "const_module" if is_module else "const_tensor", kind, item)
        return self.scope.note(item, expr.result)

    def read_attribute(self, owner, path, item):
        """The node of what the module of the node `owner` has at `path`."""
        expr = GetAttr(self.scope.graph, owner, path, _caller.line())
        self.append(expr)
        kind = ModuleNode if isinstance(item, Module) else TensorNode
        kind = ScalarNode if isinstance(item, bool) else kind
        expr.result = new_node(expr, path, kind, item)
        return expr.result if isinstance(item, bool) else self.scope.note(item, expr.result)

    def values_of(self, tree):
        """`tree` with values in the places of stand-ins."""
        return map_leaves(self.value_of, tree)

    def value_of(self, leaf):
        """The value of a leaf."""
        if type(leaf) is TensorProxy or type(leaf) in _SCALARS:
            return leaf.value
        return module_of(leaf) if isinstance(leaf, View) else leaf

    # Messages.

    def tell_constant(self, fact):
        """Warns that a number is the one of this call from now on, or refuses it."""
        if self.refuses_constants:
            raise ValueError(
                f"trace_module: every value must be computed by the graph, got {fact}, a constant "
                f"({_caller.line()})"
            )
        text = f"trace_module: {fact} is a constant of the graph ({_caller.line()})"
        if text not in self._told:
            self._told.add(text)
            _caller.warn(text)

    def refuse_branch(self, proxy):
        """RuntimeError: Python decided by a tensor."""
        raise RuntimeError(
            f"trace_module: control flow must not depend on the values of tensors, got bool() of "
            f"{proxy.node.name} at {_caller.line()} (functional.cond, while_loop and where do)"
        )

    def refuse_change(self, what):
        """RuntimeError: an attribute of a tensor, or the items of a container, changed."""
        raise RuntimeError(
            f"trace_module: attributes of tensors, and the number of items in containers, must "
            f"stay as they are, got a change of {what} at {_caller.line()}"
        )


def _node_name(expr, name):
    if isinstance(expr, GetAttr):
        return name
    target = expr.args[0] if expr.args else None
    if isinstance(target, ModuleNode) and getattr(expr, "method", None) == "__call__":
        name = target.name
    return f"{name}_out"


def _gives_sizes(expr):
    """Whether numbers in the result follow from sizes alone, which a run finds out anew."""
    inputs = expr.inputs
    return isinstance(expr, GetAttr) or (inputs and isinstance(inputs[0], ScalarNode))


def _is_number(leaf):
    return isinstance(leaf, (int, float, complex, np.ndarray, np.generic))


def _is_stand_in(leaf):
    return type(leaf) is TensorProxy or type(leaf) in _SCALARS or isinstance(leaf, (Node, View))


def _is_ours(leaf):
    """Whether it is a plain object of the package, such as a device or a dtype."""
    home = getattr(leaf, "__module__", None) or type(leaf).__module__
    return str(home).partition(".")[0] in ("tessera", "ml_dtypes", "enum")
