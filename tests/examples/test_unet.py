"""UNet."""

import unet

from tests.examples.harness import Example


class TestUNet(Example):
    module = unet
    steps, count, learns = 16, 4, 0.8

    @classmethod
    def make(cls):
        return unet.UNet(widths=(4, 8, 12))
