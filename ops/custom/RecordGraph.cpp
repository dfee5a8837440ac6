//===- RecordGraph.cpp - dags of a record that a file brought -------------===//
#include "ops/custom/RecordGraph.h"

#include "ops/graphs/Control.h"
#include "ops/graphs/GraphPieces.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::custom {

static constexpr size_t kMaxNodes = 4096; // a value is made within those that it reads

/// Reads a graph of a file.
class GraphReader {
public:
  GraphReader(const data::Graph &from, const OpInfo &row, bool isGradient, const FindRow &find)
      : from(from), row(row), isGradient(isGradient), find(find) {}

  llvm::Expected<RecordGraph> read() {
    size_t wanted = isGradient ? row.operands.size() : row.results.size();
    if (from.results.size() != wanted || from.nodes.size() > kMaxNodes)
      return refused("a graph must have a value for each of " + llvm::Twine(wanted) + " and at most " +
                         llvm::Twine(kMaxNodes) + " nodes",
                     llvm::Twine(from.results.size()) + " and " + llvm::Twine(from.nodes.size()));
    for (const data::Node &node : from.nodes)
      if (llvm::Error error = add(node))
        return std::move(error);
    for (const data::Reference &result : from.results)
      if (llvm::Error error = set(result, graph.results.emplace_back(), /*mayBeNone=*/isGradient))
        return std::move(error);
    return std::move(graph);
  }

private:
  using Ref = RecordGraph::Ref;
  using Place = RecordGraph::Place;
  using Node = RecordGraph::Node;

  llvm::Error refused(const llvm::Twine &must, const llvm::Twine &got) const {
    return invalidArgument("load_records: " + must + ", got " + got + " in " + row.name);
  }

  static int numberOf(auto list, llvm::StringRef name) {
    const auto *found = llvm::find_if(list, [&](const auto &each) { return name == each.name; });
    return found == list.end() ? -1 : int(found - list.begin());
  }

  llvm::Error set(const data::Reference &reference, Ref &to, bool mayBeNone = false) const {
    if (reference.name.empty() && reference.node < 0 && mayBeNone)
      return llvm::Error::success();
    if (reference.name.empty()) {
      to = {Place::Node, unsigned(reference.node)};
      if (reference.node >= 0 && size_t(reference.node) < graph.nodes.size())
        return llvm::Error::success();
      return refused("values must be of nodes before", llvm::Twine(reference.node));
    }
    return set(reference.name, '$', to);
  }

  /// A name behind a sign.
  llvm::Error set(llvm::StringRef text, char sign, Ref &to) const {
    llvm::StringRef name = text;
    if (name.consume_front(llvm::StringRef(&sign, 1))) {
      if (int i = numberOf(row.operands, name); i >= 0)
        return take({Place::Operand, unsigned(i)}, to);
      if (int i = isGradient ? numberOf(row.results, name) : -1; i >= 0)
        return take({Place::Result, unsigned(i)}, to);
      if (int i = isGradient && name.consume_front("d") ? numberOf(row.results, name) : -1; i >= 0)
        return take({Place::Gradient, unsigned(i)}, to);
    }
    return refused("values must be operands, or results and their gradients in a gradient", "'" + text + "'");
  }

  static llvm::Error take(Ref from, Ref &to) {
    to = from;
    return llvm::Error::success();
  }

  llvm::Error add(const data::Node &given) {
    Node node;
    for (const data::Reference &input : given.inputs)
      if (llvm::Error error = set(input, node.inputs.emplace_back()))
        return error;
    llvm::Error error = given.when                ? setChoice(*given.when, node)
                        : !given.constant.empty() ? setConstant(given, node)
                                                  : setCall(given, node);
    if (!error)
      graph.nodes.push_back(std::move(node));
    return error;
  }

  llvm::Error setChoice(const data::Condition &when, Node &node) {
    if (node.inputs.size() != 2)
      return refused("a choice must be between two values", llvm::Twine(node.inputs.size()));
    if (!when.isComplex.empty()) {
      node.kind = Node::DTypeChoice;
      return set(when.isComplex, '$', node.like);
    }
    node.kind = Node::AttributeChoice;
    node.own = numberOf(row.attrs, when.attribute);
    if (node.own < 0 || row.attrs[node.own].isRuntime)
      return refused("a choice must be by an attribute that is known before it runs", "'" + when.attribute + "'");
    return setValue(row.attrs[node.own], when.equals, node.value);
  }

