//===- ComputeParser.cpp - parsing `compute` ------------------------------===//
//
// The grammar is in ops/inference/Notation.h. A record whose `compute` has no meaning ends
// the program with an error at that field.
//
//===----------------------------------------------------------------------===//
#include "ops/tblgen/ComputeParser.h"

#include "ops/inference/NotationWords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace tess::tblgen {

int ComputeModel::find(StringRef name) const {
  auto found = llvm::find_if(dimensions, [&](const DimensionModel &dimension) { return dimension.name == name; });
  return found == dimensions.end() ? -1 : int(found - dimensions.begin());
}

bool ComputeModel::hasWindows() const {
  auto isWindow = [](const PlaceModel &place) { return place.isWindow; };
  return any_of(reads, [&](const AccessModel &read) { return any_of(read.places, isWindow); });
}

void ComputeParser::fatal(const Twine &message) const {
  PrintFatalError(op.record->getValue("compute")->getLoc(), op.name + ": compute " + message);
}

void ComputeParser::fail(const Twine &expected) const {
  fatal("must have " + expected + ", got '" + (rest.empty() ? "its end" : rest) + "'");
}

bool ComputeParser::take(StringRef word) {
  rest = rest.ltrim();
  bool found = rest.consume_front(word);
  rest = rest.ltrim();
  return found;
}

void ComputeParser::need(StringRef word) {
  if (!take(word))
    fail(word);
}

std::string ComputeParser::name(const Twine &what) {
  StringRef word = rest.ltrim().take_while([](char c) { return isAlnum(c) || c == '_'; });
  if (word.empty())
    fail(what);
  take(word);
  return word.str();
}

int ComputeParser::dimension(bool isPack, const std::string &dimension) {
  int known = result.find(dimension);
  if (known < 0) {
    result.dimensions.push_back({dimension, isPack, -1, ""});
    return int(result.dimensions.size()) - 1;
  }
  if (result.dimensions[known].isPack != isPack)
    fatal("must have a dimension as a pack everywhere or nowhere, got " + dimension);
  return known;
}

/// `t k` of an axis `(t k)`, or `0:2 t` of its first half.
void ComputeParser::digits(PlaceModel &model) {
  if (isDigit(rest.front())) {
    if (rest.consumeInteger(10, model.part) || !take(":") || rest.consumeInteger(10, model.parts) || model.part < 0 ||
        model.part >= model.parts)
      fail("a part and the number of parts, as in (0:2 t)");
    take("");
  }
  while (!take(")"))
    model.digits.push_back(result.dimensions[dimension(model.isPack)].name);
  if (model.digits.empty())
    fail("a dimension in an axis");
}

/// An attribute of whole numbers, of a pack a list of them.
int ComputeParser::numberAttr(bool isPack) {
  bool isList = take("*");
  std::string attr = name("an attribute");
  int index = op.attrIndex(attr);
  if (index < 0 || isList != isPack || op.attrs[index].kind != (isPack ? AttrKind::I64List : AttrKind::I64))
    fatal("must have attributes of whole numbers, and lists of a pack, got " + attr);
  return index;
}

/// `* stride + k * dilation - padding` behind a position.
void ComputeParser::window(PlaceModel &model) {
  model.isWindow = true;
  if (take("*"))
    model.stride = numberAttr(model.isPack);
  need("+");
  if (take("*") != model.isPack)
    fatal("must have packs of positions and elements, or one of each, got '" + rest + "'");
  model.digits.push_back(result.dimensions[dimension(model.isPack)].name);
  if (take("*"))
    model.dilation = numberAttr(model.isPack);
  if (take("-"))
    model.padding = numberAttr(model.isPack);
}

