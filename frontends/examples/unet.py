"""UNet, which finds the ink of handwritten digits on parts of photographs.

    tools/dev python frontends/examples/unet.py [--steps N] [--dump unet.tess]

O. Ronneberger et al.: U-Net, 2015; with batch normalisation, and borders that are kept. Digits and
photographs are those of scikit-learn.
"""

import numpy as np
import pictures
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.optimizer import Adam

INPUTS = {"image": {0: training.BATCH}}


def double(inputs, outputs):
    """Two 3 x 3 convolutions."""
    return M.Sequential(
        M.ConvBnRelu2d(inputs, outputs, 3, padding=1, bias=False),
        M.ConvBnRelu2d(outputs, outputs, 3, padding=1, bias=False),
    )


class UNet(M.Module):
    """Down to small maps with many channels and up again, beside which the larger maps pass by."""

    def __init__(self, inputs=3, classes=2, widths=(16, 32, 64)):
        super().__init__()
        self.first = double(inputs, widths[0])
        pairs = list(zip(widths, widths[1:], strict=False))
        self.downs = M.ModuleList([double(high, low) for high, low in pairs])
        self.pool = M.MaxPool2d(2)
        self.ups = M.ModuleList([M.ConvTranspose2d(low, high, 2, 2) for high, low in pairs[::-1]])
        self.joins = M.ModuleList([double(2 * high, high) for high, _ in pairs[::-1]])
        self.last = M.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        """float[N, inputs, H, W] -> logits float[N, classes, H, W]; H, W: multiples of 4."""
        maps = [self.first(x)]
        for down in self.downs:
            maps.append(down(self.pool(maps[-1])))
        x = maps.pop()
        for up, join in zip(self.ups, self.joins, strict=True):
            x = join(F.concat([maps.pop(), up(x)], axis=1))
        return self.last(x)


def batch(seed, count, held_out=False):
    """float32[count, 3, 32, 32], and int32[count, 32, 32]: 0 photograph, 1 ink."""
    random = np.random.RandomState(seed)
    images, _ = pictures.crops(random, count, held_out=held_out)
    masks = np.zeros((count, 32, 32), np.int32)
    for number, image in enumerate(images):
        for digit in pictures.some_digits(random, 2, held_out)[0]:
            y, x = random.randint(0, 25, 2)
            is_ink = digit > 0.4
            image[:, y : y + 8, x : x + 8][:, is_ink] = random.uniform(-1, 1, (3, 1))
            masks[number, y : y + 8, x : x + 8] |= is_ink
    return images, masks


def loss(model, image, mask):
    """Cross entropy of each pixel."""
    return F.nn.cross_entropy(model(image), mask)


def training_step(model):
    """Adam."""
    return training.step_of(model, loss, Adam(model.parameters(), lr=2e-3))


def overlap(model, image, mask):
    """The ink that is found, by the ink that is found or there."""
    found = F.argmax(model(image), axis=1).numpy() == 1
    return (found & (mask.numpy() == 1)).sum() / (found | (mask.numpy() == 1)).sum()


def main(arguments=None):
    """Trains, tells the overlap for pictures that are held out, and dumps."""
    options = training.parser(__doc__, steps=150).parse_args(arguments)
    mge.random.seed(0)
    model = UNet()
    training.fit(training_step(model), batch, options)
    with mge.no_grad():
        share = overlap(model.eval(), *training.tensors(batch(0, 64, held_out=True)))
    print(f"held-out intersection over union: {share:.1%}")
    training.finish(model, INPUTS, batch(0, 4), options)


if __name__ == "__main__":
    main()
