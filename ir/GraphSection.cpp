//===- GraphSection.cpp - the graph section of a file ---------------------===//
//
// Converts a graph to Protobuf and back. The reader trusts nothing: every
// index, dtype, shape and size is checked, and every operator is inferred
// again.
//
//===----------------------------------------------------------------------===//
#include "ir/Contents.h"
#include "ir/Dialect.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphFeatures.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ir/proto/Graph.pb.h"
#include "ops/graphs/Control.h"
#include "ops/inference/QuantizedMetas.h"
#include "ops/table/Upgrades.h"
#include "ops/vocabulary/Quantization.h"
#include "ops/vocabulary/SizeExpr.h"
#include "runtime/schema/MessageParse.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tess::ir {
namespace {

llvm::Error damaged(const Twine &what) { return makeError(ErrorCode::DataLoss, "graph: " + what); }

void writeMeta(const TensorMeta &meta, proto::Meta &out) {
  out.set_dtype(shortName(meta.dtype).str());
  for (int64_t size : meta.shape)
    out.add_shape(size == kUnknown ? -1 : size);
}

void writeBody(const Subgraph &graph, proto::Body &out) {
  std::vector<unsigned> numbers(graph.numValues); // of values, which a subgraph may number in any order
  unsigned next = 0;
  for (int id : graph.inputs)
    numbers[id] = next++;
  out.set_inputs(next);
  for (const Subgraph::Node &from : graph.nodes) {
    proto::Node &node = *out.add_nodes();
    auto sizeOf = [&](int id, unsigned axis) { return sizes::symbol(control::bodySymbol(int(numbers[id]), axis)); };
    node.set_op(control::withBodySizes(from.op, sizeOf).serialize());
    if (control::hasBody(from.op.info()))
      writeBody(control::bodyOf(from.op), *node.mutable_body());
    for (int id : from.inputs)
      node.add_operands(numbers[id]);
    node.mutable_segments()->Assign(from.segments.begin(), from.segments.end());
    node.set_location(from.location);
    node.set_results(unsigned(from.outputs.size()));
    for (int id : from.outputs)
      numbers[id] = next++;
  }
  for (int id : graph.outputs)
    out.add_outputs(numbers[id]);
}

/// Writes one function. Values are numbered: inputs, then constants, then results in order.
class Writer {
public:
  Writer(func::FuncOp func, proto::Graph &out, std::vector<Graph::TensorRef> &tensors)
      : func(func), out(out), tensors(tensors) {}

  void write() {
    runtime::Features features = featuresOf(func);
    out.set_format(features.format());
    for (std::string &name : features.names())
      out.add_critical_features(std::move(name));
    if (Numerics numerics = numericsOf(func); numerics != Numerics::Strict)
      out.set_numerics(nameOf(numerics).str());
    writeDims();
    writeInputs();
    func.walk([&](ConstantOp op) { writeConstant(op); });
    for (Operation &op : func.getBody().front())
      if (infoOf(&op))
        writeNode(&op);
    writeOutputs();
  }

private:
  void writeDims() {
    for (Attribute entry : func->getAttrOfType<ArrayAttr>(kDimsAttr)) {
      auto fields = cast<DictionaryAttr>(entry);
      proto::NamedDim &dim = *out.add_dims();
      dim.set_name(fields.getAs<StringAttr>("name").str());
      dim.set_min(fields.getAs<IntegerAttr>("min").getInt());
      dim.set_max(fields.getAs<IntegerAttr>("max").getInt());
    }
  }

  void writeInputs() {
    for (auto [index, argument] : llvm::enumerate(func.getArguments())) {
      proto::Input &input = *out.add_inputs();
      input.set_name(func.getArgAttrOfType<StringAttr>(index, kNameAttr).str());
      writeMeta(metaOf(argument.getType()), *input.mutable_meta());
      for (int64_t dim : func.getArgAttrOfType<DenseI64ArrayAttr>(index, kArgDimsAttr).asArrayRef())
        input.add_dims(int32_t(dim));
      if (auto initial = func.getArgAttrOfType<DenseResourceElementsAttr>(index, kInitialAttr))
        writeContent(initial, *input.mutable_initial());
      number(argument);
    }
  }

