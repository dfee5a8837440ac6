"""GradManager: gradients of attached tensors, added up in their `grad`."""

import weakref

from .. import _caller, _core, _hooks, effects
from ..tensor import Tensor
from . import frozen, modes

_WITH_GRADIENT = frozenset(("float16", "bfloat16", "float32", "float64", "complex64", "complex128"))


class _Attached:
    """A tensor, weakly held, and its callbacks."""

    def __init__(self, tensor, forget):
        self.ref = weakref.ref(tensor, forget)
        self.callbacks = []

    def add(self, grad):
        """Runs the callbacks and adds `grad` to the tensor's."""
        tensor = self.ref()
        if tensor is None:
            return
        for callback in self.callbacks:
            grad = callback(tensor, grad)
        _core.note_grad(tensor)
        if tensor.grad is None:
            tensor.grad = grad
        else:
            _core.accumulate_grad(tensor.grad, grad)


class GradManager:
    """Records operations on attached tensors and computes gradients.

        gm = GradManager().attach(model.parameters())
        with gm:
            loss = loss_function(model(x), y)
            gm.backward(loss)      # p.grad += d loss / d p for every parameter p

    Gradients add up over several backward calls until `optimizer.clear_grad()`. `callbacks` are
    called with (tensor, gradient) and return the gradient to add.

    Parameters of a module that is frozen (`module.freeze()`) get no gradient while they are.

    A manager records the `backward` of those entered within it, for gradients of gradients, but not
    of those entered before it or, by `a | b`, together with it.
    """

    def __init__(self):
        self._attached = {}
        self._settings = {"attached": 0}  # changes of attached tensors, which a trace must see
        self._state = None
        self._watched = []

    def attach(self, tensors, callbacks=None):
        """Also computes gradients of `tensors` (a tensor or several); returns the manager. While it
        records, also of a tensor that was computed: the gradient of its value of now.

        TypeError: they must be Tensors of floating-point or complex numbers.
        """
        tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        callbacks = [callbacks] if callable(callbacks) else list(callbacks or [])
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"attach: tensors must be Tensor, got {type(tensor).__name__}")
            if getattr(tensor._dtype_key, "name", None) not in _WITH_GRADIENT:
                raise TypeError(
                    f"attach: tensors must be floating-point, got {tensor._dtype_key} of shape "
                    f"{tuple(tensor.shape)}"
                )
            self._attach(tensor, callbacks)
        if self._state is not None:
            self._watch(tensors)
        return self

    def _attach(self, tensor, callbacks):
        key = id(tensor)
        is_new = key not in self._attached
        if is_new:
            self._attached[key] = _Attached(tensor, self._forgetter(key))
        self._attached[key].callbacks += callbacks
        if (is_new or callbacks) and effects.current() is None:
            self._settings["attached"] += 1

    def _forgetter(self, key):
        # A weak reference: a tensor that lives on must not keep the manager alive.
        manager = weakref.ref(self)
        return lambda _: manager() and manager()._attached.pop(key, None)

    def _watch(self, tensors):
        new = frozen.trained(tensors)
        if self._watched:
            known = {id(entry.ref()) for entry in self._watched}
            new = [each for each in new if id(each) not in known]
        _hooks.watch(self._state, new)
        self._watched += [self._attached[id(tensor)] for tensor in new]

    def attached_tensors(self):
        """The tensors attached, those that live."""
        return [t for t in (entry.ref() for entry in self._attached.values()) if t is not None]

    def record(self):
        """Starts to record; `with manager:` does it too."""
        self._record(None)

    def _record(self, beside):
        """Starts to record, as one with the manager `beside` it, which has just started."""
        if self._state is not None:
            raise RuntimeError(
                "record: a GradManager must record once at a time, got a second start"
            )
        _core.note_item(self._settings, "attached", "GradManager.attached")
        frozen.note()
        self._state = _core.GradState()
        self._watch(self.attached_tensors())
        self._state.record(beside and beside._state)
        modes.enter_recording(1)

    def backward(self, y=None, dy=None):
        """Adds to every attached tensor's `grad` that of `y` (one tensor or several), and stops.

        `dy` is the gradient of y, of its shape (of a y of rank 0 also of shape (1,)); without it y
        has one element and its gradient is 1. A y that depends on no attached tensor is a warning.
        """
        if self._state is None:
            raise RuntimeError("backward: the manager must be recording, got one that is not")
        ys = as_list(y)
        if ys and not self._state.tracks_any(ys):
            _caller.warn_once(
                "backward: y must depend on an attached tensor while the manager records, got "
                f"{'one that does' if len(ys) == 1 else 'some that do'} not: no gradient changes"
            )
        try:
            grads = self._state.backward(ys, None if dy is None else as_list(dy))
            watched = self._watched
        finally:
            self.release()
        for entry, grad in zip(watched, grads, strict=True):
            if grad is not None:
                entry.add(grad)

    def release(self):
        """Stops recording and forgets what was recorded."""
        if self._state is not None:
            self._state.release()
            self._state, self._watched = None, []
            modes.enter_recording(-1)

    def __enter__(self):
        self.record()
        return self

    def __exit__(self, *exc):
        self.release()

    def __or__(self, other):
        return GradManagerGroup([self]) | other


def as_list(value):
    """One tensor, several or none as a list."""
    if value is None:
        return []
    return [value] if isinstance(value, Tensor) else list(value)


class GradManagerGroup:
    """Several managers that start and stop together, `with one | other:`, and do not see each
    other's backward.
    """

    def __init__(self, managers):
        self._managers = list(managers)

    def __or__(self, other):
        more = other._managers if isinstance(other, GradManagerGroup) else [other]
        return GradManagerGroup(self._managers + more)

    def __enter__(self):
        for manager in self._managers:
            manager._record(None if manager is self._managers[0] else self._managers[0])
        return self

    def __exit__(self, *exc):
        for manager in reversed(self._managers):
            manager.release()
