"""Functions of integers without parameters."""

from ... import functional as F  # noqa: N812
from ...functional._integer_sums import check_result, through_floats
from .. import elemwise
from .module import QuantizedModule


class Elemwise(elemwise.Elemwise, QuantizedModule):
    """Elemwise of integers: the function of the numbers that quantized tensors stand for, as
    `dtype`.

    ValueError: method must name an elementwise function.

    >>> import tessera as ts
    >>> from tessera.dtype import qint8
    >>> from tessera.module import quantized
    >>> x = ts.tensor([2.0]).astype(qint8(0.5))
    >>> quantized.Elemwise("add", dtype=qint8(0.25)).eval()(x, x).tolist()
    [16]
    """

    def __init__(self, method, dtype=None, **kwargs):
        super().__init__(method, **kwargs)
        self.output_dtype = dtype

    def forward(self, *inps):
        """See the class."""
        self._check_inference()
        return through_floats(type(self).__name__, super().forward, inps, self.output_dtype)


class Concat(QuantizedModule):
    """Joins quantized tensors along an axis as `dtype`; see `functional.quantized.concat`.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> from tessera.dtype import qint8
    >>> x = F.ones(2).astype(qint8(0.5))
    >>> M.quantized.Concat(qint8(0.25)).eval()([x, x]).tolist()
    [4, 4, 4, 4]
    """

    def __init__(self, dtype=None, **kwargs):
        super().__init__(**kwargs)
        self.output_dtype = dtype

    def forward(self, inps, axis=0):
        """See the class."""
        self._check_inference()
        return F.quantized.concat(inps, axis, self.output_dtype)


class QuantStub(QuantizedModule):
    """Makes integers of `dtype` of float[*D]: where a quantized network begins.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.quantized.QuantStub(ts.dtype.qint8(0.5)).eval()(ts.tensor([1.0])).tolist()
    [2]
    """

    def __init__(self, dtype=None, **kwargs):
        super().__init__(**kwargs)
        self.output_dtype = dtype

    def forward(self, inp):
        """See the class."""
        self._check_inference()
        check_result(type(self).__name__, self.output_dtype)
        return inp.astype(self.output_dtype)


class DequantStub(QuantizedModule):
    """Gives the numbers of quantized[*D] as float32: where a quantized network ends.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.quantized.DequantStub().eval()(ts.tensor([1.0], dtype="qint8<0.5>")).tolist()
    [1.0]
    """

    def forward(self, inp):
        """See the class."""
        self._check_inference()
        return inp.astype("float32")
