"""Nodes between DequantizeLinear and QuantizeLinear (the QDQ form) as one step over integers.

https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html describes the form.
"""

from .integer_layers import layer_of
from .integer_moves import move_of
from .integer_operands import Uses


class Chain:
    """Several nodes that are computed as one: what a step wants to know of a node."""

    op_type = "QDQ"

    def __init__(self, part):
        self.part, self.attributes = part, {}
        self.inputs, self.outputs = part.inputs, [part.output]

    def __str__(self):
        """For messages."""
        return f"{self.part.node}, with the conversions around it"


def _run(chain, *values):
    return chain.part.run(*values)


def with_integer_chains(steps, outputs, make_step):
    """The steps of a graph, in which what is between conversions is one step where Tessera has an
    operator of integers. A DequantizeLinear whose result nobody reads any more is left out.

    `make_step` makes a step of a node and its function.
    """
    uses, joined, inner = Uses(steps, outputs), {}, set()
    for step in steps:
        part = None if id(step) in inner else layer_of(step, uses) or move_of(step, uses)
        if part is not None:
            joined[id(part.steps[-1])] = make_step(Chain(part), _run)
            inner.update(map(id, part.steps))
    rest = [joined.get(id(step), step) for step in steps
            if id(step) in joined or id(step) not in inner]  # fmt: skip
    return _without_unread(rest, outputs) if joined else steps


def _without_unread(steps, outputs):
    """The steps less each DequantizeLinear whose result nobody reads."""
    read, kept = set(outputs), []
    for step in reversed(steps):
        if step.node.op_type != "DequantizeLinear" or step.node.outputs[0] in read:
            kept.append(step)
            read |= step.reads
    return kept[::-1]
