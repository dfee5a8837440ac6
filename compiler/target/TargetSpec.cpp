//===- TargetSpec.cpp - the machine that code is made for ----------------===//
#include "compiler/target/TargetSpec.h"

#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace tess::compiler {

namespace {

// Features that change the instructions of our kernels, sorted. AVX512-FP16 and AVX512-BF16 stay out: they would round
// float64 -> float16 and float32 -> bfloat16 in another place than x86-64-v3 does.
constexpr llvm::StringLiteral kV3[] = {"avx",   "avx2",   "bmi",  "bmi2", "cx16",   "f16c",   "fma",  "lzcnt",
                                       "movbe", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"};
constexpr llvm::StringLiteral kV4[] = {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"};
constexpr llvm::StringLiteral kFurther[] = {"avx512ifma",      "avx512vbmi", "avx512vbmi2", "avx512bitalg",
                                            "avx512vpopcntdq", "avx512vnni", "gfni"};

std::string join(llvm::SmallVector<llvm::StringRef> names) {
  llvm::sort(names);
  std::string text;
  for (llvm::StringRef name : names)
    text += (text.empty() ? "+" : ",+") + name.str();
  return text;
}

llvm::Expected<std::string> hostFeatures() {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  llvm::SmallVector<llvm::StringRef> found;
  for (llvm::StringRef name : kV3) {
    if (!host.lookup(name))
      return makeError(ErrorCode::Unimplemented,
                       "target: the machine must have the features of x86-64-v3, got one without " + name);
    found.push_back(name);
  }
  if (llvm::all_of(kV4, [&](llvm::StringRef name) { return host.lookup(name); })) {
    found.append(std::begin(kV4), std::end(kV4));
    for (llvm::StringRef name : kFurther)
      if (host.lookup(name))
        found.push_back(name);
  }
  return join(std::move(found));
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
  llvm::SmallVector<llvm::StringRef> features(std::begin(kV3), std::end(kV3));
  switch (*level) {
  case TargetLevel::Ptx:
    spec.architecture = name.str();
    return spec;
  case TargetLevel::X86_64V4:
    features.append(std::begin(kV4), std::end(kV4));
    [[fallthrough]];
  case TargetLevel::X86_64V3:
    spec.features = join(std::move(features));
    return spec;
  case TargetLevel::Host:
  case TargetLevel::HostChecked:
  case TargetLevel::Sim:
    break;
  }
  llvm::Expected<std::string> found = hostFeatures();
  if (!found)
    return found.takeError();
  spec.features = std::move(*found);
  return spec;
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
