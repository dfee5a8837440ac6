//===- IrGlue.cpp - gen-tess-ir-glue -------------------------------------===//
//
// The dialect's type inference uses the table of operators through two
// functions, which ir/ defines before it includes this output:
//   LogicalResult inferVia(MLIRContext *, std::optional<Location>, const tess::OpInfo &,
//                          ArrayRef<ValueRange> operandsByGroup, ArrayRef<Attribute> attrsInTableOrder,
//                          SmallVectorImpl<Type> &results);
//   bool compatible(TypeRange inferred, TypeRange declared);
// A null attribute means its default.
//
//===----------------------------------------------------------------------===//
#include "ops/tblgen/Generators.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace tess::tblgen {

static cl::opt<std::string> operators("ops", cl::init("."),
                                      cl::desc("Regular expression of the operators that -gen-tess-ir-glue writes"));

void emitIrGlue(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-ir-glue");
  Regex wanted(operators);
  for (const OpModel &op : model.ops()) {
    if (!wanted.match(op.name))
      continue;
    os << "\n::llvm::LogicalResult " << op.cppClass
       << "::inferReturnTypes(\n    ::mlir::MLIRContext *context, std::optional<::mlir::Location> location, Adaptor "
          "adaptor,\n    ::llvm::SmallVectorImpl<::mlir::Type> &types) {\n"
          "  static const ::tess::OpInfo &info = *::tess::findOp(\""
       << op.name << "\");\n  return inferVia(context, location, info, {";
    for (unsigned i = 0; i < op.operands.size(); ++i)
      os << "adaptor.getODSOperands(" << i << "), ";
    os << "}, {";
    for (const AttrModel &attr : op.attrs)
      os << "adaptor.get" << convertToCamelFromSnakeCase(attr.name, true) << "Attr(), ";
    os << "}, types);\n}\nbool " << op.cppClass
       << "::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared) {\n"
          "  return compatible(inferred, declared);\n}\n";
  }
}

} // namespace tess::tblgen
