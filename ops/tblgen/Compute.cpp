//===- Compute.cpp - `compute` as data and as a graph ---------------------===//
#include "ops/tblgen/Generators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

/// Writes the places of an access and returns the access.
static std::string emitAccess(const ComputeModel &compute, const AccessModel &access, int value,
                              const std::string &name, raw_ostream &os) {
  for (auto [number, place] : enumerate(access.places)) {
    auto numberOf = [&](const std::string &digit) { return std::to_string(compute.find(digit)); };
    os << "constexpr uint8_t " << name << "Digits" << number << "[] = {"
       << join(map_range(place.digits, numberOf), ", ") << "};\n";
  }
  if (!access.places.empty())
    os << "constexpr NotationPlace " << name << "Places[] = {\n";
  for (auto [number, place] : enumerate(access.places)) {
    os << "    {" << name << "Digits" << number << ", " << place.axis << ", " << place.part << ", " << place.parts
       << ", " << cppString(place.must);
    if (place.isWindow || place.index >= 0)
      os << ", " << boolText(place.isWindow) << ", " << place.stride << ", " << place.dilation << ", " << place.padding
         << ", " << place.index;
    os << "},\n";
  }
  if (!access.places.empty())
    os << "};\n";
  return "{" + std::to_string(value) + ", " + (access.places.empty() ? "{}" : name + "Places") + ", " +
         cppString(access.must) + "}";
}

static void emitNotation(const OpModel &op, raw_ostream &os) {
  const ComputeModel &compute = *op.compute;
  if (!compute.dimensions.empty())
    os << "constexpr NotationSymbol symbols[] = {\n";
  for (const DimensionModel &dimension : compute.dimensions)
    os << "    {" << boolText(dimension.isPack) << ", " << dimension.extent << ", " << cppString(dimension.must)
       << "},\n";
  if (!compute.dimensions.empty())
    os << "};\n";
  std::string reads;
  for (auto [number, read] : enumerate(compute.reads))
    reads +=
        "    " + emitAccess(compute, read, op.operandIndex(read.value), "read" + std::to_string(number), os) + ",\n";
  std::string result = emitAccess(compute, compute.result, 0, "result", os);
  os << "constexpr NotationAccess reads[] = {\n" << reads << "};\n";
  os << "constexpr Notation notation = {" << (compute.dimensions.empty() ? "{}" : "symbols") << ", reads, " << result
     << (compute.spared ? ", " + std::to_string(compute.spared) : "") << "};\n";
}

static void checkCalls(const Model &model, const OpModel &op) {
  for (const CallModel &call : op.compute->calls) {
    const OpModel *callee = model.find(call.name);
    if (!callee || !callee->isLowering("Elementwise_") || callee->operands.size() != call.operands)
      op.fatal("compute must call elementwise operators with as many operands as they have, got " + call.name);
  }
}

void emitCompute(const Model &model, const OpModel &op, raw_ostream &os) {
  const ComputeModel *compute = op.compute.get();
  if (!compute)
    return;
  if (compute->isScan()) {
    os << "constexpr ScanInfo scan = {ScalarFn::" << compute->function << ", " << compute->axis << ", "
       << compute->exclusive << ", " << compute->reverse << "};\n";
    return;
  }
  checkCalls(model, op);
  emitNotation(op, os);
  if (!op.isLowering("Compute_"))
    return;
  os << "llvm::SmallVector<int, 4> forward(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {\n"
        "  NotationGraph g(b, op, v);\n";
  for (const std::string &statement : compute->statements)
    os << "  " << statement << "\n";
  os << "}\n";
}

} // namespace tess::tblgen
