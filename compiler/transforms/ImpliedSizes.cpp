//===- ImpliedSizes.cpp - repetition that an operator implies -------------===//
#include "compiler/transforms/ImpliedSizes.h"

#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/vocabulary/SizeExpr.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tess::compiler {

/// The expression of an unknown size of an argument of the program; kUnknown: it has no name.
static int64_t namedSize(BlockArgument argument, unsigned axis) {
  auto func = dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp());
  auto dims = func ? func.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), ir::kArgDimsAttr) : nullptr;
  return dims && dims[axis] >= 0 ? sizes::symbol(uint32_t(dims[axis])) : kUnknown;
}

static unsigned rankOf(Value value) { return unsigned(cast<RankedTensorType>(value.getType()).getRank()); }

/// The first value that must have the shape of `value`.
static Value rootOf(Value value) {
  auto isNumber = [](Value operand) { return rankOf(operand) == 0; };
  for (Operation *op = value.getDefiningOp(); op; op = value.getDefiningOp()) {
    const OpInfo *info = ir::infoOf(op);
    if (!info || info->lowering != Lowering::Elementwise ||
        llvm::count_if(op->getOperands(), isNumber) + 1 != op->getNumOperands())
      break;
    value = *llvm::find_if_not(op->getOperands(), isNumber);
  }
  return value;
}

namespace {

/// An unknown size, as an operator names it.
struct NamedSize {
  int64_t expression = kUnknown;
  Value like; // has it along the same axis; null where there is an expression
};

/// Looks for a size in values and in what they are computed of.
class SizeSearch {
public:
  SizeSearch(NamedSize wanted, unsigned axis) : wanted(wanted), axis(axis) {}

  /// Whether the size of `value` along the axis would not change if it were broadcast to the wanted one.
  bool covers(Value value) {
    constexpr unsigned kMostValues = 64;
    auto type = cast<RankedTensorType>(value.getType());
    if (axis >= type.getRank() || ++numSeen > kMostValues)
      return false;
    unsigned own = type.getRank() - 1 - axis;
    if (!type.isDynamicDim(own))
      return false;
    if (value == wanted.like)
      return true;
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? sizes::isSymbolic(wanted.expression) && namedSize(argument, own) == wanted.expression
                    : isMadeOf(value.getDefiningOp(), own);
  }

private:
  bool isMadeOf(Operation *op, unsigned own) {
    const OpInfo *info = ir::infoOf(op);
    if (!info)
      return false;
    if (info->lowering == Lowering::Elementwise)
      return llvm::any_of(op->getOperands(), [&](Value operand) { return covers(operand); });
    bool keepsAxes = info->lowering == Lowering::Reduction && // size 1 where it reduces
                     rankOf(op->getOperand(0)) == rankOf(op->getResult(0));
    if (keepsAxes)
      return covers(op->getOperand(0));
    return info->lowering == Lowering::View && namesSize(op, own);
  }

  /// Whether the view has its shape as an attribute, and there the wanted size.
  bool namesSize(Operation *view, unsigned own) {
    OpDef def = ir::opDefOf(view);
    bool hasShape =
        llvm::any_of(def.info().attrs, [](const AttrInfo &attr) { return attr.name == StringRef("shape"); });
    return hasShape && sizes::isSymbolic(wanted.expression) && def.ints("shape")[own] == wanted.expression;
  }

  NamedSize wanted;
  unsigned axis; // from the last
  unsigned numSeen = 0;
};

} // namespace

/// The size that `broadcast` gives its result along an axis, from the first.
static NamedSize sizeGivenBy(Operation *broadcast, unsigned axis) {
  if (broadcast->getNumOperands() == 1)
    return {ir::opDefOf(broadcast).ints("shape")[axis], Value()};
  Value like = rootOf(broadcast->getOperand(1));
  auto argument = dyn_cast<BlockArgument>(like);
  int64_t name = argument ? namedSize(argument, axis) : kUnknown;
  return name == kUnknown ? NamedSize{kUnknown, like} : NamedSize{name, Value()};
}

/// Whether the operator infers the results that it has from other operands.
static bool infersSame(Operation *op, ArrayRef<Value> operands) {
  llvm::Expected<Metas> made = ir::opDefOf(op).infer(ir::metasOf(operands), ir::segmentsOf(op));
  if (!made) {
    llvm::consumeError(made.takeError()); // it wants all its operands in one shape
    return false;
  }
  return llvm::all_of(llvm::zip_equal(*made, ir::metasOf(op->getResults())), [](auto each) {
    auto &[now, before] = each;
    return now.dtype == before.dtype && now.shape == before.shape;
  });
}

bool impliesBroadcast(Operation *op, unsigned index) {
  const OpInfo *info = ir::infoOf(op);
  Operation *broadcast = op->getOperand(index).getDefiningOp();
  const OpInfo *made = broadcast ? ir::infoOf(broadcast) : nullptr;
  if (!info || info->lowering != Lowering::Elementwise || !made || made->viewKind != ViewKind::Broadcast)
    return false;
  Value source = broadcast->getOperand(0);
  SmallVector<Value> operands(op->getOperands());
  operands[index] = source;
  if (!infersSame(op, operands))
    return false;
  auto type = cast<RankedTensorType>(broadcast->getResult(0).getType());
  auto from = cast<RankedTensorType>(source.getType());
  for (unsigned axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    unsigned fromLast = unsigned(type.getRank()) - 1 - axis;
    NamedSize wanted = sizeGivenBy(broadcast, axis);
    auto covers = [&](Value value) { return SizeSearch(wanted, fromLast).covers(value); };
    bool mayDiffer = fromLast < from.getRank() && from.getDimSize(from.getRank() - 1 - fromLast) != 1;
    if (!llvm::any_of(operands, covers) || (mayDiffer && !covers(source)))
      return false;
  }
  return true;
}

bool repeatsNothing(Operation *broadcast) {
  auto argument = dyn_cast<BlockArgument>(broadcast->getOperand(0));
  auto func = argument ? dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  return func && func->hasAttr(ir::kOnesAttr) && argument.getType() == broadcast->getResult(0).getType() &&
         !llvm::is_contained(cast<RankedTensorType>(argument.getType()).getShape(), 1);
}

} // namespace tess::compiler
