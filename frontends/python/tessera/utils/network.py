"""The graph of a dumped file as data: listed, edited, dumped again."""

import contextlib
import os
import shutil
import tempfile

from .. import _core
from ..core import set_symbolic_shape
from ..jit import Dim
from ..jit.dump import written
from ..jit.file_options import FileOptions, checked_options, metadata_of
from ..logger import get_logger
from ._dependencies import get_dep_vars, get_oprs_seq
from .network_node import Host2DeviceCopy, ImmutableTensor, VarNode, node_object
from .node_filter import NodeFilter, as_oprnode, as_varnode
from .progress import compiling

__all__ = ["Network", "NodeFilter", "as_oprnode", "as_varnode", "set_symbolic_shape"]


@contextlib.contextmanager
def as_path(file):
    """The path of a file that is one, or of a copy of the binary stream `file`."""
    if not hasattr(file, "read"):
        yield os.fspath(file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.tess")
        with open(path, "wb") as copy:
            shutil.copyfileobj(file, copy)
        yield path


class Network:
    """A graph: its outputs, and all that gives them.

    >>> import tempfile
    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> from tessera.utils.network import Network
    >>> double = ts.jit.trace(lambda x: x * 2, capture_as_const=True)
    >>> _ = double(ts.tensor([1.0, -2.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = double.dump(f"{folder}/double.tess", arg_names=["x"], output_names=["y"])
    ...     network = Network.load(f"{folder}/double.tess")
    ...     y = network.get_var_by_name("y")
    ...     network.replace_vars({y: F.relu(y) + 1})
    ...     _ = network.dump(f"{folder}/edited.tess")
    ...     program = ts.jit.load(f"{folder}/edited.tess")
    >>> program(ts.tensor([3.0, -4.0])).tolist()
    [7.0, 1.0]

    Every function takes its variables (`VarNode`), and what it makes of them joins the graph. An
    edit infers again what depends on it; where that does not fit, it is the error of the operator
    that refuses, and the network stays as it was. Operators that no output needs are gone.
    """

    def __init__(self):
        self._take(_core.GraphEditor(), None)

    def _take(self, editor, metadata):
        self._editor, self.metadata, self._kept = editor, metadata, []
        self._keep_nodes()

    def _keep_nodes(self):
        """Keeps the objects of the nodes, whose edits concern this network."""
        self._kept = [node_object(node, self) for node in self._editor.nodes()]

    @classmethod
    def load(cls, model_path, outspec=None):
        """The network of a dumped file, a path or a binary stream; with `outspec`, a list of names
        of variables, these are its outputs.

        FileNotFoundError: the file must exist. ValueError: it must be whole, and have the names.
        """
        self = cls()
        with as_path(model_path) as path:
            editor, texts = _core.GraphEditor.open(path)
        self._take(editor, metadata_of(texts))
        if outspec is not None:
            wanted = [self.get_var_by_name(name) for name in outspec]
            self.remove_output(*self.output_vars)
            self.add_output(*wanted)
        return self

    def dump(self, file, *, keep_var_name=1, keep_opr_name=False, keep_param_name=False,
             keep_opr_priority=False, no_change_graph=False, strip_info_file=None,
             append_json=False, optimize_for_inference=True, append=False, user_info=None,
             enable_metadata=True, dump_format=None, model_version=2, targets=("host",),
             **options):  # fmt: skip
        """Writes the program to `file`, a path or a binary stream.

        Args:
            keep_param_name: keeps the names of parameters
            targets: machines to compile for, as all others of `trace.dump`, which has its own
                default for the names of parameters only

        Returns a DumpInfo, as `trace.dump`, and has its errors; ValueError also where an output is
        missing or a name comes twice. `enable_io16xc32` is a NotImplementedError: no function is
        there to be recorded again.
        """
        shared = FileOptions(append, keep_var_name, keep_opr_name, keep_param_name,
                             keep_opr_priority, no_change_graph, strip_info_file, append_json,
                             optimize_for_inference, user_info, enable_metadata, dump_format,
                             model_version, options, has_recording=False)  # fmt: skip
        arguments = list(targets), shared.texts(True), shared.names, shared.fuses
        with written(file) as path, compiling("compiling a network"):
            return shared.finish(self._editor.dump(path, *arguments))

    def optimize_for_inference(self, dest_vars, **options):
        """The variables themselves: programs are optimised when they are compiled.

        NotImplementedError: options must be among those that the compiler does anyway, which
        `trace.dump` lists. ValueError: they must be MegEngine's.
        """
        checked_options(options, has_recording=False)
        return [dest_vars] if isinstance(dest_vars, VarNode) else list(dest_vars)

    @property
    def input_vars(self):
        """The variables of the inputs, in the order of a call."""
        return [node.outputs[0] for node in self._editor.inputs()]

    @property
    def output_vars(self):
        """The outputs."""
        return [var for var, _ in self._editor.outputs()]

    dest_vars = output_vars

    @property
    def output_names(self):
        """Their names in the next dump."""
        return [name or var.name for var, name in self._editor.outputs()]

    def make_const(self, data, name=None, device=None):
        """The variable of a new constant, as `tensor` makes of `data`."""
        return ImmutableTensor(data, name, device).outputs[0]

    def make_input_node(self, shape, dtype, name=None, device=None):
        """The variable of a new input; a size may be a `jit.Dim`. It joins the network with what
        reads it."""
        return Host2DeviceCopy(shape, dtype, name, device).outputs[0]

    def add_dep_oprs(self, *vars):
        """The variables, by default the outputs, as a list: what they depend on is theirs."""
        return [as_varnode(var) for var in vars] if vars else self.output_vars

    def add_output(self, *vars):
        """Adds outputs, those of other networks too; what is one already stays."""
        for var in vars:
            self._editor.add_output(as_varnode(var))
        self._keep_nodes()

    def remove_output(self, *vars):
        """Takes outputs away; of another variable the log says that it is none."""
        for var in vars:
            if not self._editor.remove_output(as_varnode(var)):
                get_logger(__name__).warning("remove_output: %r is no output", var)
        self._keep_nodes()

    def replace_vars(self, repl_dict):
        """Makes everything that reads a key read its value; an output keeps its name.

        What the value depends on itself goes on reading the key, so that a variable may be replaced
        by a function of it.
        """
        pairs = [(as_varnode(old), as_varnode(new)) for old, new in repl_dict.items()]
        self._editor.replace_vars(pairs)
        self._keep_nodes()

    def replace_oprs(self, repl_dict):
        """The same for each output of an operator; the variables of the old one are the new one's.

        ValueError: both must have equally many outputs.
        """
        pairs = [(as_oprnode(old), as_oprnode(new)) for old, new in repl_dict.items()]
        self._editor.replace_nodes([(old._node, new._node) for old, new in pairs])
        for old, new in pairs:
            old._replaced = new
        self._keep_nodes()

    def reset_batch_size(self, batchsize, *, blacklist=()):
        """Makes the first size of each input `batchsize`, a number or a `jit.Dim`.

        Args:
            batchsize: the new size
            blacklist: names of inputs that keep theirs

        ValueError: there must be inputs, with one first size; names must be those of inputs; what
        depends on the size must fit, which a reshape to numbers may not: dump such a function with
        a free dimension.
        """
        oprs = self.data_providers_filter.as_list()
        unknown = set(blacklist) - {opr.name for opr in oprs}
        if unknown:
            raise ValueError(
                f"reset_batch_size: blacklist must be names of inputs, got {sorted(unknown)}"
            )
        shapes = {opr: opr.outputs[0].shape for opr in oprs if opr.name not in blacklist}
        first = {str(shape[0]) if shape else "none" for shape in shapes.values()}
        if len(first) != 1 or "none" in first:
            raise ValueError(
                f"reset_batch_size: inputs must have one first size, got {sorted(first) or 'none'}"
            )
        is_dim = isinstance(batchsize, Dim)
        size = (batchsize.name, batchsize.min, batchsize.max or -1) if is_dim else int(batchsize)
        handles = lambda sizes: [getattr(each, "_handle", each) for each in sizes]  # noqa: E731
        self._editor.set_shapes(
            [(opr._node, [size, *handles(shape[1:])]) for opr, shape in shapes.items()]
        )

    def modify_opr_names(self, modifier):
        """Gives every operator the name that `modifier` makes of its name, or, where it is a str,
        that and a dot before the name: to tell networks apart that become one."""
        changed = (lambda name: f"{modifier}.{name}") if isinstance(modifier, str) else modifier
        for opr in self.all_oprs:
            name = changed(opr.name)
            if not isinstance(name, str):
                raise TypeError(f"modify_opr_names: the name must be a str, got {name!r}")
            opr.name = name

    def get_opr_by_type(self, oprcls, unique=True):
        """The operator of a class; a list of all where it need not be `unique`."""
        found = self.opr_filter.type(oprcls).as_list()
        return _one(found, f"type {oprcls.__name__}") if unique else found

    def get_opr_by_name(self, name, unique=True):
        """The same by a name or a glob."""
        found = self.opr_filter.name(name).as_list()
        return _one(found, f"name {name!r}") if unique else found

    def get_var_by_name(self, name, unique=True):
        """The variable with a name, or whose name matches a glob, as `get_opr_by_name`."""
        found = self.var_filter.name(name).as_list()
        return _one(found, f"name {name!r}") if unique else found

    def get_var_receive_oprs(self, var):
        """The operators that read `var`."""
        return self.opr_filter.has_input(var).as_list()

    def get_dep_oprs(self, var):
        """The operators that give `var`, each behind what it reads."""
        return get_oprs_seq(var, False, False)

    @property
    def all_oprs(self):
        """All operators, inputs and constants, each behind what it reads."""
        return [node_object(node, self) for node in self._editor.nodes()]

    @property
    def all_vars(self):
        """All variables that outputs depend on, outputs first."""
        return get_dep_vars(self.output_vars)

    opr_filter = property(lambda self: NodeFilter(self.all_oprs), doc="All operators.")
    var_filter = property(lambda self: NodeFilter(self.all_vars), doc="All variables.")
    params_filter = property(lambda self: self.opr_filter.param_provider(), doc="Constants.")
    data_providers_filter = property(lambda self: self.opr_filter.data_provider(), doc="Inputs.")
    all_vars_dict = property(lambda self: self.var_filter.as_dict(), doc="Variables by name.")
    all_oprs_dict = property(lambda self: self.opr_filter.as_dict(), doc="Operators by name.")

    def __repr__(self):
        return f"Network(inputs={self.input_vars}, outputs={self.output_vars})"


def _one(found, what):
    if len(found) != 1:
        raise ValueError(f"Network: there must be one node with {what}, got {len(found)}")
    return found[0]
