"""Writes a traced module as records: messages of frontends/python/proto, in one array of bytes."""

from collections import deque

from .. import _core
from ..module import Module
from .body import Body
from .compat import METHOD, MODULE, OPDEF, version_of
from .constants import Packer
from .expr import Apply, CallFunction, CallMethod, Constant, GetAttr, SetAttr
from .functions import custom_gradient
from .node import ModuleNode, Node, ScalarNode, TensorNode
from .public_names import TRACED, is_attribute, is_method, name_of

VERSION = 1
KINDS = (GetAttr, SetAttr, CallMethod, CallFunction, Apply, Constant)  # Expr.Kind, in order
NODES = (TensorNode, ModuleNode, ScalarNode)  # Node.Kind, in order
HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_hooks")
FIRST = ("name", "training", "_scope")  # attributes that every module has
_LEFT_OUT = {*HOOKS, *FIRST}
_OF_TRACED = {"_class_name", "_is_outermost"}  # attributes of every TracedModule that files have


def records_of(module):
    """(bytes, arrays) of a TracedModule: the records, and (name, value) of the tensors and arrays
    that they refer to by number.

    TypeError: constants must be of kinds that files hold, functions and classes of the package or
    registered, and modules without hooks. ValueError: a node must be made before it is read.
    """
    writer = _Writer(type(module))
    writer.write(module)
    return writer.out.bytes(), writer.arrays


