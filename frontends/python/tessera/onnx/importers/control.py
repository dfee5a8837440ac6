"""If, Loop and Scan: Python's, or operators of the program where a trace records."""

from ... import _core
from ... import functional as _functional
from ..._core import ops as _ops
from ...tensor import Tensor
from ..registry import importer


def _is_true(node, place, value):
    known = node.constants.get(place)
    return bool(value.reshape(-1)[0].item() if known is None else known.reshape(-1)[0])


@importer("If")
def _if(node, scope, condition):
    then, orelse = node["then_branch"], node["else_branch"]
    if 0 in node.constants or not _core.is_recording():
        return tuple((then if _is_true(node, 0, condition) else orelse).call(scope))
    condition = _ops.reshape(condition, ())

    def _branch(graph):
        return lambda: [_ops.copy(each) for each in graph.call(scope)]

    return tuple(_functional.cond(condition, _branch(then), _branch(orelse)))


@importer("Loop")
def _loop(node, scope, most=None, condition=None, *carried):
    """Values that go from trip to trip, then one element of each scanned output for each trip."""
    limit = None if most is None else int(node.number(0, most))
    body, count = node["body"], len(carried)
    scanned = len(body.outputs) - 1 - count
    if _core.is_recording() and _fits_program(carried):
        if not scanned:
            return _recorded(body, scope, limit, condition, carried)
        if limit is not None and _goes_on(body, node, condition):
            return _scanned(body, scope, limit, carried)
    return _trips(node, scope, limit, condition, carried, scanned)


def _fits_program(carried):
    return all(isinstance(value, Tensor) for value in carried)


def _goes_on(body, node, condition):
    """Whether nothing but the number of trips ends the loop."""
    known = body.outputs[0] == body.inputs[1] or body.outputs[0] in body.constants
    passed = any(
        step.node.op_type == "Identity" and step.node.inputs == [body.inputs[1]]
        for step in body.steps
        if body.outputs[0] in step.node.outputs
    )
    starts = condition is None or (1 in node.constants and bool(node.constants[1].reshape(-1)[0]))
    return starts and (known or passed)


def _recorded(body, scope, limit, condition, carried):
    start = _ops.full([], 1, "bool") if condition is None else _ops.reshape(condition, ())
    first = _ops.scalar_tensor(0, "int64")

    def _holds(trip, goes_on, *values):
        return goes_on if limit is None else _ops.logical_and(goes_on, trip < limit)

    def _next(trip, goes_on, *values):
        goes_on, *values = body.call(scope, trip, goes_on, *values)
        return trip + 1, _ops.reshape(goes_on, ()), *values

    return tuple(_functional.while_loop(_holds, _next, first, start, *carried))[2:]


def _scanned(body, scope, limit, carried):
    """So many trips, of which nothing ends the loop."""
    going = _ops.full([], 1, "bool")

    def _step(values, trip):
        _, *results = body.call(scope, trip, going, *values)
        return results[: len(carried)], results[len(carried) :]

    trips = _ops.arange(limit, 0, 1, "int64")
    last, stacked = _functional.scan(_step, list(carried), trips)
    return *last, *stacked


def _trips(node, scope, limit, condition, carried, scanned):
    body, trip, lists = node["body"], 0, [[] for _ in range(scanned)]
    goes_on = condition is None or _is_true(node, 1, condition)
    values = list(carried)
    while goes_on and (limit is None or trip < limit):
        given = _ops.scalar_tensor(trip, "int64"), _ops.full([], 1, "bool"), *values
        going, *results = body.call(scope, *given)
        values, elements = results[: len(carried)], results[len(carried) :]
        for each, element in zip(lists, elements, strict=True):
            each.append(element)
        goes_on, trip = bool(going.item()), trip + 1
    if scanned and not trip:  # inference says what a trip would stack
        return _scanned(body, scope, 0, carried)
    return *values, *(_ops.stack(each, 0) for each in lists)


@importer("Scan")
def _scan(node, scope, *values):
    """Axes and directions of what is scanned, and of what is stacked, are attributes."""
    if node.version < 9:
        node.refuse("Scan must be that of opset 9 or newer", node.version)
    body, count = node["body"], node["num_scan_inputs"]
    carried, xs = list(values[: len(values) - count]), list(values[len(values) - count :])
    outputs = len(body.outputs) - len(carried)
    xs = [
        _turned(_moved(x, axis, 0), backward)
        for x, axis, backward in zip(
            xs,
            node["scan_input_axes"] or [0] * count,
            node["scan_input_directions"] or [0] * count,
            strict=True,
        )
    ]

    def _step(state, elements):
        results = body.call(scope, *state, *elements)
        return results[: len(carried)], results[len(carried) :]

    last, stacked = _functional.scan(_step, carried, xs)
    axes = node["scan_output_axes"] or [0] * outputs
    backward = node["scan_output_directions"] or [0] * outputs
    pairs = zip(stacked or [], axes, backward, strict=True)
    return *last, *(_moved(_turned(y, turns), 0, axis) for y, axis, turns in pairs)


def _turned(x, backward):
    return _ops.flip(x, [0]) if backward else x


def _moved(x, source, target):
    source, target = source % x.ndim, target % x.ndim
    if source == target:
        return x
    order = [axis for axis in range(x.ndim) if axis != source]
    order.insert(target, source)
    return _ops.transpose(x, order)
