//===- Location.cpp - where a user called an operator --------------------===//
#include "eager/tensor/Location.h"

#include "runtime/device/Profiler.h"
#include "runtime/threads/Fork.h"
#include "runtime/threads/Worker.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>
#include <utility>
#include <vector>

namespace tess::eager {

namespace profiler = runtime::profiler;

static LocationHooks locationHooks;
static BlockingHooks blockingHooks;

void setLocationHooks(const LocationHooks &hooks) { locationHooks = hooks; }
void setBlockingHooks(const BlockingHooks &hooks) { blockingHooks = hooks; }

namespace {

/// The paths of scopes by number; 0 is the empty path. There are only as many as modules, so they are kept for ever.
struct ScopeTable {
  ScopeTable() { runtime::holdAcrossFork(mutex); }

  std::mutex mutex;
  llvm::StringMap<uint32_t> ids;
  std::vector<std::string> paths{""};

  uint32_t intern(const std::string &path) {
    std::lock_guard<std::mutex> lock(mutex);
    auto [it, isNew] = ids.try_emplace(path, paths.size());
    if (isNew)
      paths.push_back(path);
    return it->second;
  }
  std::string path(uint32_t id) {
    std::lock_guard<std::mutex> lock(mutex);
    return paths[id];
  }
};

ScopeTable &scopeTable() {
  static ScopeTable *table = new ScopeTable;
  return *table;
}
const runtime::MadeAtLoad<scopeTable> kMade;

thread_local std::vector<uint32_t> scopes;
/// Scopes of this thread that were entered while a profile with scopes was taken: how deep, and when.
thread_local std::vector<std::pair<size_t, profiler::Moment>> timedScopes;

} // namespace

void pushScope(llvm::StringRef name) {
  std::string path = currentScope();
  scopes.push_back(scopeTable().intern(path.empty() || name.empty() ? path + name.str() : path + "." + name.str()));
  if (LLVM_UNLIKELY(profiler::hasScopes.load(std::memory_order_relaxed)))
    timedScopes.emplace_back(scopes.size(), profiler::now());
}

/// Puts the innermost scope into the profile, if it was entered while that was taken.
static void recordScope() {
  auto [depth, begin] = timedScopes.back();
  if (depth != scopes.size())
    return;
  timedScopes.pop_back();
  if (profiler::hasScopes)
    profiler::record(currentScope(), "scope", begin, profiler::now(), {});
}

void popScope() {
  if (LLVM_UNLIKELY(!timedScopes.empty()))
    recordScope();
  if (!scopes.empty())
    scopes.pop_back();
}

std::string callsHere() { return locationHooks.calls ? locationHooks.calls() : std::string(); }

std::string currentScope() { return scopes.empty() ? std::string() : scopeTable().path(scopes.back()); }

Location Location::here() {
  Location location;
  if (locationHooks.capture)
    locationHooks.capture(location.code, location.position);
  location.scope = scopes.empty() ? 0 : scopes.back();
  return location;
}

Location::~Location() {
  if (code)
    locationHooks.release(code);
}

Location::Location(Location &&other) noexcept
    : code(std::exchange(other.code, nullptr)), position(other.position), scope(other.scope) {}

Location &Location::operator=(Location &&other) noexcept {
  std::swap(code, other.code);
  std::swap(position, other.position);
  std::swap(scope, other.scope);
  return *this;
}

std::string Location::describe() const {
  std::string text = code ? locationHooks.describe(code, position) : std::string();
  if (!scope)
    return text;
  std::string path = scopeTable().path(scope);
  return text.empty() ? path : text + " (" + path + ")";
}

std::string Location::source() const {
  return code && locationHooks.source ? locationHooks.source(code, position) : std::string();
}

BlockingRegion::BlockingRegion(bool computes)
    : computes(computes), token(blockingHooks.begin ? blockingHooks.begin(computes) : nullptr) {}
BlockingRegion::~BlockingRegion() {
  if (blockingHooks.end)
    blockingHooks.end(token, computes);
}

llvm::Error BlockingRegion::poll() { return blockingHooks.poll ? blockingHooks.poll(token) : llvm::Error::success(); }

std::unique_lock<std::mutex> lockInRegion(std::mutex &mutex) {
  std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (!lock.owns_lock()) {
    BlockingRegion region;
    lock.lock();
  }
  return lock;
}

/// Puts a wait that ends now into the profile.
static void recordWait(llvm::StringRef what, const profiler::Moment &begin) {
  std::string here = profiler::context().location.empty() ? Location::here().describe() : std::string();
  profiler::record(("wait for " + what).str(), "wait", begin, profiler::now(), {.location = here});
}

/// The longest time until a user's interrupt is noticed.
static constexpr std::chrono::milliseconds kPollInterval(20);

llvm::Error awaitCommand(uint64_t number, llvm::StringRef what) {
  runtime::Worker &worker = runtime::Worker::global();
  if (worker.count() >= number)
    return llvm::Error::success();
  const bool isProfiled = profiler::on();
  const profiler::Moment begin = isProfiled ? profiler::now() : profiler::Moment();
  llvm::scope_exit record([&] { // behind the region: the user's line needs the frontend's lock
    if (LLVM_UNLIKELY(isProfiled))
      recordWait(what, begin);
  });
  BlockingRegion region;
  while (!worker.waitFor(number, kPollInterval))
    if (llvm::Error e = region.poll())
      return e;
  return llvm::Error::success();
}

} // namespace tess::eager
