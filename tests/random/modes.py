"""The ways to run a program that must give the bits of the eager one, or numbers close to them."""

import contextlib
import os
import subprocess
import tempfile
import threading

import numpy as np
import tessera
from tessera import jit
from tessera.autodiff import GradManager

from tests.python.helper import as_list, bits
from tests.random.program import REFUSALS

CALLS = (11, 12, 13)  # seeds of the data of successive calls


class SkippedError(Exception):
    """The mode says nothing about this program."""


def observed(function, program, captured, seeds=CALLS, size=None):
    """Bits of the results of successive calls, of the arguments after each, of the captured
    tensors at the end."""
    tessera.seed(program.seed)
    rows = []
    for seed in seeds:
        arguments = program.arguments(seed, size)
        results = function(*arguments)
        rows.append((bits(as_list(results)), bits(arguments)))
    return rows, bits(list(captured.values()))


def eager(program, seeds=CALLS, size=None):
    """What the other modes are compared with."""
    function, captured = program.instance()
    return observed(function, program, captured, seeds, size)


def fresh(program, seeds=CALLS, size=None):
    """As eager, each call by a new instance: captured tensors hold what they held at first."""
    return [eager(program, (seed,), size)[0][0] for seed in seeds]


def difference(got, expected, what):
    """The first place where two observations differ; empty when there is none."""
    (rows, state), (wanted, kept) = got, expected
    for number, (row, want) in enumerate(zip(rows, wanted, strict=True)):
        for part, ours, theirs in zip(("result", "argument"), row, want, strict=True):
            for index, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                if a != b:
                    return f"{what}: call {number}, {part} {index}: {_detail(a, b)}"
    for index, (a, b) in enumerate(zip(state, kept, strict=True)):
        if a != b:
            return f"{what}: captured tensor {index}: {_detail(a, b)}"
    return ""


def _detail(a, b):
    if a[:2] != b[:2]:
        return f"{a[1]}{list(a[0])} instead of {b[1]}{list(b[0])}"
    try:
        kind = np.dtype(a[1])
    except TypeError:
        kind = np.dtype("u2")
    ours, theirs = (np.frombuffer(each[2], kind) for each in (a, b))
    places = np.flatnonzero(ours.view("u1").reshape(ours.size, -1)
                            .__ne__(theirs.view("u1").reshape(theirs.size, -1)).any(1))  # fmt: skip
    first = places[0]
    return (
        f"{places.size} of {ours.size} elements of {a[1]}{list(a[0])}, "
        f"element {first} is {ours[first]!r} instead of {theirs[first]!r}"
    )


# Modes: each takes a program and returns the text of a difference.


def traced(program, what="traced", **options):
    """Three calls of a trace, with other data each."""
    expected = eager(program)
    function, captured = program.instance()
    return difference(observed(jit.trace(function, **options), program, captured), expected, what)


def symbolic(program):
    """Lazy first calls."""
    return traced(program, "symbolic", symbolic=True)


def unfused(program):
    """One kernel for each operator."""
    return traced(program, "unfused", without_fusion=True)


def donated(program):
    """Results in the memory of the arguments: nobody looks at those afterwards."""
    if any(s.writes for s in program.statements):
        raise SkippedError("an argument may be written in place")
    function, captured = program.instance()
    positions = tuple(range(len(program.of_kind("argument"))))
    call, rows = jit.trace(function, donate_argnums=positions), []
    tessera.seed(program.seed)
    for seed in CALLS:
        rows.append((bits(as_list(call(*program.arguments(seed)))), []))
    wanted, kept = eager(program)
    return difference(
        (rows, bits(list(captured.values()))), ([(row, []) for row, _ in wanted], kept), "donated"
    )


@contextlib.contextmanager
def dumped(program, targets=(), free=False):
    """The path of the program's file, after one traced call."""
    if program.optimizer or program.stochastic:
        raise SkippedError("a file holds no state")
    function, _ = program.instance()
    call = jit.trace(function, capture_as_const=True)
    call(*program.arguments(CALLS[0]))
    names = [each.name for each in program.of_kind("argument")]
    dims = {i.name: {0: jit.Dim("n", 1, 4096)} for i in program.inputs if i.free}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.tess")
        try:
            call.dump(path, arg_names=names, targets=list(targets), dims=dims if free else None)
        except ValueError as error:
            if free:
                raise SkippedError(f"refused: {error}") from None
            raise
        yield path


