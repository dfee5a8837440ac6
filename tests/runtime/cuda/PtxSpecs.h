//===- PtxSpecs.h - the kernels that PTX is tested with ---------*- C++ -*-===//
#pragma once

#include "tests/compiler/kernel/KernelSupport.h"

namespace tess::test {

/// Every function of floats, as a kernel of one function: {name, spec}; "tanh_f32".
inline std::vector<std::pair<std::string, KernelSpec>> floatFunctions(DType dtype) {
  std::vector<std::pair<std::string, KernelSpec>> result;
  for (ScalarFn fn : tess::floatFunctions()) {
    const ScalarFnInfo &info = infoOf(fn);
    SpecBuilder s;
    int x = s.input(dtype);
    int node = info.arity == 1 ? s.apply(fn, dtype, {x}, true) : s.apply(fn, dtype, {x, s.input(dtype)}, true);
    s.output(node, dtype);
    result.emplace_back(info.name + ("_" + shortName(dtype).str()), s.spec);
  }
  return result;
}

/// relu(x * a + b) with a runtime scale, over two groups: o[i, j] = max(x[i, j] * scale[j] + attr, 0).
inline KernelSpec scaledRelu(DType dtype) {
  SpecBuilder s(2);
  int x = s.input(dtype), scale = s.input(dtype);
  int product = s.apply(ScalarFn::Mul, dtype, {x, scale}, true);
  int sum = s.apply(ScalarFn::Add, dtype, {product, s.attr(dtype)}, true);
  int relu = s.apply(ScalarFn::Max, dtype, {sum, s.constant(dtype, 0)}, true);
  s.output(relu, dtype);
  return s.spec;
}

/// o[i, j] = linear index + 1000 * j, from no input.
inline KernelSpec indices() {
  SpecBuilder s(2);
  int index = s.apply(ScalarFn::Index, DType::Int64, {});
  int column = s.apply(ScalarFn::Mul, DType::Int64, {s.dimIndex(0), s.constant(DType::Int64, 1000)});
  s.output(s.apply(ScalarFn::Add, DType::Int64, {index, column}), DType::Int64);
  return s.spec;
}

} // namespace tess::test
