//===- GraphValue.cpp - tensors that stand for values of a graph ----------===//
#include "eager/stack/GraphValue.h"

#include "eager/stack/Apply.h"
#include "eager/stack/Tracer.h"
#include "eager/tensor/Placement.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

namespace {
/// The tensors that stand for the results of a node, as the node keeps them.
struct Standing {
  llvm::SmallVector<WeakTensor, 1> tensors;
};
} // namespace

static WeakTensor &standing(const ir::Var &var) {
  std::shared_ptr<void> &attached = var.node->attached;
  if (!attached)
    attached = std::make_shared<Standing>();
  auto &tensors = static_cast<Standing *>(attached.get())->tensors;
  if (tensors.size() < var.node->numResults())
    tensors.resize(var.node->numResults());
  return tensors[var.result];
}

static const FailureRef &onlyGraph() {
  static const FailureRef why = noValue(
      ErrorCode::InvalidArgument, "value: a variable of a network must be computed by its dumped program to have one, "
                                  "got a read of one that only stands for it");
  return why;
}

std::atomic<bool> hasGraphValues = false;

static TensorMeta exampleOf(const ir::Var &var) {
  TensorMeta meta = var.meta();
  for (int64_t &size : meta.shape)
    size = ir::exampleSize(size);
  return meta;
}

/// A new tensor for `var`, whose storage keeps it.
static TensorRef makeTensor(const ir::Var &var) {
  TensorMeta meta = exampleOf(var);
  auto release = [](void *owner) { delete static_cast<ir::Var *>(owner); };
  StorageRef storage = Storage::wrap(nullptr, 0, new ir::Var(var), release, creationDevice(), /*isReadOnly=*/true);
  storage->poison(onlyGraph());
  TensorRef tensor = TensorImpl::create(meta.dtype, meta.shape, std::move(storage));
  tensor->setGraphValue();
  hasGraphValues.store(true, std::memory_order_relaxed);
  return tensor;
}

TensorRef tensorOf(const ir::Var &var) {
  if (TensorRef living = standing(var).lock())
    if (living->isGraphValue() && varOf(*living) == var) {
      if (!living->hasMeta(exampleOf(var))) // an edit changed them
        living->rebind(*makeTensor(var));
      return living;
    }
  TensorRef made = makeTensor(var);
  standing(var) = WeakTensor(*made);
  return made;
}

const ir::Var &varOf(const TensorImpl &tensor) { return *static_cast<ir::Var *>(tensor.storage().foreignOwner()); }

void standFor(TensorImpl &tensor, const ir::Var &var) {
  tensor.rebind(*makeTensor(var));
  standing(var) = WeakTensor(tensor);
}

llvm::Expected<ir::NodeRef> constantOf(TensorImpl &tensor) {
  std::string bytes(size_t(tensor.numElements()) * byteWidth(tensor.dtype()), '\0');
  if (llvm::Error error = readValue(tensor, bytes.data()))
    return std::move(error);
  return ir::Node::constant(tensor.name(), tensor.meta(), std::move(bytes));
}

uint32_t graphFreeAxes(const TensorImpl &tensor) {
  uint32_t axes = 0;
  if (tensor.isGraphValue())
    for (auto [axis, size] : llvm::enumerate(varOf(tensor).meta().shape))
      axes |= size < sizes::kSymbolicEnd ? 1u << axis : 0;
  return axes;
}

bool isWrittenDown(const TensorImpl &tensor) { return activeTracer() || tensor.isGraphValue(); }
bool isWrittenDown(llvm::ArrayRef<TensorRef> tensors) {
  return activeTracer() || llvm::any_of(tensors, [](const TensorRef &tensor) { return tensor->isGraphValue(); });
}

llvm::Error applyToGraph(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                         Tensors &results) {
  ir::Vars vars;
  for (const Operand &operand : operands) {
    if (operand.tensor->isGraphValue()) {
      vars.push_back(varOf(*operand.tensor));
      continue;
    }
    llvm::Expected<ir::NodeRef> constant = constantOf(*operand.tensor);
    if (!constant)
      return constant.takeError();
    vars.push_back((*constant)->var());
  }
  OnDevice here(operands);
  llvm::Expected<ir::NodeRef> node = ir::Node::apply(op, vars, segments, Location::here().describe());
  if (!node)
    return node.takeError();
  for (unsigned result = 0; result < (*node)->numResults(); ++result)
    results.push_back(tensorOf((*node)->var(result)));
  return llvm::Error::success();
}

} // namespace tess::eager
