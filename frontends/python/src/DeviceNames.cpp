//===- DeviceNames.cpp - devices by name, for device.py -------------------===//
//
// The extension knows devices, the package their names: device.py gives its class
// of names, of which each device has one object.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/TensorObject.h"

#include "eager/tensor/Placement.h"
#include "runtime/Accelerators.h"
#include "runtime/Devices.h"
#include "runtime/device/Allocator.h"
#include "runtime/sim/SimDevice.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tess::python {

namespace {

/// The package's class; until it is given, names are plain.
nb::object *deviceClass = nullptr;

runtime::Device &deviceNamed(const std::string &name, const std::string &what) {
  return *valueOrThrow(runtime::findDevice(name, what));
}

/// "cpu1:0" for "cpu1"; the name must be that of a device.
std::string logicalName(const std::string &name, const std::string &what) {
  deviceNamed(name, what);
  return runtime::DeviceName::parse(name)->logical();
}

nb::dict memoryStats(const std::string &device) {
  runtime::AllocatorStats memory = deviceNamed(device, "memory_stats").allocator().stats();
  nb::dict stats;
  stats["in_use"] = memory.inUse;
  stats["cached"] = memory.cached;
  stats["peak"] = memory.peak;
  stats["peak_reserved"] = memory.peakReserved;
  stats["limit"] = memory.limit;
  stats["allocations"] = memory.allocations;
  stats["system_allocations"] = memory.systemAllocations;
  return stats;
}

/// (toolkit, driver, [(model, bytes, major, minor)]): two versions of CUDA, and the GPUs.
nb::tuple gpuSystem(const std::string &function) {
  runtime::cuda::GpuSystem system = valueOrThrow(runtime::gpuSystem(function));
  nb::list gpus;
  for (const runtime::cuda::GpuFacts &gpu : system.gpus)
    gpus.append(nb::make_tuple(gpu.model, gpu.memoryBytes, gpu.major, gpu.minor));
  return nb::make_tuple(system.toolkitVersion, system.driverVersion, gpus);
}

/// While it is entered, what the thread makes of no tensor lies on a device.
class PyOnDevice {
public:
  explicit PyOnDevice(const std::string &name) : device(deviceNamed(name, "tensor")) {}
  void enter() { place.emplace(device); }
  void exit(const nb::args &) { place.reset(); }

private:
  runtime::Device &device;
  std::optional<eager::OnDevice> place;
};

std::vector<std::string> devicesInUse() {
  std::vector<std::string> names;
  for (const runtime::Device *device : runtime::devicesInUse())
    names.push_back(device->name());
  return names;
}

void setDefaultDevice(const std::string &name) { runtime::setDefaultDevice(deviceNamed(name, "set_default_device")); }

} // namespace

PyObject *deviceObject(runtime::Device &device) {
  static nb::dict *known = new nb::dict;
  nb::str name(device.name().c_str());
  if (!deviceClass)
    return name.release().ptr();
  if (!known->contains(name)) {
    PyObject *made = PyObject_CallOneArg(deviceClass->ptr(), name.ptr());
    if (!made)
      return nullptr;
    (*known)[name] = nb::steal(made);
  }
  return nb::object((*known)[name]).release().ptr();
}

void initDeviceNames(nb::module_ &module) {
  module.def("set_device_class", [](nb::object type) { deviceClass = new nb::object(std::move(type)); });
  module.def(
      "device_named", [](const std::string &name, const std::string &what) { return deviceNamed(name, what).name(); },
      "The name of the device that a name means.");
  module.def("logical_name", &logicalName, "A device's name with number and stream.");
  module.def(
      "device_target",
      [](const std::string &name, const std::string &what) { return deviceNamed(name, what).fileTarget().str(); },
      "The compiler's name for what its code is made for.");
  module.def("device_names", &runtime::deviceNames, "All devices.");
  module.def("devices_in_use", &devicesInUse, "Devices that this process has asked for by name.");
  module.def(
      "device_count", [](const std::string &kind) { return runtime::deviceCount(kind); },
      "Devices of a kind; None: there is no such kind.");
  module.def("gpu_system", &gpuSystem, nb::arg("function"),
             "(toolkit, driver, [(model, bytes, major, minor)]): two versions of CUDA, and the GPUs.");
  module.def("set_default_device", &setDefaultDevice);
  module.def("memory_stats", &memoryStats, nb::arg("device") = "cpu0", "Bytes of a device's allocator.");
  module.def(
      "reset_peak_memory",
      [](const std::string &device) { deviceNamed(device, "reset_peak_memory").allocator().resetPeak(); },
      nb::arg("device"));
  module.def(
      "set_memory_limit",
      [](const std::string &device, uint64_t bytes) {
        deviceNamed(device, "set_memory_limit").allocator().setLimit(bytes);
      },
      nb::arg("device"), nb::arg("bytes"));
  module.def(
      "give_back_free_memory",
      [] {
        for (runtime::Device *device : runtime::devicesInUse())
          device->allocator().trim();
      },
      "Free blocks of all devices go back to the system, but for small ones of other threads.");
  module.def("shares_memory_with_host",
             [](const std::string &device) { return deviceNamed(device, "device").hostAccessible(); });
  nb::class_<PyOnDevice>(module, "OnDevice", "Within it, what this thread makes of no tensor lies on a device.")
      .def(nb::init<const std::string &>(), nb::arg("device"))
      .def("__enter__", &PyOnDevice::enter)
      .def("__exit__", &PyOnDevice::exit);
  module.def(
      "lose_sim_device", [](const std::string &why) { runtime::simDevice().lose(why); },
      "The emulated accelerator dies, until restore_sim_device().");
  module.def(
      "fail_sim_launch",
      [](unsigned skipped, const std::string &why) { runtime::simDevice().failLaunch(skipped, why); },
      nb::arg("skipped"), nb::arg("why"),
      "The launch after the next `skipped` ones kills the emulated accelerator when its turn comes.");
  module.def("restore_sim_device", [] { runtime::simDevice().restore(); });
  module.def(
      "seed_sim_device", [](uint64_t seed) { runtime::simDevice().setSeed(seed); },
      "The order in which the emulated accelerator does what it may do in any.");
}

} // namespace tess::python
