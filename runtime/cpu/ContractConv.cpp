//===- ContractConv.cpp - convolutions by generated kernels ---------------===//
//
// A convolution is the product of the matrix of its windows and of its weight, or
// where channels are few that of its weight and of the transposed matrix.
// The gradient for the image is one such product for each residue of places by
// the strides, over the windows of the gradient that reach such places; the one
// for the weight is the transposed matrix of windows by the gradient.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/ContractConv.h"

#include "runtime/contract/Products.h"
#include "runtime/cpu/ConvResidues.h"
#include "runtime/cpu/ImageBlocks.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

namespace tess::runtime::cpu {

using contract::ImageForm;
using contract::ProductShape;
using contract::ResultForm;
using contract::Windows;

namespace {

constexpr unsigned kAxes = ConvShape::kMostAxes;
constexpr int64_t kBlock = kLanes;

/// Results that are images: places `step` apart from `first` on, of which there are `counts`.
ResultForm imageResults(const ImageForm &form, int64_t batch, const ImageSizes &counts, const ImageSizes &step,
                        const ImageSizes &first) {
  const bool isBlocked = form.block != 1;
  ResultForm results = {{batch, counts[0], counts[1], counts[2]},
                        {form.batchStride},
                        isBlocked ? form.blockStride : form.blockStride * kBlock,
                        isBlocked ? 1 : form.blockStride,
                        {0}};
  for (unsigned axis = 0; axis < kAxes; ++axis) {
    results.strides[1 + axis] = form.strides[axis] * step[axis];
    results.at[0] += form.strides[axis] * first[axis];
  }
  return results;
}

/// Whether each result takes one element of each channel of an image, at its own place.
bool isPointwise(const ConvShape &s) {
  return s.window() == 1 && llvm::all_of(s.axes, [](const SpatialAxis &axis) {
           return axis.stride == 1 && axis.pad == 0 && axis.size == axis.results;
         });
}

/// Such a convolution over images of one row: the same elements in longer runs.
ConvShape flattened(ConvShape s) {
  if (isPointwise(s)) {
    const int64_t plane = s.plane();
    s.axes = {};
    s.axes.back().size = s.axes.back().results = plane;
  }
  return s;
}

/// Elements from one image or group to the next one.
struct Distance {
  int64_t windows, weight, results;
};

/// Sets where the operands and results of each image and group begin, whose first ones the shape has.
void addMatrices(ProductShape &product, int64_t images, Distance image, int64_t groups, Distance group) {
  const int64_t results = product.results->at[0];
  auto &windowsAt = product.hasWindowPanels() ? product.rhsAt : product.lhsAt;
  auto &weightAt = product.hasWindowPanels() ? product.lhsAt : product.rhsAt;
  windowsAt.clear();
  weightAt.clear();
  product.results->at.clear();
  for (int64_t n = 0; n < images; ++n)
    for (int64_t g = 0; g < groups; ++g) {
      windowsAt.push_back(n * image.windows + g * group.windows);
      product.results->at.push_back(results + n * image.results + g * group.results);
    }
  for (int64_t g = 0; g < groups; ++g)
    weightAt.push_back(g * group.weight);
}

/// Whether an image with so many results is a matrix of its own: with windows as rows, a tile has few rows less than it
/// could have; with windows as panels, the last one leaves few columns empty.
bool isOwnMatrix(int64_t results, bool asPanels) {
  constexpr int64_t kManyRows = 160;
  return asPanels ? llvm::alignTo(results, kLanes) * 8 <= uint64_t(results) * 9 : results >= kManyRows;
}

/// Returns whether windows are panels: their channels are in no blocks, or results have fewer channels than a panel has
/// columns, and padded images are not much larger than others. It depends on the operator's sizes alone, because the
/// order of sums depends on it.
bool hasWindowPanels(int64_t channels, int64_t results, llvm::ArrayRef<std::array<SpatialAxis, kAxes>> windows) {
  return (channels % kBlock != 0 || results < kBlock) && llvm::all_of(windows, contract::PaddedImages::areModest);
}

/// The product of windows and a weight for `results` channels, whose rows `weight` describes.
ProductShape windowProduct(DType dtype, const Windows &windows, int64_t results, const contract::WeightForm &weight,
                           bool asPanels, bool hasPanels) {
  ProductShape product{dtype, windows.rows(), results, windows.columns(), 0, 0, 0, 0};
  product.windows = windows;
  if (asPanels) {
    std::swap(product.rows, product.columns);
    product.windowUse = contract::WindowUse::Panels;
    product.weight = weight;
    return product;
  }
  product.rhsRow = weight.channelStride;
  product.rhsColumn = weight.rowStride;
  product.hasPanels = hasPanels;
  product.rhsRun = windows.channels;
  product.rhsRunAt = weight.placeAt;
  return product;
}

ProductShape forwardProduct(const ConvShape &s, DType dtype, Blocking blocking) {
  const ImageForm image = imageForm(imageSizes(s), s.groups * s.in, blocking.operand),
                  result = imageForm(resultSizes(s), s.groups * s.out, blocking.result);
  const bool asPanels = hasWindowPanels(s.in, s.out, s.axes);
  const int64_t images = isOwnMatrix(s.resultPlane(), asPanels) ? s.batch : 1, places = s.window();
  Windows windows(s.batch / images, s.in, s.axes, image);
  contract::WeightForm weight{s.in * places, places, {}};
  for (int64_t place = 0; place < places; ++place)
    weight.placeAt.push_back(place);
  ProductShape product = windowProduct(dtype, windows, s.out, weight, asPanels, blocking.weight);
  product.results = imageResults(result, windows.batch, resultSizes(s), {1, 1, 1}, {0, 0, 0});
  addMatrices(product, images, {image.batchStride, 0, result.batchStride}, s.groups,
              {s.in * s.plane(), s.out * s.in * places, s.out * s.resultPlane()});
  return product;
}

/// The weight by a row-major image: both lie as the product reads them, and results as it writes them.
ProductShape pointwiseProduct(const ConvShape &s, DType dtype) {
  ProductShape product{dtype, s.out, s.plane(), s.in, s.in, 1, s.plane(), 1, {}, {}};
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t g = 0; g < s.groups; ++g) {
      product.lhsAt.push_back(g * s.out * s.in);
      product.rhsAt.push_back((n * s.groups + g) * s.in * s.plane());
    }
  return product;
}

/// The windows over the gradient.
std::array<SpatialAxis, kAxes> windowsOf(const Residues &residues) {
  return {residues[0].axis, residues[1].axis, residues[2].axis};
}

/// The product for the elements of the image with one residue on each axis.
ProductShape dataProduct(const ConvShape &s, DType dtype, Blocking blocking, const Residues &residues, bool asPanels) {
  const ImageForm gradient = imageForm(resultSizes(s), s.groups * s.out, blocking.operand),
                  image = imageForm(imageSizes(s), s.groups * s.in, blocking.result);
  ImageSizes counts, first, strides;
  for (unsigned axis = 0; axis < kAxes; ++axis) {
    strides[axis] = s.axes[axis].stride;
    counts[axis] = residues[axis].axis.results;
    first[axis] = residues[axis].first;
  }
  const int64_t images = asPanels && isOwnMatrix(counts[0] * counts[1] * counts[2], asPanels) ? s.batch : 1;
  Windows windows(s.batch / images, s.out, windowsOf(residues), gradient);
  const contract::WeightForm weight{s.window(), s.in * s.window(), llvm::to_vector<1>(placesOf(s, residues))};
  ProductShape product = windowProduct(dtype, windows, s.in, weight, asPanels, blocking.weight);
  product.results = imageResults(image, windows.batch, counts, strides, first);
  addMatrices(product, images, {gradient.batchStride, 0, image.batchStride}, s.groups,
              {s.out * s.resultPlane(), s.out * s.in * s.window(), s.in * s.plane()});
  return product;
}

std::vector<ProductShape> dataProducts(const ConvShape &s, DType dtype, Blocking blocking) {
  const std::vector<Residues> residues = residuesOf(s);
  std::vector<std::array<SpatialAxis, kAxes>> windows;
  for (const Residues &each : residues)
    windows.push_back(windowsOf(each));
  const bool asPanels = hasWindowPanels(s.out, s.in, windows);
  std::vector<ProductShape> list;
  for (const Residues &each : residues)
    list.push_back(dataProduct(s, dtype, blocking, each, asPanels));
  return list;
}

ProductShape weightProduct(const ConvShape &s, DType dtype) {
  const ImageForm image = imageForm(imageSizes(s), s.groups * s.in, false);
  const int64_t rows = s.in * s.window(), plane = s.resultPlane();
  ProductShape product{dtype, rows, s.out, s.batch * plane, 0, 0, 1, plane};
  product.windows = Windows(s.batch, s.in, s.axes, image);
  product.windowUse = contract::WindowUse::Columns;
  product.rhsRun = plane;
  for (int64_t i = 0; i < s.batch; ++i)
    product.rhsRunAt.push_back(i * s.groups * s.out * plane);
  product.results = {{1, 1, 1, rows}, {0, 0, 0, 1}, rows * kBlock, rows, {0}};
  addMatrices(product, 1, {}, s.groups, {s.in * s.plane(), s.out * plane, s.out * rows});
  return product;
}

/// Bytes that a product of this shape holds, about: offsets of its matrices and of places.
size_t bytesOf(const ProductShape &product) {
  const size_t places = product.windows ? product.windows->places.size() : 0;
  return sizeof(contract::Products) + size_t(product.numMatrices()) * 3 * sizeof(int64_t) +
         places * 2 * sizeof(Windows::Place);
}

/// Products one after the other, all of the same operands.
class ContractConv : public PreparedKernel {
public:
  /// `leftAt`, `rightAt`: which inputs these are. `clearedBytes`: of the result, before the products write it.
  ContractConv(const PrepareRequest &request, const ConvShape &shape, llvm::ArrayRef<ProductShape> list,
               unsigned leftAt, unsigned rightAt, size_t clearedBytes)
      : leftAt(leftAt), rightAt(rightAt), clearedBytes(clearedBytes) {
    implementationName = kContractConv;
    const unsigned threads = shape.products() < kSerialProducts ? 1 : request.threads;
    for (const ProductShape &each : list) {
      products.push_back(std::make_unique<contract::Products>(each, threads));
      workspace = std::max(workspace, products.back()->workspaceBytes());
      threadCount = std::max(threadCount, products.back()->threads());
      panelBytes.push_back(products.back()->bytesOfPanels());
      heldBytes += bytesOf(each);
      hasPanels = each.hasPanels;
      hasWindowPanels = each.hasWindowPanels();
    }
  }

