"""JAX's adapter: functions and their gradients, compiled as a whole."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from . import jax_networks
from .adapter import Adapter
from .network import integer_layer


def cross_entropy(logits, labels):
    """The mean over a batch."""
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
    return -jnp.mean(chosen)


def square(output, target):
    """The mean over all elements."""
    return jnp.mean((output - target) ** 2)


def _sgd(state, weights, gradients):
    """Momentum 0.9."""
    state = {name: 0.9 * state[name] + gradients[name] for name in weights}
    return state, {name: weights[name] - 0.01 * state[name] for name in weights}


def _adam(state, weights, gradients):
    """The usual numbers."""
    count = state["count"] + 1
    first = {n: 0.9 * state["first"][n] + 0.1 * gradients[n] for n in weights}
    second = {n: 0.999 * state["second"][n] + 0.001 * gradients[n] ** 2 for n in weights}
    scale, root = 1e-3 / (1 - 0.9**count), jnp.sqrt(1 - 0.999**count)
    moved = {
        n: weights[n] - scale * first[n] / (jnp.sqrt(second[n]) / root + 1e-8) for n in weights
    }
    return {"count": count, "first": first, "second": second}, moved


def _zeros(weights):
    return {name: jnp.zeros_like(each) for name, each in weights.items()}


LOSSES = {"cross_entropy": cross_entropy, "square": square}
UPDATES = {"sgd": _sgd, "adam": _adam}


def _put(network, inputs):
    """Inputs on the device; images have their channels last, which is faster here."""
    dtype = jnp.dtype(network.dtype)
    turned = [np.moveaxis(each, 1, -1) if each.ndim == 4 else each for each in inputs]
    return [jnp.asarray(each, dtype if each.dtype.kind == "f" else each.dtype) for each in turned]


class Jax(Adapter):
    """Functions of weights by name."""

    def version(self):
        """See the base."""
        return jax.__version__

    def inference(self, network, inputs):
        """See the base."""
        arrays = _put(network, inputs)
        function, weights = jax_networks.build(network, arrays, is_training=False)
        compiled = jax.jit(lambda weights, *inputs: function(weights, *inputs)[0])
        return lambda: jax.block_until_ready(compiled(weights, *arrays))

    def training_step(self, network, inputs):
        """See the base. Weights and the optimizer's state are updated in place."""
        *arrays, target = _put(network, inputs)
        function, weights = jax_networks.build(network, arrays, is_training=True)
        loss, update = LOSSES[network.loss], UPDATES[network.optimizer]
        trained = {n: each for n, each in weights.items() if "running" not in n}
        zeros = _zeros(trained)
        slots = {"count": jnp.zeros(()), "first": zeros, "second": _zeros(trained)}
        state = slots if network.optimizer == "adam" else zeros

        def value_of(trained, statistics):
            output, statistics = function({**trained, **statistics}, *arrays)
            return loss(output, target), statistics

        @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
        def whole(trained, statistics, state):
            gradient = jax.value_and_grad(value_of, has_aux=True)
            (value, statistics), gradients = gradient(trained, statistics)
            state, trained = update(state, trained, gradients)
            return value, trained, statistics, state

        kept = [trained, {n: each for n, each in weights.items() if "running" in n}, state]

        def step():
            value, *kept[:] = whole(*kept)
            jax.block_until_ready(kept)
            return value

        return step

    def integers(self, network, inputs):
        """See the base: a linear layer. XLA has no other layers of integers."""
        if network.kind != "linear":
            return None
        (x,) = _put(network, inputs)
        numbers, scale, bias, step = integer_layer(inputs[0])

        @jax.jit
        def compiled(x):
            rounded = jnp.clip(jnp.round(x / step), -128, 127).astype(jnp.int8)
            return jnp.matmul(rounded, numbers, preferred_element_type=jnp.int32) * scale + bias

        return lambda: jax.block_until_ready(compiled(x))

    def arrays(self, result):
        """See the base."""
        results = result if isinstance(result, (tuple, list)) else [result]
        arrays = [np.asarray(each, np.float32) for each in results]
        return [np.moveaxis(each, -1, 1) if each.ndim == 4 else each for each in arrays]
