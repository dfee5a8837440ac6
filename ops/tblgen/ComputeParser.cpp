//===- ComputeParser.cpp - parsing and checking `compute` -----------------===//
//
// The grammar is in ops/README.md. A record whose `compute` has no meaning ends
// the program with an error at that field.
//
//===----------------------------------------------------------------------===//
#include "ops/tblgen/Model.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"

#include <optional>

using namespace llvm;

namespace tess::tblgen {

namespace {

/// A function of a scan: its name there, that in ScalarFn, and how many operands it takes.
struct FunctionName {
  StringLiteral name, enumerator;
  unsigned operands;
};
constexpr FunctionName kFunctions[] = {{"+", "Add", 1},   {"*", "Mul", 1},      {"max", "Max", 1},
                                       {"min", "Min", 1}, {"linear", "Add", 2}, {"logaddexp", "LogAddExp", 1}};

/// Reads a text from left to right.
class Parser {
public:
  explicit Parser(const OpModel &op) : op(op), rest(op.record->getValueAsString("compute")) {}

  ComputeModel run() {
    result.result = access();
    for (StringRef word : {"=", "scan", "("})
      need(word);
    const FunctionName &function = functionName();
    result.function = function.enumerator.str();
    need(",");
    result.dimension = name("a dimension");
    result.exclusive = flag();
    result.reverse = flag();
    need(")");
    do
      result.operands.push_back(access());
    while (take(","));
    if (!rest.empty())
      fail("nothing more");
    check(function);
    return std::move(result);
  }

private:
  [[noreturn]] void fatal(const Twine &message) const {
    PrintFatalError(op.record->getValue("compute")->getLoc(), op.name + ": compute " + message);
  }
  [[noreturn]] void fail(const Twine &expected) const {
    fatal("must have " + expected + ", got '" + (rest.empty() ? "its end" : rest) + "'");
  }

  bool take(StringRef word) {
    rest = rest.ltrim();
    bool found = rest.consume_front(word);
    rest = rest.ltrim();
    return found;
  }
  void need(StringRef word) {
    if (!take(word))
      fail(word);
  }
  std::string name(const Twine &what) {
    StringRef word = rest.ltrim().take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (word.empty())
      fail(what);
    take(word);
    return word.str();
  }

  const FunctionName &functionName() {
    const FunctionName *found = find_if(kFunctions, [&](const FunctionName &f) { return take(f.name); });
    if (found == std::end(kFunctions))
      fail("a function");
    return *found;
  }

  int flag() {
    need(",");
    std::string attr = name("an attribute");
    int index = op.attrIndex(attr);
    if (index < 0 || op.attrs[index].kind != AttrKind::Bool)
      fatal("must say by boolean attributes what it leaves out and where it starts, got " + attr);
    return index;
  }

  IndexModel index() {
    IndexModel model;
    model.isPack = take("*");
    model.name = name("a dimension");
    if (!take(":"))
      return model;
    std::string attr = name("an attribute");
    model.axis = op.attrIndex(attr);
    if (model.axis < 0 || op.attrs[model.axis].kind != AttrKind::I64 || op.attrs[model.axis].axisOf != 0)
      fatal("must place a dimension by an axis of operand 0, got " + attr);
    return model;
  }

  AccessModel access() {
    AccessModel model;
    model.value = name("a value");
    need("[");
    do
      model.indices.push_back(index());
    while (take(","));
    need("]");
    return model;
  }

  /// A scan goes along one dimension of values that all have the same ones: a pack, that dimension, a pack.
  void check(const FunctionName &function) {
    if (op.results.size() != 1 || result.result.value != op.results[0].name)
      fatal("must give the only result, got " + result.result.value);
    auto isRead = [](auto pair) { return std::get<0>(pair).value == std::get<1>(pair).name; };
    if (result.operands.size() != op.operands.size() || !all_of(zip(result.operands, op.operands), isRead))
      fatal("must read each operand once, in their order, got " + std::to_string(result.operands.size()) + " accesses");
    if (function.operands != op.operands.size())
      fatal("must have " + Twine(function.operands) + " operands for " + function.name + ", got " +
            Twine(op.operands.size()));
    for (auto [number, access] : enumerate(result.operands))
      checkIndices(access, /*isPlaced=*/number == 0);
    checkIndices(result.result, /*isPlaced=*/false);
    result.axis = result.operands[0].indices[1].axis;
  }

  void checkIndices(const AccessModel &access, bool isPlaced) const {
    ArrayRef<IndexModel> indices = access.indices;
    bool isRow = indices.size() == 3 && indices[0].isPack && !indices[1].isPack && indices[2].isPack &&
                 indices[1].name == result.dimension && indices[0].name != indices[2].name;
    if (!isRow)
      fatal("must scan " + access.value + " along a dimension between two packs, as in [*a, " + result.dimension +
            ", *b]");
    if (isPlaced != (indices[1].axis >= 0))
      fatal("must place the dimension " + result.dimension + " in operand 0, and there only, got " + access.value);
    for (auto [index, other] : zip_equal(indices, result.operands[0].indices))
      if (index.name != other.name)
        fatal("must have the same dimensions everywhere, got " + index.name + " and " + other.name);
  }

  const OpModel &op;
  StringRef rest;
  ComputeModel result;
};

} // namespace

std::unique_ptr<ComputeModel> parseCompute(const OpModel &op) {
  return std::make_unique<ComputeModel>(Parser(op).run());
}

/// All values have the same dimensions, whose packs and what stands between them are one star.
std::unique_ptr<SignatureModel> signatureOf(const ComputeModel &compute) {
  auto signature = std::make_unique<SignatureModel>();
  auto shown = [](const IndexModel &index) { return (index.isPack ? "*" : "") + index.name; };
  std::string dims = join(map_range(compute.result.indices, shown), ", ");
  signature->symbols = {StringRef(dims).drop_front().str()};
  signature->symbolIsStar = {true};
  PatternModel pattern;
  pattern.dims = {{'*', signature->symbols[0], 0}};
  signature->operands.assign(compute.operands.size(), pattern);
  signature->results = {pattern};
  std::vector<std::string> operands(compute.operands.size(), "(" + dims + ")");
  signature->text = join(operands, ", ") + " -> (" + dims + ")";
  signature->elementwise = compute.operands.size() == 1;
  signature->isExact = !signature->elementwise;
  return signature;
}

} // namespace tess::tblgen
