"""The smallest program that still shows a difference in a mode."""

import pickle
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.random.program import HEADER, Input


def fails(program, mode):
    """What the program shows in a process of its own; empty for nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.pickle"
        path.write_bytes(pickle.dumps(program))
        command = [sys.executable, "-m", "tests.random.one", str(path), mode]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in (0, 3):
        return ""
    return done.stdout.strip() or f"{mode}: exit {done.returncode}: {done.stderr[-400:]}"


def minimised(program, mode, seconds=120):
    """(program, what it shows): statements, results, the gradient and the optimizer are left out as
    far as something still shows."""
    shown, end = fails(program, mode), time.monotonic() + seconds
    if not shown:
        return program, ""
    changed = True
    while changed and time.monotonic() < end:
        changed = False
        for smaller in _smaller(program):
            if time.monotonic() > end:
                break
            found = fails(smaller, mode)
            if found and _has_error(found) == _has_error(shown):
                program, shown, changed = smaller, found, True
                break
    return program, shown


def _has_error(shown):
    """Whether an exception is what differs."""
    return bool(re.match(r"\w+: (\w+Error|exit -?\d+): ", shown))


def _smaller(program):
    """Programs with less in them, the largest steps first."""
    if program.optimizer:
        yield replace(program, optimizer="", updates=())
    if program.loss:
        yield replace(program, loss="", optimizer="", updates=())
    if len(program.results) > 1:
        for name in program.results:
            yield _pruned(replace(program, results=(name,)))
    count = len(program.statements)
    for size in (count // 2, count // 4, 1):
        for first in range(count - size, -1, -size or -1) if size else ():
            yield _pruned(_without(program, program.statements[first : first + size]))


def _without(program, dropped):
    """Without these statements: what later ones read of them is an argument."""
    kept = tuple(s for s in program.statements if s not in dropped)
    defined = {n for s in dropped if not s.writes for n in s.targets}
    needed = {n for s in kept for n in (*s.uses, *(s.targets if s.writes else ()))} | {program.loss}
    values = _values(program)
    inputs = list(program.inputs)
    for name in sorted(defined & needed):
        if name in values:
            shape, dtype = values[name]
            inputs.append(Input(name, "argument", shape, dtype))
    results = tuple(n for n in program.results if n not in defined) or tuple(
        n for s in kept for n in s.targets if not s.writes)[-1:]  # fmt: skip
    return replace(program, statements=kept, inputs=tuple(inputs), results=results)


def _values(program):
    """Shape and dtype of every variable of an eager run."""
    names = {each.name: each.tensor(program.seed) for each in program.inputs}
    exec(HEADER, names)
    for statement in program.statements:
        try:
            exec(statement.text, names)
        except Exception:  # noqa: BLE001: a smaller program need not run
            break
    return {n: (tuple(v.shape), v.dtype.name) for n, v in names.items() if hasattr(v, "numpy")}


def _pruned(program):
    """Without what no result needs."""
    needed = {*program.results, program.loss, *program.updates}
    kept = []
    for statement in reversed(program.statements):
        if needed & {*statement.targets} or statement.writes and statement.uses and (
            needed & {*statement.uses}):  # fmt: skip
            kept.append(statement)
            needed |= {*statement.uses, *statement.targets}
    inputs = tuple(each for each in program.inputs if each.name in needed)
    return replace(program, statements=tuple(reversed(kept)), inputs=inputs)


def source(program, mode, shown):
    """Python that shows the difference, as far as the mode is a trace's."""
    lines = [
        HEADER,
        f"# seed {program.seed}, mode {mode}",
        *(f"# {line}" for line in shown.splitlines()),
    ]
    for each in program.inputs:
        kind = "ts.Parameter" if each.kind == "parameter" else "ts.Tensor"
        numbers = f"np.random.RandomState(0).uniform({each.low}, {each.high}, {each.shape})"
        free = ", first axis free" if each.free else ""
        lines.append(f"{each.name} = {kind}({numbers}, dtype={each.dtype!r})  # {each.kind}{free}")
    if program.optimizer:
        lines.append(f"opt = O.{program.optimizer % ('[' + ', '.join(program.updates) + ']')}")
    arguments = ", ".join(each.name for each in program.of_kind("argument"))
    lines += [
        "",
        program.function_source(),
        f"g = jit.trace(f)\nfor _ in range(3):\n    print(f({arguments}), g({arguments}))",
    ]
    return "\n".join(lines)
