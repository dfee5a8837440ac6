import email
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

from tools.commands import make_wheel


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "tessera"
    (folder / "nn" / "__pycache__").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "_versions.py").write_text('__version__ = "0.3.1"\n')
    (folder / "nn" / "__init__.py").write_text("answer = 42\n")
    (folder / "nn" / "__pycache__" / "x.pyc").write_text("")
    return folder


def test_pip_installs_the_wheel(package, tmp_path):
    make_wheel.main(package, tmp_path)
    wheel = tmp_path / "tessera-0.3.1-cp311-cp311-linux_x86_64.whl"
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
    assert metadata["Requires-Python"] == "==3.11.*"
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


def test_a_version_is_demanded(package, tmp_path):
    (package / "_versions.py").write_text("")
    with pytest.raises(SystemExit, match="must have a line __version__"):
        make_wheel.main(package, tmp_path)
