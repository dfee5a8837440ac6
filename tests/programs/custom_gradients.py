"""Gradients of one's own: functions with a backward, hooks, callbacks, gradients of gradients."""

import copy
import pickle

import megengine as mge
import megengine.functional as F  # noqa: N812
import megengine.module as M  # noqa: N812
import numpy as np
from megengine.autodiff import Function, GradManager
from megengine.jit import trace
from megengine.optimizer import SGD


class Sigmoid(Function):
    """Keeps its result for the gradient."""

    def forward(self, x):
        y = 1 / (1 + F.exp(-x))
        self.y = y
        return y

    def backward(self, dy):
        return dy * self.y * (1 - self.y)


class Reverse(Function):
    """The identity, whose gradient is turned round: Y. Ganin, V. Lempitsky, 2015."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * 1

    def backward(self, dy):
        return -self.factor * dy


class MulAdd(Function):
    """Two results of three arguments, one of which has no gradient."""

    def forward(self, x, y, z):
        self.x, self.y = x, y
        return x * y, x + z

    def backward(self, d_product, d_sum):
        return d_product * self.y + d_sum, d_product * self.x, None


class Round(Function):
    """Rounds; the gradient passes straight through where |x| <= 1."""

    def forward(self, x):
        self.inside = (F.abs(x) <= 1).astype(x.dtype)
        return F.round(x)

    def backward(self, dy):
        return dy * self.inside


class Net(M.Module):
    """Uses functions with gradients of their own as layers."""

    def __init__(self):
        super().__init__()
        self.first = M.Linear(3, 4)
        self.second = M.Linear(4, 2)
        self.domain = M.Linear(4, 1)

    def forward(self, x):
        x = Sigmoid()(self.first(x))
        return self.second(x), self.domain(Reverse(0.5)(x))


def gradient(function, *arrays):
    """Of the sum of what `function` gives, with respect to the arrays."""
    tensors = [mge.tensor(a) for a in arrays]
    manager = GradManager().attach(tensors)
    with manager:
        result = function(*tensors)
        manager.backward(result.sum())
    return [None if t.grad is None else t.grad.numpy() for t in tensors]


def check_functions():
    rng = np.random.RandomState(0)
    x, y, z = rng.normal(size=(3, 2, 3)).astype("float32")
    got, wanted = gradient(lambda x: Sigmoid()(x), x)[0], gradient(F.sigmoid, x)[0]
    np.testing.assert_allclose(got, wanted, rtol=1e-5)
    np.testing.assert_array_equal(gradient(lambda x: Reverse(2.0)(x), x)[0], -2 * np.ones((2, 3)))

    def both(x, y, z):
        product, total = MulAdd()(x, y, z)
        return product + 3 * total

    dx, dy, dz = gradient(both, x, y, z)
    np.testing.assert_allclose(dx, y + 3, rtol=1e-6)
    np.testing.assert_allclose(dy, x, rtol=1e-6)
    assert dz is None
    wide = np.float32([-1.5, -0.4, 0.6, 2.0])
    np.testing.assert_array_equal(gradient(lambda x: Round()(x), wide)[0], [0, 1, 1, 0])


def check_training():
    """Eagerly and traced, with the domain's gradient turned round."""
    rng = np.random.RandomState(1)
    x = mge.tensor(rng.normal(size=(16, 3)).astype("float32"))
    label = mge.tensor((x.numpy()[:, 0] > 0).astype("int32"))
    model = Net()
    twin = copy.deepcopy(model)
    assert twin.first.weight is not model.first.weight

    def make(model):
        manager = GradManager().attach(model.parameters())
        optimizer = SGD(model.parameters(), lr=0.5)

        def step(x, label):
            with manager:
                logits, domain = model(x)
                loss = F.nn.cross_entropy(logits, label)
                manager.backward(loss + (domain**2).mean())
            optimizer.step().clear_grad()
            return loss

        return step

    eager, traced = make(model), trace(symbolic=True)(make(twin))
    losses = [(eager(x, label).item(), traced(x, label).item()) for _ in range(30)]
    np.testing.assert_allclose(*zip(*losses, strict=True), rtol=1e-3)
    assert losses[-1][0] < 0.7 * losses[0][0], losses
    for name, value in model.state_dict().items():
        np.testing.assert_allclose(twin.state_dict()[name], value, rtol=1e-2, atol=1e-4)


