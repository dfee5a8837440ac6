"""A vision transformer, which reads handwritten digits.

    tools/dev python frontends/examples/vit.py [--steps N] [--dump vit.tess]

A. Dosovitskiy et al.: An Image is Worth 16x16 Words, 2021; here of 2 x 2 pixels. The digits are
those of scikit-learn.
"""

import numpy as np
import pictures
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.optimizer import AdamW

INPUTS = {"image": {0: training.BATCH}}


class ViT(M.Module):
    """Patches as a sequence, a transformer, and a linear layer of what it made of a first token."""

    def __init__(self, image=8, patch=2, width=64, heads=4, layers=3, classes=10):
        super().__init__()
        self.embed = M.Conv2d(1, width, patch, patch)
        places = (image // patch) ** 2 + 1
        self.first = mge.Parameter(np.zeros((1, 1, width), np.float32))
        self.position = mge.Parameter(np.zeros((1, places, width), np.float32))
        M.init.normal_(self.position, std=0.02)
        blocks = [
            M.TransformerEncoderLayer(width, heads, 2 * width, 0.1, "gelu", norm_first=True)
            for _ in range(layers)
        ]
        self.blocks = M.Sequential(*blocks)
        self.norm, self.head = M.LayerNorm(width), M.Linear(width, classes)

    def forward(self, image):
        """float[N, 1, H, W] -> logits float[N, classes]."""
        patches = F.flatten(self.embed(image), 2).transpose(0, 2, 1)
        first = F.broadcast_to(self.first, (image.shape[0], 1, self.first.shape[2]))
        x = self.blocks(F.concat([first, patches], axis=1) + self.position)
        return self.head(self.norm(x[:, 0]))


def batch(seed, count, held_out=False):
    """float32[count, 1, 8, 8], and int32[count]."""
    images, labels = pictures.some_digits(np.random.RandomState(seed), count, held_out)
    return images[:, None], labels


def loss(model, image, label):
    """Cross entropy of labels that are a little smoothed."""
    return F.nn.cross_entropy(model(image), label, label_smooth=0.1)


def training_step(model):
    """AdamW."""
    optimizer = AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    return training.step_of(model, loss, optimizer)


def main(arguments=None):
    """Trains, tells the accuracy for digits that are held out, and dumps."""
    options = training.parser(__doc__, steps=400).parse_args(arguments)
    mge.random.seed(0)
    model = ViT()
    training.fit(training_step(model), batch, options)
    training.accuracy(model.eval(), batch)
    training.finish(model, INPUTS, batch(0, 4), options)


if __name__ == "__main__":
    main()
