"""Files from the network, checked by their MD5 sum."""

import hashlib
import os
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from ..logger import get_logger
from .progress import progress_bar

_CHUNK = 1 << 20


def download(tool, url, path, md5=None, timeout=500):
    """Writes what `url` gives to `path`, whole or not at all; `timeout` is in seconds.

    RuntimeError where the network fails or the MD5 sum is another one.
    """
    get_logger("download").warning("%s: downloading %s to %s", tool, url, path)
    part = Path(f"{path}.part{os.getpid()}")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        with urlopen(url, timeout=timeout) as source, open(part, "wb") as target:
            _copy(source, target, f"{tool}: {Path(path).name}")
        check_md5(tool, part, md5)
        part.replace(path)
    except (URLError, OSError, ValueError) as error:
        raise RuntimeError(f"{tool}: {url} must come to {path}, got {error}") from error
    finally:
        part.unlink(missing_ok=True)


def _copy(source, target, description):
    with progress_bar(description, _size_of(source), unit="B") as bar:
        while chunk := source.read(_CHUNK):
            target.write(chunk)
            bar.update(len(chunk))


def _size_of(source):
    """Bytes that the server says it sends, or None."""
    size = source.headers.get("Content-Length", "")
    return int(size) if size.isdecimal() else None


def check_md5(tool, path, md5):
    """ValueError where the file `path` has another MD5 sum; None for `md5` takes any."""
    digest = hashlib.md5(usedforsecurity=False)
    with open(path, "rb") as source:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
    if md5 not in (None, digest.hexdigest()):
        raise ValueError(f"{tool}: {path} must have the MD5 sum {md5}, got {digest.hexdigest()}")
