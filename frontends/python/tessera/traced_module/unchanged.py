"""Calls of a module that leave it as it was."""

from ..random import RNG, default_rng
from ..tensor import Tensor


class Unchanged:
    """A context that sets back what a call changes of a module and of the random numbers."""

    def __init__(self, module):
        self.has_effects = True
        modules = list(module.modules())
        self._modules = [(each, dict(vars(each))) for each in modules]
        self._tensors = [(each, each.detach()) for each in module.tensors()]
        self._containers = [(f"{type(each).__name__}.{name}", kept, type(kept)(kept))
                            for each in modules for name, value in vars(each).items()
                            for kept in _containers_in(value)]  # fmt: skip
        values = [value for each in modules for value in vars(each).values()]
        self._rngs = [
            default_rng,
            *(value for value in values if isinstance(value, RNG)),
        ]
        self._states = [rng.state_dict() for rng in self._rngs]

    def __enter__(self):
        return self

    def changed_containers(self):
        """Names of attributes whose containers have other items by now, besides tensors."""
        return [name for name, kept, before in self._containers if not _holds_same(kept, before)]

    def __exit__(self, *exc):
        for module, attributes in self._modules:
            vars(module).clear()
            vars(module).update(attributes)
        for _, kept, before in self._containers:
            if not _holds_same(kept, before, Tensor):
                kept.clear()
                kept.extend(before) if isinstance(kept, list) else kept.update(before)
        if not self.has_effects:
            return
        for tensor, value in self._tensors:
            tensor._reset(value)
        for rng, state in zip(self._rngs, self._states, strict=True):
            rng.load_state_dict(state)


def _containers_in(value):
    """The lists and dicts, through lists, tuples and dicts, whose items may be put back."""
    if type(value) in (list, dict):
        yield value
    if type(value) in (list, tuple, dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _containers_in(item)


def _holds_same(kept, before, *compared):
    """Whether both hold the same objects; tensors may be others unless they are `compared`."""
    if len(kept) != len(before) or (isinstance(kept, dict) and kept.keys() != before.keys()):
        return False
    pairs = (
        [(kept[key], before[key]) for key in kept]
        if isinstance(kept, dict)
        else zip(kept, before, strict=True)
    )
    return all(a is b or (not compared and isinstance(b, Tensor)) for a, b in pairs)
