"""Variables and operators of graphs: what they depend on, and copies with parts replaced."""

import collections
import os
import tempfile

from .. import _core
from ..jit import load
from ..tensor import Tensor
from ._dependencies import get_dep_vars, get_oprs_seq, listed
from .network import Network, as_path
from .network_node import OpNode

__all__ = [
    "GraphInference",
    "get_dep_vars",
    "get_opr_type",
    "get_oprs_seq",
    "get_owner_opr_inputs",
    "get_owner_opr_type",
    "graph_traversal",
    "replace_oprs",
    "replace_vars",
    "set_priority_to_id",
]


def get_owner_opr_inputs(var):
    """The inputs of the operator that gives `var`."""
    return var.owner.inputs


def get_owner_opr_type(var):
    """The type of the operator that gives `var`."""
    return var.owner.type


def get_opr_type(opr):
    """The type of an operator: MegEngine's name where it has one, as "Elemwise"."""
    if not isinstance(opr, OpNode):
        raise TypeError(f"get_opr_type: operator must be an OpNode, got {opr!r}")
    return opr.type


def graph_traversal(outputs):
    """All that gives `outputs`, a list of variables, as six dicts by the ids of operators (opr.id)
    and variables (var.id): operators; variables that are read; (operator, position) of what reads a
    variable; operators that read one of an operator's outputs; sets of operators by how many inputs
    they have; how many inputs an operator has."""
    oprs, variables, degrees = {}, {}, {}
    readers, receivers = collections.defaultdict(list), collections.defaultdict(list)
    by_degree = collections.defaultdict(set)
    for opr in get_oprs_seq(outputs, prune_immtensor=False):
        oprs[opr.id] = opr
        for position, var in enumerate(opr.inputs):
            variables[var.id] = var
            readers[var.id].append((opr.id, position))
            receivers[var.owner.id].append(opr.id)
        degrees[opr.id] = len(opr.inputs)
        by_degree[degrees[opr.id]].add(opr.id)
    return oprs, variables, readers, receivers, by_degree, degrees


def replace_vars(dst, varmap):
    """What the variables `dst` are where everything reads the values of `varmap`, a dict or pairs,
    in the place of its keys: copies of what changes, the graph stays as it is. What a value of
    `varmap` depends on itself goes on reading the key. An error says what does not fit."""
    pairs = list(varmap.items() if hasattr(varmap, "items") else varmap)
    for pair in pairs:
        listed("replace_vars", pair)
    return _core.with_replaced(listed("replace_vars", dst), pairs)


def replace_oprs(dst, oprmap):
    """As `replace_vars`, for each output of the operators of `oprmap`."""
    pairs = []
    for old, new in oprmap.items() if hasattr(oprmap, "items") else oprmap:
        if len(old.outputs) != len(new.outputs):
            raise ValueError(
                f"replace_oprs: operators must have equally many results, got {len(old.outputs)} "
                f"of {old!r} and {len(new.outputs)} of {new!r}"
            )
        pairs.extend(zip(old.outputs, new.outputs, strict=True))
    return replace_vars(dst, pairs)


def set_priority_to_id(dest_vars):
    """Nothing changes: operators that may come in any order come in that of their ids."""
    listed("set_priority_to_id", dest_vars)


class GraphInference:
    """The program of a dumped file, run with arrays: `run` gives a dict of arrays by name.

    Args:
        file: path or binary stream
        outputs: names of variables to give, those within the graph too; None: the program's own
        profiling, optimize_for_inference: no other program is made for them
    """

    def __init__(self, file, outputs=None, profiling=False, optimize_for_inference=False):
        with as_path(file) as path, tempfile.TemporaryDirectory() as folder:
            if outputs is not None:
                network, path = Network.load(path, outspec=list(outputs)), f"{folder}/part.tess"
                network.dump(path, optimize_for_inference=False, targets=())
            self._program = load(os.fspath(path))

    def run(self, *inp_args, inp_dict=None):
        """The outputs by name, as arrays; `inp_args` by position, `inp_dict` by name.

        TypeError: each input must be given once. Errors of shapes and dtypes are the program's.
        """
        results = self._program(*inp_args, **(inp_dict or {}))
        results = [results] if isinstance(results, Tensor) else results
        return collections.OrderedDict(
            (name, result.numpy())
            for name, result in zip(self._program.outputs, results, strict=True)
        )
