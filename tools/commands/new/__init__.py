"""Writes the files of a new operator, pass, module or optimizer: `tools/dev new KIND NAME`."""