  void writeConstant(ConstantOp op) {
    proto::Constant &constant = *out.add_constants();
    constant.set_name(op.getKey().str());
    writeContent(cast<DenseResourceElementsAttr>(op.getValue()), constant);
    number(op.getOut());
  }

  void writeContent(DenseResourceElementsAttr content, proto::Constant &constant) {
    TensorMeta meta = metaOf(content.getType());
    writeMeta(meta, *constant.mutable_meta());
    StringRef raw = bytesOf(content);
    if (!isLarge(raw.size())) { // it stays in the graph section
      constant.set_data(raw.data(), raw.size());
    } else {
      constant.set_tensor("t" + std::to_string(tensors.size()));
      runtime::HeldBytes held = holderOf(content);
      tensors.push_back({constant.tensor(), meta, held ? held : runtime::holdCopy(raw)});
    }
  }

  void writeNode(Operation *op) {
    proto::Node &node = *out.add_nodes();
    OpDef def = opDefOf(op);
    node.set_op(def.serialize());
    if (control::hasBody(def.info()))
      writeBody(control::bodyOf(def), *node.mutable_body());
    for (Value operand : op->getOperands())
      node.add_operands(numbers.lookup(operand));
    for (unsigned count : segmentsOf(op))
      node.add_segments(count);
    if (auto name = op->getAttrOfType<StringAttr>(kNameAttr))
      node.set_name(name.str());
    node.set_location(locationText(op->getLoc()));
    for (Operation *user : op->getUsers())
      if (auto size = dyn_cast<NamedSizeOp>(user)) {
        proto::DataSize &named = *node.add_data_sizes();
        named.set_result(cast<OpResult>(size.getValue()).getResultNumber());
        named.set_axis(uint32_t(size.getAxis()));
        named.set_number(uint32_t(size.getNumber()));
      }
    for (Value result : op->getResults())
      number(result);
  }

  void writeOutputs() {
    auto entries = func->getAttrOfType<ArrayAttr>(kOutputsAttr);
    Operation *ret = func.getBody().front().getTerminator();
    for (auto [value, entry] : llvm::zip(ret->getOperands(), entries)) {
      auto fields = cast<DictionaryAttr>(entry);
      proto::Output &output = *out.add_outputs();
      output.set_value(numbers.lookup(value));
      output.set_name(fields.getAs<StringAttr>("name").str());
      output.set_donates(int32_t(fields.getAs<IntegerAttr>("donates").getInt()));
    }
  }

  void number(Value value) { numbers.try_emplace(value, unsigned(numbers.size())); }

  func::FuncOp func;
  proto::Graph &out;
  std::vector<Graph::TensorRef> &tensors;
  llvm::DenseMap<Value, unsigned> numbers;
};

/// Rebuilds a graph through GraphBuilder, so that inference checks every node.
class Reader {
public:
  Reader(const proto::Graph &in, ArrayRef<Graph::TensorRef> tensors) : in(in) {
    for (const Graph::TensorRef &tensor : tensors)
      tensorOf[tensor.name] = &tensor;
  }

  llvm::Expected<Graph> read() {
    if (llvm::Error error = checkFormat())
      return std::move(error);
    SmallVector<StringRef> names(in.critical_features().begin(), in.critical_features().end());
    llvm::Expected<runtime::Features> features = runtime::readFeatures(in.format(), names, "graph");
    if (!features)
      return features.takeError();
    if (llvm::Error error = readParts())
      return std::move(error);
    Graph graph = builder.finish();
    graph.impl().bitsVersion = in.bits_version();
    if (llvm::Error error = runtime::checkFeatures(in.format(), *features, featuresOf(graph.impl().main()), "graph"))
      return std::move(error);
    return graph;
  }

private:
  llvm::Error readNumerics() {
    llvm::Expected<Numerics> numerics = parseNumerics("graph", in.numerics());
    if (!numerics)
      return makeError(ErrorCode::DataLoss, takeError(numerics.takeError()).second);
    builder.setNumerics(*numerics);
    return llvm::Error::success();
  }

