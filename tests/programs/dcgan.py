"""A DCGAN: a generator and a discriminator, an optimizer and a gradient manager for each."""

import megengine as mge
import megengine.functional as F  # noqa: N812
import megengine.module as M  # noqa: N812
import megengine.optimizer as optim
import numpy as np
from megengine import jit
from megengine.autodiff import GradManager

NOISE, BATCH = 8, 16


class Generator(M.Module):
    """Noise to a picture of 8 by 8."""

    def __init__(self, width=8):
        super().__init__()
        self.project = M.Linear(NOISE, 2 * width * 2 * 2, bias=False)
        self.main = M.Sequential(
            M.BatchNorm2d(2 * width),
            M.ReLU(),
            M.ConvTranspose2d(2 * width, width, 4, 2, padding=1, bias=False),
            M.BatchNorm2d(width),
            M.ReLU(),
            M.ConvTranspose2d(width, 1, 4, 2, padding=1),
        )

    def forward(self, noise):
        x = self.project(noise).reshape(noise.shape[0], -1, 2, 2)
        return F.tanh(self.main(x))


class Discriminator(M.Module):
    """A picture to one logit."""

    def __init__(self, width=8):
        super().__init__()
        self.conv1 = M.Conv2d(1, width, 4, 2, padding=1)
        self.conv2 = M.Conv2d(width, 2 * width, 4, 2, padding=1, bias=False)
        self.norm = M.GroupNorm(2, 2 * width)
        self.fc = M.Linear(2 * width * 2 * 2, 1)

    def forward(self, x):
        x = F.leaky_relu(self.conv1(x), 0.2)
        x = F.nn.leaky_relu(self.norm(self.conv2(x)), 0.2)
        return F.squeeze(self.fc(F.flatten(x, 1)), 1)


def init_weights(module):
    """The initial values of the paper: Radford et al., 2016."""
    if isinstance(module, (M.Conv2d, M.ConvTranspose2d, M.Linear)):
        M.init.normal_(module.weight, 0.0, 0.1)


def real(count):
    """A bright square somewhere on a dark ground."""
    pictures = np.full((count, 1, 8, 8), -0.9, dtype="float32")
    places = np.random.randint(0, 5, (count, 2))
    for picture, (row, column) in zip(pictures, places, strict=True):
        picture[0, row : row + 4, column : column + 4] = 0.9
    return pictures


class Trainer:
    """Both networks and their training."""

    def __init__(self):
        self.generator, self.discriminator = Generator(), Discriminator()
        self.generator.apply(init_weights)
        self.discriminator.apply(init_weights)
        settings = {"lr": 2e-3, "betas": (0.5, 0.999)}
        self.opt_g = optim.Adam(self.generator.parameters(), **settings)
        self.opt_d = optim.Adam(self.discriminator.parameters(), **settings)
        self.gm_g = GradManager().attach(self.generator.parameters())
        self.gm_d = GradManager().attach(self.discriminator.parameters())

    def step_d(self, pictures, noise):
        """Real ones to 1, made ones to 0; the generator gets no gradient."""
        fake = self.generator(noise).detach()
        with self.gm_d:
            of_real, of_fake = self.discriminator(pictures), self.discriminator(fake)
            loss = F.nn.binary_cross_entropy(of_real, F.ones_like(of_real))
            loss += F.nn.binary_cross_entropy(of_fake, F.zeros_like(of_fake))
            self.gm_d.backward(loss)
        self.opt_d.step()
        self.opt_d.clear_grad()
        return loss, F.sigmoid(of_real).mean(), F.sigmoid(of_fake).mean()

    def step_g(self, noise):
        """Made ones to 1; the discriminator gets no gradient."""
        with self.gm_g:
            logits = self.discriminator(self.generator(noise))
            loss = F.nn.binary_cross_entropy(logits, F.ones_like(logits))
            self.gm_g.backward(loss)
        self.opt_g.step().clear_grad()
        return loss


def train(steps, traced, symbolic=True):
    """All losses of a training that begins with the same numbers each time."""
    mge.random.seed(3)
    np.random.seed(3)
    trainer, rng = Trainer(), np.random.RandomState(9)
    step_d, step_g = trainer.step_d, trainer.step_g
    if traced:
        step_d, step_g = jit.trace(step_d, symbolic=symbolic), jit.trace(step_g, symbolic=symbolic)
    rows = []
    for _ in range(steps):
        noise = [mge.tensor(rng.normal(size=(BATCH, NOISE)).astype("float32")) for _ in range(2)]
        loss_d, of_real, of_fake = step_d(mge.tensor(real(BATCH)), noise[0])
        loss_g = step_g(noise[1])
        rows.append([each.item() for each in (loss_d, loss_g, of_real, of_fake)])
    return trainer, np.array(rows)


def values(module):
    return {name: parameter.numpy() for name, parameter in module.named_parameters()}


def check_separation():
    """A step of one network leaves the parameters of the other as they are."""
    trainer, _ = train(1, traced=False)
    noise = mge.tensor(np.ones((BATCH, NOISE), dtype="float32"))
    for step, kept, moved in (
        (lambda: trainer.step_d(mge.tensor(real(BATCH)), noise), "generator", "discriminator"),
        (lambda: trainer.step_g(noise), "discriminator", "generator"),
    ):
        before = [values(getattr(trainer, name)) for name in (kept, moved)]
        step()
        after = [values(getattr(trainer, name)) for name in (kept, moved)]
        assert all(np.array_equal(after[0][name], each) for name, each in before[0].items())
        assert not any(np.array_equal(after[1][name], each) for name, each in before[1].items())
        assert all(p.grad is None for p in getattr(trainer, kept).parameters())


def brightness(generator, count=64):
    """The mean of pictures of new noise; that of real ones is -0.45."""
    generator.eval()
    mge.random.seed(21)
    pictures = generator(mge.random.normal(0, 1, size=(count, NOISE))).numpy()
    assert pictures.shape == (count, 1, 8, 8) and np.abs(pictures).max() <= 1
    return pictures.mean()


def main():
    check_separation()
    trainer, rows = train(60, traced=False)
    assert np.isfinite(rows).all()
    first, last = rows[:3].mean(0), rows[-10:].mean(0)
    assert abs(first[2] - first[3]) < 0.3 and last[0] < first[0], (first, last)
    far, near = (abs(brightness(each.generator) + 0.45) for each in (Trainer(), trainer))
    assert near < 0.5 * far, (far, near)
    for symbolic in (True, False):
        _, traced = train(6, traced=True, symbolic=symbolic)
        np.testing.assert_allclose(traced, rows[:6], rtol=2e-4, atol=2e-5)
    print(f"losses {first[:2].round(3)} -> {last[:2].round(3)}, {far:.3f} -> {near:.3f} too bright")


if __name__ == "__main__":
    main()
