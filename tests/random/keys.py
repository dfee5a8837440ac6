"""Keys of `x[key]`, drawn for a shape: all that NumPy takes, in any order, at any place."""

from types import SimpleNamespace

import numpy as np

# What stands for Tessera's module where NumPy runs a line.
NUMPY = SimpleNamespace(tensor=np.asarray)

# Parts that take one axis, and how often each is drawn.
_PARTS = {"int": 0.15, "slice": 0.25, "array": 0.3, "mask": 0.14, "computed": 0.06, "sized": 0.05,
          "empty": 0.05}  # fmt: skip
_ARRAYS = ("np.array({})", "ts.tensor({})", "np.array({}, 'int64')", "{}")
_EXTRA = ("None", "None", "None", "True", "False")  # parts that take no axis
# What a region of `{a}` gets: each has its shape, or repeats over it.
VALUES = ("0.25", "{a}[{key}] * 0.5", "{a}[{key}][..., :1]", "{a}.max()")


class Key:
    """One key for what has `shape`; `name` is the variable, of which some masks are made."""

    def __init__(self, random, shape, name):
        self.random, self.shape, self.name = random, shape, name
        self.common = self.chosen(
            ((1,), (2,), (3,), (2, 3), (3, 1))
        )  # what the arrays broadcast to
        self.parts = []

    def chosen(self, items):
        """One of them."""
        return items[self.random.randint(len(items))]

    def text(self):
        """The key as Python; empty where nothing was drawn."""
        rank, axis = len(self.shape), 0
        dots = self.random.randint(rank + 1) if self.random.rand() < 0.3 else rank
        while axis < rank and (axis >= dots or "..." in self.parts or self.random.rand() < 0.8):
            if axis < dots or "..." in self.parts:
                axis += self.add(axis)
            else:  # what follows takes the last axes
                self.parts.append("...")
                axis = self.random.randint(axis, rank + 1)
        for place in range(len(self.parts), -1, -1):
            if self.random.rand() < 0.08:
                self.parts.insert(place, self.chosen(_EXTRA))
        comma = "," if len(self.parts) == 1 and self.random.rand() < 0.3 else ""
        return ", ".join(self.parts) + comma

    def add(self, axis):
        """Adds a part for the axis and returns how many it takes."""
        kind = self.random.choice(list(_PARTS), p=list(_PARTS.values()))
        size = self.shape[axis]
        if kind == "mask" and axis + 1 < len(self.shape) and self.random.rand() < 0.3:
            self.parts.append(self.mask(self.shape[axis : axis + 2]))
            return 2
        self.parts.append(getattr(self, f"{kind}_part")(axis, size))
        return 1

    def int_part(self, axis, size):
        """A number, or a tensor of one."""
        number = self.random.randint(-size, max(size, 1))
        return f"ts.tensor({number})" if self.random.rand() < 0.2 else str(number)

    def slice_part(self, axis, size):
        """Any bounds, beyond the axis too."""
        low, high = (self.random.randint(-size - 1, size + 2) for _ in range(2))
        step = self.chosen(("", "", ":2", ":-1", ":-2", ":3"))
        bounds = self.chosen((("", ""), (low, ""), ("", high), (low, high)))
        return f"{bounds[0]}:{bounds[1]}{step}"

    def array_part(self, axis, size):
        """Indices in the shape that all arrays of the key broadcast to, or in a part of it."""
        shape = tuple(1 if self.random.rand() < 0.15 else n for n in self.common)
        shape = shape[self.random.randint(len(shape)) :]
        if not size:
            return self.empty_part(axis, size)
        drawn = self.random.randint(-size, size, shape)
        return self.chosen(_ARRAYS).format(drawn.tolist())

    def mask_part(self, axis, size):
        """A mask of one axis."""
        return self.mask((size,))

    def mask(self, shape):
        """As many elements of it are true as the other arrays have, where it has as many."""
        count = int(np.prod(shape))
        wanted = self.common[-1] if self.random.rand() < 0.8 else self.random.randint(count + 1)
        drawn = np.zeros(count, bool)
        drawn[self.random.permutation(count)[:wanted]] = True
        return self.chosen(_ARRAYS[:2]).format(drawn.reshape(shape).tolist())

    def computed_part(self, axis, size):
        """A mask that the data decides."""
        others = tuple(n for n in range(len(self.shape)) if n != axis)
        return f"({self.name}.max({others}) > 0.5)" if others else f"({self.name} > 0.5)"

    def sized_part(self, axis, size):
        """Numbers made of a size."""
        return self.chosen((f"{self.name}.shape[{axis}] // 2",
                            f"{self.name}.shape[{axis}] // 3 : {self.name}.shape[{axis}] - 1",
                            f"range({self.name}.shape[{axis}])"))  # fmt: skip

    def empty_part(self, axis, size):
        """No index."""
        return self.chosen(("[]", "np.zeros(0, 'int32')", f"np.zeros({size}, bool)"))
