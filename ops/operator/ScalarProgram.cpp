//===- ScalarProgram.cpp - questions about bodies of operators -----------===//
#include "ops/operator/ScalarProgram.h"

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

bool isCast(const ScalarProgram &program) {
  const ScalarNode &last = program.nodes[program.results.front()];
  return program.results.size() == 1 && last.fn == ScalarFn::Cast && program.nodes[last.a].fn == ScalarFn::Operand;
}

bool readsDimIndex(const ScalarProgram &program) {
  return llvm::any_of(program.nodes, [](const ScalarNode &node) { return node.fn == ScalarFn::DimIndex; });
}

} // namespace tess
