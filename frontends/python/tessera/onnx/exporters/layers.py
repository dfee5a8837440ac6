"""Products, convolutions, poolings, normalisations."""

from ..writer import exporter


@exporter("matmul")
def _matmul(writer, row, x, y):
    x = turned(writer, x) if row["transpose_x"] else x.name
    y = turned(writer, y) if row["transpose_y"] else y.name
    if row["dtype"] is not None:
        x, y = (writer.cast(each, row.results[0].dtype) for each in (x, y))
    return writer.node("MatMul", [x, y])


def turned(writer, x):
    """The name of x with its last two axes exchanged."""
    order = list(range(len(x.shape)))
    if len(order) < 2:
        return x.name
    order[-2:] = order[-1], order[-2]
    return writer.node("Transpose", [x], perm=order)


@exporter("linear")
def _linear(writer, row, x, weight, bias=None):
    if len(x.shape) == 2:
        return writer.node("Gemm", [x, weight, bias], transB=1)
    out = writer.node("MatMul", [x, turned(writer, weight)])
    return out if bias is None else writer.node("Add", [out, bias])


def _windows(row):
    padding = list(row["padding"])
    return {"strides": list(row["strides"]), "pads": padding * 2}


@exporter("conv1d", "conv2d", "conv3d")
def _conv(writer, row, x, weight):
    rest = {"dilations": list(row["dilation"]), "group": row["groups"]}
    return writer.node("Conv", [x, weight], **_windows(row), **rest)


@exporter("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _conv_transpose(writer, row, x, weight):
    rest = {"dilations": list(row["dilation"]), "group": row["groups"]}
    extra = list(row["output_padding"])
    return writer.node("ConvTranspose", [x, weight], **_windows(row), **rest, output_padding=extra)


@exporter("max_pool1d", "max_pool2d", "max_pool3d")
def _max_pool(writer, row, x):
    return writer.node("MaxPool", [x], kernel_shape=list(row["kernel_size"]), **_windows(row))


@exporter("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _avg_pool(writer, row, x):
    counts = int(row["count_include_pad"])
    kernel = list(row["kernel_size"])
    windows = _windows(row)
    return writer.node("AveragePool", [x], kernel_shape=kernel, count_include_pad=counts, **windows)


@exporter("batch_norm_inference")
def _batch_norm(writer, row, x, *parameters):
    flat = [writer.node("Reshape", [each, writer.ints([-1])]) for each in parameters]
    return writer.node("BatchNormalization", [x, *flat], epsilon=row["epsilon"])


@exporter("layer_norm")
def _layer_norm(writer, row, x, scale=None, bias=None):
    shape = x.shape[len(x.shape) - row["axes"] :]
    scale = _filled(writer, shape, 1, x) if scale is None else scale
    axis = -row["axes"]
    return writer.node("LayerNormalization", [x, scale, bias], axis=axis, epsilon=row["epsilon"])


@exporter("rms_norm")
def _rms_norm(writer, row, x, scale=None):
    shape = x.shape[len(x.shape) - row["axes"] :]
    scale = _filled(writer, shape, 1, x) if scale is None else scale
    return writer.node("RMSNormalization", [x, scale], axis=-row["axes"], epsilon=row["epsilon"])


def _filled(writer, shape, value, like):
    return writer.node("Expand", [writer.constant(value, like.dtype), writer.ints(shape)])


@exporter("instance_norm")
def _instance_norm(writer, row, x, scale=None, bias=None):
    scale, bias = _of_channels(writer, x, scale, bias)
    return writer.node("InstanceNormalization", [x, scale, bias], epsilon=row["epsilon"])


def _of_channels(writer, x, scale, bias):
    channels = x.shape[1:2]
    scale = _filled(writer, channels, 1, x) if scale is None else scale
    return scale, _filled(writer, channels, 0, x) if bias is None else bias


@exporter("local_response_norm")
def _local_response_norm(writer, row, x):
    size = row["kernel_size"]
    alpha = row["alpha"] * size
    return writer.node("LRN", [x], size=size, alpha=alpha, beta=row["beta"], bias=row["k"])


@exporter("einsum")
def _einsum(writer, row, operands):
    terms = row["equation"].partition("->")[0].split(",")
    pairs = zip(terms, operands, strict=True)
    dotted = {len(v.shape) - len(t.strip()) + 3 for t, v in pairs if "..." in t}
    if len(dotted) > 1:
        raise NotImplementedError("dots must stand for as many axes in all operands")
    return writer.node("Einsum", operands, equation=row["equation"])
