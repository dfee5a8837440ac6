//===- ScalarProgram.cpp - what bodies of operators read ------------------===//
#include "ops/ScalarProgram.h"

#include "llvm/ADT/STLExtras.h"

namespace tess {

std::vector<ScalarFn> floatFunctions() {
  std::vector<ScalarFn> functions;
  for (auto [i, fn] : llvm::enumerate(kScalarFns))
    if (fn.arity && fn.args == ScalarArgs::Common && (fn.type == ScalarType::Any || fn.type == ScalarType::Float))
      functions.push_back(ScalarFn(i));
  return functions;
}

bool readsIndex(const ScalarProgram &program) {
  return llvm::any_of(program.nodes, [](const ScalarNode &node) { return infoOf(node.fn).readsIndex; });
}

bool readsDimIndex(const ScalarProgram &program) {
  return llvm::any_of(program.nodes, [](const ScalarNode &node) { return node.fn == ScalarFn::DimIndex; });
}

} // namespace tess
