"""Files as values: which of the known kinds a file is, and what it holds."""

import io
import struct

from .._known_form import has_known_form
from .dtypes import PARTS, raw_dtype, storage_of
from .safetensors import SafetensorsReader, check_end, read_up_to, take_from_file, take_from_map
from .structure import Decoder, tree_of

_HEAD = 9  # bytes that tell the kinds of files apart
_MOST_HEADER = 1 << 32  # a pickle's first 8 bytes, read as the length of a header, are more
_ANY_DEVICE = "xpux"
# The errors that libraries raise for a structure or a directory that save did not write.
_DAMAGE = (ValueError, LookupError, TypeError, ArithmeticError, RuntimeError, AttributeError,
           struct.error)  # fmt: skip


class Reader:
    """Reads files; `locate` and `decode_pickle` are those of a Decoder."""

    def __init__(self, locate, decode_pickle):
        self._locate, self._decode_pickle = locate, decode_pickle

    def read(self, file):
        """What the binary file holds; ends behind it. ValueError where it is damaged or unknown."""
        return self._read(file, whole=False, mapped=False)

    def read_whole(self, file, mapped):
        """As `read`, for a file that must hold nothing else; `mapped` takes its memory."""
        return self._read(file, whole=True, mapped=mapped)

    def _read(self, file, whole, mapped):
        try:
            head = read_up_to(file, _HEAD)
            if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < _MOST_HEADER:
                return self._read_safetensors(file, head, whole, mapped)
            if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
                return self._read_archive(file, head, mapped)
            if head[:1] == b"\x80":
                return self._read_pickle(file, head, mapped)
        except OSError:  # that of a file for the other direction is one of the next, too
            raise
        except EOFError as error:
            raise ValueError(f"load: the file must be whole, got {error}") from None
        except _DAMAGE as error:
            if has_known_form(error) and not isinstance(error, TypeError):
                raise
            raise ValueError(f"load: the file must be one that save wrote, got {error!r}") from None
        if not head:
            raise ValueError("load: the file must have bytes from its position on, got its end")
        raise ValueError(
            f"load: the file must be one that save wrote, a safetensors file or a MegEngine "
            f"checkpoint, got one that begins with {head!r}"
        )

    def _read_safetensors(self, file, head, whole, mapped):
        take = take_from_map(file) if mapped else take_from_file(file, head)
        reader = SafetensorsReader(take)
        if whole:
            check_end(take)
        tree = tree_of(reader.metadata)
        if tree is None:
            return self._tensors(reader, mapped)
        array = _checked_arrays(reader, compare=not mapped)
        return Decoder(array, self._locate, self._decode_pickle, shared=mapped).decode(tree)

    def _tensors(self, reader, mapped):
        decoder = Decoder(None, self._locate, None, shared=mapped)
        return {
            name: decoder.tensor(reader.array(name), reader.dtype(name), _ANY_DEVICE)
            for name in reader.names()
        }

    def _read_archive(self, file, head, mapped):
        import zipfile

        from .archive import ArchiveReader

        _check_unmapped(mapped, "a zip archive")
        if not (hasattr(file, "seekable") and file.seekable()):
            file = io.BytesIO(head + file.read())
        try:
            archive = ArchiveReader(file)
            return Decoder(archive.array, self._locate, None).decode(archive.tree)
        except (zipfile.BadZipFile, zipfile.LargeZipFile) as error:
            raise ValueError(f"load: the file must be a whole zip archive, got {error}") from None

    def _read_pickle(self, file, head, mapped):
        from .megengine import read_pickle

        _check_unmapped(mapped, "a pickle")
        return read_pickle(head + file.read(), self._locate)


def _check_unmapped(mapped, kind):
    if mapped:
        raise ValueError(
            f"load: a file for mmap=True must have the layout of safetensors, got {kind}; load it "
            f"without and save it again"
        )


def _checked_arrays(reader, compare):
    """What gives a Decoder its arrays; with `compare` their checksums must fit."""

    def _array(body):
        name, shape, dtype = body["member"], tuple(body["shape"]), body["dtype"]
        array, part = reader.array(name), PARTS.get(dtype, storage_of(dtype))
        stored = (*shape, 2) if dtype in PARTS else shape
        if (reader.dtype(name), array.shape) != (part, stored):
            raise KeyError(f"{reader.dtype(name)} {list(array.shape)} for {name!r}")
        if compare and reader.checksum(name) != body["crc32"]:
            raise ValueError(
                f"load: the bytes of a tensor must be as its checksum says, got others for {name!r}"
            )
        return (
            array if dtype not in PARTS else array.reshape(-1).view(raw_dtype(dtype)).reshape(shape)
        )

    return _array