/// `ids[i]`, the value being `ids`.
void ComputeParser::position(PlaceModel &model, AccessModel &access, std::string value) {
  AccessModel indices = accessOf(std::move(value));
  if (model.isPack || !indices.positions.empty())
    fatal("must have one index at named dimensions for an axis, got '" + indices.value + "'");
  model.digits = {"?" + std::to_string(result.dimensions.size())};
  result.dimensions.push_back({model.digits[0], false, -1, "", /*isPosition=*/true});
  model.index = int(access.positions.size());
  access.positions.push_back(std::move(indices));
}

PlaceModel ComputeParser::place(AccessModel &access) {
  PlaceModel model;
  model.isPack = take("*");
  if (take("("))
    digits(model);
  else if (std::string word = name("a dimension"); rest.starts_with("["))
    position(model, access, std::move(word));
  else
    model.digits.push_back(result.dimensions[dimension(model.isPack, word)].name);
  if (rest.starts_with("*") || rest.starts_with("+"))
    window(model);
  if (!take(":"))
    return model;
  std::string attr = name("an attribute");
  model.axis = op.attrIndex(attr);
  bool isAxis = model.axis >= 0 && op.attrs[model.axis].axisOf == 0;
  bool isCount = model.axis >= 0 && op.attrs[model.axis].kind == AttrKind::I64 && !isAxis;
  bool isList = model.axis >= 0 && op.attrs[model.axis].kind == AttrKind::I64List && isAxis;
  if (model.isPack ? !isCount && !isList : !isAxis || isList)
    fatal("must place a dimension by an axis of operand 0, and a pack by axes or their number, got " + attr);
  return model;
}

AccessModel ComputeParser::access() { return accessOf(name("a value")); }

AccessModel ComputeParser::accessOf(std::string value) {
  AccessModel model;
  model.value = std::move(value);
  need("[");
  if (take("]"))
    return model;
  do
    model.places.push_back(place(model));
  while (take(","));
  need("]");
  return model;
}

namespace {

/// A function of a scan: its name there, that in ScalarFn, and how many operands it takes.
struct FunctionName {
  StringLiteral name, enumerator;
  unsigned operands;
};
constexpr FunctionName kFunctions[] = {{"+", "Add", 1},   {"*", "Mul", 1},      {"max", "Max", 1},
                                       {"min", "Min", 1}, {"linear", "Add", 2}, {"logaddexp", "LogAddExp", 1}};

class ScanParser : ComputeParser {
public:
  using ComputeParser::ComputeParser;

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
      result.reads.push_back(access());
    while (take(","));
    if (!rest.empty())
      fail("nothing more");
    check(function);
    return std::move(result);
  }

private:
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

  /// A scan goes along one dimension of values that all have the same ones: a pack, that dimension, a pack.
  void check(const FunctionName &function) {
    if (op.results.size() != 1 || result.result.value != op.results[0].name)
      fatal("must give the only result, got " + result.result.value);
    auto isRead = [](auto pair) { return std::get<0>(pair).value == std::get<1>(pair).name; };
    if (result.reads.size() != op.operands.size() || !all_of(zip(result.reads, op.operands), isRead))
      fatal("must read each operand once, in their order, got " + std::to_string(result.reads.size()) + " accesses");
    if (function.operands != op.operands.size())
      fatal("must have " + Twine(function.operands) + " operands for " + function.name + ", got " +
            Twine(op.operands.size()));
    for (auto [number, access] : enumerate(result.reads))
      checkPlaces(access, /*isPlaced=*/number == 0);
    checkPlaces(result.result, /*isPlaced=*/false);
    result.axis = result.reads[0].places[1].axis;
  }

