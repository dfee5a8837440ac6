"""The modes of files: what was dumped gives the bits of the eager program, state included."""

import contextlib
import io
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, replace

import numpy as np
import tessera
from tessera import _core, jit

from tests.random import brought
from tests.random.observe import CALLS, SkippedError, difference, skipping_refusals
from tests.random.program import REFUSALS
from tests.support.helper import as_list, bits

# Before a dump: optimizers make their state at the first call.
_CALLS_BEFORE = (CALLS[0], CALLS[0])
# Sizes that depend on data are not for every operator of a file: it must say so by name and line.
_NOT_NUMPYS = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
_REFUSAL = re.compile(
    r"\w+: .+ must .+, got .+"
    r"((from the data|\[.*(\?|s\d+).*\]) \(?at |that the function looks at as a number)"
    r"|dump: \w+ must (be a program|hold for all sizes that depend on data), got ",
    re.DOTALL,
)


def names_of(program):
    """The names of its arguments."""
    return [each.name for each in program.of_kind("argument")]


def named_arguments(program, seed, size=None):
    """New argument tensors for a seed, by name."""
    return dict(zip(names_of(program), program.arguments(seed, size), strict=True))


def free_dims(program):
    """What a dump frees."""
    return {each.name: {0: jit.Dim("n", 1, 4096)} for each in program.inputs if each.free}


def can_be_free(program):
    """Whether a dump keeps the program's free dimension free: by inference, nothing runs."""
    function, _ = program.instance()
    call = jit.trace(function, capture_as_const=True, record_only=True)
    try:
        call(*program.arguments(CALLS[0]))
        call.dump(io.BytesIO(), arg_names=names_of(program), dims=free_dims(program), targets=(),
                  training=True)  # fmt: skip
    except REFUSALS:
        return False
    return True


@dataclass
class File:
    """A dumped program."""

    path: str
    program: object

    def compared(self, run, what, size=None, calls=CALLS):
        """`run` (tensors by name to tensors by name) on calls after those before the dump."""
        count = len(self.program.results) + len(self.program.differentiated)
        with skipping_refusals():
            wanted, rows = self.expected(size), []
        for seed in calls:
            results = run(named_arguments(self.program, seed, size))
            rows.append((bits(list(results.values())[:count]), []))
        return difference((rows, []), (wanted[: len(calls)], []), what)

    def compared_to(self, loaded, what, size=None):
        """As `compared`, from the state of the dump."""
        loaded.load_state_dict(jit.load(self.path).state_dict())
        return self.compared(_called(loaded), what, size)

    def runs(self, loaded, size):
        """Whether it takes all calls' arguments of this size."""
        try:
            for seed in CALLS:
                bits(as_list(loaded(**named_arguments(self.program, seed, size))))
        except REFUSALS:
            return False
        return True

    def expected(self, size=None):
        """What eager calls give after the same calls before."""
        function, _ = self.program.instance()
        tessera.seed(self.program.seed)
        for seed in _CALLS_BEFORE:
            function(*self.program.arguments(seed))
        return [
            (bits(as_list(function(*self.program.arguments(seed, size)))), []) for seed in CALLS
        ]


@contextlib.contextmanager
def dumped(program, targets=(), free=False):
    """The program's File, after some traced calls."""
    function, _ = program.instance()
    call = jit.trace(function, capture_as_const=True)
    tessera.seed(program.seed)
    try:
        for seed in _CALLS_BEFORE:
            call(*program.arguments(seed))
    except REFUSALS:
        with skipping_refusals():  # with other random numbers than those of its first calls
            File("", program).expected()
        raise
    dims = free_dims(program) if free else None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.tess")
        try:
            call.dump(path, arg_names=names_of(program), targets=list(targets), dims=dims,
                      training=True)  # fmt: skip
        except ValueError as error:
            if free or _REFUSAL.search(str(error)):
                raise SkippedError(f"refused: {error}") from None
            raise
        with _refusals():
            yield File(path, program)


@contextlib.contextmanager
def _refusals():
    """What a file refuses in the known form is no finding; other words are."""
    try:
        yield
    except (NotImplementedError, RuntimeError) as error:
        if not _REFUSAL.search(str(error)):
            raise
        raise SkippedError(f"refused: {error}") from None


def _called(loaded):
    """A loaded program on tensors by name."""
    return lambda tensors: dict(zip(loaded.outputs, as_list(loaded(**tensors)), strict=True))