class _Writer:
    def __init__(self, kind):
        self._kind = kind  # TracedModule: graphs are written, what a run notes is not
        self._left_out = (_LEFT_OUT | {"forward", *vars(kind(""))}) - _OF_TRACED
        self.out, self.arrays = _core.RecordWriter(), []
        self._names, self._numbers = {}, {}  # numbers of names, and of objects by their ids
        self._num_modules = self._num_nodes = self._num_bodies = 0
        self._unwritten, self._traced = deque(), []
        self._paths = {}
        self._place = None  # the module, or the expression, that is written
        self._makes = False  # whether a result is written, whose nodes are new
        self._open = []  # graphs from the outermost to the one that is written
        self._packer = Packer(self._named, self._array, self._known, self._refuse)
        self._pack = self._packer.fields

    def write(self, root):
        """Writes the module and all that it needs."""
        self._paths = {id(each): path for path, each in root.named_modules()}
        for path, tensor in root.named_tensors():
            self._paths[id(tensor)] = path
        self.out.add("header", {"version": VERSION})
        self._module(root)
        done = 0
        while self._unwritten or done < len(self._traced):
            while self._unwritten:
                self._attributes(self._unwritten.popleft())
            if done < len(self._traced):
                self._graphs(self._traced[done])
                done += 1
        self.out.add("end", {})

    # Names, arrays and objects that records refer to.

    def _named(self, kind, name):
        key = kind, name
        if key not in self._names:
            self._names[key] = len(self._names)
            self.out.add("name", {"kind": kind, "name": name, "version": version_of(kind, name)})
        return self._names[key]

    def _array(self, value):
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.arrays)
            name = self._paths.get(id(value)) or f"constants.{len(self.arrays)}"
            self.arrays.append((name, value))
        return self._numbers[id(value)]

    def _known(self, value):
        if isinstance(value, Node):
            return self._node(value)
        if isinstance(value, Module):
            return {"module": self._module(value)}
        return {"body": self._numbers[id(value)]} if isinstance(value, Body) else None

    def _refuse(self, value, advice):
        if isinstance(value, type) or not hasattr(value, "__qualname__"):
            what = value if isinstance(value, type) else type(value)
        else:
            what = value
        name = f"{what.__module__}.{what.__qualname__}"
        raise TypeError(
            f"save: what a traced module holds must be of a kind that files know, got {name} in "
            f"{self._where()}" + (f" ({advice})" if advice else "")
        )

    def _where(self):
        if isinstance(self._place, Module):
            return self._title(self._place)
        return f"'{self._place}' of {self._place.top_graph.qualname}"

    def _title(self, module):
        name = getattr(module, "_class_name", type(module).__name__)
        path = self._paths.get(id(module))
        return f"{path}, a {name}" if path else name

    # Modules.

    def _module(self, module):
        if id(module) in self._numbers:
            return self._numbers[id(module)]
        is_traced = type(module) is self._kind
        known = (MODULE, TRACED) if is_traced else name_of(type(module))
        if known is None:
            raise TypeError(
                f"save: classes of modules must be of the package or registered by "
                f"register_as_builtin, got {type(module).__qualname__} at {self._title(module)}"
            )
        self.out.add("module", {"name": self._named(*known)})
        self._numbers[id(module)] = self._num_modules
        self._num_modules += 1
        self._unwritten.append(module)
        if is_traced:
            self._traced.append(module)
        return self._numbers[id(module)]

    def _attributes(self, module):
        for name in HOOKS:
            if getattr(module, name):
                raise TypeError(
                    f"save: modules in a traced module must have no hooks, which are code, got "
                    f"{name[1:]} of {self._title(module)}"
                )
        own = vars(module)
        left_out = self._left_out if type(module) is self._kind else _LEFT_OUT
        names = [*FIRST, *(name for name in own if name not in left_out)]
        self._place = module
        entries = [{"name": name, "value": self._pack(own[name])} for name in names]
        number = self._numbers[id(module)]
        self.out.add("attributes", {"module": number, "entries": entries})

    def _graphs(self, module):
        for graph in module.graphs:
            self._graph(graph, 1 + self._numbers[id(module)])

    # Graphs.

    def _graph(self, graph, owner):
        self._open.append(graph)
        inputs = [{"id": node.expr.id, "node": self._new_node(node)} for node in graph.inputs]
        parameters = [self._parameter(graph, each) for each in graph.signature.parameters]
        self.out.add("graph", {"name": graph.name, "qualname": graph.qualname, "owner": owner,
                               "inputs": inputs, "parameters": parameters})  # fmt: skip
        for expr in graph.own_exprs:
            for body in expr.bodies:
                self._graph(body, 0)
                self._numbers[id(body)] = self._num_bodies
                self._num_bodies += 1
            self._expr(expr)
        self.out.add("return", {"tree": self._pack(graph.output_tree)})
        self._open.pop()

    def _parameter(self, graph, parameter):
        self._place = graph.inputs[0].expr if graph.inputs else self._place
        fields = {"name": parameter.name, "kind": int(parameter.kind),
                  "tree": self._pack(parameter.tree)}  # fmt: skip
        if parameter.has_default:
            fields["default"] = self._pack(parameter.default)
        return fields

    def _expr(self, expr):
        self._place = expr
        fields = {"kind": KINDS.index(type(expr)), "id": expr.id, "line": expr.line}
        self._WRITERS[type(expr)](self, expr, fields)
        fields["args"] = [self._pack(each) for each in expr.args]
        fields["kwargs"] = [{"name": key, "value": self._pack(each)}
                            for key, each in expr.kwargs.items()]  # fmt: skip
        fields["modes"] = [{"name": mode.name, "arguments": list(map(self._pack, mode.arguments))}
                           for mode in expr.modes]  # fmt: skip
        self._makes = True
        fields["result"] = self._pack(expr.result)  # the new nodes come last
        self._makes = False
        self.out.add("expr", fields)

    def _attribute(self, expr, fields):
        is_tensor = isinstance(expr.args[0], TensorNode)
        if is_tensor and not is_attribute(expr.name):
            raise TypeError(
                f"save: attributes of tensors in a traced module must be public ones, got "
                f"{expr.name!r} in {self._where()}"
            )
        fields["text"] = expr.name

    def _method(self, expr, fields):
        is_module = isinstance(expr.args[0], ModuleNode)
        if not (expr.method == "__call__" if is_module else is_method(expr.method)):
            raise TypeError(
                f"save: methods in a traced module must be public ones of tensors, or calls of "
                f"modules, got {expr.method!r} in {self._where()}"
            )
        fields["name"] = self._named(METHOD, expr.method)
        fields["variant"] = expr.variant

    def _function(self, expr, fields):
        if expr.func is custom_gradient:
            raise TypeError(
                f"save: a gradient of one's own is code, which a file must not hold, got "
                f"{type(expr.args[0]).__qualname__} in {self._where()} (have traced_module.wrap "
                f"name a function that calls it, in the loading process too)"
            )
        known = name_of(expr.func)
        if known is None:
            self._refuse(expr.func, "have traced_module.wrap name the function")
        fields["name"] = self._named(*known)

    def _operator(self, expr, fields):
        fields["name"] = self._named(OPDEF, expr.opdef.name)
        fields["text"] = expr.opdef.serialize()

    def _constant(self, expr, fields):
        fields["constant"] = self._pack(expr.value)
        if expr.is_fresh:
            fields["fresh"] = True

    _WRITERS = {GetAttr: _attribute, SetAttr: _attribute, CallMethod: _method,
                CallFunction: _function, Apply: _operator, Constant: _constant}  # fmt: skip

    # Nodes.

    def _node(self, node):
        number = self._numbers.get(id(node))
        if number is None and self._makes and node.expr is self._place:
            return {"made": self._new_node(node)}
        if number is None or not any(node.top_graph is graph for graph in self._open):
            raise ValueError(
                f"save: a node must be made before it is read, in the graph that reads it or in "
                f"one around, got {node.qualname} in {self._where()}"
            )
        return {"node": number}

    def _new_node(self, node):
        self._numbers[id(node)] = self._num_nodes
        self._num_nodes += 1
        fields = {"kind": NODES.index(type(node)), "id": node.id, "name": node.name}
        if isinstance(node, ModuleNode):
            known = None if node._type is None else name_of(node._type)
            if known is not None:
                fields["module_type"] = 1 + self._named(*known)
        elif isinstance(node, ScalarNode):
            fields["value"] = self._pack(node.value)
        else:
            self._tensor(node, fields)
        return fields

    def _tensor(self, node, fields):
        if node.shape is not None:
            fields.update(is_described=True, shape=node.shape, device=node.device,
                          dtype=self._pack(node.dtype))  # fmt: skip
        if node._qparams is not None:
            fields["qparams"] = self._pack(node._qparams)
