//===- Fork.h - what a forked child must find usable ------------*- C++ -*-===//
#pragma once

#include <mutex>

namespace tess::runtime {

/// Takes `mutex`, which lives for ever, around every fork, so that the child does not inherit it locked by a thread
/// that it does not have. Mutexes are taken in the order of their registration.
void holdAcrossFork(std::mutex &mutex);

/// Calls `prepare` before a fork, then `parent` and `child` on their sides. Functions live for ever; prepare runs
/// before the mutexes above are taken.
void callAcrossFork(void (*prepare)(), void (*parent)(), void (*child)());

/// Calls `function` when the library is loaded. What it makes at its first call would stay half made in a child that is
/// forked meanwhile, and the child would wait for it for ever.
template <auto function> struct MadeAtLoad {
  MadeAtLoad() { (void)function(); }
};

} // namespace tess::runtime
