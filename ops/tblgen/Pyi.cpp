//===- Pyi.cpp - gen-tess-pyi --------------------------------------------===//
//
// The stub of everything that Python gets from the records: functions of every
// module, and methods and operators of Tensor. It is also the golden file of
// the public surface.
//
//===----------------------------------------------------------------------===//
#include "ops/table/PythonOperators.h"
#include "ops/tblgen/Describe.h"
#include "ops/tblgen/Generators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

std::string resultType(const OpModel &op) {
  unsigned visible = count_if(op.results, [](const ValueModel &v) { return !v.hidden; });
  if (any_of(op.results, [](const ValueModel &v) { return v.arity == '*'; }))
    return "tuple[Tensor, ...]";
  if (visible == 1)
    return "Tensor";
  return "tuple[" + join(std::vector<std::string>(visible, "Tensor"), ", ") + "]";
}

void emitOperators(const OpModel &op, std::vector<std::string> &lines) {
  const PythonOperator &dunder = pythonOperators[op.pyOperator];
  std::string other = dunder.operands == 2 ? ", other: TensorLike" : "";
  for (const char *prefix : {"", "r", "i"})
    if (!*prefix || dunder.hasInplace)
      lines.push_back("def __" + std::string(prefix) + dunder.name + "__(self" + other + ") -> " + resultType(op) +
                      ": ...");
}

/// The parameters of a method, as in ", axis: int = -1". A list that is the only parameter may also be given number by
/// number: x.reshape(2, 3).
std::string methodParameters(const OpModel &op) {
  if (op.operands.size() == 1 && op.attrs.size() == 1 && op.attrs[0].kind == AttrKind::I64List)
    return ", *" + op.pyParameter(op.attrs[0].name) + ": int | Sequence[int]";
  std::string signature = pySignature(op);
  StringRef rest = StringRef(signature).split(", ").second;
  return rest.empty() ? "" : ", " + rest.str();
}

/// Writes the members of Tensor. Two records may share an operator, as `&` does for bools and integers.
void emitTensor(const Model &model, raw_ostream &os) {
  std::vector<std::string> lines;
  for (const OpModel &op : model.ops()) {
    for (const std::string &method : op.pyMethods)
      lines.push_back("def " + method + "(self" + methodParameters(op) + ") -> " + resultType(op) + ": ...");
    if (op.pyOperator >= 0)
      emitOperators(op, lines);
  }
  sort(lines);
  lines.erase(llvm::unique(lines), lines.end());
  os << "\nclass Tensor:\n";
  for (const std::string &line : lines)
    os << "    " << line << "\n";
  if (lines.empty())
    os << "    ...\n";
}

} // namespace

void emitPyi(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-pyi", "#");
  os << "from collections.abc import Sequence\n\nimport numpy as np\n\n"
        "TensorLike = Tensor | np.ndarray | float | int | bool\nDTypeLike = np.dtype | type | str\n";
  std::map<std::string, std::vector<const OpModel *>> byModule;
  for (const OpModel &op : model.ops())
    if (!op.pyName.empty())
      byModule[op.pyModule].push_back(&op);
  for (auto &[module, ops] : byModule) {
    os << "\n# " << module << "\n";
    sort(ops, [](const OpModel *a, const OpModel *b) { return a->pyName < b->pyName; });
    for (const OpModel *op : ops)
      os << "def " << op->pyName << "(" << pySignature(*op) << ") -> " << resultType(*op) << ": ...\n";
  }
  emitTensor(model, os);
}

} // namespace tess::tblgen
