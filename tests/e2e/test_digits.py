"""The main job as its user runs it, at small size and whole."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = ["digits.tess", "digits_test.npy", "out.npy", "demo.png", "epoch2.ckpt"]


def run(output, *options):
    script = ROOT / "frontends" / "examples" / "digits.py"
    path = f"{script.parent}:{os.environ['PYTHONPATH']}"
    tess_run = Path("tools/tess-run").absolute()  # of the runfiles, where tests start
    return subprocess.run(
        [sys.executable, script, *options, "--output", output, "--tess-run", tess_run],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    output = tmp_path_factory.mktemp("demo_out")
    return run(output, "--quick"), output


def test_a_check_that_fails_is_the_exit_code(tmp_path):
    done = run(tmp_path, "--quick", "--epochs", "1")  # too few to learn anything
    assert done.returncode == 1 and "FAIL held-out accuracy" in done.stdout, done.stderr
    assert "C++: no, traced" in done.stdout.strip().splitlines()[-1]


def test_every_check_holds(demo):
    done, _ = demo
    assert done.returncode == 0 and "FAIL" not in done.stdout, done.stdout + done.stderr


def test_all_digits(tmp_path):
    done = run(tmp_path, "--untimed")  # machines that run tests are shared: times prove nothing
    assert done.returncode == 0, done.stdout + done.stderr
    assert "training eagerly, 1437 digits, 20 epochs" in done.stdout
    accuracy = re.search(r"demo: accuracy ([\d.]+) %", done.stdout)
    assert float(accuracy[1]) >= 97.5


def test_on_the_emulated_accelerator(tmp_path, demo):
    """Training, checkpoint, trace, file and C++ there, with the bits of the host."""
    done = run(tmp_path, "--quick", "--device", "sim0")
    assert done.returncode == 0 and "FAIL" not in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "out.npy").read_bytes() == (demo[1] / "out.npy").read_bytes()


def test_last_line(demo):
    last = demo[0].stdout.strip().splitlines()[-1]
    pattern = (
        r"demo: accuracy [\d.]+ %, eager == traced == loaded == C\+\+: yes, "
        r"traced [\d.]+ x faster"
    )
    assert re.fullmatch(pattern, last), last


@pytest.mark.parametrize("mode", ["eager", "traced"])
def test_progress_shows_loss_and_speed(demo, mode):
    bars = demo[0].stderr.replace("\r", "\n").splitlines()
    done = [bar for bar in bars if bar.startswith(f"{mode} training: 100%")]
    assert done and re.search(r"[\d.]+step/s|[\d.]+s/step", done[-1])
    assert re.search(r"epoch=4, loss=\d+\.\d{4}", done[-1]), done[-1]


def test_every_file_is_written(demo):
    assert [name for name in WRITTEN if not (demo[1] / name).stat().st_size] == []
    logits = np.load(demo[1] / "out.npy")
    assert logits.shape == (360, 10) and logits.dtype == np.float32


def test_the_picture_shows_something(demo):
    from matplotlib import image

    pixels = image.imread(demo[1] / "demo.png")[..., :3]
    assert pixels.shape[0] > 300 and pixels.std() > 0.05
