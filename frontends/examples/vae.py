"""A variational autoencoder of handwritten digits: it compresses them to a few numbers, and draws
new ones.

    tools/dev python frontends/examples/vae.py [--steps N] [--dump vae.tess]

D. Kingma, M. Welling: Auto-Encoding Variational Bayes, 2014. The digits are those of scikit-learn.
The file is the decoder: codes to pictures.
"""

import numpy as np
import pictures
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.optimizer import Adam

CODES = 8
INPUTS = {"code": {0: training.BATCH}}


class VAE(M.Module):
    """The mean and the variance of a code from a picture, and a picture from a code."""

    def __init__(self, hidden=128, codes=CODES):
        super().__init__()
        self.encoder = M.Sequential(M.Flatten(), M.Linear(64, hidden), M.ReLU())
        self.mean, self.log_var = M.Linear(hidden, codes), M.Linear(hidden, codes)
        self.decoder = M.Sequential(M.Linear(codes, hidden), M.ReLU(), M.Linear(hidden, 64))

    def encode(self, image):
        """float[N, 8, 8] -> means and logarithms of variances, each float[N, codes]."""
        hidden = self.encoder(image)
        return self.mean(hidden), self.log_var(hidden)

    def decode(self, code):
        """float[N, codes] -> logits of pixels, float[N, 8, 8]."""
        return self.decoder(code).reshape(-1, 8, 8)

    def forward(self, image):
        """Logits of the pixels for a code that is drawn, and what it is drawn from."""
        mean, log_var = self.encode(image)
        noise = mge.random.normal(size=mean.shape)
        return self.decode(mean + F.exp(0.5 * log_var) * noise), mean, log_var

    def draw(self, code):
        """float[N, codes] -> pictures float[N, 8, 8] of 0 to 1."""
        return F.sigmoid(self.decode(code))


def batch(seed, count, held_out=False):
    """float32[count, 8, 8]."""
    return (pictures.some_digits(np.random.RandomState(seed), count, held_out)[0],)


def loss(model, image):
    """Minus the evidence lower bound of a picture, appendix B of the paper."""
    logits, mean, log_var = model(image)
    wrong = F.loss.binary_cross_entropy(logits, image, reduction="sum")
    divergence = 0.5 * F.sum(F.exp(log_var) + mean**2 - 1 - log_var)
    return (wrong + divergence) / image.shape[0]


def training_step(model):
    """Adam."""
    return training.step_of(model, loss, Adam(model.parameters(), lr=2e-3))


def main(arguments=None):
    """Trains, tells the bound for digits that are held out, draws new ones, and dumps."""
    options = training.parser(__doc__, steps=1000).parse_args(arguments)
    mge.random.seed(0)
    model = VAE()
    training.fit(training_step(model), batch, options)
    model.eval()
    with mge.no_grad():
        bound = loss(model, *training.tensors(batch(0, 256, held_out=True)))
        codes = mge.random.normal(size=(6, CODES))
        pictures.show(model.draw(codes).numpy())
    print(f"held-out loss: {bound.item():.2f}")
    training.finish(model.draw, INPUTS, [codes.numpy()], options)


if __name__ == "__main__":
    main()
