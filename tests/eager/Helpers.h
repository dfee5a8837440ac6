//===- Helpers.h - tensors and values for the tests of eager ----*- C++ -*-===//
#pragma once

#include "eager/Apply.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace tess::eager::testing {

/// The value, or a failed test with the message.
template <typename T> T get(llvm::Expected<T> value) {
  if (!value) {
    FAIL(takeError(value.takeError()).second);
    llvm_unreachable("FAIL throws");
  }
  return std::move(*value);
}
inline void check(llvm::Error error) {
  if (error)
    FAIL(takeError(std::move(error)).second);
}
/// Code and message of a result that must be an error.
template <typename T> std::pair<ErrorCode, std::string> errorOf(llvm::Expected<T> value) {
  if (value)
    FAIL("an error was expected");
  return takeError(value.takeError());
}

template <typename T> constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, float>)
    return DType::Float32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::Float64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::Int32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::Int64;
  else
    return DType::Bool;
}

/// A tensor of these values; `shape` empty with one value: rank 0.
template <typename T> TensorRef make(const std::vector<T> &values, llvm::ArrayRef<int64_t> shape) {
  return get(createTensor(TensorMeta(dtypeOf<T>(), shape), values.data()));
}
template <typename T> TensorRef make(const std::vector<T> &values) { return make(values, {int64_t(values.size())}); }

template <typename T> std::vector<T> values(TensorImpl &tensor) {
  REQUIRE(tensor.dtype() == dtypeOf<T>());
  std::vector<T> result(tensor.numElements());
  check(readValue(tensor, result.data()));
  return result;
}

inline TensorRef run(llvm::StringRef op, std::vector<Operand> operands) {
  return get(applyOne(OpDef::get(op), operands));
}
inline TensorRef run(const OpDef &op, std::vector<Operand> operands) { return get(applyOne(op, operands)); }

inline std::vector<int64_t> shapeOf(const TensorImpl &tensor) { return tensor.shape().vec(); }

} // namespace tess::eager::testing
