//===- WarmSet.cpp - executables that ship with the package ---------------===//
#include "compiler/cache/WarmSet.h"
#include "compiler/cache/CodeVersion.h"
#include "compiler/target/TargetSpec.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/FlatExecutable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tess::runtime;

namespace tess::compiler {

static constexpr llvm::StringLiteral kVersion = "warm-set-version", kLevel = "warm-set-level";

/// Whether code for `level` runs on this machine.
static llvm::Error checkLevel(llvm::StringRef what, llvm::StringRef level) {
  llvm::Expected<TargetSpec> wanted = TargetSpec::parse(level), host = TargetSpec::parse("host");
  if (!wanted || !host)
    return llvm::joinErrors(wanted.takeError(), host.takeError());
  for (llvm::StringRef feature : llvm::split(wanted->features, ','))
    if (!host->has(feature.drop_front()))
      return makeError(ErrorCode::Unimplemented,
                       what + ": the machine must have the features of " + level + ", got one without " + feature);
  return llvm::Error::success();
}

llvm::Expected<std::shared_ptr<const WarmSet>> WarmSet::read(llvm::StringRef path) {
  auto file = Container::open(path);
  if (!file)
    return file.takeError();
  auto version = (*file)->read(SectionKind::Meta, kVersion), level = (*file)->read(SectionKind::Meta, kLevel);
  if (!version || !level)
    return llvm::joinErrors(version.takeError(), level.takeError());
  if (*version != codeVersion())
    return makeError(ErrorCode::DataLoss,
                     path + ": version must be that of this build, " + codeVersion() + ", got " + *version);
  return std::shared_ptr<const WarmSet>(new WarmSet(std::move(*file), level->str()));
}

llvm::Expected<std::shared_ptr<const WarmSet>> WarmSet::open(llvm::StringRef path) {
  auto set = read(path);
  if (!set)
    return set;
  if (llvm::Error error = checkLevel(path, (*set)->level))
    return std::move(error);
  auto runnable = std::make_shared<WarmSet>(**set);
  runnable->runsInPlace = runnable->file->makeCodeExecutable();
  return runnable;
}

llvm::Expected<std::shared_ptr<const WarmSet>> WarmSet::openFor(llvm::StringRef folder) {
  llvm::Error lacksV4 = checkLevel("warm set", "x86-64-v4");
  std::string level = lacksV4 ? "x86-64-v3" : "x86-64-v4";
  llvm::consumeError(std::move(lacksV4));
  return open((folder + "/" + level + ".tess").str());
}

llvm::Error WarmSet::placeCode(Image &image) const {
  llvm::Expected<llvm::StringRef> code = file->read(SectionKind::Code, image.hash);
  if (!code)
    return code.takeError();
  if (runsInPlace) {
    image.mapped = hold(*code, file);
  } else {
    image.bytes = code->str();
  }
  return llvm::Error::success();
}

std::optional<Executable> WarmSet::find(llvm::StringRef key) const {
  auto bytes = file->read(SectionKind::FlatExecutable, key);
  return llvm::expectedToOptional(
      bytes ? readFlat(*bytes, file->path(), [this](Image &image) { return placeCode(image); }) : bytes.takeError());
}

std::vector<std::string> WarmSet::keys() const {
  std::vector<std::string> keys;
  for (const Container::Section &section : file->sections())
    if (section.kind == SectionKind::FlatExecutable)
      keys.push_back(section.name);
  llvm::sort(keys);
  return keys;
}

std::string WarmSet::describe() const { return level + ", " + std::to_string(keys().size()) + " classes"; }

/// Moves the machine code of `executable` into `code`, whose entries become sections of their own: kernels run where
/// the file is mapped.
static std::string takeCode(Executable executable, llvm::StringMap<std::string> &code) {
  for (Image &image : executable.images) {
    code.try_emplace(image.hash, image.code());
    image.bytes.clear();
    image.mapped = nullptr;
  }
  return writeFlat(executable);
}

uint64_t warmSetBytes(llvm::StringRef key, const Executable &executable, const llvm::StringSet<> &known) {
  constexpr uint64_t row = 40, alignment = 64; // of the table of sections; of a section
  llvm::StringMap<std::string> code;
  uint64_t bytes = takeCode(executable, code).size() + key.size() + row + alignment;
  for (const auto &[hash, machineCode] : code)
    bytes += known.contains(hash) ? 0 : machineCode.size() + hash.size() + row + alignment;
  return bytes;
}

llvm::Error writeWarmSet(llvm::StringRef path, llvm::StringRef level, const WarmSetEntries &entries,
                         llvm::StringRef version) {
  llvm::StringMap<std::string> code;
  std::vector<std::string> contents;
  for (const auto &[key, executable] : entries)
    contents.push_back(takeCode(executable, code));
  std::vector<SectionData> sections = {{SectionKind::Meta, kVersion.str(), version},
                                       {SectionKind::Meta, kLevel.str(), level}};
  for (auto [entry, content] : llvm::zip(entries, contents))
    sections.push_back({SectionKind::FlatExecutable, entry.first, content});
  std::vector<llvm::StringRef> hashes(code.keys().begin(), code.keys().end());
  llvm::sort(hashes); // so that equal entries give equal files
  for (llvm::StringRef hash : hashes)
    sections.push_back({SectionKind::Code, hash.str(), code.find(hash)->second});
  return writeContainer(path, sections);
}

} // namespace tess::compiler