  llvm::Error readParts() {
    if (!in.numerics().empty())
      if (llvm::Error error = readNumerics())
        return error;
    for (const proto::NamedDim &dim : in.dims()) {
      if (dim.min() < 0 || dim.max() < dim.min())
        return damaged("bounds of dimension " + dim.name() + " must be ordered and not negative, got " +
                       Twine(dim.min()) + ".." + Twine(dim.max()));
      builder.dim({dim.name(), dim.min(), dim.max()});
    }
    for (const proto::Input &input : in.inputs())
      if (llvm::Error error = readInput(input))
        return error;
    for (const proto::Constant &constant : in.constants())
      if (llvm::Error error = readConstant(constant))
        return error;
    for (const proto::Node &node : in.nodes())
      if (llvm::Error error = readNode(node))
        return error;
    return readOutputs();
  }

  llvm::Error checkFormat() {
    if (in.format() > runtime::kFeatureFormat)
      return makeError(ErrorCode::Unimplemented, "graph: format must be at most " + Twine(runtime::kFeatureFormat) +
                                                     ", got " + Twine(in.format()) + ", written by a newer Tessera");
    if (in.format() == 0)
      return damaged("format must be at least 1, got 0");
    return llvm::Error::success();
  }

  llvm::Error readMeta(const proto::Meta &meta, TensorMeta &out) {
    std::optional<DType> dtype = parseDType(meta.dtype());
    if (!dtype)
      return damaged("dtype must be known, got '" + Twine(meta.dtype()) + "'");
    if (meta.shape_size() > int(kMaxRank))
      return damaged("rank must be at most " + Twine(kMaxRank) + ", got " + Twine(meta.shape_size()));
    out.dtype = *dtype;
    for (int64_t size : meta.shape()) {
      if (size < -1)
        return damaged("dimension must be at least -1, got " + Twine(size));
      out.shape.push_back(size == -1 ? kUnknown : size);
    }
    if (out.numElements() > kMaxElements)
      return damaged("tensors must have at most 2^59 elements, got " + toString(out));
    if (llvm::Error error = checkQuantized("graph", out))
      return makeError(ErrorCode::DataLoss, takeError(std::move(error)).second);
    return llvm::Error::success();
  }

  llvm::Error readInput(const proto::Input &input) {
    TensorMeta meta;
    if (llvm::Error error = readMeta(input.meta(), meta))
      return error;
    for (int dim : input.dims())
      if (dim < -1 || dim >= in.dims_size())
        return damaged("dimension index must be in [-1, " + Twine(in.dims_size()) + "), got " + Twine(dim));
    if (input.dims_size() > int(meta.rank()))
      return damaged("input must have at most " + Twine(meta.rank()) + " dims, got " + Twine(input.dims_size()));
    std::optional<Content> initial;
    if (input.has_initial()) {
      TensorMeta held;
      if (llvm::Error error =
              readContent(input.initial(), "initial value", input.name(), held, initial.emplace(StringRef())))
        return error;
      if (!(held == meta))
        return damaged("initial value '" + Twine(input.name()) + "' must be " + toString(meta) + ", got " +
                       toString(held));
    }
    SmallVector<int> dims(input.dims().begin(), input.dims().end());
    values.push_back(builder.input(input.name(), meta, dims, initial));
    return llvm::Error::success();
  }

  llvm::Error readConstant(const proto::Constant &constant) {
    TensorMeta meta;
    Content content = StringRef();
    if (llvm::Error error = readContent(constant, "constant", constant.name(), meta, content))
      return error;
    values.push_back(builder.constant(meta, content, constant.name()));
    return llvm::Error::success();
  }

  llvm::Error readContent(const proto::Constant &constant, StringRef what, StringRef name, TensorMeta &meta,
                          Content &content) {
    if (llvm::Error error = readMeta(constant.meta(), meta))
      return error;
    content = StringRef(constant.data());
    if (!constant.tensor().empty()) {
      auto found = tensorOf.find(constant.tensor());
      if (found == tensorOf.end())
        return damaged("tensor section '" + Twine(constant.tensor()) + "' must exist, got none");
      content = found->second->bytes;
    }
    int64_t count = meta.numElements();
    if (count < 0 || uint64_t(count) * byteWidth(meta.dtype) != content.bytes.size())
      return damaged(what + " '" + name + "' must have the bytes of " + toString(meta) + ", got " +
                     Twine(content.bytes.size()));
    return llvm::Error::success();
  }

