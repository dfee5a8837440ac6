//===- Effects.cpp - state beside tensors that a trace depends on --------===//
#include "tessera/Effects.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::detail {

static thread_local Effects *active = nullptr;

Effects *Effects::current() { return active; }
Effects::Effects() { active = this; }
Effects::~Effects() { active = nullptr; }

void Modes::add(const ModeRef &mode) {
  if (!llvm::is_contained(llvm::make_first_range(seen), mode))
    seen.push_back({mode, *mode});
}

bool Modes::hold() const {
  return llvm::all_of(seen, [](const auto &each) { return *each.first == each.second; });
}

} // namespace tessera::detail
