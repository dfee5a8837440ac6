"""Reads the records of a traced module. A file names what is known here, and nothing else."""

import inspect
from collections import OrderedDict

from .. import _core
from .._known_form import has_known_form
from ..tensor import Tensor
from . import validating
from .compat import BUILTIN, FUNCTION, METHOD, MODULE, OPDEF, WRAPPED, steps_from
from .constants import Unpacker
from .expr import Apply, CallFunction, CallMethod, Constant, GetAttr, Input, SetAttr
from .internal_graph import InternalGraph
from .modes import Mode
from .node import ModuleNode, Node, ScalarNode, TensorNode
from .numbering import Ids
from .public_names import TRACED, find
from .signature import GraphParameter, GraphSignature
from .writing import FIRST, HOOKS, KINDS, NODES, VERSION

# Errors that fields raise which no writer wrote.
_DAMAGE = (ValueError, LookupError, TypeError, ArithmeticError, RuntimeError, AttributeError)


def module_of(data, arrays, kind):
    """The module, of the class `kind`, TracedModule, of which `data` are the records, bytes, with
    the tensors and arrays that they refer to.

    ValueError: the records must be whole, and of this version or an older one; functions and
    classes that they name must be known; a node must be made before it is read, in its graph or in
    one around it.
    """
    try:
        return _Reader(arrays, kind).read(data)
    except _DAMAGE as error:
        if has_known_form(error) and isinstance(error, ValueError):
            raise
        raise ValueError(f"load: a traced module must be as save wrote it, got {error!r}") from None