  /// `inBody`: inference checks the symbols of the body.
  llvm::Error checkSymbols(const OpDef &op, bool inBody) {
    std::optional<uint32_t> unknown;
    op.forEachSymbol([&](uint32_t symbol) {
      if (inBody && control::isBodySymbol(symbol))
        return;
      bool isKnown = symbol >= sizes::kDataSymbols ? dataSizes.contains(symbol - sizes::kDataSymbols)
                                                   : symbol < unsigned(in.dims_size());
      unknown = isKnown ? unknown : symbol;
    });
    if (!unknown)
      return llvm::Error::success();
    return damaged("sizes of " + op.name() + " must name a dimension below " + Twine(in.dims_size()) +
                   " or a size of data, got " + Twine(*unknown));
  }

  /// Names the sizes of `results` that data decides.
  llvm::Error readDataSizes(const proto::Node &node, const OpDef &op, ArrayRef<GraphBuilder::Value> results) {
    for (const proto::DataSize &size : node.data_sizes()) {
      bool isSize = op.info().boundRule && size.result() < results.size() &&
                    size.axis() < builder.meta(results[size.result()]).rank() &&
                    builder.meta(results[size.result()]).shape[size.axis()] == kUnknown;
      if (!isSize || size.number() >= uint64_t(in.nodes_size()) * kMaxRank || !dataSizes.insert(size.number()).second)
        return damaged("a size of data must be one of " + op.name() + " with a number of its own, got axis " +
                       Twine(size.axis()) + " of result " + Twine(size.result()) + " and number " +
                       Twine(size.number()));
      builder.nameSize(results[size.result()], size.axis(), size.number());
    }
    return llvm::Error::success();
  }

  /// The operator of a node, with its body.
  llvm::Expected<StoredOp> readOp(const proto::Node &node, bool inBody) {
    llvm::Expected<StoredOp> stored = parseStored(node.op());
    if (!stored)
      return stored;
    OpDef *op = &stored->op;
    if (control::hasBody(op->info()) != node.has_body())
      return damaged("a body must be there for " + op->name() + " if it is a loop, got " +
                     (node.has_body() ? "one" : "none"));
    if (node.has_body()) {
      Subgraph graph;
      if (llvm::Error error = readBody(node.body(), graph))
        return std::move(error);
      op->set("body", BodyRef(std::make_shared<const Body>(std::move(graph))));
    } else if (llvm::Error error = checkSymbols(*op, inBody)) {
      return std::move(error);
    }
    return stored;
  }

  /// The sizes of the groups of operands; groups that the operator got after the file was written have none.
  static SmallVector<unsigned> groupsOf(const OpDef &op, const proto::Node &node) {
    SmallVector<unsigned> groups(node.segments().begin(), node.segments().end());
    if (!groups.empty() && groups.size() < op.info().operands.size())
      groups.resize(op.info().operands.size());
    return groups;
  }

  /// Checks that the operands of `op` are among the first `numKnown` values, and are grouped.
  llvm::Error checkOperands(const OpDef &op, const proto::Node &node, unsigned numKnown) {
    for (unsigned operand : node.operands())
      if (operand >= numKnown)
        return damaged("operand of " + op.name() + " must be below " + Twine(numKnown) + ", got " + Twine(operand));
    uint64_t total = 0;
    for (unsigned count : node.segments())
      total += count;
    size_t numOperands = node.operands_size(), numGroups = node.segments_size(), most = op.info().operands.size();
    auto isMissing = [&](const OperandInfo &group) { return group.arity == Arity::One; };
    bool lacks = numGroups <= most && any_of(op.info().operands.drop_front(numGroups), isMissing);
    if (numGroups && (total != numOperands || numGroups > most || lacks))
      return damaged("operand groups of " + op.name() + " must add up to " + Twine(numOperands) + ", got " +
                     Twine(total));
    return llvm::Error::success();
  }

  /// Counts values of bodies, of which there are fewer than bytes: their numbers must not take any memory.
  llvm::Error takeValues(uint64_t count) {
    if (count > valuesLeft)
      return damaged("bodies must have at most " + Twine(in.ByteSizeLong()) + " values, got more");
    valuesLeft -= count;
    return llvm::Error::success();
  }

