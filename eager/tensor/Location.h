//===- Location.h - where a user called an operator -------------*- C++ -*-===//
//
// Eager knows no Python: a frontend gives functions that note a place in the
// user's code cheaply and put it into words when an error is told, and others
// that let its language go on while a thread waits.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <mutex>
#include <string>

namespace tess::eager {

/// How a frontend notes and describes places in its user's code; null functions: nothing is known.
struct LocationHooks {
  /// Notes the innermost line of the user. `code` goes to release() later; null when there is no such line.
  void (*capture)(void *&code, int32_t &position) = nullptr;
  /// "train.py:12"; called by any thread.
  std::string (*describe)(void *code, int32_t position) = nullptr;
  /// The text of the line, "x * 2"; empty when it cannot be read. Called by any thread.
  std::string (*source)(void *code, int32_t position) = nullptr;
  /// Frees `code`; called by any thread, and must not wait for a lock.
  void (*release)(void *code) = nullptr;
  /// The calls of the user that lead here, the innermost first; empty when nothing is known.
  std::string (*calls)() = nullptr;
};
/// Sets the hooks of the process; no other thread may use eager meanwhile.
void setLocationHooks(const LocationHooks &hooks);

/// A place in the user's program; movable.
class Location {
public:
  Location() = default;
  /// The place of the present call, with the present scope.
  static Location here();
  ~Location();
  Location(Location &&other) noexcept;
  Location &operator=(Location &&other) noexcept;
  /// "train.py:12 (net.conv1)"; empty when nothing is known.
  std::string describe() const;
  /// The text of that line; empty when nothing is known.
  std::string source() const;

private:
  void *code = nullptr;
  int32_t position = 0;
  uint32_t scope = 0;
};

/// "net.py:7 in forward < train.py:12 in step", the user's calls that lead here; empty when nothing is known.
std::string callsHere();

/// Enters the scope `name` (a module's attribute) within the present one; names are interned.
void pushScope(llvm::StringRef name);
void popScope();
/// "net.conv1"; empty outside every scope.
std::string currentScope();

/// How a frontend lets other threads of its language run while eager waits or compiles.
struct BlockingHooks {
  void *(*begin)(bool computes) = nullptr;
  void (*end)(void *token, bool computes) = nullptr;
  /// Called now and then by a thread that waits: handles what the user sent meanwhile (Ctrl-C). An error ends the wait.
  llvm::Error (*poll)(void *&token) = nullptr;
};
/// Sets the hooks of the process; no other thread may use eager meanwhile.
void setBlockingHooks(const BlockingHooks &hooks);

/// While alive, the frontend's other threads may run; must not end while a mutex is held that one of them may want.
class BlockingRegion {
public:
  /// `computes`: the thread works rather than waits, so the end of the program must wait for it.
  explicit BlockingRegion(bool computes = false);
  ~BlockingRegion();
  BlockingRegion(const BlockingRegion &) = delete;
  /// Lets the user interrupt a wait: an error when the wait must end.
  llvm::Error poll();

private:
  bool computes;
  void *token;
};

/// Takes the mutex; waits for it in a BlockingRegion, because the thread that holds it may want the frontend's lock.
std::unique_lock<std::mutex> lockInRegion(std::mutex &mutex);

/// Waits, in a BlockingRegion, until the worker has run the command `number`; an error when the user interrupts. A
/// profile says that the thread waited for `what`.
llvm::Error awaitCommand(uint64_t number, llvm::StringRef what = "a result");

} // namespace tess::eager
