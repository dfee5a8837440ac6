//===- ScalarProgram.cpp - names of scalar functions ---------------------===//
#include "ops/ScalarProgram.h"

namespace tess {

const char *scalarFnName(ScalarFn fn) {
  // clang-format off: one name a line would be a page
  static constexpr const char *names[] = {
      "operand", "attr", "const", "index", "dimindex", "add", "sub", "mul", "div", "floordiv", "mod", "neg", "abs",
      "max", "min", "pow", "sign", "square", "sqrt", "rsqrt", "floor", "ceil", "round", "trunc", "exp", "expm1",
      "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
      "acosh", "atanh", "erf", "erfc", "logaddexp", "sigmoid", "shl", "shr", "bitand", "bitor", "bitxor", "bitnot",
      "and", "or", "xor", "not", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "select",
      "cast", "philoxuniform", "philoxnormal"};
  // clang-format on
  static_assert(std::size(names) == size_t(ScalarFn::PhiloxNormal) + 1);
  return names[unsigned(fn)];
}

} // namespace tess
