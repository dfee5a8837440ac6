"""save and load."""

import contextlib
import io
import os

from .. import _core
from .._known_form import has_known_form
from .location import locator
from .modules import check_protocol, decode_module, module_encoder, refuse_module
from .reader import Reader
from .safetensors import write_safetensors
from .structure import Encoder, metadata_of


def save(obj, f, *, pickle_protocol=None):
    """Writes `obj` in the layout of safetensors, where other tools find its tensors by name.

    Args:
        obj: tensors, NumPy arrays, numbers, strings, bytes, None and modules, in dicts, lists,
            tuples, sets and slices; what stands in two places is one object when it is loaded
        f: a path, whose file is replaced in one step and keeps its mode bits, or a binary file
        pickle_protocol: that of the pickles that hold modules, 0 to 5; None: Python's default

    Raises:
        TypeError: anything else in obj, named by its place
        ValueError: containers must not hold themselves, the protocol must be one of Python's
        OSError: the file must be writable; the file of before stays

    Example:
        >>> import tessera as ts
        >>> import io
        >>> file = io.BytesIO()
        >>> ts.save({"epoch": 3, "names": ("a", "b")}, file)
        >>> ts.load(io.BytesIO(file.getvalue()))
        {'epoch': 3, 'names': ('a', 'b')}
    """
    encoder = Encoder(module_encoder(check_protocol(pickle_protocol)))
    metadata = metadata_of(encoder.encode(obj))
    if hasattr(f, "write"):
        _check_binary("save", f)
        with _named("save", "the file", "writable"):
            write_safetensors(f, encoder.arrays, metadata)
        return
    path = _path("save", f)
    with _named("save", path, "writable"):
        _replace(
            os.path.realpath(path), lambda file: write_safetensors(file, encoder.arrays, metadata)
        )


def _replace(path, write):
    """Replaces the file in one step by what `write(file)` writes."""

    def _write_to(descriptor):
        with contextlib.suppress(FileNotFoundError):  # a new file has the mode of new files
            os.fchmod(descriptor, os.stat(path).st_mode & 0o777)
        with open(descriptor, "w+b", closefd=False) as file:
            write(file)

    _core.replace_file(path, _write_to)


def load(f, map_location=None, *, allow_code=False, mmap=False):
    """What `save` wrote; of other safetensors files a dict of tensors; of MegEngine's checkpoints
    their containers, arrays and tensors.

    Args:
        f: a path, or a binary file, which is read from its position on
        map_location: the device of the tensors: its name, a dict from the name of the device that
            they were on, or a function of that name; None: the default device
        allow_code: whether the file may run code, which a saved module needs, if it is no
            TracedModule; only for files that you trust
        mmap: whether tensors and arrays lie in the mapped file instead of being read; writing to
            them changes no file; checksums are not compared; bfloat16 and float8 are read

    Returns:
        the value; its tensors have the shapes, dtypes, names and classes of before

    Raises:
        FileNotFoundError: the file must exist
        OSError: the file must be readable
        ValueError: the file must be whole and of one of these kinds, and without code unless
            allow_code is True

    Example:
        >>> import tessera as ts
        >>> import io
        >>> file = io.BytesIO()
        >>> ts.save([1.5, slice(2)], file)
        >>> _ = file.seek(0)
        >>> ts.load(file)
        [1.5, slice(None, 2, None)]
    """
    reader = Reader(locator(map_location), decode_module if allow_code else refuse_module)
    if hasattr(f, "read"):
        if mmap:
            raise ValueError(f"load: f must be a path for mmap=True, got {type(f).__name__}")
        _check_binary("load", f)
        with _named("load", "the file", "readable"):
            return reader.read(f)
    path = _path("load", f)
    with _named("load", path, "readable"), open(path, "rb") as file:
        return reader.read_whole(file, mmap)


def _path(name, f):
    try:
        return os.fsdecode(f)
    except TypeError:
        raise TypeError(
            f"{name}: f must be a path or a binary file, got {type(f).__name__}"
        ) from None


def _check_binary(name, file):
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"{name}: the file must be binary, got {type(file).__name__}")
    if getattr(file, "closed", False):
        raise ValueError(f"{name}: the file must be open, got a closed one")


@contextlib.contextmanager
def _named(name, path, must):
    """Gives what the system says of a file the form of every message."""
    try:
        yield
    except OSError as error:
        if has_known_form(error):
            raise
        says = error.strerror or str(error) or type(error).__name__
        new = type(error)(f"{name}: {path} must be {must}, got {says[0].lower() + says[1:]}")
        new.errno = error.errno
        raise new from error
