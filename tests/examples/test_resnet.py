"""ResNet-18 and ResNet-50."""

import resnet

from tests.examples.harness import Example


class TestResNet18(Example):
    module = resnet
    quick = (*Example.quick, "--width", "4")

    @classmethod
    def make(cls):
        return resnet.resnet18(num_classes=2, width=8)


class TestResNet50(Example):
    module = resnet
    steps = 40  # after 12, losses differ by their whole size where weights do by 1e-7
    quick = (*Example.quick, "--width", "4", "--depth", "50")

    @classmethod
    def make(cls):
        return resnet.resnet50(num_classes=2, width=4)


def test_sizes_are_those_of_the_paper():
    """The numbers of parameters that torchvision's documentation tells of its ResNets."""
    for make, count in ((resnet.resnet18, 11_689_512), (resnet.resnet50, 25_557_032)):
        assert sum(each.size for each in make().parameters()) == count
