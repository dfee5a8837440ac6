//===- PythonOperators.h - the operators that Python has ---------*- C++ -*-===//
//
// A record names the operator of Tensor that it is: `Py<..., "+">`. The
// generator checks the name here, the binding fills Python's slots by it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string_view>

namespace tess {

/// An operator of Python that a record may name; a symbol with two meanings has a row for each operand count.
struct PythonOperator {
  std::string_view symbol;
  unsigned operands;
  const char *name; // "add" of __add__
  bool hasInplace;  // __radd__ and __iadd__ too
};

constexpr PythonOperator pythonOperators[] = {
    {"+", 2, "add", true},     {"-", 2, "sub", true},       {"*", 2, "mul", true},  {"/", 2, "truediv", true},
    {"%", 2, "mod", true},     {"//", 2, "floordiv", true}, {"**", 2, "pow", true}, {"@", 2, "matmul", true},
    {"<<", 2, "lshift", true}, {">>", 2, "rshift", true},   {"&", 2, "and", true},  {"|", 2, "or", true},
    {"^", 2, "xor", true},     {"<", 2, "lt", false},       {"<=", 2, "le", false}, {"==", 2, "eq", false},
    {"!=", 2, "ne", false},    {">", 2, "gt", false},       {">=", 2, "ge", false}, {"-", 1, "neg", false},
    {"~", 1, "invert", false}, {"abs", 1, "abs", false},
};
constexpr int kNumPythonOperators = sizeof(pythonOperators) / sizeof(pythonOperators[0]);

/// The index of an operator; -1 when Python has none.
constexpr int pythonOperator(std::string_view symbol, unsigned operands) {
  for (int i = 0; i < kNumPythonOperators; ++i)
    if (pythonOperators[i].symbol == symbol && pythonOperators[i].operands == operands)
      return i;
  return -1;
}

} // namespace tess
