"""Draws programs: each statement is tried eagerly, and kept when it gives tame numbers."""

import contextlib
import math
from dataclasses import replace

import numpy as np
import tessera
from tessera import _core, device

from tests.random import brought, catalog, files, focus, forms, laws, standard
from tests.random.program import HEADER, REFUSALS, Input, Program, Statement, used_names

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64, 100, 128, 257, 1025)
_MOST_ELEMENTS = 1 << 18  # of a value
_REFUSED = (*REFUSALS, MemoryError)  # a product of two long columns is larger than memory
_MOST_OF_A_LINE = 1 << 13  # elements of an input that a line of Python reads
_MOST_BYTES = 1 << 25  # of all values of a program
_BLOCK_BYTES = 1 << 18  # at least what the inputs of a block, or of a line, take
_ROOM = (
    1 << 30
)  # bytes that a program may take while it is drawn, with what a statement makes and drops
_LARGEST = 1e4  # of a float that a program goes on with


def count_of(shape):
    """Its elements, which may be more than an int64 counts."""
    return math.prod(map(int, shape))


def extent_of(shape):
    """What a draw bounds: its elements, or its empty rows, of which there may be as many."""
    return count_of(size or 1 for size in shape)


def bytes_of(value):
    """What a tensor holds; a view counts as a value of its own."""
    return count_of(value.shape) * value.dtype.itemsize


@contextlib.contextmanager
def limited_memory():
    """A statement that wants more than `_ROOM` raises MemoryError."""
    before = _core.memory_stats()
    device.set_memory_limit(before["in_use"] + _ROOM)
    try:
        yield
    finally:
        device.set_memory_limit(before["limit"])


def drain():
    """Tells what else failed in a refused statement, else a later program would."""
    with contextlib.suppress(*_REFUSED):
        tessera.sync()


