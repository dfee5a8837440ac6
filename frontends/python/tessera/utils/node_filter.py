"""Lists of a network's nodes, filtered."""

import fnmatch
import re
from collections import OrderedDict

from ._dependencies import get_oprs_seq
from .network_node import Host2DeviceCopy, ImmutableTensor, NetworkNode, OpNode, VarNode

__all__ = ["NodeFilter", "as_oprnode", "as_varnode"]


def as_varnode(obj):
    """The variable that `obj` is, a variable, an operator of one output, or a list of one of these.

    TypeError: it must be one of them. ValueError: there must be one.
    """
    if isinstance(obj, VarNode):
        return obj
    if isinstance(obj, OpNode):
        return _only(obj.outputs, "as_varnode", obj)
    return as_varnode(_only(_listed(obj, "as_varnode"), "as_varnode", obj))


def as_oprnode(obj):
    """The operator that `obj` is, or that gives it; as `as_varnode`."""
    if isinstance(obj, VarNode):
        return obj.owner
    if isinstance(obj, OpNode):
        return obj
    return as_oprnode(_only(_listed(obj, "as_oprnode"), "as_oprnode", obj))


def _listed(obj, what):
    if isinstance(obj, str) or not hasattr(obj, "__iter__"):
        raise TypeError(f"{what}: value must be a VarNode or an OpNode, got {obj!r}")
    return list(obj)


def _only(nodes, what, obj):
    if len(nodes) != 1:
        raise ValueError(f"{what}: there must be one node, got {len(nodes)} of {obj!r}")
    return nodes[0]


class NodeFilter:
    """Nodes, of which each method keeps some; a filter is listed when it is iterated.

    `NodeFilter(nodes).type(Elemwise).name("*relu*").as_list()`. Given a variable or an operator, it
    has the operators that it depends on.
    """

    def __init__(self, nodes):
        if isinstance(nodes, VarNode):
            nodes = _before(nodes.owner)
        elif isinstance(nodes, OpNode):
            nodes = _before(nodes)
        self._nodes = nodes

    @classmethod
    def make_all_deps(cls, *dest_vars):
        """All operators that give these variables."""
        return cls([opr for var in dest_vars for opr in [*_before(var.owner), var.owner]])

    def __iter__(self):
        for node in self._nodes:
            if not isinstance(node, NetworkNode):
                raise TypeError(f"NodeFilter: nodes must be VarNode or OpNode, got {node!r}")
            yield node

    def _keep(self, keeps):
        return NodeFilter(_Kept(self, keeps))

    def type(self, node_type):
        """Those of a class."""
        return self._keep(lambda node: isinstance(node, _class(node_type)))

    def not_type(self, node_type):
        """Those of any other class."""
        return self._keep(lambda node: not isinstance(node, _class(node_type)))

    def check_type(self, node_type):
        """All; a TypeError when one is not of this class."""

        def _check(node):
            if not isinstance(node, _class(node_type)):
                raise TypeError(
                    f"check_type: nodes must be {node_type.__name__}, got {type(node).__name__}"
                )
            return True

        return self._keep(_check)

    def param_provider(self):
        """Constants."""
        return self.type(ImmutableTensor)

    def data_provider(self):
        """Inputs."""
        return self.type(Host2DeviceCopy)

    def name(self, pattern, ignorecase=True):
        """Those whose name is `pattern`, or matches it as a glob with ? and *."""
        glob = re.compile(fnmatch.translate(pattern), re.IGNORECASE if ignorecase else 0)
        return self._keep(lambda node: node.name == pattern or glob.match(node.name))

    def has_input(self, var):
        """Operators that read `var`."""
        var = as_varnode(var)
        return self._keep(lambda opr: any(each is var for each in opr.inputs))

    def as_list(self):
        """The nodes as a list."""
        return list(self)

    def as_unique(self):
        """The only node. ValueError: there must be one."""
        return _only(list(self), "as_unique", self)

    def as_dict(self):
        """The nodes by name, in their order."""
        return OrderedDict((node.name, node) for node in self)

    def as_count(self):
        """The number of nodes."""
        return sum(1 for _ in self)

    def __repr__(self):
        return f"NodeFilter({self.as_list()})"


class _Kept:
    def __init__(self, nodes, keeps):
        self._nodes, self._keeps = nodes, keeps

    def __iter__(self):
        return (node for node in self._nodes if self._keeps(node))


def _class(node_type):
    if not (isinstance(node_type, type) and issubclass(node_type, NetworkNode)):
        raise TypeError(f"type: value must be a class of nodes, got {node_type!r}")
    return node_type


def _before(opr):
    """The operators that `opr` depends on, each behind what it depends on itself."""
    return [each for each in get_oprs_seq(opr.outputs, prune_immtensor=False) if each is not opr]
