"""Random calls of every public function, in a process of its own.

`python -m tests.fuzz.calls --seed S --count N [--only NAME]` tells each call before it is made, so
that what is told last is what ended the process. It ends with 1 when an outcome is neither a result
nor an exception in the known form, or when a call took more memory than its arguments allow.
"""

import argparse
import faulthandler
import gc
import inspect
import random
import re
import resource
import sys
from pathlib import Path

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from tessera import module as M  # noqa: N812

from tests.fuzz.values import Values, describe

FORM = re.compile(r"^[\w.\[\]': -]+: .+, got .+", re.DOTALL)
# Python's own words when arguments do not bind, and of what every object can do.
BINDING = re.compile(
    r"argument|positional|keyword|not (iterable|subscriptable|callable)|unhashable|not supported"
    r"|descriptor '|object (is not|cannot|does not)|has no len|must be (real|a) |__\w+__|abstract"
    r"|can't|cannot"
)
KINDS = (
    ValueError,
    TypeError,
    IndexError,
    NotImplementedError,
    MemoryError,
    OverflowError,
    FileNotFoundError,
)
ALLOWANCE, FACTOR = 64 << 20, 16
DEADLINE = 60  # seconds of one call, some hundred times the longest usual one
LIMIT = 1 << 29  # bytes of tensors: beyond is a MemoryError
SPACE = 2 << 30  # bytes of addresses that the process may add: NumPy's arrays too
# They end, wait, write files or change the whole process.
SKIPPED = {"set_value", "__delattr__", "__setattr__", "__init_subclass__", "__getattribute__"}


def resident(field):
    """Bytes of this process: VmRSS and VmSize now, VmHWM at most since `forget_peak`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) << 10
    raise AssertionError(field)


def forget_peak():
    """Starts VmHWM anew."""
    Path("/proc/self/clear_refs").write_text("5")


def public_calls():
    """name: (function, whether it is a class to be made and then called)."""
    calls = {f"functional.{name}": (getattr(F, name), False) for name in F.__all__}
    for part in ("fft", "quantized", "quantized_conv"):
        space = getattr(F, part)
        calls |= {f"functional.{part}.{n}": (getattr(space, n), False) for n in space.__all__}
    operators = {f"__{name}__" for name in OPERATORS.split()}
    for name in tessera.random.__all__:
        if name != "RNG":
            calls[f"random.{name}"] = (getattr(tessera.random, name), False)
    for name, method in inspect.getmembers(tessera.Tensor, callable):
        if name not in SKIPPED and (not name.startswith("_") or name in operators):
            calls[f"Tensor.{name}"] = (method, False)
    calls["Tensor"] = (tessera.Tensor, False)
    calls["Parameter"] = (tessera.Parameter, False)
    for name in M.__all__ if hasattr(M, "__all__") else dir(M):
        kind = getattr(M, name)
        if inspect.isclass(kind) and issubclass(kind, M.Module):
            calls[f"module.{name}"] = (kind, True)
    return {name: call for name, call in calls.items() if callable(call[0])}


OPERATORS = (
    "abs add and eq floordiv ge getitem gt iadd ifloordiv imatmul imul index int invert isub iter"
    " itruediv le len lshift lt matmul mod mul ne neg or pow radd rfloordiv rmatmul rmod rmul ror"
    " rpow rshift rsub rtruediv setitem sub truediv xor bool float copy"
)


def guess(values, parameter):
    """A value that a parameter of this name might want."""
    name, default = parameter.name, parameter.default
    if name in ("axis", "dim", "axes", "repeats", "shift", "pattern"):
        return values.axes()
    if isinstance(default, bool):
        return values.pick((True, False))
    if isinstance(default, int):
        return values.pick((0, 1, 2, 3, (1, 2), (2, 1), -1))
    if isinstance(default, float):
        return values.pick((0.0, 0.5, 1.0, 1e-5))
    if isinstance(default, str):
        return values.pick((default, default, "sum", "none"))
    if name in ("shape", "size", "kernel_size", "normalized_shape"):
        return values.pick((values.shape(3), 2, 3))
    if re.search(r"features|channels|num|dim|hidden|groups|k$|^n$", name):
        return values.pick((1, 2, 3, 4, 8))
    if name in ("inps", "tensors", "inputs"):
        return [values.tensor() for _ in range(values.rng.randint(0, 3))]
    return values.tensor()


def parameters_of(function):
    """Its parameters, without those that gather the rest."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def draw_arguments(values, function):
    """(args, kwargs): likely ones of which some are replaced by any, or any at all."""
    parameters = parameters_of(function)
    if parameters is None or values.rng.random() < 0.1:
        own = [values.tensor()] if parameters and parameters[0].name == "self" else []
        return own + [values.any() for _ in range(values.rng.randint(0, 4))], {}
    wrong = values.pick((0.0, 0.0, 0.2, 0.2, 0.5, 1.0))
    args, kwargs = [], {}
    for parameter in parameters:
        optional = parameter.default is not parameter.empty
        if optional and values.rng.random() < 0.6:
            continue
        value = values.any() if values.rng.random() < wrong else guess(values, parameter)
        if parameter.name == "self":
            value = values.tensor()
        if optional or parameter.kind is parameter.KEYWORD_ONLY:
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return args, kwargs


