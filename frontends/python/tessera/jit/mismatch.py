"""What two recordings of one function say of its Python code: why they differ."""

import difflib

from .. import _core
from .._tree import unflatten

_CONTEXT, _MOST = 2, 16  # lines of a diff
_ADVICE = (
    "what Python decides, counts or makes is fixed in a program: give it as an argument, keep it "
    "in a tensor that the function updates, or call it outside of the traced function"
)


class TraceError(RuntimeError):
    """A traced function cannot be what was recorded: MegEngine's name for it."""


class TraceMismatchError(TraceError):
    """A traced function did something else when it was called again."""


def is_same(first, second):
    """Both Recorded calls are one program."""
    return not any(_differing(first, second))


def _differing(first, second):
    """The lines of both calls; none when they are the same."""
    different = _core.compare_recordings(first.recording, second.recording)
    rows = ([], []) if different is None else different
    old, new = ([*row, *_ends(call)] for row, call in zip(rows, (first, second), strict=True))
    return ([], []) if [row[2] for row in old] == [row[2] for row in new] else (old, new)


def check_same(name, first, second):
    """TraceMismatchError, with a diff, unless both Recorded calls are one program."""
    old, new = _differing(first, second)
    if not old and not new:
        return
    diff = "\n".join(_diff(old, new))
    raise TraceMismatchError(
        f"trace: {name} must do the same whenever it is called like this, got two recordings that "
        f"differ (- the first call, + this one):\n{diff}\n({_ADVICE})"
    )


class _ATensor:
    def __init__(self, same):
        self._same = same

    def __repr__(self):
        """An argument by its number."""
        return f"argument {self._same}" if isinstance(self._same, int) else "Tensor"


def _ends(call):
    """The result around its tensors, and gradients."""
    leaves = [
        _ATensor(call.same.get(i)) if i in call.slots else leaf
        for i, leaf in enumerate(call.leaves)
    ]
    yield "", "", f"returns {unflatten(call.structure, leaves)!r}"
    for text in (*call.modes, *call.grads.lines()):
        yield "", "", text


def _shown(row):
    place, source, text = row
    return f"{place}: {source}  [{text}]" if place else text


def _diff(old, new):
    """The lines that differ, with what is before the first."""
    matcher = difflib.SequenceMatcher(None, [r[2] for r in old], [r[2] for r in new], False)
    lines = []
    for kind, i, last, j, other in matcher.get_opcodes():
        if kind == "equal":
            continue
        if not lines:
            lines += [f"    {_shown(row)}" for row in old[max(i - _CONTEXT, 0) : i]]
        lines += [f"  - {_shown(row)}" for row in old[i:last]]
        lines += [f"  + {_shown(row)}" for row in new[j:other]]
    more = [f"  ... and {len(lines) - _MOST} lines more"] if len(lines) > _MOST else []
    return lines[:_MOST] + more
