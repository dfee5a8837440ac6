"""Changes of samples, one by one or a batch at a time."""

from .transform import PseudoTransform, Transform

__all__ = ["PseudoTransform", "Transform"]