def bytes_of(value):
    """Bytes of an argument or a result."""
    if isinstance(value, (tessera.Tensor, np.ndarray)):
        return int(np.prod(value.shape, dtype=float)) * 8
    if isinstance(value, M.Module):
        return bytes_of(list(value.state_dict().values()))
    if isinstance(value, (list, tuple)):
        return sum(map(bytes_of, value))
    if isinstance(value, dict):
        return sum(map(bytes_of, value.values()))
    return sys.getsizeof(value)


def wrong_outcome(error):
    """What is wrong with an exception; "" when it is as it must be."""
    text = str(error)
    if isinstance(error, TypeError) and BINDING.search(text):
        return ""
    if text.startswith("cannot convert float"):  # int(nan), in Python's words
        return ""
    if not isinstance(error, KINDS):
        return f"kind {type(error).__name__}"
    return "" if FORM.match(text) else "form"


class Campaign:
    """Calls, and what was wrong with them."""

    def __init__(self, seed, only):
        self.values = Values(random.Random(seed))
        self.calls = {n: c for n, c in public_calls().items() if not only or only in n}
        self.findings = {}
        self.results = self.refusals = 0
        self.asked = 0  # bytes of what a call made before it was refused

    def invoke(self, name):
        """One call: (arguments, result), or the exception that it raised."""
        function, is_class = self.calls[name]
        args, kwargs = draw_arguments(self.values, function)
        given = [*map(describe, args), *(f"{k}={describe(v)}" for k, v in kwargs.items())]
        self.tell(f"{name}({', '.join(given)})")
        result = function(*args, **kwargs)
        if is_class:
            self.asked = bytes_of(result)  # the weights of a module
            inputs = [self.values.tensor() if self.values.rng.random() < 0.9 else self.values.any()]
            self.tell(f"{name}({', '.join(given)})({describe(inputs[0])})")
            args, result = [*args, *inputs], result(*inputs)
        if inspect.isgenerator(result) or type(result).__name__.endswith("iterator"):
            result = list(result)
        tessera.sync()
        return bytes_of([*args, kwargs]), result

    def tell(self, text):
        """Says what comes next, in one write."""
        self.call = text
        sys.stdout.write(text.encode("unicode_escape").decode() + "\n")
        sys.stdout.flush()

    def one(self):
        """One call and its judgement."""
        name = self.values.pick(sorted(self.calls))
        forget_peak()
        before, size, failure = resident("VmRSS"), 0, ""
        self.asked = 0
        try:
            size, result = self.invoke(name)
            size += bytes_of(result)
            self.results += 1
        except Exception as error:
            self.refusals += 1
            failure = wrong_outcome(error)
            if failure:
                self.note(name, f"{failure}: {type(error).__name__}: {error}")
            if isinstance(error, MemoryError):  # of a module's second weight, beside the first
                size = LIMIT // FACTOR
        growth, size = resident("VmHWM") - before, max(size, self.asked)
        if growth > FACTOR * size + ALLOWANCE:
            self.note(name, f"memory: grew by {growth} for {size} bytes")
        self.settle()

    def settle(self):
        """What a failed call left behind is raised here, not by the next one."""
        try:
            tessera.sync()
        except Exception as error:
            failure = wrong_outcome(error)
            if failure:
                self.note("sync", f"{failure}: {error}")

    def note(self, name, text):
        """Keeps the first call of each kind of finding."""
        key = name + ": " + re.sub(r"-?\d+(\.\d+)?|'[^']*'|\[[^]]*\]", "#", text)[:90]
        self.findings.setdefault(key, (text, self.call))

    def report(self):
        """Prints all findings; their number."""
        for text, call in self.findings.values():
            print(f"FINDING {call}\n        {text}")
        print(f"{self.results} results, {self.refusals} refusals, {len(self.findings)} findings")
        return len(self.findings)


def limit_memory():
    """Makes what is too large an error at once; a sanitizer reserves terabytes and keeps them."""
    tessera.device.set_memory_limit(LIMIT)
    size = resident("VmSize")
    if size < 1 << 40:
        resource.setrlimit(resource.RLIMIT_AS, (size + SPACE, size + SPACE))


def main():
    """The process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    faulthandler.enable()
    limit_memory()
    campaign = Campaign(arguments.seed, arguments.only)
    for number in range(arguments.count):
        faulthandler.dump_traceback_later(DEADLINE, exit=True)
        campaign.one()
        if number % 500 == 0:
            gc.collect()
    faulthandler.cancel_dump_traceback_later()
    sys.exit(1 if campaign.report() else 0)


if __name__ == "__main__":
    main()
