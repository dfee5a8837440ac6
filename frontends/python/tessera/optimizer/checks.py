"""What optimizers ask of their settings and of states that they load."""

import math
import numbers

import numpy as np


def check_range(name, what, value, low, below=None):
    """ValueError unless `value` is finite and low <= value < below; TypeError: it is no number.

    >>> from tessera.optimizer.checks import check_range
    >>> check_range("SGD", "momentum", float("nan"), 0)
    Traceback (most recent call last):
    ValueError: SGD: momentum must be finite and >= 0, got nan
    """
    upper = "" if below is None else f" and < {below}"
    if not isinstance(value, (numbers.Real, np.number)):
        raise TypeError(f"{name}: {what} must be a number >= {low}{upper}, got {value!r}")
    if not math.isfinite(value) or value < low or (below is not None and value >= below):
        finite = "" if math.isfinite(value) else "finite and "
        raise ValueError(f"{name}: {what} must be {finite}>= {low}{upper}, got {value}")


def check_settings(name, limits, settings):
    """Checks the settings that `limits` names: each is at least 0, and below the limit where there
    is one. A tuple of limits stands for as many numbers.

    >>> from tessera.optimizer.checks import check_settings
    >>> check_settings("Adam", {"lr": None, "betas": (1, 1)}, {"lr": 0.1, "betas": (0.9, 1.5)})
    Traceback (most recent call last):
    ValueError: Adam: betas[1] must be >= 0 and < 1, got 1.5
    """
    for key, limit in limits.items():
        value = settings[key]
        if not isinstance(limit, tuple):
            check_range(name, key, value, 0, limit)
            continue
        if not isinstance(value, (tuple, list)) or len(value) != len(limit):
            raise ValueError(f"{name}: {key} must be {len(limit)} numbers, got {value!r}")
        for number, (each, below) in enumerate(zip(value, limit, strict=True)):
            check_range(name, f"{key}[{number}]", each, 0, below)


def check_state(name, groups, own, state, unused=()):
    """ValueError that names all in which `state` is not one of these groups: `own` gives the state
    tensors of a parameter by name. A setting that `state` lacks is no difference, and neither is a
    tensor of one of the names `unused`.
    """
    given = state.get("param_groups", ()) if isinstance(state, dict) else ()
    counts = [len(group["params"]) for group in groups], [len(g.get("params", ())) for g in given]
    if counts[0] != counts[1]:
        raise ValueError(f"{name}: groups must have {counts[0]} parameters, got {counts[1]}")
    found = []
    for number, (group, saved) in enumerate(zip(groups, given, strict=True)):
        unexpected = sorted(set(saved) - set(group) - {"initial_lr"})
        found += [f"group {number} with unexpected {unexpected}"] if unexpected else []
        for place, key in zip(group["params"], saved["params"], strict=True):
            tensors = state.get("state", {}).get(key, {})
            tensors = {each: value for each, value in tensors.items() if each not in unused}
            found += _tensor_differences(f"parameter {key}", own(place), tensors)
    if found:
        raise ValueError(
            f"{name}: state must be that of the same parameters, got {'; '.join(found)}"
        )


def _tensor_differences(where, own, saved):
    missing, unexpected = sorted(set(own) - set(saved)), sorted(set(saved) - set(own))
    found = [f"{where} without {missing}"] if missing else []
    found += [f"{where} with unexpected {unexpected}"] if unexpected else []
    for name in sorted(set(own) & set(saved)):
        shape = tuple(np.shape(saved[name]))
        if shape != tuple(own[name].shape):
            found.append(f"{where} with {name} of shape {shape} for {tuple(own[name].shape)}")
    return found
