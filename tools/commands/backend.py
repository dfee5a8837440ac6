"""Hooks of PEP 517, which `pip install .` calls: they give the wheel that Bazel builds."""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Variables by which pip isolates a build; they would change the project's own environment.
ISOLATION = {"PYTHONPATH", "PYTHONNOUSERSITE"}
# The Python that `tools/dev wheel` takes where none is named: Debian's.
DEFAULT_VERSION = (3, 11)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Runs `tools/dev wheel` for the Python that asks, and returns the name of the wheel, which it
    copies to `wheel_directory`.
    """
    environment = {name: value for name, value in os.environ.items() if name not in ISOLATION}
    command = [ROOT / "tools" / "dev", "wheel"]
    if sys.version_info[:2] != DEFAULT_VERSION:
        command += ["--python", sys.executable]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(
            "tessera is built by Bazel on Debian 12: `tools/dev wheel` must succeed and then "
            "`pip install dist/tessera-*.whl`, got the error above"
        )
    wheel = ROOT / "dist" / pathlib.Path(done.stdout.splitlines()[-1].partition(" (")[0]).name
    shutil.copy(wheel, wheel_directory)
    return wheel.name


def build_sdist(sdist_directory, config_settings=None):
    """Refuses: a source distribution could not build itself."""
    raise SystemExit("tessera has no source distribution: clone it and run `tools/dev wheel`")
