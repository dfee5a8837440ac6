"""A graph as one function of Python, which is made when the graph runs."""

import itertools
import linecache

import numpy as np

from ..core import apply
from ..tensor import Tensor
from .attributes import attribute_of, set_attribute, text_of
from .body import Body
from .expr import Apply, CallFunction, CallMethod, Constant, GetAttr, SetAttr
from .modes import KINDS
from .node import ModuleNode, Node
from .operators import UNARY, symbol_of
from .pytree import leaves_of, paths_of, supported
from .signature import described, is_constant, opened

_PLAIN = (bool, int, str, bytes, type(None))
_numbers = itertools.count()
_FILE = __file__.replace("code.py", "<graph %d>")


def compiled(graph):
    """The function that runs `graph`: of its module and the arguments."""
    writer = Writer(Names())
    source = "\n".join(writer.function_lines(graph, "forward")) + "\n"
    file = _FILE % next(_numbers)
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    space = {"__name__": __package__, **writer.space.values}
    exec(compile(source, file, "exec"), space)
    return space["forward"]


def source_of(graph):
    """The text of the function."""
    return "\n".join(Writer(Names()).function_lines(graph, "forward"))


class Names:
    """Global names of the function, and what they stand for."""

    def __init__(self):
        self.values, self._by_id = {}, {}

    def name_of(self, value, hint):
        """The name of an object, which gets one."""
        known = self._by_id.get(id(value))
        if known is None:
            known = self._by_id[id(value)] = f"_{hint}_{len(self.values)}"
            self.values[known] = value
        return known

    def function(self, function):
        """The text for a function."""
        return self.name_of(function, getattr(function, "__name__", "f").strip("<>_"))


