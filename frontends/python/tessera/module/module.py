"""Module: a function with parameters, buffers and children."""

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np

from .. import _core, effects
from ..tensor import Parameter, Tensor


class HookHandler:
    """What registering a hook returns; `remove` takes the hook away."""

    def __init__(self, hooks, hook):
        self._hooks, self._key = hooks, object()
        hooks[self._key] = hook

    def remove(self):
        """Takes the hook away; a second time does nothing."""
        self._hooks.pop(self._key, None)


# Types that most attributes have; their values are no tensors and hold none.
_PLAIN = frozenset((int, float, bool, str, type(None)))
_HOOKS = frozenset(("_forward_pre_hooks", "_forward_hooks"))


def _entries(key, value):
    """(path, value) of the tensors and modules in an attribute, through lists, tuples and dicts."""
    if isinstance(value, (Tensor, Module)):
        yield key, value
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _entries(f"{key}.{number}", item)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _entries(f"{key}.{name}", item)


class Module:
    """Base class of all modules. A subclass makes its parts in `__init__` and gives `forward`.

        class Net(Module):
            def __init__(self):
                super().__init__()
                self.fc = Linear(4, 2)

            def forward(self, x):
                return functional.relu(self.fc(x))

    A Parameter in an attribute, list, tuple or dict is a parameter, another Tensor a buffer, a
    Module a child; names join the way to them with dots: "fc.weight", "layers.0.bias".
    """

    def __init__(self, name=None):
        self.name = name
        self.training = True
        self._scope = name or type(self).__name__
        self._forward_pre_hooks = OrderedDict()
        self._forward_hooks = OrderedDict()

    def forward(self, *inputs, **kwargs):
        """What the module computes."""
        raise NotImplementedError(f"{type(self).__name__}: forward must be given, got none")

    def __call__(self, *inputs, **kwargs):
        recorded = effects.current()
        if recorded is not None:
            recorded.see_module(self)
        _core.push_scope(self._scope)
        try:
            if self._forward_pre_hooks or self._forward_hooks:
                return self._call_with_hooks(inputs, kwargs)
            return self.forward(*inputs, **kwargs)
        finally:
            _core.pop_scope()

    def _call_with_hooks(self, inputs, kwargs):
        for hook in list(self._forward_pre_hooks.values()):
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = self.forward(*inputs, **kwargs)
        for hook in list(self._forward_hooks.values()):
            changed = hook(self, inputs, outputs)
            outputs = outputs if changed is None else changed
        return outputs

    def _has_unnamed(self):
        """Whether a tensor of its own has no name."""
        return any(isinstance(item, Tensor) and not item.name for _, item in self._members())

    def _name_tensors(self, seen):
        """Gives tensors here and below their paths where they have no name; modules below join
        `seen`.
        """
        for name, item in self._walk("", True, {id(self)}):
            if isinstance(item, Module):
                seen.add(id(item))
            elif not item.name:
                item.name = name

    def register_forward_pre_hook(self, hook):
        """`hook(module, inputs)` runs before forward and may return other inputs."""
        return HookHandler(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook):
        """`hook(module, inputs, outputs)` runs after forward and may return other outputs."""
        return HookHandler(self._forward_hooks, hook)

    def __setattr__(self, key, value):
        object.__setattr__(self, key, value)
        if isinstance(value, (Module, list, tuple, Mapping)):
            for path, item in _entries(key, value):
                if isinstance(item, Module) and item.name is None:
                    object.__setattr__(item, "_scope", path)

    # Each walk visits every object once.

    def _members(self):
        for key, value in vars(self).items():
            if type(value) not in _PLAIN and key not in _HOOKS:
                yield from _entries(key, value)

    def _walk(self, prefix, recursive, seen):
        """(name, object) of tensors and children here and, where recursive, of all below."""
        for key, value in self._members():
            if id(value) in seen:
                continue
            seen.add(id(value))
            name = f"{prefix}{key}"
            yield name, value
            if recursive and isinstance(value, Module):
                yield from value._walk(name + ".", True, seen)

    def _named(self, kind, prefix, recursive):
        start = f"{prefix}." if prefix else ""
        for name, value in self._walk(start, recursive, {id(self)}):
            if kind(value):
                yield name, value

    def named_parameters(self, prefix=None, recursive=True):
        """(name, parameter) of all parameters."""
        return self._named(lambda v: isinstance(v, Parameter), prefix, recursive)

    def named_buffers(self, prefix=None, recursive=True):
        """(name, buffer) of all tensors that are not parameters."""
        return self._named(_is_buffer, prefix, recursive)

    def named_tensors(self, prefix=None, recursive=True):
        """(name, tensor) of all parameters and buffers."""
        return self._named(lambda v: isinstance(v, Tensor), prefix, recursive)

    def named_children(self):
        """(name, module) of the modules one level below."""
        return self._named(lambda v: isinstance(v, Module), None, False)

    def named_modules(self, prefix=None):
        """(name, module) of this module, named `prefix` or "", and all below."""
        yield prefix or "", self
        yield from self._named(lambda v: isinstance(v, Module), prefix, True)

    def parameters(self, recursive=True):
        """All parameters."""
        return (value for _, value in self.named_parameters(recursive=recursive))

    def buffers(self, recursive=True):
        """All tensors that are not parameters."""
        return (value for _, value in self.named_buffers(recursive=recursive))

    def tensors(self, recursive=True):
        """All parameters and buffers."""
        return (value for _, value in self.named_tensors(recursive=recursive))

    def children(self):
        """The modules one level below."""
        return (value for _, value in self.named_children())

    def modules(self):
        """This module and all below."""
        return (value for _, value in self.named_modules())

    # Changes.

    def apply(self, fn):
        """Calls `fn` with every module, this one last."""
        for module in reversed(list(self.modules())):
            fn(module)

    def zero_grad(self):
        """Sets the gradients of all parameters to zero."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                _core.note_grad(parameter)
                parameter.grad.reset_zero()

    def train(self, mode=True):
        """Sets training mode here and below; returns the module."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        """Sets inference mode here and below; returns the module."""
        return self.train(False)

    def replace_param(self, params, start_pos=0):
        """Puts the values `params` into the parameters from number `start_pos` on; returns the
        next.
        """
        own = list(self.parameters())[start_pos : start_pos + len(params)]
        for parameter, value in zip(own, params, strict=True):
            parameter._reset(value)
        return start_pos + len(params)

    # State.

    def state_dict(self, prefix="", keep_var=False):
        """Names to values: read-only NumPy arrays, or the tensors themselves with `keep_var`."""
        named = self.named_tensors(prefix=prefix or None)
        return OrderedDict((k, t if keep_var else _read_only(t.numpy())) for k, t in named)

    def load_state_dict(self, state_dict, strict=True):
        """Takes over values: from a dict by name, or from a function of (name, tensor).

        The function returns an array, or None to leave the tensor as it is. With `strict` a dict
        has exactly this module's names; without, others are left out and those missing are
        returned.
        """
        own = OrderedDict(self.named_tensors())
        if callable(state_dict):
            values = ((name, state_dict(name, tensor)) for name, tensor in own.items())
            found = {name: value for name, value in values if value is not None}
        else:
            found = {name: value for name, value in state_dict.items() if name in own}
        missing = [name for name in own if name not in found]
        if strict and not callable(state_dict):
            _check_names(self, missing, [name for name in state_dict if name not in own])
        _check_shapes(self, own, found)
        for name, value in found.items():
            own[name]._reset(Tensor(np.asarray(value), dtype=own[name].dtype))
        return missing

    def __repr__(self):
        extra = self._module_info_string()
        lines = [f"({name}): {child!r}" for name, child in self.named_children()]
        if not lines:
            return f"{type(self).__name__}({extra})"
        body = "".join(f"\n  {line}" for line in "\n".join(lines).split("\n"))
        return f"{type(self).__name__}({extra}{body}\n)"

    def _repr_html_(self):
        from ..utils.html import of_module

        return of_module(self)

    def _module_info_string(self):
        """What repr shows between the parentheses."""
        return ""


def _is_buffer(value):
    return isinstance(value, Tensor) and not isinstance(value, Parameter)


def _read_only(array):
    array = array.view()
    array.flags.writeable = False
    return array


def _check_names(module, missing, unexpected):
    if missing or unexpected:
        raise KeyError(
            f"load_state_dict: names must be those of {type(module).__name__}, "
            f"got missing {missing} and unexpected {unexpected}"
        )


def _check_shapes(module, own, found):
    wrong = [
        f"{name} {tuple(np.shape(value))} for {tuple(own[name].shape)}"
        for name, value in found.items()
        if tuple(np.shape(value)) != tuple(own[name].shape)
    ]
    if wrong:
        raise ValueError(
            f"load_state_dict: shapes must be those of {type(module).__name__}, got "
            + ", ".join(wrong)
        )
