"""What random programs are made of: calls drawn from the records, and lines of Python."""

import functools
from dataclasses import dataclass

import numpy as np
from tessera import _core

from tests.random import quantized
from tests.records import samples

# States of the random generator and of updates come from functions that keep them.
_BY_PYTHON = ("dropout", "uniform", "normal", "adam_update", "sgd_update")
# Gradients, which a gradient applies: they want operands that belong together.
_BACKWARD = ("max_pool2d_backward", "attention_backward", "scaled_dot_product_attention_backward")
# Dtypes that few programs use: this share of the operands that may have them does.
RARE = ("uint16", "uint32", "uint64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
        *samples.LOW_BIT)  # fmt: skip
_RARE_SHARE = 0.06
# Families that hide no layout are drawn less often.
_WEIGHTS = {"Math": 0.4, "Elementwise": 0.6, "Activation": 0.5, "View": 2.5, "Movement": 2.0,
            "Linear": 3.0, "Conv": 4.0, "Reduction": 1.5, "Softmax": 1.5, "Norm": 2.0, "Index": 1.5,
            "Attention": 3.0, "Pool": 2.0, "Creation": 0.7}  # fmt: skip


@dataclass(frozen=True)
class Draw:
    """One call of a record: operands wanted, and its text around their names."""

    record: samples.Record
    operands: tuple  # (shape, dtype, low, high)
    attrs: str

    def text(self, names):
        """The call on variables."""
        return f"apply(B.{self.record.opdef}({self.attrs}), {', '.join(names)})"


def drawable():
    """(records, their weights as probabilities)."""
    records = [r for r in samples.records().values()
               if r.name not in (*_BY_PYTHON, *_BACKWARD) and r.samples]  # fmt: skip
    weights = np.array([_WEIGHTS.get(record.family, 1.0) for record in records])
    return records, weights / weights.sum()


def results_of(record):
    """The names of a record's results, hidden ones too: what `apply` gives."""
    return [name for name, _, _ in _rows()[record.name]["results"]]


@functools.cache
def _rows():
    return {row["name"]: row for row in _core.op_table()}


def draw_call(random, record, dtype, sizes):
    """A sample of the record: as it is, with each size another one of `sizes`, or multiplied."""
    sample = record.samples[random.randint(len(record.samples))]
    way, table = random.rand(), {}
    keep = way < 0.25
    if way < 0.6:
        shapes = _multiplied(random, sample.shapes) if not keep else sample.shapes
    else:
        shapes = [tuple(n if n <= 1 and random.rand() < 0.5 else
                        table.setdefault(n, int(sizes[random.randint(len(sizes))]))
                        for n in shape) for shape in sample.shapes]  # fmt: skip
    operands = []
    for number, (operand, shape) in enumerate(
        zip(samples.groups(record, sample), shapes, strict=True)
    ):
        own = _dtype(random, operand, dtype, sample)
        operands.append((shape, own, sample.low[number], sample.high[number]))
    attrs = {name: _remapped(random, value, table, keep) for name, value in sample.attrs.items()}
    return Draw(record, tuple(operands), ", ".join(f"{k}={text_of(v)}" for k, v in attrs.items()))


def _multiplied(random, shapes):
    """Sizes times a factor: of the same axis the same one, so that what was equal stays so."""
    factor = int(random.choice([2, 3, 4, 8, 16, 17, 32]))
    if max(map(len, shapes), default=0) < 4:
        return [tuple(n * factor for n in shape) for shape in shapes]
    factors = [(1, factor, 1, 1), (factor, factor, 1, 1), (1, 1, 4, 4), (2, factor, 2, 2)]
    chosen = factors[random.randint(len(factors))]
    factors = (*chosen, *[1] * max(map(len, shapes)))
    return [tuple(n * f for n, f in zip(shape, factors, strict=False)) for shape in shapes]


def _dtype(random, operand, wanted, sample):
    allowed = [d for d in operand.dtypes if not sample.dtypes or d in sample.dtypes]
    rare = [d for d in allowed if d in RARE]
    if rare and random.rand() < _RARE_SHARE:
        return rare[random.randint(len(rare))]
    allowed = allowed or list(operand.dtypes)
    if wanted in allowed and (len(operand.dtypes) > 1):
        return wanted
    if "int32" in allowed:
        return "int32"
    return allowed[random.randint(len(allowed))]


