"""Changes of samples, one by one or a batch at a time.

Those of vision are imported at their first use.
"""

from ..lazy import from_part
from .transform import PseudoTransform, Transform

VISION = [  # the public names of .vision
    "BrightnessTransform",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ContrastTransform",
    "GaussianNoise",
    "HueTransform",
    "Lighting",
    "Normalize",
    "Pad",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomResize",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "SaturationTransform",
    "ShortestEdgeResize",
    "ToMode",
    "TorchTransformCompose",
    "VisionTransform",
]

__all__ = ["PseudoTransform", "Transform", *VISION]
__getattr__ = from_part(__name__, "vision", VISION, "transform")
