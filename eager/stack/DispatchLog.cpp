//===- DispatchLog.cpp - which layers an operator goes through ------------===//
#include "eager/stack/DispatchLog.h"

#include "eager/tensor/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

namespace tess::eager {

static constexpr const char *layerNames[kNumLayers] = {"Autocast", "Scalar",      "DimExpansion",  "DTypePromotion",
                                                       "Quantize", "Grid",        "Format",        "Grad",
                                                       "Tracing",  "CheckFinite", "CheckOperands", "Interpreter"};

static std::string nameOf(const Call &call) {
  switch (call.op.kind) {
  case OperatorKind::OpDef:
    return call.opDef().name().str();
  case OperatorKind::CreateTensor:
    return "CreateTensor";
  case OperatorKind::GetAttr:
    return "GetAttr";
  case OperatorKind::DupTensor:
    return "DupTensor";
  case OperatorKind::RenameValue:
    return "RenameValue";
  case OperatorKind::GetName:
    return "GetName";
  }
  llvm_unreachable("every operator has a kind");
}

static std::string textOf(const Operand &operand) {
  if (operand.tensor)
    return toString(operand.tensor->meta());
  if (operand.number.kind == Number::Complex)
    return llvm::formatv("{0} + {1} i", operand.number.c->real(), operand.number.c->imag()).str();
  return operand.number.kind == Number::Float ? llvm::formatv("{0}", operand.number.f).str()
                                              : std::to_string(operand.number.i);
}

std::string describeStack(const Call &call) {
  llvm::SmallVector<llvm::StringRef, kNumLayers> layers;
  for (unsigned layer = 0; layer < kNumLayers; ++layer)
    if (call.pending & 1u << layer)
      layers.push_back(layerNames[layer]);
  std::string operands = llvm::join(llvm::map_range(call.operands, textOf), ", ");
  std::string place = Location::here().describe();
  return nameOf(call) + "(" + operands + "): " + llvm::join(layers, " > ") + (place.empty() ? "" : ", at " + place);
}

static bool isWanted() {
  const char *topics = std::getenv("TESS_LOG");
  llvm::SmallVector<llvm::StringRef, 4> parts;
  llvm::StringRef(topics ? topics : "").split(parts, ',');
  return llvm::is_contained(parts, "dispatch");
}

void logDispatch(const Call &call) {
  static const bool wanted = isWanted();
  if (wanted)
    llvm::errs() << "dispatch: " << describeStack(call) << "\n";
}

} // namespace tess::eager
