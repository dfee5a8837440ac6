//===- ValidateSizes.h - that symbols of sizes have numbers -----*- C++ -*-===//
#pragma once

#include "runtime/schema/Executable.h"

namespace tess::runtime {

/// The symbols that have a number, as far as an executable has been read.
class KnownSizes {
public:
  explicit KnownSizes(const Executable &exe) : exe(exe), isSizeOfInput(exe.symbols.size()) {}
  /// An input has a dimension with this index into Executable::symbols, which exists.
  void addInput(int32_t symbol) { isSizeOfInput[symbol] = true; }
  /// Whether an input, or an earlier operator whose sizes data decides, gives the symbol its number. `hasShape`: by
  /// value, whether it was met.
  bool has(uint32_t symbol, llvm::ArrayRef<bool> hasShape) const;
  /// Whether a scalar of kind Size names an attribute that is one size.
  static bool isSize(const Executable &exe, const ScalarSource &scalar);

private:
  const Executable &exe;
  std::vector<bool> isSizeOfInput;
};

} // namespace tess::runtime
