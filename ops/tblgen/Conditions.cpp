//===- Conditions.cpp - conditions and sizes of records as C++ functions --===//
#include "ops/tblgen/Generators.h"
#include "ops/tblgen/TermParser.h"

using namespace llvm;

namespace tess::tblgen {

static constexpr StringLiteral kParameters =
    "([[maybe_unused]] const OpDef &op, [[maybe_unused]] llvm::ArrayRef<TensorMeta> operands,\n"
    "    [[maybe_unused]] llvm::ArrayRef<unsigned> segments) {\n";

bool hasOwnShape(const OpModel &op) {
  return !op.strings("sizes").empty() || !op.text("order").empty() || (!op.conditions.empty() && !op.signature);
}

/// The operands of inference; optional ones are the last.
static std::string operandMeta(const OpModel &op, StringRef name) {
  int index = op.operandIndex(name);
  if (index < 0)
    op.fatal("a term must name an operand, got " + name);
  return "operands[" + std::to_string(index) + "]";
}

static std::string isGiven(const OpModel &op, StringRef name) {
  int index = op.operandIndex(name);
  if (index < 0 || op.operands[index].arity != '?')
    op.fatal("given must name an optional operand, got " + name);
  return "(operands.size() > " + std::to_string(index) + ")";
}

static void emitRequire(const OpModel &op, const TermScope &scope, raw_ostream &os) {
  os << "llvm::Error require" << kParameters;
  for (const RequireModel &each : op.conditions)
    os << "  if (!" << conditionText(scope, each.condition) << ")\n    return shapes::mustHoldOf(op, "
       << messageText(scope, each.must) << ", " << messageText(scope, each.got) << ");\n";
  os << "  return llvm::Error::success();\n}\n";
}

static std::string listText(const TermScope &scope, StringRef text) {
  Term term = parseTerm(scope, text);
  if (term.kind != Term::List)
    scope.op.fatal("sizes and order must be lists, got '" + text + "'");
  return "terms::listOf(" + term.text + ")";
}

static void emitShape(const OpModel &op, const TermScope &scope, raw_ostream &os) {
  os << "llvm::Expected<Metas> shape" << kParameters;
  if (!op.conditions.empty())
    os << "  if (llvm::Error e = require(op, operands, segments))\n    return std::move(e);\n";
  std::string order = op.text("order");
  if (!order.empty()) {
    os << "  return terms::metasOf({terms::permuted(operands[0].shape, " << listText(scope, order) << ")});\n}\n";
    return;
  }
  if (op.strings("sizes").empty()) {
    os << "  return shapes::ofForward(op, operands, segments);\n}\n";
    return;
  }
  os << "  return terms::metasOf({";
  for (const std::string &size : op.strings("sizes"))
    os << listText(scope, size) << ", ";
  os << "});\n}\n";
}

void emitConditions(const OpModel &op, raw_ostream &os) {
  auto meta = [&](StringRef name) { return operandMeta(op, name); };
  auto given = [&](StringRef name) { return isGiven(op, name); };
  TermScope scope = {op, meta, given};
  if (!op.conditions.empty())
    emitRequire(op, {op, meta, given, {}, /*isDemand=*/true}, os);
  if (hasOwnShape(op))
    emitShape(op, scope, os);
  if (op.text("order").empty())
    return;
  auto layout = [&](StringRef name) -> std::string {
    if (op.operandIndex(name) != 0)
      op.fatal("order must name operand 0 only, got " + name);
    return "x";
  };
  TermScope ofLayout = {op, layout, given};
  os << "llvm::Expected<Layout> view([[maybe_unused]] const OpDef &op, const Layout &x, llvm::ArrayRef<int64_t>) {\n"
        "  return terms::permuted(x, "
     << listText(ofLayout, op.text("order")) << ");\n}\n";
}

} // namespace tess::tblgen
