//===- ProgramSupport.h - graphs, compiled and run --------------*- C++ -*-===//
#pragma once

#include "compiler/Compile.h"
#include "ir/GraphBuilder.h"
#include "runtime/run/Executor.h"

#include <cmath>
#include <cstring>

namespace tess::test {

using Values = std::vector<float>;

/// Reproducible values in [-3, 3).
inline Values noise(size_t count, uint32_t seed) {
  Values values(count);
  for (float &value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = (float(seed >> 8) / 16777216.0f - 0.5f) * 6;
  }
  return values;
}

struct Result {
  std::vector<Values> outputs;
  std::vector<TensorMeta> metas;
  uint64_t launches = 0;
  unsigned packedValues = 0;
};

/// Compiles, binds to the shapes of `inputs` and runs.
inline Result runGraph(const ir::Graph &graph, const std::vector<std::pair<Shape, Values>> &inputs,
                       const compiler::CompileOptions &options = {}, const runtime::BindOptions &bind = {1}) {
  auto program = llvm::cantFail(runtime::Program::create(llvm::cantFail(compiler::compile(graph, options))));
  std::vector<TensorMeta> metas;
  std::vector<void *> pointers;
  for (const auto &[shape, values] : inputs) {
    metas.emplace_back(DType::Float32, shape);
    pointers.push_back(const_cast<float *>(values.data()));
  }
  auto bound = llvm::cantFail(program->bind(metas, bind));
  Result result;
  std::vector<void *> outputs;
  for (const TensorMeta &meta : bound->outputs()) {
    result.metas.push_back(meta);
    result.outputs.emplace_back(size_t(meta.numElements()));
  }
  for (Values &values : result.outputs)
    outputs.push_back(values.data());
  llvm::cantFail(runtime::run(*bound, pointers, outputs));
  result.launches = bound->launches();
  result.packedValues = bound->packedValues();
  return result;
}

/// Equal bits; one NaN equals another.
inline bool sameBits(const Values &a, const Values &b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0 && !(std::isnan(a[i]) && std::isnan(b[i])))
      return false;
  return a.size() == b.size();
}

inline ir::GraphBuilder::Value apply(ir::GraphBuilder &builder, const OpDef &op,
                                     llvm::ArrayRef<ir::GraphBuilder::Value> operands) {
  return llvm::cantFail(builder.apply(op, operands)).front();
}

} // namespace tess::test
