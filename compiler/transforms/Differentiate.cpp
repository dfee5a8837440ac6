//===- Differentiate.cpp - append the gradients of an output --------------===//
//
// Reverse mode over a function: appends the backward graph of each operator,
// from the last to the first. The C++ API, `grad` and `vjp` use this pass; the
// tape does the same eagerly.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/InlineSubgraph.h"
#include "compiler/transforms/Passes.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/graphs/Control.h"

namespace tess::compiler {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;
using namespace tess::ir;

bool isDifferentiableValue(Value value) { return isDifferentiable(metaOf(value.getType()).dtype); }

class Differentiation {
public:
  explicit Differentiation(func::FuncOp func) : func(func), builder(func.getBody().front().getTerminator()) {}

  /// The gradients of `output` (with a seed of one) for `inputs`; zeros for an input that `output` does not depend on.
  FailureOr<SmallVector<Value>> run(Value output, ArrayRef<Value> inputs) {
    for (Value input : inputs)
      markDependents(input);
    SmallVector<Operation *> forward;
    for (Operation &op : func.getBody().front().without_terminator())
      forward.push_back(&op);
    FailureOr<Value> seed = like(output, 1.0);
    if (failed(seed))
      return failure();
    gradientOf[output] = *seed;
    for (Operation *op : llvm::reverse(forward))
      if (infoOf(op) && failed(visit(op)))
        return failure();
    SmallVector<Value> gradients;
    for (Value input : inputs) {
      FailureOr<Value> gradient = gradientOf.lookup(input);
      if (!*gradient)
        gradient = like(input, 0.0);
      if (failed(gradient))
        return failure();
      gradients.push_back(*gradient);
    }
    return gradients;
  }

private:
  void markDependents(Value value) {
    SmallVector<Value> work = {value};
    while (!work.empty()) {
      Value next = work.pop_back_val();
      if (!needed.insert(next).second)
        continue;
      for (Operation *user : next.getUsers())
        llvm::append_range(work, user->getResults());
    }
  }

  FailureOr<Value> like(Value value, double content) {
    auto op = createInferred(builder, value.getLoc(), OpDef::get("full_like").set("value", content), value);
    if (failed(op))
      return failure();
    return (*op)->getResult(0);
  }

  LogicalResult visit(Operation *op) {
    SmallVector<bool> wanted, arrives;
    for (Value operand : op->getOperands())
      wanted.push_back(needed.contains(operand) && isDifferentiableValue(operand));
    for (Value result : op->getResults())
      arrives.push_back(bool(gradientOf.lookup(result)));
    if (!llvm::is_contained(wanted, true) || !llvm::is_contained(arrives, true) || !infoOf(op)->gradient)
      return success();
    OpDef def = opDefOf(op);
    auto hasSum = control::sumsTaken(def, op->getOperands(), [&](Value v) { return bool(gradientOf.lookup(v)); });
    llvm::Expected<Subgraph> graph =
        def.makeBackwardGraph(metasOf(op->getOperands()), wanted, arrives, segmentsOf(op), hasSum);
    if (!graph)
      return op->emitError(takeError(graph.takeError()).second);
    SmallVector<Value> inputs(op->getOperands());
    llvm::append_range(inputs, op->getResults());
    for (Value result : op->getResults())
      inputs.push_back(gradientOf.lookup(result));
    for (auto [operand, has] : llvm::zip(op->getOperands(), hasSum))
      inputs.push_back(has ? gradientOf.lookup(operand) : Value());
    auto gradients = inlineSubgraph(builder, op->getLoc(), *graph, inputs);
    if (failed(gradients))
      return failure();
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      Value gradient = (*gradients)[index];
      if (gradient && index < hasSum.size() && hasSum[index])
        gradientOf[operand] = gradient;
      else if (gradient && failed(accumulate(operand, gradient)))
        return failure();
    }
    return success();
  }

  LogicalResult accumulate(Value value, Value gradient) {
    Value &sum = gradientOf[value];
    if (!sum) {
      sum = gradient;
      return success();
    }
    auto op = createInferred(builder, gradient.getLoc(), OpDef::get("add"), {sum, gradient});
    if (failed(op))
      return failure();
    gradientOf[value] = (*op)->getResult(0);
    return success();
  }

  func::FuncOp func;
  OpBuilder builder;
  llvm::DenseSet<Value> needed;
  DenseMap<Value, Value> gradientOf;
};

struct Differentiate : impl::DifferentiatePassBase<Differentiate> {
  using DifferentiatePassBase::DifferentiatePassBase;

  FailureOr<SmallVector<Value>> chosenInputs(func::FuncOp func) {
    SmallVector<Value> chosen;
    for (unsigned index : inputs) {
      if (index >= func.getNumArguments() || !isDifferentiableValue(func.getArgument(index)))
        return func.emitError("differentiate: input must be the number of a float argument, got ") << index;
      chosen.push_back(func.getArgument(index));
    }
    if (inputs.empty())
      for (Value argument : func.getArguments())
        if (isDifferentiableValue(argument))
          chosen.push_back(argument);
    return chosen;
  }

  LogicalResult differentiate(func::FuncOp func) {
    Operation *ret = func.getBody().front().getTerminator();
    if (output >= ret->getNumOperands())
      return func.emitError("differentiate: output must be below ") << ret->getNumOperands() << ", got " << output;
    auto chosen = chosenInputs(func);
    if (failed(chosen))
      return failure();
    auto gradients = Differentiation(func).run(ret->getOperand(output), *chosen);
    if (failed(gradients))
      return failure();
    ret->insertOperands(ret->getNumOperands(), *gradients);
    func.setFunctionType(
        FunctionType::get(&getContext(), func.getArgumentTypes(), ValueRange(ret->getOperands()).getTypes()));
    nameOutputs(func, *chosen);
    return success();
  }

  /// Names the gradient of argument x "grad_x".
  void nameOutputs(func::FuncOp func, ArrayRef<Value> chosen) {
    auto outputs = func->getAttrOfType<ArrayAttr>(kOutputsAttr);
    if (!outputs)
      return;
    Builder b(&getContext());
    SmallVector<Attribute> entries(outputs.getValue());
    for (Value input : chosen) {
      auto name = func.getArgAttrOfType<StringAttr>(cast<BlockArgument>(input).getArgNumber(), kNameAttr);
      NamedAttribute fields[] = {b.getNamedAttr("name", b.getStringAttr("grad_" + (name ? name.getValue() : ""))),
                                 b.getNamedAttr("donates", b.getI64IntegerAttr(-1))};
      entries.push_back(b.getDictionaryAttr(fields));
    }
    func->setAttr(kOutputsAttr, b.getArrayAttr(entries));
  }

  void runOnOperation() override {
    if (failed(differentiate(getOperation())))
      signalPassFailure();
  }
};

} // namespace
} // namespace tess::compiler
