"""What the examples share: the step of a training, the loop of steps, the file, the command line.

Each example has `batch(seed, count)`, which gives arrays; `loss(model, *batch)`; a
`training_step(model)`; and `INPUTS`, the inputs of its file, which are the first of a batch.
"""

import argparse
from pathlib import Path

import tessera as mge
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager

BATCH = jit.Dim("batch", 1, 64)


def step_of(model, loss, optimizer):
    """A function of a batch: forward, backward, and an update of the model; it gives the loss."""
    parameters = [each for group in optimizer.param_groups for each in group["params"]]
    manager = GradManager().attach(parameters)

    def step(*batch):
        with manager:
            value = loss(model, *batch)
            manager.backward(value)
        optimizer.step().clear_grad()
        return value

    return step


def tensors(arrays):
    """A batch as tensors of the default device."""
    return [mge.tensor(array) for array in arrays]


def parser(text, steps):
    """The command line that all examples have."""
    result = argparse.ArgumentParser(description=text.splitlines()[0])
    result.add_argument("--steps", type=int, default=steps, help="batches to train on")
    result.add_argument("--count", type=int, default=32, help="samples of a batch")
    result.add_argument("--eager", action="store_true", help="without a trace: the same numbers")
    result.add_argument("--dump", type=Path, help="the file to write, which tess-run runs")
    return result


def fit(step, batch, options, start=0):
    """Trains on a new batch in each step, and prints ten of the losses."""
    step = step if options.eager else jit.trace(step, symbolic=True)
    for number in range(options.steps):
        value = step(*tensors(batch(start + number, options.count)))
        if number % max(1, options.steps // 10) == 0 or number == options.steps - 1:
            values = value if isinstance(value, tuple) else (value,)
            print(f"step {number}: loss", *(f"{each.item():.4f}" for each in values), flush=True)


def dump(function, inputs, arrays, path, targets=("host",)):
    """Writes `function` of the first `arrays` to `path`; `inputs` says which sizes are free."""
    call = jit.trace(lambda *args: function(*args), capture_as_const=True)
    call(*tensors(arrays[: len(inputs)]))
    call.dump(path, arg_names=list(inputs), dims=inputs, targets=targets)


def accuracy(model, batch, count=256):
    """Prints the share of held-out samples that the largest logit names."""
    image, label = batch(0, count, held_out=True)
    with mge.no_grad():
        logits = model(mge.tensor(image))
    share = F.topk_accuracy(logits, mge.tensor(label)).item()
    print(f"held-out accuracy: {share:.1%}")


def finish(function, inputs, arrays, options):
    """Writes the file, where one is wanted."""
    if options.dump:
        dump(function, inputs, arrays, options.dump)
        print(f"wrote {options.dump}: inputs {', '.join(inputs)}")
