//===- Matmul.cpp - which kernel computes a matrix product ----------------===//
#include "ops/vocabulary/Error.h"
#include "runtime/contract/Products.h"
#include "runtime/cpu/DnnlCalls.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime::cpu {

/// Gives axes of size 1 the strides of a packed tensor: oneDNN reads a leading dimension from them.
static Layout tidy(Layout layout) {
  size_t r = layout.shape.size();
  int64_t rows = layout.shape[r - 2], columns = layout.shape[r - 1];
  int64_t &rowStride = layout.strides[r - 2], &columnStride = layout.strides[r - 1];
  if (rows == 1 && columns == 1)
    rowStride = columnStride = 1;
  else if (rows == 1)
    rowStride = columnStride == 1 ? columns : 1;
  else if (columns == 1)
    columnStride = 1;
  int64_t packed = rows * columns;
  for (size_t i = r - 2; i-- > 0;) {
    if (layout.shape[i] == 1)
      layout.strides[i] = packed;
    packed = std::max(packed, layout.shape[i] * layout.strides[i]);
  }
  return layout;
}

/// Makes oneDNN generate its 64 GEMM kernels now; it would do so when the first product runs. Their time thus counts as
/// preparing a primitive, which is measured, and not as a call.
static void generateGemmKernels() {
  [[maybe_unused]] static const bool done = [] {
    float ones[4] = {1, 1, 1, 1}, product[4]; // a product of single numbers would generate none
    dnnl::error::wrap_c_api(dnnl_sgemm('N', 'N', 2, 2, 2, 1, ones, 2, ones, 2, 0, product, 2),
                            "could not generate the kernels of matrix products");
    return true;
  }();
}

static void build(DnnlCalls &calls, const PrepareRequest &request, const MatmulShape &shape) {
  DType dtype = request.outputs[0].dtype;
  int lhs = calls.inputSlot(0, dnnlDesc(dtype, tidy(shape.lhs)));
  int rhs = calls.inputSlot(1, dnnlDesc(dtype, tidy(shape.rhs)));
  int out = calls.outputSlot(0, dnnlDesc(dtype, tidy(Layout::contiguous(shape.out))));
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::matmul::primitive_desc desc({calls.desc(lhs), calls.desc(rhs), calls.desc(out)}, attr, dnnlEngine());
  std::vector<std::pair<int, int>> args = {{DNNL_ARG_SRC, lhs}, {DNNL_ARG_WEIGHTS, rhs}, {DNNL_ARG_DST, out}};
  if (desc.scratchpad_desc().get_size())
    args.push_back({DNNL_ARG_SCRATCHPAD, calls.workspaceSlot(desc.scratchpad_desc())});
  calls.call(dnnl::matmul(desc), std::move(args));
  if (llvm::StringRef(desc.impl_info_str()).starts_with("gemm:"))
    generateGemmKernels();
  calls.setImplementation(desc.impl_info_str());
}

/// Whether offsets within a block of rows of the result fit into 32 bits, as oneDNN 2.6.3 takes for granted: 17 rows of
/// 128 MiB end the process. Blocks of 25 rows were seen, of 30 not.
static bool hasShortRows(const MatmulShape &shape, DType dtype) {
  constexpr int64_t kMostRows = 32;
  int64_t rows = std::min(shape.out[shape.out.size() - 2], kMostRows) - 1;
  return rows * shape.n * byteWidth(dtype) <= INT32_MAX;
}

/// Whether our own kernel of this name may run. A file that was compiled for another keeps that.
static bool mayBe(const char *own, const PrepareRequest &request) {
  return request.implementation.empty() || request.implementation == own;
}

/// The transposed product: the same sums, results where they were.
static contract::ProductShape transposed(contract::ProductShape shape) {
  const int64_t rows = shape.rows, columns = shape.columns;
  if (columns != 1) {
    shape.results = {{1, 1, 1, columns}, {0, 0, 0, 1}, columns * int64_t(kLanes), columns, {}};
    for (int64_t matrix = 0; matrix < shape.numMatrices(); ++matrix)
      shape.results->at.push_back(matrix * rows * columns);
  }
  std::swap(shape.rows, shape.columns);
  std::swap(shape.lhsRow, shape.rhsColumn);
  std::swap(shape.lhsColumn, shape.rhsRow);
  shape.rhsAt.resize(shape.lhsAt.size(), shape.rhsAt.front()); // one place, or that of each matrix
  std::swap(shape.lhsAt, shape.rhsAt);
  if (shape.rightDType)
    std::swap(shape.dtype, *shape.rightDType);
  return shape;
}

/// Whether a product takes less as the transposed one. A matrix by a column is the column as a row then, so that lanes
/// are results; and of operands along the contracted axis the smaller one is packed, though results are turned, too.
static bool isBetterTransposed(const contract::ProductShape &shape) {
  if (shape.columns == 1)
    return shape.rows > 1;
  constexpr int64_t kFewestRows = kLanes - 4; // lanes that are used
  const bool packsRight = shape.rhsColumn != 1 && shape.rhsRow == 1 && !shape.hasPanels;
  return packsRight && shape.lhsColumn == 1 && shape.rows >= kFewestRows &&
         2 * shape.rows * (shape.depth + shape.columns) < shape.depth * shape.columns;
}

