"""Convex parts of a Network that a provider claims, each replaced by one operator."""

from ..utils.network import Network
from .operator import ProviderOperator
from .subgraph import Subgraph, key_of


def partition(network, provider, predicate=None):
    """Hands the operators of a program that a provider claims to it, as few and large parts.

    A part is convex: no path leaves it and comes back. Each becomes one operator, which runs
    eagerly, in files that Python loads and in traces; what is not claimed stays Tessera's. Parts
    that constants alone give stay, too.

    Args:
        network: a Network, which is changed, or a dumped file: a path or a binary stream
        provider: the Provider
        predicate: a function of an OpNode that says whether the provider may have it; None: all

    Returns:
        The Network. Its dumped file needs `import tessera.provider` where it is loaded.

    Raises:
        FileNotFoundError, ValueError: the file must exist and be whole.
        NotImplementedError: the provider must be able to run what it claims.
        TypeError: the network must be a Network or a file.
    """
    if not isinstance(network, Network):
        network = _loaded(network)
    may_have = predicate or (lambda node: True)
    nodes = network.all_oprs
    claimed = {
        node.id
        for node in nodes
        if node.opdef is not None and may_have(node) and provider.claims(node)
    }
    parts = [Subgraph(part, _read_outside(network, part)) for part in _parts(nodes, claimed)]
    parts = [part for part in parts if part.inputs and part.outputs]
    operators = [
        ProviderOperator(provider, provider.compile(part), f"{provider.name}_part{number}")
        for number, part in enumerate(parts)
    ]
    for part, operator in zip(parts, operators, strict=True):
        _replace(network, part, operator)
    return network


def _loaded(file):
    if not (isinstance(file, (str, bytes)) or hasattr(file, "read") or hasattr(file, "__fspath__")):
        raise TypeError(
            f"partition: network must be a Network or a file, got {type(file).__name__}"
        )
    return Network.load(file)


def _replace(network, part, operator):
    # The operators of a part before it were replaced, so what it reads is asked for now.
    inputs = Subgraph(part.nodes, part.outputs).inputs
    results = operator(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    network.replace_vars(dict(zip(part.outputs, results, strict=True)))


def _read_outside(network, part):
    """The variables of a part that other operators read, or that the network gives."""
    inside = {node.id for node in part}
    read = {key_of(var) for var in network.output_vars}
    for node in network.all_oprs:
        if node.id not in inside:
            read.update(map(key_of, node.inputs))
    return [var for node in part for var in node.outputs if key_of(var) in read]


def _parts(nodes, claimed):
    """Lists of claimed operators that are connected, in the order of their last ones."""
    graph = _Condensed()
    for node in nodes:
        graph.add(node, node.id in claimed)
    return graph.parts()


class _Condensed:
    """The graph whose vertices are parts, and operators that nobody claims; it has no cycles.

    Operators come in topological order. A new one joins the parts that it reads from, one after the
    other, where that makes no cycle: TVM's MergeCompilerRegions and PyTorch's
    CapabilityBasedPartitioner keep the same rule.
    """

    def __init__(self):
        self._vertex = {}  # of each operator's number
        self._members, self._next, self._before = {}, {}, {}
        self._claimed = set()

    def add(self, node, is_claimed):
        """Takes the next operator in topological order."""
        own = self._vertex[node.id] = node.id
        self._members[own], self._next[own] = [node], set()
        self._before[own] = {self._vertex[var.owner.id] for var in node.inputs}
        for before in self._before[own]:
            self._next[before].add(own)
        if not is_claimed:
            return
        self._claimed.add(own)
        for before in sorted(self._before[own] & self._claimed):
            if before in self._members and self._is_direct(before, own):
                own = self._merge(before, own)

    def _is_direct(self, first, second):
        """Whether no path between the two passes another vertex."""
        return not (self._leads(first, second) or self._leads(second, first))

    def _leads(self, start, end):
        found, ahead = set(), [each for each in self._next[start] if each != end]
        while ahead:
            vertex = ahead.pop()
            if vertex == end:
                return True
            if vertex not in found:
                found.add(vertex)
                ahead += self._next[vertex]
        return False

    def _merge(self, first, second):
        """Makes one vertex of two; gives its name."""
        for node in self._members[second]:
            self._vertex[node.id] = first
        self._members[first] += self._members.pop(second)
        for edges, back in ((self._next, self._before), (self._before, self._next)):
            for other in edges.pop(second):
                back[other].discard(second)
                if other != first:
                    edges[first].add(other)
                    back[other].add(first)
            edges[first].discard(second)
        return first

    def parts(self):
        """Lists of claimed operators, each behind what it reads, and parts so, too."""
        done, order = set(), []
        for vertex in self._members:
            self._visit(vertex, done, order)
        return [self._members[each] for each in order if each in self._claimed]

    def _visit(self, vertex, done, order):
        """Appends a vertex behind all before it; without recursion, for long graphs."""
        stack = [(vertex, iter(self._before[vertex]))]
        while stack:
            current, before = stack[-1]
            missing = next((each for each in before if each not in done), None)
            if current in done or missing is None:
                stack.pop()
                if current not in done:
                    done.add(current)
                    order.append(current)
            else:
                stack.append((missing, iter(self._before[missing])))