class _Reader:
    def __init__(self, arrays, kind):
        self._kind = kind
        self._arrays, self._ids = arrays, Ids()
        self._names, self._modules, self._nodes, self._bodies = [], [], [], []
        self._classes = []  # numbers of the names of modules whose attributes have not come
        self._open = []  # graphs from the outermost to the one that is read
        self._made_by = None  # the expression whose nodes may be made
        self._exprs = []  # those whose attributes of modules are checked at the end
        self._numbers = set(), set()  # of expressions, of nodes
        self._added = []  # expressions and nodes that steps of upgrades made
        unpacker = Unpacker(self._named, self._array, self._known)
        self._value = unpacker.value

    def read(self, data):
        """The first module."""
        last = None
        for kind, fields in _core.RecordReader(data):
            if (kind == "header") != (last is None) or last == "end":
                raise ValueError(
                    f"load: a traced module must be a header, records and an end, got {kind} "
                    f"behind {last}"
                )
            self._READERS[kind](self, fields)
            last = kind
        if last != "end" or self._open or any(each is not None for each in self._classes):
            raise ValueError(f"load: a traced module must be whole, got its end behind {last}")
        root = self._modules[0]
        if not isinstance(root, self._kind):
            raise ValueError(
                f"load: the first module must be a TracedModule, got {type(root).__name__}"
            )
        for expr in self._exprs:
            validating.check_expr(expr)
        self._ids.skip_to(*(max(numbers, default=-1) + 1 for numbers in self._numbers))
        for each in self._added:
            each.id = self._ids.of_node() if isinstance(each, Node) else self._ids.of_expr()
        return root

    # Names, arrays and objects that records refer to.

    def _header(self, fields):
        if fields.get("version", 0) != VERSION:
            raise ValueError(
                f"load: the version of a traced module must be at most {VERSION}, got "
                f"{fields.get('version', 0)}"
            )

    def _name(self, fields):
        kind, name = fields.get("kind", 0), fields.get("name", "")
        steps = steps_from(kind, name, fields.get("version", 0))
        value = self._kind if (kind, name) == (MODULE, TRACED) else None
        if value is None and kind not in (METHOD, OPDEF):
            value = find(kind, name)
        if value is None and kind not in (METHOD, OPDEF) and not (steps and kind == FUNCTION):
            raise ValueError(
                f"load: functions and classes must be known to this version, got {name!r}"
            )
        self._names.append((kind, name, value, steps))

    def _named(self, number):
        return self._names[number][:3]

    def _array(self, number):
        return self._arrays[number]

    def _known(self, kind, body):
        if kind == "node":
            return self._check_node(self._nodes[body])
        if kind == "module":
            return self._modules[body]
        if kind == "made" and self._made_by is not None:
            return self._node(body, self._made_by)
        if kind == "body" and self._open and self._bodies[body] is not None:
            graph, outer = self._bodies[body]
            if outer is self._open[-1]:
                self._bodies[body] = None  # each is of one expression
                return graph
        raise ValueError(f"load: values must be where they are known, got a {kind} elsewhere")

    def _check_node(self, node):
        if not any(node.top_graph is graph for graph in self._open):
            inner = self._open[-1].qualname if self._open else "no graph"
            raise ValueError(
                f"load: a node must be of the graph that reads it or of one around, got "
                f"{node.qualname} in {inner}"
            )
        return node

    # Modules.

    def _module(self, fields):
        kind, name, value, _ = self._names[fields.get("name", 0)]
        if kind not in (MODULE, BUILTIN):
            raise ValueError(f"load: the class of a module must be one of modules, got {name!r}")
        is_traced = value is self._kind
        self._modules.append(self._kind("") if is_traced else object.__new__(value))
        self._classes.append(fields.get("name", 0))

    def _attributes(self, fields):
        number = fields.get("module", 0)
        module, named = self._modules[number], self._classes[number]
        if named is None:
            raise ValueError(f"load: a module must have its attributes once, got {number} again")
        self._classes[number] = None
        state = {each.get("name", ""): self._value(each["value"]) for each in fields["entries"]}
        for step in self._names[named][3]:
            step(state)
        validating.check_state(self._names[named][1], state)
        _fill(module, state)

    # Graphs.

    def _graph(self, fields):
        graph = InternalGraph(fields.get("name", ""), fields.get("qualname", ""), self._ids)
        if owner := fields.get("owner", 0):
            module = self._modules[owner - 1]
            is_ready = isinstance(module, self._kind) and self._classes[owner - 1] is None
            if not is_ready or self._open:
                raise ValueError(
                    f"load: a graph must be of a module that is read already, got {graph.qualname}"
                )
            graph.set_owner(module)
        else:
            validating.check_name(graph.name, self._open[-1].names)
            graph.set_outer(self._open[-1])
        self._open.append(graph)
        for each in fields.get("inputs", ()):
            expr = Input(graph)
            self._number(expr, each)
            expr.result = self._node(each["node"], expr)
            graph.inputs.append(expr.result)
        parameters = [self._parameter(each) for each in fields.get("parameters", ())]
        graph.signature = GraphSignature(parameters)
        validating.check_parameters(graph)

    def _parameter(self, fields):
        kind = inspect._ParameterKind(fields.get("kind", 0))
        default = inspect.Parameter.empty
        if "default" in fields:
            default = self._value(fields["default"])
        return GraphParameter(fields.get("name", ""), kind, self._value(fields["tree"]), default)

    def _return(self, fields):
        graph = self._open[-1]
        graph.output_tree = self._value(fields["tree"])
        self._open.pop()
        if graph.owner is not None:
            type(graph.owner).add_graph(graph.owner, graph)
        else:
            self._bodies.append((graph, self._open[-1]))

    def _node(self, fields, expr):
        number, name = fields.get("id", 0), fields.get("name", "")
        validating.check_name(name, expr.top_graph.names)
        if number in self._numbers[1]:
            raise ValueError(f"load: numbers of nodes must differ, got {number} again")
        self._numbers[1].add(number)
        kind = NODES[fields.get("kind", 0)]
        if kind is ModuleNode:
            named = fields.get("module_type", 0)
            node = ModuleNode(expr, name, number, self._names[named - 1][2] if named else None)
        elif kind is ScalarNode:
            node = ScalarNode(expr, name, number, self._value(fields["value"]))
        else:
            node = self._tensor_node(expr, name, number, fields)
        self._nodes.append(node)
        return node

    def _tensor_node(self, expr, name, number, fields):
        node = TensorNode(expr, name, number)
        if fields.get("is_described"):
            node.shape, node.device = tuple(fields.get("shape", ())), fields.get("device", "")
            node.dtype = self._value(fields["dtype"])
        if "qparams" in fields:
            node.qparams = self._value(fields["qparams"])
        return node

    def _number(self, expr, fields):
        expr.id = fields.get("id", 0)
        if expr.id in self._numbers[0]:
            raise ValueError(f"load: numbers of expressions must differ, got {expr.id} again")
        self._numbers[0].add(expr.id)

    # Expressions.

    def _expr(self, fields):
        graph = self._open[-1]
        args = tuple([self._value(each) for each in fields.get("args", ())])
        kwargs = {each.get("name", ""): self._value(each["value"])
                  for each in fields.get("kwargs", ())}  # fmt: skip
        kind = KINDS[fields.get("kind", 0)]
        expr, steps = self._MAKERS[kind](self, graph, args, kwargs, fields)
        expr.line = fields.get("line", "")
        expr.modes = tuple([self._mode(each) for each in fields.get("modes", ())])
        self._number(expr, fields)
        self._made_by = expr
        expr.result = self._value(fields["result"])
        self._made_by = None
        if steps:
            self._upgrade(expr, steps)
        validating.check_call(expr)
        graph.own_exprs.append(expr)
        if any(isinstance(each, ModuleNode) for each in expr.args[:1]):
            self._exprs.append(expr)

    def _upgrade(self, expr, steps):
        """Runs the steps; what they add is numbered when all numbers of the file are known."""
        exprs = expr.top_graph.own_exprs
        count, known = len(exprs), {id(node) for node in expr.outputs}
        for step in steps:
            step(expr)
        self._added += exprs[count:]
        self._added += [node for each in (*exprs[count:], expr) for node in each.outputs
                        if id(node) not in known]  # fmt: skip

    def _mode(self, fields):
        mode = Mode(fields.get("name", ""), tuple(map(self._value, fields.get("arguments", ()))))
        validating.check_mode(mode)
        return mode

    def _get_attr(self, graph, args, kwargs, fields):
        (owner,) = args
        return GetAttr(graph, owner, fields.get("text", "")), ()

    def _set_attr(self, graph, args, kwargs, fields):
        owner, value = args
        return SetAttr(graph, owner, fields.get("text", ""), value), ()

    def _call_method(self, graph, args, kwargs, fields):
        kind, name, _, steps = self._names[fields.get("name", 0)]
        _check_kind(kind, (METHOD,), name)
        variant = fields.get("variant", 0)
        return CallMethod(graph, name, args, kwargs, variant=variant), steps

    def _call_function(self, graph, args, kwargs, fields):
        kind, name, value, steps = self._names[fields.get("name", 0)]
        if value not in validating.TENSORS:
            _check_kind(kind, (FUNCTION, WRAPPED), name)
        return CallFunction(graph, value, args, kwargs), steps

    def _apply(self, graph, args, kwargs, fields):
        kind, name, _, steps = self._names[fields.get("name", 0)]
        _check_kind(kind, (OPDEF,), name)
        try:
            opdef = _core.op_of_text(fields.get("text", ""))
        except RuntimeError:
            if not steps:
                raise
            opdef = None
        return Apply(graph, opdef, args), steps

    def _constant(self, graph, args, kwargs, fields):
        value, is_fresh = self._value(fields["constant"]), fields.get("fresh", False)
        if is_fresh and not isinstance(value, Tensor):
            raise ValueError(f"load: a constant to write to must be a tensor, got {value!r}")
        return Constant(graph, value, is_fresh=is_fresh), ()

    _MAKERS = {GetAttr: _get_attr, SetAttr: _set_attr, CallMethod: _call_method,
               CallFunction: _call_function, Apply: _apply, Constant: _constant}  # fmt: skip
    _READERS = {"header": _header, "name": _name, "module": _module, "attributes": _attributes,
                "graph": _graph, "expr": _expr, "return": _return,
                "end": lambda self, fields: None}  # fmt: skip


def _check_kind(kind, kinds, name):
    if kind not in kinds:
        raise ValueError(f"load: a name must be of what is called, got {name!r} of kind {kind}")


def _fill(module, state):
    own = {name: state[name] for name in FIRST}
    own.update((name, OrderedDict()) for name in HOOKS[:2])
    own.update(state)
    vars(module).update(own)
    if hasattr(module, "__setstate__"):
        module.__setstate__(own)  # it may know what older files lack
