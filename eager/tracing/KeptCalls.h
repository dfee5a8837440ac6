//===- KeptCalls.h - how much traces keep -----------------------*- C++ -*-===//
//
// A trace keeps the calls that it recorded, with their programs: a few of each
// signature, and all traces of the process together a number of bytes. The least
// recently used call goes first.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

namespace tess::eager {

/// One recorded call, or what else a trace keeps, among all that the process's traces keep. Thread-safe.
class KeptCall {
public:
  /// Why a call must go: its signature has too many, or all traces together keep too many bytes.
  enum class Cause : uint8_t { Variants, Bytes };
  /// Drops the call where its trace has it. Called on whichever thread keeps another call, without a lock; may throw.
  using Forget = std::function<void(Cause)>;

  /// `sibling`: another call of its signature, or null. They differ in what else decides a recording: modes, gradients
  /// present.
  KeptCall(const KeptCall *sibling, Forget forget);
  ~KeptCall();
  KeptCall(const KeptCall &) = delete;

  /// The call is kept from now on, holds `bytes`, and is the latest used. Others go that are too many; this one stays,
  /// whatever its size.
  void keep(uint64_t bytes) { put(bytes, /*isNew=*/true); }
  /// As keep(), for a call that may have gone meanwhile; then nothing happens.
  void recount(uint64_t bytes) { put(bytes, /*isNew=*/false); }
  /// The call runs.
  void use();

private:
  friend class KeptCalls;
  void put(uint64_t bytes, bool isNew);
  using Variants = llvm::SmallVector<KeptCall *, 4>; // of one signature, the latest used first
  std::shared_ptr<Variants> variants;
  std::shared_ptr<const Forget> forget; // shared: the call may die while it runs
  uint64_t held = 0;
  bool isKept = false;
  std::list<KeptCall *>::iterator place; // where it is kept
};

/// The most bytes that all traces may keep. Calls go when they keep more.
void setTraceLimit(uint64_t bytes);
uint64_t traceLimit();
/// Bytes that they keep.
uint64_t traceBytes();

} // namespace tess::eager
