"""Module: a function with parameters, buffers and children."""

import reprlib
from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType

from .. import _core, effects
from .._hooks import HookHandler, forward_between
from ..autodiff.frozen import set_frozen
from ..tensor import Parameter, Tensor
from . import state
from ._help import Signature
from .entries import by_name, entries
from .moves import Moves

# Types that most attributes have; their values are no tensors and hold none.
_PLAIN = frozenset((int, float, bool, str, type(None)))
_HOOKS = frozenset(("_forward_pre_hooks", "_forward_hooks", "_backward_hooks"))


class Module(Moves):
    """Base class of all modules. A subclass makes its parts in `__init__` and gives `forward`.

        class Net(Module):
            def __init__(self):
                super().__init__()
                self.fc = Linear(4, 2)

            def forward(self, x):
                return functional.relu(self.fc(x))

    A Parameter in an attribute, list, tuple or dict is a parameter, another Tensor a buffer, a
    Module a child; names join the way to them with dots: "fc.weight", "layers.0.bias". Walks visit
    attributes in the order of their names ("10" before "2"), repr in that of their definition.

    Raises:
        NotImplementedError: a class must have a forward to be called
        TypeError: name must be a string
        ValueError: name must not be empty
        AttributeError: super().__init__() must run before modules are assigned
    """

    # Whether state_dict gives its tensors one axis, and any shape of as many elements is loaded.
    _has_flat_state = False
    quantize_disabled = False
    _backward_hooks = MappingProxyType({})  # a module that has some has a dict of its own

    __signature__ = Signature()

    def __init__(self, name=None):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"{type(self).__name__}: name must be a string, got {name!r}")
        if name is not None and not name.strip():
            raise ValueError(f"{type(self).__name__}: name must not be empty, got {name!r}")
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
            if self._forward_pre_hooks or self._forward_hooks or self._backward_hooks:
                return self._call_with_hooks(inputs, kwargs)
            return self.forward(*inputs, **kwargs)
        finally:
            _core.pop_scope()

    def _call_with_hooks(self, inputs, kwargs):
        for hook in list(self._forward_pre_hooks.values()):
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = forward_between(self, self._backward_hooks, inputs, kwargs)
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
        for name, item, _ in self._walk("", True, {id(self)}):
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

    def register_backward_hook(self, hook):
        """`hook(module, input_grads, output_grads)` runs in the backward of each call, when the
        gradients of its inputs are there; it may return others for the inputs.

        Both are tuples: one for each positional input, and for each tensor of the outputs, None
        where no gradient arrives. Without a gradient for any input it runs when those of the
        outputs are there.

        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> from tessera.autodiff import grad
        >>> relu = M.ReLU()
        >>> handler = relu.register_backward_hook(lambda module, inputs, outputs: inputs[0] * 3)
        >>> grad(lambda x: relu(x).sum())(F.ones(2)).tolist()
        [3.0, 3.0]
        """
        if "_backward_hooks" not in vars(self):
            self._backward_hooks = OrderedDict()
        return HookHandler(self._backward_hooks, hook)

    def __setattr__(self, key, value):
        if isinstance(value, (Module, list, tuple, Mapping)):
            for path, item in entries((Tensor, Module), key, value):
                if isinstance(item, Module):
                    self._adopt(path, item)
        elif key == "name" and isinstance(value, str) and value.strip():
            object.__setattr__(self, "_scope", value)
        object.__setattr__(self, key, value)

    def _adopt(self, path, child):
        if "_forward_hooks" not in vars(self):
            raise AttributeError(
                f"{type(self).__name__}: super().__init__() must run before modules are assigned, "
                f"got {path} before it"
            )
        if child.name is None:
            object.__setattr__(child, "_scope", path)

    # Each walk visits every object once.

    def _members(self, order=by_name):
        for key in order(vars(self)):
            value = vars(self)[key]
            if type(value) not in _PLAIN and key not in _HOOKS:
                yield from entries((Tensor, Module), key, value, order)

    def _walk(self, prefix, recursive, seen):
        """(name, object, owner) of tensors and children here and, where recursive, of all below."""
        for key, value in self._members():
            if id(value) in seen:
                continue
            seen.add(id(value))
            name = f"{prefix}{key}"
            yield name, value, self
            if recursive and isinstance(value, Module):
                yield from value._walk(name + ".", True, seen)

    def _named(self, kind, prefix, recursive, with_parent):
        start = f"{prefix}." if prefix else ""
        for row in self._walk(start, recursive, {id(self)}):
            if kind(row[1]):
                yield row if with_parent else row[:2]

    def named_parameters(self, prefix=None, recursive=True, with_parent=False):
        """(name, parameter) of all parameters; `with_parent` adds the module that holds each."""
        return self._named(_is_parameter, prefix, recursive, with_parent)

    def named_buffers(self, prefix=None, recursive=True, with_parent=False):
        """(name, buffer) of all tensors that are not parameters; see named_parameters."""
        return self._named(_is_buffer, prefix, recursive, with_parent)

    def named_tensors(self, prefix=None, recursive=True, with_parent=False):
        """(name, tensor) of all parameters and buffers; see named_parameters."""
        return self._named(_is_tensor, prefix, recursive, with_parent)

    def named_children(self, with_parent=False):
        """(name, module) of the modules one level below; `with_parent` adds this one."""
        return self._named(_is_module, None, False, with_parent)

    def named_modules(self, prefix=None, with_parent=False):
        """(name, module) of this module, named `prefix` or "", and all below; `with_parent` adds
        the module that holds each, None for this one.

        >>> import tessera.module as M
        >>> net = M.Sequential(M.Linear(4, 2), M.ReLU())
        >>> [(name, parent is net) for name, _, parent in net.named_modules(with_parent=True)]
        [('', False), ('0', True), ('1', True)]
        """
        yield (prefix or "", self, None)[: 3 if with_parent else 2]
        yield from self._named(_is_module, prefix, True, with_parent)

    def parameters(self, recursive=True, with_parent=False):
        """All parameters; `with_parent` gives (parameter, module that holds it)."""
        return _unnamed(self.named_parameters(None, recursive, with_parent))

    def buffers(self, recursive=True, with_parent=False):
        """All tensors that are not parameters; see parameters."""
        return _unnamed(self.named_buffers(None, recursive, with_parent))

    def tensors(self, recursive=True, with_parent=False):
        """All parameters and buffers; see parameters."""
        return _unnamed(self.named_tensors(None, recursive, with_parent))

    def children(self, with_parent=False):
        """The modules one level below; `with_parent` gives (module, this one)."""
        return _unnamed(self.named_children(with_parent))

    def modules(self, with_parent=False):
        """This module and all below; `with_parent` gives (module, module that holds it or None)."""
        return _unnamed(self.named_modules(None, with_parent))

    # Changes.

    def apply(self, fn):
        """Calls `fn` with every module, this one first."""
        for module in list(self.modules()):
            fn(module)

    def zero_grad(self):
        """Sets the gradients of all parameters to zero."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                _core.note_grad(parameter)
                parameter.grad.reset_zero()

    def train(self, mode=True, recursive=True):
        """Sets training mode here and, where `recursive`, below, by the `train` of each module;
        returns the module.

        >>> import tessera.module as M
        >>> net = M.Sequential(M.Dropout(0.5)).train(False, recursive=False)
        >>> net.training, net[0].training
        (False, True)
        """
        self.training = mode
        if recursive:
            for module in list(self.modules())[1:]:
                module.train(mode, recursive=False)
        return self

    def eval(self):
        """Sets inference mode here and below; returns the module."""
        return self.train(False)

    def freeze(self, frozen=True):
        """Leaves the parameters here and below as they are: they lose their gradient and get none,
        and optimizers pass them by. Returns the module. Running statistics still move in training.
        Copies, pickles and files of the module (`tessera.save`) are frozen, too; a state is not.
        """
        set_frozen(self.parameters(), frozen)
        return self

    def unfreeze(self):
        """Ends what `freeze` began, here and below; returns the module."""
        return self.freeze(False)

    def disable_quantize(self, value=True):
        """Leaves this module and those below out of quantization, or with False in; returns the
        module. Sets their attribute `quantize_disabled`.

        >>> import tessera.module as M
        >>> M.Sequential(M.Linear(2, 2)).disable_quantize()[0].quantize_disabled
        True
        """
        for module in list(self.modules()):
            module.quantize_disabled = value
        return self

    def replace_param(self, params, start_pos=0):
        """Puts the values `params` into the parameters from number `start_pos` on; returns the
        next.
        """
        own = list(self.parameters())[start_pos : start_pos + len(params)]
        for parameter, value in zip(own, params, strict=True):
            parameter._reset(value)
        return start_pos + len(params)

    # State.

    def _every(self, prefix="", above=frozenset()):
        """(name, object, owner) of tensors and modules here and below, under each of their names.

        Not of a module within itself.
        """
        above = above | {id(self)}
        for key, value in self._members():
            if id(value) not in above:
                yield prefix + key, value, self
                if isinstance(value, Module):
                    yield from value._every(f"{prefix}{key}.", above)

    def _convert_state(self, values, prefix):
        """Gives entries of the dict `values` that another version wrote their names of today."""

    def state_dict(self, prefix="", keep_var=False):
        """Names to values: read-only NumPy arrays, or the tensors themselves with `keep_var`.

        A shared tensor stands under each of its names. Arrays of normalisation layers have one
        axis.
        """
        named = self._every(f"{prefix}." if prefix else "")
        tensors = (row for row in named if _is_tensor(row[1]))
        return OrderedDict((k, t if keep_var else state.array_of(t, m)) for k, t, m in tensors)

    def load_state_dict(self, state_dict, strict=True):
        """Takes over values: from a dict by name, or from a function of (name, tensor); returns the
        names of tensors that keep theirs.

        A value is an array or a tensor of the tensor's shape (for normalisation layers of as many
        elements), or None to leave the tensor as it is. A shared tensor needs one of its names.
        With `strict` no tensor may be left, and a dict must have no other names. Nothing changes
        when it raises.

        Raises:
            KeyError: with strict, names must be those of the module, and no value None
            ValueError: shapes must fit
            TypeError: state_dict must be a dict or a function

        >>> import tessera.module as M
        >>> M.Linear(2, 1).load_state_dict({"bias": [5.0], "weight": None}, strict=False)
        ['weight']
        """
        return state.load(self, state_dict, strict)

    def summary(self, *inputs, **kwargs):
        """A table of the modules: parameters, their bytes and, for a call with these arguments,
        shapes and bytes of results.

        Arguments are tensors or jit.Spec(shape, dtype); nothing is computed. Gives a
        module.summary.Summary.

        >>> import tessera.module as M
        >>> from tessera.jit import Spec
        >>> print(M.Sequential(M.Linear(4, 2), M.ReLU()).summary(Spec((3, 4))))
        name   module      parameters  bytes  result  bytes
               Sequential           0      0  (3, 2)     24
        0      Linear              10     40  (3, 2)     24
        1      ReLU                 0      0  (3, 2)     24
        total                      10     40
        """
        from .summary import summarize  # 2 % of what import takes, which few need

        return summarize(self, inputs, kwargs)

    @reprlib.recursive_repr()
    def __repr__(self):
        extra = self._module_info_string()
        children = ((k, v) for k, v in self._members(order=list) if _is_module(v))
        lines = [f"({name}): {child!r}" for name, child in children]
        if not lines:
            return f"{type(self).__name__}({extra})"
        body = "".join(f"\n  {line}" for line in "\n".join(lines).split("\n"))
        return f"{type(self).__name__}({extra}{body}\n)"

    def _repr_html_(self):
        from ..utils.html import of_module  # for notebooks only

        return of_module(self)

    def _module_info_string(self):
        """What repr shows between the parentheses."""
        return ""


def _is_tensor(value):
    return isinstance(value, Tensor)


def _is_parameter(value):
    return isinstance(value, Parameter)


def _is_buffer(value):
    return isinstance(value, Tensor) and not isinstance(value, Parameter)


def _is_module(value):
    return isinstance(value, Module)


def _unnamed(rows):
    return (row[1] if len(row) == 2 else row[1:] for row in rows)
