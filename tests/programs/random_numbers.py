"""Random numbers: distributions, generators, and a variational autoencoder that draws them."""

import megengine as mge
import megengine.functional as F  # noqa: N812
import megengine.module as M  # noqa: N812
import numpy as np
from megengine import distributions
from megengine.autodiff import GradManager
from megengine.optimizer import Adam
from megengine.random import RNG

COUNT = 20000


def check_moments():
    """Mean and variance of each distribution are those of the textbook, within five deviations."""
    mge.random.seed(17)
    size = (COUNT,)
    rows = [
        ("uniform", mge.random.uniform(-1.0, 3.0, size=size), 1.0, 16 / 12),
        ("normal", mge.random.normal(2.0, 0.5, size=size), 2.0, 0.25),
        ("gamma", mge.random.gamma(2.0, 3.0, size=size), 6.0, 18.0),
        ("beta", mge.random.beta(2.0, 3.0, size=size), 0.4, 0.04),
        ("poisson", mge.random.poisson(4.0, size=size), 4.0, 4.0),
        ("exponential", mge.random.exponential(0.5, size=size), 0.5, 0.25),
    ]
    for name, drawn, mean, variance in rows:
        values = drawn.numpy().astype("float64")
        assert values.shape == size and drawn.dtype == np.float32, name
        assert abs(values.mean() - mean) < 5 * np.sqrt(variance / COUNT), (name, values.mean())
        assert abs(values.var() / variance - 1) < 0.15, (name, values.var())
    assert rows[0][1].numpy().min() >= -1 and rows[0][1].numpy().max() <= 3


def check_shapes():
    """Parameters may be tensors: a number is drawn for each."""
    low = mge.tensor(np.float32([2.0, 200.0]))
    assert mge.random.gamma(low, 1.0, size=(5,)).shape == (5, 2)
    assert mge.random.poisson(low).shape == (2,)
    order = mge.random.permutation(10)
    assert sorted(order.numpy().tolist()) == list(range(10))
    rows = mge.random.permutation(mge.tensor(np.arange(12, dtype="float32").reshape(6, 2)))
    assert sorted(map(tuple, rows.numpy().tolist())) == [(2.0 * i, 2.0 * i + 1) for i in range(6)]
    values = mge.tensor(np.arange(8, dtype="float32"))
    mge.random.shuffle(values)
    assert sorted(values.numpy().tolist()) == list(range(8))
    drawn = mge.random.multinomial(mge.tensor(np.float32([0.0, 3.0, 1.0])), 400, replacement=True)
    counts = np.bincount(drawn.numpy(), minlength=3)
    assert counts[0] == 0 and counts.sum() == 400 and counts[1] > counts[2] > 0
    few = mge.random.multinomial(mge.tensor(np.ones((2, 5), dtype="float32")), 5)
    assert np.sort(few.numpy(), axis=1).tolist() == [list(range(5))] * 2


def check_seeds():
    """A seed gives the same numbers; generators do not disturb each other."""
    mge.random.seed(3)
    first = [mge.random.normal(size=(4,)).numpy(), mge.random.uniform(size=(4,)).numpy()]
    mge.random.seed(3)
    own, other = RNG(seed=100), RNG(seed=100)
    drawn = own.normal(size=(4,)).numpy()
    again = [mge.random.normal(size=(4,)).numpy(), mge.random.uniform(size=(4,)).numpy()]
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(other.normal(size=(4,)).numpy(), drawn)
    assert not np.array_equal(own.normal(size=(4,)).numpy(), drawn)
    mge.random.seed(9)
    net = M.Dropout(0.5)
    x = F.ones((1000,))
    dropped = net(x).numpy()
    assert set(np.unique(dropped)) == {0.0, 2.0} and abs(dropped.mean() - 1) < 0.2
    mge.random.seed(9)
    np.testing.assert_array_equal(net(x).numpy(), dropped)
    net.eval()
    np.testing.assert_array_equal(net(x).numpy(), x.numpy())


def check_distribution():
    mge.random.seed(2)
    rate = mge.tensor(np.float32([0.5, 4.0]))
    law = distributions.Exponential(rate)
    drawn = law.sample((COUNT,)).numpy()
    np.testing.assert_allclose(drawn.mean(0), [2.0, 0.25], rtol=0.1)
    np.testing.assert_allclose(law.mean.numpy(), [2.0, 0.25], rtol=1e-6)
    np.testing.assert_allclose(law.variance.numpy(), [4.0, 1 / 16], rtol=1e-6)


class VAE(M.Module):
    """Points to a code with a mean and a deviation, and back."""

    def __init__(self, inputs=6, hidden=16, code=2):
        super().__init__()
        self.encoder = M.Sequential(M.Linear(inputs, hidden), M.ReLU())
        self.mean = M.Linear(hidden, code)
        self.log_variance = M.Linear(hidden, code)
        self.decoder = M.Sequential(M.Linear(code, hidden), M.ReLU(), M.Linear(hidden, inputs))

    def forward(self, x):
        hidden = self.encoder(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        noise = mge.random.normal(0.0, 1.0, size=mean.shape)
        return self.decoder(mean + F.exp(log_variance / 2) * noise), mean, log_variance


def loss_of(model, x):
    """The negative of the bound: D. Kingma, M. Welling, 2014."""
    made, mean, log_variance = model(x)
    fit = F.sum((made - x) ** 2, axis=1).mean()
    divergence = -0.5 * F.sum(1 + log_variance - mean**2 - F.exp(log_variance), axis=1).mean()
    return fit + 0.05 * divergence


def train(steps):
    mge.random.seed(5)
    model, rng = VAE(), np.random.RandomState(0)
    manager = GradManager().attach(model.parameters())
    optimizer = Adam(model.parameters(), lr=1e-2)
    mixing, losses = rng.normal(size=(2, 6)), []
    for _ in range(steps):
        x = mge.tensor(np.tanh(rng.normal(size=(32, 2)) @ mixing).astype("float32"))
        with manager:
            loss = loss_of(model, x)
            manager.backward(loss)
        optimizer.step().clear_grad()
        losses.append(loss.item())
    return losses


def main():
    check_moments()
    check_shapes()
    check_seeds()
    check_distribution()
    losses = train(80)
    assert losses == train(80)  # the noise is the seed's
    assert np.mean(losses[-5:]) < 0.6 * np.mean(losses[:5]), losses
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
