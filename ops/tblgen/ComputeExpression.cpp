//===- ComputeExpression.cpp - `compute` as functions of reads ------------===//
//
// An expression becomes C++ that calls ops/graphs/NotationGraph.h.
//
//===----------------------------------------------------------------------===//
#include "ops/tblgen/ComputeParser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

/// A sign between a computed place and what is written there, and the operator that does so.
struct Write {
  StringLiteral sign, name;
};
constexpr Write kWrites[] = {
    {"=", "set_along_axes"}, {"+=", "add_along_axes"}, {"max=", "max_along_axes"}, {"min=", "min_along_axes"}};

constexpr StringLiteral kReductions[] = {"max", "mean", "min", "prod", "sum"};

/// C++ for a value.
struct Expression {
  Expression(std::string text, bool isRead = false, std::string reduction = "")
      : text(std::move(text)), isRead(isRead), reduction(std::move(reduction)) {}

  std::string text;
  bool isRead;
  std::string reduction; // of a read
};

class ExpressionParser : ComputeParser {
public:
  using ComputeParser::ComputeParser;

  ComputeModel run() {
    do
      statement();
    while (take(";"));
    if (take("where"))
      do
        bound();
      while (take(","));
    if (!rest.empty())
      fail("nothing more");
    result.statements.push_back("return {out};");
    check();
    return std::move(result);
  }

private:
  void statement() {
    AccessModel target = access();
    if (!target.positions.empty())
      return write(std::move(target));
    need("=");
    Expression value = expression();
    if (!result.result.value.empty())
      fatal("must give the result last, got " + target.value + " behind it");
    if (op.resultIndex(target.value) >= 0) {
      const Record *dtypes = op.def("dtypes");
      std::string like = dtypes && dtypes->isSubClassOf("Same")
                             ? ", " + std::to_string(op.operandIndex(dtypes->getValueAsString("operand")))
                             : "";
      result.statements.push_back("int out = g.result(" + value.text + like + ");");
      result.reduction = value.reduction;
      result.result = std::move(target);
      return;
    }
    if (op.operandIndex(target.value) >= 0)
      fatal("must not set an operand, got " + target.value);
    result.statements.push_back("NotationGraph::Value own_" + target.value + " = " + value.text + ";");
    own.push_back(std::move(target));
  }

  /// `out[*a, index[*a, i, *b], *b] += source[*a, i, *b]`, behind the statement that gives `out`.
  void write(AccessModel target) {
    const Write *how = find_if(kWrites, [&](const Write &each) { return take(each.sign); });
    if (how == std::end(kWrites))
      fail("=, +=, max= or min=");
    used.clear();
    Expression value = expression();
    std::string places = writtenPlaces(target);
    for_each(target.positions, [&](const AccessModel &indices) { use(indices); });
    addPositions(std::move(target.positions));
    auto isOwn = [&](const PlaceModel &place) { return is_contained(used, place.digits[0]); };
    size_t own = count_if(used, [&](const std::string &name) {
      return none_of(result.result.places, [&](const PlaceModel &place) { return place.digits[0] == name; });
    });
    for (const PlaceModel &place : target.places)
      if (place.index >= 0 && isOwn(result.result.places[size_t(&place - target.places.data())]))
        fatal("must not read along the axes that it writes at indices along, got " + target.value);
    result.spared = unsigned(
        std::min(own, size_t(count_if(target.places, [](const PlaceModel &place) { return place.index >= 0; }))));
    append_range(taken, used);
    result.statements.push_back(
        ("out = g.write(\"" + how->name + "\", out, {" + places + "}, " + value.text + ");").str());
  }

  /// The computed places of a target and the reads that hold their indices. The others are as in the result.
  std::string writtenPlaces(const AccessModel &target) {
    ArrayRef<PlaceModel> given = result.result.places;
    if (target.value != result.result.value || target.places.size() != given.size() || hasWritten)
      fatal("must write at computed places of the result once, behind what gives it, got " + target.value);
    hasWritten = true;
    std::string text;
    for (auto [number, place] : enumerate(target.places)) {
      const PlaceModel &whole = given[number];
      bool isSingle = whole.digits.size() == 1 && whole.parts == 1;
      if (!isSingle || (place.index >= 0 ? whole.isPack : place.digits != whole.digits))
        fatal("must write at computed places of single axes, and else where the result is given, got " + target.value);
      if (place.index >= 0)
        text += (text.empty() ? "{" : ", {") + std::to_string(number) + ", " +
                std::to_string(result.reads.size() + size_t(place.index)) + "}";
    }
    return text;
  }

