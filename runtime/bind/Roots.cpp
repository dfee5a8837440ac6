//===- Roots.cpp - the values that own memory -----------------------------===//
#include "runtime/bind/Roots.h"

namespace tess::runtime {

ValueId rootOf(const Executable &exe, ValueId value) {
  while (exe.values[value].kind == ValueKind::View)
    value = exe.values[value].base;
  return value;
}

} // namespace tess::runtime