  llvm::Error setConstant(const data::Node &given, Node &node) {
    node.kind = Node::Constant;
    llvm::StringRef text = given.constant;
    if (text.consume_front("$")) {
      node.own = numberOf(row.attrs, text);
      bool isNumber = node.own >= 0 && (row.attrs[node.own].kind == AttrKind::F64 ||
                                        (row.attrs[node.own].kind == AttrKind::I64 && !row.attrs[node.own].isRuntime));
      if (!isNumber || row.attrs[node.own].isOptional)
        return refused("a constant must be a number, or a float or static integer attribute", "$" + text);
    } else if (double number; !text.getAsDouble(number)) {
      node.value = number;
    } else {
      return refused("a constant must be a number, or a float or static integer attribute", "'" + text + "'");
    }
    return set(given.like, '$', node.like);
  }

  llvm::Error setCall(const data::Node &given, Node &node) {
    node.callee = find(given.op);
    if (!node.callee || control::hasBody(*node.callee))
      return refused("operators of graphs must be known", "'" + given.op + "'");
    llvm::Expected<llvm::SmallVector<unsigned, 4>> segments =
        defaultSegments(*node.callee, unsigned(node.inputs.size()));
    if (!segments)
      return refused("calls must have operands of the operator", toString(segments.takeError()));
    int result = given.result.empty() ? 0 : numberOf(node.callee->results, given.result);
    if (result < 0)
      return refused("a result must be one of " + given.op, "'" + given.result + "'");
    node.result = unsigned(result);
    for (const auto &[name, text] : given.attributes)
      if (llvm::Error error = setArgument(name, text, node))
        return error;
    return checkMissing(node);
  }

  llvm::Error setValue(const AttrInfo &attr, llvm::StringRef text, AttrValue &to) {
    llvm::Expected<AttrValue> value = AttrValue::parse(attr.kind, text);
    if (!value)
      return refused(llvm::Twine(attr.name) + " must have a value of its kind", toString(value.takeError()));
    to = std::move(*value);
    return checkAttr(row.name, attr, to);
  }

  llvm::Error setArgument(llvm::StringRef name, llvm::StringRef text, Node &node) {
    int number = numberOf(node.callee->attrs, name);
    if (number < 0)
      return refused("attributes must be those of " + llvm::Twine(node.callee->name), "'" + name + "'");
    const AttrInfo &attr = node.callee->attrs[number];
    RecordGraph::Argument &argument = node.arguments.emplace_back();
    argument.attr = unsigned(number);
    if (text.starts_with("@") && attr.kind == AttrKind::DType)
      return set(text, '@', argument.dtypeOf);
    if (!text.consume_front("$"))
      return setValue(attr, text, argument.value);
    argument.own = numberOf(row.attrs, text);
    const AttrInfo *own = argument.own < 0 ? nullptr : &row.attrs[argument.own];
    bool isOne = own && own->kind == AttrKind::I64 && attr.kind == AttrKind::I64List && !own->isRuntime;
    if (own && (own->kind == attr.kind || isOne) && (!own->isRuntime || attr.isRuntime) &&
        (!own->isOptional || attr.isOptional))
      return llvm::Error::success();
    return refused(llvm::Twine(attr.name) + " of " + node.callee->name +
                       " must be an attribute of its kind, which is a runtime or optional one only where it is",
                   "$" + text);
  }

  llvm::Error checkMissing(const Node &node) const {
    for (auto [i, attr] : llvm::enumerate(node.callee->attrs)) {
      auto isGiven = [&](const RecordGraph::Argument &argument) { return argument.attr == i; };
      if (!attr.isOptional && !attr.hasDefault && llvm::none_of(node.arguments, isGiven))
        return refused("calls must give all attributes of " + llvm::Twine(node.callee->name),
                       llvm::Twine("no ") + attr.name);
    }
    return llvm::Error::success();
  }

  const data::Graph &from;
  const OpInfo &row;
  bool isGradient;
  const FindRow &find;
  RecordGraph graph;
};