  /// The operators of a body, which inference checks where it is applied.
  llvm::Error readBody(const proto::Body &body, Subgraph &graph) {
    if (llvm::Error error = takeValues(body.inputs()))
      return error;
    for (unsigned i = 0; i < body.inputs(); ++i)
      graph.inputs.push_back(graph.numValues++);
    graph.inputUsed.assign(graph.inputs.size(), true);
    for (const proto::Node &from : body.nodes()) {
      Subgraph::Node &node = graph.nodes.emplace_back();
      llvm::Expected<StoredOp> stored = readOp(from, /*inBody=*/true);
      if (!stored)
        return stored.takeError();
      node.op = std::move(stored->op);
      if (stored->split)
        return makeError(ErrorCode::Unimplemented, "graph: operators in a loop must be one each, got version " +
                                                       Twine(stored->split->version) + " of " + node.op.name() +
                                                       ", which is several by now");
      if (llvm::Error error = checkOperands(node.op, from, unsigned(graph.numValues)))
        return error;
      if (llvm::Error error = takeValues(from.results()))
        return error;
      node.inputs.assign(from.operands().begin(), from.operands().end());
      node.segments.assign(groupsOf(node.op, from));
      node.location = from.location();
      for (unsigned i = 0; i < from.results(); ++i)
        node.outputs.push_back(graph.numValues++);
    }
    for (unsigned output : body.outputs()) {
      if (output >= unsigned(graph.numValues))
        return damaged("output of a body must be below " + Twine(graph.numValues) + ", got " + Twine(output));
      graph.outputs.push_back(int(output));
    }
    return llvm::Error::success();
  }

  using Values = SmallVector<GraphBuilder::Value, 4>;

  /// Appends what `stored` is, one operator or several, and returns its results.
  llvm::Expected<Values> applied(const StoredOp &stored, const proto::Node &node) {
    Values operands;
    for (unsigned operand : node.operands())
      operands.push_back(values[operand]);
    if (!stored.split)
      return builder.apply(stored.op, operands, groupsOf(stored.op, node), node.location());
    Metas metas;
    for (GraphBuilder::Value operand : operands)
      metas.push_back(builder.meta(operand));
    llvm::Expected<Subgraph> graph = splitGraph(stored, metas);
    if (!graph)
      return graph.takeError();
    return builder.apply(*graph, operands, node.location());
  }

  llvm::Error readNode(const proto::Node &node) {
    llvm::Expected<StoredOp> stored = readOp(node, /*inBody=*/false);
    if (!stored)
      return stored.takeError();
    if (llvm::Error error = checkOperands(stored->op, node, unsigned(values.size())))
      return error;
    llvm::Expected<Values> results = applied(*stored, node);
    if (!results)
      return results.takeError();
    if (!node.name().empty() && !results->empty())
      builder.setName(results->front(), node.name());
    values.append(results->begin(), results->end());
    return readDataSizes(node, stored->op, *results);
  }

  llvm::Error readOutputs() {
    for (const proto::Output &output : in.outputs()) {
      if (output.value() >= values.size())
        return damaged("output must be a value below " + Twine(values.size()) + ", got " + Twine(output.value()));
      if (output.donates() < -1 || output.donates() >= in.inputs_size())
        return damaged("donated input must be in [-1, " + Twine(in.inputs_size()) + "), got " +
                       Twine(output.donates()));
      builder.output(values[output.value()], output.name(), output.donates());
    }
    return llvm::Error::success();
  }

  const proto::Graph &in;
  GraphBuilder builder;
  llvm::StringMap<const Graph::TensorRef *> tensorOf;
  llvm::DenseSet<uint32_t> dataSizes;      // numbers that have been named
  SmallVector<GraphBuilder::Value> values; // by the file's numbers
  uint64_t valuesLeft = in.ByteSizeLong();
};

} // namespace

llvm::Expected<std::string> Graph::serialize(std::vector<TensorRef> &tensors) const {
  proto::Graph out;
  Writer(pimpl->main(), out, tensors).write();
  out.set_bits_version(pimpl->bitsVersion);
  std::string bytes;
  if (!out.SerializeToString(&bytes))
    return makeError(ErrorCode::ResourceExhausted, "graph: section must be at most 2 GiB, got a larger one");
  return bytes;
}

llvm::Expected<Graph> Graph::parse(StringRef bytes, ArrayRef<TensorRef> tensors) {
  proto::Graph in;
  if (llvm::Error error = runtime::parseMessage(bytes, in, "graph"))
    return std::move(error);
  return Reader(in, tensors).read();
}

} // namespace tess::ir