  /// `k < repeats`: the attribute says how large the dimension is.
  void bound() {
    bool isPack = take("*");
    int number = dimension(isPack);
    need("<");
    if (take("*") != isPack)
      fatal("must bound a pack by a list, and a dimension by a number, got " + result.dimensions[number].name);
    std::string attr = name("an attribute");
    int index = op.attrIndex(attr);
    if (index < 0 || op.attrs[index].kind != (isPack ? AttrKind::I64List : AttrKind::I64))
      fatal("must bound a dimension by an attribute of whole numbers, got " + attr);
    result.dimensions[number].extent = index;
  }

  Expression called(StringRef function, ArrayRef<Expression> operands) {
    result.calls.push_back({function.str(), unsigned(operands.size())});
    auto text = [](const Expression &operand) { return operand.text; };
    return {("g.call(\"" + function + "\", {" + join(map_range(operands, text), ", ") + "})").str()};
  }

  using Sign = std::pair<StringRef, StringRef>; // and its operator

  Expression expression() { return row({{"+", "add"}, {"-", "sub"}}, &ExpressionParser::term); }
  Expression term() { return row({{"*", "mul"}, {"/", "div"}}, &ExpressionParser::factor); }

  /// Operands with signs between them, taken from the left.
  Expression row(ArrayRef<Sign> signs, Expression (ExpressionParser::*operand)()) {
    Expression value = (this->*operand)();
    while (true) {
      auto *sign = find_if(signs, [&](const Sign &each) { return take(each.first); });
      if (sign == signs.end())
        return value;
      value = called(sign->second, {value, (this->*operand)()});
    }
  }

  Expression factor() {
    if (take("(")) {
      Expression value = expression();
      need(")");
      return value;
    }
    if (!rest.empty() && isDigit(rest.front())) {
      StringRef number = rest.take_while([](char c) { return isAlnum(c) || c == '.'; });
      take(number);
      return {("NotationGraph::number(" + number + ")").str()};
    }
    StringRef before = rest;
    std::string word = name("a value");
    if (rest.starts_with("[")) {
      rest = before;
      return read();
    }
    if (take("("))
      return is_contained(kReductions, word) ? reduction(word) : function(word);
    if (int attr = op.attrIndex(word); attr >= 0)
      return {"NotationGraph::number(op.attr(" + std::to_string(attr) + "))"};
    if (int dimension = result.find(word); dimension >= 0 && !result.dimensions[dimension].isPack)
      return {"NotationGraph::index(" + std::to_string(dimension) + ")"};
    fatal("must be made of reads, numbers, attributes and dimensions, got " + word);
  }

  Expression function(StringRef name) {
    std::vector<Expression> operands;
    do
      operands.push_back(expression());
    while (take(","));
    need(")");
    return called(name, operands);
  }

  /// `mean(*k) x[*a, *k]`: behind the dimensions that go.
  Expression reduction(StringRef function) {
    std::vector<std::string> numbers;
    do {
      int number = dimension(take("*"));
      taken.push_back(result.dimensions[number].name);
      numbers.push_back(std::to_string(number));
    } while (take(","));
    need(")");
    Expression value = factor();
    return {("g.reduce(\"" + function + "\", {" + join(numbers, ", ") + "}, " + value.text + ")").str(), false,
            value.isRead ? function.str() : ""};
  }

  Expression read() {
    AccessModel model = access();
    auto isOwn = [&](const AccessModel &each) { return each.value == model.value; };
    use(model);
    if (auto known = find_if(own, isOwn); known != own.end()) {
      if (!haveSamePlaces(*known, model))
        fatal("must read " + model.value + " at the indices that it is given at");
      return {"own_" + model.value};
    }
    int operand = op.operandIndex(model.value);
    if (operand < 0)
      fatal("must read operands and values that it has given, got " + model.value);
    if (take("?") != (op.operands[operand].arity == '?') || op.operands[operand].arity == '*')
      fatal("must have ? behind optional operands, and read no lists, got " + model.value);
    auto isSame = [&](const AccessModel &each) { return each.value == model.value && haveSamePlaces(each, model); };
    auto known = find_if(result.reads, isSame);
    size_t number = size_t(known - result.reads.begin());
    if (known == result.reads.end())
      addRead(std::move(model));
    return {"g.read(" + std::to_string(number) + ")", true};
  }

