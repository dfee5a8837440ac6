"""A graph as a method of a class that people read."""

import enum
import json
import types

import numpy as np

from .. import _core
from ..autodiff import Function
from ..module import Module, ModuleDict, ModuleList
from .attributes import attribute_of
from .code import Writer
from .expr import Apply, CallFunction, CallMethod, Constant, GetAttr, SetAttr
from .functions import custom_gradient
from .node import ModuleNode, Node
from .operators import symbol_of
from .pytree import leaves_of

_MOST = 1000  # elements of an array that is written out


class PythonWriter(Writer):
    """Lines of Python for the graphs of one class; `names` are PublicNames.

    `constants` gives the attribute of each tensor or module that belongs to a graph itself, by its
    id, and `self_name` is what the method calls its object.
    """

    def __init__(self, names, constants, self_name):
        super().__init__(_Space(names, self))
        self.names, self._constants, self._self = names, constants, self_name
        self._expr = None  # the one that is written

    # Arguments.

    def _opening(self, graph, parameter):
        name, tree = parameter.name, parameter.tree
        if parameter.node is not None:
            return [] if parameter.node.name == name else [f"{parameter.node.name} = {name}"]
        if any(isinstance(leaf, Node) for leaf in leaves_of(tree)):
            return self._taken_apart(tree, name)
        if leaves_of(tree) != [tree] or isinstance(tree, np.ndarray):
            return []  # containers of constants
        text = self.literal(tree)
        is_single = tree is None or isinstance(tree, bool)
        differs = f"{name} is not {text}" if is_single else f"{name} != {text}"
        message = f"{graph.name}: {name} must be as it was recorded, got {{{name}!r}}"
        return [f"if {differs}:", f'    raise ValueError(f"{message}")']

    def _taken_apart(self, tree, text):
        """Lines that give each node of a container its value."""
        pattern = _pattern(tree)
        if pattern is not None:
            return [f"{pattern} = {text}"]
        lines = []
        items = tree.items() if isinstance(tree, dict) else enumerate(tree)
        if not isinstance(tree, (dict, tuple, list)):
            self._refuse("containers must be tuples, lists and dicts", type(tree).__name__)
        for key, item in items:
            if isinstance(item, Node):
                lines.append(f"{item.name} = {text}[{self.literal(key)}]")
            elif any(isinstance(leaf, Node) for leaf in leaves_of(item)):
                lines += self._taken_apart(item, f"{text}[{self.literal(key)}]")
        return lines

    # Statements.

    def _lines(self, graph, expr, last):
        self._expr = expr
        for body in expr.bodies:
            yield from ("", *self.function_lines(body, body.name), "")
        if isinstance(expr, (GetAttr, Constant)) and isinstance(expr.result, ModuleNode):
            return  # modules are named by their paths
        line = self.statement(expr)
        yield from line if isinstance(line, list) else [line]

    def _unpacked(self, expr, text):
        pattern = _pattern(expr.result)
        if pattern is not None:
            return f"{pattern} = {text}"
        return [f"values = {text}", *self._taken_apart(expr.result, "values")]

    def _attribute(self, expr):
        node = expr.args[0]
        if isinstance(node, ModuleNode):
            return self._path(node, expr.name)
        return f"{node.name}.{expr.name}"

    def _assignment(self, expr):
        node, value = expr.args
        before, _, key = expr.name.rpartition(".")
        holder = attribute_of(node.owner, before, None) if before else node.owner
        text = self.value(value)
        if isinstance(holder, tuple):
            whole, place = self._path(node, before), int(key)
            rest = [f"*{whole}[:{place}]"] * bool(place) + [text]
            rest += [f"*{whole}[{place + 1}:]"] * (place + 1 < len(holder))
            return f"{whole} = ({', '.join(rest)}{',' * (len(rest) == 1)})"
        if holder is None:
            self._refuse("containers that are set must be there", expr.name)
        return f"{self._path(node, expr.name)} = {text}"

    def _path(self, node, path):
        return path_text(node.owner, self.value(node), path)

    def _method(self, expr):
        target, *rest = expr.args
        if expr.method == "__call__" and getattr(expr, "variant", 0):
            arguments = self._arguments(rest, expr.kwargs)
            return f"{self.value(target)}.forward_{expr.variant}({arguments})"
        symbol = symbol_of(f"__{expr.method[3:]}") if expr.method.startswith("__r") else None
        if symbol and len(rest) == 1 and type(rest[0]) in (int, float):
            return f"{self.value(rest[0])} {symbol} {self.value(target)}"
        return super()._method(expr)

    def _call(self, expr):
        if expr.func is custom_gradient:
            self._refuse(
                "gradients must be those of functions of the package (an autodiff.Function "
                "belongs to the code of its class)", type(expr.args[0]).__name__
            )  # fmt: skip
        return super()._call(expr)

    def _apply(self, expr):
        props = ", ".join(f"{key}={self.literal(value)}" for key, value in expr.opdef.props.items())
        opdef = f"{self.names.name_of(type(expr.opdef))}({props})"
        core = self.names.alias("tessera")
        return f"{core}.core.apply({opdef}, {self._arguments(expr.args, {})})"

    def _constant(self, expr):
        return f"{self._self}.{self._constants[id(expr.value)]}"

    _TEXTS = {GetAttr: _attribute, SetAttr: _assignment, CallMethod: _method, CallFunction: _call,
              Apply: _apply, Constant: _constant}  # fmt: skip

    # Values.

    def value(self, tree):
        """The text of an argument: a module by its path."""
        if isinstance(tree, ModuleNode) and isinstance(tree.expr, GetAttr):
            return self._path(tree.expr.args[0], tree.expr.name)
        if isinstance(tree, ModuleNode) and isinstance(tree.expr, Constant):
            return self._constant(tree.expr)
        return super().value(tree)

    def literal(self, value):
        """As `value`, of a tree that may have no nodes at all."""
        if type(value) is str:
            return json.dumps(value, ensure_ascii=False)
        return super().literal(value)

    def plain(self, value):
        """The text of an object that no literal is.

        ValueError: a process must be able to make it.
        """
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            return self.names.name_of(value)
        if isinstance(value, enum.Enum):
            return f"{self.names.name_of(type(value))}.{value.name}"
        if isinstance(value, np.dtype):
            return self._dtype(value)
        if isinstance(value, np.generic):
            return f"{self.names.numpy()}.{value.dtype.name}({value.item()!r})"
        if isinstance(value, float):
            return f'float("{value}")'
        if isinstance(value, (complex, range)) or value is ...:
            return "..." if value is ... else repr(value)
        if isinstance(value, (set, frozenset)):
            items = ", ".join(sorted(map(self.literal, value)))
            return f"{type(value).__name__}([{items}])"
        if callable(value) and not isinstance(value, Function):
            return self.names.name_of(value)
        return self._refuse("constants must be plain values", f"a {type(value).__name__}")

    def _dtype(self, value):
        found = _core.quantization(value)
        if found is None:
            return json.dumps((value.metadata or {}).get("tessera_dtype", value.name))
        kind, scale, zero_point, axis = found
        more = [repr(scale)] + ([] if zero_point is None else [repr(zero_point)])
        more += [] if axis is None else [f"axis={axis}"]
        return f"{self.names.alias('tessera')}.dtype.{kind}({', '.join(more)})"

    def _array(self, value):
        if value.size > _MOST or value.dtype.kind not in "biuf":
            self._refuse(f"arrays must be of at most {_MOST} numbers", f"{value.dtype}"
                         f"{list(value.shape)}")  # fmt: skip
        numbers = json.dumps(value.tolist()).replace("true", "True").replace("false", "False")
        numbers = numbers.replace("-Infinity", 'float("-inf")').replace(
            "Infinity", 'float("inf")').replace("NaN", 'float("nan")')  # fmt: skip
        return f'{self.names.numpy()}.array({numbers}, dtype="{value.dtype.name}")'

    def _refuse(self, must, got):
        where = f" in '{self._expr}' ({self._expr.line})" if self._expr is not None else ""
        raise ValueError(f"to_python: {must}, got {got}{where}")


