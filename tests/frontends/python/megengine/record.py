"""Writes megengine.pkl: run it with a Python that has MegEngine 1.13 and NumPy 1."""

from pathlib import Path

import megengine as mge
import megengine.module as M  # noqa: N812
import megengine.optimizer as optim
import numpy as np
from cases import AFTER, BEFORE, MODULES, OPTIMIZERS, SHAPES, gradient


def draw(rng, kind, *sizes):
    """An array to call a module with."""
    if kind == "indices":
        return rng.randint(0, sizes[0], sizes[1:]).astype("int32")
    array = rng.normal(size=sizes).astype("float32")
    return np.abs(array) if kind == "positive" else array


def flat(value):
    """The arrays of a nested result, but for None."""
    if isinstance(value, (tuple, list)):
        return [array for each in value for array in flat(each)]
    return [] if value is None else [value.numpy()]


def module_record(rng, text, *inputs):
    """The state of a module with drawn values, as arrays and as tensors, and what it gives."""
    text, training, _ = text.partition(".train")
    net = eval(f"M.{text}", {"M": M})
    net.train(bool(training))
    for name, tensor in [*net.named_parameters(), *net.named_buffers()]:
        values = rng.normal(size=tensor.shape).astype("float32") / 2
        tensor[...] = mge.tensor(np.abs(values) + 0.5 if "var" in name else values)
    state = {name: array.copy() for name, array in net.state_dict().items()}
    tensors = {name: mge.tensor(array) for name, array in list(state.items())[:2]}
    arrays = [draw(rng, *each) for each in inputs]
    outputs = flat(net(*map(mge.tensor, arrays)))
    after = net.state_dict() if training else None
    return {"state": state, "tensors": tensors, "inputs": arrays, "outputs": outputs,
            "after": after}  # fmt: skip


def optimizer_record(rng, text):
    """The state of an optimizer after some steps, and the parameters then and some steps later."""
    params = [mge.Parameter(array) for array in gradient(rng)]
    optimizer = eval(f"optim.{text}", {"optim": optim, "params": params})
    gradients = [gradient(rng) for _ in range(BEFORE + AFTER)]
    record = {"gradients": gradients, "params": []}
    for step, grads in enumerate(gradients):
        for param, grad in zip(params, grads, strict=True):
            param.grad = mge.tensor(grad)
        optimizer.step()
        if step == BEFORE - 1:
            record["state"] = optimizer.state_dict()
        if step >= BEFORE - 1:
            record["params"].append([param.numpy() for param in params])
    assert all(param.shape == shape for param, shape in zip(params, SHAPES, strict=True))
    return record


def main():
    rng = np.random.RandomState(0)
    modules = {name: module_record(rng, *case) for name, case in MODULES.items()}
    optimizers = {name: optimizer_record(rng, text) for name, text in OPTIMIZERS.items()}
    path = Path(__file__).with_name("megengine.pkl")
    mge.save({"version": mge.__version__, "modules": modules, "optimizers": optimizers}, str(path))
    print(path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
