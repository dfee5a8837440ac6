"""Adafactor's matrices; texts of optimizers and traces; the rates that schedules set last."""

import numpy as np
import pytest
import tessera
from tessera import jit, optimizer
from tessera.autodiff import GradManager

from tests.support.helper import floats
from tests.support.optimizer_formulas import FORMULAS


@pytest.mark.parametrize(
    "settings", [{}, {"lr": 0.5, "weight_decay": 0.1}, {"d": 0.3, "eps": (1e-2, 1.0)}]
)
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4)])
def test_matrices_have_means_of_rows_and_columns(shape, settings):
    p = tessera.Parameter(floats(*shape), dtype="float64")
    steps = optimizer.Adafactor([p], **{"eps": (1e-3, 1e-3), **settings})
    state = steps.state_dict()["state"][0]
    assert {name: array.shape for name, array in state.items()} == {
        "step": (), "row_var": (*shape[:-1], 1), "col_var": (*shape[:-2], 1, shape[-1]),
    }  # fmt: skip
    gradients = [floats(*shape, seed=seed).astype("f8") for seed in range(1, 30)]
    for g in gradients:
        p.grad = tessera.Tensor(g, dtype="float64")
        steps.step().clear_grad()
    expected, step_of = floats(*shape).astype("f8"), FORMULAS["Adafactor"](**settings)
    for number, g in enumerate(gradients, 1):
        expected = step_of(expected, g, number)
    np.testing.assert_allclose(p.numpy(), expected, rtol=1e-6)


def test_adafactor_trains_traced_and_goes_on_from_its_state():
    weight = tessera.Parameter(floats(4, 3))
    steps, x = optimizer.Adafactor([weight], lr=0.05), tessera.Tensor(floats(8, 4, seed=1))
    manager = GradManager().attach([weight])

    @jit.trace(symbolic=True)
    def train(x):
        with manager:
            loss = ((x @ weight - 1) ** 2).mean()
            manager.backward(loss)
        steps.step().clear_grad()
        return loss

    losses = [train(x).item() for _ in range(40)]
    assert losses[-1] < losses[0] / 2
    other = optimizer.Adafactor([tessera.Parameter(weight.numpy())], lr=0.05)
    other.load_state_dict(steps.state_dict())
    again = other.state_dict()["state"][0]
    assert all(np.array_equal(again[k], v) for k, v in steps.state_dict()["state"][0].items())


@pytest.mark.parametrize(("settings", "text"), [
    ({"beta2_decay": 0.5}, "-beta2_decay must be >= 0, got -0.5"),
    ({"eps": (-1.0, 1.0)}, r"eps\[0\] must be >= 0"), ({"eps": (None, -1.0)}, r"eps\[1\] must be"),
    ({"d": -1.0}, "d must be >= 0"),
])  # fmt: skip
def test_settings_that_adafactor_refuses(settings, text):
    with pytest.raises(ValueError, match=f"Adafactor: {text}"):
        optimizer.Adafactor([tessera.Parameter([1.0])], **settings)


def test_the_text_of_an_optimizer_has_its_settings():
    p, q = tessera.Parameter([1.0]), tessera.Parameter([2.0])
    assert repr(optimizer.SGD([p, q], lr=0.5)) == (
        "SGD(2 parameters, lr=0.5, momentum=0.0, weight_decay=0.0, nesterov=False)"
    )
    text = repr(optimizer.SGD([{"params": [p], "lr": 0.5}, {"params": [q]}], lr=1.0))
    assert "\n  group 0: 1 parameters, lr=0.5" in text and "\n  group 1: 1 parameters" in text


def test_the_text_of_a_trace_has_its_function_and_options():
    @jit.trace(symbolic=True)
    def double(x):
        return x * 2

    assert repr(double).endswith("double, symbolic=True)") and repr(double).startswith("trace(")
    assert repr(jit.trace(len)) == "trace(len)"


def test_the_rates_that_were_set_last():
    p, q = tessera.Parameter([1.0]), tessera.Parameter([2.0])
    steps = optimizer.SGD([{"params": [p], "lr": 0.5}, {"params": [q]}], lr=1.0)
    schedule = optimizer.StepLR(steps, 1, gamma=0.1)
    assert schedule.get_last_lr() == [0.5, 1.0]
    np.testing.assert_allclose(schedule.step().get_last_lr(), [0.05, 0.1])
    plateau = optimizer.ReduceLROnPlateau(steps, factor=0.5, patience=0)
    for _ in range(3):
        plateau.step(1.0)
    assert plateau.get_last_lr() == [group["lr"] for group in steps.param_groups]
