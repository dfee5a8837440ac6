"""The layout of safetensors (github.com/huggingface/safetensors): the length of the header, 8
bytes, little-endian; the header, JSON of each tensor's dtype, shape and place; the numbers without
gaps.

Tensors lie in order of their element's size, and the header ends at a multiple of 64 bytes, so
that each is aligned in a mapped file.
"""

import json
import math
import mmap
import zlib

import numpy as np

from .dtypes import CODES, bytes_of, raw_dtype

_METADATA = "__metadata__"
_NAMES = {code: name for name, code in CODES.items()}
_LENGTH, _ALIGNMENT, _CHUNK = 8, 64, 1 << 24


def write_safetensors(file, arrays, metadata):
    """Writes to the binary file `file` the `arrays`, by name: (dtype's name, array of its bits).

    `metadata` is text by text.
    """
    order = sorted(arrays, key=lambda name: (-arrays[name][1].itemsize, name))
    header, end = {_METADATA: metadata}, 0
    for name in order:
        dtype, array = arrays[name]
        begin, end = end, end + array.nbytes
        entry = {"dtype": CODES[dtype], "shape": list(array.shape)}
        header[name] = {**entry, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(_LENGTH + len(text)) % _ALIGNMENT)
    _write_all(file, len(text).to_bytes(_LENGTH, "little") + text)
    for name in order:
        _write_all(file, bytes_of(arrays[name][1]))


def _write_all(file, data):
    data = memoryview(data)
    while data.nbytes:  # unbuffered files may take less
        written = file.write(data)
        if not isinstance(written, int):
            return
        data = data[written:]


class SafetensorsReader:
    """What a file holds: `metadata`, text by text, and tensors by name.

    `take(count)` gives the next bytes of the file. ValueError where the file is damaged.
    """

    def __init__(self, take):
        length = int.from_bytes(take(_LENGTH), "little")
        header = json.loads(bytes(take(length)))
        self.metadata = header.pop(_METADATA, {})
        self._entries = {name: _entry(name, given) for name, given in header.items()}
        _check_places([place for _, _, place in self._entries.values()])
        order = sorted(self._entries.items(), key=lambda item: item[1][2])
        self._data = {name: take(end - begin) for name, (_, _, (begin, end)) in order}

    def names(self):
        """The tensors' names, in the order of the header."""
        return list(self._entries)

    def dtype(self, name):
        """The name of a tensor's dtype."""
        return self._entries[name][0]

    def array(self, name):
        """The bits of a tensor, in its shape."""
        dtype, shape, _ = self._entries[name]
        return np.frombuffer(self._data[name], dtype=raw_dtype(dtype)).reshape(shape)

    def checksum(self, name):
        """The CRC-32 of a tensor's bytes."""
        return zlib.crc32(self._data[name])


def _entry(name, given):
    code, shape, (begin, end) = given["dtype"], given["shape"], given["data_offsets"]
    if code not in _NAMES:
        raise ValueError(
            f"load: the dtype of a tensor must be one of {list(_NAMES)}, got {code!r} for {name!r}"
        )
    if not all(type(number) is int and number >= 0 for number in (*shape, begin, end)):
        raise KeyError(f"shape {shape!r} at {begin!r} to {end!r}")
    expected = math.prod(shape) * raw_dtype(_NAMES[code]).itemsize
    if end - begin != expected:
        raise ValueError(
            f"load: a tensor of {code} {shape} must have {expected} bytes, got {end - begin}"
        )
    return _NAMES[code], tuple(shape), (begin, end)


def _check_places(places):
    reached = 0
    for begin, end in sorted(places):
        if begin != reached:
            raise KeyError(f"bytes {reached} to {begin}, which must be one tensor's")
        reached = end


def read_up_to(file, count):
    """The next `count` bytes of a binary file, fewer at its end."""
    data = bytearray()
    while len(data) < count:
        part = file.read(min(count - len(data), _CHUNK))  # memory for no more than comes
        if not part:
            break
        data += part
    return data


def take_from_file(file, head):
    """A `take` over a binary file of which `head` is already read."""
    ahead = bytearray(head)

    def _take(count):
        data, ahead[:] = ahead[:count], ahead[count:]
        data += read_up_to(file, count - len(data))
        if len(data) < count:
            raise EOFError(f"{len(data)} of {count} bytes")
        return data

    return _take


def take_from_map(file):
    """A `take` over the memory of a file, which it maps; writing to the memory leaves the file."""
    view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    place = 0

    def _take(count):
        nonlocal place
        data = view[place : place + count]
        if len(data) < count:
            raise EOFError(f"{len(data)} of {count} bytes")
        place += count
        return data

    return _take


def check_end(take):
    """ValueError where `take` has more to give."""
    try:
        take(1)
    except EOFError:
        return
    raise ValueError("load: the file must end where its header says, got more bytes")
