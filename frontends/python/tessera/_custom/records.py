"""Operators of records, in the vocabulary of Tessera's own ones, loaded while running."""

import os
import pathlib
import shutil
import subprocess

from .. import _core
from .registry import Namespace, add, namespaces

_PACKAGE = pathlib.Path(__file__).parent.parent
_GENERATOR = "tess-tblgen"


def _generator():
    wanted = os.environ.get("TESS_TBLGEN")
    beside = _PACKAGE / "bin" / _GENERATOR
    found = wanted or (str(beside) if beside.is_file() else shutil.which(_GENERATOR))
    if found and shutil.which(found):
        return found
    raise FileNotFoundError(
        f"load_records: {_GENERATOR} must be there (TESS_TBLGEN, in the package, or on PATH),"
        f" got {wanted or 'none'}"
    )


def rows_of(path, include_paths=()):
    """The text that `tess-tblgen` writes of a `.td` file.

    Raises:
        FileNotFoundError: there is no generator, or no such file.
        ValueError: a record is wrong; the generator's text is the message.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(f"load_records: a file must open, got '{os.fspath(path)}'")
    folders = [_PACKAGE / "include", pathlib.Path(path).resolve().parent, *include_paths]
    command = [_generator(), "--gen-tess-rows", *(f"-I{each}" for each in folders), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"load_records: records must be right, got\n{done.stderr.strip()}")
    return done.stdout


def load_records(path, *, include_paths=()):
    """Loads operators from records, which `tessera.ops` has from then on.

    They are rows like those of Tessera's own operators: compiled, fused, differentiated, traced
    and saved as these are. They stay to the end of the process; loading equal records again gives
    what is there.

    Args:
        path: a `.td` file, of which `tess-tblgen` makes rows, or the file that it wrote
            (`tess-tblgen --gen-tess-rows`).
        include_paths: more folders for what a `.td` file includes.

    Returns:
        The Namespace of its operators: `ops.<library>`.

    Raises:
        FileNotFoundError: there is no such file, or no generator for a `.td` file.
        NotImplementedError: another version of Tessera wrote the file.
        ValueError: a record says what is not allowed, or has the name of another operator.

    >>> import tessera as ts
    >>> try:
    ...     ts.load_records("nothing.json")
    ... except FileNotFoundError as error:
    ...     print("not there")
    not there
    """
    if os.fspath(path).endswith(".td"):
        rows = _core.add_records(rows_of(path, include_paths), os.path.realpath(path))
    else:
        rows = _core.load_records(os.path.realpath(path))
    add(rows)
    return namespaces()[rows[0]["library"]] if rows else Namespace(os.fspath(path))
