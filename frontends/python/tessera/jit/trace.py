"""trace: a Python function that runs as one compiled program from its second call on."""

import functools
import sys

from .. import _core, config, effects
from ..autodiff import modes
from .donation import donated_tensors, give_up
from .dump import Dumps
from .gradient import NoGradientError, TrackedCall
from .kept import Kept
from .memory_config import MEMORY_CONFIGS, memory_options, options_of_device
from .mismatch import TraceMismatchError, check_same, is_same
from .numerics import STRICT, checked, current, with_numerics
from .options import Profiled, Signature, fuses
from .python_state import PythonState
from .recording import AliasError, NeedsDataError, Recorded, record
from .segments import ExcludedError, Segments
from .signature import signature
from .telling import warn_once


class trace(Kept, Dumps, Profiled):  # noqa: N801
    """Records a function's first call and runs later calls with the same signature compiled.

    >>> import tessera as ts
    >>> from tessera.jit import trace
    >>> @trace(symbolic=True)
    ... def step(x, y):
    ...     return x * y + 1
    >>> [step(ts.tensor([n]), ts.tensor([10])).item() for n in range(3)]
    [1, 11, 21]

    The signature is the shapes, dtypes and devices of the tensors in the arguments, which of them
    are one or are used from outside too, the other arguments' values, and the Python state that the
    function reads: variables around it, attributes of objects, classes and modules, settings of
    optimizers, code of the functions that it calls, gradients present. A call for which any of that
    has changed is recorded anew. Parameters, optimizer and random state are read and updated by the
    program. `capture_as_const` takes the values of tensors from outside at the recorded call as
    constants, which `dump` needs.

    Arguments at the positions `donate_argnums` are the caller's no more: results may take over
    their memory, and a later use of such a tensor is an error. What signatures keep is bounded in
    bytes over all traces: `config.set_trace_limit`.

    A function that looks at values of its tensors (`item`, `numpy`, `print`) runs eagerly, with a
    RuntimeWarning; with `symbolic` or `check` that is a ValueError. A value from outside is part of
    the state that is compared.

    With `symbolic` the first call is lazy: its operators are inferred, then run compiled when the
    function has ended. With `record_only` no call runs, and results have shapes and no values: for
    `dump`. With `imperative` the first call is recorded, for `dump`, and all run eagerly. Parts
    within `exclude_from_trace` run eagerly, at every call.

    `graph_opt_config`, a GraphOptimizationConfig, says whether operators may share a kernel, and
    `opt_level=0` that they do not; 1, 2 and 3 are one level. With `profiling` the latest call is in
    `get_profile()`. `numerics="fast"` lets the compiler join constant
    factors and terms, which moves bits, as `jit.numerics` says. `symbolic_shape` and `without_host`
    change nothing: sizes are what the function asks for, and programs run without Python.

    `memory_limit` is the most that a call may take beside its arguments and variables: bytes, a
    float as a fraction of the device's memory, or a text such as "512 MiB". What does not fit is
    computed again when it is read, with the same bits; where that is not enough, the first call is
    a MemoryError with the least limit that is known to be. Such a trace is `symbolic`, and has a
    program for each choice of sizes; a call that a GradManager follows has the limit forwards, and
    backwards beside what it saves. `config.set_traced_memory_limit` is the limit where none is
    given. `sublinear_memory_config` and `dtr_config` are goals of this kind: a call takes more
    where it must.

    Signatures that differ in sizes of at least 2 share a program whose dimensions are free, unless
    the function does something else at other sizes: `explain()` says what. The first sizes have a
    program of their own once they are called twice.

    A signature's second call runs the Python code once more, without operators, and compares: what
    Python did otherwise is a TraceMismatchError with a diff of the two recordings and the user's
    lines, unless it follows from Python state that the first call changed. The second recording is
    the call then; a function that changes such state each time runs eagerly, with a RuntimeWarning.
    With `check` every call is compared, and any difference is an error. Python variables that the
    function changes are a RuntimeWarning: its program does not. TESS_DISABLE_TRACE=1 runs all calls
    eagerly.

    While it is recorded, the function's frames are watched instruction by instruction: what they
    read of Python's state, an attribute, item or variable and its value, is looked at in each call.
    Not compared, and listed by `explain()`: containers of more than 1024 elements and buffers of
    more than 4096 bytes, and objects of C types that cannot be copied.

    Sizes that data decides, also those that a tensor says, are found by the program. A function
    that looks at one as a number, or has one while a GradManager records around it, runs eagerly,
    with a RuntimeWarning.

    Within a GradManager's recording a call is one operation, forwards and backwards a program each;
    what an argument's gradient is the sum of is then added up within the function first. Several
    managers around the call run it eagerly, with a RuntimeWarning.
    """

    __signature__ = Signature()

    def __new__(cls, function=None, **options):
        if function is None:
            return functools.partial(cls, **options)
        return super().__new__(cls)

    def __init__(self, function, **options):
        self._setup(function, **options)
        self._given = options

    def _setup(self, function, symbolic=False, capture_as_const=False, without_fusion=False,
               check=False, record_only=False, donate_argnums=(), profiling=False,
               imperative=False, numerics=None, memory_limit=None, **options):  # fmt: skip
        functools.update_wrapper(self, function, updated=())
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.function = function
        fuse = fuses(**options) and not without_fusion
        memory = memory_options("trace", memory_limit, *map(options.get, MEMORY_CONFIGS))
        self.symbolic, self.imperative = (symbolic or bool(memory)) and not imperative, imperative
        self.capture_as_const = capture_as_const or record_only
        self.check = check or record_only
        self.options = {"capture_as_const": self.capture_as_const, "fuse": fuse, **memory}
        self.has_own_sizes = bool(memory)
        if numerics is not None:
            self.options["numerics"] = checked("trace", numerics)
        self.record_only = record_only
        one = isinstance(donate_argnums, int)
        self.donate_argnums = (donate_argnums,) if one else tuple(donate_argnums)
        self._variants = {}  # recordings by signature
        self._last = self._segments = None
        self._recordings = 0
        self._attribute = None  # of a class: the name of the method that this is
        if profiling:
            self._profile()

    def __set_name__(self, owner, name):
        self._attribute = name

    def __repr__(self):
        name = getattr(self.function, "__qualname__", self.__name__)
        given = "".join(f", {key}={value!r}" for key, value in self._given.items())
        return f"trace({name}{given})"

    def __reduce__(self):
        """Copies and pickles have no recordings."""
        instance = getattr(self.function, "__self__", None)
        if self._attribute and instance is not None:
            return getattr, (instance, self._attribute)
        if vars(sys.modules.get(self.__module__, sys)).get(self.__name__) is self:
            return self.__name__  # a function of a module: pickled by name
        return functools.partial(trace, **self._given), (self.function,)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        # The function is a method: each object has a trace of its own, which the object holds.
        name = f"__trace_{self.__name__}"
        if name not in vars(instance):
            bound = trace(self.function.__get__(instance), **self._given)
            bound._attribute = self._attribute or self.__name__
            object.__setattr__(instance, name, bound)
        return vars(instance)[name]

    def __call__(self, *args, **kwargs):
        if effects.is_plain() or self._is_off():
            return self.function(*args, **kwargs)
        if self._segments is not None:
            return self._segments.call(self.function, args, kwargs)
        tensors, key = signature(args, kwargs)
        if current() != STRICT and "numerics" not in self.options:
            key = (key[0], current()), *key[1:]
        if limit := self._limit_of_device(tensors):
            key = (key[0], *limit.items()), *key[1:]
        kind = Recorded
        if modes.is_recording() and _core.num_tapes():
            if self._tape_needs_eager():
                return self.function(*args, **kwargs)
            key, kind = ((key[0], _core.tracked(tensors)), *key[1:]), TrackedCall
        donated = donated_tensors(self.donate_argnums, args, tensors)
        value = self._call_recorded(key, kind, tensors, args, kwargs, donated)
        if donated and not self.record_only:
            value = give_up(self.__name__, donated, tensors, value)
        return value

    def _call_recorded(self, key, kind, tensors, args, kwargs, donated):
        variant, is_known = self._find(key, tensors)
        if variant is None:
            known = self._of_other_sizes(key, tensors)
            resized = known and self._resize(key, known, tensors, args, kwargs)
            if resized:
                return self._run(resized[0], tensors, donated, resized[1])
            fixed = known and known.fixed
            return self._record(key, tensors, args, kwargs, kind, donated, fixed)
        self._last = variant
        if variant.eager:
            return self.function(*args, **kwargs)
        try:
            if is_known and variant.checked and not self.check:
                return self._run(variant, tensors, donated)
            return self._check(key, variant, tensors, args, kwargs, donated)
        except AliasError:
            return self._call_recorded(key, kind, tensors, args, kwargs, donated)
        except (ValueError, NotImplementedError) as error:
            if donated or not (variant.checked and variant.recording.has_data_sizes):
                raise
            refused = error
        # The function may take sizes that data decided and the program refused.
        value = self.function(*args, **kwargs)
        warn_once(self, f"runs eagerly where its program does not take what data says: {refused}")
        return value

    def _resize(self, key, known, tensors, args, kwargs):
        """The call as a recording that shares the program of `known`, which has other sizes, and
        its result without values; None: that is not possible.
        """
        known.grads.prepare(tensors)
        try:
            with PythonState(self.function, args, kwargs) as state:
                value, again = known.record_again(self.function, tensors, args, kwargs)
        except (NeedsDataError, ExcludedError, NoGradientError):
            return None
        except Exception:
            if known.recording.has_data_sizes:  # these are those of another call
                return None
            raise
        variant = known.resized(again, tensors)
        if variant is None:
            return None
        self._tell(state)
        variant.state = state
        return self._keep(key, variant, tensors), value

    def _limit_of_device(self, tensors):
        """Options of memory for a call with these tensors; none: it has its own, or no limit."""
        return {} if self.has_own_sizes or self.imperative else options_of_device(tensors)

    def _is_off(self):
        if config.get_check_finite() or _core.get_check_operands():
            check = "check_finite" if config.get_check_finite() else "TensorSanityCheck"
            warn_once(self, f"runs eagerly, because {check} looks at each operator")
            return True
        return _core.is_trace_disabled()

    def _tape_needs_eager(self):
        """Why a call that a tape follows cannot be a program: told once."""
        why = None
        if _core.num_tapes() > 1:
            why = "several GradManagers record around the call"
        elif self.capture_as_const:
            why = "it has capture_as_const=True and a GradManager records around the call"
        if why:
            warn_once(self, f"runs eagerly, because {why}")
        return why is not None

    def _record(self, key, tensors, args, kwargs, kind, donated, fixed):
        limited = self.symbolic or self._limit_of_device(tensors)
        lazy = self.record_only or (bool(limited) and kind is Recorded)
        call = self.function, tensors, args, kwargs
        try:
            with PythonState(self.function, args, kwargs) as state:
                reads = not (self.symbolic or self.check)
                value, variant = record(*call, run=not lazy, kind=kind, reads=reads)
        except (NeedsDataError, ExcludedError):
            if self.record_only:
                raise
            lazy = False
            with PythonState(self.function, args, kwargs) as state:
                value, variant = record(*call, reads=not self.symbolic)
        if variant is None:  # the call has parts that no program can hold
            self._segments = Segments(self.options)
            return value
        why = variant.recording.why_eager
        if why or state.why_eager:
            self._run_eagerly(variant, why or state.why_eager)
        elif self.record_only:
            self._tell(state)
        variant.begin(state, tensors, (args, kwargs))
        variant.fixed = fixed
        variant = self._keep(key, variant, tensors)
        if not lazy or self.record_only:
            return value
        if why:
            return self.function(*args, **kwargs)
        return self._run(variant, tensors, donated, value)

    def _tell(self, state):
        """Warns of what the function did besides: programs will not."""
        for line in state.lines():
            text = f"changes Python state, which its program will not: {line}"
            warn_once(self, text, line.split(" was ")[0])

    def _check(self, key, variant, tensors, args, kwargs, donated):
        """The call, when the function still does what was recorded: TraceMismatchError if not."""
        variant.grads.prepare(tensors)
        runs = variant.changes_python and not self.check
        call = self.function, tensors, args, kwargs
        try:
            value, again, state = _again(variant, runs, call)
        except (NeedsDataError, NoGradientError) as error:
            self._give_up(variant, error)
            return self.function(*args, **kwargs)
        except ExcludedError:  # such parts were not met while it was recorded
            self._segments = Segments(self.options)
            return self._segments.call(self.function, args, kwargs)
        if runs:
            return self._settle(key, variant, again, state, value, (tensors, args, kwargs, donated))
        try:
            check_same(self.__name__, variant, again)
        except TraceMismatchError:
            if variant.identity.bind_outside(tensors, again.recording):
                raise AliasError from None
            self._variants[key].remove(variant)
            raise
        if why := variant.why_data_forbids(self._options_for(donated, tensors), *call):
            self._run_eagerly(variant, f"a size that depends on data stands in it: {why}")
            return self.function(*args, **kwargs)
        variant.confirm(again, state)
        variant.identity.learn(tensors)
        self._share(key, variant, tensors)
        del again  # it holds values whose memory the program would take over
        return value if self.record_only else self._run(variant, tensors, donated, value)

    def _give_up(self, variant, error):
        if isinstance(error, NeedsDataError):
            self._run_eagerly(variant, "a size in it depends on data")
        else:
            self._run_eagerly(variant, error, "eagerly while a GradManager records:")

    def _settle(self, key, variant, again, state, value, call):
        """The first call changed Python state, so that this one ran, too: its result. Where it did
        something else it is the one to compare with, unless it changed, once more, what it looked
        at: then the function runs eagerly.
        """
        tensors, args, kwargs, donated = call
        if not is_same(variant, again):
            self._variants[key].remove(variant)
            if not variant.state.reads_effects:
                check_same(self.__name__, variant, again)
            again.begin(state, tensors, (args, kwargs))
            variant = self._keep(key, again, tensors)
            is_fixed = not state.reads_effects
        elif isinstance(
            variant, TrackedCall
        ):  # what it keeps would have no values in the next call
            variant.changes_python = False
            is_fixed = not state.keeps_tensors
        else:
            variant.confirm(again, state)
            variant.identity.learn(tensors)
            self._share(key, variant, tensors)
            variant.compiled(tensors, self._options_for(donated, tensors))
            variant.kept.recount(variant.held_bytes())
            is_fixed = True
        if is_fixed:
            self._tell(state)
        else:
            self._run_eagerly(variant, f"it changes Python state that counts: {state.lines()[0]}")
        return value

    def _run_eagerly(self, variant, why, how="eagerly, because"):
        """From now on, and tells why."""
        variant.eager = True
        warn_once(self, f"runs {how} {why}")

    def _run(self, variant, tensors, donated, value=None):
        if donated:  # the caller keeps none of them
            variant.forget_same(donated)
        if variant.program is not None:
            variant.kept.use()
            return variant.run(tensors, None, value)
        result = variant.run(tensors, self._options_for(donated, tensors), value)
        variant.kept.recount(variant.held_bytes())
        return result

    def _options_for(self, donated, tensors):
        """Those of a program to compile; None: none is to be."""
        if self.record_only:
            return None
        memory = self._limit_of_device(tensors)
        return {**with_numerics(self.options), **memory, "donated": donated}

    def _repr_html_(self):
        from ..utils.html import of_trace  # for notebooks only

        return of_trace(self)


def _again(variant, runs, call):
    """The result of the call, its recording, and the Python state that it read. With `runs` its
    operators run.
    """
    function, _, args, kwargs = call
    with PythonState(function, args, kwargs) as state:
        value, again = record(*call, kind=type(variant)) if runs else variant.record_again(*call)
    return value, again, state
