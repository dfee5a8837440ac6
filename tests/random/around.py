"""A program beside what Python does around it: state that changes between calls, hooks, modules
that freeze, functions with gradients of their own, arguments that come back as they are.
"""

import types
import warnings
from collections import deque

import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import jit
from tessera.autodiff import Function, GradManager

from tests.random.observe import CALLS, difference, skipping_refusals
from tests.support.helper import as_list, bits

# Data and state of each call: both stay for two calls, then one of them changes, then the other.
TURNS = [(CALLS[0], 1), (CALLS[1], 1), (CALLS[0], 2), (CALLS[2], 2), (CALLS[1], 1), (CALLS[1], 3)]


class _Slotted:
    __slots__ = ("number",)


def _boxes():
    """Objects that hold a number: (function that reads it, function that writes it)."""
    space, slotted, kind = types.SimpleNamespace(number=0), _Slotted(), type("Kind", (), {})
    table, items, ends, module = {}, [0], deque([0]), M.Identity()
    box, names = [space, slotted, kind, module], [table, items, ends]
    readers = [lambda each=each: each.number for each in box]
    writers = [lambda n, each=each: setattr(each, "number", n) for each in box]
    keys = ("number", 0, 0)
    readers += [lambda e=e, k=k: e[k] for e, k in zip(names, keys, strict=True)]
    writers += [lambda n, e=e, k=k: e.__setitem__(k, n) for e, k in zip(names, keys, strict=True)]
    return list(zip(readers, writers, strict=True))


