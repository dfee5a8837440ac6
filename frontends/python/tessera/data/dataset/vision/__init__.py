"""Datasets of images, read from the files in which they are published."""

from .. import VISION
from .cifar import CIFAR10, CIFAR100
from .cityscapes import Cityscapes
from .coco import COCO
from .folder import ImageFolder
from .imagenet import ImageNet
from .mnist import MNIST
from .objects365 import Objects365
from .vision_dataset import VisionDataset
from .voc import PascalVOC

__all__ = VISION
