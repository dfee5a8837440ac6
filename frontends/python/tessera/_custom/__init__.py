"""Operators that users bring: libraries of them, and operators written in Python."""
