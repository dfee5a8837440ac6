"""Lines that call operators which users bring: the library of awkward ones, which TESS_AWKWARD
names, records of the file that TESS_RECORDS names, some that are written in Python, and one of a
provider. Without the library none is drawn.
"""

import os
import re

import numpy as np
import tessera as ts
import tessera.functional as F  # noqa: N812

from tests.random import engine

LIBRARY = os.environ.get("TESS_AWKWARD", "")
RECORDS = os.environ.get("TESS_RECORDS", "")
_PROGRAMS = 0.3  # of all, which have such lines
_LINES = 0.3  # of the lines of these
_IN_PYTHON = re.compile(r"\bts\.ops\.brought\.|\bbrought\.folded\b")
_NAMES = re.compile(r"\bts\.ops\.(awkward|brought|records)\.|\bbrought\.(?=folded\b)")
_OPENED = {"awkward": LIBRARY, "records": RECORDS}  # what tess-run must open, by namespace

# One variable {a}, as float32.
UNARY = (
    "ts.ops.awkward.scaled_relu({a}, scale=1.5)",
    "ts.ops.awkward.scaled_relu(F.swapaxes({a}, 0, -1)[::2] * 1, 0.5)",
    "ts.ops.awkward.scaled_relu(F.swapaxes({a}, 0, -1), 2.0)[..., ::-1]",
    "ts.ops.awkward.scaled_relu({a}[..., ::-1], 0.25) - {a}[:1]",
    "ts.ops.awkward.scaled_relu(ts.ops.awkward.scaled_relu({a} * 2), 0.75)",
    "ts.ops.awkward.moments({a})[0]",
    "ts.ops.awkward.moments(F.swapaxes({a}, 0, -1))[1]",
    "F.stack(ts.ops.awkward.moments({a}[::2]), 0)",
    "{a} - ts.ops.awkward.moments({a})[0][..., None]",
    "ts.ops.awkward.noise({a}, 0.5)",
    "ts.ops.awkward.noise({a}, width=0.5, is_training=True)",
    "ts.ops.awkward.noise({a}, 2.0, is_training=True)"
    " * ts.ops.awkward.noise({a}, is_training=True)",
    "ts.ops.awkward.positives({a}.detach())[0].sum()",
    "ts.ops.awkward.positives({a}.detach())[1] * {a}",
    "F.sort(ts.ops.awkward.positives({a}.detach())[0])[0]",
    "F.concat([ts.ops.awkward.positives(F.floor({a}.detach() * 4).astype('int64'))[0],"
    " F.ones(2, dtype='int64')], 0).astype('float32').mean() * {a}",
    "ts.ops.awkward.matvec(F.reshape({a}, ({a}.shape[0], -1)), F.flatten({a}[0]))",
    "ts.ops.awkward.matvec(F.reshape({a}, ({a}.shape[0], -1)).T, F.flatten({a}[..., 0])"
    "[:{a}.shape[0]])",
    "ts.ops.awkward.weighted([{a}, {a} * 0.5, {a}[::-1]], [1, -2, 3], mode='mean')",
    "ts.ops.awkward.weighted([F.swapaxes({a}, 0, -1)], weights=[2])",
    "ts.ops.awkward.running_sum({a}, F.ones({a}.shape))",
    "ts.ops.awkward.running_sum({a} * 2, {a}.detach() * 1) * {a}",
    "F.scan(lambda h, x: (ts.ops.awkward.scaled_relu(h + x, 0.5), h), {a}[0], {a})[1]",
    "F.scan(lambda h, x: (h + ts.ops.awkward.moments(x)[0][..., None] * {a}[0], x), {a}[0],"
    " {a})[0]",
    "F.scan(lambda h, x: (ts.ops.awkward.noise(h * 0.5, is_training=True) + x, h), {a}[0], {a})[1]",
    "F.scan(lambda h, x: (h * 0.5 + ts.ops.awkward.positives(x.detach())[0].sum() * 0.1, h),"
    " {a}[0], {a})[1]",
    "F.cond({a}.max() > 1, lambda x: ts.ops.awkward.moments(x)[1], lambda x: x.mean(-1), {a})",
    "F.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, ts.ops.awkward.scaled_relu(x, 0.5)"
    " - {a}), F.full((), 0), {a}.detach())[1]",
    "checkpoint(lambda x: ts.ops.awkward.scaled_relu(x, 0.7) * x.sum(), {a})",
    "checkpoint(lambda x: ts.ops.awkward.noise(x, is_training=True) * x, {a})",
    "vmap(lambda x: ts.ops.awkward.scaled_relu(x, 0.5) * x)({a})",
    "vmap(lambda x: ts.ops.awkward.moments(x * 2)[0], out_axes=-1)({a})",
    "vmap(grad(lambda x: ts.ops.awkward.moments(x)[1].sum()))({a})",
    "vmap(grad(lambda x: ts.ops.awkward.scaled_relu(x * x, 0.5).sum()))({a})",
    "ts.ops.brought.cube({a}, factor=0.5)",
    "ts.ops.brought.cube(F.swapaxes({a}, 0, -1)[::2])",
    "F.sum(ts.ops.brought.kept({a}.detach()), 0)",
    "ts.ops.brought.jitter({a}, is_training=True)",
    "ts.ops.brought.jitter({a})",
    "ts.ops.brought.tally({a}, F.ones({a}.shape))",
    "F.scan(lambda h, x: (ts.ops.brought.cube(h + x, factor=0.1), h), {a}[0], {a})[1]",
    "checkpoint(lambda x: ts.ops.brought.cube(x, factor=0.5) * x, {a})",
    "vmap(lambda x: ts.ops.brought.cube(x) + x.mean())({a})",
    "vmap(grad(lambda x: ts.ops.brought.cube(x, factor=0.3).sum()))({a})",
    "ts.ops.records.soft_clip({a}, limit=1.5)",
    "ts.ops.records.soft_clip(F.swapaxes({a}, 0, -1)[::2] * 2, 0.75) + 1",
    "ts.ops.records.centered({a})",
    "ts.ops.records.centered({a}, axes=[0]) * {a}",
    "ts.ops.records.clipped_rows({a}, limit=0.5)",
    "ts.ops.records.clipped_rows(F.swapaxes({a}, 0, -1), centre=False)",
    "F.scan(lambda h, x: (ts.ops.records.soft_clip(h + x, limit=0.5), h), {a}[0], {a})[1]",
    "checkpoint(lambda x: ts.ops.records.gated(x, x.mean()), {a})",
    "vmap(lambda x: ts.ops.records.centered(x) * x)({a})",
    "vmap(grad(lambda x: ts.ops.records.soft_clip(x * x, limit=2.0).sum()))({a})",
    "F.reshape(brought.folded(F.flatten({a}.detach())), {a}.shape)",
    "brought.folded(F.flatten({a}.detach()[::2])) * {a}.mean()",
    "F.scan(lambda h, x: (brought.folded(h) + x, h), F.flatten({a}[0]).detach(),"
    " F.reshape({a}, ({a}.shape[0], -1)))[1]",
)  # fmt: skip
# Two of one shape.
BINARY = (
    "ts.ops.awkward.weighted([{a}, {b}], [2, -1])",
    "ts.ops.awkward.weighted([{b}, {a}, {b}, {a} * {b}], [1, 0, -1, 2], 'mean')",
    "ts.ops.awkward.matvec(F.reshape({a}, ({a}.shape[0], -1)), F.flatten({b}[-1]))",
    "ts.ops.awkward.scaled_relu({a} - {b}, 0.5) + ts.ops.awkward.scaled_relu({b} - {a}, 0.5)",
    "ts.ops.awkward.running_sum({a}, {b}.detach() * 1)",
    "F.scan(lambda h, x: (ts.ops.awkward.weighted([h, x, {b}[0]], [1, 2, -1], 'mean'), h),"
    " {a}[0], {a})[1]",
    "vmap(lambda x, y: ts.ops.awkward.weighted([x, y], [2, -1]), (0, None))({a}, {b}[0])",
    "ts.ops.records.gated({a}, {b})",
    "ts.ops.records.gated({a}[:1], {b} * 2) + ts.ops.awkward.scaled_relu({b}, 0.5)",
    "ts.ops.brought.blend({a}, {b}, share=0.25)[0]",
    "F.stack(ts.ops.brought.blend({a}, {b}, how='sine'), -1)",
    "ts.ops.brought.blend({a}.detach(), {b}[::-1])[1]",
)
# Changes of {a}, which is the state of a call on {b}.
STATEFUL = (
    "ts.ops.awkward.running_sum({b} * 0.5, {a})",
    "ts.ops.awkward.running_sum({b}[::-1], total={a})",
    "ts.ops.brought.tally({b}, {a})",
)
# Marks a line that draws numbers.
STOCHASTIC = "is_training=True"


