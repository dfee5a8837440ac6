"""config.set_check_finite: the first operator that makes a NaN or an infinity is named."""

import inspect
from pathlib import Path

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import config, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager

HERE = Path(__file__).name


@pytest.fixture(params=[0, 1, 2], autouse=True)
def checked(request):
    """The mode, at every async level."""
    config.set_async_level(request.param)
    config.set_check_finite(True)
    yield
    config.set_check_finite(False)
    config.set_async_level(2)
    tessera.sync()


def tensor(*values, dtype="float32"):
    return tessera.Tensor(values, dtype=dtype)


def here(offset=0):
    return f"at {HERE}:{inspect.currentframe().f_back.f_lineno + offset}"


def test_the_first_operator_is_named():
    x = tensor(1.0, -1.0, 4.0)
    with pytest.raises(ValueError) as caught:
        y = F.sqrt(x * 1.0)
        y = F.log(y) + 1
    where = here(-2)
    assert str(caught.value) == (
        f"sqrt: result out must be finite, got nan at [1] of f32[3] (x f32[3]), {where}"
    )


MAKERS = {
    "direct": (lambda x: F.log(x - x), "log: .*got -inf at .0.*"),
    "division": (lambda x: x / (x - x), "div: .*got inf"),
    "program": (lambda x: x.reshape(1, 3) @ (x.reshape(3, 1) * 1e38), "matmul: .*got inf"),
    "reduction": (lambda x: (x * 1e38).sum(), "sum: .*got inf"),
    "NaN of infinities": (lambda x: tensor(np.inf) - tensor(np.inf), "sub: .*got nan"),
    "copies": (lambda x: F.exp(x.reshape(1, 3).transpose(1, 0) * 100), "exp: .*got inf"),
    "in place": (lambda x: x.__imul__(3e38).__imul__(10.0), "mul: .*got inf"),
    "float64": (lambda x: F.exp(x.astype("float64") * 1e3), "exp: .*f64"),
    "float16": (lambda x: x.astype("float16") * 6e4, "mul: .*got inf .* f16"),
    "bfloat16": (lambda x: x.astype("bfloat16") * 3e38, "mul: .*got inf .* bf16"),
    "cast": (lambda x: (x * 1e5).astype("float16"), "cast: .*got inf"),
    "data-dependent": (lambda x: F.exp(x[x > 1] * 100), "exp: .*got inf at .0."),
}


@pytest.mark.parametrize("name", MAKERS)
def test_makers(name):
    call, text = MAKERS[name]
    with pytest.raises(ValueError, match=text) as caught:
        call(tensor(1.0, 2.0, 3.0))
    assert f"{HERE}:{call.__code__.co_firstlineno}" in str(caught.value)
    assert (tensor(1.0) + 1).item() == 2


def test_what_was_there_is_not_made():
    """Data that holds NaN or infinities, and operators that pass them on, are no maker's fault."""
    x = tensor(np.nan, 1.0)
    assert F.isnan(x * 2 + 1).tolist() == [True, False]
    assert F.where(F.isnan(x), tensor(0.0, 0.0), x).tolist() == [0.0, 1.0]
    mask = F.where(tensor(1.0, 0.0) > 0, tensor(3.0, 2.0), float("-inf"))
    assert F.softmax(mask, 0).tolist() == [1.0, 0.0]
    assert F.zeros((0, 3)).sum(axis=1).shape == (0,)


def test_gradients_are_checked():
    x = tensor(0.0, 1.0)
    manager = GradManager().attach([x])
    with pytest.raises(ValueError, match=r": .* must be finite, got (inf|nan)") as caught, manager:
        y = F.sqrt(x).sum()
        manager.backward(y)
    assert here(-1) in str(caught.value)
    with manager:
        manager.backward((x * 2).sum())
    assert x.grad.tolist() == [2.0, 2.0]


