//===- Compute.cpp - `compute` as data ------------------------------------===//
#include "ops/tblgen/Generators.h"

using namespace llvm;

namespace tess::tblgen {

void emitCompute(const OpModel &op, raw_ostream &os) {
  if (const ComputeModel *compute = op.compute.get())
    os << "constexpr ScanInfo scan = {ScalarFn::" << compute->function << ", " << compute->axis << ", "
       << compute->exclusive << ", " << compute->reverse << "};\n";
}

} // namespace tess::tblgen
