"""GPUs of a process, by a stand-in for libcuda that describes them and does nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tessera
from tessera import device

FAKE = Path.cwd() / "tests/runtime/cuda/libcuda_fake.so"
GPU_FUNCTIONS = {
    "get_cuda_compute_capability": (0,),
    "get_cuda_device_property": (0,),
    "get_cuda_driver_version": (),
    "get_cuda_version": (),
}

needs_toolkit = pytest.mark.skipif(
    "toolkit" in tessera._core.doctor()["gpu"], reason="built without the CUDA toolkit"
)


@pytest.fixture
def with_fake(tmp_path):
    """Runs a program in which the loader finds the stand-in first; gives what it prints."""
    (tmp_path / "libcuda.so.1").symlink_to(FAKE)

    def run(code, gpus=2, **variables):
        done = subprocess.run(
            [sys.executable, "-c", "import tessera\nfrom tessera import device\n" + code],
            capture_output=True,
            text=True,
            env=os.environ | {"LD_LIBRARY_PATH": str(tmp_path), "FAKE_GPUS": str(gpus)} | variables,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


@pytest.mark.skipif(device.is_cuda_available(), reason="there is a GPU")
@pytest.mark.parametrize("name", GPU_FUNCTIONS)
def test_without_a_gpu_the_reason_is_told(name):
    cause = tessera._core.doctor()["gpu"].removeprefix("none ")
    with pytest.raises(RuntimeError) as caught:
        getattr(device, name)(*GPU_FUNCTIONS[name])
    assert str(caught.value) == f"{name}: there is no GPU {cause}"
    assert cause.startswith("(") and cause.endswith(")")


@needs_toolkit
def test_the_driver_is_opened_when_a_gpu_is_asked_for(with_fake):
    code = """
def is_open():
    return "libcuda" in open("/proc/self/maps").read()

print(is_open())
(tessera.tensor([1.0], device="cpu0") + tessera.tensor([1.0], device="xpux")).numpy()
print(is_open())
print(device.get_device_count("gpu"), is_open())
"""
    assert with_fake(code) == ["False", "False", "2 True"]


@needs_toolkit
def test_a_driver_is_asked_for_its_gpus(with_fake):
    code = """
print(device.is_cuda_available(), device.get_cuda_driver_version())
print(device.get_cuda_version() // 1000 >= 12)
for number in range(2):
    print(device.get_cuda_compute_capability(number), *device.get_cuda_device_property(number))
for number in (2, -1):
    try:
        device.get_cuda_device_property(number)
    except ValueError as error:
        print(error)
tessera.show_versions()
"""
    lines = with_fake(code)
    wrong = "get_cuda_device_property: device must be the number of a GPU (of 2), got "
    assert lines[:6] == [
        "True 12040",
        "True",
        f"90 Fake GPU 80 {80 << 30} 9 0",
        f"86 Fake GPU 24 {24 << 30} 8 6",
        wrong + "2",
        wrong + "-1",
    ]
    assert "gpu          2 (Fake GPU 80, sm_90, Fake GPU 24, sm_86, driver 12.4)" in lines
    assert "devices      ['cpu0', 'sim0', 'null0', 'gpu0', 'gpu1']" in lines


@needs_toolkit
def test_a_driver_without_a_gpu_is_the_reason(with_fake):
    code = """
print(device.get_device_count("gpu"), tessera._core.doctor()["gpu"])
try:
    tessera.tensor([1.0], device="gpu0")
except ValueError as error:
    print(error)
"""
    assert with_fake(code, gpus=0) == [
        "0 none (cuda: the driver has no GPU (cuDeviceGetCount says 0))",
        "tensor: device must be one of cpu0, sim0, null0, got 'gpu0'",
    ]


@needs_toolkit
def test_a_gpu_that_does_not_start_is_an_error(with_fake):
    code = """
for attempt in range(2):
    try:
        tessera.tensor([1.0], device="gpu1")
    except RuntimeError as error:
        print(error)
print((tessera.tensor([1.0]) + 1).tolist())
"""
    lines = with_fake(code)
    start = "cuda: cuDevicePrimaryCtxRetain must succeed, got FAKE_NOT_SUPPORTED (801: "
    assert lines[0].startswith(start) and lines[1] == lines[0]
    assert lines[2:] == ["[2.0]"]


@needs_toolkit
def test_a_gpu_is_lost_in_a_fork(with_fake):
    code = """
import os
from tessera.data.start_method import context_of
x = tessera.device.Device("gpu0")
print(context_of(None).get_start_method(), flush=True)
child = os.fork()
if not child:
    try:
        tessera.tensor([1.0], device="gpu0").numpy()
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print((tessera.tensor([1.0], device="cpu0") + 1).tolist(), flush=True)
os._exit(0)
"""
    method, lost, last = with_fake(code, FAKE_STARTS="1")
    assert method == "forkserver" and last == "[2.0]"
    assert lost.startswith("gpu0: device was lost (in a fork, whose parent has it;")
