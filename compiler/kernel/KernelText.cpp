//===- KernelText.cpp - kernels as text, printed and parsed ---------------===//
#include "compiler/kernel/KernelSpec.h"
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/Quantization.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace tess::compiler {
namespace {

constexpr const char *kInnerNames[] = {"contiguous", "broadcast", "strided", "repeated"};
constexpr const char *kOrders[] = {"", " order=sequential", " order=backward", " order=chunked"}; // by ReductionOrder
constexpr const char *kReduceNames[] = {"sum", "mean", "prod", "max", "min", "argmax", "argmin"};

/// Prints a finite number with enough digits to read it back, and any other by its bits.
void printConstant(llvm::raw_ostream &os, double value) {
  if (std::isfinite(value))
    os << llvm::format("%.17g", value);
  else
    os << llvm::format_hex(llvm::bit_cast<uint64_t>(value), 18);
}

void printNode(llvm::raw_ostream &os, const KernelNode &node) {
  switch (node.kind) {
  case NodeKind::Load:
    os << "load o" << node.operand;
    break;
  case NodeKind::Lookup:
    os << "lookup o" << node.operand << ' ' << node.slot;
    break;
  case NodeKind::Attr:
    os << "attr " << (node.attrIsInt ? "int " : "float ") << node.slot;
    break;
  case NodeKind::Const:
    os << "const ";
    printConstant(os, node.constant);
    break;
  case NodeKind::Reduce:
    os << "reduce " << kReduceNames[unsigned(node.reduceKind)];
    break;
  case NodeKind::Contract:
    os << "contract";
    break;
  case NodeKind::Unpack:
    os << "unpack";
    break;
  case NodeKind::Scan:
    os << "scan " << infoOf(node.fn).name << (node.exclusive ? " exclusive" : "");
    break;
  case NodeKind::Apply:
    os << infoOf(node.fn).name;
    if (node.fn == ScalarFn::DimIndex)
      os << ' ' << node.slot;
    break;
  }
  for (int arg : node.args)
    os << " n" << arg;
  os << " : " << shortName(node.dtype) << (node.roundsHere ? " rounds" : "") << (node.isShort ? " short" : "") << '\n';
}

/// Reads a text word by word. The first word that does not fit sets `expected`, and nothing is read after it.
class KernelParser {
public:
  explicit KernelParser(llvm::StringRef text) : text(text) {}

  llvm::Expected<KernelSpec> run() {
    bool isFirst = true;
    while (!text.empty() && expected.empty()) {
      ++line;
      std::tie(rest, text) = text.split('\n');
      if (isBlank(rest))
        continue;
      isFirst ? header() : statement();
      isFirst = false;
      if (!isBlank(rest))
        expect("nothing more");
    }
    if (isFirst)
      expect("kernel");
    if (expected.empty())
      return std::move(spec);
    return invalidArgument("kernel: line " + llvm::Twine(line) + " must have " + expected + ", got " +
                           (isBlank(rest) ? "its end" : rest.trim()));
  }

private:
  static bool isBlank(llvm::StringRef words) { return words.trim().empty(); }

  void expect(const llvm::Twine &what) {
    if (expected.empty())
      expected = what.str();
  }

  bool failed() const { return !expected.empty(); }

  /// Takes the next word if it is `word`.
  bool take(llvm::StringRef word) {
    if (failed() || nextWord() != word)
      return false;
    rest = rest.ltrim().drop_front(word.size());
    return true;
  }

  llvm::StringRef nextWord() const { return rest.ltrim().take_until(llvm::isSpace); }

  void need(llvm::StringRef word) {
    if (!take(word))
      expect(word);
  }

  /// Reads a number that directly follows `prefix`, as in "o3".
  template <typename T> T number(llvm::StringRef prefix) {
    llvm::StringRef word = nextWord();
    T value = 0;
    if (!failed() && (!word.consume_front(prefix) || word.getAsInteger(10, value)))
      expect(prefix + llvm::Twine("<number>"));
    if (!failed())
      take(nextWord());
    return value;
  }

  /// The index of the next word among `names`.
  template <typename T> T oneOf(llvm::ArrayRef<const char *> names, llvm::StringRef what) {
    const auto *found = llvm::find(names, nextWord());
    if (found == names.end()) {
      expect(what);
      return T();
    }
    take(*found);
    return T(found - names.begin());
  }

  DType dtype() {
    std::optional<DType> found = parseDType(nextWord());
    if (!found)
      expect("a dtype");
    take(nextWord());
    return found.value_or(DType::Float32);
  }

  double constant() {
    llvm::StringRef word = nextWord();
    double value = 0;
    uint64_t bits = 0;
    if (word.starts_with("0x") ? word.getAsInteger(0, bits) : word.getAsDouble(value))
      expect("a number");
    take(word);
    return word.starts_with("0x") ? llvm::bit_cast<double>(bits) : value;
  }

  void header() {
    need("kernel");
    spec.numParallel = number<uint8_t>("parallel=");
    spec.numReduced = number<uint8_t>("reduced=");
    spec.vectorAxis = oneOf<VectorAxis>({"lanes=parallel", "lanes=reduced"}, "lanes=parallel or lanes=reduced");
    spec.order = take("order=sequential") ? ReductionOrder::Sequential
                 : take("order=backward") ? ReductionOrder::Backward
                 : take("order=chunked")  ? ReductionOrder::Chunked
                                          : ReductionOrder::Lanes;
    if (spec.contracts())
      tile();
    spec.numAttrs = number<uint8_t>("attrs=");
  }

  /// Reads "tile=14x2": rows by panels.
  void tile() {
    llvm::StringRef word = nextWord();
    auto [rows, panels] = word.split('x');
    if (!rows.consume_front("tile=") || rows.getAsInteger(10, spec.tile.rows) ||
        panels.getAsInteger(10, spec.tile.panels))
      return expect("tile=<rows>x<panels>");
    take(word);
  }

  void statement() {
    if (take("store")) {
      int16_t node = number<int16_t>("n");
      KernelStore &store = spec.stores.emplace_back(KernelStore{node, number<int16_t>("o")});
      if (!nextWord().empty() && nextWord() != "at")
        store.fn = function();
      if (take("at"))
        store.slot = number<int16_t>("");
      while (!failed() && nextWord().starts_with("n"))
        store.indices.push_back(number<int16_t>("n"));
      spec.numLookups += store.indices.size();
      return;
    }
    if (take("bound")) {
      uint8_t parallel = number<uint8_t>("p");
      spec.bounds.push_back({parallel, number<uint8_t>("r")});
      return;
    }
    if (nextWord().starts_with("o"))
      operand();
    else if (nextWord().starts_with("n"))
      node();
    else
      expect("a bound, an operand, a node or a store");
  }

  void operand() {
    if (number<unsigned>("o") != spec.operands.size())
      expect("operands in order");
    need("=");
    KernelOperand operand{DType::Float32};
    operand.isOutput = oneOf<bool>({"input", "output"}, "input or output");
    operand.dtype = dtype();
    operand.inner = oneOf<InnerClass>(kInnerNames, "contiguous, broadcast, strided or repeated");
    operand.variesOnReduced = take("varies");
    spec.operands.push_back(operand);
  }

  void node() {
    if (number<unsigned>("n") != spec.nodes.size())
      expect("nodes in order");
    need("=");
    KernelNode node{NodeKind::Apply, DType::Float32};
    value(node);
    while (!failed() && nextWord().starts_with("n"))
      node.args.push_back(number<int16_t>("n"));
    if (node.kind == NodeKind::Lookup)
      spec.numLookups += node.args.size();
    need(":");
    node.dtype = dtype();
    node.roundsHere = take("rounds");
    node.isShort = take("short");
    spec.nodes.push_back(std::move(node));
  }

  void value(KernelNode &node) {
    if (take("load")) {
      node.kind = NodeKind::Load;
      node.operand = number<int16_t>("o");
    } else if (take("lookup")) {
      node.kind = NodeKind::Lookup;
      node.operand = number<int16_t>("o");
      node.slot = number<int16_t>("");
    } else if (take("attr")) {
      node.kind = NodeKind::Attr;
      node.attrIsInt = oneOf<bool>({"float", "int"}, "float or int");
      node.slot = number<int16_t>("");
    } else if (take("const")) {
      node.kind = NodeKind::Const;
      node.constant = constant();
    } else if (take("reduce")) {
      node.kind = NodeKind::Reduce;
      node.reduceKind = oneOf<ReduceKind>(kReduceNames, "a kind of reduction");
    } else if (take("contract")) {
      node.kind = NodeKind::Contract;
    } else if (take("unpack")) {
      node.kind = NodeKind::Unpack;
    } else if (take("scan")) {
      node.kind = NodeKind::Scan;
      node.fn = function();
      node.exclusive = take("exclusive");
    } else {
      node.fn = function();
      if (node.fn == ScalarFn::DimIndex)
        node.slot = number<int16_t>("");
    }
  }

  ScalarFn function() {
    const ScalarFnInfo *found =
        llvm::find_if(kScalarFns, [&](const ScalarFnInfo &fn) { return nextWord() == fn.name; });
    if (found == std::end(kScalarFns))
      return expect("a function"), ScalarFn::Add;
    take(nextWord());
    return ScalarFn(found - std::begin(kScalarFns));
  }

  llvm::StringRef text, rest; // the text after this line; the rest of this line
  unsigned line = 0;
  std::string expected; // empty while no word was wrong
  KernelSpec spec;
};

} // namespace

std::string KernelSpec::toText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "kernel parallel=" << numParallel << " reduced=" << numReduced
     << " lanes=" << (vectorAxis == VectorAxis::Parallel ? "parallel" : "reduced") << kOrders[unsigned(order)];
  if (contracts())
    os << " tile=" << unsigned(tile.rows) << 'x' << unsigned(tile.panels);
  os << " attrs=" << numAttrs << '\n';
  for (AxisBound bound : bounds)
    os << "bound p" << unsigned(bound.parallel) << " r" << unsigned(bound.reduced) << '\n';
  for (auto [i, operand] : llvm::enumerate(operands))
    os << 'o' << i << " = " << (operand.isOutput ? "output " : "input ") << shortName(operand.dtype) << ' '
       << kInnerNames[unsigned(operand.inner)] << (operand.variesOnReduced ? " varies" : "") << '\n';
  for (auto [i, node] : llvm::enumerate(nodes)) {
    os << 'n' << i << " = ";
    printNode(os, node);
  }
  for (const KernelStore &store : stores) {
    os << "store n" << store.node << " o" << store.operand;
    if (store.fn)
      os << ' ' << infoOf(*store.fn).name;
    if (!store.indices.empty())
      os << " at " << store.slot;
    for (int index : store.indices)
      os << " n" << index;
    os << '\n';
  }
  return text;
}

llvm::Expected<KernelSpec> KernelSpec::parse(llvm::StringRef text) { return KernelParser(text).run(); }

} // namespace tess::compiler