  /// Asks for operands and results as they are gathered, read and written with the least work. Windows that are panels
  /// are gathered from row-major images, and the weight is read in place.
  void preferBlocks(const TensorMeta &operand, const TensorMeta &result, bool packsOperand, bool packsResult) {
    inputPackings.resize(2);
    if (packsResult)
      resultPacking = blocksOf(result);
    if (hasWindowPanels)
      return;
    if (packsOperand)
      inputPackings[leftAt] = blocksOf(operand);
    Packing &panels = inputPackings[rightAt];
    for (auto [each, bytes] : llvm::zip_equal(products, panelBytes)) {
      panels.text += each->panelsText();
      panels.constantBytes += bytes;
    }
  }

  /// Asks for what another kernel asks for.
  void preferAs(const ContractConv &other) {
    inputPackings = other.inputPackings;
    resultPacking = other.resultPacking;
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    if (clearedBytes)
      std::memset(outputs[0], 0, clearedBytes);
    const char *right = static_cast<const char *>(inputs[rightAt]);
    for (auto [each, bytes] : llvm::zip_equal(products, panelBytes)) {
      each->run(inputs[leftAt], right, outputs[0], context.workspace);
      right += hasPanels ? bytes : 0;
    }
    return llvm::Error::success();
  }

  /// Packs the right operand for a kernel that has it in panels.
  void pack(const void *from, void *to) const {
    char *panels = static_cast<char *>(to);
    for (auto [each, bytes] : llvm::zip_equal(products, panelBytes)) {
      each->pack(from, panels);
      panels += bytes;
    }
  }

private:
  const unsigned leftAt, rightAt;
  const size_t clearedBytes;
  std::vector<std::unique_ptr<const contract::Products>> products;
  std::vector<size_t> panelBytes; // of the right operand, by product
  bool hasPanels = false, hasWindowPanels = false;
};

/// Results of a channel from which on rows are long enough that products which read or write them in place are faster
/// than those of blocks.
constexpr int64_t kLongRows = 2048;

/// `windowsAt`, `weightAt`: which inputs these are.
std::shared_ptr<ContractConv> forwardKernel(const PrepareRequest &request, Blocking blocking) {
  const ConvShape shape = flattened(forwardShape(request));
  const ProductShape product = forwardProduct(shape, request.outputs[0].dtype, blocking);
  const bool isSwapped = product.hasWindowPanels();
  auto kernel = std::make_shared<ContractConv>(request, shape, product, isSwapped, !isSwapped, 0);
  const bool isLong = shape.resultPlane() >= kLongRows;
  if (!isLong || !isPointwise(shape))
    kernel->preferBlocks(request.inputs[0], request.outputs[0], hasBlocks(shape.in),
                         hasBlocks(shape.out) && !(isLong && isSwapped));
  return kernel;
}

/// `gradientAt`, `weightAt`: which inputs these are.
std::shared_ptr<ContractConv> dataKernel(const PrepareRequest &request, const ConvShape &shape, Blocking blocking,
                                         unsigned gradientAt, unsigned weightAt) {
  const std::vector<ProductShape> products = dataProducts(shape, request.outputs[0].dtype, blocking);
  if (!products.empty() && products[0].hasWindowPanels())
    std::swap(gradientAt, weightAt);
  auto kernel = std::make_shared<ContractConv>(request, shape, products, gradientAt, weightAt,
                                               bytesToClear(shape, request.outputs[0]));
  kernel->preferBlocks(request.inputs[gradientAt], request.outputs[0], hasBlocks(shape.out), hasBlocks(shape.in));
  return kernel;
}

} // namespace

