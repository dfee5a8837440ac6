"""Changes of samples, one by one or a batch at a time.

Those of vision are imported at their first use.
"""

import importlib

from .transform import PseudoTransform, Transform

_VISION = [
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

__all__ = ["PseudoTransform", "Transform", *_VISION]


def __getattr__(name):
    if name != "vision" and name not in _VISION:
        raise AttributeError(f"transform: name must be that of a transform, got {name!r}")
    vision = importlib.import_module(".vision", __name__)
    return vision if name == "vision" else getattr(vision, name)
