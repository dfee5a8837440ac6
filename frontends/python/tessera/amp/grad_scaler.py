"""GradScaler: losses multiplied so that their gradients fit into narrow floats."""

from .. import _caller, _core
from .._core import ops
from ..autodiff import dropped
from ..autodiff.grad_manager import as_list
from ..functional.control import cond
from ..tensor import Tensor

_LEAST, _LIMIT = 2.0**-126, 2.0**126  # normal numbers of float32, and so are their reciprocals


def _state(value, dtype):
    return Tensor(value, dtype=dtype)


def _checked(what, value):
    if not _LEAST <= value < _LIMIT:
        raise ValueError(
            f"GradScaler: {what} must be positive, and it and its reciprocal normal numbers of "
            f"float32, got {value}"
        )
    return float(value)


class GradScaler:
    """Multiplies the gradient of a loss by a factor that it adapts, and divides the results by it.

        scaler = GradScaler()
        with gm, autocast():
            loss = loss_function(model(x), y)
            scaler.backward(gm, loss)
        optimizer.step().clear_grad()

    Gradients that are not all finite are dropped, so that the optimizer changes nothing, and the
    factor becomes smaller; after `growth_interval` updates without it becomes larger (P.
    Micikevicius et al.: Mixed Precision Training, ICLR 2018). In a traced function nothing can
    depend on values in Python: there such gradients are zero, and `scaler.step(optimizer)` is what
    leaves the optimizer's state alone too.

    Args:
        init_scale: the factor to begin with
        growth_factor: what it is multiplied by as it becomes larger; 0: it stays as it is
        backoff_factor: what it is multiplied by where gradients are not finite
        growth_interval: updates in a row before it becomes larger; 0: gradients are not looked at,
            and it stays as it is
        min_scale: the factor does not become smaller by itself than this
        max_scale: the factor does not become larger by itself than this

    Raises:
        ValueError: init_scale must be a positive float32, factors and growth_interval at least 0,
            min_scale and max_scale positive and in this order
    """

    def __init__(self, init_scale=2.0**4, growth_factor=2.0, backoff_factor=0.5,
                 growth_interval=2000, min_scale=2.0**-14, max_scale=2.0**32):  # fmt: skip
        self.growth_factor, self.backoff_factor = float(growth_factor), float(backoff_factor)
        self.growth_interval = growth_interval
        for name in ("growth_factor", "backoff_factor", "growth_interval"):
            if not getattr(self, name) >= 0:
                value = getattr(self, name)
                raise ValueError(f"GradScaler: {name} must be at least 0, got {value}")
        if not 0 < min_scale <= max_scale < _LIMIT:
            raise ValueError(
                "GradScaler: min_scale must be positive and at most max_scale, "
                f"got {min_scale} and {max_scale}"
            )
        self.min_scale, self.max_scale = float(min_scale), float(max_scale)
        self._scale = _state(_checked("init_scale", init_scale), "float32")
        self._growth_tracker = _state(0, "int32")
        self._found_non_finite = _state(False, "bool")
        self._skips = _state(False, "bool")  # what the last unscale found

    @property
    def scale_factor(self):
        """The factor now, as a number."""
        return self._scale.item()

    @scale_factor.setter
    def scale_factor(self, value):
        """Sets it. ValueError: it must be a positive float32."""
        self._scale._reset(_state(_checked("scale_factor", value), "float32"))

    def backward(self, gm, y=None, dy=None, *, unscale_grad=True, update_scale="if_unscale_grad"):
        """`gm.backward(y, dy)` with dy (ones where there is none) multiplied by the factor.

        Args:
            gm: a GradManager that records
            y, dy: as for its backward: a tensor or several
            unscale_grad: whether `unscale` follows for the tensors attached; False where gradients
                of several batches are added up first
            update_scale: whether `update` follows that
        """
        ys, dys = as_list(y), None if dy is None else as_list(dy)
        factors = [ops.broadcast_to(self._scale.astype(each.dtype), each.shape) for each in ys]
        if dys is not None:
            factors = [given * factor for given, factor in zip(dys, factors, strict=True)]
        gm.backward(ys, factors)
        if unscale_grad:
            self.unscale(gm.attached_tensors())
            if update_scale:
                self.update()

    def unscale(self, grad_tensors):
        """Divides the gradients of these tensors by the factor, or drops them, and warns where no
        tensor has one; returns self.
        """
        given = [each for each in grad_tensors if each is not None]
        tensors = [each for each in given if each.grad is not None]
        if given and not tensors:
            _caller.warn_once(
                "GradScaler.unscale: a tensor must have a gradient, got none of them: nothing "
                "changes"
            )
        self._look_at([each.grad for each in tensors])
        drops = not _core.is_recording() and self._skips.item()
        inverse = 1.0 / self._scale
        for tensor in tensors:
            _core.note_grad(tensor)
            if drops:
                dropped.note(tensor)
            else:
                tensor.grad = self._unscaled(tensor.grad, inverse)
        return self

    def _look_at(self, grads):
        found = self._found_non_finite
        for grad in grads if self.growth_interval else ():
            flaws = ops.sum(ops.logical_not(ops.isfinite(grad)))
            found = ops.logical_or(found, flaws > 0)
        self._found_non_finite._reset(found)
        self._skips._reset(found)

    def _unscaled(self, grad, inverse):
        grad = (grad * inverse).astype(grad.dtype)
        if not _core.is_recording():
            return grad
        return ops.where(self._skips, ops.zeros_like(grad), grad)

    def step(self, optimizer):
        """`optimizer.step()`, unless the gradients were not finite; returns the optimizer."""
        if _core.is_recording():
            cond(self._skips, lambda: (), lambda: (optimizer.step(), ())[1])
        elif not self._skips.item():
            optimizer.step()
        return optimizer

    def update(self, new_scale=None):
        """Adapts the factor to the gradients that `unscale` saw since the last update; or sets it.

        With `growth_interval` 0 it does nothing.
        """
        if not self.growth_interval:
            return
        found = self._found_non_finite
        if new_scale is not None:
            self.scale_factor = new_scale
        elif self.growth_factor:
            count = ops.where(found, 0, self._growth_tracker + 1)
            grows = count >= self.growth_interval
            grown = ops.where(grows, self._scale * self.growth_factor, self._scale)
            self._set_within(ops.where(found, self._scale * self.backoff_factor, grown))
            self._growth_tracker._reset(ops.where(grows, 0, count))
        self._found_non_finite._reset(_state(False, "bool"))

    def _set_within(self, scale):
        """Sets the factor within the bounds; one that was given beyond them stays where it is."""
        low = ops.minimum(self._scale, self.min_scale)
        high = ops.maximum(self._scale, self.max_scale)
        self._scale._reset(ops.minimum(ops.maximum(scale, low), high))

    def state_dict(self):
        """The factor and all that decides how it goes on, as numbers under MegEngine's names."""
        return {
            "scale_factor": self.scale_factor,
            "growth_factor": self.growth_factor,
            "backoff_factor": self.backoff_factor,
            "growth_interval": self.growth_interval,
            "_growth_tracker": self._growth_tracker.item(),
        }

    def load_state_dict(self, state):
        """Goes on where `state_dict` was taken. KeyError: a value must be there."""
        self.scale_factor = state["scale_factor"]
        self.growth_factor = state["growth_factor"]
        self.backoff_factor = state["backoff_factor"]
        self.growth_interval = state["growth_interval"]
        self._growth_tracker._reset(_state(state["_growth_tracker"], "int32"))
