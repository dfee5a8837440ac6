//===- Program.cpp - programs from files ----------------------------------===//
#include "eager/tracing/TracedProgram.h"
#include "tessera/Apply.h"
#include "tessera/Jit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::jit {

namespace eager = tess::eager;

using tessera::detail::refs;
using tessera::detail::tensorsOf;

std::vector<Tensor> Program::operator()(const std::vector<Tensor> &inputs) const {
  return tensorsOf(valueOrThrow(program->run(refs(inputs))));
}

std::map<std::string, Tensor> Program::run(const std::map<std::string, Tensor> &given) const {
  std::vector<std::string> names = inputs();
  std::vector<Tensor> list;
  for (const std::string &name : names)
    if (auto it = given.find(name); it != given.end())
      list.push_back(it->second);
  if (list.size() != names.size() || given.size() != names.size()) {
    std::vector<std::string> got;
    for (const auto &[name, tensor] : given)
      got.push_back(name);
    throw Error(ErrorCode::NotFound,
                "run: inputs must be [" + llvm::join(names, ", ") + "], got [" + llvm::join(got, ", ") + "]");
  }
  std::map<std::string, Tensor> results;
  for (auto [name, result] : llvm::zip(outputs(), (*this)(list)))
    results[name] = result;
  return results;
}

std::vector<std::string> Program::inputs() const { return program->inputs(); }
std::vector<std::string> Program::outputs() const { return program->outputs(); }

std::map<std::string, Tensor> Program::state() const {
  std::map<std::string, Tensor> values;
  for (auto &[name, value] : program->state())
    values[name] = Tensor(std::move(value));
  return values;
}

void Program::setState(const std::map<std::string, Tensor> &values) const {
  std::vector<std::pair<std::string, eager::TensorRef>> list;
  for (const auto &[name, value] : values)
    list.emplace_back(name, value.ref());
  checkOrThrow(program->setState(list));
}

std::vector<Dim> Program::dims() const {
  std::vector<Dim> dims;
  for (const auto &symbol : program->executable().symbols)
    dims.push_back({symbol.name, symbol.min, symbol.max});
  return dims;
}

uint64_t Program::plannedBytes() const { return program->plannedBytes(); }
std::string Program::graphText() const { return program->graphText(); }

Program load(const std::string &path, bool allowCode) {
  return Program(valueOrThrow(eager::TracedProgram::load(path, allowCode)));
}

} // namespace tessera::jit