/// Builds the values of a graph, each when it is first read: what no branch takes is not made.
class GraphRun {
public:
  GraphRun(const RecordGraph &graph, SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> values)
      : graph(graph), b(b), op(op), values(values), made(graph.nodes.size()) {}

  int value(RecordGraph::Ref ref) {
    const unsigned operands = op.info().operands.size();
    switch (ref.place) {
    case RecordGraph::Place::None:
      break;
    case RecordGraph::Place::Operand:
      return values[ref.number];
    case RecordGraph::Place::Result:
      return values[operands + ref.number];
    case RecordGraph::Place::Gradient:
      return pieces::gradientOf(b, values, operands, ref.number);
    case RecordGraph::Place::Node:
      if (!made[ref.number])
        made[ref.number] = make(graph.nodes[ref.number]);
      return *made[ref.number];
    }
    return -1;
  }

private:
  using Node = RecordGraph::Node;

  int make(const Node &node) {
    switch (node.kind) {
    case Node::AttributeChoice:
      return value(node.inputs[op.attr(unsigned(node.own)) == node.value ? 0 : 1]);
    case Node::DTypeChoice:
      return value(node.inputs[isComplex(b.meta(value(node.like)).dtype) ? 0 : 1]);
    case Node::Constant:
      return pieces::constantLike(b, node.own < 0 ? node.value : numberOf(op.attr(unsigned(node.own))),
                                  value(node.like));
    case Node::Call:
      return call(node);
    }
    return -1;
  }

  static AttrValue numberOf(const AttrValue &value) {
    return value.kind() == AttrKind::I64 ? AttrValue(double(value.i64())) : value;
  }

  int call(const Node &node) {
    llvm::SmallVector<int, 4> inputs;
    for (RecordGraph::Ref input : node.inputs)
      inputs.push_back(value(input));
    OpDef callee(*node.callee);
    for (const RecordGraph::Argument &argument : node.arguments)
      callee.set(node.callee->attrs[argument.attr].name, valueOf(argument));
    if (std::optional<int> made = inFewerOperators(callee, inputs))
      return *made;
    llvm::SmallVector<int, 2> results = b.applyAll(std::move(callee), inputs);
    return results.empty() ? -1 : results[node.result];
  }

  AttrValue valueOf(const RecordGraph::Argument &argument) {
    if (argument.own >= 0)
      return op.attr(unsigned(argument.own));
    return argument.dtypeOf.place == RecordGraph::Place::None ? argument.value
                                                              : AttrValue(b.meta(value(argument.dtypeOf)).dtype);
  }

  /// The operators that need only the shape of an operand, or may have nothing to do, as tess-tblgen writes them.
  std::optional<int> inFewerOperators(const OpDef &callee, llvm::ArrayRef<int> inputs) {
    llvm::StringRef name = callee.name();
    if (name == "reshape_like")
      return pieces::reshapeLike(b, inputs[0], inputs[1]);
    if (name == "sum_to")
      return pieces::sumTo(b, inputs[0], inputs[1]);
    if (name == "broadcast_like")
      return pieces::broadcastLike(b, inputs[0], inputs[1]);
    if (name == "conj")
      return pieces::conj(b, inputs[0]);
    if (name == "cast")
      return pieces::castTo(b, inputs[0], callee.attr("dtype").dtype());
    return std::nullopt;
  }

  const RecordGraph &graph;
  SubgraphBuilder &b;
  const OpDef &op;
  llvm::ArrayRef<int> values;
  std::vector<std::optional<int>> made;
};

llvm::Expected<RecordGraph> RecordGraph::make(const data::Graph &from, const OpInfo &row, bool isGradient,
                                              const FindRow &find) {
  return GraphReader(from, row, isGradient, find).read();
}

llvm::SmallVector<int, 4> RecordGraph::build(SubgraphBuilder &builder, const OpDef &op, llvm::ArrayRef<int> values,
                                             std::optional<llvm::ArrayRef<bool>> wanted) const {
  GraphRun run(*this, builder, op, values);
  llvm::SmallVector<int, 4> made;
  for (auto [i, result] : llvm::enumerate(results))
    made.push_back(wanted && !(*wanted)[i] ? -1 : run.value(result));
  return made;
}

} // namespace tess::custom
