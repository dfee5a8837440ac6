"""Holders of the memory of this process, in words, for an error about memory."""

import gc

from . import _core

_TRIES = (
    "try a smaller batch, tessera.dtr.enable(), which computes tensors again instead of keeping "
    "them, or autodiff.checkpoint around a part of the model"
)


def _mib(count):
    return f"{count / (1 << 20):.1f} MiB"


def optimizer_state():
    """The tensors that optimizers keep: of their parameters, and learning rates."""
    from .optimizer.optimizer import Optimizer

    made = [vars(each) for each in [*Optimizer.instances] if "_state" in vars(each)]
    states = [each for kept in made for names in kept["_state"].values() for each in names.values()]
    rates = [group.rate for kept in made for group in kept["param_groups"]]
    return [each for each in states + rates if isinstance(each, _core.Tensor)]


def _kinds():
    """Tensors by what they are for: each storage counts where it comes first."""
    from .tensor import Parameter

    parameters = [each for each in gc.get_objects() if isinstance(each, Parameter)]
    gradients = [each.grad for each in parameters if each.grad is not None]
    return {"parameters": parameters, "gradients": gradients, "optimizer state": optimizer_state()}


def held():
    """Lines for the end of a message: bytes by kind on each device in use, and what to try."""
    kinds, lines = _kinds(), []
    for device in _core.devices_in_use():
        stats = _core.memory_stats(device)
        sizes = _core.held_bytes(device, list(kinds.values()))
        rest = max(stats["in_use"] - sum(sizes), 0)
        parts = [f"{name} {_mib(size)}" for name, size in zip(kinds, sizes, strict=True)]
        parts += [f"activations and other values {_mib(rest)}",
                  f"free blocks {_mib(stats['cached'])}"]  # fmt: skip
        lines.append(f"held on {device}: " + ", ".join(parts))
    return "\n" + "\n".join([*lines, _TRIES])
