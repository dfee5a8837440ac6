"""Measures of results, which MegEngine has in a module of this name."""

from .math import topk_accuracy  # noqa: F401