  /// Notes the dimensions that a write goes over.
  void use(const AccessModel &read) {
    for (const PlaceModel &place : read.places)
      for (const std::string &digit : place.digits)
        if (place.index < 0 && !is_contained(used, digit))
          used.push_back(digit);
    for (const AccessModel &indices : read.positions)
      use(indices);
  }

  /// Adds a read, then those that it computes places by.
  void addRead(AccessModel model) {
    std::vector<AccessModel> positions = std::move(model.positions);
    for (PlaceModel &place : model.places)
      place.index += place.index < 0 ? 0 : int(result.reads.size()) + 1;
    result.reads.push_back(std::move(model));
    addPositions(std::move(positions));
  }

  void addPositions(std::vector<AccessModel> positions) {
    for (AccessModel &indices : positions) {
      int operand = op.operandIndex(indices.value);
      if (operand < 0 || op.operands[operand].arity != '1')
        fatal("must compute places by operands, got " + indices.value);
      result.reads.push_back(std::move(indices));
    }
  }

  static bool haveSamePlaces(const AccessModel &a, const AccessModel &b) {
    return a.places.size() == b.places.size() && all_of(zip(a.places, b.places), [](auto pair) {
             const auto &[x, y] = pair;
             return x.digits == y.digits && x.part == y.part && x.parts == y.parts && x.isWindow == y.isWindow;
           });
  }

  /// Windows are reduced where they are read, and nothing else is done with them.
  void checkWindows() {
    if (!result.hasWindows())
      return;
    const PlaceModel &last = result.reads[0].places.back();
    int attr = last.isWindow ? result.dimensions[result.find(last.digits[1])].extent : -1;
    bool isCounted = attr >= 0 && (!last.isPack || op.attrs[attr].length > 0);
    if (result.reduction.empty() || result.reads.size() != 1 || !isCounted)
      fatal("must reduce the elements of windows along the last axes, whose number an attribute says");
  }

  /// Of an axis of several dimensions one may follow from its size.
  void checkAxes() {
    std::vector<std::string> known;
    for (const DimensionModel &dimension : result.dimensions)
      if (dimension.extent >= 0)
        known.push_back(dimension.name);
    for (const AccessModel &read : result.reads)
      for (const PlaceModel &place : read.places) {
        auto isOpen = [&](const std::string &digit) { return !is_contained(known, digit); };
        if (!place.isWindow && count_if(place.digits, isOpen) > 1)
          fatal("must know all dimensions of an axis but one, got (" + join(place.digits, " ") + ")");
        append_range(known, place.digits);
      }
  }

  void check() {
    checkWindows();
    checkAxes();
    if (op.results.size() != 1 || result.result.value != op.results[0].name)
      fatal("must give the only result, got " + (own.empty() ? "none" : own.back().value));
    for (const ValueModel &operand : op.operands)
      if (none_of(result.reads, [&](const AccessModel &read) { return read.value == operand.name; }))
        fatal("must read each operand, got none of " + operand.name);
    for (const DimensionModel &dimension : result.dimensions) {
      if (dimension.isPosition)
        continue;
      auto has = [&](const PlaceModel &place) { return is_contained(place.digits, dimension.name); };
      bool isGiven = any_of(result.result.places, has);
      bool isRead = any_of(result.reads, [&](const AccessModel &read) { return any_of(read.places, has); });
      if (!isGiven && !is_contained(taken, dimension.name))
        fatal("must give or reduce each dimension, got " + dimension.name);
      if (!isRead && dimension.extent < 0)
        fatal("must read or bound each dimension, got " + dimension.name);
    }
  }

  std::vector<AccessModel> own; // values that statements give
  bool hasWritten = false;
  std::vector<std::string> used;  // dimensions of what is read since a write began
  std::vector<std::string> taken; // dimensions that some reduction or write goes over
};

} // namespace

ComputeModel parseExpressions(const OpModel &op) { return ExpressionParser(op).run(); }

} // namespace tess::tblgen
