"""Runs of graphs on samples: ranges of their values, and what quantization changes of them."""

from functools import partial

import numpy as np

from ... import _core
from ...random import default_rng
from ...traced_module.stepping import Steps
from .ranges import Histogram, dtype_of, range_of
from .weights import rounded_weight


class _Watching(Steps):
    """A run that gives the values of wanted nodes to `take(node, value)`."""

    def __init__(self, nodes, take):
        self._nodes, self._take = {id(node) for node in nodes}, take

    def seen(self, graph, expr, nodes, values):
        """See Steps."""
        for node, value in zip(nodes, values, strict=True):
            if id(node) in self._nodes:
                self._take(node, value)


def run(traced, steps, call):
    """Runs a graph by `steps` for the arguments of one call."""
    args, kwargs = call
    graph = traced.graph
    values = {id(graph.owner_input): traced}
    graph.signature.bind(graph.name, values, args, kwargs)
    return steps.run(graph, values)


def watch(traced, nodes, calls, take):
    """Gives the values of nodes to `take(node, value)`, call by call."""
    for call in calls:
        run(traced, _Watching(nodes, take), call)


def dtypes_of(traced, plan, calls, config):
    """{id of a node: its quantized dtype} of the nodes that become integers.

    ValueError: a node must have finite values in the samples.
    """
    nodes = plan.measured
    found = {id(node): Histogram(config.activation_dtype) for node in nodes}
    watch(traced, nodes, calls, lambda node, value: found[id(node)].see(value.numpy()))
    for node in nodes:
        if found[id(node)].high < found[id(node)].low:
            raise ValueError(
                f"quantize_model: values of each layer must be finite for one sample at least, got "
                f"none of {node.qualname}"
            )
    if config.method != "min_max":
        watch(traced, nodes, calls, lambda node, value: found[id(node)].count(value.numpy()))
    return {
        key: dtype_of(config.activation_dtype, *range_of(each, config.method, config.percentile))
        for key, each in found.items()
    }


def correct_biases(traced, plan, calls, config, dtypes):
    """Takes from each layer's bias the mean error of its sums on the samples, of rounded input and
    weight against those of the float layer: M. Nagel et al., arXiv:1906.04721, section 4.2.
    """
    units = [unit for unit in plan.units.values() if unit.layer.operator != "embedding"]
    readers = {}
    for unit in units:
        readers.setdefault(id(unit.layer.data), []).append(unit.layer)
    errors = {id(unit.layer): [] for unit in units}
    weights = {id(unit.layer): _rounded(unit.layer, config, dtypes) for unit in units}

    def _take(node, value):
        dtype = dtypes.get(id(node))
        rounded = value if dtype is None else value.astype(dtype).astype("float32")
        for layer in readers[id(node)]:
            error = layer.sums(rounded, weights[id(layer)]) - layer.sums(value, layer.weight)
            errors[id(layer)].append(layer.over_channels(error))

    watch(traced, [unit.layer.data for unit in units], calls, _take)
    for unit in units:
        layer = unit.layer
        mean = np.mean(errors[id(layer)], axis=0)
        layer.bias = -mean if layer.bias is None else layer.bias - mean


def _rounded(layer, config, dtypes):
    dtype = dtypes.get(id(layer.data))
    scale = None if dtype is None else _core.quantization(dtype)[1]
    return rounded_weight(layer, config, scale)


class Noise:
    """Powers of a signal and of the noise in it, and their ratio in decibels."""

    def __init__(self):
        self.signal = self.noise = 0.0

    def add(self, wanted, found):
        """Two arrays of one shape; numbers that are not finite do not count."""
        wanted, found = wanted.astype(np.float64), found.astype(np.float64)
        is_known = np.isfinite(wanted) & np.isfinite(found)
        self.signal += float((wanted[is_known] ** 2).sum())
        self.noise += float(((wanted - found)[is_known] ** 2).sum())

    @property
    def decibels(self):
        """10 log10(signal / noise): infinite without noise."""
        if self.noise == 0:
            return np.inf
        return 10 * float(np.log10(self.signal / self.noise)) if self.signal else -np.inf


class _Comparing(Steps):
    """A run of the quantized graph: each unit's result against the float one, and that of the unit
    alone, on the float operands.
    """

    def __init__(self, units, rows, floats):
        self._units, self._rows, self._floats = units, rows, floats

    def _outputs(self, expr, values):
        found = super()._outputs(expr, values)
        unit = self._units.get(id(expr))
        if unit is not None:
            wanted = self._floats[id(unit.result)].numpy()
            whole, alone = self._rows[id(unit.result)]
            whole.add(wanted, _numbers(found[0]))
            own = {**values, **self._float_operands(unit, expr, values)}
            alone.add(wanted, _numbers(expr.values_of(own)[0]))
        return found

    def _float_operands(self, unit, expr, values):
        """Values of the operands by ids: those of the float model, in the dtypes of these."""
        nodes = [expr.kwargs["residual"]] if unit.residual is not None else []
        data = expr.args[1] if expr.args[0] in expr.inputs and _is_module(expr) else expr.args[0]
        pairs = zip((data, *nodes), unit.operands, strict=False)
        return {id(new): self._floats[id(old)].astype(values[id(new)].dtype) for new, old in pairs}


def _is_module(expr):
    return getattr(expr, "method", None) == "__call__"


def _numbers(value):
    return value.astype("float32").numpy()


def measure(traced, plan, rewriting, calls):
    """{id of a unit's result: (Noise of the model, Noise of the layer alone)} on the samples."""
    units = {id(rewriting.exprs[id(unit.result)]): unit for unit in plan.units.values()}
    rows = {id(unit.result): (Noise(), Noise()) for unit in units.values()}
    nodes = [node for unit in units.values() for node in (*unit.operands, unit.result)]
    for call in calls:
        floats, state = {}, default_rng.state_dict()
        watch(traced, nodes, [call], partial(_keep, floats))
        default_rng.load_state_dict(state)  # both draw the same random numbers
        run(rewriting.module, _Comparing(units, rows, floats), call)
    return rows


def _keep(values, node, value):
    values[id(node)] = value.detach()  # which later calls in place do not change
