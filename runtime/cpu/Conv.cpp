//===- Conv.cpp - which kernel computes a convolution ---------------------===//
#include "runtime/contract/Products.h"
#include "runtime/contract/Winograd.h"
#include "runtime/cpu/ContractConv.h"
#include "runtime/cpu/DepthwiseConv.h"
#include "runtime/cpu/DnnlCalls.h"
#include "runtime/cpu/DnnlConv.h"
#include "runtime/cpu/ImageBlocks.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/cpu/WinogradConv.h"

namespace tess::runtime::cpu {

namespace {

/// Whether a kernel computes a convolution of these sizes. Conditions say nothing of the batch, threads or the machine,
/// so that these decide no bit.
using Takes = bool (*)(const ConvShape &shape, DType dtype);
using Prepare = llvm::Expected<PreparedRef> (*)(const PrepareRequest &request);

/// A kernel of an operator, by the name that files have for it.
struct Choice {
  const char *implementation;
  Takes takes;
  Prepare prepare;
};

/// An operator's kernels, of which the first that takes a shape computes it; oneDNN's, for files compiled for it; plain
/// loops, where operands differ in their dtype or there is nothing to compute.
struct Choices {
  ConvShape (*shape)(const PrepareRequest &request);
  Choice generated[3]; // fewer end with one that takes nothing
  Prepare library, own;
};

bool takesSingles(const ConvShape &shape, DType) { return isDepthwise(shape); }
bool takesPointsForResults(const ConvShape &shape, DType dtype) { return takesWinograd(shape, dtype, false); }
bool takesPointsForImages(const ConvShape &shape, DType dtype) { return takesWinograd(shape, dtype, true); }
bool takesAll(const ConvShape &, DType) { return true; }

constexpr Choices kForward = {forwardShape,
                              {{kDepthwiseConv, takesSingles, prepareDepthwiseConv},
                               {kWinograd, takesPointsForResults, prepareWinogradConv},
                               {kContractConv, takesAll, prepareContractConv}},
                              prepareDnnlConv,
                              prepareOwnConv};
constexpr Choices kTranspose = {transposedShape,
                                {{kDepthwiseConv, takesSingles, prepareDepthwiseConvTranspose},
                                 {kWinograd, takesPointsForImages, prepareWinogradConvTranspose},
                                 {kContractConv, takesAll, prepareContractConvTranspose}},
                                prepareDnnlConvTranspose,
                                prepareOwnConvTranspose};
constexpr Choices kBackwardData = {backwardDataShape,
                                   {{kDepthwiseConv, takesSingles, prepareDepthwiseConvBackwardData},
                                    {kWinograd, takesPointsForImages, prepareWinogradConvBackwardData},
                                    {kContractConv, takesAll, prepareContractConvBackwardData}},
                                   prepareDnnlConvBackwardData,
                                   prepareOwnConvBackwardData};
constexpr Choices kBackwardWeight = {backwardWeightShape,
                                     {{kDepthwiseConv, takesSingles, prepareDepthwiseConvBackwardWeight},
                                      {kContractConv, takesAll, prepareContractConvBackwardWeight}},
                                     prepareDnnlConvBackwardWeight,
                                     prepareOwnConvBackwardWeight};

/// The generated kernels that take a request, in their order.
llvm::SmallVector<const Choice *, 3> taking(const PrepareRequest &request, const Choices &choices) {
  const DType dtype = request.outputs[0].dtype;
  const bool same = request.inputs[0].dtype == dtype && request.inputs[1].dtype == dtype;
  const ConvShape shape = choices.shape(request);
  llvm::SmallVector<const Choice *, 3> list;
  for (const Choice &each : choices.generated)
    if (same && shape.products() && each.takes && each.takes(shape, dtype) &&
        request.settings.allows(each.implementation))
      list.push_back(&each);
  return list;
}

llvm::Expected<PreparedRef> choose(const PrepareRequest &request, const Choices &choices) {
  const auto generated = taking(request, choices);
  if (generated.empty() || request.implementation == kOwnConv)
    return choices.own(request);
  for (const Choice *each : generated)
    if (request.implementation.empty() || request.implementation == each->implementation)
      return each->prepare(request);
  return dnnlType(request.outputs[0].dtype) ? choices.library(request) : choices.own(request);
}

std::vector<KernelVariant> variants(const PrepareRequest &request, const Choices &choices) {
  std::vector<KernelVariant> list;
  for (const Choice *each : taking(request, choices))
    list.push_back({each->implementation, ""});
  return list;
}

} // namespace

llvm::Expected<PreparedRef> prepareConv(const PrepareRequest &request) { return choose(request, kForward); }
llvm::Expected<PreparedRef> prepareConvTranspose(const PrepareRequest &request) { return choose(request, kTranspose); }
llvm::Expected<PreparedRef> prepareConvBackwardData(const PrepareRequest &request) {
  return choose(request, kBackwardData);
}
llvm::Expected<PreparedRef> prepareConvBackwardWeight(const PrepareRequest &request) {
  return choose(request, kBackwardWeight);
}

std::vector<KernelVariant> convVariants(const PrepareRequest &request) { return variants(request, kForward); }
std::vector<KernelVariant> convTransposeVariants(const PrepareRequest &request) {
  return variants(request, kTranspose);
}
std::vector<KernelVariant> convBackwardDataVariants(const PrepareRequest &request) {
  return variants(request, kBackwardData);
}
std::vector<KernelVariant> convBackwardWeightVariants(const PrepareRequest &request) {
  return variants(request, kBackwardWeight);
}

namespace {

/// Packs an input of a convolution, or of a transposed one, whose image and weight are inputs 0 and 1.
llvm::Error pack(const PrepareRequest &request, const ConvShape &shape, bool isTransposed, unsigned input,
                 llvm::StringRef packing, const void *from, void *to) {
  if (packing == kBlocks)
    packBlocks(request.inputs[input], from, to);
  else if (contract::Winograd::isWeight(packing))
    packWinogradWeight(request, shape, isTransposed, from, to);
  else if (contract::Products::isPanels(packing))
    (isTransposed ? packContractConvTransposeWeight : packContractConvWeight)(request, from, to);
  else
    return packDnnlConvInput(request, shape, input, packing, from, to);
  return llvm::Error::success();
}

} // namespace

llvm::Error packConvInput(const PrepareRequest &request, unsigned input, llvm::StringRef packing, const void *from,
                          void *to) {
  return pack(request, forwardShape(request), false, input, packing, from, to);
}

llvm::Error packConvTransposeInput(const PrepareRequest &request, unsigned input, llvm::StringRef packing,
                                   const void *from, void *to) {
  return pack(request, transposedShape(request), true, input, packing, from, to);
}

} // namespace tess::runtime::cpu
