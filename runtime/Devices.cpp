//===- Devices.cpp - the devices of this process, by name -----------------===//
#include "runtime/Devices.h"

#include "ops/Error.h"
#include "runtime/null/NullDevice.h"
#include "runtime/sim/SimDevice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <atomic>

namespace tess::runtime {

namespace {

/// One row for each kind of device; `isAnyNumber`: every number of the kind means its one device.
struct Kind {
  llvm::StringLiteral name;
  Device &(*device)();
  bool isAnyNumber;
};

Device &theSimDevice() { return simDevice(); }
Device &theNullDevice() { return nullDevice(); }

constexpr Kind kKinds[] = {{"cpu", hostDevice, true}, {"sim", theSimDevice, false}, {"null", theNullDevice, false}};
/// Kinds that users may ask for and that this build has no device of.
constexpr llvm::StringLiteral kAbsentKinds[] = {"gpu"};
/// The kind of whatever accelerator there is, else of the host.
constexpr llvm::StringLiteral kAnyKind = "xpu";

const Kind *kindOf(const DeviceName &name) {
  llvm::StringRef wanted = name.kind == kAnyKind ? llvm::StringRef(kKinds[0].name) : llvm::StringRef(name.kind);
  const Kind *found = llvm::find_if(kKinds, [&](const Kind &kind) { return kind.name == wanted; });
  return found == std::end(kKinds) || (!found->isAnyNumber && name.number.value_or(0)) ? nullptr : found;
}

std::atomic<Device *> chosen{nullptr};

} // namespace

std::optional<DeviceName> DeviceName::parse(llvm::StringRef text) {
  DeviceName name;
  auto [device, stream] = text.split(':');
  llvm::StringRef kind = device.take_while(llvm::isAlpha), number = device.drop_front(kind.size());
  if (number.empty() && kind.size() > 1)
    kind.consume_back("x"); // "cpux"; no kind ends so
  unsigned value = 0;
  if (!number.empty() && number.getAsInteger(10, value))
    return std::nullopt;
  if (!number.empty())
    name.number = value;
  if (device.size() != text.size()) {
    if (stream.getAsInteger(10, value))
      return std::nullopt;
    name.stream = value;
  }
  name.kind = kind.str();
  return name.kind.empty() ? std::nullopt : std::optional(name);
}

std::string DeviceName::logical() const {
  return kind + (number ? std::to_string(*number) : "x") + ":" + std::to_string(stream.value_or(0));
}

llvm::Expected<Device *> findDevice(llvm::StringRef name, llvm::StringRef what) {
  std::optional<DeviceName> parsed = DeviceName::parse(name);
  if (const Kind *kind = parsed ? kindOf(*parsed) : nullptr)
    return &kind->device();
  return invalidArgument(what + ": device must be one of " + llvm::join(deviceNames(), ", ") + ", got '" + name + "'");
}

std::vector<std::string> deviceNames() {
  std::vector<std::string> names;
  for (const Kind &kind : kKinds)
    names.push_back((kind.name + "0").str());
  return names;
}

std::optional<unsigned> deviceCount(llvm::StringRef kind) {
  if (llvm::is_contained(kAbsentKinds, kind))
    return 0;
  bool isKnown = kind == kAnyKind || llvm::any_of(kKinds, [&](const Kind &known) { return known.name == kind; });
  return isKnown ? std::optional(1u) : std::nullopt;
}

Device &defaultDevice() {
  Device *device = chosen.load(std::memory_order_relaxed);
  return device ? *device : hostDevice();
}

void setDefaultDevice(Device &device) { chosen.store(&device, std::memory_order_relaxed); }

} // namespace tess::runtime
