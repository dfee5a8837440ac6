//===- Thrown.h - what a call throws ----------------------------*- C++ -*-===//
#pragma once

#include "tessera/Error.h"

#include <optional>

namespace tessera {

/// The error that `call` throws; nothing when it ends.
template <typename F> std::optional<Error> thrown(F call) {
  try {
    call();
  } catch (const Error &error) {
    return error;
  }
  return std::nullopt;
}

} // namespace tessera
