"""Programs within a limit of memory, and the error where there is none."""

import json

from .explanation.facts import Facts

LIMITS = "memory_limit", "memory_goal"  # options of a program
_MOST_NAMED = 10  # tensors that the error has


def compiled(recording, options):
    """The program of a recording, or of a part of one. The option "beside" are bytes of values
    beside it that count for its limit of memory.

    MemoryError: it cannot run within its limit; the text has the least one that is known to do, and
    the largest tensors at the peak of that program.
    """
    beside = options.get("beside", 0)
    left = {name: max(options[name] - beside, 1) for name in LIMITS if name in options}
    program = recording.compile({**options, **left})
    fitted = program.fitted
    if fitted is not None and not fitted["is_kept"]:
        raise MemoryError(_too_small(program, options["memory_limit"], fitted["taken"], beside))
    return program


def _too_small(program, limit, taken, beside):
    head = f"trace: memory_limit must be at least {taken + beside} bytes, got {limit}"
    beside = [f"of these {beside} are saved by the call for its gradient"] if beside else []
    account = json.loads(program.account(with_boundaries=False))
    rows = [f"  {row}" for row in _largest(account)]
    return "\n".join([head, *beside, "the largest tensors within the least limit:", *rows])


def _largest(account):
    """Tensors that lie in memory at the peak, or are results, the largest first: lines of text as
    other errors about memory have them.
    """
    facts, found = Facts(account), []
    for piece in facts.peak.pieces if facts.peak else ():
        value = facts.value_of_piece(piece)
        if value is None:
            found.append((piece.bytes, "scratch", facts.steps[piece.first].location))
        else:
            found.append((piece.bytes, value.type, value.location))
    for output in account["outputs"]:
        if not output["donated"]:
            found.append((output["bytes"], output["type"], output["location"]))
    found.sort(key=lambda each: -each[0])
    for size, kind, place in found[:_MOST_NAMED]:
        made = f" made at {place}" if place else ""
        yield f"{size / (1 << 20):.1f} MiB {kind}{made}"
