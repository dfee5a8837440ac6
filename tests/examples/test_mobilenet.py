"""MobileNetV2."""

import mobilenet

from tests.examples.harness import Example

FEW = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 2, 2))


class TestMobileNetV2(Example):
    module = mobilenet
    quick = (*Example.quick, "--width", "0.25")

    @classmethod
    def make(cls):
        return mobilenet.MobileNetV2(num_classes=2, width=0.5, stages=FEW)


def test_its_size_is_that_of_the_paper():
    """The number of parameters that torchvision's documentation tells."""
    assert sum(each.size for each in mobilenet.MobileNetV2().parameters()) == 3_504_872
