"""Nodes of a network: its variables, which are tensors to every function, and its operators.

Each record has a class here, made when it is first asked for, below MegEngine's class for it:
`Relu` is an `Elemwise`, `Conv2d` a `ConvolutionForward`. Where MegEngine names one operator, its
name and the record's are two classes of the same operators.
"""

import weakref

import numpy as np

from .. import _core
from ..jit.dump import scratch
from ..tensor import Tensor, tensor
from ._node_classes import FAMILIES, MODES, family_of


class NetworkNode:
    """A variable or an operator."""


class VarNode(NetworkNode, Tensor):
    """A variable of a network: a tensor without a value, which every function takes.

    What a function makes of it is a variable, too, and its operator joins the graph. Other tensors
    and numbers become constants there. `shape` has an int for each axis, or an expression of free
    sizes that prints their names and that functions take as a size. As in MegEngine a variable is
    false, so that `in` and `index` of lists find the object itself.
    """

    @property
    def name(self):
        """The name: of an output, an input or a parameter that of the file."""
        node, result = _core.node_of(self)
        return _core.var_name(self) or f"{default_name(node)}{f':{result}' if result else ''}"

    @name.setter
    def name(self, name):
        """A name that the next dump may keep."""
        _core.set_var_name(self, name)

    @property
    def owner(self):
        """The operator that gives it."""
        return node_object(_core.node_of(self)[0])

    @property
    def id(self):
        """A number that no other variable has."""
        return id(self)

    @property
    def var(self):
        """The variable itself, MegEngine's name for what stands in its graph."""
        return self

    def numpy(self):
        """The value of a constant or a state, or what such give. ValueError: a variable that
        depends on an input has none.
        """
        value = value_of(self)
        return super().numpy() if value is None else value.numpy()

    def item(self, *index):
        """One element of its value, as a number."""
        value = value_of(self)
        return super().item(*index) if value is None else value.item(*index)

    def tolist(self):
        """Its value in nested lists."""
        value = value_of(self)
        return super().tolist() if value is None else value.tolist()

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.numpy(), dtype)

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def set_value(self, data):
        """As that of its operator, a constant or a state."""
        owner = self.owner
        if not isinstance(owner, ConstOpBase):
            raise ValueError(f"set_value: the variable must be a constant, got {self!r}")
        owner.set_value(data)
        return self

    _repr_html_ = None  # it has no values to show

    def __bool__(self):
        return False

    def __hash__(self):
        return id(self)

    def __repr__(self):
        sizes = ", ".join(str(size) for size in self.shape)
        return f"VarNode({self.name!r}, {self._dtype_key}[{sizes}])"


_core.set_var_node(VarNode)
_objects = weakref.WeakValueDictionary()  # operators by the number of their node


def node_object(node, network=None):
    """The object of a node; `network`: edits of it concern this one from now on."""
    made = _objects.get(node.serial)
    if made is None:
        kinds = {"input": Host2DeviceCopy, "constant": ImmutableTensor, "state": SharedDeviceTensor}
        cls = kinds.get(node.kind) or class_of(node)
        made = cls.__new__(cls)
        made._take(node)
    if network is not None:
        made._network = weakref.ref(network)
    return made


class OpNode(NetworkNode):
    """An operator of a network, with its inputs, outputs and parameters."""

    type = None

    def _take(self, node):
        self._node, self._network, self._replaced = node, lambda: None, None
        _objects[node.serial] = self

    @property
    def id(self):
        """A number that no other operator has, in the order in which they were made."""
        return self._node.serial

    @property
    def name(self):
        """The name, which its first output shares."""
        return self.outputs[0].name

    @name.setter
    def name(self, name):
        """The same for its first output."""
        self.outputs[0].name = name

    @property
    def inputs(self):
        """The variables that it reads."""
        return self._node.inputs

    @property
    def outputs(self):
        """The variables that it gives, those that no function returns too; of one that was
        replaced those of the other."""
        return self._node.outputs if self._replaced is None else self._replaced.outputs

    @property
    def priority(self):
        """Operators that may come in any order come in this one."""
        return (0, self.id)

    @property
    def location(self):
        """The user's line that called it, and the path of the module."""
        return self._node.location

    @property
    def opdef(self):
        """The operator of `core.ops.builtin`, with its parameters; None for a loop."""
        return self._node.op

    @property
    def params(self):
        """The parameters by name; a new value changes the operator, see `set_params`."""
        return _Params(self)

    def set_params(self, **params):
        """Changes parameters. What depends on the operator is inferred again: an error, such as
        ValueError for a shape that does not fit, leaves the network as it was."""
        if self.opdef is None:
            raise TypeError(f"set_params: operator must have parameters, got {self!r}")
        unknown = [name for name in params if name not in self.opdef.props()]
        if unknown:
            known = list(self.opdef.props())
            raise ValueError(f"set_params: parameters must be among {known}, got {unknown}")
        changed = type(self.opdef)(**{**self.opdef.props(), **params})
        self._editor().set_op(self._node, changed)

    def _editor(self):
        network = self._network()
        if network is not None:
            return network._editor
        editor = _core.GraphEditor()  # nothing but its own outputs depends on it, as far as known
        for var in self.outputs:
            editor.add_output(var)
        return editor

    def __repr__(self):
        return f"{self.name}{{{self.type}}}"


