"""Optimizer: parameters in groups, their state, and the step."""

import weakref
from abc import ABC, abstractmethod
from collections import UserDict
from collections.abc import Mapping

import numpy as np

from .. import _caller, _core
from ..autodiff import dropped, frozen
from ..autodiff.modes import no_grad
from ..functional.creation import zeros_like
from ..tensor import Parameter, Tensor
from .checks import check_settings, check_state


class _Required:
    def __repr__(self):
        return "required"


required = _Required()


class ParamGroup(UserDict):
    """Parameters and settings. The learning rate is also a tensor, which traced steps read."""

    def __init__(self, settings):
        device = settings["params"][0].device if settings["params"] else None
        self.rate = Tensor(np.zeros((), dtype=np.float32), device=device)
        self.program = None  # of the update, where the optimizer makes one
        self._before, self._alike = None, 0
        super().__init__(settings)

    def __setitem__(self, key, value):
        if key == "lr":
            value = value.item() if isinstance(value, Tensor) else float(value)
            self.rate._reset(Tensor(np.asarray(value, dtype=np.float32)))
        self.data[key] = value

    def calls_alike(self, others):
        """For how many calls settings besides the learning rate, and `others`, have been equal."""
        settings = {key: self.data[key] for key in self.data if key not in ("lr", "params")}
        before, self._before = self._before, (settings, others)
        self._alike = self._alike + 1 if before == self._before else 1
        return self._alike


