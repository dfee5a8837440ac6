"""Accounts of compiled bindings: see README.md."""
