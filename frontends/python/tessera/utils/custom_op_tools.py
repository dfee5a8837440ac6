"""Builds and loads libraries of operators, by MegEngine's names."""

import os
import pathlib
import shlex
import shutil
import subprocess

from .._custom.registry import load_library

INCLUDE = pathlib.Path(__file__).parent.parent / "include"
_COMPILERS = ("c++", "g++", "clang++")


def _compiler():
    wanted = os.environ.get("CXX")
    for name in [wanted] if wanted else _COMPILERS:
        if found := shutil.which(name.split()[0]):
            return [found, *shlex.split(name)[1:]]
    raise FileNotFoundError(
        f"build: a compiler of C++ must be there (CXX), got none of {_COMPILERS}"
    )


def _flags(flags):
    return shlex.split(flags) if isinstance(flags, str) else list(flags)


def build(
    name, sources, extra_cflags="", extra_cuda_cflags="", extra_ldflags="", extra_include_paths=(),
    with_cuda=None, build_dir=None, verbose=False, abi_tag=None,
):  # fmt: skip
    """Compiles sources that include "tessera/custom_op.h" to a library of operators.

    The compiler is CXX of the environment, else c++, g++ or clang++.

    Args:
        name: of the library's file.
        sources: a path, or a list of paths.
        extra_cflags, extra_ldflags: more flags, as a text or a list.
        extra_include_paths: more folders of headers.
        build_dir: where the library is written; without it a folder in the disk cache.
        verbose: whether to show the command.
        extra_cuda_cflags, with_cuda, abi_tag: accepted, and of no use here.

    Returns:
        The path of the library.

    Raises:
        FileNotFoundError: there is no compiler, or no such source.
        RuntimeError: the compiler refuses the sources; its text is the message.
    """
    paths = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    missing = [str(path) for path in paths if not pathlib.Path(path).is_file()]
    if missing or not paths:
        raise FileNotFoundError(f"build: sources must be files, got {missing or 'none'}")
    folder = pathlib.Path(
        build_dir or pathlib.Path.home() / ".cache" / "tessera" / "custom_ops" / name
    )
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"{name}.so"
    includes = [f"-I{path}" for path in (INCLUDE, *extra_include_paths)]
    made = folder / f".{name}.{os.getpid()}.so"
    command = [
        *_compiler(), "-std=c++17", "-O2", "-fPIC", "-shared", *includes, *_flags(extra_cflags),
        *map(str, paths), "-o", str(made), *_flags(extra_ldflags),
    ]  # fmt: skip
    if verbose:
        print(shlex.join(command), flush=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        made.unlink(missing_ok=True)
        raise RuntimeError(f"build: sources must compile, got\n{done.stderr.strip()}")
    made.replace(library)  # a library that is open keeps its file
    return str(library)


def load(lib_path):
    """As `tessera.load_library`: the operators of a library."""
    return load_library(lib_path)


def build_and_load(name, sources, *args, **kwargs):
    """As `build`, then `load`.

    Returns:
        The Namespace of its operators.
    """
    return load(build(name, sources, *args, **kwargs))