class Writer:
    """Lines of Python for graphs; `space` names the objects that they need."""

    def __init__(self, space):
        self.space = space

    # Functions.

    def function_lines(self, graph, name, indent=""):
        """The definition of the function that the graph is."""
        inner = indent + "    "
        names, checks = self._parameters(graph)
        own = [graph.inputs[0].name] if graph.owner_input is not None else []
        yield f"{indent}def {name}({', '.join(own + names)}):"
        yield from (inner + line for line in checks)
        yield from self._body_lines(graph, inner)

    def _parameters(self, graph):
        names, lines, had_star = [], [], False
        for each in graph.signature.parameters:
            text = each.name
            if each.kind is each.kind.VAR_POSITIONAL:
                text, had_star = f"*{text}", True
            elif each.kind is each.kind.VAR_KEYWORD:
                text = f"**{text}"
            elif each.kind is each.kind.KEYWORD_ONLY and not had_star:
                names.append("*")
                had_star = True
            if each.has_default:
                text += f"={self.literal(each.default)}"
            names.append(text)
            lines += self._opening(graph, each)
        only_positional = [i for i, each in enumerate(graph.signature.parameters)
                           if each.kind is each.kind.POSITIONAL_ONLY]  # fmt: skip
        if only_positional:
            names.insert(only_positional[-1] + 1, "/")
        return names, lines

    def _opening(self, graph, parameter):
        """Lines that find the inputs in an argument, and refuse other constants."""
        name = parameter.name
        if parameter.node is not None:
            return [] if parameter.node.name == name else [f"{parameter.node.name} = {name}"]
        nodes = [leaf.name for leaf in leaves_of(parameter.tree) if isinstance(leaf, Node)]
        tree = self.space.name_of(parameter.tree, "tree")
        if not nodes and parameter.tree is None:
            refuse = self.space.function(_refuse)
            title = repr(graph.name)
            return [f"if {name} is not None: {refuse}({title}, {name!r}, {tree}, {name})"]
        call = f"{self.space.function(opened)}({graph.name!r}, {name!r}, {tree}, {name})"
        return [f"{', '.join(nodes)}, = {call}" if nodes else call]

    def _body_lines(self, graph, indent):
        last = _last_uses(graph)
        for modes, exprs in itertools.groupby(graph.own_exprs, key=lambda expr: expr.modes):
            inner = indent
            if modes:
                contexts = (f"{self.space.function(KINDS[mode.name])}{self.literal(mode.arguments)}"
                            for mode in modes)  # fmt: skip
                yield f"{indent}with {', '.join(contexts)}:"
                inner += "    "
            for expr in exprs:
                yield from (inner + line for line in self._lines(graph, expr, last))
        yield f"{indent}return {self.value(graph.output_tree)}"

    def _lines(self, graph, expr, last):
        for body in expr.bodies:
            yield from self.function_lines(body, body.name)
        line = self.statement(expr)
        lines = line if isinstance(line, list) else [line]
        lines = [*lines, *self._watch_lines(graph, expr.outputs)]
        gone = "".join(f"; {name} = None" for name in last.get(id(expr), ()))
        yield from lines[:-1]
        yield lines[-1] + gone

    def _watch_lines(self, graph, nodes):
        for node in nodes:
            for table in (graph.watched, graph.ends):
                if id(node) in table:
                    note = self.space.name_of(table[id(node)], "note")
                    yield f"{note}({node.name})"

    # Statements.

    def statement(self, expr):
        """The line, or lines, of an expression."""
        text = self._TEXTS[type(expr)](self, expr)
        if isinstance(expr, SetAttr) or not expr.outputs:
            return text
        if isinstance(expr.result, Node):
            return f"{expr.result.name} = {text}"
        return self._unpacked(expr, text)

    def _unpacked(self, expr, text):
        tree = expr.result
        if isinstance(tree, (tuple, list)) and all(isinstance(leaf, Node) for leaf in tree):
            return f"{', '.join(node.name for node in tree)}, = {text}"
        lines, whole = [f"_all = {text}"], []
        for leaf, path in paths_of(tree):
            if isinstance(leaf, Node):
                keys = "".join(f"[{key!r}]" for key in path)
                whole.append(f"{leaf.name} = _all{keys}")
            elif leaves_of(leaf) != [leaf]:  # a registered class, which is taken apart
                names = [n.name if isinstance(n, Node) else "_" for n in leaves_of(tree)]
                found = self.space.function(leaves_of)
                return [*lines, f"{', '.join(names)}, = {found}(_all); _all = None"]
        return [*lines, *whole, "_all = None"]

    def _attribute(self, expr):
        node = expr.args[0]
        if isinstance(node, ModuleNode) and node.owner is not None:
            return text_of(node.owner, node.name, expr.name)
        return f"{node.name}.{expr.name}"

    def _assignment(self, expr):
        node, value = expr.args
        owner, path = node.owner, expr.name
        before, _, key = path.rpartition(".")
        holder = attribute_of(owner, before, None) if before else owner
        if isinstance(holder, tuple) or holder is None:
            setter = self.space.function(set_attribute)
            return f"{setter}({node.name}, {path!r}, {self.value(value)})"
        place = text_of(owner, node.name, before) if before else node.name
        is_item = isinstance(holder, (list, dict))
        number = key if isinstance(holder, list) else repr(key)
        place += f"[{number}]" if is_item else f".{key}"
        return f"{place} = {self.value(value)}"

    def _method(self, expr):
        target, *rest = expr.args
        on, method = self.value(target), expr.method
        if isinstance(target, Tensor):
            on = f"({on})"
        symbol = symbol_of(method)
        if symbol and not expr.kwargs and len(rest) == (method not in UNARY):
            operand = f" {self.value(rest[0])}" if rest else ""
            return f"{on} {symbol}{operand}" if rest else f"{symbol}{on}"
        if method == "__getitem__":
            return f"{on}[{self._key(rest[0])}]"
        if method == "__setitem__":
            return f"{on}[{self._key(rest[0])}] = {self.value(rest[1])}"
        if method == "__call__":
            on = f"type({on}).variant({on}, {expr.variant})" if expr.variant else on
            return f"{on}({self._arguments(rest, expr.kwargs)})"
        return f"{on}.{method}({self._arguments(rest, expr.kwargs)})"

    def _key(self, key):
        if type(key) is tuple and key:
            return ", ".join(map(self._key_item, key)) + ("," if len(key) == 1 else "")
        return self._key_item(key)

    def _key_item(self, item):
        if type(item) is not slice:
            return self.value(item)
        ends = ["" if end is None else self.value(end) for end in (item.start, item.stop)]
        step = "" if item.step is None else f":{self.value(item.step)}"
        return ":".join(ends) + step

    def _arguments(self, args, kwargs):
        named = [f"{key}={self.value(value)}" for key, value in kwargs.items()]
        return ", ".join([*map(self.value, args), *named])

    def _call(self, expr):
        return f"{self.space.function(expr.func)}({self._arguments(expr.args, expr.kwargs)})"

    def _apply(self, expr):
        opdef = self.space.name_of(expr.opdef, "op")
        return f"{self.space.function(apply)}({opdef}, {self._arguments(expr.args, {})})"

    def _constant(self, expr):
        name = self.space.name_of(expr.value, "constant")
        return f"{name}.detach()" if expr.is_fresh and not expr.is_only_read else name

    _TEXTS = {GetAttr: _attribute, SetAttr: _assignment, CallMethod: _method, CallFunction: _call,
              Apply: _apply, Constant: _constant}  # fmt: skip

    # Values.

    def value(self, tree):
        """The text of an argument."""
        if isinstance(tree, (Node, Body)):
            return tree.name
        return self.literal(tree)

    def literal(self, value):
        """As `value`, of a tree that may have no nodes at all."""
        kind = type(value)
        if kind in _PLAIN or (kind is float and np.isfinite(value)):
            return repr(value)
        if kind is tuple:
            return f"({', '.join(map(self.value, value))}{',' if len(value) == 1 else ''})"
        if kind is list:
            return f"[{', '.join(map(self.value, value))}]"
        if kind is dict:
            items = (f"{self.literal(key)}: {self.value(item)}" for key, item in value.items())
            return f"{{{', '.join(items)}}}"
        if kind is slice:
            return f"slice({', '.join(map(self.value, (value.start, value.stop, value.step)))})"
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return f"{self.space.function(kind)}({', '.join(map(self.value, value))})"
        return self._other(value, kind)

    def _other(self, value, kind):
        known = supported(kind)
        if known is not None and known.flatten is not None:
            items, rest = known.flatten(value)
            listed = f"[{', '.join(map(self.value, items))}]"
            return f"{self.space.function(known.unflatten)}({listed}, {self.literal(rest)})"
        if isinstance(value, dict):
            items = ", ".join(f"({key!r}, {self.value(item)})" for key, item in value.items())
            return f"{self.space.function(kind)}([{items}])"
        return self.space.name_of(value, "value")


def _refuse(name, parameter, tree, given):
    """ValueError unless the argument is the constant that was recorded."""
    if not is_constant(tree, given):
        raise ValueError(
            f"{name}: {parameter} must be as it was recorded, {described(tree)}, got "
            f"{described(given)}"
        )


def _last_uses(graph):
    """By id of an expression the names of tensors that nobody reads behind it."""
    kept = {id(node) for node in (*graph.outputs, *graph.inputs[:1], *graph.captures)}
    last = {}
    for expr in reversed(graph.own_exprs):
        for node in (*expr.inputs, *expr.outputs):
            if id(node) not in kept and not isinstance(node, ModuleNode):
                kept.add(id(node))
                last.setdefault(id(expr), []).append(node.name)
    return last
