import email
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

from tools.commands import make_wheel, wheel_platform

OWN = "_core.cpython-311-x86_64-linux-gnu.so"
OTHER = "_core.cpython-312-x86_64-linux-gnu.so"
LIBRARY = next(pathlib.Path("/lib/x86_64-linux-gnu").glob("libz.so.1.*"))  # stands for an extension


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "tessera"
    (folder / "nn" / "__pycache__").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "_versions.py").write_text('__version__ = "0.3.1"\n')
    (folder / "nn" / "__init__.py").write_text("answer = 42\n")
    (folder / "nn" / "__pycache__" / "x.pyc").write_text("")
    shutil.copy(LIBRARY, folder / OWN)
    return folder


def test_pip_installs_the_wheel(package, tmp_path):
    make_wheel.main(package, tmp_path)
    (wheel,) = tmp_path.glob("tessera-0.3.1-cp311-cp311-manylinux_2_*_x86_64.whl")
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*install, "--target", tmp_path / "site", wheel], check=True)
    code = "import tessera.nn; print(tessera.nn.answer)"
    environment = {"PYTHONPATH": str(tmp_path / "site")}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert run.stdout == "42\n"


def test_a_program_is_a_command(package, tmp_path):
    program = shutil.copy("/bin/echo", tmp_path / "greet")
    make_wheel.main(package, tmp_path, program)
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
    wheel = next(tmp_path.glob("*.whl"))
    subprocess.run([*install, "--target", tmp_path / "site", wheel], check=True)
    run = subprocess.run(
        [tmp_path / "site" / "bin" / "greet", "hello you"],
        env={"PYTHONPATH": str(tmp_path / "site")}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.stdout == "hello you\n"


def test_caches_stay_out(package, tmp_path):
    make_wheel.main(package, tmp_path)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        assert not [name for name in wheel.namelist() if "pycache" in name]


def metadata_of(wheel, name):
    with zipfile.ZipFile(wheel) as content:
        return content.read(f"tessera-0.3.1.dist-info/{name}").decode()


def test_metadata_are_those_of_the_project(package, tmp_path):
    make_wheel.main(package, tmp_path)
    metadata = email.message_from_string(metadata_of(next(tmp_path.glob("*.whl")), "METADATA"))
    assert (metadata["Name"], metadata["Version"]) == ("tessera", "0.3.1")
    assert metadata["Requires-Python"] == ">=3.11"
    assert 'onnx; extra == "onnx"' in metadata.get_all("Requires-Dist")
    assert metadata.get_payload().startswith("# Tessera")


def test_licences_travel_along(package, tmp_path):
    make_wheel.main(package, tmp_path)
    wheel = next(tmp_path.glob("*.whl"))
    metadata = email.message_from_string(metadata_of(wheel, "METADATA"))
    assert metadata["License-Expression"].startswith("Apache-2.0 AND ")
    texts = metadata.get_all("License-File")
    assert {"LICENSE", "NOTICE", "LICENSES/openblas.txt"} <= set(texts)
    assert all(metadata_of(wheel, f"licenses/{name}") for name in texts)


def test_libraries_beyond_the_system_travel_along():
    import numpy

    extension = numpy._core._multiarray_umath.__file__
    libraries = make_wheel.needed_libraries(extension)
    assert any("openblas" in name for name in libraries)
    assert not [name for name in libraries if name.startswith(("libc.", "libm.", "libstdc++."))]


def test_libraries_that_are_opened_travel_along_with_what_they_need():
    bundled = make_wheel.bundled_libraries(pathlib.Path("tessera"), {}, {})
    assert {"tessera/_libs/libopenblas.so.0", "tessera/_libs/libgfortran.so.5"} <= set(bundled)
    assert all(path.is_file() for path in bundled.values())


def test_another_extension_makes_a_wheel_of_its_python(package, tmp_path):
    other = shutil.copy(LIBRARY, tmp_path / OTHER)
    make_wheel.main(package, tmp_path, extension=other)
    (wheel,) = tmp_path.glob("tessera-0.3.1-cp312-cp312-*.whl")
    with zipfile.ZipFile(wheel) as content:
        assert content.read(f"tessera/{OTHER}") == other.read_bytes()
        assert f"tessera/{OWN}" not in content.namelist()
    assert f"Tag: {wheel.stem.partition('-0.3.1-')[2]}\n" in metadata_of(wheel, "WHEEL")


@pytest.mark.parametrize("names", [[], [OTHER]])
def test_a_package_has_one_extension(package, tmp_path, names):
    if names:
        shutil.copy(LIBRARY, package / OTHER)
    else:
        (package / OWN).unlink()
    with pytest.raises(SystemExit, match="the package must have one extension, got [02]"):
        make_wheel.main(package, tmp_path)


LISTING = """
Version definition section '.gnu.version_d' contains 1 entry:
  0x0000: Rev: 1  Flags: BASE  Index: 1  Cnt: 1  Name: libx.so
Version needs section '.gnu.version_r' contains 2 entries:
  0x0000: Version: 1  File: libstdc++.so.6  Cnt: 2
  0x0010:   Name: GLIBCXX_{glibcxx}  Flags: none  Version: 5
  0x0020:   Name: CXXABI_1.3.13  Flags: none  Version: 4
  0x0030: Version: 1  File: libc.so.6  Cnt: 1
  0x0040:   Name: GLIBC_2.{glibc}  Flags: none  Version: 3
  0x0050: Version: 1  File: libgomp.so.1  Cnt: 1
  0x0060:   Name: GOMP_4.0  Flags: none  Version: 2
"""
TAGS = {
    ("3.4.29", 17): "manylinux_2_34_x86_64",  # CXXABI_1.3.13
    ("3.4.29", 36): "manylinux_2_36_x86_64",
    ("3.4.30", 34): "manylinux_2_35_x86_64",
    ("3.4.99", 34): "linux_x86_64",  # no policy has it
}


@pytest.mark.parametrize(("symbols", "tag"), TAGS.items())
def test_the_platform_is_what_the_symbols_ask(monkeypatch, tmp_path, symbols, tag):
    listing = LISTING.format(glibcxx=symbols[0], glibc=symbols[1])
    done = subprocess.CompletedProcess([], 0, stdout=listing)
    monkeypatch.setattr(wheel_platform.subprocess, "run", lambda *_, **__: done)
    library, text = tmp_path / "libx.so", tmp_path / "x.py"
    library.write_bytes(b"\x7fELF")
    text.write_text("")
    assert wheel_platform.tag_of([library, text]) == tag
    assert wheel_platform.tag_of([text]) == "manylinux_2_28_x86_64"


def test_a_version_is_demanded(package, tmp_path):
    (package / "_versions.py").write_text("")
    with pytest.raises(SystemExit, match="must have a line __version__"):
        make_wheel.main(package, tmp_path)
