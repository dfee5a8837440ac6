//===- DepthwiseConv.cpp - convolutions of single channels ----------------===//
#include "runtime/cpu/DepthwiseConv.h"

#include "runtime/contract/Depthwise.h"
#include "runtime/contract/DepthwiseWeight.h"
#include "runtime/cpu/ConvResidues.h"
#include "runtime/cpu/ImageBlocks.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/threads/ParallelFor.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tess::runtime::cpu {

using contract::Depthwise;
using contract::DepthwiseShape;
using contract::DepthwiseWeight;

namespace {

/// Time of one multiplication, with what moves its operands.
constexpr int64_t kPicoseconds = 25;

unsigned threadsOf(const PrepareRequest &request, const ConvShape &shape) {
  return threadsFor(shape.products() * kPicoseconds, request.threads);
}

/// Channels of results of a group beyond which products of windows are faster: their gradient for the image sums over
/// all of them.
constexpr int64_t kMostResults = kLanes;
/// Results of a row of one channel below which vectors have channels side by side: rows are too short to fill vectors.
constexpr int64_t kShortRow = 24;

/// Channels of the result that vectors have side by side.
int64_t lanesOf(const DepthwiseShape &shape, Blocking blocking) {
  const bool isShort = shape.axes[2].results < kShortRow && hasBlocks(shape.groups * shape.results);
  return blocking.operand || blocking.result || isShort ? int64_t(kLanes) : 1;
}

DepthwiseShape forwardOf(const ConvShape &s, DType dtype, Blocking blocking) {
  DepthwiseShape shape{dtype, s.batch, s.groups, 1, s.out, s.axes};
  shape.operand = imageForm(imageSizes(s), s.groups, blocking.operand);
  shape.result = imageForm(resultSizes(s), s.groups * s.out, blocking.result);
  shape.window = s.window();
  shape.places.resize(size_t(s.window()));
  std::iota(shape.places.begin(), shape.places.end(), 0);
  shape.lanes = lanesOf(shape, blocking);
  return shape;
}

/// For the elements of the image with one residue on each axis.
DepthwiseShape dataOf(const ConvShape &s, DType dtype, Blocking blocking, const Residues &residues) {
  DepthwiseShape shape{dtype, s.batch, s.groups, s.out, 1};
  shape.operand = imageForm(resultSizes(s), s.groups * s.out, blocking.operand);
  shape.result = imageForm(imageSizes(s), s.groups, blocking.result);
  for (unsigned axis = 0; axis < ConvShape::kMostAxes; ++axis) {
    shape.axes[axis] = residues[axis].axis;
    shape.step[axis] = s.axes[axis].stride;
    shape.first[axis] = residues[axis].first;
  }
  shape.window = s.window();
  shape.places = placesOf(s, residues);
  shape.lanes = lanesOf(shape, blocking);
  return shape;
}

/// Convolutions one after the other, all of the same operands.
class DepthwiseConv : public PreparedKernel {
public:
  /// `operandAt`, `weightAt`: which inputs these are. `clearedBytes`: of the result, before the convolutions write it.
  DepthwiseConv(const PrepareRequest &request, const ConvShape &shape, llvm::ArrayRef<DepthwiseShape> list,
                unsigned operandAt, unsigned weightAt, size_t clearedBytes)
      : operandAt(operandAt), weightAt(weightAt), clearedBytes(clearedBytes) {
    implementationName = kDepthwiseConv;
    threadCount = threadsOf(request, shape);
    for (const DepthwiseShape &each : list) {
      convolutions.push_back(std::make_unique<Depthwise>(each));
      threadBytes = std::max(threadBytes, convolutions.back()->workspaceBytes());
      heldBytes += sizeof(Depthwise) + each.places.size() * (1 + size_t(each.operands)) * sizeof(int64_t);
    }
    workspace = threadBytes * threadCount;
    if (!hasBlocks(shape.groups))
      return;
    inputPackings.resize(2);
    inputPackings[operandAt] = blocksOf(request.inputs[operandAt]);
    resultPacking = blocksOf(request.outputs[0]);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    if (clearedBytes)
      std::memset(outputs[0], 0, clearedBytes);
    for (const auto &each : convolutions)
      parallelFor(threadCount, each->units(), 1, [&](int64_t begin, int64_t end, unsigned part) {
        each->run(begin, end, inputs[operandAt], inputs[weightAt], outputs[0],
                  static_cast<char *>(context.workspace) + part * threadBytes);
      });
    return llvm::Error::success();
  }

private:
  const unsigned operandAt, weightAt;
  const size_t clearedBytes;
  std::vector<std::unique_ptr<const Depthwise>> convolutions;
  size_t threadBytes = 0;
};

class DepthwiseConvWeight : public PreparedKernel {
public:
  DepthwiseConvWeight(const PrepareRequest &request, const ConvShape &s)
      : groups(s.groups),
        gradient({request.outputs[0].dtype, s.batch, s.groups, s.out, s.axes, imageForm(imageSizes(s), s.groups, false),
                  imageForm(resultSizes(s), s.groups * s.out, false)}) {
    implementationName = kDepthwiseConv;
    threadCount = threadsOf(request, s);
    workspace = gradient.workspaceBytes() * threadCount;
    heldBytes += size_t(s.window()) * sizeof(int64_t);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    parallelFor(threadCount, groups, 1, [&](int64_t begin, int64_t end, unsigned part) {
      gradient.run(begin, end, inputs[0], inputs[1], outputs[0],
                   static_cast<char *>(context.workspace) + part * gradient.workspaceBytes());
    });
    return llvm::Error::success();
  }

private:
  const int64_t groups;
  const DepthwiseWeight gradient;
};

PreparedRef dataKernel(const PrepareRequest &request, const ConvShape &shape, unsigned gradientAt, unsigned weightAt) {
  const Blocking blocking = blockingOf(request, gradientAt, weightAt);
  std::vector<DepthwiseShape> list;
  for (const Residues &residues : residuesOf(shape))
    list.push_back(dataOf(shape, request.outputs[0].dtype, blocking, residues));
  return std::make_shared<DepthwiseConv>(request, shape, list, gradientAt, weightAt,
                                         bytesToClear(shape, request.outputs[0]));
}

} // namespace

bool isDepthwise(const ConvShape &shape) { return shape.in == 1 && shape.groups > 1 && shape.out <= kMostResults; }

llvm::Expected<PreparedRef> prepareDepthwiseConv(const PrepareRequest &request) {
  const ConvShape shape = forwardShape(request);
  const DepthwiseShape each = forwardOf(shape, request.outputs[0].dtype, blockingOf(request, 0, 1));
  return std::make_shared<DepthwiseConv>(request, shape, each, 0, 1, 0);
}

llvm::Expected<PreparedRef> prepareDepthwiseConvTranspose(const PrepareRequest &request) {
  return dataKernel(request, transposedShape(request), 0, 1);
}

llvm::Expected<PreparedRef> prepareDepthwiseConvBackwardData(const PrepareRequest &request) {
  return dataKernel(request, backwardDataShape(request), 1, 0);
}

llvm::Expected<PreparedRef> prepareDepthwiseConvBackwardWeight(const PrepareRequest &request) {
  return std::make_shared<DepthwiseConvWeight>(request, backwardWeightShape(request));
}

} // namespace tess::runtime::cpu
