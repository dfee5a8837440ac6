"""Transforms of images, masks, boxes and points."""

from .. import VISION
from .color import (
    BrightnessTransform,
    ColorJitter,
    ContrastTransform,
    GaussianNoise,
    HueTransform,
    Lighting,
    Normalize,
    SaturationTransform,
)
from .geometry import (
    CenterCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResize,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    ShortestEdgeResize,
)
from .vision_transform import Compose, ToMode, TorchTransformCompose, VisionTransform

__all__ = VISION
