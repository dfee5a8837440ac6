"""Writes a plain wheel of the package: its tree, programs, and shared libraries a machine may lack.

usage: python -m tools.commands.make_wheel [--extension FILE] PACKAGE DIST [PROGRAM ...]
PACKAGE and DIST are folders. FILE takes the place of the package's extension; the name of the
extension says for which Python the wheel is. It looks for libraries in `_libs` beside it first (an
RPATH, so that it holds for their dependencies too), a program in `bin` as well. A program is a
command where the wheel is installed.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

from tools.commands import wheel_metadata, wheel_platform

EXTENSION = re.compile(r"_core\.cpython-(\d+t?)-x86_64-linux-gnu\.so")
# Libraries that the extension opens when it first needs them.
OPENED_LIBRARIES = ("libopenblas.so.0",)
COMMAND = """#!python
import importlib.util, os, sys
package = os.path.dirname(importlib.util.find_spec("tessera").origin)
program = os.path.join(package, "bin", "{name}")
os.execv(program, [program, *sys.argv[1:]])
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: tools/dev wheel\nRoot-Is-Purelib: false\nTag: {tag}\n"


def package_files(package, extension=None):
    """The files by their name in the wheel; `extension` in the place of the package's own."""
    files = {
        f"{package.name}/{path.relative_to(package)}": path
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    if extension:
        own = [name for name, path in files.items() if EXTENSION.fullmatch(path.name)]
        files = {name: path for name, path in files.items() if name not in own}
        files[f"{package.name}/{extension.name}"] = extension
    return files


def tag_of(files):
    """The tag of a wheel with these files: one extension, and libraries."""
    versions = [match[1] for path in files.values() if (match := EXTENSION.fullmatch(path.name))]
    if len(versions) != 1:
        sys.exit(f"make_wheel: the package must have one extension, got {len(versions)}")
    python = f"cp{versions[0]}"
    return f"{python}-{python}-{wheel_platform.tag_of(files.values())}"


def program_files(package, programs):
    return {f"{package.name}/bin/{path.name}": path for path in map(pathlib.Path, programs)}


def needed_libraries(extension):
    listing = subprocess.run(
        ["ldd", str(extension)], check=True, capture_output=True, text=True
    ).stdout
    found = re.findall(r"^\s*(\S+) => (/\S+)", listing, flags=re.MULTILINE)
    return {
        name: pathlib.Path(path)
        for name, path in found
        if not wheel_platform.SYSTEM_LIBRARIES.match(name)
    }


def opened_libraries():
    """The opened libraries by their name, where the loader has them."""
    listing = subprocess.run(
        ["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True
    ).stdout
    found = dict(re.findall(r"^\s*(\S+) \(libc6,x86-64.*\) => (/\S+)", listing, flags=re.MULTILINE))
    if missing := [name for name in OPENED_LIBRARIES if name not in found]:
        sys.exit(f"make_wheel: each library must be installed, got no {missing[0]}")
    return {name: pathlib.Path(found[name]) for name in OPENED_LIBRARIES}


def bundled_libraries(package, files, programs):
    opened = opened_libraries()
    libraries = dict(opened)
    for path in opened.values():
        libraries.update(needed_libraries(path))
    for name, path in files.items():
        if name.endswith(".so") or name in programs:
            libraries.update(needed_libraries(path))
    return {f"{package.name}/_libs/{name}": path for name, path in sorted(libraries.items())}


def read_version(package):
    match = re.search(
        r'^__version__ = "([^"]+)"', (package / "_versions.py").read_text(), flags=re.MULTILINE
    )
    if not match:
        sys.exit(
            f'make_wheel: {package}/_versions.py must have a line __version__ = "...", got none'
        )
    return match.group(1)


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def write_wheel(path, contents, info, executable):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o100755 if name in executable else 0o100644
            entry.external_attr = mode << 16  # of a plain file
            wheel.writestr(entry, content)
        record = "".join(record_line(name, content) for name, content in contents.items())
        wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")


def main(package, dist, *programs, extension=None):
    package, version = pathlib.Path(package), read_version(pathlib.Path(package))
    executable = program_files(package, programs)
    files = {**package_files(package, extension and pathlib.Path(extension)), **executable}
    files.update(bundled_libraries(package, files, executable))
    tag = tag_of(files)
    contents = {name: path.read_bytes() for name, path in files.items()}
    info = f"tessera-{version}.dist-info"
    commands = {
        f"tessera-{version}.data/scripts/{program.name}": COMMAND.format(name=program.name).encode()
        for program in map(pathlib.Path, programs)
    }
    contents.update(commands)
    bundled = [pathlib.PurePosixPath(name).name for name in files if "/_libs/" in name]
    contents.update(wheel_metadata.files(info, version, bundled))
    contents[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    path = pathlib.Path(dist) / f"tessera-{version}-{tag}.whl"
    write_wheel(path, contents, info, executable.keys() | commands.keys())
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser("make_wheel")
    arguments.add_argument("--extension")
    for name in ("package", "dist"):
        arguments.add_argument(name)
    arguments.add_argument("programs", nargs="*")
    given = arguments.parse_args()
    main(given.package, given.dist, *given.programs, extension=given.extension)
