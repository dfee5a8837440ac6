"""The Python array API standard, version 2024.12, for tensors of Tessera.

data-apis.org/array-api/2024.12 says what each function does; docs/reference/array_api.md where
Tessera differs and why. Every function is made of Tessera's operators: it runs in traces, on every
device, and has a gradient where they have one. The package is imported when it is first used.

>>> import tessera as ts
>>> xp = ts.tensor([1.0, 2.0]).__array_namespace__()
>>> xp.sum(xp.asarray([3, 4])).item()
7
"""

import math
import sys

from .._known_form import export_known_form
from . import (
    _analytic,
    _creation,
    _dtypes,
    _elementwise,
    _info,
    _linear,
    _manipulation,
    _searching,
    _statistics,
    fft,
    linalg,
)

__array_api_version__ = "2024.12"
_VERSIONS = ("2021.12", "2022.12", "2023.12", __array_api_version__)

_NAMES = {
    _analytic: "acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p sin sinh sqrt tan "
    "tanh",
    _creation: "arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid "
    "ones ones_like tril triu zeros zeros_like",
    _dtypes: "astype bool can_cast complex128 complex64 finfo float32 float64 iinfo int16 int32 "
    "int64 int8 isdtype result_type uint16 uint32 uint64 uint8",
    _elementwise: "abs add atan2 bitwise_and bitwise_invert bitwise_left_shift bitwise_or "
    "bitwise_right_shift bitwise_xor ceil clip conj copysign divide equal floor floor_divide "
    "greater greater_equal hypot imag isfinite isinf isnan less less_equal log10 log2 logaddexp "
    "logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter "
    "not_equal positive pow real reciprocal remainder round sign signbit square subtract trunc",
    _info: "__array_namespace_info__",
    _linear: "matmul matrix_transpose tensordot vecdot",
    _manipulation: "broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims "
    "repeat reshape roll squeeze stack take take_along_axis tile unstack",
    _searching: "argmax argmin argsort count_nonzero nonzero searchsorted sort unique_all "
    "unique_counts unique_inverse unique_values where",
    _statistics: "all any cumulative_prod cumulative_sum diff max mean min prod std sum var",
    fft: " ".join(fft.__all__),
    linalg: " ".join(linalg.__all__),
}
_EXTENSIONS = (fft, linalg)
# Each is one operator, whose errors are in the known form: another call would add a third.
_BARE = (
    "add atan2 broadcast_to conj divide equal floor_divide greater greater_equal imag less "
    "less_equal logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply "
    "negative not_equal permute_dims positive real remainder square stack subtract where"
)

for _part, _text in _NAMES.items():
    _names = _text.split()
    export_known_form(_part, [name for name in _names if name not in _BARE.split()])
    if _part not in _EXTENSIONS:
        globals().update({name: getattr(_part, name) for name in _names})

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi

__all__ = sorted(
    {name for _part, _text in _NAMES.items() if _part not in _EXTENSIONS for name in _text.split()}
    | {"__array_api_version__", "e", "fft", "inf", "linalg", "nan", "newaxis", "pi"}
)


def of_version(api_version):
    """The namespace of that version of the standard; None: of the latest one that there is.

    ValueError: it must be 2024.12 or an earlier version, whose functions it has, too.
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"__array_namespace__: api_version must be None or one of {_VERSIONS}, "
            f"got {api_version!r}"
        )
    return sys.modules[__name__]