class Drawer:
    """Grows one program from a seed."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.seed = seed
        self.inputs, self.statements, self.order = [], [], []
        self.names = {}
        exec(HEADER, self.names)
        self.known = {}  # variables by name
        self.records, self.weights = catalog.drawable()
        self.focus = focus.of(seed)
        self.dtype = self.choose(self.focus.dtypes)
        self.sizes = sorted({self.choose(SIZES[1:]) for _ in range(3)} | {self.choose(SIZES)})
        is_free = self.focus.sized or self.chance(0.3)
        self.free = self.choose([n for n in self.sizes if n > 1] or [3]) if is_free else 0
        # A function of what is around it alone.
        self.is_bringing = brought.has_lines(seed)
        self.is_closed = not (self.free or self.focus.alike) and self.chance(0.06)

    def choose(self, items):
        """One of them."""
        return items[self.random.randint(len(items))]

    def chance(self, probability):
        """True with this probability."""
        return self.random.rand() < probability

    def draw(self):
        """The program."""
        with limited_memory():
            return self.drawn()

    def drawn(self):
        """As draw(), in whatever memory there is."""
        wanted = self.random.randint(3, 31)
        if self.focus.sized or self.focus.alike:
            self.begin()
        for _ in range(wanted * 6):
            if len(self.statements) >= wanted:
                break
            self.step()
        program = Program(self.seed, tuple(self.inputs), tuple(self.statements), self.results())
        return self.finished(program)

    def begin(self):
        """The inputs without which the focus would say nothing."""
        shape = [self.choose(self.sizes[-3:]) for _ in range(self.random.randint(1, 4))]
        if self.focus.sized:
            shape[0] = self.free
        while extent_of(shape) > _MOST_ELEMENTS:
            shape.pop()
        for _ in range(1 + self.focus.alike):
            self.new_input(tuple(shape), self.dtype, -2.0, 2.0)

    def new_shape(self):
        """Of an input that a line of Python reads: few numbers."""
        shape = [self.choose(self.sizes) for _ in range(self.random.randint(0, 5))]
        if shape and self.free and self.chance(0.5):
            shape[0] = self.free
        while extent_of(shape) > _MOST_OF_A_LINE:
            shape.pop()
        return tuple(shape)

    def step(self):
        """Tries to add one call or line."""
        if brought.takes_line(self):
            self.add_brought()
            return
        kind = self.random.rand()
        if self.chance(0.75 if self.focus.outside else 0.1):
            self.add_outside()
        elif kind < 0.5 or not self.order:
            self.add_record()
        elif kind < 0.54:
            self.add_block()
        elif kind < 0.8:
            self.add_line(self.choose(catalog.UNARY))
        elif kind < 0.92 or not self.focus.writes:
            self.add_line(self.choose(catalog.BINARY))
        else:
            self.add_write()

    def held(self):
        """Bytes of all values so far: none is given back before the program ends."""
        return sum(map(bytes_of, self.known.values()))

    # Operands.

    def candidates(self, dtype=None, shape=None):
        """Variables, later ones more often."""
        fits = [name for name in self.order
                if (dtype is None or self.known[name].dtype.name == dtype)
                and (shape is None or self.known[name].shape == tuple(shape))]  # fmt: skip
        return fits[-6:] if self.chance(0.7) else fits

    def operand(self, shape, dtype, low, high):
        """A variable of that shape and dtype: one there is, one made to fit, or an input."""
        fits = self.candidates(dtype, shape)
        if fits and self.chance(0.8):
            return self.choose(fits)
        others = self.candidates(dtype)
        if others and self.chance(0.6) and dtype.startswith(("float", "bfloat")):
            made = self.fitted(self.choose(others), shape)
            if made:
                return made
        return self.new_input(shape, dtype, low, high)

    def fitted(self, name, shape):
        """A view or a piece of a variable in another shape; None when it cannot be."""
        count, has = int(np.prod(shape)), int(np.prod(self.known[name].shape))
        if has == 0 or count > has * 8:
            return None
        piece = f"F.flatten({name})"
        if count > has:
            piece = f"F.tile({piece}, {-(-count // has)})"
        piece = f"F.reshape({piece}[:{count}], {tuple(shape)})"
        return self.add(piece, 1) if count and shape else None

    def may_have(self, shape):
        """Whether a new input may have the shape."""
        return extent_of(shape) <= _MOST_ELEMENTS

    def new_input(self, shape, dtype, low, high):
        """A new argument, constant or parameter."""
        kind = self.choose(["argument"] * 5 + ["constant"] * 2 + ["parameter"])
        if not any(each.kind == "argument" for each in self.inputs):
            kind = "argument"
        if dtype not in ("float32", "float64"):
            kind = "argument" if kind == "parameter" else kind
        if self.focus.sized and shape and shape[0] == self.free:
            kind = "argument"
        if self.is_closed and kind == "argument":
            kind = "parameter" if dtype in ("float32", "float64") else "constant"
        count = sum(each.kind == kind for each in self.inputs)
        free = kind == "argument" and bool(shape) and self.free and shape[0] == self.free
        each = Input(f"{kind[0]}{count}", kind, tuple(shape), dtype, low, high, bool(free))
        self.inputs.append(each)
        self.known[each.name] = self.names[each.name] = each.tensor(self.seed)
        self.order.append(each.name)
        return each.name

    # Statements.

    def add_record(self):
        """A call of a record's sample."""
        record = self.records[self.random.choice(len(self.records), p=self.weights)]
        draw = catalog.draw_call(self.random, record, self.dtype, self.sizes)
        counts = [extent_of(shape) for shape, *_ in draw.operands]
        if max(counts, default=0) > _MOST_ELEMENTS or self.held() + 8 * sum(counts) > _MOST_BYTES:
            return
        same = self.candidates(self.dtype)
        if same and record.operands and self.chance(0.4):  # with what there is, in any shape
            names = [
                self.choose(self.candidates(dtype) or [""]) for _, dtype, _, _ in draw.operands
            ]
        else:
            names = [self.operand(*each) for each in draw.operands]
        if all(names):
            self.add(draw.text(names), len(catalog.results_of(record)), True)

    def add_line(self, form):
        """A line of Python on variables of one shape."""
        floats = self.candidates(self.dtype)
        if not floats:
            return
        a = self.choose(floats)
        alike = [n for n in self.order if self.known[n].shape == self.known[a].shape
                 and self.known[n].dtype == self.known[a].dtype]  # fmt: skip
        text = form.format(a=a, b=self.choose(alike), int=self.random.randint(3))
        draws = any(name in text for name in catalog.STOCHASTIC)
        if self.focus.state or not draws:
            self.add(text, 1, stochastic=draws)

    def add_brought(self):
        """A line with an operator that users bring."""
        if found := brought.drawn(self):
            text, state = found
            draws = brought.STOCHASTIC in text
            if self.focus.state or not draws:
                self.add(text, not state, written=state, stochastic=draws)

    def add_outside(self):
        """A line that another library runs, too, or one like it."""
        if self.held() + _BLOCK_BYTES > _MOST_BYTES:
            return
        kind = self.random.rand()
        if kind < 0.3 and (floats := self.candidates(self.dtype)):
            a = self.choose(floats)
            text, writes = forms.keyed(self, a)
            self.add(text, not writes, written=a if writes else None, outside="numpy")
        elif kind < 0.45:
            lines, library = self.choose(((laws.COMPARED, "scipy"), (laws.OTHERS, "")))
            text = forms.filled(self, self.choose(lines))
            draws = any(name in text for name in catalog.STOCHASTIC)
            if self.focus.state or not draws:
                self.add(text, 1, stochastic=draws, outside=library)
        else:
            form = self.choose(self.choose(standard.FAMILIES))
            self.add(forms.filled(self, form), 1, outside="array-api-strict")

    def add_block(self):
        """Convolutions in a row, of images there are or new ones."""
        if self.held() + _BLOCK_BYTES > _MOST_BYTES:
            return
        fits = [
            name
            for name in self.candidates(self.dtype)
            if self.known[name].ndim == 4 and self.known[name].shape[1] in (8, 16, 32, 48)
        ]
        if fits:
            a = self.choose(fits)
        else:
            size = self.choose((1, 5, 8, 15))
            batch = self.free or self.choose((1, 2))
            shape = (batch, self.choose((8, 16, 32)), size, size)
            count = count_of(shape)
            if count > _MOST_ELEMENTS or self.held() + 8 * count + _BLOCK_BYTES > _MOST_BYTES:
                return
            a = self.new_input(shape, self.dtype, -2.0, 2.0)
        channels = self.known[a].shape[1]
        w = self.new_input((channels, channels, 3, 3), self.dtype, -0.2, 0.2)
        s = self.new_input((1, channels, 1, 1), self.dtype, -2.0, 2.0)
        block = self.choose(catalog.BLOCKS)
        d = "{d}" in block and self.new_input((channels, 1, 1, 3, 3), self.dtype, -0.2, 0.2)
        self.add(block.format(a=a, w=w, s=s, d=d, c=channels), 1)

    def add_write(self):
        """A change in place, of a variable that the function made or of an argument."""
        floats = [n for n in self.candidates(self.dtype) if n[0] in "av" and self.known[n].ndim]
        if floats:
            a = self.choose(floats)
            self.add(self.choose(catalog.IN_PLACE).format(a=a, int=self.random.randint(3)), 0,
                     written=a)  # fmt: skip

    def add(self, text, count, unpack=False, written=None, stochastic=False, outside=""):
        """Runs the line; the name of its first result when it is kept."""
        targets = tuple(f"v{len(self.known) + i}" for i in range(count))
        line = text
        if count:
            line = f"{', '.join(targets)}{',' if unpack and count == 1 else ''} = {text}"
        uses = tuple(dict.fromkeys(used_names(text, self.known)))
        changed = targets or (written,)
        statement = Statement(line, changed, uses, bool(written), stochastic, outside)
        if not self.is_kept(statement):
            for name in targets:
                self.names.pop(name, None)
            return None
        self.known.update((name, self.names[name]) for name in targets)
        self.order += targets
        self.statements.append(statement)
        return targets[0] if targets else None

    def is_kept(self, statement):
        """Runs it; true when it gives tame numbers and the focus allows it."""
        try:
            exec(statement.text, self.names)
            made = [self.names[name] for name in statement.targets]
            if not all(map(self.is_tame, made)):
                return False
            if not statement.writes and self.held() + sum(map(bytes_of, made)) > _MOST_BYTES:
                return False
        except _REFUSED:
            drain()
            return False
        return not self.focus.free or self.stays_free([*self.statements, statement])

    def stays_free(self, statements):
        """No size of the free dimension stands in the program, as a dump checks it."""
        made = [n for each in statements for n in each.targets if not each.writes]
        program = Program(self.seed, tuple(self.inputs), tuple(statements), tuple(made))
        return files.can_be_free(program)

    def is_tame(self, value):
        """A tensor, not too large, of numbers that a difference would show in."""
        if not isinstance(value, tessera.Tensor) or np.prod(value.shape) > _MOST_ELEMENTS:
            return False
        array = value.numpy()
        if not array.size or array.dtype.kind not in "fVc":
            return True
        wide = np.abs(array if array.dtype.kind == "c" else array.astype(np.float64))
        finite = wide[np.isfinite(wide)]
        return finite.size * 2 >= wide.size and finite.max(initial=0) < _LARGEST

    # The end.

    def results(self):
        """What nothing reads, and some of the others; sometimes an argument itself."""
        made = [n for s in self.statements for n in s.targets if n.startswith("v")]
        read = {name for s in self.statements for name in s.uses}
        ends = list(dict.fromkeys(n for n in made if n not in read))
        chosen = ends[-4:] + [n for n in made if self.chance(0.1)]
        if self.chance(0.1):
            chosen += [each.name for each in self.inputs if each.kind == "argument"][:1]
        changed = [n for s in self.statements for n in s.targets]
        return tuple(dict.fromkeys(chosen)) or tuple(made[-1:] or changed[-1:])

    def finished(self, program):
        """With a gradient and an optimizer, where they can be."""
        floats = [n for n in program.results if self.known[n].dtype == self.dtype]
        if not self.focus.loss or self.dtype != "float32" or not floats or not self.chance(0.5):
            return program
        tracked = replace(program, loss=self.choose(floats))
        if not tracked.differentiated:
            return program
        parameters = tuple(each.name for each in program.of_kind("parameter"))
        if parameters and self.focus.state and self.chance(0.7):
            rule = self.choose(("SGD(%s, lr=0.1)", "SGD(%s, lr=0.1, momentum=0.9)",
                                "Adam(%s, lr=0.01)", "AdamW(%s, lr=0.01)", "Adafactor(%s, lr=0.01)",
                                "Adafactor(%s, lr=0.1, weight_decay=0.1)"))  # fmt: skip
            tracked = replace(tracked, optimizer=rule, updates=parameters)
        fits = not self.focus.free or files.can_be_free(tracked)
        return tracked if fits and self.runs(tracked) else program

    def runs(self, program):
        """Eagerly, with gradients that are tensors."""
        try:
            function, _ = program.instance(self.seed)
            return all(isinstance(each, tessera.Tensor)
                       for each in function(*program.arguments(self.seed)))  # fmt: skip
        except _REFUSED:
            drain()
            return False


def draw(seed):
    """The program of a seed."""
    return Drawer(seed).draw()
