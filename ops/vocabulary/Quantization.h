//===- Quantization.h - what stored integers stand for ----------*- C++ -*-===//
//
// A quantized dtype stores integers q that stand for (q - zero point) * scale.
// Its parameters are kept once in the process and for ever, and the dtype has
// their number; so there may be no more of them than kMostQuantized, and they
// may take no more than kMostQuantizedBytes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tess {

constexpr uint32_t kMostQuantized = 1u << 20;
constexpr uint64_t kMostQuantizedBytes = uint64_t(256) << 20;

/// Scales and zero points: one of each, or one for each index along `axis`.
struct Quantization {
  llvm::SmallVector<float, 1> scales;
  llvm::SmallVector<int32_t, 1> zeroPoints;
  int axis = -1; // -1: one for the whole tensor

  bool isPerChannel() const { return axis >= 0; }
};

/// The dtype of `kind` with these parameters. InvalidArgument: scales must be finite numbers above 0, as many as zero
/// points, which lie among the numbers that the kind stores, and are 0 where it has none; one of each without an axis.
/// ResourceExhausted: the process has too many of them.
llvm::Expected<DType> quantizedDType(DType kind, Quantization parameters);
/// The parameters; null of a dtype that has none. They live for ever.
const Quantization *quantizationOf(DType dtype);
/// Whether each channel has parameters of its own.
inline bool isPerChannel(DType dtype) {
  const Quantization *parameters = parametersOf(dtype) ? quantizationOf(dtype) : nullptr;
  return parameters && parameters->isPerChannel();
}
/// The same parameters along another axis.
llvm::Expected<DType> withChannelAxis(DType dtype, int axis);

/// Accepts the short name and NumPy's; of a quantized dtype the kind alone, too, or with its parameters as in
/// "qint8<0.1>", "quint8<0.1:128>", and for channels along axis 1 "quint8@1<0.1:128|0.2:3>". nullopt when unknown.
std::optional<DType> parseDType(llvm::StringRef name);

} // namespace tess
