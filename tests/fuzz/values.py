"""Arguments that a caller might pass by mistake, drawn by a seeded generator."""

import numpy as np
import tessera

INTS = (0, 1, 2, 3, 4, 5, 7, 16, -1, -2, -3, 100, 1 << 20, 2**31, 2**33, 2**62, -(2**63), 2**64)
FLOATS = (0.0, -0.0, 0.5, 1.0, -1.5, 1e-45, 1e300, float("nan"), float("inf"), -float("inf"))
TEXTS = ("", "float32", "int8", "mean", "sum", "none", "same", "valid", "nearest", "cpu0", "gpu9",
         "null0", "float31", "relu", "constant", "fan_in", "é\0", "x" * 1000)  # fmt: skip
SIZES = (0, 1, 1, 2, 2, 3, 4, 5, 8)
TENSOR_DTYPES = ("float32", "float32", "float32", "float16", "bfloat16", "float64", "int8",
                 "uint8", "int16", "int32", "int64", "bool")  # fmt: skip
ODD_DTYPES = ("complex64", "complex128", "uint16", "uint32", "uint64", "longdouble", "S4", "U3",
              "O", "M8[s]", ">f4", ">i8", "V8", "f4,i4")  # fmt: skip


class Plain:
    """An object that no function knows."""

    def __repr__(self):
        return "Plain()"


class Hostile(Plain):
    """One whose every question is an error."""

    def __index__(self):
        raise ValueError("hostile: __index__ must not be called, got a call")

    def __array__(self, *_, **__):
        raise ValueError("hostile: __array__ must not be called, got a call")

    def __len__(self):
        raise ValueError("hostile: __len__ must not be called, got a call")


class Values:
    """Draws values; `text` of each is Python that makes it again."""

    def __init__(self, rng):
        self.rng = rng

    def pick(self, items):
        """One of a sequence."""
        return items[self.rng.randrange(len(items))]

    def shape(self, most=5):
        """A small shape of rank 0 to `most`."""
        return tuple(self.pick(SIZES) for _ in range(self.rng.randint(0, most)))

    def array(self, shape, dtype):
        """Numbers of few values, NaN among them, and layouts of all kinds."""
        numbers = np.random.RandomState(self.rng.randrange(1 << 30)).randint(-3, 9, shape)
        if np.dtype(dtype).kind == "V":
            return np.zeros(shape, dtype)
        array = numbers.astype("f8").astype(dtype) if dtype != "M8[s]" else numbers.astype(dtype)
        if array.dtype.kind == "f" and array.size and self.rng.random() < 0.2:
            array.flat[0] = np.nan
        if array.ndim > 1 and self.rng.random() < 0.3:
            array = array[::-1].swapaxes(0, -1)
        return array

    def tensor(self, shape=None, dtype=None):
        """A tensor, sometimes a parameter, sometimes a view."""
        shape = self.shape() if shape is None else shape
        dtype = dtype or self.pick(TENSOR_DTYPES)
        wide = "float32" if dtype == "bfloat16" else dtype
        made = tessera.Tensor(self.array(shape, wide), dtype=dtype)
        kind = self.rng.random()
        if kind < 0.1 and dtype in ("float32", "float16", "float64"):
            return tessera.Parameter(made)
        return made[..., ::2] if kind < 0.25 and made.ndim else made

    def numpy(self):
        """An array of a dtype that there is no tensor of, or of too high a rank."""
        if self.rng.random() < 0.3:
            return self.array((1,) * self.rng.randint(6, 12), "float32")
        return self.array(self.shape(3), self.pick(ODD_DTYPES))

    def nested(self, depth=0):
        """Lists and tuples in each other, ragged ones among them."""
        items = [
            self.nested(depth + 1) if depth < 3 and self.rng.random() < 0.3 else self.scalar()
            for _ in range(self.rng.randint(0, 4))
        ]
        return self.pick((list, tuple))(items)

    def scalar(self):
        """A number, mostly."""
        kind = self.rng.random()
        if kind < 0.6:
            return self.pick(INTS)
        return self.pick(FLOATS) if kind < 0.9 else self.pick((None, True, False, ""))

    def axes(self):
        """An axis or a list of them, often out of range."""
        if self.rng.random() < 0.6:
            return self.rng.randint(-4, 4)
        return [self.rng.randint(-4, 4) for _ in range(self.rng.randint(0, 4))]

    def odd(self):
        """What hardly any function takes."""
        return self.pick((
            None, Ellipsis, slice(1, None, -2), {}, {"a": 1}, {1, 2}, b"bytes", bytearray(3),
            Plain(), Hostile(), print, int, np.float32, range(4), memoryview(b"\1\2"), 1j,
            tessera.float16,
        ))  # fmt: skip

    def any(self):
        """Any value at all."""
        kind = self.rng.random()
        for limit, make in (
            (0.3, self.tensor), (0.5, self.scalar), (0.6, self.nested), (0.7, self.axes),
            (0.8, self.numpy), (0.9, lambda: self.pick(TEXTS)),
        ):  # fmt: skip
            if kind < limit:
                return make()
        return self.odd()


def describe(value):
    """Short Python-like text of a value, for the report."""
    if isinstance(value, tessera.Tensor):
        return f"T({value.shape}, {str(value.dtype)!r})"
    if isinstance(value, np.ndarray):
        return f"np({value.shape}, {value.dtype.str!r}, strides={value.strides})"
    if type(value) in (list, tuple):
        return f"{type(value).__name__}([{', '.join(map(describe, value))}])"
    return repr(value)[:200]
