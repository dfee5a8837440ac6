//===- PickExecutable.cpp - the code of a file that fits here -------------===//
#include "frontends/cc/PickExecutable.h"
#include "ops/vocabulary/Error.h"
#include "runtime/device/Code.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace tessera::deploy {

using namespace tess;
using namespace tess::runtime;

/// The features of all images, without the plus signs.
static llvm::StringSet<> featuresOf(const Executable &exe) {
  llvm::StringSet<> features;
  for (const Image &image : exe.images) {
    llvm::SmallVector<llvm::StringRef, 16> parts;
    llvm::StringRef(image.features).split(parts, ',', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef part : parts)
      features.insert(part.ltrim('+'));
  }
  return features;
}

static std::string missingHere(const llvm::StringSet<> &features) {
  llvm::SmallVector<llvm::StringRef, 8> missing;
  for (const auto &entry : features)
    if (!hostHasFeature(entry.getKey()))
      missing.push_back(entry.getKey());
  llvm::sort(missing);
  return llvm::join(missing, ", ");
}

/// Whether all code is of the kind that the device loads.
static bool isFor(const Executable &exe, const Device &device) {
  return llvm::all_of(exe.images, [&](const Image &image) { return image.kind == device.imageKind(); });
}

/// Why `exe` cannot run here, " which needs avx512f"; empty where it can.
static std::string whyNot(const Executable &exe, const Device &device) {
  if (!isFor(exe, device))
    return "which is for another device";
  for (const Image &image : exe.images)
    if (!hasKnownAbi(image))
      return "whose kernels have the interface of version " + std::to_string(image.abi) + " and not 1 to " +
             std::to_string(kKernelAbi);
  std::string missing = missingHere(featuresOf(exe));
  return missing.empty() ? "" : "which needs " + missing;
}

static std::string lineToType(llvm::StringRef path, llvm::StringRef target) {
  llvm::StringRef stem = path;
  stem.consume_back(".tess");
  return ("; type: tess-compile " + path + " -o " + stem + "." + target + ".tess --target " + target).str();
}

namespace {

/// The executables of a file, tried one after another.
class Choice {
public:
  explicit Choice(const Device &device) : device(device) {}

  void add(llvm::StringRef section, Executable exe) {
    if (std::string why = whyNot(exe, device); !why.empty())
      return reject(section, why);
    std::pair<bool, size_t> rank(!exe.numThreads || exe.numThreads == runtime::numThreads(), featuresOf(exe).size());
    if (!best || rank > bestRank) {
      best = PickedExecutable{section.str(), std::move(exe)};
      bestRank = rank;
    }
  }
  /// `error` says why the executable cannot be read. The error, unless a newer version wrote it.
  llvm::Error addUnreadable(llvm::StringRef section, llvm::Error error) {
    auto [code, message] = takeError(std::move(error));
    if (code != ErrorCode::Unimplemented)
      return makeError(code, message);
    reject(section, "which this version does not read");
    unread = unread.empty() ? message : unread;
    return llvm::Error::success();
  }
  llvm::Expected<PickedExecutable> finish(llvm::StringRef path) {
    if (best)
      return std::move(*best);
    if (numRejected == 1 && !unread.empty())
      return makeError(ErrorCode::Unimplemented, unread);
    return makeError(ErrorCode::Unimplemented, path + ": must have an executable for " +
                                                   (device.hostAccessible() ? "this processor" : device.name()) +
                                                   ", got " + (rejected.empty() ? "none" : rejected) +
                                                   lineToType(path, device.fileTarget()));
  }

private:
  void reject(llvm::StringRef section, llvm::StringRef why) {
    rejected += ((rejected.empty() ? "" : "; ") + section + ", " + why).str();
    ++numRejected;
  }

  const Device &device;
  std::optional<PickedExecutable> best;
  std::pair<bool, size_t> bestRank;
  std::string rejected, unread;
  unsigned numRejected = 0;
};

} // namespace

llvm::Expected<PickedExecutable> pickExecutable(const Container &file, const Device &device, bool allowCode) {
  Choice choice(device);
  for (const Container::Section &section : file.sections()) {
    if (section.kind != SectionKind::Executable)
      continue;
    if (!allowCode)
      return makeError(ErrorCode::Unimplemented,
                       file.path() +
                           ": code from the file must be allowed, since only a compiler could make other code, got "
                           "executable " +
                           section.name + " and no permission");
    llvm::Expected<llvm::StringRef> bytes = file.read(section.kind, section.name);
    if (!bytes)
      return bytes.takeError();
    llvm::Expected<Executable> exe = parseExecutable(*bytes, file.path() + ": executable " + section.name);
    if (exe)
      choice.add(section.name, std::move(*exe));
    else if (llvm::Error e = choice.addUnreadable(section.name, exe.takeError()))
      return std::move(e);
  }
  return choice.finish(file.path());
}

} // namespace tessera::deploy
