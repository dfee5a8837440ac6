"""Values of a graph: what its expressions read and make."""

from . import _current
from .operators import BINARY, SUBSCRIPTS, UNARY


class Node:
    """A value that an expression makes.

    `expr` makes it and `users` read it; `top_graph` is the graph of both, `id` its number, which no
    other node of the same module has, and `name` what the printed graph calls it.
    """

    def __init__(self, expr, name, number):
        self.expr, self.name, self.id = expr, name, number
        self._users = {}  # by id: expressions, as an ordered set

    @property
    def users(self):
        """The expressions that read it, each once."""
        return list(self._users.values())

    @property
    def top_graph(self):
        """The graph that it is in; None: in none."""
        return self.expr.top_graph

    @property
    def qualname(self):
        """Its name behind that of the module: "Net.layer.[relu_out]"."""
        graph = self.top_graph
        return f"[{self.name}]" if graph is None else f"{graph.qualname}.[{self.name}]"

    @property
    def type_name(self):
        """The class of its values, by name."""
        return "object"

    def __repr__(self):
        return f"{type(self).__name__}({self.name})"

    def __str__(self):
        return self.name


class ScalarNode(Node):
    """A number of Python that a run finds out: a size, or whether a module is in training; `value`
    is the one that was recorded.
    """

    def __init__(self, expr, name, number, value=0):
        super().__init__(expr, name, number)
        self.value = value

    @property
    def type_name(self):
        """The class of its values, by name."""
        return type(self.value).__name__


class ModuleNode(Node):
    """A module: `owner` is the module itself, `module_type` its class.

    Within `InternalGraph.insert_exprs` it is called as the module is, and has its attributes.
    """

    def __init__(self, expr, name, number, module_type=None):
        super().__init__(expr, name, number)
        self._type = module_type

    @property
    def owner(self):
        """The module; None where no module is known."""
        return self.expr.owner_of(self)

    @property
    def module_type(self):
        """The class of the module."""
        owner = self.owner
        return self._type if owner is None else type(owner)

    @property
    def qualname(self):
        """The path to the module from the outermost one, whose name comes first."""
        return self.expr.qualname_of(self)

    @property
    def type_name(self):
        """The class of the module by name: the user's own where it was opened."""
        owner, kind = self.owner, self.module_type
        return getattr(owner, "_class_name", None) or (kind.__name__ if kind else "Module")

    def __call__(self, *args, **kwargs):
        return _current.inserting(self).call_module(self, args, kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"ModuleNode: name must be an attribute, got {name!r}")
        return _current.inserting(self, name).attribute(self, name)


class TensorNode(Node):
    """A tensor, of which the graph knows `shape`, `dtype` and `device` as they were recorded.

    Within `InternalGraph.insert_exprs` operators, subscripts and methods of Tensor are recorded.
    """

    def __init__(self, expr, name, number, value=None):
        super().__init__(expr, name, number)
        self.shape = self.dtype = self.device = None
        self._qparams = None
        if value is not None:
            self.describe(value)

    def describe(self, value):
        """Takes over what is known of the tensor `value` but its elements."""
        self.shape = tuple(int(size) for size in value.shape)
        self.dtype, self.device = value.dtype, str(value.device)

    @property
    def qparams(self):
        """A quantization.QParams, which may be set; at first one that says nothing."""
        if self._qparams is None:
            from ..quantization.utils import QParams  # few need it

            self._qparams = QParams(None)
        return self._qparams

    @qparams.setter
    def qparams(self, value):
        """Sets it."""
        self._qparams = value

    @property
    def type_name(self):
        """The class of its values, by name."""
        return "Tensor"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"TensorNode: name must be an attribute, got {name!r}")
        return _current.inserting(self, name).attribute(self, name)

    __hash__ = Node.__hash__


def _recorded(name):
    def _method(self, *args):
        return _current.inserting(self).call_method(self, name, args, {})

    _method.__name__ = name
    return _method


for _name in (*BINARY, *UNARY, *SUBSCRIPTS):
    if _name not in ("__eq__", "__ne__"):  # nodes are compared by identity
        setattr(TensorNode, _name, _recorded(_name))
