"""The smoke test: a few seconds, the whole way from a tensor to a traced training step."""

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager
from tessera.module import Linear
from tessera.optimizer import SGD


def test_arithmetic():
    assert (tessera.tensor([1.0, 2.0]) * 2 + 1).tolist() == [3.0, 5.0]


def test_training_eager_and_traced():
    programs = []

    def train(traced):
        tessera.seed(0)
        model = Linear(2, 1)
        optim, manager = SGD(model.parameters(), lr=0.1), GradManager().attach(model.parameters())

        def step(x, y):
            with manager:
                loss = F.square_loss(model(x), y)
                manager.backward(loss)
            optim.step().clear_grad()
            return loss

        x = np.random.RandomState(0).randn(32, 2).astype(np.float32)
        y = x @ np.float32([[2.0], [-1.0]]) + 0.5
        run, losses = jit.trace(step) if traced else step, []
        for _ in range(50):
            losses.append(run(tessera.tensor(x), tessera.tensor(y)).item())
            programs.append(tessera.cache_stats()["programs"])
        return losses

    losses = train(True)
    assert programs[2] == programs[-1]  # the second call compiled the step, and no later one
    assert losses == train(False) and losses[-1] < 0.01 * losses[0]