  void checkPlaces(const AccessModel &access, bool isPlaced) const {
    ArrayRef<PlaceModel> places = access.places;
    bool isRow = places.size() == 3 && places[0].isPack && !places[1].isPack && places[2].isPack &&
                 all_of(places, [](const PlaceModel &place) { return place.digits.size() == 1 && place.parts == 1; }) &&
                 places[1].digits[0] == result.dimension && places[0].digits != places[2].digits;
    if (!isRow)
      fatal("must scan " + access.value + " along a dimension between two packs, as in [*a, " + result.dimension +
            ", *b]");
    if (isPlaced != (places[1].axis >= 0))
      fatal("must place the dimension " + result.dimension + " in operand 0, and there only, got " + access.value);
    for (auto [place, other] : zip_equal(places, result.reads[0].places))
      if (place.digits != other.digits)
        fatal("must have the same dimensions everywhere, got " + place.digits[0] + " and " + other.digits[0]);
  }
};

} // namespace

std::unique_ptr<ComputeModel> parseCompute(const OpModel &op) {
  bool isScan = op.record->getValueAsString("compute").split('=').second.ltrim().starts_with("scan");
  return std::make_unique<ComputeModel>(isScan ? ScanParser(op).run() : parseExpressions(op));
}

/// A place as it stands in the record, without its attribute.
static std::string textOf(const PlaceModel &place) {
  if (place.isWindow)
    return place.digits[0] + "'"; // of the operand there are more than positions
  if (place.index >= 0)
    return "?"; // any size
  std::string text = join(place.digits, " ");
  if (place.parts > 1)
    text = std::to_string(place.part) + ":" + std::to_string(place.parts) + " " + text;
  return place.digits.size() > 1 || place.parts > 1 ? "(" + text + ")" : text;
}

/// All values have the same dimensions, whose packs and what stands between them are one star.
std::unique_ptr<SignatureModel> signatureOf(const ComputeModel &compute) {
  auto signature = std::make_unique<SignatureModel>();
  auto shown = [](const PlaceModel &place) { return (place.isPack ? "*" : "") + textOf(place); };
  std::string dims = join(map_range(compute.result.places, shown), ", ");
  signature->symbols = {StringRef(dims).drop_front().str()};
  signature->symbolIsStar = {true};
  PatternModel pattern;
  pattern.dims = {{'*', signature->symbols[0], 0}};
  signature->operands.assign(compute.reads.size(), pattern);
  signature->results = {pattern};
  std::vector<std::string> operands(compute.reads.size(), "(" + dims + ")");
  signature->text = join(operands, ", ") + " -> (" + dims + ")";
  signature->elementwise = compute.reads.size() == 1;
  signature->isExact = !signature->elementwise;
  return signature;
}

static PatternModel patternOf(const AccessModel &access) {
  PatternModel pattern;
  for (const PlaceModel &place : access.places) {
    PlaceModel whole = place;
    whole.parts = 1;
    pattern.dims.push_back({place.isPack ? '*' : 'S', textOf(whole)});
  }
  return pattern;
}

std::unique_ptr<SignatureModel> shownShapes(const OpModel &op, const ComputeModel &compute) {
  auto shown = std::make_unique<SignatureModel>();
  for (const ValueModel &operand : op.operands) {
    auto reads = [&](const AccessModel &access) { return access.value == operand.name; };
    shown->operands.push_back(patternOf(*find_if(compute.reads, reads)));
  }
  shown->results = {patternOf(compute.result)};
  return shown;
}

//===----------------------------------------------------------------------===//
// What accesses demand
//===----------------------------------------------------------------------===//

/// The axis of a place in words; axes behind a pack are counted from the last.
static std::string axisText(const AccessModel &access, const PlaceModel &place) {
  if (place.axis >= 0)
    return "the axis";
  size_t before = size_t(&place - access.places.data());
  ArrayRef<PlaceModel> places = access.places;
  auto isPack = [](const PlaceModel &each) { return each.isPack; };
  if (none_of(places.take_front(before), isPack))
    return "axis " + std::to_string(before);
  return "axis " + std::to_string(int(before) - int(places.size()));
}

