"""Functions that see gradients on their way: those of tensors, and of the calls of a module."""

import weakref
from collections import OrderedDict

from . import _core, effects
from ._tree import flatten, unflatten

_known = {}  # by id of a tensor that lives: a weak reference and its hooks
_watched = {}  # by id of a tensor that lives and was attached: a weak reference
_settings = {"changes": 0}  # of hooks of such tensors and of modules, which a trace must see


class HookHandler:
    """Result of registering a hook; `remove` takes the hook away."""

    def __init__(self, hooks, hook):
        self._hooks, self._key = hooks, object()
        hooks[self._key] = hook
        self._note_change()

    def remove(self):
        """Takes the hook away; a second time does nothing."""
        self._hooks.pop(self._key, None)
        self._note_change()

    def _note_change(self):
        """Traces that saw the hooks are of another state."""
        if effects.current() is None:
            _settings["changes"] += 1


class _TensorHandler(HookHandler):
    """That of a hook of the tensor with this id; no trace saw one that was never attached."""

    def __init__(self, hooks, hook, key):
        self._tensor = key
        super().__init__(hooks, hook)

    def _note_change(self):
        if self._tensor in _watched:
            super()._note_change()


class _Active:
    """A hook of a tensor that tapes call, until it is removed."""

    def __init__(self, handler_of, hook, key):
        self.handler = _TensorHandler(handler_of, self, key)
        self._known, self._hook = handler_of, hook

    def __call__(self, grad):
        return self._hook(grad) if self in self._known.values() else None


def register(tensor, hook):
    """Tensor.register_hook."""
    if not callable(hook):
        raise TypeError(f"register_hook: hook must be callable, got {type(hook).__name__}")
    key = id(tensor)
    if key not in _known:
        _known[key] = weakref.ref(tensor, lambda _: _known.pop(key, None)), OrderedDict()
    active = _Active(_known[key][1], hook, key)
    _core.add_grad_hook(tensor, active)
    return active.handler


def watch(state, tensors):
    """Makes the GradState give the gradients of `tensors`, and call their hooks."""
    _core.note_item(_settings, "changes", "Tensor.register_hook")
    state.attach(tensors)
    for tensor in tensors:
        key = id(tensor)
        if key not in _watched:
            _watched[key] = weakref.ref(tensor, lambda _, key=key: _watched.pop(key, None))
        if key in _known:
            for hook in _known[key][1].values():
                state.add_hook(tensor, hook)


def forward_between(module, hooks, inputs, kwargs):
    """Forward of the module, seen by its backward hooks where a gradient may be wanted."""
    if not hooks or not _core.num_tapes():
        return module.forward(*inputs, **kwargs)
    _core.note_item(_settings, "changes", "Module.register_backward_hook")
    call = _ModuleCall(module, hooks)
    return call.leave(module.forward(*call.enter(inputs), **kwargs))


class _ModuleCall:
    """One call of a module with backward hooks: its tensors come in and go out as variables of
    their own, whose gradients are those of this call alone.
    """

    def __init__(self, module, hooks):
        self._module, self._hooks = module, hooks
        self._places, self._output_grads = [], ()
        self._count, self._is_followed = 0, False

    def enter(self, inputs):
        """The inputs, the tensors among them as new variables."""
        self._count = len(inputs)
        self._places = [i for i, each in enumerate(inputs) if isinstance(each, _core.Tensor)]
        tensors = [inputs[place] for place in self._places]
        self._is_followed = any(_core.tracked(tensors))
        fresh = iter(_core.custom_function(tensors, _detached(tensors), self._to_inputs))
        return tuple(next(fresh) if i in self._places else each for i, each in enumerate(inputs))

    def leave(self, outputs):
        """The outputs in their containers, the tensors among them as new variables."""
        leaves, structure = flatten(outputs)
        tensors = [leaf for leaf in leaves if isinstance(leaf, _core.Tensor)]
        fresh = iter(_core.custom_function(tensors, _detached(tensors), self._from_outputs))
        leaves = [next(fresh) if isinstance(leaf, _core.Tensor) else leaf for leaf in leaves]
        return unflatten(structure, leaves)

    def _from_outputs(self, *grads):
        self._output_grads = grads
        if not self._is_followed:  # no gradient will come to an input
            self._run((None,) * self._count)
        return list(grads)

    def _to_inputs(self, *grads):
        given = iter(grads)
        every = tuple(next(given) if i in self._places else None for i in range(self._count))
        every = self._run(every)
        return [every[place] for place in self._places]

    def _run(self, grads):
        for hook in list(self._hooks.values()):
            changed = hook(self._module, grads, self._output_grads)
            if changed is not None:
                grads = changed if isinstance(changed, tuple) else (changed,)
        if len(grads) != self._count:
            raise ValueError(
                "register_backward_hook: there must be one gradient for each input, got "
                f"{len(grads)} for {self._count}"
            )
        return grads


def _detached(tensors):
    return [tensor.detach() for tensor in tensors]
