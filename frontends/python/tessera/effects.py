"""What a trace must know of Python's state: modules' modes and tensors' `grad`.

A recording sees tensors. That a module was in training mode, or that a tensor had no gradient yet,
is decided in Python: those who read or change such state tell the trace that is recorded, which
then runs the compiled program only where the state is as it was, and changes it as the Python code
did.
"""

import threading
import weakref


class _State(threading.local):
    current = None  # the Effects of the call that this thread records


_state = _State()


class Effects:
    """The Python state that one recorded call read or changed."""

    def __init__(self, tensors, runs=True, state=None):
        self.runs, self.segments, self.recording = runs, None, False
        self.state = state  # notes Python state that the call may read; None: nothing is noted
        self.excluded = False  # the call has parts that no program can hold
        self._arguments = {id(tensor): number for number, tensor in enumerate(tensors)}
        self._modes = {}  # id -> (weak module, training)
        self._before = {}  # id -> (tensor, grad before)

    def __enter__(self):
        _state.current = self
        return self

    def __exit__(self, *exc):
        _state.current = None

    def see_module(self, module):
        """A module runs: its training flag and settings decide what is recorded."""
        if id(module) not in self._modes:
            self._modes[id(module)] = (weakref.ref(module), module.training)
            if self.state is not None:
                self.state.see_module(module)

    def see_attributes(self, value):
        """The attributes of an object decide what is recorded."""
        if self.state is not None:
            self.state.see_attributes(type(value).__name__, value)

    def see_setting(self, name, settings, key):
        """The value of `key` in a dict, that of a `name`, decides what is recorded."""
        if self.state is not None:
            self.state.see_setting(name, settings, key)

    def see_grad(self, tensor):
        """The `grad` of `tensor` is about to change."""
        self._before.setdefault(id(tensor), (tensor, tensor.grad))

    def name_tensors(self):
        """Tensors of the modules that ran are called by their paths from the outermost, where they
        have no name yet.
        """
        found = (weak() for weak, _ in self._modes.values())
        modules = [module for module in found if module is not None]  # the outermost ran first
        if not any(module._has_unnamed() for module in modules):
            return
        named = set()
        for module in modules:
            if id(module) not in named:
                module._name_tensors(named)

    def finish(self):
        """Gradients that are results of the call, and the Replay that hands them out."""
        self.name_tensors()
        results, grads = [], []
        for key, (tensor, before) in self._before.items():
            after = tensor.grad
            target = self._arguments.get(key, weakref.ref(tensor))
            number = None
            if after is not None and after is not before:
                number = len(results)
                results.append(after)
            grads.append(GradEffect(target, before, number, after is before))
        self._before.clear()
        return results, Replay(list(self._modes.values()), grads)


class GradEffect:
    """What a call does to the `grad` of one tensor."""

    def __init__(self, target, before, number, same):
        self.target, self.before, self.number, self.same = target, before, number, same

    def tensor(self, arguments):
        """The tensor: an argument of this call, or one from outside; None when it is gone."""
        return arguments[self.target] if isinstance(self.target, int) else self.target()

    def holds(self, arguments):
        """There is a gradient where there was one."""
        tensor = self.tensor(arguments)
        return tensor is None or (tensor.grad is None) == (self.before is None)

    def prepare(self, arguments):
        """The program reads the gradient through the object that was recorded."""
        tensor = self.tensor(arguments)
        if self.before is not None and tensor is not None and tensor.grad is not self.before:
            self.before._reset(tensor.grad)
            tensor.grad = self.before

    def line(self):
        """What happens to the gradient, in words."""
        whose = f"arg{self.target}"
        if not isinstance(self.target, int):
            tensor = self.target()
            whose = "a tensor that is gone" if tensor is None else tensor.name or "outside"
        if self.same:
            return f"grad of {whose} stays"
        return f"grad of {whose} becomes " + (
            "None" if self.number is None else f"gradient {self.number}"
        )

    def apply(self, arguments, results):
        """Sets the gradient as the recorded call did."""
        tensor = self.tensor(arguments)
        if tensor is not None and not self.same:
            tensor.grad = None if self.number is None else results[self.number]


class Replay:
    """Guards and effects of a recorded call."""

    def __init__(self, modes, grads):
        self._modes, self._grads = modes, grads

    def holds(self, arguments):
        """There are gradients where there were some."""
        return not self._grads or all([grad.holds(arguments) for grad in self._grads])

    def lines(self):
        """What the call reads and changes, in words: equal for equal effects."""
        for number, (ref, training) in enumerate(self._modes):
            yield f"module {number}: {type(ref()).__name__}, training={training}"
        for grad in self._grads:
            yield grad.line()

    def prepare(self, arguments):
        """Before the program runs."""
        for grad in self._grads:
            grad.prepare(arguments)

    def undo(self, arguments):
        """Gradients as they were before the recorded call."""
        for grad in self._grads:
            tensor = grad.tensor(arguments)
            if tensor is not None and tensor.grad is not grad.before:
                tensor.grad = grad.before

    def apply(self, arguments, results):
        """After it ran."""
        for grad in self._grads:
            grad.apply(arguments, results)


def is_tracing():
    """A call is being recorded."""
    return _state.current is not None


def touch_grad(tensor):
    """To be called before the `grad` of `tensor` changes."""
    if _state.current is not None:
        _state.current.see_grad(tensor)


def current():
    """The Effects of the call that is being recorded, or None."""
    return _state.current


def set_current(seen):
    """The call `seen` is being recorded from here on; None: no call."""
    _state.current = seen
