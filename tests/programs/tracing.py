"""Traces: both modes, training in a graph, a dump, and the dump run again."""

import io
import os
import tempfile

import megengine as mge
import megengine.functional as F  # noqa: N812
import megengine.module as M  # noqa: N812
import megengine.optimizer as optim
import megengine.utils.comp_graph_tools as cgtools
import numpy as np
from megengine.autodiff import GradManager
from megengine.jit import exclude_from_trace, trace


class Net(M.Module):
    """A small classifier with normalisation and a branch that Python decides."""

    def __init__(self):
        super().__init__()
        self.conv = M.Conv2d(2, 4, 3, padding=1)
        self.bn = M.BatchNorm2d(4)
        self.pool = M.AvgPool2d(2)
        self.fc = M.Linear(4 * 3 * 3, 5)

    def forward(self, x, scale=None):
        x = self.pool(F.relu(self.bn(self.conv(x))))
        if scale is not None:
            x = x * scale
        return self.fc(F.flatten(x, 1))


def picture(seed, count=4):
    rng = np.random.RandomState(seed)
    return rng.normal(size=(count, 2, 6, 6)).astype("float32"), rng.randint(0, 5, count, "int32")


def make_step(model, manager, optimizer):
    def step(image, label, *, smooth=0.0):
        with manager:
            logits = model(image)
            loss = F.nn.cross_entropy(logits, label, label_smooth=smooth)
            manager.backward(loss)
        optimizer.step().clear_grad()
        return {"loss": loss, "accuracy": F.topk_accuracy(logits, label, topk=(1, 2))}

    return step


def training(state, wrap):
    """The losses of ten steps, and the state in the end."""
    model = Net()
    model.load_state_dict(state)
    manager = GradManager().attach(model.parameters())
    step = wrap(make_step(model, manager, optim.SGD(model.parameters(), lr=0.1, momentum=0.9)))
    rows = []
    for number in range(10):
        image, label = picture(number % 3)
        result = step(mge.tensor(image), mge.tensor(label), smooth=0.1)
        assert set(result) == {"loss", "accuracy"} and len(result["accuracy"]) == 2
        rows.append([result["loss"].item(), *(each.item() for each in result["accuracy"])])
    return np.array(rows), model.state_dict()


def check_training(state):
    """Eagerly and in either mode the same numbers."""
    rows, final = training(state, lambda step: step)
    assert rows[-1, 0] < rows[0, 0]
    for mode in ({"symbolic": False}, {"symbolic": True}):
        got, traced = training(state, trace(**mode))
        np.testing.assert_allclose(got, rows, rtol=1e-4, atol=1e-5)
        for name, value in final.items():
            np.testing.assert_allclose(traced[name], value, rtol=1e-3, atol=1e-4)
    return rows[:, 0]


def check_dump(model, folder):
    """A file gives the bits of the traced function, by names and in order."""
    model.eval()

    @trace(symbolic=True, capture_as_const=True)
    def infer(x, scale):
        logits = model(x, scale)
        return logits, F.softmax(logits, axis=1)

    image, scale = picture(8)[0], np.float32([2.0])
    expected = [each.numpy() for each in infer(mge.tensor(image), mge.tensor(scale))]
    again = infer(mge.tensor(image), mge.tensor(scale))
    for got, wanted in zip(again, expected, strict=True):
        np.testing.assert_array_equal(got.numpy(), wanted)
    path, stream = os.path.join(folder, "model.mge"), io.BytesIO()
    names = {"arg_names": ["data", "scale"], "output_names": ["logits", "probability"]}
    infer.dump(path, **names, optimize_for_inference=False)
    infer.dump(stream, **names, optimize_for_inference=False)
    assert os.path.getsize(path) == len(stream.getvalue()) > 0

    graph = cgtools.GraphInference(path)
    result = graph.run(inp_dict={"data": image, "scale": scale})
    assert list(result) == names["output_names"]
    for got, wanted in zip(result.values(), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
    part = cgtools.GraphInference(path, outputs=["probability"])
    part = part.run(inp_dict={"data": image, "scale": scale})
    np.testing.assert_array_equal(part["probability"], expected[1])
    np.testing.assert_allclose(part["probability"].sum(1), 1, rtol=1e-5)


def check_exclude():
    """What is excluded runs as Python at each call, with the values of the graph."""
    seen = []

    @trace(symbolic=False)
    def function(x):
        y = x * 2
        with exclude_from_trace():
            seen.append(float(y.sum()))
        return y + 1

    for number in range(4):
        x = np.full(3, number, dtype="float32")
        np.testing.assert_array_equal(function(mge.tensor(x)).numpy(), 2 * x + 1)
    assert seen == [0.0, 6.0, 12.0, 18.0], seen


def check_values_inside():
    """Shapes of arguments are values of the graph: other sizes, other results."""

    @trace(symbolic=True)
    def rows(x, count):
        total = F.sum(x, axis=1, keepdims=True)
        return F.broadcast_to(total, (x.shape[0], 3)), x[:count], F.repeat(x, 2, axis=0)

    x = np.arange(12, dtype="float32").reshape(4, 3)
    for count in (2, 3, 1):
        wide, head, twice = rows(mge.tensor(x), mge.tensor(count, dtype="int32"))
        np.testing.assert_array_equal(wide.numpy(), np.repeat(x.sum(1, keepdims=True), 3, 1))
        np.testing.assert_array_equal(head.numpy(), x[:count])
        np.testing.assert_array_equal(twice.numpy(), np.repeat(x, 2, 0))


def main():
    mge.random.seed(2)
    model = Net()
    losses = check_training(model.state_dict())
    with tempfile.TemporaryDirectory() as folder:
        check_dump(model, folder)
    check_exclude()
    check_values_inside()
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, traced too; the file gives the bits")


if __name__ == "__main__":
    main()