def loaded(program):
    """Dumped and loaded, compiled from the graph."""
    with dumped(program) as file:
        return file.compared(_called(jit.load(file.path)), "loaded")


def smaller_isa(program):
    """Code for x86-64-v3 from the file, and products as such a processor computes them."""
    before = _core.get_product_level()
    with dumped(program, targets=("x86-64-v3",)) as file, contextlib.ExitStack() as stack:
        stack.callback(_core.set_product_level, before)
        _core.set_product_level("x86-64-v3")
        return file.compared(_called(jit.load(file.path, allow_code=True)), "x86-64-v3")


def tess_run(program):
    """The C++ tool, without Python."""
    return _by_tool(program, "tess-run", "host", [])


def sim_run(program):
    """The C++ tool on the emulated accelerator."""
    return _by_tool(program, "tess-run on sim0", "sim", ["--device=sim0"])


def _by_tool(program, what, target, options):
    tool = os.environ.get("TESS_RUN")
    if not tool or any(each.dtype in _NOT_NUMPYS for each in program.inputs):
        raise SkippedError("no tool, or a dtype that .npy files lack")
    if brought.is_in_python(program):
        raise SkippedError("an operator is written in Python")
    with dumped(program, targets=(target,)) as file:
        with skipping_refusals():
            expected = file.expected()
        if any(dtype in _NOT_NUMPYS for row, _ in expected for _, dtype, _ in row):
            raise SkippedError("a dtype that .npy files lack")
        found = jit.load(file.path)
        calls = CALLS[:1] if found.state_dict() else CALLS  # each process starts with the file's
        run = _tool(
            [tool, file.path, *options, *brought.options(program)],
            os.path.dirname(file.path),
            found.outputs,
        )
        return file.compared(run, what, calls=calls)


def _tool(start, folder, outputs):
    def run(tensors):
        command = [*start, f"--threads={tessera.config.get_num_threads()}"]
        for name, tensor in tensors.items():
            np.save(f"{folder}/{name}.npy", tensor.numpy())
            command += ["--input", f"{name}={folder}/{name}.npy"]
        for name in outputs:
            command += ["--output", f"{name}={folder}/{name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise RuntimeError(f"tess-run: {done.returncode} {done.stderr[-300:]}")
        arrays = {name: np.load(f"{folder}/{name}.npy") for name in outputs}
        return {name: tessera.Tensor(a, dtype=a.dtype.name) for name, a in arrays.items()}

    return run


def free(program):
    """A file whose first axes are free, at other sizes."""
    if not program.has_free:
        raise SkippedError("nothing is free")
    first = next(each for each in program.inputs if each.free).shape[0]
    with dumped(program, free=True) as file:
        found = jit.load(file.path)
        shown = file.compared_to(found, "free dimension")
        for size in (first + 3, first * 2, 2, 1):
            shown = shown or _at_size(file, found, size, is_smaller=size < first)
        return shown


def _at_size(file, loaded, size, is_smaller):
    what = f"free dimension of size {size}"
    try:
        file.expected(size)
    except REFUSALS as error:
        # Of no elements an axis of -1 has a size only where that is an expression.
        if "reshape: number of elements must stay" in str(error):
            return ""
        runs = file.runs(loaded, size) and _runs_with_every_result(file.program, size)
        return f"{what}: runs where eager refuses" if runs else ""
    try:
        return at_size(lambda: file.compared_to(loaded, what, size), is_smaller)
    except ValueError as error:
        if size == 1 and "must not be 1" in str(error):
            return ""
        raise


def at_size(compare, is_smaller):
    """What `compare` shows, but for an index that does not fit a smaller size: it may be one of a
    change that nothing reads, with which eager leaves the error."""
    try:
        return compare()
    except IndexError:
        if is_smaller:
            return ""
        raise


def _runs_with_every_result(program, size):
    """What no result needs is compiled away, and what would refuse the size with it: so are changes
    of a view that has no name."""
    kept = tuple(each for each in program.statements if not each.writes_unnamed)
    made = tuple(n for each in kept for n in each.targets if not each.writes)
    with dumped(replace(program, statements=kept, results=made), free=True) as file:
        try:
            file.expected(size)
        except REFUSALS:
            return file.runs(jit.load(file.path), size)
        return False
