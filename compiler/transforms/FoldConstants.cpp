//===- FoldConstants.cpp - constants computed at compile time -------------===//
//
// Values that depend only on constants are computed now, by the same kernels as
// in every run, so the bits are the same. Never folded are operators that read
// random state, and library calls, whose bits depend on the machine and the
// thread count of the run, and loops, which may have such calls.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Bodies.h"
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/Passes.h"
#include "ir/Contents.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

#include "mlir/IR/IRMapping.h"

#include <cmath>
#include <cstring>

namespace tess::compiler {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;
using namespace tess::ir;

/// Bytes that a folded value may have beyond those of the constants that it is made of: a file must not explode.
constexpr int64_t kMaxGrowth = int64_t(1) << 20;

int64_t bytesOf(Value value) {
  TensorMeta meta = metaOf(value.getType());
  return meta.numElements() * int64_t(byteWidth(meta.dtype));
}

bool isSource(Operation *op) { return infoOf(op) && infoOf(op)->operands.empty(); }

/// Whether `op` costs nothing: a constant, or a view that leaves its elements in one piece.
bool isFree(Operation *op) {
  if (isa<ConstantOp>(op))
    return true;
  return infoOf(op)->keepsOrder() && isFree(op->getOperand(0).getDefiningOp());
}

class ConstantParts {
public:
  explicit ConstantParts(Block &block) {
    for (Operation &op : block.without_terminator())
      if (isa<ConstantOp>(op) || isKnown(&op))
        addKnown(&op);
    for (Operation &op : llvm::reverse(block.without_terminator()))
      if (known.contains(&op) && !isa<ConstantOp>(op))
        decide(&op);
  }

  /// The operators whose results become constants, last to first.
  ArrayRef<Operation *> folded() const { return chosen; }
  /// Those operators and all that they depend on, in program order.
  SmallVector<Operation *> closure(Block &block) const {
    llvm::DenseSet<Operation *> wanted(chosen.begin(), chosen.end());
    for (Operation &op : llvm::reverse(block))
      if (wanted.contains(&op))
        for (Value operand : op.getOperands())
          wanted.insert(operand.getDefiningOp());
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      if (wanted.contains(&op))
        ops.push_back(&op);
    return ops;
  }

private:
  using Roots = llvm::SmallPtrSet<Operation *, 2>;

  bool isKnown(Operation *op) const {
    const OpInfo *info = infoOf(op);
    if (!info || info->stochastic || info->lowering == Lowering::Library || info->lowering == Lowering::Control ||
        op->hasAttr(kScalarsAttr) || op->hasAttr(kSizesAttr))
      return false;
    auto isStatic = [](Value v) { return cast<RankedTensorType>(v.getType()).hasStaticShape(); };
    if (!llvm::all_of(op->getResults(), isStatic) ||
        !llvm::all_of(op->getOperands(), [&](Value v) { return known.contains(v.getDefiningOp()); }))
      return false;
    int64_t limit = kMaxGrowth, made = 0;
    for (Operation *root : rootsOf(op))
      limit += bytesOf(root->getResult(0));
    for (Value result : op->getResults())
      made += bytesOf(result);
    return made <= limit;
  }

  Roots rootsOf(Operation *op) const {
    Roots roots;
    for (Value operand : op->getOperands()) {
      auto found = known.find(operand.getDefiningOp());
      roots.insert(found->second.begin(), found->second.end());
    }
    return roots;
  }

  void addKnown(Operation *op) {
    Roots roots = rootsOf(op);
    if (isa<ConstantOp>(op))
      roots.insert(op);
    known[op] = std::move(roots);
  }

  /// Called for readers before their producers: `op` is computed in every run when one of its readers is, unless `op`
  /// becomes a constant.
  void decide(Operation *op) {
    auto stays = [&](Operation *user) { return !known.contains(user) || staying.contains(user); };
    if (llvm::none_of(op->getUsers(), stays))
      return;
    if (pays(op, stays))
      chosen.push_back(op);
    else
      staying.insert(op);
  }

  bool pays(Operation *op, llvm::function_ref<bool(Operation *)> stays) const {
    if (isSource(op)) // kernels that read it compute it themselves
      return llvm::any_of(op->getUsers(),
                          [&](Operation *user) { return stays(user) && infoOf(user) && !isFusible(user); });
    if (infoOf(op)->lowering == Lowering::View)
      return !isFree(op) && bytesOf(op->getResult(0)) <= bytesOf(op->getOperand(0));
    return true;
  }

