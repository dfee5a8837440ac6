"""Lines of quantized tensors, and of tensors on their grid, around float variables."""

# One variable.
UNARY = (
    "F.fake_quant({a}, 0.05, 3, qmin=0.0, qmax=255.0)",
    "F.lsq({a}, {a}.abs().mean() + 0.1, 0, 0.5)",
    "F.tqt({a}, F.log2({a}.abs().max() + 0.1) - 6, qmin=-127.0)",
    "F.relu({a}.astype(ts.dtype.qint8(0.02))).astype('float32')",
    "{a}.astype(ts.dtype.quint8(0.05, 90)).mean(0).astype('float32')",
    "F.quantized.requantize({a}.astype(ts.dtype.quint8(0.05, 100)), ts.dtype.qint8(0.07))"
    ".astype('float32')",
    "F.quantized.elemwise('qhswish', {a}.astype(ts.dtype.qint8(0.04)), dtype=ts.dtype.qint8(0.03))"
    ".astype('float32')",
    "F.quantized.elemwise('qsigmoid', {a}.astype(ts.dtype.qint8(0.04)),"
    " dtype=ts.dtype.quint8(0.004, 0)).astype('float32')",
    "F.quantized.matmul(*[{a}.astype(ts.dtype.qint8(0.03))] * 2, ts.dtype.qint8(0.1),"
    " transpose_b=True).astype('float32')",
    "F.dequantize(F.quantized.integer_matmul(F.quantize({a}, 0.05, 128, 'uint8'),"
    " F.quantize({a}, 0.05, 0, 'int8'), 128, transpose_y=True), 0.0025, 0)",
    "F.quantized.integer_conv1d(F.quantize(F.reshape({a}, (1, {a}.shape[0], -1)), 0.02, 5, 'int8'),"
    " F.quantize(F.reshape({a}, (1, {a}.shape[0], -1))[..., :2], 0.02, 0, 'int8'), 5, padding=[1])"
    ".astype('float32') * 0.0004",
)
# Two of one shape.
BINARY = (
    "F.quantized.elemwise('qfuse_add_relu', {a}.astype(ts.dtype.qint8(0.05)),"
    " {b}.astype(ts.dtype.quint8(0.02, 128)), dtype=ts.dtype.qint8(0.06)).astype('float32')",
    "F.quantized.concat([{a}.astype(ts.dtype.qint8(0.05)), {b}.astype(ts.dtype.qint8(0.03))], 0,"
    " ts.dtype.qint8(0.05)).astype('float32')",
    "F.quantized.simulated_matmul({a}, {b}, 0.03, 0, 0.02, 100, y_dtype='uint8', transpose_y=True)",
    "F.quantized.simulated_linear({a}, F.reshape({b}, (-1, {b}.shape[-1])), 0.03, 9,"
    " {b}.abs().max() / 127 + 0.001, F.reshape({a}[..., 0], -1)[:1].sum() *"
    " F.ones({b}.size // {b}.shape[-1]), dtype='uint8')",
    "F.quantized.weight_only_linear({a}, F.quantize(F.reshape({b}, (-1, {b}.shape[-1])), 0.02, 0,"
    " 'int8'), F.abs(F.reshape({b}, (-1, {b}.shape[-1])).mean(1)) + 0.01)",
    "F.quantized.weight_only_linear({a}, F.quantize(F.reshape({b}, (-1, {b}.shape[-1])), 0.02, 0,"
    " 'int8'), F.abs(F.reshape({b}, (-1, {b}.shape[-1])).mean(1)) + 0.01, activations='int8')",
    "F.quantized.linear({a}.astype(ts.dtype.quint8(0.05, 128)),"
    " F.reshape({b}, (-1, {b}.shape[-1])).astype(ts.dtype.qint8_narrow(0.02)), None,"
    " ts.dtype.qint8(0.1), 'relu').astype('float32')",
)
# Residual blocks of images, as BLOCKS of catalog.py.
BLOCKS = (
    "F.quantized.conv2d(F.quantized.conv2d({a}.astype(ts.dtype.quint8(0.03, 100)),"
    " {w}.astype(ts.dtype.qint8_narrow(0.02)), F.reshape({s}, (1, -1, 1, 1)),"
    " ts.dtype.qint8(0.05), 1, 1, nonlinear_mode='relu',"
    " residual={a}.astype(ts.dtype.qint8(0.04))), {w}.astype(ts.dtype.qint8_narrow(0.02)), None,"
    " ts.dtype.qint8(0.1), 1, 1).astype('float32')",
    "F.quantized.simulated_conv2d(F.fake_quant({a}, 0.03, 0), {w}, 0.03, 0, 0.02,"
    " F.reshape({s}, -1), padding=[1, 1])",
)
