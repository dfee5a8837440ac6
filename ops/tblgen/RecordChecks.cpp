//===- RecordChecks.cpp - texts of records that others read later --------===//
//
// A name that nobody knows would make a function that is silently nowhere, or
// fail minutes later where it is compiled: it ends the generator at its record.
//
//===----------------------------------------------------------------------===//
#include "ops/tblgen/Model.h"
#include "ops/vocabulary/NearNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

static void checkKnown(const OpModel &op, StringRef what, StringRef name, StringRef list) {
  std::vector<StringRef> known = op.record->getRecords().getDef(list)->getValueAsListOfStrings("names");
  if (!is_contained(known, name))
    op.fatal(what + " of " + list + " in ops/records/Names.td, got '" + name + "'" + nearName(name, known));
}

static void checkName(const OpModel &op) {
  auto isSnake = [](char c) { return (c >= 'a' && c <= 'z') || isDigit(c) || c == '_'; };
  if (op.name.empty() || !all_of(op.name, isSnake) || !(op.name[0] >= 'a' && op.name[0] <= 'z'))
    op.fatal("name must be in snake_case, got '" + op.name + "'");
}

/// The names of the scalar functions, as bodies call them.
static std::string scalarFnNames(const OpModel &op, StringRef wrong) {
  std::vector<std::string> names;
  for (const Record *fn : op.record->getRecords().getAllDerivedDefinitions("ScalarFn"))
    names.push_back(fn->getName().str());
  std::vector<StringRef> known(names.begin(), names.end());
  return nearName(wrong, known);
}

static void checkScalar(const OpModel &op, const DagInit *dag) {
  std::string name = dag->getOperator()->getAsString();
  const auto *called = dyn_cast<DefInit>(dag->getOperator());
  bool isIdentity = name == "s_id", isFn = called && called->getDef()->isSubClassOf("ScalarFn");
  if (!isIdentity && !isFn)
    op.fatal("scalar must call functions of ops/records/Scalar.td, got " + name + scalarFnNames(op, name));
  unsigned arity = isIdentity ? 1 : called->getDef()->getValueAsInt("arity"), given = dag->getNumArgs();
  bool isLeaf = isFn && called->getDef()->getValueAsBit("isLeaf");
  bool mayName = isFn && called->getDef()->getValueAsBit("readsIndex") && given == arity + 1; // the axis
  if (given != arity && !mayName && !isLeaf)
    op.fatal(name + " must have " + Twine(arity) + (arity == 1 ? " argument" : " arguments") + ", got " + Twine(given));
  for (const Init *argument : dag->getArgs()) {
    if (const auto *inner = dyn_cast<DagInit>(argument))
      checkScalar(op, inner);
    const auto *constant = dyn_cast<DefInit>(argument);
    if (!constant)
      continue;
    StringRef text = constant->getDef()->getValueAsString("value");
    if (double number; text.getAsDouble(number))
      op.fatal("a constant must be a number, got '" + text + "'");
  }
}

/// Checks the brackets and quotes of an expression of Python; its other syntax is Python's to judge.
static void checkOracle(const OpModel &op) {
  std::string open;
  char quote = 0;
  auto fail = [&](Twine what) {
    op.fatal("oracle must be an expression of Python, got " + what + " in '" + op.oracle + "'");
  };
  for (char c : op.oracle) {
    if (quote || c == '"' || c == '\'') {
      quote = quote == c ? 0 : quote ? quote : c;
      continue;
    }
    if (size_t kind = StringRef("([{").find(c); kind != StringRef::npos)
      open += ")]}"[kind];
    if (!StringRef(")]}").contains(c))
      continue;
    if (open.empty() || open.back() != c)
      fail(Twine("an unexpected '") + Twine(c) + "'");
    open.pop_back();
  }
  if (quote || !open.empty())
    fail(Twine("no ") + Twine(quote ? quote : open.back()));
  if (StringRef end = StringRef(op.oracle).trim(); !end.empty() && StringRef("+-*/%@,=<>&|^~.").contains(end.back()))
    fail(Twine("nothing behind '") + Twine(end.back()) + "'");
}

void checkTexts(const OpModel &op) {
  checkName(op);
  for (const DagInit *dag : op.dags("scalar"))
    checkScalar(op, dag);
  if (!op.pyModule.empty())
    checkKnown(op, "module must be one", op.pyModule, "PythonModules");
  if (std::string onnx = op.text("onnx"); !onnx.empty())
    checkKnown(op, "onnx must be an operator", StringRef(onnx).split('(').first, "OnnxOperators");
  if (std::string axis = op.text("flatWithout"); !axis.empty() && op.attrIndex(axis) < 0)
    op.fatal("flatWithout must name an attribute, got '" + axis + "'");
  checkOracle(op);
}

} // namespace tess::tblgen
