//===- Devices.h - the devices of this process, by name ---------*- C++ -*-===//
//
// The only place that knows which devices there are and what users call them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/Device.h"

#include <optional>

namespace tess::runtime {

/// A user's name for a device, in its parts: "cpu1:0" is kind cpu, number 1, stream 0; "xpux" has no number.
struct DeviceName {
  std::string kind;
  std::optional<unsigned> number, stream;

  /// None where `text` is no name.
  static std::optional<DeviceName> parse(llvm::StringRef text);
  /// The name with all its parts: "xpux:0", "cpu1:0".
  std::string logical() const;
};

/// Devices whose names are a word and a number, as "gpu1".
struct DeviceKind {
  std::string name; // "gpu"
  /// How many there are; 0 where what they need is missing. Asked whenever a name is looked up.
  unsigned (*count)();
  /// The device of a number below count(): made at its first use, and there for ever.
  llvm::Expected<Device *> (*device)(unsigned number);
  /// Every number means the first device.
  bool isAnyNumber = false;
  /// "xpu" means this kind where there are any: programs can run on it.
  bool isAccelerator = false;
};
/// Adds a kind behind those that are known; at the start of the process, by who links its library (runtime/cuda). One
/// that is known already stays.
void registerDevices(const DeviceKind &kind);

/// The device that a name means: "cpu0", "cpux", "cpu:0", "sim0", "null0", ... Every number of cpu is the one host,
/// every stream of a device the device, and xpu is the kind of accelerator that there is, else the host.
/// InvalidArgument where there is no such device; `what` opens the message.
llvm::Expected<Device *> findDevice(llvm::StringRef name, llvm::StringRef what = "device");
/// The names of all devices, the host's first.
std::vector<std::string> deviceNames();
/// The devices that findDevice() has given.
std::vector<Device *> devicesInUse();
/// Devices of a kind ("cpu", "gpu", "sim", "xpu"); none where there is no such kind.
std::optional<unsigned> deviceCount(llvm::StringRef kind);

/// The device of values that are made of nothing on a device. At first the host.
Device &defaultDevice();
void setDefaultDevice(Device &device);

} // namespace tess::runtime
