//===- Generators.h - what tess-tblgen writes --------------------*- C++ -*-===//
//
// One function for each output; each is in the file of its name.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/tblgen/Model.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace tess::tblgen {

/// ScalarFns.inc: the enumeration of scalar functions and their table.
void emitScalarFns(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// OpTable.inc: the static table, generated rules included.
void emitOpTable(const Model &model, llvm::raw_ostream &os);
/// Definitions of inferReturnTypes and isCompatibleReturnTypes of the dialect's operators.
void emitIrGlue(const Model &model, llvm::raw_ostream &os);
/// Builtin.inc: one class for each OpDef.
void emitBuiltin(const Model &model, llvm::raw_ostream &os);
/// Docs.inc: a table of docstrings, and the first sample of each record as a call.
void emitDocs(const Model &model, llvm::raw_ostream &os);
/// PythonSurface.inc: parameters, methods and operators of the Python binding.
void emitPythonSurface(const Model &model, llvm::raw_ostream &os);
/// The .pyi text of the functional modules and of what Tensor has from the records.
void emitPyi(const Model &model, llvm::raw_ostream &os);
/// Ops.md, with `@ir NAME` where the operator's text in the dialect belongs.
void emitMarkdown(const Model &model, llvm::raw_ostream &os);
/// JSON for tests.
void emitSamples(const Model &model, llvm::raw_ostream &os);
/// Body of functional.h of the C++ API.
void emitCcFunctions(const Model &model, llvm::raw_ostream &os);
/// methods.inc: methods and operators of the C++ API's Tensor.
void emitCcMethods(const Model &model, llvm::raw_ostream &os);

/// Rows of a plug-in as JSON, which ops/custom/RecordData.h reads.
void emitRows(const llvm::RecordKeeper &records, llvm::raw_ostream &os);

/// The body of an elementwise operator; becomes a ScalarProgram.
struct ScalarModel {
  struct Node {
    std::string fn, name; // the enumerator; as bodies call it
    std::vector<int> arguments;
    std::string constant; // of a Const
  };
  std::vector<Node> nodes;
  std::vector<int> results;
};
ScalarModel scalarOf(const OpModel &op);
/// How the result dtypes follow; becomes a DTypeRule (ops/operator/OpInfo.h).
struct DTypeRuleModel {
  std::string kind = "Rule";
  int operand = 0;
  uint32_t mask = 0;
  std::optional<DType> fixed = std::nullopt;
  int attr = -1; // none
};
DTypeRuleModel dtypeRuleOf(const OpModel &op);
/// Pairs of an operand and a result that may share memory.
std::vector<std::pair<int, int>> inplacePairs(const OpModel &op);
/// Symbols of the signature that may be split, and those that give partial sums.
struct ShardingModel {
  std::vector<unsigned> splittable, partial;
};
std::optional<ShardingModel> shardingOf(const OpModel &op);
/// Whether attributes are axes that are counted from the front.
bool countsAxes(const OpModel &op);

/// Parts of the table, used by emitOpTable.
void emitValues(const OpModel &op, llvm::raw_ostream &os);
void emitAttrs(const OpModel &op, llvm::raw_ostream &os);
void emitSignature(const OpModel &op, llvm::raw_ostream &os);
void emitScalar(const OpModel &op, llvm::raw_ostream &os);
void emitCompute(const Model &model, const OpModel &op, llvm::raw_ostream &os);
/// Of `requires`, `sizes` and `order`: the functions require, shape and view. hasOwnShape: whether there is a shape.
void emitConditions(const OpModel &op, llvm::raw_ostream &os);
bool hasOwnShape(const OpModel &op);
void emitGradient(const Model &model, const OpModel &op, llvm::raw_ostream &os);
void emitForward(const Model &model, const OpModel &op, llvm::raw_ostream &os);
/// Returns the rows of the table of splits.
std::string emitSplits(const Model &model, const OpModel &op, llvm::raw_ostream &os);

} // namespace tess::tblgen