/// How a product is computed, beside its sums: as the transposed one, and with a packed right operand.
struct ProductForm {
  bool isTransposed;
  std::optional<bool> packs; // none: the right operand cannot be read in place

  std::string text() const {
    std::string text = isTransposed ? "transposed" : "";
    if (packs)
      text += (text.empty() ? "" : ", ") + std::string(*packs ? "packed" : "in place");
    return text.empty() ? "packed" : text;
  }
};

/// The product in that form.
static contract::ProductShape inForm(contract::ProductShape shape, const ProductForm &form) {
  shape = form.isTransposed ? transposed(shape) : shape;
  shape.packs = form.packs;
  return shape;
}

/// Forms in which a product can be computed: panels leave none to choose.
static std::vector<ProductForm> formsOf(const contract::ProductShape &shape) {
  std::vector<ProductForm> list;
  for (bool isTransposed : {false, true}) {
    if (shape.hasPanels && isTransposed != isBetterTransposed(shape))
      continue;
    if (contract::Products(inForm(shape, {isTransposed, std::nullopt}), 1).mayReadInPlace())
      list.insert(list.end(), {{isTransposed, false}, {isTransposed, true}});
    else
      list.push_back({isTransposed, std::nullopt});
  }
  return list;
}

/// The form of a text, or that which takes least.
static ProductForm formOf(const contract::ProductShape &shape, llvm::StringRef text) {
  if (!text.empty())
    for (const ProductForm &form : formsOf(shape))
      if (form.text() == text)
        return form;
  return {isBetterTransposed(shape), std::nullopt};
}

/// Products by generated kernels (runtime/contract).
class ContractedProduct : public PreparedKernel {
public:
  ContractedProduct(const contract::ProductShape &shape, unsigned threads, const ProductForm &form)
      : isTransposed(form.isTransposed), products(inForm(shape, form), threads) {
    implementationName = kContract;
    formText =
        ProductForm{isTransposed, products.mayReadInPlace() ? std::optional(products.wantsPanels()) : std::nullopt}
            .text();
    threadCount = products.threads();
    workspace = products.workspaceBytes();
    heldBytes += (shape.lhsAt.size() + shape.rhsAt.size()) * sizeof(int64_t);
    if (shape.columns != 1 && shape.rhsAt.size() == 1)
      isTransposed ? askForPanels(contract::Products(shape, threads)) : askForPanels(products);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    products.run(inputs[isTransposed], inputs[!isTransposed], outputs[0], context.workspace);
    return llvm::Error::success();
  }

private:
  /// Asks for the right operand of the product that is not transposed as that reads it, where it is a constant.
  void askForPanels(const contract::Products &plain) {
    if (plain.wantsPanels())
      inputPackings = {{}, {plain.panelsText(), std::nullopt, plain.bytesOfPanels()}};
  }

  const bool isTransposed;
  contract::Products products;
};

/// The first of these that has the dtype and takes the sizes: conditions say nothing of threads, the machine or how
/// many rows there are, so that these decide no bit.
llvm::Expected<PreparedRef> prepareMatmul(const PrepareRequest &request) {
  MatmulShape shape = matmulShape(request);
  const DType dtype = request.outputs[0].dtype;
  const bool isWidened = request.inputs[0].dtype != dtype || request.inputs[1].dtype != dtype;
  const int64_t products = shape.batch * shape.m * shape.n * shape.k;
  const unsigned threads = products < kSerialProducts ? 1 : request.threads;
  if (products == 0)
    return prepareOwnMatmul(request);
  collapseBatch(shape);
  if (isFloat(dtype) && (isWidened || mayBe(kContract, request))) {
    const contract::ProductShape product = productShape(shape, request);
    return std::make_shared<ContractedProduct>(product, threads, formOf(product, request.form));
  }
  if (!dnnlType(dtype) || !hasShortRows(shape, dtype) || request.implementation == kOwnMatmul)
    return prepareOwnMatmul(request);
  return prepareCalls(request, threads, [&](DnnlCalls &calls) { build(calls, request, shape); }, prepareOwnMatmul);
}

std::vector<KernelVariant> matmulVariants(const PrepareRequest &request) {
  MatmulShape shape = matmulShape(request);
  if (!isFloat(request.outputs[0].dtype) || shape.batch * shape.m * shape.n * shape.k == 0)
    return {};
  collapseBatch(shape);
  std::vector<KernelVariant> list;
  for (const ProductForm &form : formsOf(productShape(shape, request)))
    list.push_back({kContract, form.text()});
  return list;
}

llvm::Error packMatmulInput(const PrepareRequest &request, unsigned, llvm::StringRef, const void *from, void *to) {
  MatmulShape shape = matmulShape(request);
  collapseBatch(shape);
  contract::Products(productShape(shape, request), 1).pack(from, to);
  return llvm::Error::success();
}

} // namespace tess::runtime::cpu
