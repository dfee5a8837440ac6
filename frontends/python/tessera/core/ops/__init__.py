"""Operators as classes."""

from . import builtin

__all__ = ["builtin"]
