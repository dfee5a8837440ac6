//===- Devices.cpp - the devices of this process, by name -----------------===//
#include "runtime/Devices.h"

#include "ops/vocabulary/Error.h"
#include "runtime/null/NullDevice.h"
#include "runtime/sim/SimDevice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <atomic>
#include <mutex>

namespace tess::runtime {

namespace {

unsigned one() { return 1; }
llvm::Expected<Device *> theHost(unsigned) { return &hostDevice(); }
llvm::Expected<Device *> theSimDevice(unsigned) { return &simDevice(); }
llvm::Expected<Device *> theNullDevice(unsigned) { return &nullDevice(); }

/// Kinds that users may ask for in every build.
constexpr llvm::StringLiteral kOptionalKinds[] = {"gpu"};
/// The kind of whatever accelerator there is, else of the host.
constexpr llvm::StringLiteral kAnyKind = "xpu";

/// What is known of devices; guarded by the mutex.
struct Registry {
  std::mutex mutex;
  std::vector<DeviceKind> kinds = {
      {"cpu", one, theHost, /*isAnyNumber=*/true}, {"sim", one, theSimDevice}, {"null", one, theNullDevice}};
  std::vector<Device *> inUse;

  /// The kind with this name; null: there is none.
  const DeviceKind *find(llvm::StringRef name) const {
    bool isAny = name == kAnyKind;
    auto found = llvm::find_if(
        kinds, [&](const DeviceKind &kind) { return isAny ? kind.isAccelerator && kind.count() : kind.name == name; });
    return found != kinds.end() ? &*found : isAny ? &kinds.front() : nullptr;
  }
};

Registry &registry() {
  static auto *instance = new Registry; // as devices, it may be asked for after static objects have gone
  return *instance;
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

void registerDevices(const DeviceKind &kind) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  if (llvm::none_of(registry().kinds, [&](const DeviceKind &known) { return known.name == kind.name; }))
    registry().kinds.push_back(kind);
}

/// The device that a name means; null: there is none.
static llvm::Expected<Device *> lookUp(const DeviceName &name) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  const DeviceKind *kind = registry().find(name.kind);
  unsigned number = !kind || kind->isAnyNumber ? 0 : name.number.value_or(0);
  if (!kind || number >= kind->count())
    return nullptr;
  llvm::Expected<Device *> device = kind->device(number);
  if (device && !llvm::is_contained(registry().inUse, *device))
    registry().inUse.push_back(*device);
  return device;
}

llvm::Expected<Device *> findDevice(llvm::StringRef name, llvm::StringRef what) {
  if (std::optional<DeviceName> parsed = DeviceName::parse(name)) {
    llvm::Expected<Device *> device = lookUp(*parsed);
    if (!device || *device)
      return device;
  }
  return invalidArgument(what + ": device must be one of " + llvm::join(deviceNames(), ", ") + ", got '" + name + "'");
}

std::vector<std::string> deviceNames() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  std::vector<std::string> names;
  for (const DeviceKind &kind : registry().kinds)
    for (unsigned number = 0, count = kind.count(); number < count; ++number)
      names.push_back(kind.name + std::to_string(number));
  return names;
}

std::vector<Device *> devicesInUse() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  return registry().inUse;
}

std::optional<unsigned> deviceCount(llvm::StringRef name) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  if (const DeviceKind *kind = registry().find(name))
    return kind->count();
  return llvm::is_contained(kOptionalKinds, name) ? std::optional(0u) : std::nullopt;
}

Device &defaultDevice() {
  Device *device = chosen.load(std::memory_order_relaxed);
  return device ? *device : hostDevice();
}

void setDefaultDevice(Device &device) { chosen.store(&device, std::memory_order_relaxed); }

} // namespace tess::runtime
