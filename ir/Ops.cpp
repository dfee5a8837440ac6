//===- Ops.cpp - a part of the records' operators -------------------------===//
//
// The build compiles this file once for each part, whose number and generated
// files it defines. Tools that read it by itself see the first one.
//
//===----------------------------------------------------------------------===//
#include "ir/Dialect.h"
#include "ir/OpBridge.h"
#include "ir/OpParts.h"

#include "mlir/IR/Builders.h"

#ifndef TESS_OP_PART
#define TESS_OP_PART 0
#define TESS_OP_DECLS "ir/Ops0.h.inc"
#define TESS_OP_DEFS "ir/Ops0.cpp.inc"
#define TESS_OP_INFERENCE "ir/Inference0.cpp.inc"
#endif

#define GET_OP_CLASSES
#include TESS_OP_DECLS

using namespace mlir;

#define GET_OP_CLASSES
#include TESS_OP_DEFS

namespace tess::ir {

#include TESS_OP_INFERENCE

template <typename... Ops> static void insert(TessDialect &dialect) {
  (RegisteredOperationName::insert<Ops>(dialect), ...);
}

template <> void registerPart<TESS_OP_PART>(TessDialect &dialect) {
  insert<
#define GET_OP_LIST
#include TESS_OP_DEFS
      >(dialect);
}

} // namespace tess::ir
