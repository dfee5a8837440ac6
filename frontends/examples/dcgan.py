"""DCGAN: a generator learns to draw handwritten digits that a discriminator takes for real ones.

    tools/dev python frontends/examples/dcgan.py [--steps N] [--dump dcgan.tess]

A. Radford et al.: Unsupervised Representation Learning with Deep Convolutional Generative
Adversarial Networks, 2016. The digits are those of scikit-learn. The file is the generator.
"""

import numpy as np
import pictures
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.autodiff import GradManager
from tessera.optimizer import Adam

CODES = 16
INPUTS = {"code": {0: training.BATCH}}


class Generator(M.Module):
    """float[N, CODES] -> pictures float[N, 1, 8, 8] of -1 to 1."""

    def __init__(self, width):
        super().__init__()
        self.layers = M.Sequential(
            M.ConvTranspose2d(CODES, 2 * width, 2, bias=False),
            M.BatchNorm2d(2 * width),
            M.ReLU(),
            M.ConvTranspose2d(2 * width, width, 4, 2, 1, bias=False),
            M.BatchNorm2d(width),
            M.ReLU(),
            M.ConvTranspose2d(width, 1, 4, 2, 1),
        )

    def forward(self, code):
        """See the class."""
        return F.tanh(self.layers(F.expand_dims(code, [2, 3])))


class Discriminator(M.Module):
    """Pictures float[N, 1, 8, 8] -> logits float[N, 1] of that they are real."""

    def __init__(self, width):
        super().__init__()
        self.layers = M.Sequential(
            M.Conv2d(1, width, 4, 2, 1),
            M.LeakyReLU(0.2),
            M.Conv2d(width, 2 * width, 4, 2, 1, bias=False),
            M.BatchNorm2d(2 * width),
            M.LeakyReLU(0.2),
            M.Flatten(),
            M.Linear(8 * width, 1),
        )

    def forward(self, image):
        """See the class."""
        return self.layers(image)


class DCGAN(M.Module):
    """Both networks."""

    def __init__(self, width=32):
        super().__init__()
        self.generator, self.discriminator = Generator(width), Discriminator(width)
        for module in self.modules():  # section 4 of the paper
            if isinstance(module, (M.Conv2d, M.ConvTranspose2d)):
                M.init.normal_(module.weight, std=0.02)

    def forward(self, code):
        """Pictures."""
        return self.generator(code)


def is_taken_for(logits, value):
    """Cross entropy of that all pictures are real (1), or drawn (0)."""
    return F.loss.binary_cross_entropy(logits, F.full_like(logits, value))


def discriminator_loss(model, image, drawn):
    """That pictures are taken for what they are."""
    real, fake = model.discriminator(image), model.discriminator(drawn)
    return is_taken_for(real, 1.0) + is_taken_for(fake, 0.0)


def generator_loss(model, drawn):
    """That drawn pictures are taken for real ones."""
    return is_taken_for(model.discriminator(drawn), 1.0)


def loss(model, image, code):
    """Both together, of which no step is made: for a look at all gradients."""
    drawn = model(code)
    return discriminator_loss(model, image, drawn) + generator_loss(model, drawn)


def batch(seed, count, held_out=False):
    """Pictures float32[count, 1, 8, 8] of -1 to 1, and codes float32[count, CODES]."""
    random = np.random.RandomState(seed)
    images, _ = pictures.some_digits(random, count, held_out)
    return images[:, None] * 2 - 1, random.standard_normal((count, CODES)).astype(np.float32)


def training_step(model):
    """A step of the discriminator, then one of the generator; their losses."""
    networks = model.discriminator, model.generator
    optimizers = [Adam(each.parameters(), lr=1e-3, betas=(0.5, 0.999)) for each in networks]
    managers = [GradManager().attach(each.parameters()) for each in networks]

    def step(image, code):
        with managers[0]:
            seen = discriminator_loss(model, image, model(code).detach())
            managers[0].backward(seen)
        optimizers[0].step().clear_grad()
        with managers[1]:
            drawn = generator_loss(model, model(code))
            managers[1].backward(drawn)
        optimizers[1].step().clear_grad()
        return seen, drawn

    return step


def main(arguments=None):
    """Trains, shows what is drawn, and dumps."""
    options = training.parser(__doc__, steps=600).parse_args(arguments)
    mge.random.seed(0)
    model = DCGAN()
    training.fit(training_step(model), batch, options)
    image, code = training.tensors(batch(0, 256, held_out=True))
    model.eval()
    with mge.no_grad():
        drawn = model(code)
        shares = [(model.discriminator(each) > 0).numpy().mean() for each in (image, drawn)]
    print(f"taken for real: {shares[0]:.1%} of held-out digits, {shares[1]:.1%} of drawn ones")
    pictures.show((drawn.numpy()[:6, 0] + 1) / 2)
    training.finish(model, INPUTS, [code.numpy()[:4]], options)


if __name__ == "__main__":
    main()
