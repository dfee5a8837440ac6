"""explain: where the time and the memory of a compiled call go, and why."""

import json
import os
from dataclasses import asdict, fields
from functools import cached_property

from ..utils.progress import compiling
from .estimate import compiled_call
from .explaining import call_text
from .explanation.boundaries import add_boundaries
from .explanation.facts import Facts
from .explanation.page import write_page
from .explanation.text import text_of
from .explanation.timing import add_times, limits_of, work_of
from .program import Program
from .trace import trace

_FORMAT = 1  # of the JSON
_CONVERSIONS = ("copy", "cast", "contiguous")


class Explanation:
    """An account of one compiled binding, a program for given sizes. Printed, it is a text; `text`
    has more rows, `to_json` all facts, `to_html` a page.

    Attributes:
        steps: kernels, calls of libraries and movements in their order, each with its operators,
            line, implementation, floating-point operations, bytes read and written, and the reasons
            why it does not share a kernel with what it reads
        values: the tensors, with kind, dtype, shape, name and line
        pieces: what lies where in the arena, from which step to which
        peak: the step at which most bytes of it live, and their pieces
        memory: bytes of a run, as `estimate` has them
        passes: (name, seconds) of each part of the compilation
        runs: runs in the profile that `timed` was given
    """

    def __init__(self, account, title, events=()):
        self._account, self.title = account, title
        facts = self.facts = Facts(account)
        self.values, self.steps, self.pieces = facts.values, facts.steps, facts.pieces
        self.target, self.threads = account["target"], account["threads"]
        self.launches, self.memory = account["launches"], account["memory"]
        self.passes = [tuple(each) for each in account["passes"]]
        self.rewrites = account["rewrites"]
        self.apart = add_boundaries(facts, account["boundaries"])
        self.runs = add_times(facts, events)

    def timed(self, profiler):
        """This account with times, of the runs of this program at these sizes in the last
        recording of `profiler`, a `Profiler`, and with what the machine reaches, which takes a
        moment to measure.

        Raises:
            ValueError: the recording must have such a run
        """
        events = profiler.events()
        account = Explanation(self._account, self.title, events)
        if not account.runs:
            raise ValueError(f"explain: the profile must have a run of {self.title}, got none")
        return account

    @cached_property
    def peak(self):
        """Step, bytes and pieces at the peak of the arena; None: it is empty."""
        return self.facts.peak

    @cached_property
    def live(self):
        """Bytes of the arena that live at each step, and at copies behind the last one."""
        return self.facts.live

    @cached_property
    def limits(self):
        """Rates that the machine reaches (`gflops`, `gbytes`); None without a profile."""
        return limits_of(self.threads) if self.runs else None

    @property
    def packed(self):
        """Tensors that stay in a layout of a library between its calls."""
        return [value for value in self.values if value.packing]

    @property
    def conversions(self):
        """Steps that only copy, move or convert."""
        return [step for step in self.steps if step.kind == "movement" or step.name in _CONVERSIONS]

    def rates(self, step):
        """Rates of a timed step: `gflops`, `gbytes`, its `share` of all time, and `of_limit`,
        the least time that the machine needs for it over its time. With the step count those that
        share its launch.
        """
        work, moved = work_of(self.facts, step)
        seconds = step.seconds or float("inf")
        return {
            "gflops": work / seconds / 1e9,
            "gbytes": moved / seconds / 1e9,
            "share": seconds / self._seconds if step.seconds else 0.0,
            "of_limit": self.limits.seconds(work, moved) / seconds,
        }

    @cached_property
    def _seconds(self):
        """Sum over all steps; a loop's are those of its body."""
        return sum(each.seconds or 0 for each in self.steps if each.kind != "loop")

    def step_text(self, number):
        """A step in words, with the user's line."""
        if number >= len(self.steps):
            return "the copies behind the last step"
        step = self.steps[number]
        return f"step {number}, {step.name}" + (f" of {step.location}" if step.location else "")

    def piece_row(self, piece):
        """A piece of the arena as a dict: bytes, offset, steps, and the tensor with its line."""
        value = self.facts.value_of_piece(piece)
        named = {"tensor": "scratch", "type": "", "location": ""}
        if value is None:
            named["location"] = self.steps[piece.first].location if self.steps else ""
        else:
            named = {"tensor": str(value), "type": value.type, "location": value.location}
        return {**named, "bytes": piece.bytes, "offset": piece.offset, "first": piece.first,
                "last": piece.last}  # fmt: skip

    def text(self, limit=None):
        """All as text, with `limit` steps at most: of a profile those that take the most time.

        Raises:
            ValueError: limit must be at least 0
        """
        if limit is not None and limit < 0:
            raise ValueError(f"explain: limit must be at least 0, got {limit}")
        return text_of(self, limit)

    def __str__(self):
        return self.text(40)

    def __repr__(self):
        return f"Explanation({self.title!r}, {len(self.steps)} steps)"

    def to_dict(self):
        """All facts as dicts and lists."""
        facts = self.facts
        names = ("title", "target", "threads", "launches", "memory", "passes", "rewrites", "runs")
        return {
            "format": _FORMAT,
            "account": self._account,
            **{name: getattr(self, name) for name in names},
            "values": [_row(each) for each in facts.values],
            "operators": [_row(each) for each in facts.operators],
            "steps": [self._step_dict(each) for each in facts.steps],
            "pieces": [self.piece_row(each) for each in facts.pieces],
            "live": self.live,
            "peak": self.peak and {"step": self.peak.step, "bytes": self.peak.bytes},
            "limits": self.limits and asdict(self.limits),
            "apart": list(self.apart),
        }

    def _step_dict(self, step):
        rates = {} if step.seconds is None else self.rates(step)
        return {**_row(step), **rates}

    def to_json(self):
        """All facts as JSON, whose "format" is 1. "account" has those that `tess-dump --json` and
        `read` have, the rest follows from them.
        """
        return json.dumps(self.to_dict())

    @classmethod
    def read(cls, path):
        """The account in a file that `tess-dump --json` has printed, or that holds `to_json()`;
        times of a profile are not read.

        Raises:
            OSError: the file must be readable
            ValueError: it must be such JSON, of this format
        """
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            found = json.loads(text)
            if found["format"] != _FORMAT:
                raise ValueError(f"format {found['format']}")
            return cls(found["account"], found["title"])
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(
                f"explain: {os.fspath(path)} must be JSON of tess-dump or to_json in format "
                f"{_FORMAT}, got {type(error).__name__}: {error}"
            ) from error

    def to_html(self, path):
        """Writes a page to the file `path`, which it returns: the graph, folded by module and line,
        a table of the steps, and memory over time. It needs no network, and the package
        fast-sugiyama (the extra "explain").

        Raises:
            ImportError: fast-sugiyama must be installed
            OSError: the file must be writable
            ValueError: the program must have at most 100,000 operators
        """
        return write_page(self, path)


