"""tessera.optimizer.LBFGS against the two loops in NumPy, and on functions of known minima."""

import numpy as np
import pytest
import tessera
from tessera import jit
from tessera.autodiff import GradManager
from tessera.optimizer import LBFGS

from tests.support.helper import floats, same_bits

MATRIX = np.diag([1.0, 4.0, 9.0, 16.0]) + 0.5
CENTRE = np.array([1.0, -2.0, 3.0, 0.5])


def quadratic(*params):
    """A closure for (x - c) A (x - c) / 2 of the parameters one after the other."""
    manager = GradManager().attach(list(params))
    matrix = tessera.Tensor(MATRIX, dtype="float64")
    centre = tessera.Tensor(CENTRE, dtype="float64")

    def closure():
        with manager:
            x = tessera.functional.concat([p.reshape(-1) for p in params]) - centre
            loss = (x * (matrix @ x)).sum() / 2
            manager.backward(loss)
        return loss

    return closure


def wide(array):
    return tessera.Parameter(array, dtype="float64")


def reference(x, iterations, lr, history_size):
    """Nocedal, Wright: Numerical Optimization, algorithms 7.4 and 7.5, with a fixed step."""
    pairs, gradient = [], MATRIX @ (x - CENTRE)
    for number in range(iterations):
        q, shares = gradient.copy(), []
        for s, y in reversed(pairs):
            a = s @ q / (y @ s)
            q, shares = q - a * y, [a, *shares]
        if pairs:
            s, y = pairs[-1]
            q = q * (s @ y) / (y @ y)
        for (s, y), a in zip(pairs, shares, strict=True):
            q = q + s * (a - y @ q / (y @ s))
        t = lr * min(1.0, 1.0 / np.abs(gradient).sum()) if number == 0 else lr
        following = x - t * q
        after = MATRIX @ (following - CENTRE)
        if (following - x) @ (after - gradient) > 1e-10:
            pairs = [*pairs, (following - x, after - gradient)][-history_size:]
        x, gradient = following, after
    return x


@pytest.mark.parametrize("history_size", [1, 2, 100])
@pytest.mark.parametrize("lr", [0.5, 1.0])
def test_steps_are_those_of_the_two_loops(lr, history_size):
    a, b = wide(np.zeros((1, 3))), wide(np.zeros(1))
    optim = LBFGS([a, b], lr=lr, max_iter=7, max_eval=99, history_size=history_size,
                  tolerance_grad=0.0, tolerance_change=0.0)  # fmt: skip
    optim.step(quadratic(a, b))
    got = np.concatenate([a.numpy().ravel(), b.numpy()])
    np.testing.assert_allclose(got, reference(np.zeros(4), 7, lr, history_size), rtol=1e-6)


def test_several_steps_are_one_with_as_many_iterations():
    one, many = wide(np.zeros(4)), wide(np.zeros(4))
    settings = {"lr": 0.5, "tolerance_change": 0.0, "max_eval": 99}
    LBFGS([one], max_iter=6, **settings).step(quadratic(one))
    optim, closure = LBFGS([many], max_iter=2, **settings), quadratic(many)
    for _ in range(3):
        optim.step(closure)
    np.testing.assert_allclose(many.numpy(), one.numpy(), rtol=1e-12)


def test_rosenbrock():
    p = wide([-1.2, 1.0])
    manager, losses = GradManager().attach(p), []

    def closure():
        with manager:
            loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
            manager.backward(loss)
        losses.append(loss.item())
        return loss

    optim = LBFGS([p], max_iter=100, tolerance_change=0.0, line_search_fn="strong_wolfe")
    first = optim.step(closure)
    assert first.item() == losses[0] == pytest.approx(24.2)
    np.testing.assert_allclose(p.numpy(), [1.0, 1.0], atol=1e-6)
    assert len(losses) < 80