class _Space:
    """Names that a Writer asks for: public ones, or the text of the object itself."""

    def __init__(self, names, writer):
        self._names, self._writer = names, writer

    def name_of(self, value, hint):
        """The text of an object."""
        return self._writer.plain(value)

    def function(self, function):
        """The text of a function or a class."""
        return self._names.name_of(function)


def path_text(owner, text, path):
    """The expression of Python that reads `path` of the module `owner`, which `text` is.

    >>> import tessera.module as M
    >>> from tessera.traced_module.python_code import path_text
    >>> path_text(M.Sequential(M.ModuleList([M.ReLU()])), "self", "0.0")
    'getattr(self, "0")[0]'
    """
    value, rest = owner, path
    while rest:
        key, _, left = rest.partition(".")
        is_list = isinstance(value, (ModuleList, list, tuple))
        if isinstance(value, (ModuleDict, dict)):
            if isinstance(value, dict) and rest in value:
                key, left = rest, ""
            text += f"[{json.dumps(key)}]"
        elif is_list:
            text += f"[{key}]"
        else:
            text = f"{text}.{key}" if key.isidentifier() else f"getattr({text}, {json.dumps(key)})"
        value, rest = attribute_of(value, key, None) if isinstance(value, Module) else (
            value[key if isinstance(value, dict) else int(key)]
        ), left  # fmt: skip
    return text


def _pattern(tree, is_inner=False):
    """The left side of an assignment that takes a container apart; None: none does."""
    if isinstance(tree, Node):
        return tree.name if _is_read(tree) else "_"
    if type(tree) not in (tuple, list):
        return "_" if not any(isinstance(leaf, Node) for leaf in leaves_of(tree)) else None
    parts = [_pattern(item, True) for item in tree]
    if None in parts or not parts:
        return None
    text = ", ".join(parts) + ("," if len(parts) == 1 else "")
    return f"({text})" if is_inner or len(parts) == 1 else text


def _is_read(node):
    return bool(node.users) or any(node is each for each in node.top_graph.outputs)