/// What the size of an axis of several dimensions must be.
static std::string multipleText(const OpModel &op, const ComputeModel &compute, const AccessModel &access,
                                const PlaceModel &place) {
  std::vector<std::string> factors;
  if (place.parts > 1)
    factors.push_back(std::to_string(place.parts));
  for (const std::string &digit : place.digits)
    if (int attr = compute.dimensions[compute.find(digit)].extent; attr >= 0)
      factors.push_back(op.attrs[attr].name);
  return "size of " + axisText(access, place) + " of " + access.value + " must be a multiple of " +
         join(factors, " * ");
}

/// What the rank of a read must be, when `known` packs have theirs; empty: any.
static std::string rankText(const OpModel &op, const AccessModel &access, std::vector<std::string> &known) {
  unsigned fixed = 0;
  bool isOpen = false, hasPack = false, isPlaced = false;
  for (const PlaceModel &place : access.places) {
    if (place.isWindow) { // along as many axes as the attribute of their sizes has numbers
      fixed += place.isPack ? op.attrs[op.compute->dimensions[op.compute->find(place.digits[1])].extent].length : 1;
      continue;
    }
    fixed += !place.isPack;
    hasPack |= place.isPack;
    isPlaced |= place.axis >= 0 && !place.isPack;
    if (place.isPack && !is_contained(known, place.digits[0])) {
      isOpen |= place.axis < 0;
      known.push_back(place.digits[0]);
    }
  }
  if (!hasPack)
    return access.value + " must have rank " + std::to_string(fixed);
  if (isOpen)
    return fixed && !isPlaced ? access.value + " must have rank >= " + std::to_string(fixed) : "";
  auto shown = [](const PlaceModel &place) { return (place.isPack ? "*" : "") + textOf(place); };
  return access.value + " must have the axes [" + join(map_range(access.places, shown), ", ") + "]";
}

/// Whether reads of two operands have the dimension as an axis of its own.
static bool isShared(const ComputeModel &compute, const DimensionModel &dimension) {
  std::vector<std::string> values;
  for (const AccessModel &read : compute.reads)
    for (const PlaceModel &place : read.places)
      if (place.digits.size() == 1 && place.digits[0] == dimension.name && !is_contained(values, read.value))
        values.push_back(read.value);
  return values.size() > 1;
}

std::vector<std::string> computeConstraints(OpModel &op) {
  std::vector<std::string> texts, known;
  if (!op.compute || op.compute->isScan())
    return texts;
  auto add = [&](std::string text) {
    if (!text.empty() && !is_contained(texts, text))
      texts.push_back(text);
    return text;
  };
  for (const DimensionModel &dimension : op.compute->dimensions)
    if (dimension.isPack && dimension.extent >= 0)
      known.push_back(dimension.name);
  auto isJoined = [](const PlaceModel &place) { return place.digits.size() > 1 && !place.isWindow; };
  bool joins = any_of(op.compute->result.places, isJoined);
  for (AccessModel &read : op.compute->reads) {
    auto isSame = [&](const AccessModel &other) { return other.value == read.value; };
    if (&*find_if(op.compute->reads, isSame) == &read)
      read.must = add(rankText(op, read, known));
    for (PlaceModel &place : read.places) {
      joins |= isJoined(place);
      bool isCounted = place.isPack && place.axis >= 0 && op.attrs[place.axis].kind == AttrKind::I64;
      if (isCounted)
        place.must = add(op.attrs[place.axis].name + " must not be above the rank of " + read.value);
      else if (isJoined(place) || place.parts > 1)
        place.must = add(multipleText(op, *op.compute, read, place));
    }
  }
  for (DimensionModel &dimension : op.compute->dimensions)
    if (isShared(*op.compute, dimension))
      dimension.must = add((dimension.isPack ? "dimensions *" : "dimension ") + dimension.name + " must match");
  if (op.compute->hasWindows())
    for (const char *text : {notation::kPaddingBelowWindow, notation::kWindowFits})
      add(text);
  if (joins)
    add(notation::kFewDimensions);
  return texts;
}

} // namespace tess::tblgen
