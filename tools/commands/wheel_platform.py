"""The platform tag of a wheel: manylinux_2_N where machines with glibc 2.N have all that its files
ask of the system (PEP 600), else linux_x86_64.
"""

import re
import subprocess

# Libraries that every manylinux machine has (PEP 600); the wheel carries all others.
SYSTEM_LIBRARIES = re.compile(
    r"^(ld-linux.*|lib(c|m|dl|rt|pthread|util|stdc\+\+|gcc_s|z))\.so(\.|$)"
)
# The newest symbols of GCC's libraries that a machine with glibc 2.N has: policies of auditwheel
# 6.8.2 (manylinux-policy.json), of x86-64.
NEWEST = {
    "GLIBCXX": {"3.4.24": 28, "3.4.28": 31, "3.4.29": 34, "3.4.30": 35, "3.4.33": 39},
    "CXXABI": {"1.3.11": 28, "1.3.12": 31, "1.3.13": 34, "1.3.15": 39},
    "GCC": {"7.0.0": 28, "12.0.0": 35, "14.0.0": 39},
    "ZLIB": {"1.2.9": 28, "1.2.12": 37},
}
OLDEST = 28  # of the policies above
MACHINE = "x86_64"


def _numbers(version):
    return tuple(map(int, version.split(".")))


def _minor(name, version):
    """N of the oldest glibc 2.N whose machines have the symbols; None: no policy says."""
    if name == "GLIBC":
        return _numbers(version)[1]
    for newest, minor in NEWEST.get(name, {}).items():
        if _numbers(version) <= _numbers(newest):
            return minor
    return None


def needs(listing):
    """(file, [(name, version)]) for each library in what `readelf --version-info` prints.

    >>> needs(" 0x10: Version: 1  File: libc.so.6  Cnt: 1\\n 0x20:   Name: GLIBC_2.34  Flags: none")
    [('libc.so.6', [('GLIBC', '2.34')])]
    """
    found = []
    for file, name, version in re.findall(
        r"File: (\S+)|Name: ([A-Z]+)_(\d+(?:\.\d+)*) +Flags", listing
    ):
        if file:
            found.append((file, []))
        else:
            found[-1][1].append((name, version))
    return found


def _asked(path):
    """The symbols that a file wants of libraries of the system."""
    listing = subprocess.run(
        ["readelf", "--version-info", "--wide", path], check=True, capture_output=True, text=True
    ).stdout
    wanted = listing.partition("Version needs section")[2]
    for file, versions in needs(wanted):
        if SYSTEM_LIBRARIES.match(file):
            yield from versions


def _is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def tag_of(paths):
    """The tag for these files, which are the whole wheel."""
    asked = {each for path in paths if _is_elf(path) for each in _asked(path)}
    minors = [_minor(*each) for each in asked]
    if None in minors:
        return f"linux_{MACHINE}"
    return f"manylinux_2_{max([OLDEST, *minors])}_{MACHINE}"