class _Params(dict):
    """The parameters of an operator; MegEngine's `mode` of a family is one that only shows."""

    def __init__(self, opr):
        super().__init__(opr.opdef.props() if opr.opdef is not None else {})
        self._opr = opr
        mode = MODES.get(opr._node.op_name)
        if mode:
            dict.__setitem__(self, "mode", mode)

    def __setitem__(self, name, value):
        self._opr.set_params(**{name: value})
        super().__setitem__(name, value)

    def update(self, *args, **kwargs):
        """Several new values at once."""
        changes = dict(*args, **kwargs)
        self._opr.set_params(**changes)
        super().update(changes)


class Host2DeviceCopy(OpNode):
    """An input: what each call of the program gives."""

    type = "Host2DeviceCopy"

    def __init__(self, shape, dtype=None, name=None, device=None):
        sizes = [(s.name, s.min, s.max or -1) if hasattr(s, "min") else int(s) for s in shape]
        self._take(_core.graph_input(name or "", dtype or np.float32, sizes))

    @property
    def shape(self):
        """Sizes of the axes; a new value is inferred through the network, see `set_params`."""
        return self.outputs[0].shape

    @shape.setter
    def shape(self, shape):
        """Infers all that depends on the input again."""
        self._editor().set_shapes([(self._node, [getattr(s, "_handle", s) for s in shape])])

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self.outputs[0].dtype


class ConstOpBase(OpNode):
    """A value that is part of the program."""

    def __init__(self, data, name=None, device=None, graph=None):
        self._take(_core.graph_constant(_tensor_of(data), name or ""))

    shape = property(lambda self: self.outputs[0].shape)
    dtype = property(lambda self: self.outputs[0].dtype)

    def numpy(self):
        """The value as an array."""
        return self._node.value.numpy()

    def set_value(self, data, device=None):
        """Takes another value: an array or tensor with its own dtype, numbers with the present one.
        What depends on it is inferred again, as by `set_params`."""
        own = isinstance(data, (np.ndarray, Tensor))
        self._editor().set_value(self._node, _tensor_of(data, None if own else self.dtype))


class ImmutableTensor(ConstOpBase):
    """A constant: a parameter, or a number of the function."""

    type = "ImmutableTensor"


class SharedDeviceTensor(ConstOpBase):
    """What the program keeps from call to call: its value before the first."""

    type = "SharedDeviceTensor"


class ReadOnlyOpNode(OpNode):
    """An operator without parameters to change: a loop."""


def _tensor_of(data, dtype=None):
    return data if isinstance(data, Tensor) and dtype is None else tensor(data, dtype=dtype)


def value_of(var):
    """The tensor that a variable of constants and states stands for, computed now; None: it depends
    on an input, or on the size of one.
    """
    node, _ = _core.node_of(var)
    if node.value is not None:
        return node.value
    if any(each.kind == "input" or each.reads_sizes for each in _core.dependencies([var])):
        return None
    editor = _core.GraphEditor()
    editor.add_output(var)
    names = dict.fromkeys(("outputs", "values", "operators", "constants"), False)
    with scratch() as path:
        editor.dump(path, ["host"], {}, names, True)
        return _core.load_program(path)()[0]


def default_name(node):
    """What stands for the name that a node does not have."""
    return f"{node.op_name or node.kind}_{node.serial}"


_classes = {}  # of operators by name


def _family(name):
    if name not in _classes:
        _classes[name] = type(name, (OpNode,), {"type": FAMILIES[name][0], "__module__": __name__})
    return _classes[name]


def _class_named(name):
    """The class of the record with this OpDef name."""
    if name not in _classes:
        family = family_of(name)
        base = _family(family) if family else OpNode
        members = {"__module__": __name__} | ({} if family else {"type": name})
        _classes[name] = type(name, (base,), members)
    return _classes[name]


def class_of(node):
    """The class of an operator's node."""
    return ReadOnlyOpNode if node.op is None else _class_named(node.op.name)


def __getattr__(name):
    if name in FAMILIES:
        return _family(name)
    if name not in {record["opdef"] for record in _core.op_table()}:
        raise AttributeError(f"network_node: name must be that of an operator, got {name!r}")
    return _class_named(name)
