//===- ArgumentIdentity.h - which tensors a recording serves ----*- C++ -*-===//
//
// A recording does not say which uses of an argument were uses of a variable from
// outside, such as a parameter that is an argument, too. For the tensors of the
// recorded call it does not matter; for others it is certain once a call with other
// ones has recorded the same.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tracing/Recording.h"

namespace tess::eager {

/// For each argument the first position at which the same variable stands.
llvm::SmallVector<unsigned, 4> aliasesOf(llvm::ArrayRef<TensorRef> arguments);

/// The arguments of one recorded call, which it does not keep alive.
class ArgumentIdentity {
public:
  /// Whether the recording serves a call, as far as the identity of its arguments goes. Open: unless one of them was
  /// used as a variable from outside; the function must be recorded again to tell.
  enum class Match : uint8_t { None, Open, Certain };

  /// The call was recorded just now.
  explicit ArgumentIdentity(llvm::ArrayRef<TensorRef> arguments);
  /// For each argument of the recorded call the first position of its variable.
  llvm::ArrayRef<unsigned> aliases() const { return firstPositions; }
  /// `arguments` are as many as those of the recorded call, here and below.
  Match match(llvm::ArrayRef<TensorRef> arguments) const;
  /// A call with these recorded the same.
  void learn(llvm::ArrayRef<TensorRef> arguments);
  /// Whether `again`, recorded for `arguments`, uses as variables from outside what were arguments of the recorded
  /// call: from now on that serves calls with the same tensors only.
  bool bindOutside(llvm::ArrayRef<TensorRef> arguments, const Recording &again);

private:
  struct Argument {
    WeakTensor variable;
    bool isAny = false;   // other tensors recorded the same
    bool isBound = false; // it is also a variable from outside
  };
  llvm::SmallVector<Argument, 4> recorded;
  llvm::SmallVector<unsigned, 4> firstPositions;
};

} // namespace tess::eager
