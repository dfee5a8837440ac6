"""The vision transformer."""

import vit

from tests.examples.harness import Example


class TestViT(Example):
    module = vit
    steps = 30

    @classmethod
    def make(cls):
        return vit.ViT(width=16, heads=2, layers=2)