llvm::Expected<PreparedRef> prepareContractConv(const PrepareRequest &request) {
  const Blocking blocking = blockingOf(request, 0, 1);
  std::shared_ptr<ContractConv> kernel = forwardKernel(request, blocking);
  const ConvShape shape = forwardShape(request);
  if (!isPointwise(shape) || blocking.operand || blocking.result || blocking.weight)
    return kernel;
  auto inPlace =
      std::make_shared<ContractConv>(request, shape, pointwiseProduct(shape, request.outputs[0].dtype), 1, 0, 0);
  inPlace->preferAs(*kernel);
  return inPlace;
}

llvm::Expected<PreparedRef> prepareContractConvTranspose(const PrepareRequest &request) {
  return dataKernel(request, flattened(transposedShape(request)), blockingOf(request, 0, 1), 0, 1);
}

llvm::Expected<PreparedRef> prepareContractConvBackwardData(const PrepareRequest &request) {
  return dataKernel(request, flattened(backwardDataShape(request)), blockingOf(request, 1, 0), 1, 0);
}

llvm::Expected<PreparedRef> prepareContractConvBackwardWeight(const PrepareRequest &request) {
  const ConvShape shape = flattened(backwardWeightShape(request));
  return std::make_shared<ContractConv>(request, shape, weightProduct(shape, request.outputs[0].dtype), 0, 1, 0);
}

void packContractConvWeight(const PrepareRequest &request, const void *from, void *to) {
  forwardKernel(request, {})->pack(from, to);
}

void packContractConvTransposeWeight(const PrepareRequest &request, const void *from, void *to) {
  dataKernel(request, flattened(transposedShape(request)), {}, 0, 1)->pack(from, to);
}

} // namespace tess::runtime::cpu
