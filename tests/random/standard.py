"""Lines of `tessera.array_api`: every function of the standard, as array-api-strict runs it too.

{f} {g} are floats of one dtype and shape, {i} {j} integers, {b} {d} bools, {c} {e} complex numbers;
the second of two often broadcasts with the first. {m} is a small complex matrix, {x} any of these.
{axis} is one of the first variable's axes, {perm} all in another order, {int} a small number.
Default dtypes differ, so that lines name theirs.
"""

_SAFE = "xp.where(xp.equal({j}, 0), xp.ones_like({j}), {j})"
_GRAM = "xp.matmul({f}, xp.matrix_transpose({f}))"
_ROUND = "xp.eye({f}.shape[-2], dtype={f}.dtype)"
_DEFINITE = f"({_GRAM} * 0.1 + {_ROUND})"
_COMPLEX = "xp.matmul({m}, xp.conj(xp.matrix_transpose({m})))"
_HERMITIAN = f"({_COMPLEX} * 0.1 + xp.eye({{m}}.shape[-2], dtype={{m}}.dtype))"


def _calls(names, form):
    """The form with each name in the place of @."""
    return [form.replace("@", name) for name in names.split()]


_FLOATS = [
    *_calls("abs ceil cos exp expm1 floor negative positive round sign sin sinh sqrt square tan "
            "tanh trunc", "xp.@({f} * 0.5)"),
    *_calls("isfinite isinf isnan signbit", "xp.@(1 / xp.floor({f}))"),
    *_calls("acos asin atanh", "xp.@(xp.clip({f} * 0.5, -0.9, 0.9))"), "xp.asinh({f})",
    "xp.atan({f})",
    "xp.cosh({f} * 0.5)", "xp.acosh(xp.abs({f}) + 1.5)", "xp.reciprocal(xp.abs({f}) + 0.5)",
    *_calls("log log10 log1p log2", "xp.@(xp.abs({f}) + 0.5)"),
    "xp.conj({f})", "xp.real({f})",
    *_calls("add atan2 copysign equal greater greater_equal hypot less less_equal logaddexp "
            "maximum minimum multiply not_equal subtract nextafter", "xp.@({f}, {g})"),
    *_calls("divide floor_divide remainder", "xp.@({f}, xp.abs({g}) + 0.5)"),
    "xp.pow(xp.abs({f}) + 0.5, {g})", "xp.pow({f}, 2.0)", "xp.clip({f}, -0.5, 0.5)",
    "xp.clip({f}, min={g} - 1)", "xp.clip({f}, max=0.75)", "2.0 - {f}", "{f} * 0.5 + 1",
    "xp.where(xp.greater({f}, {g}), {f}, {g})", "xp.where({b}, 1.0, 0.25 * xp.astype({b}, "
    "xp.float32))",
]  # fmt: skip
_INTEGERS = [
    *_calls("abs ceil floor positive round sign square trunc bitwise_invert isfinite isinf isnan",
            "xp.@({i})"),
    *_calls("add bitwise_and bitwise_or bitwise_xor equal greater greater_equal less less_equal "
            "maximum minimum multiply not_equal subtract", "xp.@({i}, {j})"),
    *_calls("floor_divide remainder", "xp.@({i}, " + _SAFE + ")"),
    *_calls("bitwise_left_shift bitwise_right_shift", "xp.@({i}, xp.bitwise_and({j}, 7))"),
    "xp.pow({i}, 3)", "xp.pow({i}, xp.bitwise_and({j}, 3))", "xp.clip({i}, 0, 5)", "{i} * 2 + {j}",
    "xp.negative(xp.astype({i}, xp.int32))", "xp.matmul({i}, xp.matrix_transpose({i}))",
    "xp.where(xp.greater({i}, 2), {i}, {j})",
]  # fmt: skip
_BOOLS = [
    *_calls("logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor equal not_equal",
            "xp.@({b}, {d})"),
    "xp.logical_not({b})", "xp.bitwise_invert({b})", "{b} & ~{d}",
]  # fmt: skip
_COMPLEXES = [
    *_calls("abs acos acosh asin asinh atan atanh conj cos cosh exp imag isfinite isinf isnan "
            "negative positive real sign sin sinh sqrt square tan tanh expm1", "xp.@({c} * 0.5)"),
    *_calls("log log10 log1p log2 reciprocal", "xp.@({c} * 0.25 + 2)"),
    *_calls("add multiply subtract equal not_equal", "xp.@({c}, {e})"),
    "xp.divide({c}, {e} * 0.25 + 2)", "xp.pow({c} * 0.25 + 2, {e} * 0.25)",
    "xp.round({c} * 4)", "xp.where(xp.greater(xp.real({c}), 0), {c}, {e})",
]  # fmt: skip
# {x}: a variable of any of the four.
_ANY = [
    "xp.astype({f}, xp.int32)", "xp.astype({i}, xp.float32)", "xp.astype({b}, xp.uint8)",
    "xp.astype({i}, xp.int8)", "xp.astype({f}, xp.float64)", "xp.astype({i}, xp.bool)",
    "xp.astype({f}, xp.complex64)", "xp.astype({f}, {f}.dtype, copy=False)",
    "xp.asarray({x}, copy=True)", "xp.ones_like({x})", "xp.zeros_like({x})",
    "xp.full_like({f}, 0.5)", "xp.full_like({i}, 3)", "xp.full({f}.shape, 2.5, dtype={f}.dtype)",
    "xp.ones({f}.shape, dtype={f}.dtype) * {f}", "xp.zeros({i}.shape, dtype={i}.dtype)",
    "xp.multiply(xp.empty({i}.shape, dtype={i}.dtype), 0)", "xp.empty_like({i}) * 0",
    "xp.arange({f}.shape[{axis}], dtype={f}.dtype)", "xp.arange(9, {int}, -2, dtype=xp.int32)",
    "xp.linspace(-1, 1, {f}.shape[{axis}], dtype={f}.dtype)",
    "xp.eye({f}.shape[{axis}], {int} + 2, "
    "k={int} - 1, dtype={f}.dtype)", "xp.tril({x}, k={int} - 1)", "xp.triu({x}, k=1 - {int})",
    "xp.meshgrid(xp.reshape({f}, (-1,))[:{f}.shape[{axis}]], xp.reshape({f}, (-1,))[:1])[0]",
    "xp.meshgrid(xp.arange({i}.shape[{axis}], dtype={i}.dtype), xp.reshape({i}, (-1,))[:1], "
    "indexing='ij')[0]",
    "xp.from_dlpack({x})", "xp.broadcast_arrays({f}, {g})[1]",
    "xp.broadcast_to({x}, (2, *{x}.shape))", "xp.concat([{x}, {x}], axis={axis})",
    "xp.concat([{f}, {g}], axis=None)", "xp.expand_dims({x}, axis={axis})",
    "xp.flip({x}, axis={axis})", "xp.flip({x})", "xp.moveaxis({x}, {axis}, 0)",
    "xp.permute_dims({x}, {perm})", "xp.matrix_transpose({x})", "xp.repeat({x}, 2, axis={axis})",
    "xp.repeat({x}, 3)", "xp.reshape({x}, (-1,))",
    "xp.reshape({x}, (*{x}.shape[1:], {x}.shape[0]))",
    "xp.roll({x}, {int} + 1, axis={axis})", "xp.roll({x}, -1)",
    "xp.roll({x}, (1, 2), axis=(0, {axis}))",
    "xp.squeeze(xp.expand_dims({x}, axis=0), 0)", "xp.stack([{x}, {x}], axis={axis})",
    "xp.tile({x}, (2, 1, 2))", "xp.unstack({x}, axis={axis})[0]",
    "xp.take({x}, xp.asarray([0, -1, 0]), axis={axis})", "xp.take_along_axis({x}, xp.argsort({x}, "
    "axis={axis}), axis={axis})", "xp.sort({x}, axis={axis})", "xp.sort({f}, descending=True)",
    "xp.argsort({x}, axis={axis}, descending=True)", "xp.argmax({f}, axis={axis})",
    "xp.argmin({x}, keepdims=True)", "xp.argmax({i})", "xp.count_nonzero({x}, axis={axis})",
    "xp.nonzero({x})[0]", "xp.stack(xp.nonzero({b}))", "xp.searchsorted(xp.sort(xp.reshape({f}, "
    "(-1,))), {g}, side='right')", "xp.searchsorted(xp.reshape({i}, (-1,)), {i}, "
    "sorter=xp.argsort(xp.reshape({i}, (-1,))))", "xp.unique_values({x})",
    "xp.unique_counts({i}).counts", "xp.unique_inverse({x}).inverse_indices",
    "xp.unique_all({i}).indices", "xp.where({b}, {d}, xp.logical_not({b}))",
    "{x}[..., None]", "xp.result_type({f}, 1.0) == {f}.dtype and {f} + 1",
    "xp.can_cast({i}, xp.int64) and {i} * 2", "xp.minimum({f}, xp.finfo({f}.dtype).max)",
    "xp.maximum({i}, xp.iinfo({i}.dtype).min)", "{f} + (xp.pi if xp.isdtype({f}.dtype, "
    "'real floating') else xp.e)",
]  # fmt: skip
_REDUCTIONS = [
    *_calls("max min mean sum", "xp.@({f}, axis={axis})"), "xp.mean({f})", "xp.max({f})",
    "xp.sum({i}, axis={axis}, keepdims=True)", "xp.sum({f})", "xp.sum({i}, dtype=xp.int64)",
    "xp.sum({c}, axis={axis})", "xp.prod({c} * 0.5, axis={axis})", "xp.mean({c}, axis={axis})",
    "xp.prod({f} * 0.5, axis={axis})", "xp.prod({i}, axis={axis})", "xp.max({i}, axis={axis})",
    "xp.var({f}, axis={axis})", "xp.std({f}, correction=0.5)", "xp.var({f}, axis=(0, {axis}))",
    "xp.sum({f}, axis=(0, {axis}))", "xp.std({f}, axis={axis}, correction=1, keepdims=True)",
    "xp.all({x}, axis={axis})", "xp.any({x})", "xp.any({b}, axis={axis}, keepdims=True)",
    "xp.cumulative_sum({f}, axis={axis})", "xp.cumulative_sum({i}, axis={axis}, "
    "include_initial=True)", "xp.cumulative_prod({f} * 0.5, axis={axis})",
    "xp.cumulative_prod({i}, axis={axis}, include_initial=True)",
    "xp.cumulative_sum({c}, axis={axis})", "xp.cumulative_prod({c} * 0.5, axis={axis})",
    "xp.diff({f}, axis={axis})", "xp.diff({f}, axis={axis}, n=2)", "xp.diff({i}, axis={axis}, "
    "prepend={i}, append={i})",
]  # fmt: skip
_PRODUCTS = [
    "xp.matmul({f}, xp.matrix_transpose({g}))", _COMPLEX, "xp.vecdot({f}, {g}, axis={axis})",
    "xp.vecdot({c}, {e})", "xp.tensordot({f}, {f}, axes=(({axis},), ({axis},)))",
    "xp.tensordot({f}, {g}, axes=0)", "xp.tensordot({i}, {i}, axes={i}.ndim)",
    "xp.linalg.matmul({f}, xp.linalg.matrix_transpose({f}))", "xp.linalg.vecdot({f}, {g})",
    "xp.linalg.tensordot({f}, {f}, axes={f}.ndim)", "xp.linalg.outer(xp.reshape({f}, (-1,))"
    "[:{f}.shape[{axis}]], xp.reshape({f}, (-1,)))",
    "xp.linalg.cross(xp.stack([{f}, {g}, {f} + {g}], axis=-1), "
    "xp.stack([{g}, {f}, {g}], axis=-1))",
    "xp.linalg.diagonal({x}, offset={int} - 1)", "xp.linalg.trace({f}, offset={int} - 1)",
    "xp.linalg.trace({i}, dtype=xp.int64)",
    *_calls("det inv eigvalsh svdvals", "xp.linalg.@(" + _DEFINITE + ")"),
    f"xp.linalg.solve({_DEFINITE}, {{f}})", f"xp.linalg.cholesky({_DEFINITE}, upper=True)",
    f"xp.linalg.slogdet({_DEFINITE}).logabsdet", f"xp.linalg.matrix_power({_GRAM} * 0.1, 3)",
    f"xp.linalg.matrix_power({_DEFINITE}, -2)", "xp.linalg.matrix_norm({f}, ord=1)",
    "xp.linalg.matrix_norm({f})", "xp.linalg.matrix_norm({f}, ord=2, keepdims=True)",
    "xp.linalg.matrix_norm({f}, ord='nuc')", "xp.linalg.matrix_rank({f}, rtol=0.01)",
    "xp.linalg.pinv({f}, rtol=0.01)", "xp.linalg.vector_norm({f}, axis={axis})",
    "xp.linalg.vector_norm({f}, ord=xp.inf)", "xp.linalg.vector_norm({c}, ord=3, axis={axis})",
    "(lambda r: xp.matmul(r.Q, r.R))(xp.linalg.qr({f}))",
    "(lambda r: xp.matmul(r.Q, r.R))(xp.linalg.qr({f}, mode='complete'))",
    "(lambda r: xp.matmul(r.eigenvectors * xp.expand_dims(r.eigenvalues, axis=-2), "
    f"xp.matrix_transpose(r.eigenvectors)))(xp.linalg.eigh({_DEFINITE}))",
    "(lambda r: xp.matmul(r.U * xp.expand_dims(r.S, axis=-2), r.Vh))"
    "(xp.linalg.svd({f}, full_matrices=False))", "xp.linalg.svd({f}).S",
    f"xp.linalg.cholesky({_HERMITIAN})", f"xp.linalg.inv({_HERMITIAN})",
    f"xp.linalg.det({_HERMITIAN})", f"xp.linalg.eigvalsh({_HERMITIAN})",
    f"xp.linalg.solve({_HERMITIAN}, {{m}})", "xp.linalg.svdvals({m})",
    "(lambda r: xp.matmul(r.Q, r.R))(xp.linalg.qr({m}))",
]  # fmt: skip
_TRANSFORMS = [
    *_calls("fft ifft", "xp.fft.@({c}, axis={axis}, norm='ortho')"),
    *_calls("rfft ihfft", "xp.fft.@({f}, axis={axis}, norm='ortho')"),
    "xp.fft.fft({c}, n=5, axis={axis})", "xp.fft.irfft({c}, axis={axis}, norm='ortho')",
    "xp.fft.hfft({c}, n={c}.shape[{axis}], axis={axis}, norm='forward')",
    "xp.fft.fftn({c}, norm='ortho')", "xp.fft.ifftn({c}, axes=(0, -1))",
    "xp.fft.rfftn({f}, norm='ortho')", "xp.fft.irfftn({c}, axes=(0, -1), norm='ortho')",
    "xp.fft.fftfreq({f}.shape[{axis}], d=0.5, dtype={f}.dtype)",
    "xp.fft.rfftfreq({f}.shape[{axis}], dtype={f}.dtype)", "xp.fft.fftshift({f}, axes={axis})",
    "xp.fft.ifftshift({c})",
]  # fmt: skip

FAMILIES = (_FLOATS, _INTEGERS, _BOOLS, _COMPLEXES, _ANY, _REDUCTIONS, _PRODUCTS, _TRANSFORMS)
# What no line calls: constants that are no functions, and what tells of the library itself.
LEFT_OUT = {"__array_api_version__", "__array_namespace_info__", "newaxis", "nan"}
