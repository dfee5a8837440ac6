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
#include <string>

namespace tess::eager {

struct LocationHooks {
  /// Notes the innermost user line; `code` is owned by the location, null when there is none.
  void (*capture)(void *&code, int32_t &position) = nullptr;
  /// "train.py:12". Any thread.
  std::string (*describe)(void *code, int32_t position) = nullptr;
  /// "x * 2": what stands there; empty when it cannot be read. Any thread.
  std::string (*source)(void *code, int32_t position) = nullptr;
  /// Any thread; must not wait for a lock.
  void (*release)(void *code) = nullptr;
};
void setLocationHooks(const LocationHooks &hooks);

/// A place in the user's program; movable.
class Location {
public:
  Location() = default;
  /// The present one, with the scope.
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

/// Enters the scope `name` (a module's attribute) within the present one; names are interned.
void pushScope(llvm::StringRef name);
void popScope();
/// "net.conv1"; empty outside every scope.
std::string currentScope();

/// A frontend lets other threads of its language run while eager waits or compiles.
struct BlockingHooks {
  void *(*begin)(bool computes) = nullptr;
  void (*end)(void *token, bool computes) = nullptr;
  /// Called now and then by a thread that waits: handles what the user sent meanwhile (Ctrl-C). An error ends the wait.
  llvm::Error (*poll)(void *&token) = nullptr;
};
void setBlockingHooks(const BlockingHooks &hooks);

class BlockingRegion {
public:
  /// `computes`: the thread does not only wait, so that the end of the program must wait for it.
  explicit BlockingRegion(bool computes = false);
  ~BlockingRegion();
  BlockingRegion(const BlockingRegion &) = delete;
  /// What the user wants of a thread that waits.
  llvm::Error poll();

private:
  bool computes;
  void *token;
};

/// Waits, in a BlockingRegion, until the worker has run its command of this number; an error when the user says stop.
llvm::Error awaitCommand(uint64_t number);

} // namespace tess::eager
