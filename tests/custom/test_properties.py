"""Operators by MXNet's names: a softmax loss as its documentation writes it, states, errors."""

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
from tessera.autodiff import GradManager

mx = ts  # a program of MXNet's: mx.operator.CustomOp


class Softmax(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()
        y = np.exp(x - x.max(axis=1).reshape((x.shape[0], 1)))
        y /= y.sum(axis=1).reshape((x.shape[0], 1))
        self.assign(out_data[0], req[0], y)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        label = in_data[1].asnumpy().ravel().astype(np.int64)
        y = out_data[0].asnumpy().copy()
        y[np.arange(label.shape[0]), label] -= 1.0
        self.assign(in_grad[0], req[0], y)


@mx.operator.register("softmax")
class SoftmaxProp(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def list_outputs(self):
        return ["output"]

    def infer_shape(self, in_shape):
        data_shape = in_shape[0]
        return [data_shape, (in_shape[0][0],)], [data_shape], []

    def create_operator(self, ctx, shapes, dtypes):
        return Softmax()


class Moving(mx.operator.CustomOp):
    def __init__(self, momentum):
        self.momentum = momentum

    def forward(self, is_train, req, in_data, out_data, aux):
        if is_train:
            aux[0][...] = self.momentum * aux[0] + (1 - self.momentum) * in_data[0].mean()
        self.assign(out_data[0], req[0], in_data[0] - aux[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0])


@mx.operator.register("moving")
class MovingProp(mx.operator.CustomOpProp):
    def __init__(self, momentum="0.5"):
        super().__init__(need_top_grad=True)
        self.momentum = float(momentum)

    def list_auxiliary_states(self):
        return ["mean"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], [(1,)]

    def create_operator(self, ctx, shapes, dtypes):
        return Moving(self.momentum)


def test_a_loss():
    rng = np.random.default_rng(5)
    x, label = rng.normal(size=(4, 3)).astype(np.float32), np.float32([0, 2, 1, 1])
    data = ts.Parameter(x)
    with GradManager().attach([data]) as manager:
        out = mx.operator.Custom(data, ts.tensor(label), op_type="softmax")
        manager.backward(out.sum())
    wanted = F.softmax(ts.tensor(x), 1).numpy()
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-6)
    wanted[np.arange(4), label.astype(int)] -= 1
    np.testing.assert_allclose(data.grad.numpy(), wanted, rtol=1e-6, atol=1e-7)


def test_traced():
    step = ts.jit.trace(lambda x, label: mx.operator.Custom(x * 2, label, op_type="softmax"))
    x, label = F.ones((2, 3)), F.zeros((2,))
    for _ in range(2):
        np.testing.assert_allclose(step(x, label).numpy(), np.full((2, 3), 1 / 3), rtol=1e-6)


def test_states_and_parameters():
    mean = F.zeros((1,))
    x = ts.tensor([2.0, 4.0])
    found = mx.operator.Custom(x, mean, op_type="moving", is_training=True, momentum=0.25)
    assert mean.tolist() == [2.25] and found.tolist() == [-0.25, 1.75]
    assert mx.operator.Custom(x, mean, op_type="moving").tolist() == [-0.25, 1.75]
    assert mean.tolist() == [2.25]


def test_errors():
    with pytest.raises(AttributeError, match="operator must be among .*softmax.*, got 'nothing'"):
        mx.operator.Custom(F.ones((2,)), op_type="nothing")
    with pytest.raises(NotImplementedError, match="CustomOp: forward must be given, got none"):
        mx.operator.CustomOp().forward(True, [], [], [], [])
    with pytest.raises(NotImplementedError, match="CustomOp: backward must be given, got none"):
        mx.operator.CustomOp().backward([], [], [], [], [], [])
    with pytest.raises(NotImplementedError, match="create_operator must be given, got none"):
        mx.operator.CustomOpProp().create_operator("cpu", [], [])
    with pytest.raises(ValueError, match="names .* must differ, got 'custom.moving' twice"):
        mx.operator.register("moving")(MovingProp)
