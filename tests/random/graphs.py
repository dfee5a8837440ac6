"""The mode of traced modules: a program as a module with one below it, as a graph of its calls."""

import io
import re
import warnings

import numpy as np
import tessera
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm

from tests.random.observe import CALLS, SkippedError, difference, observed, skipping_refusals
from tests.random.program import HEADER, REFUSALS

# Refusals of a recorder: Python that looks at a value, functions of functions.
_REFUSAL = "trace_module: functions of functions must|trace_module: control flow must"
# Constants that other data would change.
_VALUE = re.compile("of a tensor is a constant|the result of ")


def traced_module(program):
    """The module itself; its trace, flattened and interpreted; the trace from a file."""
    if program.loss:
        raise SkippedError("a gradient is taken within the function")
    module, captured = _instance(program)
    with skipping_refusals():
        expected = observed(module, program, captured)
    return (
        difference(_of_trace(program, lambda traced: traced), expected, "traced module")
        or difference(_of_trace(program, lambda t: t.flatten()), expected, "flattened")
        or difference(_of_trace(program, lambda t: t.graph.interpret), expected, "interpreted")
        or difference(_of_trace(program, _loaded), expected, "loaded")
    )


def _of_trace(program, form):
    module, captured = _instance(program)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            traced = tm.trace_module(module, *program.arguments(CALLS[0]))
        except REFUSALS as error:
            if re.match(_REFUSAL, str(error)):
                raise SkippedError(str(error)) from None
            raise
    for warning in told:
        if _VALUE.search(str(warning.message)):
            raise SkippedError(str(warning.message))
    runs = form(traced)
    return observed(runs, program, _captured_of(runs, captured))


def _captured_of(runs, captured):
    """The captured tensors of what runs: a module from a file has its own."""
    own = dict(runs.named_tensors()) if isinstance(runs, M.Module) else {}
    return {name: own.get(name, tensor) for name, tensor in captured.items()}


def _loaded(traced):
    file = io.BytesIO()
    try:
        tessera.save(traced, file)
    except TypeError as error:
        raise SkippedError(str(error)) from None
    file.seek(0)
    return tessera.load(file)


def _instance(program):
    """The program as a module, of which a module below runs the first statements."""
    captured = {each.name: each.tensor(0) for each in program.of_kind("constant", "parameter")}
    space = {}
    exec(HEADER, space)
    exec(_source(program, list(captured)), space)
    module = space["Net"]()
    for name, tensor in captured.items():
        setattr(module, name, tensor)
        setattr(module.part, name, tensor)
    return module, captured


def _source(program, captured):
    statements = list(program.statements)
    first = np.random.RandomState(program.seed).randint(0, len(statements) + 1)
    arguments = [each.name for each in program.of_kind("argument")]
    made = list(dict.fromkeys(t for each in statements[:first] for t in each.targets))
    given = ", ".join(arguments)
    reads = [f"{name} = self.{name}" for name in captured]
    part = [*reads, *(each.text for each in statements[:first]), f"return [{', '.join(made)}]"]
    whole = [
        *reads,
        f"[{', '.join(made)}] = self.part({', '.join(arguments)})",
        *(each.text for each in statements[first:]),
        f"return ({''.join(f'{name}, ' for name in program.results)})",
    ]
    lines = ["class Part(M.Module):", *_method("forward", given, part), "", "class Net(M.Module):",
             *_method("__init__", "", ["super().__init__()", "self.part = Part()"]),
             *_method("forward", given, whole)]  # fmt: skip
    return "\n".join(lines) + "\n"


def _method(name, arguments, lines):
    yield f"    def {name}(self, {arguments}):"
    yield from (f"        {line}" for line in lines)
