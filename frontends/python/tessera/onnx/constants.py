"""The value of a Constant node."""

import numpy as np

_DTYPES = {
    "value_float": "float32",
    "value_floats": "float32",
    "value_int": "int64",
    "value_ints": "int64",
}


def constant_array(node):
    """The array of a node Constant, whichever of its attributes has it."""
    if node["value"] is not None:
        return node["value"]
    for name, dtype in _DTYPES.items():
        if node[name] is not None:
            return np.array(node[name], dtype)
    return node.refuse("value must be a dense tensor of numbers", sorted(node.attributes))
