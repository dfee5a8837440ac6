"""Devices by name: what names mean, which device values are made on, what there is."""

import copy
import pickle

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.device import (
    Device,
    get_default_device,
    get_device_count,
    set_default_device,
)

HOST = ["cpu0", "cpu", "cpux", "cpu1", "cpu0:0", "cpu0:1", "cpu:0", "xpu", "xpux", "xpu0", "xpux:0"]


@pytest.fixture(autouse=True)
def _restored():
    yield
    set_default_device("cpu0")


@pytest.mark.parametrize("name", HOST)
def test_names_of_the_host_are_accepted_everywhere(name):
    x = tessera.Tensor([1, 2], device=name)
    assert x.device == name
    assert name == x.device
    assert not x.device != name  # noqa: SIM202
    assert F.zeros((2,), device=name).device == x.to(name).device == "cpu0"
    assert tessera.Tensor([1], device=x.device).device == x.device
    set_default_device(name)
    assert get_default_device() == name
    assert str(get_default_device()) == name  # the name that was set
    assert tessera.Tensor([3]).device == "cpu0"


def test_a_device_is_a_name_that_compares_by_meaning():
    device = tessera.Tensor([1], device="xpux").device
    assert isinstance(device, str)
    assert (str(device), repr(device)) == ("cpu0", "'cpu0'")
    assert Device("cpu1") == Device("xpux:3") == "cpu0"
    assert Device("sim0") != "cpu0"
    assert Device("cpu0") != "tpu0"
    assert Device("cpu0") != 3
    assert hash(Device("cpu1")) == hash(Device("xpux"))
    assert {"cpu0": 1}[Device("cpux")] == 1
    assert (Device("cpu1").logical_name, Device("cpu1").physical_name) == ("cpu1:0", "cpu0:0")
    assert Device("xpux").logical_name == "xpux:0"
    for again in (copy.deepcopy(Device("cpu1")), pickle.loads(pickle.dumps(Device("cpu1")))):
        assert (again, again.logical_name) == ("cpu0", "cpu1:0")


@pytest.mark.parametrize(
    "name", ["gpu99", "sim1", "null3", "tpu0", "cpu0:", "cpu:x", "", "0", "cpu 0", "cpu-1"]
)
def test_other_names_are_refused(name):
    known = "device must be one of cpu0, sim0, null0(, gpu.*)?, got '" + name + "'"
    for make in (
        lambda: tessera.Tensor([1], device=name),
        lambda: tessera.Tensor([1]).to(name),
        lambda: F.ones((1,), device=name),
        lambda: set_default_device(name),
        lambda: Device(name),
        lambda: tessera.device.get_allocated_memory(name),
    ):
        with pytest.raises(ValueError, match=known):
            make()
    assert tessera.Tensor([1]).device == get_default_device() == "cpu0"


def test_an_array_is_no_device():
    with pytest.raises(ValueError, match=r"tensor: device must be one of .*, got '\[0. 0.\]'"):
        tessera.Tensor([1]).to(np.zeros(2))


def test_counts():
    assert get_device_count("cpu") == get_device_count("xpu") == get_device_count("sim") == 1
    assert tessera.is_cuda_available() == (get_device_count("gpu") > 0)
    with pytest.raises(ValueError, match="get_device_count: kind must be .*, got 'tpu'"):
        get_device_count("tpu")


def test_default_device():
    set_default_device("sim0")
    made = [tessera.Tensor([1.0]), F.zeros((2,)), F.arange(3), tessera.module.Linear(2, 2).weight]
    assert all(each.device == "sim0" for each in made)
    assert tessera.random.normal(size=(2,)).device == "sim0"
    assert F.zeros((2,), device="cpu0").device == "cpu0"
    set_default_device("null0")
    assert F.zeros((2,)).device == "null0"
