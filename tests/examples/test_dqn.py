"""The deep Q-network: the cart, the memory, and what is learnt from."""

import dqn
import numpy as np
import tessera
import training

from tests.examples.harness import Example
from tests.support.helper import assert_close


class TestQNetwork(Example):
    module = dqn
    steps, count = 80, 16

    @classmethod
    def make(cls):
        return dqn.QNetwork(hidden=16)

    @classmethod
    def parameters(cls, model):
        return list(model.online.parameters())


def test_a_pole_falls_when_it_is_pushed_to_one_side():
    cart, memory = dqn.CartPole(0), dqn.Memory()
    lengths = dqn.play(memory, cart, lambda state: 1, 100)
    assert len(lengths) > 5 and all(7 <= length <= 12 for length in lengths)
    assert sum(is_down for *_, is_down in memory.rows) == len(lengths)


def test_an_upright_pole_that_is_not_pushed_obeys_gravity():
    """The angular acceleration of a uniform pole whose cart is free, at small angles."""
    cart = dqn.CartPole(0)
    cart.state = np.array([0, 0, 1e-3, 0])
    cart.step(0.5)
    expected = 9.8 * 1e-3 / (0.5 * (4 / 3 - 0.1 / 1.1))
    np.testing.assert_allclose(cart.state[3], 0.02 * expected, rtol=1e-5)


def test_the_memory_forgets_the_oldest(monkeypatch):
    monkeypatch.setattr(dqn, "KEPT", 3)
    memory = dqn.Memory()
    for number in range(5):
        memory.add(number)
    assert memory.rows == [(3,), (4,), (2,)]


def test_values_are_learnt_from_the_older_network():
    model, rows = TestQNetwork.model(), dqn.batch(0, 12)
    state, push, reward, after, is_down = rows
    for number, parameter in enumerate(model.target.parameters()):
        parameter += 0.1 * (number + 1)
    online, old = (
        [net(tessera.tensor(x)).numpy() for x in (state, after)]
        for net in (model.online, model.target)
    )
    each = np.arange(12)
    wanted = reward + dqn.DISCOUNT * old[1][each, online[1].argmax(1)] * (1 - is_down)
    wrong = np.abs(online[0][each, push] - wanted)
    huber = np.where(wrong < 1, wrong**2 / 2, wrong - 0.5).mean()
    assert_close(dqn.loss(model, *training.tensors(rows)), huber, rtol=1e-5)