def _compared(program, run, what, size=None):
    """`run(arguments)` against fresh eager calls: results only."""
    count = len(program.results) + len(program.differentiated)
    rows = [(bits(run(program.arguments(seed, size))[:count]), []) for seed in CALLS]
    wanted = [(row, []) for row, _ in fresh(program, size=size)]
    return difference((rows, []), (wanted, []), what)


def _run(loaded, program):
    if len(loaded.inputs) != len(program.of_kind("argument")):
        raise SkippedError("a file holds no state")
    return lambda arguments: as_list(loaded(*arguments))


def loaded(program):
    """Dumped and loaded, compiled from the graph."""
    with dumped(program) as path:
        return _compared(program, _run(jit.load(path), program), "loaded")


def smaller_isa(program):
    """Code for x86-64-v3 from the file."""
    with dumped(program, targets=("x86-64-v3",)) as path:
        run = _run(jit.load(path, allow_code=True), program)
        return _compared(program, run, "x86-64-v3")


def tess_run(program):
    """The C++ tool, without Python."""
    tool = os.environ.get("TESS_RUN")
    if not tool or any(each.dtype == "bfloat16" for each in program.inputs):
        raise SkippedError("no tool, or a dtype that .npy files lack")
    with dumped(program, targets=("host",)) as path:
        loaded_program = jit.load(path)
        _run(loaded_program, program)
        folder = os.path.dirname(path)
        names = loaded_program.outputs

        def run(arguments):
            command = [tool, path, f"--threads={tessera.config.get_num_threads()}"]
            for each, tensor in zip(program.of_kind("argument"), arguments, strict=True):
                np.save(f"{folder}/{each.name}.npy", tensor.numpy())
                command += ["--input", f"{each.name}={folder}/{each.name}.npy"]
            for name in names:
                command += ["--output", f"{name}={folder}/{name}.npy"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            if done.returncode:
                raise RuntimeError(f"tess-run: {done.returncode} {done.stderr[-300:]}")
            return [tessera.Tensor(array, dtype=array.dtype.name)
                    for array in (np.load(f"{folder}/{name}.npy") for name in names)]  # fmt: skip

        if any(
            each.dtype.name == "bfloat16" for each in as_list(loaded_program(*program.arguments(0)))
        ):
            raise SkippedError("a dtype that .npy files lack")
        return _compared(program, run, "tess-run")


@contextlib.contextmanager
def _set(getter, setter, value):
    before = getter()
    setter(value)
    try:
        yield
    finally:
        setter(before)


def _threads(count):
    def mode(program):
        before = eager(program)
        calls = tessera.cache_stats()["results_of_libraries"]
        with _set(tessera.config.get_num_threads, tessera.config.set_num_threads, count):
            found = traced(program, f"traced with {count} threads")
            with contextlib.suppress(SkippedError):
                found = found or loaded(program)
            now = eager(program)
        if tessera.cache_stats()["results_of_libraries"] == calls and not found:
            found = difference(now, before, f"{count} threads beside one")
        return found

    mode.__doc__ = f"{count} threads; without library calls the bits of one."
    return mode


def level_0(program):
    """Every operator at once, on the calling thread."""
    expected = eager(program)
    with _set(tessera.config.get_async_level, tessera.config.set_async_level, 0):
        function, captured = program.instance()
        found = difference(observed(function, program, captured), expected, "async level 0")
        return found or traced(program, "traced at async level 0")


def free(program):
    """A file whose first axes are free, at other sizes."""
    if not program.has_free:
        raise SkippedError("nothing is free")
    first = next(each for each in program.inputs if each.free).shape[0]
    with dumped(program, free=True) as path:
        run = _run(jit.load(path), program)
        found = _compared(program, run, "free dimension")
        for size in (first + 3, first * 2, 2, 1):
            found = found or _at_size(program, run, size)
        return found


def _at_size(program, run, size):
    try:
        fresh(program, (CALLS[0],), size)
    except REFUSALS:
        try:
            run(program.arguments(CALLS[0], size))
        except REFUSALS:
            return ""
        return f"free dimension of size {size}: runs where eager refuses"
    try:
        return _compared(program, run, f"free dimension of size {size}", size)
    except ValueError as error:
        if size == 1 and "must not be 1" in str(error):
            return ""
        raise


def two_threads(program):
    """Two Python threads share one trace."""
    if program.optimizer or program.stochastic or any(s.writes for s in program.statements):
        raise SkippedError("threads would share a state")
    function, _ = program.instance()
    call = jit.trace(function)
    call(*program.arguments(CALLS[0])), call(*program.arguments(CALLS[0]))
    expected = [row for row, _ in fresh(program)]
    found = []

    def work(offset):
        try:
            for turn in range(6):
                number = (turn + offset) % len(CALLS)
                got = bits(as_list(call(*program.arguments(CALLS[number]))))
                if got != expected[number]:
                    found.append(
                        difference(([(got, [])], []), ([(expected[number], [])], []), "two threads")
                    )
        except Exception as error:  # noqa: BLE001: told by the thread that waits
            found.append(f"two threads: {error!r}")

    workers = [threading.Thread(target=work, args=(offset,)) for offset in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found[0] if found else ""


def aliased(program):
    """One tensor in two places at some calls: two arguments, or one and a captured tensor."""
    alike = [(a, b) for n, a in enumerate(program.inputs) for b in program.inputs[n + 1:]
             if (a.shape, a.dtype, a.free) == (b.shape, b.dtype, b.free)
             and "argument" in (a.kind, b.kind)]  # fmt: skip
    if not alike:
        raise SkippedError("no two inputs are alike")
    pair, together = alike[program.seed % len(alike)], ((0, 1), (2,))[program.seed % 2]

    def rows(wrap):
        function, captured = program.instance()
        call, seen = wrap(function), []
        tessera.seed(program.seed)
        for number, seed in enumerate((CALLS[0], CALLS[0], CALLS[1], CALLS[0])):
            tensors = dict(captured)
            names = [each.name for each in program.of_kind("argument")]
            tensors.update(zip(names, program.arguments(seed), strict=True))
            if number in together:
                argument, other = pair if pair[0].kind == "argument" else pair[::-1]
                tensors[argument.name] = tensors[other.name]
            arguments = [tensors[name] for name in names]
            seen.append((bits(as_list(call(*arguments))), bits(arguments)))
        return seen, bits(list(captured.values()))

    expected = rows(lambda function: function)
    return difference(rows(jit.trace), expected, f"{pair[0].name} is {pair[1].name}")


def gradient_outside(program):
    """A GradManager around the call: the gradients of its arguments and parameters."""
    names = [i.name for i in program.of_kind("argument", "parameter") if i.dtype == "float32"]
    if program.loss or not names or any(s.writes for s in program.statements):
        raise SkippedError("no gradient to take")

    def gradients(wrap):
        function, captured = program.instance()
        call, rows = wrap(function), []
        tessera.seed(program.seed)
        for seed in CALLS:
            arguments = program.arguments(seed)
            tensors = dict(
                zip([i.name for i in program.of_kind("argument")], arguments, strict=True)
            )
            tensors.update(captured)
            with GradManager().attach([tensors[name] for name in names]) as manager:
                results = as_list(call(*arguments))
                floats = [r for r in results if r.dtype.name == "float32"]
                if not floats:
                    raise SkippedError("no gradient to take")
                loss = sum((r * r).sum() for r in floats)
                manager.backward(loss)
            grads = [tensors[name].grad for name in names]
            rows.append((bits([g for g in grads if g is not None]), []))
            for name in names:
                tensors[name].grad = None
        return rows, []

    expected = gradients(lambda function: function)
    return difference(gradients(jit.trace), expected, "gradient outside")


ALWAYS = {"traced": traced, "loaded": loaded}
DRAWN = {
    "symbolic": symbolic,
    "unfused": unfused,
    "donated": donated,
    "smaller_isa": smaller_isa,
    "tess_run": tess_run,
    "threads_1": _threads(1),
    "threads_2": _threads(2),
    "threads_3": _threads(3),
    "threads_8": _threads(8),
    "level_0": level_0,
    "free": free,
    "two_threads": two_threads,
    "gradient_outside": gradient_outside,
    "aliased": aliased,
}
ALL = {**ALWAYS, **DRAWN}
