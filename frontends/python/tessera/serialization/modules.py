"""Modules in files: pickled, or the records of a traced one, which need no code; their tensors lie
beside, where other tools find them by name.
"""

import io
import json
import pickle

import numpy as np

from .._known_form import has_known_form
from ..module import Module
from ..tensor import Tensor


def check_protocol(protocol):
    """`pickle_protocol` of save; ValueError where Python has none of that number."""
    if protocol is None:
        return pickle.DEFAULT_PROTOCOL
    if type(protocol) is not int or not 0 <= protocol <= pickle.HIGHEST_PROTOCOL:
        raise ValueError(
            f"save: pickle_protocol must be 0 to {pickle.HIGHEST_PROTOCOL} or None, "
            f"got {protocol!r}"
        )
    return protocol


def module_encoder(protocol):
    """What an Encoder does with a module: the node of its pickle, None for anything else."""

    def _encode(encoder, value, path):
        if not isinstance(value, Module):
            return None
        for name, tensor in value.named_tensors():
            encoder.encode(tensor, (*path, name))
        if hasattr(value, "_records"):
            return _encode_traced(encoder, value, path)
        file = io.BytesIO()
        try:
            _Pickler(file, protocol, encoder, path).dump(value)
        except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
            raise TypeError(
                f"save: a module must be picklable, got {type(value).__name__}, at which Python "
                f"says {error}; save its state_dict()"
            ) from error
        data = np.frombuffer(file.getvalue(), dtype=np.uint8)
        return {"pickle": encoder.encode(data, (*path, "pickle"))["array"]}

    return _encode


def _encode_traced(encoder, module, path):
    """The node of a TracedModule: its records as an array, and the arrays that these refer to."""
    records, arrays = module._records()
    nodes = [encoder.encode(value, (*path, name)) for name, value in arrays]
    data = np.frombuffer(records, dtype=np.uint8)
    body = encoder.encode(data, (*path, "graph"))["array"]
    return {"traced_module": {**body, "arrays": nodes}}


def decode_traced(decoder, data, nodes):
    """The TracedModule of the records `data`; `nodes` are those of its arrays."""
    from ..traced_module.traced_module import load_records  # few need it

    return load_records(data, [decoder.decode(node) for node in nodes])


class _Pickler(pickle.Pickler):
    """Writes the node of each tensor in its place."""

    def __init__(self, file, protocol, encoder, path):
        super().__init__(file, protocol)
        self._encoder, self._path = encoder, path

    def persistent_id(self, value):
        """The node of a tensor, None for what is pickled."""
        if not isinstance(value, Tensor):
            return None
        return json.dumps(self._encoder.encode(value, (*self._path, "tensor")))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, decoder):
        super().__init__(file)
        self._decoder = decoder

    def persistent_load(self, text):
        """The tensor of which `text` is the node."""
        return self._decoder.decode(json.loads(text))


def decode_module(decoder, data):
    """The module that the pickle `data` holds; this runs code of the pickle's choice."""
    try:
        return _Unpickler(io.BytesIO(data), decoder).load()
    except Exception as error:
        if has_known_form(error):
            raise
        raise ValueError(
            f"load: the classes of a saved module must be those of before, got {error!r}"
        ) from error


def refuse_module(decoder, data):
    """As `decode_module` where no code may run: a ValueError."""
    raise ValueError(
        "load: allow_code must be True for a file with a module, which is a pickle and runs code "
        "of the file's choice, got False; a state_dict() loads without"
    )
