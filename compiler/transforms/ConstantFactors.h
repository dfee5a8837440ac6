//===- ConstantFactors.h - constants that products take in ------*- C++ -*-===//
//
// Facts for Reassociate: which values are constants, how large they are, and
// along which channels of a convolution or a matrix product they vary.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace tess::compiler {

/// Whether the first operand and the first result of `op` are float32 or float64 of one dtype.
bool hasWideFloat(mlir::Operation *op);

/// Whether FoldConstants makes a constant of `value`: a constant, a number, a view of one, arithmetic on them.
bool isConstant(mlir::Value value);

/// The least and the largest magnitude of the elements of a constant that are not 0.
struct Magnitudes {
  double least = 1, most = 1;
  bool hasZero = false, isFinite = true;
  bool isEmpty = true; // no element but zeros

  void add(double element);
  /// Whether factors are so far from the ends of float32 that neither overflow nor lost digits come from joining them.
  bool areFactors() const { return isFinite && least >= kLeast && most <= kMost; }
  /// Whether terms are finite and no larger than factors may be; small ones do no harm.
  bool areTerms() const { return isFinite && most <= kMost; }
  Magnitudes operator*(const Magnitudes &other) const;
  Magnitudes operator/(const Magnitudes &other) const;
  Magnitudes operator+(const Magnitudes &other) const;

  static constexpr double kLeast = 0x1p-100, kMost = 0x1p100;
};
/// The magnitudes of a constant; none: its elements are not known to this pass.
std::optional<Magnitudes> magnitudesOf(mlir::Value constant);

/// Whether arithmetic on two constants gives as many elements as the larger one has.
bool fitTogether(mlir::Value a, mlir::Value b);

/// Channels of a value and those of the weight that go with them: an axis of each. No axis: the product has groups, so
/// that only one factor for all of them fits.
struct ChannelAxes {
  std::optional<int64_t> ofValue;
  int64_t ofWeight = 0;
};

/// A convolution or a matrix product that has a constant as one of its operands.
struct WeightedProduct {
  mlir::Operation *op;
  unsigned weight; // the number of that operand
  ChannelAxes input, result;
};

/// `op` as such a product of float32 or float64; none: it is another operator, or none of its operands is constant.
std::optional<WeightedProduct> weightedProduct(mlir::Operation *op);

/// Whether a constant beside a value of `rank` axes varies along its channels alone, or not at all.
bool variesAlong(mlir::Value constant, const ChannelAxes &channels, int64_t rank);

} // namespace tess::compiler