def test_the_line_search_keeps_wolfes_conditions():
    from tessera.optimizer.line_search import Point, strong_wolfe

    functions = [
        (lambda t: (t - 3) ** 2, lambda t: 2 * (t - 3)),
        (lambda t: t**4 - 2 * t**2 - t, lambda t: 4 * t**3 - 4 * t - 1),
        (lambda t: -t / (t**2 + 2), lambda t: (t**2 - 2) / (t**2 + 2) ** 2),
        (lambda t: np.inf if t > 5 else -t, lambda t: np.nan if t > 5 else -1.0 + (t > 4.9)),
    ]
    for value, slope in functions[:3]:
        for first in (1e-3, 0.1, 1.0, 30.0):
            start = Point(0.0, value(0.0), slope(0.0))
            point = strong_wolfe(lambda t: Point(t, value(t), slope(t)), first, start, 40)  # noqa: B023
            assert point.value <= start.value + 1e-4 * point.step * start.slope
            assert abs(point.slope) <= 0.9 * abs(start.slope)
    value, slope = functions[3]  # beyond 5 there is nothing: the lowest point met stays
    point = strong_wolfe(lambda t: Point(t, value(t), slope(t)), 1.0, Point(0.0, 0.0, -1.0), 10)
    assert 0 < point.step <= 5 and np.isfinite(point.value)


def test_a_state_continues_exactly(tmp_path):
    p, q = wide(np.zeros(4)), wide(np.ones(4))
    one, two = LBFGS([p], lr=0.5, max_iter=3), LBFGS([q], lr=0.1)
    two.load_state_dict(one.state_dict())  # before the first step
    one.step(quadratic(p))
    tessera.save(one.state_dict(), tmp_path / "state")
    two.load_state_dict(tessera.load(tmp_path / "state"))
    q._reset(p)
    one.step(quadratic(p))
    two.step(quadratic(q))
    assert same_bits(p, q) and two.param_groups[0]["lr"] == 0.5
    other = LBFGS([wide(np.zeros(3))])
    with pytest.raises(ValueError, match=r"history must be of 3 values, got shapes \[\(4,\)"):
        other.load_state_dict(one.state_dict())


def test_it_stops_at_the_minimum_and_at_its_limits():
    calls, p = [], wide(CENTRE)
    closure = quadratic(p)

    def counted():
        calls.append(1)
        return closure()

    LBFGS([p]).step(counted)
    assert len(calls) == 1 and same_bits(p, wide(CENTRE))
    p._reset(tessera.Tensor(floats(4), dtype="float64"))
    LBFGS([p], lr=0.1, max_iter=50, max_eval=5, tolerance_change=0.0).step(counted)
    assert len(calls) == 6


def test_arguments():
    p = wide(np.zeros(4))
    with pytest.raises(ValueError, match="LBFGS: line_search_fn must be None or .*, got 'armijo'"):
        LBFGS([p], line_search_fn="armijo")
    with pytest.raises(ValueError, match="LBFGS: there must be one group, got another"):
        LBFGS([{"params": [p]}, {"params": [wide([1.0])]}])
    with pytest.raises(RuntimeError, match="LBFGS: step must be given a closure, got none"):
        LBFGS([p]).step()
    with pytest.raises(ValueError, match="LBFGS: tolerance_grad must be finite and >= 0, got nan"):
        LBFGS([p], tolerance_grad=float("nan"))
    optim, closure = LBFGS([p]), quadratic(p)
    with pytest.raises(RuntimeError, match="LBFGS: step must run eagerly, got a call within"):
        jit.trace(lambda: optim.step(closure))()
    with pytest.raises(ZeroDivisionError):
        optim.step(lambda: 1 / 0)
    optim.step(closure)  # goes on after an error of the closure


def test_a_closure_without_gradients_is_told():
    p, other = wide(np.zeros(4)), wide(np.zeros(4))
    optim = LBFGS([p])
    with pytest.warns(RuntimeWarning, match="LBFGS.step: a parameter must have a gradient, got"):
        optim.step(quadratic(other))
    assert p.tolist() == [0.0] * 4


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("failing", [2, 4])
def test_an_error_of_the_closure_loses_nothing(search, failing):
    p, calls = wide(np.zeros(4)), []
    closure = quadratic(p)

    def fails():
        calls.append(p.numpy())
        if len(calls) == failing:
            raise RuntimeError("told")
        return closure()

    optim = LBFGS([p], lr=0.5, line_search_fn=search)
    with pytest.raises(RuntimeError, match="told"):
        optim.step(fails)
    assert any(same_bits(p, value) for value in calls[: failing - 1])
    for _ in range(3):
        optim.step(closure)
    np.testing.assert_allclose(p.numpy(), CENTRE, atol=1e-4)
