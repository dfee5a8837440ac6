//===- Pyi.cpp - gen-tess-pyi --------------------------------------------===//
//
// The functions of every module as a stub; also the golden of the public surface.
//
//===----------------------------------------------------------------------===//
#include "ops/tblgen/Describe.h"
#include "ops/tblgen/Generators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

static std::string resultType(const OpModel &op) {
  unsigned visible = count_if(op.results, [](const ValueModel &v) { return !v.hidden; });
  if (any_of(op.results, [](const ValueModel &v) { return v.arity == '*'; }))
    return "tuple[Tensor, ...]";
  if (visible == 1)
    return "Tensor";
  return "tuple[" + join(std::vector<std::string>(visible, "Tensor"), ", ") + "]";
}

void emitPyi(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-pyi", "#");
  os << "from collections.abc import Sequence\n\nfrom tessera import Tensor\n\n"
        "TensorLike = Tensor | float | int | bool\n";
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
}

} // namespace tess::tblgen
