//===- Features.cpp - what a reader of a program must know ----------------===//
#include "runtime/schema/Features.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/Executable.h"
#include "runtime/schema/GrownValues.h"
#include "llvm/ADT/StringExtras.h"

namespace tess::runtime {

static constexpr llvm::StringLiteral kNames[] = {
    "complex", "data_sizes", "float8",     "grid_images", "grown_values",     "lookups",
    "loops",   "low_bit",    "ptx_images", "quantized",   "size_expressions", "trip_sizes"};
static_assert(std::size(kNames) == kNumFeatures, "each feature has a name");

void Features::add(DType dtype) {
  if (unsigned(kindOf(dtype)) >= kNumDTypes)
    return; // a damaged program's, which its reader refuses
  switch (kDTypes[unsigned(kindOf(dtype))].family) {
  case DTypeFamily::Complex:
    return add(Feature::Complex);
  case DTypeFamily::Float8:
    return add(Feature::Float8);
  case DTypeFamily::Quantized:
    return add(Feature::Quantized);
  case DTypeFamily::LowBit:
    return add(Feature::LowBit);
  case DTypeFamily::Float:
  case DTypeFamily::SignedInt:
  case DTypeFamily::UnsignedInt:
  case DTypeFamily::Bool:
    return;
  }
}

std::vector<std::string> Features::names() const {
  std::vector<std::string> list;
  for (unsigned i = 0; i < kNumFeatures; ++i)
    if (bits >> i & 1)
      list.push_back(kNames[i].str());
  return list;
}

static bool isName(llvm::StringRef text) {
  constexpr size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest &&
         llvm::all_of(text, [](char c) { return llvm::isLower(c) || llvm::isDigit(c) || c == '_'; });
}

llvm::Expected<Features> readFeatures(uint32_t format, llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef what) {
  if (format < kFeatureFormat && !names.empty())
    return makeError(ErrorCode::DataLoss, what + ": a program of format " + llvm::Twine(format) +
                                              " must name no features, got " + llvm::Twine(names.size()));
  Features features;
  for (auto [index, name] : llvm::enumerate(names)) {
    if (!isName(name))
      return makeError(ErrorCode::DataLoss, what +
                                                ": a feature must be named by at most 64 small letters, digits and " +
                                                "underscores, got " + llvm::Twine(name.size()) + " other bytes");
    if (index && names[index - 1] >= name)
      return makeError(ErrorCode::DataLoss, what + ": features must be named once and in order, got " + name +
                                                " behind " + names[index - 1]);
    const auto *known = llvm::find(kNames, name);
    if (known == std::end(kNames))
      return makeError(ErrorCode::Unimplemented, what + ": the file needs " + name +
                                                     ", which this version of Tessera does not know, got features [" +
                                                     llvm::join(names.take_front(16), ", ") +
                                                     (names.size() > 16 ? ", ...]" : "]"));
    features.add(Feature(known - kNames));
  }
  return features;
}

llvm::Error checkFeatures(uint32_t format, const Features &named, const Features &used, llvm::StringRef what) {
  if (format < kFeatureFormat || named == used)
    return llvm::Error::success();
  return makeError(ErrorCode::DataLoss, what + ": features must be those that the program uses, [" +
                                            llvm::join(used.names(), ", ") + "], got [" +
                                            llvm::join(named.names(), ", ") + "]");
}

/// Whether data decides sizes in trips of a loop.
static bool decidesSizesOfTrips(const Executable &executable) {
  size_t end = 0; // of the outermost loop
  for (auto [number, node] : llvm::enumerate(executable.nodes)) {
    if (number < end && node.op && node.op.info().boundRule)
      return true;
    if (number >= end && node.loop >= 0 && size_t(node.loop) < executable.loops.size())
      end = number + 1 + executable.loops[node.loop].numNodes;
  }
  return false;
}

static void addOperators(const Executable &executable, Features &features) {
  auto add = [&](const OpDef &op) {
    if (op && op.hasExpressions())
      features.add(Feature::SizeExpressions);
  };
  for (const ProgramNode &node : executable.nodes)
    add(node.op);
  for (const Step &step : executable.steps) {
    add(step.op);
    if (!step.lookups.empty())
      features.add(Feature::Lookups);
    if (llvm::any_of(step.scalars, [](const ScalarSource &scalar) { return scalar.kind == ScalarSource::Size; }))
      features.add(Feature::SizeExpressions);
  }
}

Features featuresOf(const Executable &executable) {
  Features features;
  for (const ValueDecl &value : executable.values)
    features.add(value.dtype);
  for (const ConstantDecl &constant : executable.constants)
    features.add(constant.meta.dtype);
  if (!executable.loops.empty())
    features.add(Feature::Loops);
  for (const LoopDecl &loop : executable.loops)
    if (hasNoBound(loop) && (loop.arguments.size() > loop.numCarried || loop.yields.size() > loop.numCarried))
      features.add(Feature::GrownValues);
  if (!executable.dataSizes.empty())
    features.add(Feature::DataSizes);
  if (!executable.loops.empty() && decidesSizesOfTrips(executable))
    features.add(Feature::TripSizes);
  for (const Image &image : executable.images)
    if (image.kind != ImageKind::Loops)
      features.add(image.kind == ImageKind::Grid ? Feature::GridImages : Feature::PtxImages);
  addOperators(executable, features);
  return features;
}

} // namespace tess::runtime
