"""Reductions, running sums, orders."""

from ..writer import exporter


def reduced(writer, op_type, x, axes, keepdims):
    """A node that reduces; axes are an input from opset 18 on, of ReduceSum from 13 on."""
    keepdims = int(keepdims)
    if not axes:
        return writer.node(op_type, [x], keepdims=keepdims)
    if op_type == "ReduceSum" or writer.opset >= 18:
        return writer.node(op_type, [x, writer.ints(axes)], keepdims=keepdims)
    return writer.node(op_type, [x], keepdims=keepdims, axes=list(axes))


def _reduction(record, op_type):
    @exporter(record)
    def _export(writer, row, x):
        if not x.shape:
            return writer.node("Identity", [_in_result(writer, row, x)])
        own = _in_result(writer, row, x)
        return reduced(writer, op_type, own, row["axes"], row["keepdims"])


def _in_result(writer, row, x):
    """x in the dtype of the result: a sum of bool is one of integers."""
    dtype = row.results[0].dtype
    return x if dtype == x.dtype else writer.cast(x, dtype)


_reduction("sum", "ReduceSum")
_reduction("mean", "ReduceMean")
_reduction("prod", "ReduceProd")


def _extremum(record, op_type):
    @exporter(record)
    def _export(writer, row, x):
        if not x.shape:
            return writer.node("Identity", [x])
        found = reduced(writer, op_type, _number(writer, x), row["axes"], row["keepdims"])
        return writer.cast(found, "bool") if x.dtype == "bool" else found


def _number(writer, x):
    """A bool as an integer: ONNX has no order of bools in every opset."""
    return writer.cast(x, "int32") if x.dtype == "bool" else x


_extremum("max", "ReduceMax")
_extremum("min", "ReduceMin")


@exporter("logsumexp")
def _logsumexp(writer, row, x):
    return reduced(writer, "ReduceLogSumExp", x, row["axes"], row["keepdims"])


def _index(record, op_type):
    @exporter(record)
    def _export(writer, row, x):
        keepdims = int(row["keepdims"])
        found = writer.node(op_type, [_number(writer, x)], axis=row["axis"], keepdims=keepdims)
        return writer.cast(found, "int32")


_index("argmax", "ArgMax")
_index("argmin", "ArgMin")


@exporter("cumsum")
def _cumsum(writer, row, x):
    axis = writer.constant(row["axis"], "int64")
    flags = {name: int(row[name]) for name in ("exclusive", "reverse")}
    return writer.node("CumSum", [_in_result(writer, row, x), axis], **flags)


@exporter("searchsorted")
def _searchsorted(writer, row, line, values):
    """How many elements of the line are below each value, or not above it."""
    line = writer.node("Unsqueeze", [line, writer.ints([-2])])
    values = writer.node("Unsqueeze", [values, writer.ints([-1])])
    below = "Less" if row["side"] == "left" else "LessOrEqual"
    counted = writer.cast(writer.node(below, [line, values]), "int32")
    return reduced(writer, "ReduceSum", counted, [-1], False)


@exporter("argsort")
def _argsort(writer, row, x):
    return _topk(writer, x, x.shape[-1], row["descending"])


@exporter("topk")
def _topk_of(writer, row, x):
    return _topk(writer, x, row["k"], row["descending"])


def _topk(writer, x, count, descending):
    values, indices = writer.node(
        "TopK", [x, writer.ints([count])], outputs=2, axis=-1, largest=int(descending), sorted=1
    )
    return values, writer.cast(indices, "int32")
