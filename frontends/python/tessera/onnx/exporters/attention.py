"""Attention as products and a softmax, which every opset has."""

import math

from ..writer import exporter
from .layers import turned
from .reductions import reduced

_HALVES = ("float16", "bfloat16")


@exporter("attention", needs=("Softmax",))
def _attention(writer, row, query, key, value, mask=None):
    """Halves go through float32, as the kernel's do."""
    dtype = "float32" if query.dtype in _HALVES else query.dtype
    query, key, value = (
        each if each.dtype == dtype else each._replace(name=writer.cast(each, dtype), dtype=dtype)
        for each in (query, key, value)
    )
    scores = _scores(writer, row, query, key, mask)
    weights = writer.node("Softmax", [scores], axis=-1)
    if mask is not None:  # a query that sees no key has weights of 0
        top = reduced(writer, "ReduceMax", scores, [-1], True)
        blind = writer.node("Equal", [top, writer.constant(-math.inf, dtype)])
        weights = writer.node("Where", [blind, writer.constant(0, dtype), weights])
    out = writer.node("MatMul", [weights, value])
    sums = reduced(writer, "ReduceLogSumExp", scores, [-1], False)
    if row.results[1].shape != query.shape[:-1]:  # values may have leading axes of their own
        sums = writer.node("Expand", [sums, writer.ints(row.results[1].shape)])
    result = row.results[0].dtype
    return out if result == dtype else writer.cast(out, result), sums


def _scores(writer, row, query, key, mask):
    """Scores of which the softmax is taken."""
    dtype = query.dtype
    hidden = writer.constant(-math.inf, dtype)
    scale = row["scale"]
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scaled = writer.node("Mul", [query, writer.constant(scale, dtype)])
    scores = writer.node("MatMul", [scaled, turned(writer, key)])
    if mask is not None and mask.dtype == "bool":
        scores = writer.node("Where", [mask, scores, hidden])
    elif mask is not None:
        scores = writer.node(
            "Add", [scores, mask if mask.dtype == dtype else writer.cast(mask, dtype)]
        )
    if row["is_causal"]:
        sizes = writer.node("Shape", [scores])
        ones = writer.node("Expand", [writer.constant(1, "float32"), sizes])
        seen = writer.cast(writer.node("Trilu", [ones], upper=0), "bool")
        scores = writer.node("Where", [seen, scores, hidden])
    return scores