def check_callbacks():
    """A callback sees and changes each gradient; several are called in order."""
    seen = []

    def note(tensor, grad):
        seen.append((tensor.name, grad.shape))
        return grad

    def halve(_, grad):
        return grad * 0.5

    x, y = mge.Parameter([1.0, 2.0], name="x"), mge.Parameter([[3.0]], name="y")
    manager = GradManager()
    manager.attach([x, y], callbacks=[note, halve])
    with manager:
        manager.backward((x * y).sum())
    np.testing.assert_array_equal(x.grad.numpy(), [1.5, 1.5])
    np.testing.assert_array_equal(y.grad.numpy(), [[1.5]])
    assert sorted(seen) == [("x", (2,)), ("y", (1, 1))]
    assert {id(each) for each in manager.attached_tensors()} == {id(x), id(y)}
    with manager:
        manager.backward((x * y).sum(), mge.tensor(2.0))
    np.testing.assert_array_equal(x.grad.numpy(), [4.5, 4.5])  # gradients add up
    manager.record()
    z = x * x
    manager.release()
    assert z.numpy().tolist() == [1, 4]


def check_hooks():
    """Before a module's forward and after it; a hook that is removed is not called again."""
    net, calls = M.Sequential(M.Linear(2, 2), M.ReLU()), []
    first = net[0]

    def before(module, inputs):
        calls.append(type(module).__name__)
        return (inputs[0] + 1,)

    def after(module, inputs, outputs):
        calls.append(outputs.shape)
        return outputs * 2

    x = mge.tensor(np.float32([[0.5, -0.5]]))
    plain, shifted = first(x).numpy(), first(x + 1).numpy()
    handles = [first.register_forward_pre_hook(before), first.register_forward_hook(after)]
    np.testing.assert_allclose(first(x).numpy(), 2 * shifted, rtol=1e-6)
    net(x)
    assert calls == ["Linear", (1, 2)] * 2
    for handle in handles:
        handle.remove()
    np.testing.assert_array_equal(first(x).numpy(), plain)
    restored = pickle.loads(pickle.dumps(net))
    np.testing.assert_array_equal(restored(x).numpy(), net(x).numpy())


def check_higher_order():
    """A manager outside another one: the gradient of a gradient."""
    x = mge.tensor(np.float32([0.5, 1.0, 2.0]))
    outer, inner = GradManager().attach([x]), GradManager().attach([x])
    with outer:
        with inner:
            y = F.sin(x) * x
            inner.backward(y, F.ones_like(y))
        first = x.grad
        x.grad = None
        outer.backward(first, F.ones_like(first))
    values = x.numpy()
    np.testing.assert_allclose(first.numpy(), np.sin(values) + values * np.cos(values), rtol=1e-5)
    wanted = 2 * np.cos(values) - values * np.sin(values)
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-5)


def check_detach():
    """What is detached is a constant; so is what is computed outside of a manager."""
    x = mge.Parameter([2.0, 3.0])
    manager = GradManager().attach([x])
    outside = x * 10
    with manager:
        y = x * x.detach() + outside
        manager.backward(y.sum())
    np.testing.assert_array_equal(x.grad.numpy(), [2, 3])
    x.reset_zero()
    assert x.numpy().tolist() == [0, 0]


def main():
    mge.random.seed(8)
    check_functions()
    check_training()
    check_callbacks()
    check_hooks()
    check_higher_order()
    check_detach()
    print("functions, callbacks, hooks and second derivatives as expected")


if __name__ == "__main__":
    main()
