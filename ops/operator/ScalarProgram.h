//===- ScalarProgram.h - the body of an elementwise operator ----*- C++ -*-===//
//
// A record's `scalar` dag, as a constexpr table of nodes in evaluation order.
// `results` names the node of every result.
//
// Types. The compute type is the dtype that the operands of the dtype rule's mask
// agree on, else that of its operand (Same), else that of the result. Operand has
// its operand's own dtype, Index and DimIndex are i64, a runtime Attr of kind I64
// is i64, of kind F64 the compute type. A Const takes the type of the other
// arguments, else the compute type. An integer that meets an i64 is widened, an
// i64 that meets a float becomes one. The value of a result is converted to its
// dtype. Attr of a static attribute (bool: i1, i64) is a constant of the kernel.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace tess {

/// The types in which the arguments of a function enter: one for all of them, bool each, or each its own.
enum class ScalarArgs : uint8_t { Common, Bool, Own };
/// The types that a function's value may have. A bool is an integer of one bit.
enum class ScalarType : uint8_t { Any, Float, Integer, Bool };

/// A function of one element, as its record in ops/records/Scalar.td says.
struct ScalarFnInfo {
  const char *name; // in bodies (`s_add`) and in the text of kernels
  unsigned arity;
  ScalarArgs args;
  ScalarType type;
  unsigned cost; // in vector instructions, roughly: decides what is computed again and what is kept
  bool isLeaf, readsIndex;
  double ulp32, ulp64;
};

#include "ops/operator/ScalarFns.inc"

/// The row of `fn` in the generated table.
constexpr const ScalarFnInfo &infoOf(ScalarFn fn) { return kScalarFns[unsigned(fn)]; }
/// Every function that numbers of one floating-point type have: of one or two arguments, and a result of that type.
std::vector<ScalarFn> floatFunctions();

/// A function applied to earlier nodes, or a leaf.
struct ScalarNode {
  ScalarFn fn;
  /// Node indices (or operand/attribute index for the leaves).
  int16_t a = -1, b = -1, c = -1;
  double constant = 0;
};

/// The body of an elementwise operator: nodes in an order in which each follows its arguments.
struct ScalarProgram {
  llvm::ArrayRef<ScalarNode> nodes;
  /// Node index for every result.
  llvm::ArrayRef<int16_t> results;
};

/// Whether a value depends on the position of its element; on its index along one axis.
bool readsIndex(const ScalarProgram &program);
bool readsDimIndex(const ScalarProgram &program);
/// Whether the only result is an operand, converted.
bool isCast(const ScalarProgram &program);

} // namespace tess
