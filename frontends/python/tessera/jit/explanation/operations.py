"""Floating-point operations of an operator, by the shapes of its operands and results.

A multiplication and its addition are two operations. A contraction counts those of its definition
(for attention: of its products), whatever its implementation computes; any other operator of a
kernel counts one for each element that it makes or reads, whichever are more.
"""

import math


def _size(*shape):
    return max(math.prod(shape), 0)  # data decides a size of -1


def _matmul(x, y, *_, out):
    lines = x[-1] if len(x) == 1 else _size(*x[-2:]) // max(out[-2], 1)
    return 2 * _size(*out) * lines


def _conv(x, weight, *_, out):
    return 2 * _size(*out) * _size(*weight[1:])


def _conv_backward_data(weight, dout, *_, out):
    return 2 * _size(*dout) * _size(*weight[1:])


def _conv_backward_weight(x, dout, *_, out):
    return 2 * _size(*dout) * _size(*out[1:])


def _conv_transpose(x, weight, *_, out):
    return 2 * _size(*x) * _size(*weight[1:])


def _attention(query, key, value, *_, out):
    return 2 * _size(*query[:-1]) * key[-2] * (query[-1] + value[-1])


def _attention_backward(query, key, value, *_, out):
    return 2 * _size(*query[:-1]) * key[-2] * (3 * query[-1] + 2 * value[-1])


_CONTRACTIONS = {
    "matmul": _matmul,
    "integer_matmul": _matmul,
    "add_products": lambda total, x, y, out: 2 * _size(*x) * y[-1],
    "weight_only_linear": lambda x, weight, *_, out: 2 * _size(*x) * weight[0],
    "quantized_conv2d": _conv,
    "attention": _attention,
    "attention_backward": _attention_backward,
}
for _n in (1, 2, 3):
    _CONTRACTIONS |= {
        f"conv{_n}d": _conv,
        f"integer_conv{_n}d": _conv,
        f"conv{_n}d_backward_data": _conv_backward_data,
        f"conv{_n}d_backward_weight": _conv_backward_weight,
        f"conv_transpose{_n}d": _conv_transpose,
        f"integer_conv_transpose{_n}d": _conv_transpose,
    }


def operations(op, operands, results):
    """Multiplications and additions of an operator with such shapes of operands and results."""
    if op in _CONTRACTIONS:
        return _CONTRACTIONS[op](*operands, out=results[0])
    return max(_size(*shape) for shape in (*operands, *results)) if results else 0


def add_operations(facts):
    """Fills in Step.operations: what copies elements has none."""
    for step in facts.steps:
        if step.kind in ("movement", "loop"):
            continue
        for node in step.nodes:
            operator = facts.operators[node]
            if step.kind == "library" and operator.op not in _CONTRACTIONS:
                continue
            shapes = [
                [facts.values[v].shape for v in values]
                for values in (operator.operands, operator.results)
            ]
            step.operations += operations(operator.op, *shapes)