def _row(each):
    """The fields of a dataclass, which asdict would copy."""
    return {field.name: getattr(each, field.name) for field in fields(each)}


def explain(function, *args, **kwargs):
    """An account of the compiled `function(*args, **kwargs)`: its kernels, memory and compilation.

    `function` is a function, a `jit.trace` or a loaded program; arguments are as for `estimate`,
    and nothing runs. Without arguments it is the latest call that a trace has compiled, or the
    latest run of a loaded program.

    Returns:
        an Explanation, which prints as a text

    Raises:
        RuntimeError: the trace has no program yet
        ValueError: a loaded program has no sizes yet, or the function looks at a tensor's value

    >>> from tessera.jit import Spec, explain
    >>> account = explain(lambda x: (x @ x).sum(), Spec((256, 256)))
    >>> [step.name for step in account.steps]
    ['matmul', 'sum', 'copy']
    >>> account.peak.bytes >= 256 * 256 * 4
    True
    """
    with compiling("explaining"):
        if args or kwargs or not isinstance(function, (trace, Program)):
            program = compiled_call(function, args, kwargs)[0]
            title = getattr(function, "path", None) or getattr(function, "__name__", "function")
        elif isinstance(function, trace):
            program, title = _latest(function)
        else:
            program, title = function.bound(), function.path
        return Explanation(json.loads(program.account()), title)


def _latest(traced):
    """The program of a trace's latest call, and that call in words."""
    program = traced.program()
    if program is None:
        raise RuntimeError(f"explain: {traced.__name__} has no program ({_why_none(traced)})")
    return program, call_text(traced, traced._last)


def _why_none(traced):
    if traced._segments is not None:
        return "parts are left out of its trace"
    if traced._last is None:
        return "it was not called"
    if traced._last.eager:
        return "it runs eagerly"
    return "the second call of a signature compiles it; with arguments explain compiles"
