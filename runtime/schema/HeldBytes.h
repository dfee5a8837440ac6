//===- HeldBytes.h - bytes that stay where they are -------------*- C++ -*-===//
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <string_view>

namespace tess::runtime {

/// Bytes in memory that others read too, such as a mapped file: they are there as long as this is.
using HeldBytes = std::shared_ptr<const std::string_view>;

/// `bytes`, which `owner` keeps.
inline HeldBytes hold(std::string_view bytes, std::shared_ptr<const void> owner) {
  struct Held {
    std::shared_ptr<const void> owner;
    std::string_view bytes;
  };
  auto held = std::make_shared<const Held>(Held{std::move(owner), bytes});
  return {held, &held->bytes};
}

/// Where a program reads a constant without a copy of its own: a multiple of this.
constexpr size_t kConstantAlignment = 64;

/// A copy of `bytes`, aligned for that.
inline HeldBytes holdCopy(std::string_view bytes) {
  constexpr std::align_val_t alignment{kConstantAlignment};
  std::shared_ptr<void> copy(::operator new(bytes.size(), alignment),
                             [](void *memory) { ::operator delete(memory, std::align_val_t(kConstantAlignment)); });
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return hold({static_cast<const char *>(copy.get()), bytes.size()}, copy);
}

} // namespace tess::runtime
