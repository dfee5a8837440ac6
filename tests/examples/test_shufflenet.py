"""ShuffleNetV2."""

import numpy as np
import shufflenet
import tessera

from tests.examples.harness import Example


class TestShuffleNetV2(Example):
    module = shufflenet
    quick = (*Example.quick, "--scale", "0.5x")

    @classmethod
    def make(cls):
        return shufflenet.ShuffleNetV2(2, channels=(16, 32, 48), counts=(2, 2), first=8)


def test_sizes_are_those_of_the_paper():
    """The numbers of parameters that torchvision's documentation tells."""
    for scale, count in {"0.5x": 1_366_792, "1x": 2_278_604, "2x": 7_393_996}.items():
        model = shufflenet.ShuffleNetV2(channels=shufflenet.CHANNELS[scale])
        assert sum(each.size for each in model.parameters()) == count


def test_channels_are_shuffled():
    x = tessera.tensor(np.arange(6, dtype=np.float32).reshape(1, 6, 1, 1))
    assert shufflenet.shuffled(x).flatten().tolist() == [0, 3, 1, 4, 2, 5]
