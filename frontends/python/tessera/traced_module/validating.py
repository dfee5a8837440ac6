"""Checks of what a file of a traced module says, before it can run."""

import inspect
import keyword

from ..module import Module
from ..tensor import Parameter, Tensor
from .attributes import attribute_of
from .expr import Apply, CallFunction, CallMethod, Constant, GetAttr, SetAttr
from .modes import KINDS
from .node import ModuleNode, Node, ScalarNode, TensorNode
from .public_names import is_attribute, is_method
from .pytree import leaves_of

TENSORS = (Tensor, Parameter)  # classes that graphs call
_SUBSCRIPTS = {"__getitem__": 2, "__setitem__": 3}  # arguments that code.py writes
_FIRST = {"name": (str, type(None)), "training": (bool,), "_scope": (str,)}
_OWN = {"_graphs", "_watch_node_value", "_forward_pre_hooks", "_forward_hooks", "_backward_hooks"}
_TRACED = {"_class_name": str, "_is_outermost": bool}


def check_name(name, names):
    """ValueError: it must be an identifier that no other one of `names` is; it becomes one."""
    if not _is_identifier(name) or names.has(name):
        raise ValueError(
            f"load: names in a graph must be identifiers that differ, got {name!r}"
            + (" again" if names.has(name) else "")
        )
    names.take(name)


def _is_identifier(name):
    return name.isidentifier() and not keyword.iskeyword(name)


def check_state(kind, state):
    """ValueError: attributes must be those of a module of the class `kind`, by name."""
    wanted = {**_FIRST, **({name: (type_,) for name, type_ in _TRACED.items()}
                           if kind == "traced_module.TracedModule" else {})}  # fmt: skip
    for name, types in wanted.items():
        if name not in state or type(state[name]) not in types:
            raise ValueError(
                f"load: a module must have the attribute {name}, got {state.get(name)!r} for {kind}"
            )
    for name in state:
        if name in _OWN or name.startswith("__"):
            raise ValueError(f"load: attributes of modules must be values, got {name!r} for {kind}")


def check_parameters(graph):
    """ValueError: parameters must be those of a function, and have the inputs in their trees."""
    parameters = graph.signature.parameters
    names = [each.name for each in parameters]
    if not all(map(_is_identifier, names)):
        raise ValueError(f"load: parameters must be identifiers, got {names} in {graph.qualname}")
    listed = [inspect.Parameter(each.name, each.kind, default=each.default) for each in parameters]
    inspect.Signature(listed)
    own = graph.owner_input
    if (own is None) != (graph.owner is None) or (own is not None and own.name in names):
        raise ValueError(
            f"load: a graph of a module must have an input for it, and others none, got {names} "
            f"in {graph.qualname}"
        )
    known = {id(node) for node in graph.inputs}
    for each in parameters:
        for leaf in leaves_of(each.tree):
            if isinstance(leaf, Node) and id(leaf) not in known:
                raise ValueError(
                    f"load: parameters must be made of inputs, got {leaf.name} in {each.name} of "
                    f"{graph.qualname}"
                )


def check_mode(mode):
    """ValueError: a context around calls must be known, and its arguments fit."""
    if mode.name not in KINDS:
        raise ValueError(
            f"load: contexts around calls must be among {sorted(KINDS)}, got {mode.name!r}"
        )
    if not all(type(each) in (bool, str) for each in mode.arguments):
        raise ValueError(f"load: arguments of contexts must be bool or text, got {mode}")
    mode.context()


def check_call(expr):
    """ValueError: what an expression calls must be known, and its first argument fit."""
    for key in expr.kwargs:
        if not _is_identifier(key):
            raise ValueError(f"load: named arguments must be identifiers, got {key!r}")
    is_right, fact = _CALLS[type(expr)](expr)
    if not is_right:
        raise ValueError(
            f"load: expression {expr.id} of {expr.top_graph.qualname} must call what this version "
            f"knows, with arguments for it, got {fact}"
        )


def _attribute(expr):
    owner = expr.args[0]
    if isinstance(owner, TensorNode):
        is_right = is_attribute(expr.name)
    else:
        is_right = isinstance(owner, ModuleNode)
    return is_right, f"the attribute {expr.name!r}"


def _assignment(expr):
    owner, value = expr.args
    is_right = isinstance(owner, ModuleNode) and isinstance(value, Node)
    return is_right, f"a change of the attribute {expr.name!r}"


def _method(expr):
    target = expr.args[0] if expr.args else None
    if isinstance(target, ModuleNode):
        is_right = expr.method == "__call__"
    else:
        is_right = isinstance(target, (TensorNode, ScalarNode)) and is_method(expr.method)
        count = _SUBSCRIPTS.get(expr.method, len(expr.args))
        is_right = is_right and not expr.variant and len(expr.args) == count
    return is_right, f"the method {expr.method!r}"


def _constant(expr):
    return isinstance(expr.value, (Tensor, Module)), f"a {type(expr.value).__name__}"


_CALLS = {
    GetAttr: _attribute,
    SetAttr: _assignment,
    CallMethod: _method,
    CallFunction: lambda expr: (callable(expr.func), "a function that it has no more"),
    Apply: lambda expr: (expr.opdef is not None, "an operator that it has no more"),
    Constant: _constant,
}


def check_expr(expr):
    """Checks what an expression reads of a module, when all modules are there.

    ValueError: it must be an attribute of the module, and a graph that it has.
    """
    if isinstance(expr, CallMethod):
        _check_variant(expr)
    elif isinstance(expr, (GetAttr, SetAttr)):
        _check_path(expr)


def _check_variant(expr):
    owner = expr.args[0].owner
    if expr.variant and expr.variant >= len(getattr(owner, "_graphs", ())):
        raise ValueError(
            f"load: a call must be of a graph that the module has, got number {expr.variant} of "
            f"{expr.args[0].qualname}"
        )


def _check_path(expr):
    owner, path = expr.args[0].owner, expr.name
    keys = path.split(".")
    is_plain = all(_is_identifier(key) and not key.startswith("__") for key in keys)
    if owner is None:
        is_right = is_plain
    elif isinstance(expr, SetAttr):
        is_right = _has_place(owner, path)
    else:
        found = attribute_of(owner, path, None)
        is_known = isinstance(found, (Tensor, Module)) or type(found) is bool
        is_right = (is_known and path) or (is_plain and _is_set(expr, path))
    if not is_right:
        raise ValueError(
            f"load: attributes in a graph must be those of its modules, got {path!r} of "
            f"{expr.args[0].qualname}"
        )


def _is_set(expr, path):
    """Whether the graph sets the attribute itself."""
    owner = expr.args[0]
    return any(
        isinstance(each, SetAttr) and each.name == path and each.args[0] is owner
        for each in expr.top_graph.own_exprs
    )


def _has_place(owner, path):
    """Whether an item of a list or dict of the module, or a module below, is at `path`."""
    before, _, key = path.rpartition(".")
    holder = attribute_of(owner, before, None) if before else owner
    if isinstance(holder, (list, tuple)):
        return key.isdigit() and int(key) < len(holder)
    if isinstance(holder, dict):
        return True
    return isinstance(holder, Module) and _is_identifier(key) and not key.startswith("__")