class Oracles:
    """Formulas of the operators, for any float dtype and with gradients, by name."""

    @staticmethod
    def scaled_relu(x, scale=1.0):
        """max(scale * x, 0)."""
        return F.maximum(x * scale, 0)

    @staticmethod
    def moments(x):
        """Mean and variance along the last axis, 0 where it has no elements."""
        if not x.shape[-1]:
            return x.sum(-1), x.sum(-1)
        mean = x.mean(-1)
        return mean, ((x - mean[..., None]) ** 2).mean(-1)

    @staticmethod
    def noise(x, width=1.0):
        """x, where nothing is trained."""
        return x * 1

    @staticmethod
    def positives(x):
        """The elements above 0, and their number."""
        flat = F.flatten(x) if x.ndim else F.reshape(x, (1,))
        return flat[flat > 0], (flat > 0).sum().astype("int64")

    @staticmethod
    def matvec(a, x):
        """A matrix by a vector."""
        return (a * x).sum(-1)

    @staticmethod
    def weighted(values, weights, mode="sum"):
        """A weighted sum, or that divided by the number of its terms."""
        total = sum(value * weight for value, weight in zip(values, weights, strict=True))
        return total / len(values) if mode == "mean" else total

    @staticmethod
    def running_sum(x, total):
        """The sum, which is the state then."""
        out = total.detach() + x
        total._reset(out.detach() * 1)
        return out

    @staticmethod
    def soft_clip(x, limit=1.0):
        """limit * tanh(x / limit)."""
        return F.tanh(x / limit) * limit

    @staticmethod
    def gated(x, gate):
        """x * sigmoid(gate)."""
        return x * F.sigmoid(gate)

    @staticmethod
    def centered(x, axes=(-1,)):
        """x without its mean along axes."""
        return x - F.mean(x, list(axes), keepdims=True)

    @staticmethod
    def clipped_rows(x, limit=2.0, centre=True):
        """Sums of rows that are centred and bent."""
        return Oracles.soft_clip(Oracles.centered(x) if centre else x, limit).sum(-1)

    @staticmethod
    def folded(x):
        """|x| * x - 0.5."""
        return F.abs(x) * x - 0.5

    @staticmethod
    def cube(x, *, factor=1.0):
        """factor * x^3."""
        return x * x * x * factor

    @staticmethod
    def blend(x, y, *, share=0.5, how="plain"):
        """A weighted mean, and a product."""
        return x * share + y * (1 - share), (F.sin(x) if how == "sine" else x) * y

    @staticmethod
    def kept(x):
        """The rows whose first number is above 0."""
        return x[F.reshape(x, (x.shape[0], -1))[:, 0] > 0]

    @staticmethod
    def jitter(x):
        """x, where nothing is trained."""
        return x * 1

    @staticmethod
    def tally(x, seen):
        """x plus the number of calls so far."""
        seen._reset(seen.detach() + 1)
        return x + seen


