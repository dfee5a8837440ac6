//===- TargetSpec.cpp - the machine that code is made for ----------------===//
#include "compiler/target/TargetSpec.h"

#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <cstdlib>
#include <mutex>

namespace tess::compiler {

namespace {

// Features of the levels, sorted. AVX512-FP16 and AVX512-BF16 stay out: they would round float64 -> float16 and
// float32 -> bfloat16 in another place than x86-64-v3 does.
constexpr llvm::StringLiteral kV3[] = {"avx",   "avx2",   "bmi",  "bmi2", "cx16",   "f16c",   "fma",  "lzcnt",
                                       "movbe", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"};
constexpr llvm::StringLiteral kV4[] = {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"};

std::string join(llvm::SmallVector<llvm::StringRef> names) {
  llvm::sort(names);
  std::string text;
  for (llvm::StringRef name : names)
    text += (text.empty() ? "+" : ",+") + name.str();
  return text;
}

std::string featuresOf(bool hasV4) {
  llvm::SmallVector<llvm::StringRef> names(std::begin(kV3), std::end(kV3));
  if (hasV4)
    names.append(std::begin(kV4), std::end(kV4));
  return join(std::move(names));
}

/// A feature of `names` that this machine lacks; "" where it has all.
llvm::StringRef missingOf(llvm::ArrayRef<llvm::StringLiteral> names) {
  static const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  const auto *missing = llvm::find_if(names, [](llvm::StringRef name) { return !host.lookup(name); });
  return missing == names.end() ? llvm::StringRef() : llvm::StringRef(*missing);
}

/// The level that "host" stands for; "": the highest of this machine.
struct HostLevel {
  std::mutex mutex;
  std::string name;

  static HostLevel &get() {
    static auto *level = new HostLevel; // never destroyed: compile threads may outlive statics
    return *level;
  }

private:
  HostLevel() {
    if (const char *wanted = std::getenv("TESS_LEVEL"))
      name = wanted;
  }
};

/// Whether code for the host is that of x86-64-v4. Code goes by levels, so that what one machine compiles serves all of
/// its level.
llvm::Expected<bool> hostHasV4(llvm::StringRef wanted) {
  if (llvm::StringRef missing = missingOf(kV3); !missing.empty())
    return makeError(ErrorCode::Unimplemented,
                     "target: the machine must have the features of x86-64-v3, got one without " + missing);
  const bool hasV4 = missingOf(kV4).empty();
  if (wanted.empty())
    return hasV4;
  if (wanted == "x86-64-v3" || (wanted == "x86-64-v4" && hasV4))
    return wanted == "x86-64-v4";
  return invalidArgument(llvm::Twine("target: level must be x86-64-v3") +
                         (hasV4 ? " or x86-64-v4" : " on this machine") + ", got " + wanted);
}

} // namespace

/// The names of the levels, in their order.
constexpr llvm::StringLiteral kNames[] = {"host", "x86-64-v3", "x86-64-v4", "host-checked", "sim"};

std::optional<TargetLevel> TargetSpec::levelOf(llvm::StringRef name) {
  if (llvm::StringRef rest = name; rest.consume_front("sm_") && !rest.empty() && llvm::isDigit(rest[0]))
    return TargetLevel::Ptx;
  const auto *found = llvm::find(kNames, name);
  return found == std::end(kNames) ? std::nullopt : std::optional(TargetLevel(found - kNames));
}

llvm::Expected<TargetSpec> TargetSpec::parse(llvm::StringRef name) {
  std::optional<TargetLevel> level = levelOf(name);
  if (!level)
    return invalidArgument("target: name must be host, x86-64-v3, x86-64-v4, sim or sm_<number>, got " + name);
  TargetSpec spec;
  spec.level = *level;
  switch (*level) {
  case TargetLevel::Ptx:
    spec.architecture = name.str();
    return spec;
  case TargetLevel::X86_64V3:
  case TargetLevel::X86_64V4:
    spec.features = featuresOf(*level == TargetLevel::X86_64V4);
    return spec;
  case TargetLevel::Host:
  case TargetLevel::HostChecked:
  case TargetLevel::Sim:
    break;
  }
  std::lock_guard<std::mutex> lock(HostLevel::get().mutex);
  llvm::Expected<bool> hasV4 = hostHasV4(HostLevel::get().name);
  if (!hasV4)
    return hasV4.takeError();
  spec.features = featuresOf(*hasV4);
  return spec;
}

llvm::Error TargetSpec::setHost(llvm::StringRef name) {
  if (llvm::Error error = hostHasV4(name).takeError())
    return error;
  std::lock_guard<std::mutex> lock(HostLevel::get().mutex);
  HostLevel::get().name = name.str();
  return llvm::Error::success();
}

bool TargetSpec::has(llvm::StringRef feature) const {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(features).split(parts, ',');
  return llvm::any_of(parts, [&](llvm::StringRef part) { return part.drop_front() == feature; });
}

llvm::StringRef TargetSpec::levelName() const {
  return level == TargetLevel::Ptx ? llvm::StringRef(architecture) : llvm::StringRef(kNames[unsigned(level)]);
}

std::string TargetSpec::describe() const {
  return (level == TargetLevel::Ptx ? "gpu:" : level == TargetLevel::Sim ? "sim:" : "cpu:") + levelName().str();
}

std::string TargetSpec::keyPrefix() const {
  if (level == TargetLevel::Ptx)
    return architecture + " ";
  return isGrid() ? "grid " : isPortable() ? "" : "checked ";
}

} // namespace tess::compiler
