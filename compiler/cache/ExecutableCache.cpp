//===- ExecutableCache.cpp - whole executables, compiled before -----------===//
#include "compiler/cache/ExecutableCache.h"
#include "compiler/cache/CacheState.h"
#include "compiler/cache/CodeVersion.h"
#include "compiler/target/TargetSpec.h"
#include "ops/vocabulary/Error.h"

#include <atomic>
#include <cstdlib>
#include <mutex>

namespace tess::compiler {
namespace {

struct State {
  State();
  void open(llvm::StringRef folder);

  std::mutex mutex;
  std::shared_ptr<const WarmSet> warmSet;
  std::string note = "closed";
  std::atomic<uint64_t> fromWarmSet{0}, fromDisk{0};
};

State::State() {
  if (const char *folder = std::getenv("TESS_WARM_SET"))
    open(folder);
}

void State::open(llvm::StringRef folder) {
  llvm::Expected<std::shared_ptr<const WarmSet>> set = nullptr;
  if (!folder.empty())
    set = WarmSet::openFor(folder);
  std::lock_guard<std::mutex> lock(mutex);
  if (!set) {
    note = "ignored: " + llvm::toString(set.takeError());
    warmSet = nullptr;
    return;
  }
  warmSet = std::move(*set);
  note = warmSet ? warmSet->describe() : "closed";
}

State &state() {
  static State *instance = new State; // never destroyed: threads may outlive statics
  return *instance;
}

std::shared_ptr<const WarmSet> warmSet() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().warmSet;
}

/// The key on disk, which starts with code version and CPU features; empty when nothing can be compiled for the host.
std::string diskKey(llvm::StringRef key) {
  llvm::Expected<TargetSpec> host = TargetSpec::parse("host");
  if (host)
    return ("executable\n" + codeVersion() + "\n" + host->features + "\n" + key).str();
  llvm::consumeError(host.takeError());
  return std::string();
}

} // namespace

/// The key of `text` compiled for `target`, which may be in `memory`; none where nothing is kept of that.
static std::optional<llvm::StringRef> keyOf(llvm::StringRef target, llvm::StringRef text, std::string &memory) {
  std::optional<TargetLevel> level = TargetSpec::levelOf(target);
  if (!level || *level == TargetLevel::HostChecked)
    return std::nullopt;
  if (*level == TargetLevel::Host)
    return text;
  return memory = ("target " + target + "\n" + text).str();
}

std::optional<runtime::Executable> findExecutable(llvm::StringRef target, llvm::StringRef text) {
  std::string memory;
  std::optional<llvm::StringRef> key = keyOf(target, text, memory);
  if (!key)
    return std::nullopt;
  if (std::shared_ptr<const WarmSet> set = warmSet())
    if (std::optional<runtime::Executable> executable = set->find(*key)) {
      ++state().fromWarmSet;
      return executable;
    }
  std::optional<runtime::Executable> executable = loadExecutable(diskKey(*key));
  state().fromDisk += executable.has_value();
  return executable;
}

void storeExecutable(llvm::StringRef target, llvm::StringRef text, const runtime::Executable &executable) {
  std::string memory;
  if (std::optional<llvm::StringRef> key = keyOf(target, text, memory))
    keepExecutable(diskKey(*key), executable);
}

ExecutableCacheStats executableCacheStats() { return {state().fromWarmSet.load(), state().fromDisk.load()}; }

void openWarmSet(llvm::StringRef folder) { state().open(folder); }

std::string warmSetNote() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().note;
}

std::vector<std::string> warmSetKeys() {
  std::shared_ptr<const WarmSet> set = warmSet();
  return set ? set->keys() : std::vector<std::string>();
}

} // namespace tess::compiler