def test_the_module_is_named():
    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.inner = M.Linear(2, 2)

        def forward(self, x):
            return self.inner(x)

    net = Net()
    net.inner.weight[:] = 3e38
    with pytest.raises(ValueError, match=r"linear: .*\(.*inner\)"):
        net(tensor([3.0, 3.0]))


def test_a_trace_runs_operator_by_operator():
    traced = jit.trace(lambda x: F.log(x) * 2)
    with pytest.warns(RuntimeWarning, match="runs eagerly, because check_finite looks at each"):
        assert traced(tensor(1.0)).item() == 0
    for _ in range(2):
        with pytest.raises(ValueError, match="log: result out must be finite, got -inf"):
            traced(tensor(0.0))
        assert traced(tensor(1.0)).item() == 0
    config.set_check_finite(False)
    assert [traced(tensor(0.0)).item() for _ in range(3)] == [-np.inf] * 3
    assert traced.program() is not None
    config.set_check_finite(True)
    with pytest.raises(ValueError, match="log: "):
        traced(tensor(0.0))


def test_other_threads_are_checked():
    import threading

    errors = []

    def work():
        try:
            F.log(tensor(0.0))
        except ValueError as error:
            errors.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(errors) == 1 and errors[0].startswith("log: result out must be finite, got -inf")


def test_off_is_the_default():
    config.set_check_finite(False)
    assert config.get_check_finite() is False
    assert F.log(tensor(0.0)).item() == -np.inf
    config.set_check_finite(True)
    assert config.get_check_finite() is True


def test_a_gradient_names_the_forward_call():
    x = tessera.Parameter([0.0, 4.0])
    manager = GradManager().attach(x)
    with manager:
        y = F.sqrt(x)
        forward = here(-1)
        loss = y.sum()
        with pytest.raises(ValueError, match="div: result out must be finite, got inf") as caught:
            manager.backward(loss)
    assert str(caught.value).endswith(f"(in the gradient of sqrt, called {forward})")
    assert here(-2) in str(caught.value)


def test_a_gradient_of_ones_own_names_its_line():
    class Exploding(tessera.autodiff.Function):
        def forward(self, x):
            return x * 1

        def backward(self, grad):
            return F.exp(grad * 1000)

    x = tessera.Parameter([1.0])
    manager = GradManager().attach(x)
    with manager, pytest.raises(ValueError, match="exp: result out must be finite") as caught:
        manager.backward(Exploding()(x))
    line = Exploding.backward.__code__.co_firstlineno + 1
    assert f"at {HERE}:{line}" in str(caught.value)


def test_anomalies_are_detected_within():
    config.set_check_finite(False)
    x = tensor(-1.0)
    with tessera.autodiff.detect_anomaly(), pytest.raises(ValueError, match="log: .*got nan"):
        F.log(x)
    assert not config.get_check_finite()
    assert np.isnan(F.log(x).item())

    @tessera.autodiff.detect_anomaly()
    def root(value):
        return F.sqrt(value)

    for _ in range(2):
        with pytest.raises(ValueError, match="sqrt: .*got nan"):
            root(x)
    config.set_check_finite(True)
    with tessera.autodiff.detect_anomaly():
        pass
    assert config.get_check_finite()


def test_a_traced_step_names_the_forward_line():
    weight = tessera.Parameter([0.0])
    manager = GradManager().attach(weight)

    @jit.trace
    def step(x):
        with manager:
            loss = F.sqrt(weight * x).sum()
            manager.backward(loss)
        return loss

    config.set_check_finite(False)
    for _ in range(3):
        step(tensor(1.0))
    with (
        tessera.autodiff.detect_anomaly(),
        pytest.warns(RuntimeWarning, match="check_finite looks at each operator"),
        pytest.raises(ValueError, match="in the gradient of sqrt, called at") as caught,
    ):
        step(tensor(1.0))
    line = inspect.getsourcelines(step.function)[1] + 3
    assert f"called at {HERE}:{line}" in str(caught.value)