def _remapped(random, value, table, keep):
    """Sizes among the attributes follow their shape, sometimes."""
    if keep or isinstance(value, (bool, str, float)):
        return value
    if isinstance(value, int):
        return table.get(value, value) if value > 2 and random.rand() < 0.5 else value
    if isinstance(value, (list, tuple)) and random.rand() < 0.7:
        return [_remapped(random, each, table, keep) for each in value]
    return value


def text_of(value):
    """An attribute in Python."""
    if isinstance(value, str):
        return repr(samples.SHORT.get(value, value))
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    return repr(value)


# What a line has that draws numbers.
STOCHASTIC = ("dropout", "ts.random.", "sample(")
# Lines of Python around one or two float variables of one shape; one that does not fit is refused.
UNARY = (
    "{a}[{int}]", "{a}[{int}:]", "{a}[:{int}]", "{a}[::2]",
    "{a}[..., ::-1]",
    "{a}[..., {int}]", "{a}[None]", "{a}[..., None]", "{a}[:, {int}]",
    "{a}[1:, {int}:]", "{a}.T", "F.flatten({a})", "{a}.reshape(-1)",
    "F.swapaxes({a}, 0, -1)", "F.reshape({a}, (*{a}.shape[:1], -1))",
    "F.expand_dims({a}, 0)", "F.broadcast_to({a}, (2, *{a}.shape))",
    "F.concat([{a}, {a}], 0)", "F.stack([{a}, {a}], -1)", "F.split({a}, 2, 0)[-1]",
    "{a} * 0.5", "1 - {a}", "{a} / 3", "F.tanh({a})", "{a}.sum(-1)",
    "{a}.mean(0)", "{a}.max(-1, keepdims=True)", "F.softmax({a}, -1)",
    "F.dropout({a}, 0.5)", "F.where({a} > 0, {a}, {a} * 0.1)",
    "{a}.detach() + {a}", "F.pad({a}, ((1, 1),) + ((0, 0),) * ({a}.ndim - 1))",
    "F.layer_norm({a}, {a}.shape[-1:], False)", "F.roll({a}, 1, 0)",
    "{a}[np.array([0, {int}, 0])]", "F.normalize({a}, axis=-1)", "F.var({a}, 0)",
    "F.sigmoid({a}) * {a}", "F.matmul({a}, F.swapaxes({a}, -1, -2))", "F.gelu({a})",
    "F.gelu({a}, 'tanh')", "{a}.clip(-1.0, 1.0).where({a} > 0, {a} * 0.1)", "{a}.cumsum(0).tanh()",
    "{a}.masked_fill({a} > 0.5, 0.5)", "{a}.view(-1).sort()[0]", "F.median({a}, 0)",
    "F.quantile({a}, [0.25, 0.6], -1)",
    "F.nan_to_num(F.log({a}.detach()), nan=-1.0, neginf=0.0) * {a}",
    "F.isclose({a}, {a} * 1.0, equal_nan=True).astype({a}.dtype) * {a}",
    "({a} > 0).any(0).astype({a}.dtype) * {a}.abs()",
    "F.layer_norm({a}, {a}.shape[-1:], False, eps=0.01)", "F.normalize({a}, axis=-1, eps=0.5)",
    "{a}.reshape({a}.size)", "F.broadcast_to({a}[:1], {a}.shape)", "{a} * F.arange({a}.shape[-1])",
    "F.reshape({a}, ({a}.size // max({a}.shape[0], 1), {a}.shape[0]))", "{a} / {a}.shape[0]",
    "{a} + F.full(({a}.shape[0], *[1] * ({a}.ndim - 1)), 0.5)",
    "F.matmul(F.eye({a}.shape[0]), {a})", "{a}[{a}.shape[0] // 2:]", "{a}[..., :{a}.shape[-1] - 1]",
    "F.ones({a}[1:].shape) * {a}[1:]", "F.roll({a}, {a}.shape[0] // 2, 0)",
    "F.pad({a}, ((0, {a}.shape[0]),) + ((0, 0),) * ({a}.ndim - 1))", "{a} * ({a}.size + 1)",
    "F.exp({a}[{a} > 0] * 0.5).sum()", "F.concat([{a}[{a} > 0], {a}[{a} <= 0]], 0)",
    "({a}[{a} > 0.25] * {a}[{a} > 0.25].shape[0]).sum()", "{a} * ({a}[{a} > 0].shape[0] + 1)",
    "F.sort(F.concat([{a}[{a} > 0], {a}[:1].reshape(-1)], 0))[0].mean()",
    "{a}[F.concat([F.non_zero({a} > 0)[:, 0], F.zeros(1, dtype='int32')], 0)].sum(0)",
    "{a}[F.argmax(F.flatten({a})) % {a}.shape[0]:].sum(0)", "{a}[:-F.argmin(F.flatten({a}))].sum()",
    "F.repeat({a}, F.argmax(F.flatten({a})) % 3, 0).sum(0)",
    "F.concat([{a}[:F.argmax(F.flatten({a}))], {a}], 0)[:{a}.shape[0]]",
    "{a} + F.arange(F.argmax(F.flatten({a})) % 5 + 1).sum()",
    "F.scan(lambda h, x: (h * 0.5 + x, F.tanh(h)), {a}[0], {a})[1]",
    "F.scan(lambda h, x: (F.maximum(h, x), h - x), {a}[0] * 0.5, {a}, reverse=True)[0]",
    "F.scan(lambda h, x: (F.dropout(h, 0.5) + x * {a}[0], h), {a}[0], {a})[1]",
    "F.scan(lambda h, _: (F.scan(lambda k, y: (k + y, k), h.sum(), h)[0] * {a}[0], h[..., None]),"
    " {a}[0], None, 3)[1]",
    "(lambda r: (lambda w: F.scan(lambda h, x: (F.tanh(F.matmul(h, w) * 0.1 + x), h), r[0], r)[1])("
    "F.matmul(F.swapaxes(r, 0, 1), r)))(F.reshape({a}, ({a}.shape[0], -1)))",
    "F.cond({a}.max() > 0, lambda x: x * {a}.mean(), lambda x: F.exp(x) + {a}, {a} * 0.5)",
    "F.scan(lambda h, x: (F.cond(x.max() > 0.5, lambda: h + x, lambda: h), x), {a}[0], {a})[0]",
    "F.cond({a}.max() > 1, lambda x: F.dropout(x, 0.5), lambda x: x, {a})",
    "F.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 2), F.full((), 0), {a}.detach())[1]",
    "F.while_loop(lambda x: F.abs(x).sum() < 40, lambda x: F.tanh(x) * {a}.mean() + x * 1.5,"
    " {a}, max_trips=4)",
    "F.scan(lambda h, x: (F.while_loop(lambda k: k.max() > 0.5, lambda k: k * 0.5 + x * 0.1,"
    " h, max_trips=3), h), {a}[0], {a})[0]",
    "F.while_loop(lambda n, x: n < 4 + {a}.ndim * 3, lambda n, x: (n + 1, F.tanh(x) * {a}.mean()"
    " + x * 0.5), F.full((), 0), {a})[1]",
    "F.while_loop(lambda n, x: F.logical_and(n < 20, F.abs(x).sum() > 0.5), lambda n, x: (n + 1,"
    " F.sin(x) * 0.5), F.full((), 0), {a} * 2)[1]",
    "F.scan(lambda h, x: (F.while_loop(lambda n, k: n < 9.5 + F.clip(h.sum(), -5, 5), lambda n, k:"
    " (n + 1, k * 0.5 + x * 0.1), F.full((), 0.0), h)[1], h), {a}[0], {a})[0]",
    "F.scan(lambda h, _: (h * 0.5 + {a}[0], h), {a}[0] * 2, None, {a}.shape[0])[1]",
    "F.scan(lambda h, x: (h * 0.5 + F.exp(x[x > 0] * 0.5).sum(), h), {a}.sum(),"
    " F.reshape({a}, ({a}.shape[0], -1)))[1]",
    "F.scan(lambda h, x: (h * 0.5 + (x[x > h] * F.arange(x[x > h].shape[0])).sum() * 0.1, h),"
    " {a}.mean(), F.reshape({a}, ({a}.shape[0], -1)), reverse=True)[1]",
    "F.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 0.9 + x[x > n * 0.2].sum() * 0.01),"
    " F.full((), 0), {a})[1]",
    "F.cond({a}.max() > 1, lambda x: x * x[x > 0.5].sum(), lambda x: x - F.ones(x[x > 0].shape,"
    " dtype={a}.dtype).sum() * 0.1, {a})",
    "F.scan(lambda h, x: (h + F.scan(lambda k, y: (k * 0.5 + x[x > y].sum() * 0.1, k), h.sum(),"
    " F.flatten(x)[:4])[0] * 0.1, h), {a}[0], {a})[0]",
    "F.reshape({a}, F.concat([{a}.shape[:1], [-1]]))", "F.ones(F.concat([[2], {a}.shape])) * {a}",
    "{a}[F.concat([{a}.shape, [1]])[0] // 2 :]",
    "F.cond({a}.max() > 0.5, lambda: {a} * F.ones({a}.shape, dtype={a}.dtype) * {a}.size,"
    " lambda: {a} * 2)",
    "{a}.astype(ts.dtype.qint8(0.05)).astype('float32')",
    "{a}.astype(ts.dtype.quint8(0.1, 100))[::-1].astype('float32') * 0.5",
    "F.concat([{a}.astype(ts.dtype.qint4(0.3)).T] * 2, 0).astype('float32')",
    "F.swapaxes(F.concat([{a}[..., :1]] * 3, -1).astype(ts.dtype.qint8([0.1, 0.02, 0.3],"
    " axis={a}.ndim - 1)), 0, -1).astype('float32')",
    "{a}.astype(ts.dtype.intb4)[..., ::-1].astype('float32')",
    "F.roll({a}.astype(ts.dtype.intb2), 1, 0).astype(ts.dtype.intb1).astype('float32') * {a}",
    "F.roll(F.concat([{a}[..., :1]] * 3, -1).astype(ts.dtype.qint8([0.1, 0.02, 0.3],"
    " axis={a}.ndim - 1)), 1, 0).astype('float32')",
    "F.stack([F.concat([{a}[..., :1]] * 2, -1).astype(ts.dtype.quint8([0.1, 0.3], [9, 100],"
    " axis={a}.ndim - 1))] * 2, 0).astype('float32')",
    "F.scan(lambda h, x: (x, h), {a}[0].detach().astype(ts.dtype.qint8(0.05)),"
    " {a}.detach().astype(ts.dtype.qint8(0.05)))[1].astype('float32')",
    "F.rnn({a}, None, {a}[0], F.matmul({a}[0], F.swapaxes({a}[0], 0, 1)))[0]",
    "F.rnn({a}, None, {a}[0], F.matmul({a}[0], F.swapaxes({a}[0], 0, 1)), reverse=True,"
    " lengths=F.arange({a}.shape[1], dtype='int32') % ({a}.shape[0] + 1))[0]",
    "F.gru({a}, None, F.concat([{a}[0]] * 3, 0), F.ones(({a}.shape[1] * 3, {a}.shape[1]),"
    " dtype={a}.dtype) * 0.1, reverse=True)[1]",
    "F.concat(F.lstm({a}, None, F.concat([{a}[0]] * 4, 0), F.ones(({a}.shape[1] * 4,"
    " {a}.shape[1]), dtype={a}.dtype) * 0.1)[1], 0)",
    "{a} * ts.random.gamma(2.5)", "{a} + ts.random.poisson(20.0)", "{a} * ts.random.beta(0.5, 2.0)",
    "{a} * ts.random.bernoulli(0.5, size=2)[0]", "{a} * ts.random.randint(1, 5)",
    "F.fft.irfft(F.fft.rfft({a}, norm='ortho') * 0.5, n={a}.shape[-1], norm='ortho')",
    "F.real(F.fft.fft({a}, axis=0, norm='ortho'))", "F.imag(F.fft.rfft({a}, norm='forward'))",
    "F.repeat({a}, 3, -1)", "F.tile({a}, (2,) * {a}.ndim)", "F.tile({a}, 2)",
    "F.split({a}, [1], -1)[0]",
    "F.cumsum({a}, 0)", "F.cumsum({a} * 0.5, -1, reverse=True) * {a}", "F.cumprod({a}, -1, True)",
    "F.logcumsumexp({a}, 0)", "F.cummax({a}, -1) - F.cummin({a}, 0)",
    "F.linear_recurrence({a}, F.sigmoid({a}), 0)",
    "F.cholesky(F.matmul({a}, F.swapaxes({a}, -1, -2)) * 0.1"
    " + F.eye({a}.shape[-2], dtype={a}.dtype))",
    "F.solve(F.matmul({a}, F.swapaxes({a}, -1, -2)) * 0.1 + F.eye({a}.shape[-2], dtype={a}.dtype),"
    " {a})",
    "checkpoint(lambda x: F.tanh(x) * {a}.mean() + x * x, {a})",
    "checkpoint(lambda x: F.dropout(F.softmax(x, -1), 0.5) * x.sum(), {a})",
    "vmap(lambda x: F.softmax(x * 2 + x.sum(), -1))({a}[..., None])",
    "vmap(lambda x, y: x * y.mean() - {a}.max(), in_axes=(0, None), out_axes=-1)({a}, {a})",
    "vmap(grad(lambda x: (F.exp(x * 0.1) * x).sum()))({a})",
    "jvp(lambda x: F.sin(x) * x.mean(), ({a},), ({a} * 0.5,))[1]",
    "autocast(low_prec_dtype='bfloat16')(lambda x: F.softmax(x * 2, -1) / 3)({a})",
    *quantized.UNARY,
)  # fmt: skip
BINARY = (
    "{a} + {b}", "{a} * {b}", "{a} - {b}", "F.maximum({a}, {b})", "F.where({a} > {b}, {a}, {b})",
    "F.concat([{a}, {b}], -1)", "F.stack([{a}, {b}])", "F.matmul({a}, F.swapaxes({b}, -1, -2))",
    "F.matmul({a}.astype('bfloat16'), F.swapaxes({b}, -1, -2).astype('bfloat16'), dtype='float32')",
    "F.matmul({a}.astype('float16'), F.swapaxes({b}, -1, -2).astype('float32'), dtype='float32')",
    "M.L1Loss('none')({a}, {b})", "M.MSELoss('sum')({a}, {b})",
    "M.SmoothL1Loss(beta=0.5)({a}, {b})",
    "M.HuberLoss('none', delta=0.5)({a}, {b})", "M.BCEWithLogitsLoss()({a}, F.sigmoid({b}))",
    "M.BCELoss('none')(F.sigmoid({a}), F.sigmoid({b}))",
    "M.KLDivLoss('batchmean')(F.logsoftmax({a}, -1), F.softmax({b}, -1))",
    "M.KLDivLoss('none', log_target=True)(F.logsoftmax({a}, -1), F.logsoftmax({b}, -1))",
    "M.CrossEntropyLoss(label_smoothing=0.1)(F.reshape({a}, ({a}.shape[0], -1)),"
    " F.argmax(F.reshape({b}, ({b}.shape[0], -1)), 1))",
    "M.NLLLoss(reduction='none')(F.logsoftmax(F.reshape({a}, ({a}.shape[0], -1)), 1),"
    " F.argmax(F.reshape({b}, ({b}.shape[0], -1)), 1))",
    "M.TripletMarginLoss(swap=True)({a}, {b}, {a}[::-1])",
    *quantized.BINARY,
)  # fmt: skip
# Residual blocks of images {a} of {c} channels, whose values may be packed: {s} has a number for
# each channel, {d} a window of its own.
BLOCKS = (
    "F.conv2d(F.relu(F.conv2d({a}, {w}, None, 1, 1) * {s} + {a}), {w}, None, 1, 1)",
    "F.conv2d(F.relu(F.conv2d({a}, {d}, None, 1, 1, groups={c}) * {s} + {a}), {w}, None, 1, 1)",
    *quantized.BLOCKS,
)
# Changes of `a` in place, which must be a float of rank 1 or more.
IN_PLACE = (
    "{a}[{int}] = 0.25", "{a}[1:] = {a}[1:] * 0.5", "{a}[::2] = -1", "{a} += {a} * 0.5",
    "{a} *= 0.5", "{a}[...] = {a} + 1", "{a}[..., {int}] = 2", "{a}[{a} > 0.5] = 0.5",
    "{a}.T[{int}] = 3", "{a}.reshape(-1)[:1] = 7",
)  # fmt: skip
