"""Holders of the memory of this process, in words, for an error about memory."""

import gc

from . import _core

_TRIES = (
    "try a smaller batch, tessera.dtr.enable(), which computes tensors again instead of keeping "
    "them, or autodiff.checkpoint around a part of the model"
)


def _mib(count):
    return f"{count / (1 << 20):.1f} MiB"


def _kinds():
    """Tensors by what they are for: each storage counts where it comes first."""
    from .optimizer.optimizer import Optimizer
    from .tensor import Parameter

    objects = gc.get_objects()
    parameters = [each for each in objects if isinstance(each, Parameter)]
    optimizers = [each for each in objects if isinstance(each, Optimizer)]
    states = [tensor for each in optimizers for names in each._state.values()
              for tensor in names.values() if isinstance(tensor, _core.Tensor)]  # fmt: skip
    gradients = [each.grad for each in parameters if each.grad is not None]
    return {"parameters": parameters, "gradients": gradients, "optimizer state": states}


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
