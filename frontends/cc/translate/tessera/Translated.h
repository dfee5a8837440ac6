//===- Translated.h - what the C++ of a Python class calls ------*- C++ -*-===//
//
// Python's operators, functions and literals on the types of this API, so that
// the translator needs no types. For generated files only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Control.h"
#include "tessera/Init.h"
#include "tessera/Module.h"
#include "tessera/TranslatedValues.h"
#include "tessera/functional.h"
#include "tessera/nn.h"

#include <map>

namespace tessera::translated {

//===----------------------------------------------------------------------===//
// Tensors, and parts of modules
//===----------------------------------------------------------------------===//

/// `repr(None)`.
inline std::string quoted(None) { return "None"; }
/// The attributes of a tensor.
inline Shape shapeOf(const Tensor &x) { return x.shape(); }
inline int64_t ndimOf(const Tensor &x) { return x.rank(); }
inline DType dtypeOf(const Tensor &x) { return x.dtype(); }
/// `np.full(shape, value)`.
inline Tensor filled(const Shape &shape, double value) { return full(shape, value); }
inline Tensor filled(int64_t size, double value) { return full({size}, value); }
/// InvalidArgument unless the value is finite and low <= value < below.
inline void checkRangeOf(const std::string &name, const std::string &what, double value, int64_t low,
                         std::optional<int64_t> below = std::nullopt) {
  if (std::isfinite(value) && value >= double(low) && (!below || value < double(*below)))
    return;
  std::string limit = below ? text(" and < ", *below) : "", finite = std::isfinite(value) ? "" : "finite and ";
  throw Error(ErrorCode::InvalidArgument,
              text(name, ": ", what, " must be ", finite, ">= ", low, limit, ", got ", value));
}
/// InvalidArgument unless the value is at least 1.
inline void checkCountOf(const std::string &name, const std::string &what, int64_t value) {
  if (value < 1)
    throw Error(ErrorCode::InvalidArgument, text(name, ": ", what, " must be an int >= 1, got ", value));
}
/// InvalidArgument unless the value is a probability.
inline void checkDropoutOf(const std::string &name, double dropout) {
  if (!(dropout >= 0 && dropout <= 1))
    throw Error(ErrorCode::InvalidArgument, text(name, ": dropout must be in [0, 1], got ", dropout));
}
/// InvalidArgument unless the input has an axis for the steps, one for the sequences and one for the features.
inline void checkSequenceOf(const std::string &name, const Tensor &inp) {
  if (inp.rank() != 3)
    throw Error(ErrorCode::InvalidArgument, text(name, ": inp must have 3 axes, got ", nn::described(inp)));
}
/// InvalidArgument unless the tensor has `least` to `most` axes, by default `most`.
inline void checkAxesOf(const std::string &name, const std::string &what, const Tensor &x, int64_t most,
                        std::optional<int64_t> least = std::nullopt) {
  if (least.value_or(most) <= x.rank() && x.rank() <= most)
    return;
  throw Error(ErrorCode::InvalidArgument, text(name, ": ", what, " must have ", least ? text(*least, " to ") : "", most,
                                               " axes, got ", tupleOf(x.shape())));
}
/// C++ has a type for a pair.
inline void checkPairOf(const std::string &, const States &) {}
/// Padding of C++ is numbers, never "same".
inline Sizes paddingBeforeOf(const std::string &, const Sizes &padding, const Shape &, const Shape &, const Shape &) {
  return padding;
}
inline Shape paddingBehindOf(const Sizes &, const Shape &kernelSize, const Shape &) {
  return Shape(kernelSize.size(), 0);
}
inline void checkNoTextOf(const std::string &, const std::string &, const Sizes &) {}
/// The number of a row from 0; InvalidArgument unless the table has it.
inline int64_t paddingRowOf(const std::string &name, std::optional<int64_t> row, int64_t rows) {
  if (*row < -rows || *row >= rows)
    throw Error(ErrorCode::InvalidArgument,
                text(name, ": padding_idx must be in [", -rows, ", ", rows - 1, "], got ", *row));
  return modulo(*row, rows);
}
/// One state or the other.
inline Tensor chosenOf(const Tensor &condition, const Tensor &one, const Tensor &other) {
  return functional::where(condition, one, other);
}
inline States chosenOf(const Tensor &condition, const States &one, const States &other) {
  return {functional::where(condition, one[0], other[0]), functional::where(condition, one[1], other[1])};
}
/// `scan(step, carried, xs)` of a step that returns tuples.
template <typename Step, typename Carried>
auto scanOf(Step step, const Carried &carried, const Tensor &xs, bool reverse) {
  auto trip = [&](const Carried &now, const Tensor &x) {
    const auto made = step(now, x);
    return std::pair(std::get<0>(made), std::get<1>(made));
  };
  return scan(trip, carried, xs, {.reverse = reverse});
}
/// The dtype that an update is computed in.
inline DType wideOf(DType dtype) { return dtype == DType::Float64 ? dtype : DType::Float32; }
/// Tensors by name.
using Named = std::map<std::string, Tensor>;
/// `{**some, ...}`.
inline Named merged(Named some, const Named &more) {
  for (const auto &[name, tensor] : more)
    some[name] = tensor;
  return some;
}
/// What Python takes as None only has no argument here.
template <typename... T> void checkNoneOf(const std::string &, T...) {}

/// Adds parts to modules.
struct Parts {
  static Tensor parameter(Module &module, const char *name, const Tensor &value) {
    return module.registerParameter(name, value.detach());
  }
  static Tensor tensor(Module &module, const char *name, const Tensor &value) {
    return module.registerBuffer(name, value.detach());
  }
  template <typename M, typename... Args>
  static std::unique_ptr<M> child(Module &module, const char *name, Args &&...args) {
    auto made = std::make_unique<M>(std::forward<Args>(args)...);
    module.registerModule(name, *made);
    return made;
  }
};

} // namespace tessera::translated
