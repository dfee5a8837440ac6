"""Looking at models and at the machine underneath; files from the network."""

from .tensor_sanity_check import TensorSanityCheck

__all__ = ["TensorSanityCheck"]