class Optimizer(ABC):
    """Base class. `params` are parameters, or dicts `{"params": ..., "lr": ...}` with settings of
    their own.

    A subclass gives `_create_state(group)` and `_updates(group)`, and in `limits` what its settings
    must be below: all are numbers from 0 on, None is no limit, a tuple stands for several numbers.

    Raises:
        ValueError: there must be parameters, each given once; settings must be finite and within
            their limits
        TypeError: params must be Parameter, settings must be numbers
    """

    limits = {}
    unused_names = ()  # of MegEngine's state: nothing is computed with them
    instances = weakref.WeakSet()  # all of the process, for accounts of memory

    def __init__(self, params, defaults):
        self._defaults = defaults
        self.param_groups = []
        self._state = {}  # id of a parameter -> {name: tensor}
        params = [params] if isinstance(params, (Parameter, Mapping)) else list(params)
        if not params:
            raise ValueError(f"{type(self).__name__}: params must not be empty, got none")
        groups = params if isinstance(params[0], Mapping) else [{"params": params}]
        for group in groups:
            self.add_param_group(group)
        if not any(group["params"] for group in self.param_groups):
            raise ValueError(f"{type(self).__name__}: params must not be empty, got empty groups")
        Optimizer.instances.add(self)

    def add_param_group(self, param_group):
        """Also optimizes the parameters of the dict `param_group`."""
        name = type(self).__name__
        if not isinstance(param_group, Mapping):
            raise TypeError(f"{name}: a group must be a dict, got {type(param_group).__name__}")
        if "params" not in param_group:
            raise ValueError(f"{name}: a group must have params, got {sorted(param_group)}")
        given = param_group["params"]
        parameters = [given] if isinstance(given, Tensor) else list(given)
        settings = {**self._defaults, **param_group, "params": parameters}
        missing = [key for key, value in settings.items() if value is required]
        if missing:
            raise ValueError(f"{name}: a group must give {missing}, got {sorted(param_group)}")
        check_settings(name, self.limits, settings)
        self._check_parameters(parameters)
        group = ParamGroup(settings)
        self.param_groups.append(group)
        self._create_state(group)

    def _check_parameters(self, parameters):
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for parameter in parameters:
            if not isinstance(parameter, Parameter):
                kind = type(parameter).__name__
                raise TypeError(f"{type(self).__name__}: params must be Parameter, got {kind}")
            if id(parameter) in known:
                raise ValueError(
                    f"{type(self).__name__}: a parameter must be given once, "
                    f"got {parameter.name or tuple(parameter.shape)} twice"
                )
            known.add(id(parameter))

    def _add_state(self, parameter, name, value=None):
        """A tensor of state, by default zeros of the parameter's shape: of half precision in
        float32, where squares of gradients do not vanish.
        """
        if value is None:
            value = zeros_like(parameter.detach())
            value = value.astype("float32") if value.dtype.itemsize == 2 else value
        self._state.setdefault(id(parameter), {})[name] = value

    @abstractmethod
    def _create_state(self, group):
        """Makes the state of the group's parameters: before the first step, so that traces update
        it.
        """

    @abstractmethod
    def _updates(self, group):
        """Updates the group's parameters that have a gradient."""

    def __repr__(self):
        lines = []
        for group in self.param_groups:
            kept = {key: value for key, value in group.data.items() if key != "params"}
            settings = ", ".join(f"{key}={value!r}" for key, value in kept.items())
            lines.append(f"{len(group['params'])} parameters, {settings}")
        if len(lines) == 1:
            return f"{type(self).__name__}({lines[0]})"
        body = "".join(f"\n  group {number}: {line}" for number, line in enumerate(lines))
        return f"{type(self).__name__}({body}\n)"

    def step(self):
        """Updates every parameter that has a gradient and is not frozen, and warns where none has
        one; returns the optimizer.
        """
        frozen.note()
        self._warn_without_gradients()
        with no_grad():
            for group in self.param_groups:
                self._updates(group)
        return self

    def _warn_without_gradients(self):
        """Warns where no parameter has a gradient and GradScaler dropped none."""
        parameters = [p for group in self.param_groups for p in group["params"]]
        was_dropped = [dropped.take(p) for p in parameters]
        if not any(was_dropped) and all(p.grad is None for p in parameters):
            _caller.warn_once(
                f"{type(self).__name__}.step: a parameter must have a gradient, got none of them: "
                "nothing changes"
            )

    def clear_grad(self):
        """Forgets the gradients; returns the optimizer."""
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad = None
        return self

    def zero_grad(self):
        """Sets the gradients to zero; returns the optimizer."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    _core.note_grad(parameter)
                    parameter.grad.reset_zero()
        return self

    def backward(self, loss):
        """Gradients come from elsewhere: always an error.

        Raises:
            NotImplementedError: gradients must come from GradManager
        """
        raise NotImplementedError(
            "backward: gradients must come from autodiff.GradManager, got a call of the optimizer"
        )

    def bcast_param(self):
        """Gives every process the parameters of the first: with one process nothing has to move.

        There is one process today, so that a script written for several runs as it is. Returns the
        optimizer.
        """
        return self

    def state_dict(self, keep_var=False):
        """Settings and state; arrays, or the tensors themselves with `keep_var`."""
        numbers, groups, state = {}, [], {}
        for group in self.param_groups:
            ids = [numbers.setdefault(id(p), len(numbers)) for p in group["params"]]
            groups.append({**group.data, "params": ids})
        for key, number in numbers.items():
            tensors = self._state.get(key, {})
            state[number] = {n: t if keep_var else t.numpy() for n, t in tensors.items()}
        return {"param_groups": groups, "state": state}

    def load_state_dict(self, state):
        """Goes on where `state_dict` was taken, by this or by MegEngine's optimizer of that name.

        Raises:
            ValueError: groups, settings, names and shapes must be this optimizer's; all that is not
                stands in the message, and nothing is loaded then
        """
        name, groups = type(self).__name__, self.param_groups
        check_state(name, groups, self._state_of, state, self.unused_names)
        for group, saved in zip(groups, state["param_groups"], strict=True):
            check_settings(name, self.limits, {**group.data, **saved})
        for group, saved in zip(groups, state["param_groups"], strict=True):
            group.update({key: value for key, value in saved.items() if key != "params"})
            for parameter, number in zip(group["params"], saved["params"], strict=True):
                for name, tensor in self._state_of(parameter).items():
                    value = np.asarray(state["state"][number][name])
                    tensor._reset(Tensor(value, dtype=tensor.dtype))

    def _state_of(self, parameter):
        return self._state.get(id(parameter), {})
