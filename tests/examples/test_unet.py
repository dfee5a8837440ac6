"""UNet."""

import unet

from tests.examples.harness import Example


class TestUNet(Example):
    module = unet
    steps, count = 40, 4

    @classmethod
    def make(cls):
        return unet.UNet(widths=(4, 8, 12))
