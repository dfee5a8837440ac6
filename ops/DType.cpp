//===- DType.cpp - names of element types --------------------------------===//
#include "ops/DType.h"

namespace tess {

namespace {
struct Names {
  const char *shortName, *numpyName;
};
constexpr Names names[kNumDTypes] = {{"f16", "float16"}, {"bf16", "bfloat16"}, {"f32", "float32"}, {"f64", "float64"},
                                     {"i8", "int8"},     {"u8", "uint8"},      {"i16", "int16"},   {"i32", "int32"},
                                     {"i64", "int64"},   {"bool", "bool"}};
} // namespace

llvm::StringRef shortName(DType d) { return names[unsigned(d)].shortName; }

llvm::StringRef numpyName(DType d) { return names[unsigned(d)].numpyName; }

std::optional<DType> parseDType(llvm::StringRef name) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (name == names[i].shortName || name == names[i].numpyName)
      return DType(i);
  return std::nullopt;
}

} // namespace tess
