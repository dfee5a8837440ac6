"""Changes of a graph: each is refused, and changes nothing, where the graph would be wrong."""

import inspect

from .. import _core
from .comparing import differences
from .expr import Constant, GetAttr, Input
from .inference import Inference
from .inserting import Inserter
from .node import Node, TensorNode
from .pytree import leaves_of, map_leaves
from .signature import GraphParameter


class Editing(Inference):
    """The part of InternalGraph that changes it. A call that is running goes on as it began."""

    # Order.

    def position_of(self, node):
        """Where in `own_exprs` a node of this graph is made: -1 for an input; None: nowhere."""
        if any(node is each for each in self.inputs):
            return -1
        return next((i for i, expr in enumerate(self.own_exprs)
                     if any(node is each for each in expr.outputs)), None)  # fmt: skip

    def check_order(self):
        """ValueError unless each node is made before it is read; a body reads those around it."""
        made = {id(node) for node in self.inputs}
        if self.is_body:
            made.update(id(node) for node in self.captures if node.top_graph is not self)
        for expr in self.own_exprs:
            late = [node for node in expr.inputs if id(node) not in made]
            if late:
                raise ValueError(
                    f"{self.title}: a node must be made before it is read, got {late[0].name} in "
                    f"'{expr}'"
                )
            made.update(id(node) for node in expr.outputs)
        late = [node for node in self.outputs if id(node) not in made]
        if late:
            raise ValueError(
                f"{self.title}: outputs must be nodes of the graph, got {late[0].name}"
            )

    def _check_own(self, name, nodes):
        """ValueError unless all are nodes of this graph. TypeError: they must be nodes."""
        made = {id(node) for node in self.inputs}
        made.update(id(node) for expr in self.own_exprs for node in expr.outputs)
        for node in nodes:
            if not isinstance(node, Node):
                raise TypeError(f"{name}: values must be nodes, got {node!r}")
            if id(node) not in made:
                raise ValueError(f"{name}: nodes must be of this graph, got {node.qualname}")

    # Dropping.

    def drop_unread(self):
        """Drops attributes, constants and sizes that nobody reads."""
        self._drop(lambda expr: isinstance(expr, (Constant, GetAttr)) or not any(
            isinstance(node, TensorNode) for node in expr.outputs + expr.inputs
        ))  # fmt: skip

    def compile(self):
        """Drops the expressions that nobody reads and that have no effect; returns the graph.

        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> import tessera.traced_module as tm
        >>> class Net(M.Module):
        ...     def forward(self, x):
        ...         F.exp(x)
        ...         return F.relu(x)
        >>> graph = tm.trace_module(Net(), F.zeros(2)).graph
        >>> graph.exprs().as_count(), graph.compile().exprs().as_count()
        (2, 1)
        """
        self._drop(lambda expr: True)
        return self

    def _drop(self, may_go):
        for expr in self.own_exprs:
            for body in expr.bodies:
                body._drop(may_go)
        needed, kept = {id(node) for node in self.outputs}, []
        for expr in reversed(self.own_exprs):
            is_read = any(id(node) in needed for node in expr.outputs)
            if is_read or expr.has_effect or not may_go(expr):
                needed.update(id(node) for node in expr.inputs)
                kept.append(expr)
            else:
                expr.set_arguments((), {})
                expr.top_graph = None
        if len(kept) != len(self.own_exprs):
            self.own_exprs = kept[::-1]
            self.changed()

    # Inputs and outputs.

    def add_input_node(self, shape, dtype="float32", name="args"):
        """Adds a parameter, which calls of the module give by position; returns its node.

        ValueError: the graph must be the outermost, and take no `*args` or `**kwargs`.
        """
        self._check_outermost("add_input_node")
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = self.signature.parameters
        if any(each.kind != kind or each.has_default for each in parameters):
            raise ValueError(
                "add_input_node: parameters must be positional and without defaults, got "
                f"{[each.name for each in parameters]}"
            )
        node = Input.make(self, name, value=_core.valueless_tensor(list(shape), str(dtype)))
        parameters.append(GraphParameter(node.name, kind, node))
        self.changed()
        return node

    def reset_inputs(self, *args, **kwargs):
        """Takes the shapes and dtypes of other arguments: as many tensors as there are inputs, in
        the order of theirs; returns the nodes, the module's first.

        ValueError: the graph must be the outermost, and the tensors as many as its inputs.
        """
        self._check_outermost("reset_inputs")
        given = leaves_of((args, tuple(kwargs.values())))
        nodes = [node for node in self.inputs if isinstance(node, TensorNode)]
        tensors = [leaf for leaf in given if hasattr(leaf, "shape")]
        if len(tensors) != len(nodes):
            raise ValueError(
                f"reset_inputs: there must be a tensor for each of {len(nodes)} inputs, got "
                f"{len(tensors)}"
            )
        self._infer(dict(zip(map(id, nodes), tensors, strict=True)))
        return list(self.inputs)

    def _check_outermost(self, name):
        owner = self.owner
        if owner is None or not owner.is_outermost:
            raise ValueError(f"{name}: the graph must be the outermost, got {self.qualname}")

    def reset_outputs(self, outputs):
        """Returns other nodes: one, or a tuple, list or dict of them.

        ValueError: they must be of this graph. TypeError: they must be nodes.
        """
        self._check_own("reset_outputs", leaves_of(outputs))
        self.output_tree = outputs
        self.changed()

    def add_output_node(self, node):
        """Returns `node`, too, as the last of a tuple.

        ValueError: it must be of this graph. TypeError: it must be a node.
        """
        self._check_own("add_output_node", [node])
        before = self.output_tree
        self.output_tree = (*(before if type(before) is tuple else (before,)), node)
        self.changed()

    # Expressions.

    def insert_exprs(self, expr=None):
        """A context in which calls of nodes become expressions of this graph.

        They stand behind `expr`, or behind the last that they read from. In the context a node is
        given to functions, has the operators and methods of Tensor, and is called where it is a
        module's. Nothing is computed: nodes get the shapes and dtypes that follow.

        ValueError: a node must be of this graph, and be made before `expr` ends; nothing is
        inserted then.

        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> import tessera.traced_module as tm
        >>> net = tm.trace_module(M.Sequential(M.Linear(2, 2)), F.zeros((1, 2)))
        >>> out = net.graph.outputs[0]
        >>> with net.graph.insert_exprs():
        ...     new = F.relu(out) * 2
        >>> net.graph.replace_node({out: new})
        >>> print(net.graph.exprs().as_list()[-1])
        mul_out = relu_out.__mul__(2, )
        """
        if expr is not None and not any(expr is each for each in self.own_exprs):
            raise ValueError(f"insert_exprs: expr must be of this graph, got '{expr}'")
        return Inserter(self, expr)

    def insert_at(self, position, exprs):
        """Puts expressions before the one at `position`."""
        before = self.own_exprs
        self.own_exprs = [*before[:position], *exprs, *before[position:]]
        try:
            self.check_order()
        except ValueError:
            self.own_exprs = before
            raise
        self.changed()

    def replace_node(self, repl_dict):
        """Has all that reads a node read another one: `{old: new}`. An expression that the new
        one is computed by keeps the old one.

        ValueError: both must be of this graph, and the new one be made before it is read.
        """
        self._check_own("replace_node", [*repl_dict, *repl_dict.values()])
        moved = []
        for old, new in repl_dict.items():
            kept = {id(expr) for expr in self.get_dep_exprs(new)}
            start = self.position_of(new)
            for number, expr in enumerate(self.own_exprs):
                is_kept = number <= start and id(expr) in kept
                if not is_kept and any(node is old for node in expr.inputs):
                    if number <= start:
                        raise ValueError(
                            f"replace_node: a node must be made before it is read, got {new.name} "
                            f"for {old.name} in '{expr}'"
                        )
                    moved.append((expr, {id(old): new}))
        for expr, replaced in moved:
            expr.replace_inputs(replaced)
        replaced = {id(old): new for old, new in repl_dict.items()}
        self.output_tree = map_leaves(lambda leaf: replaced.get(id(leaf), leaf), self.output_tree)
        self.changed()

    def diff(self, other):
        """Lines that tell how this graph and `other` differ, as a unified diff; empty where they
        compute the same by the same calls, whatever their nodes are called.

        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> import tessera.traced_module as tm
        >>> relu, gelu = (tm.trace_module(kind(), F.zeros(2)).graph for kind in (M.ReLU, M.GELU))
        >>> relu.diff(relu)
        []
        >>> print("\\n".join(relu.diff(gelu)[2:]))
        @@ -1,2 +1,2 @@
        -%2 = nn.relu(%1)
        +%2 = nn.gelu(%1)
         return %2
        """
        return differences(self, other)
