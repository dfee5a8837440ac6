//===- Features.h - what a reader of a program must know --------*- C++ -*-===//
//
// Readers skip the fields of a message that they do not know. What gives the
// others another meaning is a feature: a graph or an executable that uses one
// names it, and a reader that does not know the name refuses it. Without features
// a program is written in the format of before and opens in older readers, too.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tess::runtime {

struct Executable;

/// The format of graphs and executables that use no feature, and of those that do: the highest that this build reads.
constexpr uint32_t kPlainFormat = 1, kFeatureFormat = 2;

/// What a program may need a reader to know, in the order of the names, which are part of files.
enum class Feature : uint8_t {
  Complex,         // "complex": values of complex numbers
  DataSizes,       // "data_sizes": sizes that data decides have numbers
  Float8,          // "float8": values of float8
  GridImages,      // "grid_images": code for the emulated accelerator
  GrownValues,     // "grown_values": what loops without a bound stack
  Lookups,         // "lookups": kernels that look elements up
  Loops,           // "loops": operators with bodies
  LowBit,          // "low_bit": values of intb1, intb2 and intb4
  PtxImages,       // "ptx_images": code for GPUs
  Quantized,       // "quantized": values of quantized dtypes
  SizeExpressions, // "size_expressions": attributes that are computed from sizes
  TripSizes,       // "trip_sizes": data decides sizes in trips of loops
};
constexpr unsigned kNumFeatures = unsigned(Feature::TripSizes) + 1;

/// The features of one program.
class Features {
public:
  void add(Feature feature) { bits |= 1u << unsigned(feature); }
  /// The feature that values of `dtype` are, if any.
  void add(DType dtype);
  bool operator==(const Features &) const = default;

  /// Of a program with these.
  uint32_t format() const { return bits ? kFeatureFormat : kPlainFormat; }
  /// In the order in which a file has them.
  std::vector<std::string> names() const;

private:
  uint32_t bits = 0;
};

/// The features that a file names. Unimplemented: one that this build does not know. DataLoss: names of a plain
/// program, or a list that no writer makes. `what` opens the message.
llvm::Expected<Features> readFeatures(uint32_t format, llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef what);
/// DataLoss unless a program of `format` names the features that it uses.
llvm::Error checkFeatures(uint32_t format, const Features &named, const Features &used, llvm::StringRef what);

/// What `executable` uses.
Features featuresOf(const Executable &executable);

} // namespace tess::runtime
