"""Parameters whose gradient a GradScaler dropped, which the next step of an optimizer may miss."""


def note(tensor):
    """Drops the gradient of the tensor, and notes that."""
    tensor.grad = None
    tensor._has_dropped_gradient = True


def take(tensor):
    """Whether that was noted since the last call for the tensor."""
    was_dropped = tensor._has_dropped_gradient
    if was_dropped:
        tensor._has_dropped_gradient = False
    return was_dropped