def _state(program, function, captured):
    """The results, and numbers that an object outside of the function holds."""
    boxes = _boxes()
    read, write = boxes[program.seed // 7 % len(boxes)]

    def call(*arguments):
        return [*as_list(function(*arguments)), F.arange(3) * read(), F.zeros(()) + (read() > 1)]

    return call, write


def _parameter(captured, arguments):
    """A float32 parameter, and one more: captured ones where there are."""
    floats = [each for each in captured.values() if type(each) is tessera.Parameter]
    floats = [each for each in floats if each.dtype.name == "float32"]
    return floats[0] if floats else tessera.Parameter([0.5, -1.5, 2.0])


def _hook(program, function, captured):
    """A gradient that a hook doubles at some calls."""
    w, handles = _parameter(captured, ()), []
    manager = GradManager().attach([w])

    def call(*arguments):
        results = as_list(function(*arguments))
        with manager:
            manager.backward((F.sin(w) * 3).sum())
        slope, w.grad = w.grad, None
        return [*results, slope]

    def change(number):
        while handles:
            handles.pop().remove()
        if number > 1:
            handles.append(w.register_hook(lambda grad: grad * number))

    return call, change


def _module_hook(program, function, captured):
    """A gradient that a module's backward hook scales at some calls."""
    net, w, handles = M.Linear(3, 2), tessera.Parameter([0.5, -1.5, 2.0]), []
    for each in net.parameters():
        each.reset_zero()
        each += 0.375
    manager = GradManager().attach([w])

    def call(*arguments):
        results = as_list(function(*arguments))
        with manager:
            manager.backward(F.sin(net(w.reshape(1, 3))).sum())
        slope, w.grad = w.grad, None
        return [*results, slope]

    def change(number):
        while handles:
            handles.pop().remove()
        if number > 1:
            scale = lambda module, into, out: tuple(each * number for each in into)  # noqa: E731
            handles.append(net.register_backward_hook(scale))

    return call, change


def _frozen(program, function, captured):
    """A step of an optimizer on two modules, of which one is frozen at some calls."""
    net = M.Sequential(M.Linear(2, 3), M.Linear(3, 2))
    for number, each in enumerate(net.parameters()):
        each.reset_zero()
        each += (number + 1) / 8
    manager = GradManager().attach(net.parameters())
    step = tessera.optimizer.SGD(net.parameters(), lr=0.125, momentum=0.5, weight_decay=0.25)

    def call(*arguments):
        results = as_list(function(*arguments))
        with manager:
            loss = F.tanh(net(F.arange(4).reshape(2, 2))).sum()
            manager.backward(loss)
        step.step().clear_grad()
        return [*results, loss, *(each * 1 for each in net.parameters())]

    return call, lambda number: net.unfreeze()[number % 2].freeze(number > 1)


def _decoder(program, function, captured):
    """A step of Adafactor on a decoder's layer, which looks ahead at some calls."""
    first, state = bool(program.seed // 14 % 2), {"is_causal": True}
    layer = M.TransformerDecoderLayer(4, 2, dim_feedforward=6, dropout=0.0, norm_first=first)
    for number, each in enumerate(layer.parameters()):
        each.reset_zero()
        each += F.sin(F.arange(each.size) + number).reshape(each.shape) / 2
    manager = GradManager().attach(layer.parameters())
    step = tessera.optimizer.Adafactor(layer.parameters(), lr=0.05)
    target, memory = (F.cos(F.arange(n * 4) * 0.7).reshape(1, n, 4) for n in (3, 5))

    def call(*arguments):
        results = as_list(function(*arguments))
        with manager:
            out = layer(target, memory, tgt_is_causal=state["is_causal"])
            manager.backward((out * out * target).sum())
        step.step().clear_grad()
        return [*results, out, *(each * 1 for each in layer.parameters())]

    return call, lambda number: state.update(is_causal=number < 2)


class _Inner(Function):
    """x ** 3, with the gradient of it."""

    def forward(self, x):
        self.x = x
        return x * x * x

    def backward(self, slope):
        return slope * self.x * self.x * 3


class _Outer(Function):
    """exp(x / 4), whose gradient goes through another Function."""

    def forward(self, x):
        self.x = x
        return F.exp(x / 4)

    def backward(self, slope):
        return slope * _Inner()(F.exp(self.x / 12)) / 4


def _nested(program, function, captured):
    """A Function within a Function's gradient."""
    w = _parameter(captured, ())
    manager = GradManager().attach([w])

    def call(*arguments):
        results = as_list(function(*arguments))
        with manager:
            manager.backward((_Outer()(F.sin(w)) + _Inner()(F.cos(w))).sum())
        slope, w.grad = w.grad, None
        return [*results, slope]

    return call, lambda number: None


def _returned(program, function, captured):
    """Arguments and captured tensors among the results, written before or not."""
    kept = next(iter(captured.values()), None)

    def call(*arguments):
        if arguments and arguments[0].ndim and program.seed % 2:
            arguments[0][:1] = 1
        results = as_list(function(*arguments))
        return [*results, *arguments[:2], *([] if kept is None else [kept])]

    return call, lambda number: None


KINDS = (_state, _hook, _module_hook, _frozen, _decoder, _nested, _returned)


def _rows(program, kind, wrap):
    function, captured = program.instance()
    call, change = kind(program, function, captured)
    call, rows = wrap(call), []
    tessera.seed(program.seed)
    for seed, number in TURNS:
        change(number)
        arguments = program.arguments(seed)
        results = as_list(call(*arguments))
        known = [*arguments, *captured.values()]
        same = [[i for i, each in enumerate(known) if each is result] for result in results]
        rows.append((bits(results), bits(arguments), same))
    return rows, bits(list(captured.values()))


def around(program):
    """Six calls between which Python's state changes, by one of the kinds."""
    kind = KINDS[program.seed % len(KINDS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with skipping_refusals():
            expected, kept = _rows(program, kind, lambda call: call)
        got, state = _rows(program, kind, jit.trace)
    name = f"around{kind.__name__}"
    plain = [[row[:2] for row in rows] for rows in (got, expected)]
    if found := difference((plain[0], state), (plain[1], kept), name):
        return found
    for number, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        if ours[2] != theirs[2]:
            return f"{name}: call {number}: results are the tensors {ours[2]}, not {theirs[2]}"
    return ""