  DenseMap<Operation *, Roots> known;
  llvm::DenseSet<Operation *> staying;
  SmallVector<Operation *> chosen;
};

/// A module whose main function has no arguments and returns `outputs`.
OwningOpRef<ModuleOp> programOf(MLIRContext *context, ArrayRef<Operation *> ops, ArrayRef<Value> outputs) {
  OpBuilder builder(context);
  Location location = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  auto func =
      func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, ValueRange(outputs).getTypes()));
  builder.setInsertionPointToEnd(func.addEntryBlock());
  IRMapping mapping;
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  func::ReturnOp::create(builder, location, llvm::map_to_vector(outputs, [&](Value v) { return mapping.lookup(v); }));
  NamedAttribute fields[] = {builder.getNamedAttr("name", builder.getStringAttr("")),
                             builder.getNamedAttr("donates", builder.getI64IntegerAttr(-1))};
  SmallVector<Attribute> entries(outputs.size(), builder.getDictionaryAttr(fields));
  func->setAttr(kDimsAttr, builder.getArrayAttr({}));
  func->setAttr(kOutputsAttr, builder.getArrayAttr(entries));
  return module;
}

/// The number, if `full` can make it; none for other dtypes, ranks, and values that are not finite.
std::optional<double> numberOf(Value value, StringRef bytes) {
  TensorMeta meta = metaOf(value.getType());
  double number = NAN;
  if (meta.rank() == 0 && meta.dtype == DType::Float64)
    std::memcpy(&number, bytes.data(), sizeof(number));
  if (float narrow; meta.rank() == 0 && meta.dtype == DType::Float32) {
    std::memcpy(&narrow, bytes.data(), sizeof(narrow));
    number = narrow;
  }
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

Operation *replaceByNumber(OpBuilder &builder, Value value, double number) {
  OpDef full = OpDef::get("full").set("shape", IntList{}).set("value", number);
  full.set("dtype", metaOf(value.getType()).dtype);
  Operation *op = createOp(builder, value.getLoc(), full, {}, {}, metaOf(value.getType()));
  value.replaceAllUsesWith(op->getResult(0));
  return op;
}

Operation *replaceByConstant(OpBuilder &builder, Value value, StringRef bytes) {
  builder.setInsertionPoint(value.getDefiningOp());
  std::optional<double> number = numberOf(value, bytes);
  if (number && llvm::all_of(value.getUsers(), isFusible)) // kernels compute it themselves
    return replaceByNumber(builder, value, *number);
  auto type = cast<RankedTensorType>(value.getType());
  auto content = contentOf(type, "folded", bytes);
  auto constant = ConstantOp::create(builder, value.getLoc(), type, content, builder.getStringAttr(""));
  value.replaceAllUsesWith(constant.getOut());
  return constant;
}

struct FoldConstants : impl::FoldConstantsPassBase<FoldConstants> {
  FoldConstants() = default;
  explicit FoldConstants(ModuleEvaluator evaluate) : evaluate(std::move(evaluate)) {}

  void runOnOperation() override {
    for (Block *block : bodiesOf(getOperation()))
      fold(*block);
  }

  void fold(Block &block) {
    ConstantParts parts(block);
    if (!evaluate || parts.folded().empty())
      return;
    SmallVector<Value> values;
    for (Operation *op : parts.folded())
      llvm::append_range(values, op->getResults());
    SmallVector<Operation *> ops = parts.closure(block);
    FailureOr<std::vector<std::string>> bytes = evaluate(*programOf(&getContext(), ops, values));
    if (failed(bytes))
      return; // the run reports the error
    OpBuilder builder(&getContext());
    for (auto [value, content] : llvm::zip(values, *bytes))
      ops.push_back(replaceByConstant(builder, value, content));
    llvm::sort(ops, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
    for (Operation *op : ops) // readers before their producers
      if (op->use_empty())
        op->erase();
  }

  ModuleEvaluator evaluate;
};

} // namespace

std::unique_ptr<Pass> createFoldConstantsPass(ModuleEvaluator evaluate) {
  return std::make_unique<FoldConstants>(std::move(evaluate));
}

} // namespace tess::compiler
