"""An answer of a worker on its way to the parent.

What is small goes through the pipe, large arrays through shared memory. The memory has no name: the
kernel frees it when nobody holds it, however the processes end.
"""

import os
import pickle
import struct
from contextlib import suppress
from itertools import accumulate
from multiprocessing import reduction

import numpy as np

_HEAD = struct.Struct("<I")  # how many arrays go through shared memory; their sizes follow
_LARGE = 1 << 16  # bytes from which an array goes through shared memory


def send(pipe, ticket, answer):
    """Sends `answer` under the number `ticket`; MemoryError where shared memory has no room."""
    large = []

    def _is_small(buffer):  # pickle keeps a buffer to itself when this is true
        view = buffer.raw()
        if view.nbytes < _LARGE:
            return True
        large.append(view)
        return False

    data = pickle.dumps((ticket, answer), protocol=5, buffer_callback=_is_small)
    sizes = [view.nbytes for view in large]
    head = _HEAD.pack(len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes)
    if not large:
        pipe.send_bytes(head + data)
        return
    memory = _filled(large)
    try:
        pipe.send_bytes(head + data)
        reduction.send_handle(pipe, memory, None)
    finally:
        os.close(memory)


def receive(pipe):
    """The next `(ticket, answer)`; EOFError where the worker is gone."""
    message = memoryview(pipe.recv_bytes())
    (number,) = _HEAD.unpack_from(message)
    if not number:
        return pickle.loads(message[_HEAD.size :])
    sizes = struct.unpack_from(f"<{number}Q", message, _HEAD.size)
    memory = reduction.recv_handle(pipe)
    try:
        starts = [0, *accumulate(sizes)]
        buffers = [_read(memory, *each) for each in zip(starts, sizes, strict=False)]
    finally:
        os.close(memory)
    return pickle.loads(message[_HEAD.size + 8 * number :], buffers=buffers)


def free_memory():
    """Bytes that this machine can still give, or None where it does not tell."""
    with suppress(OSError, ValueError), open("/proc/meminfo") as lines:
        table = dict(line.split(":", 1) for line in lines)
        fields = [table.get(name, "0") for name in ("MemAvailable", "SwapFree")]
        return sum(int(field.split()[0]) for field in fields) * 1024
    return None


def _filled(views):
    """Shared memory that holds `views` one after the other, as a file descriptor."""
    size, free = sum(view.nbytes for view in views), free_memory()
    must = f"DataLoader: shared memory must have room for the {size} bytes of a batch"
    if free is not None and size > free:
        raise MemoryError(f"{must}, got {free} bytes free")
    memory = None
    try:
        memory = os.memfd_create("tessera-batch")
        for view in views:
            _write(memory, view)
    except OSError as error:
        if memory is not None:
            os.close(memory)
        raise MemoryError(f"{must}, got {error}") from error
    return memory


def _write(memory, view):
    while view.nbytes:
        view = view[os.write(memory, view) :]


def _read(memory, start, size):
    array = np.empty(size, dtype=np.uint8)
    done = 0
    while done < size:
        got = os.preadv(memory, [array[done:]], start + done)
        if not got:
            raise EOFError(f"DataLoader: a batch must have {size} bytes, got {done}")
        done += got
    return array
