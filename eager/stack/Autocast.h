//===- Autocast.h - operators in two precisions -----------------*- C++ -*-===//
//
// While it is on, operators that gain by it compute on narrow floats, and those
// that lose by it on wide ones. The gradient of a call has the dtypes of the
// call, so backward runs without.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/stack/Call.h"

namespace tess::eager {

/// Whether a thread's operators are cast, and to what.
struct Autocast {
  bool isOn = false;
  DType low = DType::Float16, high = DType::Float32;
};
/// That of this thread.
const Autocast &autocast();
void setAutocast(const Autocast &cast);

/// The layer: casts the operands of the call.
llvm::Error applyAutocast(Call &call, Tensors &results);

/// While alive, this thread's operators are not cast.
class NoAutocast {
public:
  NoAutocast() : before(autocast()) { setAutocast({}); }
  ~NoAutocast() { setAutocast(before); }
  NoAutocast(const NoAutocast &) = delete;

private:
  Autocast before;
};

} // namespace tess::eager