class _Cube:
    def infer(self, x, *, factor):
        return x

    def forward(self, x, *, factor: float = 1.0):
        return np.float32(factor) * x * x * x

    def backward(self, d_out, x, *, factor):
        return 3 * np.float32(factor) * x * x * d_out


class _Blend:
    """Two results and a hidden one; the gradient of each input reads other values."""

    def infer(self, x, y, *, share, how):
        return x, x, x

    def forward(self, x, y, *, share: float = 0.5, how: str = "plain"):
        first = np.sin(x) if how == "sine" else x
        return x * np.float32(share) + y * np.float32(1 - share), first * y, first

    def backward(self, d_mean, d_product, x, y, first, *, share, how):
        slope = np.cos(x) if how == "sine" else np.float32(1)
        d_x = np.float32(share) * d_mean + slope * y * d_product
        return d_x, np.float32(1 - share) * d_mean + first * d_product


def _kept(x):
    return x[x.reshape(len(x), -1)[:, 0] > 0] if x.size else x


def _jitter(x, *, rng, is_training):
    return x + rng.uniform(size=x.shape).astype(x.dtype) if is_training else x.copy()


def _tally(x, seen):
    seen += 1
    return x + seen


def _bring():
    ts.load_library(LIBRARY)
    ts.load_records(RECORDS)
    ts.custom_op("brought::cube", vmap=True)(_Cube)
    ts.custom_op("brought::blend", outputs=("mean", "product"), hidden=("first",))(_Blend)
    ts.custom_op("brought::kept", data_sized=("out",), infer=lambda x: x)(_kept)
    ts.custom_op(
        "brought::jitter", random=True, training=True, infer=lambda x: x,
        backward=lambda d_out: d_out,
    )(_jitter)  # fmt: skip
    ts.custom_op(
        "brought::tally", states=("seen",), infer=lambda x, seen: x, backward=lambda d_out: d_out
    )(_tally)


