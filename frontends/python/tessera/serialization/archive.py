"""Files of version 1: a zip archive of `tree.json` and one raw little-endian row-major member for
each array. They are read, and no longer written from Python.
"""

import json
import math
import os
import zipfile

import numpy as np

from .dtypes import DTYPES, raw_dtype
from .structure import check_header

_TREE = "tree.json"
_VERSION = 1


class ArchiveReader:
    """The structure of an archive, and its arrays."""

    def __init__(self, file):
        self._archive = zipfile.ZipFile(file)
        _check_members(self._archive)
        self.tree = check_header(json.loads(self._archive.read(_TREE)), _VERSION)

    def array(self, body):
        """The bits of the array of which a node of the structure says `body`."""
        name, shape = body["dtype"], body["shape"]
        if name not in DTYPES or not all(type(dim) is int and dim >= 0 for dim in shape):
            raise KeyError(f"dtype {name!r}, shape {shape!r}")
        info = self._archive.getinfo(f"arrays/{body['member']}")
        expected = math.prod(shape) * raw_dtype(name).itemsize
        if info.file_size != expected:
            raise ValueError(
                f"load: an array of {name} {shape} must have {expected} bytes, got {info.file_size}"
            )
        data = bytearray(self._archive.read(info))  # writable
        del self._archive.NameToInfo[info.filename]  # two kinds of node cannot copy it twice
        return np.frombuffer(data, dtype=raw_dtype(name)).reshape(shape)


def _check_members(archive):
    """Members as save wrote them take no more than the file: none is compressed or lies over
    another.
    """
    members = archive.infolist()
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED:
            raise KeyError(f"compressed member {member.filename!r}")
    if sum(member.file_size for member in members) > archive.fp.seek(0, os.SEEK_END):
        raise KeyError("members over each other")
