"""DCGAN."""

import dcgan
import numpy as np

from tests.examples.harness import Example


class TestDCGAN(Example):
    """Of the losses the discriminator's is looked at: it falls at first."""

    module = dcgan
    steps = 20

    @classmethod
    def make(cls):
        return dcgan.DCGAN(width=4)

    @classmethod
    def arguments(cls, seed, count):
        return [dcgan.batch(seed, count)[1]]


def test_a_step_changes_both_networks():
    model, _ = TestDCGAN.trained(traced=False)
    before = TestDCGAN.model()
    changed = [
        name
        for (name, a), (_, b) in zip(
            model.named_parameters(), before.named_parameters(), strict=True
        )
        if not np.array_equal(a.numpy(), b.numpy())
    ]
    assert changed == [name for name, _ in model.named_parameters()]