def has_lines(seed):
    """Whether the seed's program has such lines; other programs are what they are without."""
    return IS_THERE and np.random.RandomState(seed ^ 0xB120).rand() < _PROGRAMS


def takes_line(drawer):
    """Whether the next line is one of these."""
    return drawer.is_bringing and drawer.chance(_LINES)


def drawn(drawer):
    """(the text of a line, the state that it changes); None where no variable fits."""
    floats = drawer.candidates(drawer.dtype)
    if not floats:
        return None
    kind = drawer.random.rand()
    a = drawer.choose(floats)
    alike = [n for n in drawer.order if drawer.known[n].shape == drawer.known[a].shape
             and drawer.known[n].dtype == drawer.known[a].dtype]  # fmt: skip
    b = drawer.choose(alike)
    if kind < 0.1 and drawer.dtype == "float32":
        is_state = drawer.focus.writes and (a[0] in "av" or a[0] == "c" and drawer.focus.state)
        return (drawer.choose(STATEFUL).format(a=a, b=b), a) if is_state else None
    form = drawer.choose(UNARY if kind < 0.8 else BINARY)
    if drawer.dtype == "float32":
        return form.format(a=a, b=b), None
    a, b = (f"{name}.astype('float32')" for name in (a, b))
    return f"({form.format(a=a, b=b)}).astype('{drawer.dtype}')", None


def is_in_python(program):
    """Whether C++ must refuse its file, since an operator is written in Python."""
    return any(_IN_PYTHON.search(each.text) for each in program.statements)


def by_oracles(text):
    """The line with what its operators compute in place of them."""
    return _NAMES.sub("brought.Oracles.", text)


def options(program):
    """Arguments of tess-run for the program's file."""
    named = {found[1] for each in program.statements for found in _NAMES.finditer(each.text)}
    return [f"--library={path}" for name, path in _OPENED.items() if name in named]


IS_THERE = bool(LIBRARY and RECORDS)
if IS_THERE:
    _bring()
    folded = engine.folded()
