//===- CustomOps.cpp - operators that users bring -------------------------===//
#include "tessera/CustomOps.h"
#include "tessera/Apply.h"
#include "tessera/Random.h"

#include "ops/custom/CustomOp.h"
#include "ops/custom/RecordFiles.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera {

using tess::AttrKind;
using tess::AttrValue;
using tess::OpInfo;

/// Random numbers that one call may draw.
constexpr int64_t kDraws = int64_t(1) << 32;

void loadLibrary(const std::string &path) { checkOrThrow(tess::custom::loadOperators(path)); }

static const OpInfo &rowOf(const std::string &name) {
  auto [library, op] = llvm::StringRef(name).split("::");
  const OpInfo *info = tess::findOp((library + "." + op).str());
  if (!info || !info->origin || !*info->pythonName) // the last is that of a gradient
    throw Error(ErrorCode::NotFound,
                "callOperator: the library must be loaded that has the operator, got '" + name + "'");
  return *info;
}

/// The operator with its parameters, where an integer may stand for a number.
static OpDef operatorOf(const OpInfo &info, const Parameters &parameters) {
  llvm::SmallVector<std::pair<llvm::StringRef, AttrValue>, 4> attrs;
  for (const auto &[name, value] : parameters) {
    const auto *attr = llvm::find_if(info.attrs, [&, &name = name](const auto &each) { return name == each.name; });
    const bool isWidened = attr != info.attrs.end() && attr->kind == AttrKind::F64 && value.kind() == AttrKind::I64;
    attrs.emplace_back(name, isWidened ? AttrValue(double(value.i64())) : value);
  }
  return valueOrThrow(OpDef::make(info.name, attrs));
}

static std::vector<Tensor> applyGrouped(OpDef op, const std::vector<Tensor> &operands) {
  const OpInfo &info = op.info();
  llvm::SmallVector<unsigned, 4> segments; // of an operator that is not variadic they follow from the operands
  if (llvm::any_of(info.operands, [](const auto &operand) { return operand.arity == tess::Arity::Variadic; }))
    segments = valueOrThrow(tess::defaultSegments(info, unsigned(operands.size())));
  return applyAll(std::move(op), operands, segments);
}

/// Applies `op` with the state of the default generator behind the operands, which goes on.
static std::vector<Tensor> applyRandom(OpDef op, std::vector<Tensor> operands) {
  std::vector<Tensor> results;
  defaultGenerator().draw(
      [&](const Tensor &seed, const Tensor &offset) {
        operands.insert(operands.end(), {seed, offset});
        results = applyGrouped(std::move(op), operands);
        return results.front();
      },
      kDraws);
  return results;
}

std::vector<Tensor> callOperator(const std::string &name, const std::vector<Tensor> &operands,
                                 const Parameters &parameters) {
  const OpInfo &info = rowOf(name);
  OpDef op = operatorOf(info, parameters);
  const tess::custom::Operator *custom = tess::custom::Operator::of(info); // null for a record
  if (!custom)
    return applyGrouped(std::move(op), operands);
  std::vector<Tensor> results =
      custom->usesRandom() ? applyRandom(std::move(op), operands) : applyGrouped(std::move(op), operands);
  const unsigned numStates = custom->functions().num_states, firstState = unsigned(operands.size()) - numStates;
  for (unsigned i = 0; i < numStates; ++i)
    operands[firstState + i].assign(results[custom->stateResult(i)].detach());
  results.resize(custom->numReturned());
  return results;
}

} // namespace tessera
