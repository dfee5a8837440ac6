"""The parts of an account, read from the JSON that the extension gives (runtime/bind/Account.h)."""

from dataclasses import dataclass
from functools import cached_property

from ..._page.lifetimes import live_bytes, peak_of
from ..._place import line_and_module


@dataclass(frozen=True)
class Value:
    """A tensor of the program."""

    number: int
    kind: str  # input, constant, temporary, view, fused (in a kernel), argument (of a loop)
    dtype: str
    shape: tuple
    bytes: int  # -1: data decides
    name: str  # the user's, may be empty
    location: str  # "train.py:12 (net.conv1)", may be empty
    base: int  # of a view: the value that it looks at; else -1
    packing: str  # the library's layout, empty for row-major

    @property
    def type(self):
        """The dtype with the shape, "f32[2, 3]"."""
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    def __str__(self):
        return f"%{self.number}" + (f" '{self.name}'" if self.name else "")


@dataclass(frozen=True)
class Operator:
    """An operator of the program after the compiler's passes."""

    op: str
    operands: tuple
    results: tuple
    step: int  # that computes it; -1: none


@dataclass
class Step:
    """A kernel, a call of a library, or another action of a run."""

    number: int
    part: int
    kind: str  # kernel, library, movement, window, loop
    name: str  # its operators, "mul add relu"
    nodes: tuple
    operands: tuple
    results: tuple
    location: str
    choice: str  # the implementation of a library call, and the reason for it
    code_bytes: int
    launch: int  # the step whose launch it shares; its own number as a rule
    operations: int  # multiplications and additions, of one execution
    bytes: int = 0  # of its operands and results
    body: int = 0  # of a loop: how many of the next steps are its own
    apart: tuple = ()  # reasons why it does not share a kernel with what it reads
    calls: int = 0  # executions in a run, where a profile says so
    seconds: float | None = None  # of all of them in a run, where a profile says so

    @cached_property
    def line(self):
        """The user's line."""
        return line_and_module(self.location)[0]

    @cached_property
    def module(self):
        """The path of the user's module."""
        return line_and_module(self.location)[1]


@dataclass(frozen=True)
class Piece:
    """Memory of the arena that lives from step `first` to step `last`, both included."""

    values: (
        tuple  # that lie in it, in the order of the program; empty: what a step needs for itself
    )
    offset: int
    bytes: int
    first: int
    last: int


class Facts:
    """Values, operators, steps and pieces of all parts of a program, numbered through."""

    def __init__(self, account):
        self.values, self.operators, self.steps, self.pieces = [], [], [], []
        self.shapes = []  # of each part: the hash by which a profile knows its run
        self.firsts = []  # of each part: the number of its first step
        for part in account["parts"]:
            self._add(part)

    def _add(self, part):
        value, node, step = len(self.values), len(self.operators), len(self.steps)
        self.shapes.append(part["shapes"])
        self.firsts.append(step)
        for each in part["values"]:
            own = {"number": len(self.values), "shape": tuple(each["shape"])}
            own["base"] = each["base"] + value if each["base"] >= 0 else -1
            self.values.append(Value(**{**each, **own}))
        owners = {}
        for index, each in enumerate(part["steps"], step):
            owners |= dict.fromkeys(each["nodes"], index)
        for index, each in enumerate(part["nodes"]):
            numbers = _moved(each["operands"], value), _moved(each["results"], value)
            self.operators.append(Operator(each["op"], *numbers, owners.get(index, -1)))
        for each in part["steps"]:
            self.steps.append(self._step(each, value, node))
        self._share_launches(part["batches"], step)
        self._add_pieces(part["plan"], value, step)

    def _step(self, each, value, node):
        number = len(self.steps)
        operands, results = _moved(each["operands"], value), _moved(each["results"], value)
        numbers = {"nodes": _moved(each["nodes"], node), "operands": operands, "results": results}
        texts = {name: each[name] for name in ("kind", "name", "location", "choice")}
        code, work = each.get("code_bytes", 0), each["operations"]
        held = sum(max(self.values[v].bytes, 0) for v in dict.fromkeys(operands + results))
        own = {"number": number, "part": len(self.shapes) - 1, "launch": number}
        own["body"] = each.get("body", 0)
        return Step(**own, **texts, **numbers, code_bytes=code, operations=work, bytes=held)

    def _share_launches(self, batches, first):
        """Notes which kernels are one launch: the next ones behind the first of a batch."""
        for leader, count in batches:
            kernels = (each for each in self.steps[first + leader :] if each.kind == "kernel")
            for _, step in zip(range(count), kernels, strict=False):
                step.launch = first + leader

    def _add_pieces(self, plan, value, step):
        """Values that share memory have one lifetime, and are one piece."""
        shared = {}
        for number, offset, size, first, last in plan:
            place = (offset, size, first + step, last + step, number < 0 and len(shared))
            shared.setdefault(place, []).extend([number + value] if number >= 0 else [])
        for (offset, size, first, last, _), values in shared.items():
            self.pieces.append(Piece(tuple(values), offset, size, first, last))

    @cached_property
    def live(self):
        """Bytes of the arena that live at each step, and at copies behind the last one."""
        return live_bytes(self.pieces, len(self.steps) + 1)

    @cached_property
    def peak(self):
        """The Peak of the arena; None: it is empty."""
        return peak_of(self.pieces, self.live)

    def value_of_piece(self, piece):
        """The largest value of a piece: the one that it is called after; None: it is scratch."""
        return max((self.values[v] for v in piece.values), key=lambda v: v.bytes, default=None)


def _moved(numbers, by):
    return tuple(number + by for number in numbers)
