//===- PickExecutable.cpp - the code of a file that fits here -------------===//
#include "frontends/cc/PickExecutable.h"
#include "ops/Error.h"
#include "runtime/Code.h"
#include "runtime/ParallelFor.h"
#include "runtime/schema/ExecutableCodec.h"
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

static std::string lineToType(llvm::StringRef path, llvm::StringRef target) {
  llvm::StringRef stem = path;
  stem.consume_back(".tess");
  return ("; type: tess-compile " + path + " -o " + stem + "." + target + ".tess --target " + target).str();
}

llvm::Expected<PickedExecutable> pickExecutable(const Container &file, const Device &device, bool allowCode) {
  std::optional<PickedExecutable> best;
  std::pair<bool, size_t> bestRank;
  std::string rejected;
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
    if (!exe)
      return exe.takeError();
    if (!isFor(*exe, device)) {
      rejected += (rejected.empty() ? "" : "; ") + section.name + ", which is for another device";
      continue;
    }
    llvm::StringSet<> features = featuresOf(*exe);
    std::string missing = missingHere(features);
    rejected += missing.empty() ? "" : (rejected.empty() ? "" : "; ") + section.name + ", which needs " + missing;
    std::pair<bool, size_t> rank(!exe->numThreads || exe->numThreads == runtime::numThreads(), features.size());
    if (missing.empty() && (!best || rank > bestRank)) {
      best = PickedExecutable{section.name, std::move(*exe)};
      bestRank = rank;
    }
  }
  if (best)
    return std::move(*best);
  return makeError(ErrorCode::Unimplemented, file.path() + ": must have an executable for " +
                                                 (device.hostAccessible() ? "this processor" : device.name()) +
                                                 ", got " + (rejected.empty() ? "none" : rejected) +
                                                 lineToType(file.path(), device.fileTarget()));
}

} // namespace tessera::deploy
