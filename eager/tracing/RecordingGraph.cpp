//===- RecordingGraph.cpp - a recording as a graph -----------------------===//
#include "eager/tracing/RecordingGraph.h"
#include "eager/stack/Apply.h"
#include "eager/tensor/Queue.h"
#include "eager/tracing/SymbolicShapes.h"
#include "ir/SizeChecks.h"
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cstring>

namespace tess::eager {

namespace {

class GraphWriter {
public:
  GraphWriter(const Recording &recording, const GraphOptions &options)
      : recording(recording), options(options), numbers(recording.values().size(), -1), donated(options.donated) {}
  llvm::Expected<ir::Graph> write();

private:
  void writeArguments();
  llvm::Error writeCaptured();
  llvm::Error writeUnread();
  llvm::Error writeOps();
  OpDef withKnownSizes(const Recording::Op &op);
  int dimOf(uint32_t symbol) const;
  int64_t namedOnce(uint32_t symbol) const;
  llvm::Error writeChecks(const Recording::Op &op, llvm::MutableArrayRef<ir::GraphBuilder::Value> operands);
  int64_t sizeOf(uint32_t symbol);
  int64_t dataSizeOf(uint32_t symbol);
  llvm::Error writeOutputs();
  llvm::Error writeUpdate(unsigned index);
  llvm::Expected<ir::GraphBuilder::Value> valueOf(uint32_t number);
  int donatedFor(uint32_t output);
  void addInput(uint32_t number, llvm::StringRef name, llvm::ArrayRef<int> dims);
  llvm::Expected<ir::GraphBuilder::Value> addState(TensorImpl &variable, const TensorMeta &meta, llvm::StringRef name);

  const Recording &recording;
  const GraphOptions &options;
  ir::GraphBuilder builder;
  std::vector<ir::GraphBuilder::Value> numbers;
  SymbolicShapes shapes;
  int numInputs = 0;                            // the arguments are the first
  llvm::DenseMap<uint32_t, uint32_t> dataSizes; // by symbol of the recording: number in the graph
  llvm::StringSet<> names;
  llvm::DenseMap<const TensorImpl *, int> inputOf; // for updated variables
  std::vector<unsigned> donated;                   // arguments whose memory no result has taken over
};

void GraphWriter::addInput(uint32_t number, llvm::StringRef name, llvm::ArrayRef<int> dims) {
  TensorMeta meta = recording.values()[number].meta;
  for (unsigned axis = 0; axis < dims.size() && axis < meta.rank(); ++axis)
    if (dims[axis] >= 0)
      meta.shape[axis] = kUnknown;
  numbers[number] = builder.input(name, meta, dims);
  ++numInputs;
  names.insert(name);
}

void GraphWriter::writeArguments() {
  for (auto [i, number] : llvm::enumerate(recording.arguments())) {
    std::string name = i < options.argumentNames.size() ? options.argumentNames[i] : "arg" + std::to_string(i);
    addInput(number, name, i < options.argumentDims.size() ? options.argumentDims[i] : ArgumentDims());
  }
}

/// Adds an input whose initial value is the variable's current one. Names are keys of the state: a second "weight"
/// becomes "weight_2".
llvm::Expected<ir::GraphBuilder::Value> GraphWriter::addState(TensorImpl &variable, const TensorMeta &meta,
                                                              llvm::StringRef name) {
  if (!variable.hasMeta(meta))
    return invalidArgument("dump: an updated tensor must keep its dtype and shape, got " + name + " of " +
                           toString(variable.meta()) + " for " + toString(meta));
  std::string bytes(meta.numElements() * byteWidth(meta.dtype), '\0');
  if (llvm::Error e = readValue(variable, bytes.data()))
    return std::move(e);
  std::string unique = name.str();
  for (unsigned i = 2; !names.insert(unique).second; ++i)
    unique = (name + "_" + llvm::Twine(i)).str();
  inputOf[&variable] = numInputs++;
  return builder.input(unique, meta, {}, bytes);
}

llvm::Error GraphWriter::writeCaptured() {
  for (auto [i, number] : llvm::enumerate(recording.captured())) {
    if (options.captureAsConstants && !isUpdated(recording, number))
      continue; // written as a constant where it is used
    const Recording::Value &value = recording.values()[number];
    std::string name = value.name.empty() ? "captured" + std::to_string(i) : value.name;
    if (!options.keepsState) {
      inputOf[value.tensor.get()] = numInputs;
      addInput(number, name, {});
      continue;
    }
    if (llvm::Error e = addState(*value.tensor, value.meta, name).moveInto(numbers[number]))
      return e;
  }
  return options.keepsState ? writeUnread() : llvm::Error::success();
}

/// Adds inputs for updated variables that the function does not read.
llvm::Error GraphWriter::writeUnread() {
  for (const Recording::Update &update : recording.updates()) {
    if (!update.variable || inputOf.contains(update.variable.get()))
      continue;
    llvm::StringRef name = update.variable->name();
    const TensorMeta &meta = recording.values()[update.value].meta;
    if (llvm::Error e = addState(*update.variable, meta, name.empty() ? "unread" : name).takeError())
      return e;
  }
  return llvm::Error::success();
}

/// Whether the memory keeps the tensor's value as long as somebody refers to it: nobody may write it.
static bool keepsValue(const TensorImpl &tensor) {
  const Storage &storage = tensor.storage();
  const bool isWritable = storage.isForeign() || storage.isExposed() || storage.lineage();
  return tensor.isContiguous() && storage.device().computes() && storage.device().hostAccessible() && !isWritable;
}

/// The value as it is now, where it lies if it stays there, else as a copy.
static llvm::Expected<runtime::HeldBytes> contentOf(TensorImpl &tensor) {
  const auto bytes = size_t(tensor.numElements() * byteWidth(tensor.dtype()));
  if (keepsValue(tensor)) {
    if (llvm::Error e = awaitValue(tensor.storage()))
      return std::move(e);
    tensor.storage().noteCopy();
    tensor.storage().noteConstant();
    return runtime::hold({tensor.data(), bytes}, std::make_shared<StorageRef>(&tensor.storage()));
  }
  llvm::Expected<std::string> copy = bytesOfConstant(tensor);
  if (!copy)
    return copy.takeError();
  return runtime::holdCopy(*copy);
}

llvm::Expected<ir::GraphBuilder::Value> GraphWriter::valueOf(uint32_t number) {
  if (numbers[number] >= 0)
    return numbers[number];
  const Recording::Value &value = recording.values()[number];
  llvm::Expected<runtime::HeldBytes> content = contentOf(value.snapshot ? *value.snapshot : *value.tensor);
  if (!content)
    return content.takeError();
  return numbers[number] = builder.constant(value.meta, std::move(*content), value.name);
}

/// The symbol of the graph for the size of a value that data decides.
int64_t GraphWriter::dataSizeOf(uint32_t symbol) {
  auto [number, isNew] = dataSizes.try_emplace(symbol, uint32_t(dataSizes.size()));
  if (isNew)
    builder.nameSize(numbers[ownerOf(symbol)], axisOf(symbol), number->second);
  return sizes::symbol(sizes::kDataSymbols + number->second);
}

/// The named dimension that the size of a value's axis is; -1: none.
int GraphWriter::dimOf(uint32_t symbol) const {
  unsigned axis = axisOf(symbol);
  size_t argument = llvm::find(recording.arguments(), ownerOf(symbol)) - recording.arguments().begin();
  if (argument < options.argumentDims.size() && axis < options.argumentDims[argument].size())
    return options.argumentDims[argument][axis];
  return -1;
}

/// Whether data decides the size in each run.
static bool isOfData(const Recording &recording, uint32_t symbol) {
  return symbol >= sizes::kDataSymbols && recording.values()[ownerOf(symbol)].kind == Recording::ValueKind::Computed;
}

/// The symbol of the graph that the size of a value's axis is, or the number that it was.
int64_t GraphWriter::sizeOf(uint32_t symbol) {
  if (int dim = dimOf(symbol); dim >= 0)
    return sizes::symbol(dim);
  return isOfData(recording, symbol) ? dataSizeOf(symbol) : recording.sizeOf(symbol);
}

/// A symbol of the recording that is the same for all axes of one named dimension; the number of a size that is fixed.
int64_t GraphWriter::namedOnce(uint32_t symbol) const {
  int dim = dimOf(symbol);
  if (dim < 0)
    return isOfData(recording, symbol) ? sizes::symbol(symbol) : recording.sizeOf(symbol);
  for (auto [argument, dims] : llvm::enumerate(options.argumentDims))
    if (const auto *axis = llvm::find(dims, dim); axis != dims.end())
      return sizes::symbol(symbolOf(recording.arguments()[argument], unsigned(axis - dims.begin())));
  return sizes::symbol(symbol);
}

/// The operator with what its `normalise` makes of sizes that are the same in all runs, or expressions: the -1 of
/// reshape(x, (n, -1)) is 1 where x has n elements, which inference from unknown sizes would not know.
OpDef GraphWriter::withKnownSizes(const Recording::Op &op) {
  if (!op.op.info().normalise || !op.op.info().hasSizes())
    return op.op;
  Metas operands;
  for (uint32_t input : op.inputs) {
    TensorMeta &meta = operands.emplace_back(builder.meta(numbers[input]));
    for (auto [size, expression] : llvm::zip_equal(meta.shape, shapes.of(recording, input)))
      size = size == kUnknown && sizes::isSymbolic(expression) ? expression : size;
  }
  OpDef normal = op.op;
  if (llvm::Error error = op.op.info().normalise(normal, operands)) {
    llvm::consumeError(std::move(error)); // inference refuses it, with its line
    return op.op;
  }
  return normal;
}

/// Appends what checks the sizes that `op` needs equal, where their expressions do not show it.
llvm::Error GraphWriter::writeChecks(const Recording::Op &op, llvm::MutableArrayRef<ir::GraphBuilder::Value> operands) {
  auto once = [&](uint32_t symbol) { return namedOnce(symbol); };
  Metas metas;
  for (uint32_t input : op.inputs) {
    TensorMeta &meta = metas.emplace_back(recording.values()[input].meta.dtype, shapes.of(recording, input));
    for (int64_t &size : meta.shape)
      size = sizes::substitute(size, once);
  }
  auto checks = ir::sizeChecks(op.op.withSymbols(once), metas, op.segments);
  auto isOfArguments = [&](const ir::SizeCheck &check) {
    return !sizes::dependsOnData(check.size) && !sizes::dependsOnData(metas[check.operand].shape[check.axis]);
  };
  if (!options.checksSizes)
    llvm::erase_if(checks, isOfArguments);
  for (ir::SizeCheck &check : checks)
    check.size = sizes::substitute(check.size, [&](uint32_t symbol) { return sizeOf(symbol); });
  return ir::appendChecks(builder, op.op, checks, operands, op.location.describe());
}

llvm::Error GraphWriter::writeOps() {
  const bool checksSizes = options.checksSizes || recording.hasDataSizes();
  for (const Recording::Op &op : recording.ops()) {
    llvm::SmallVector<ir::GraphBuilder::Value, 4> operands;
    for (uint32_t input : op.inputs) {
      if (llvm::Error e = valueOf(input).moveInto(operands.emplace_back()))
        return e;
    }
    if (checksSizes && ir::needsSizeChecks(op.op))
      if (llvm::Error e = writeChecks(op, operands))
        return e;
    OpDef made = withKnownSizes(op);
    if (made.hasExpressions())
      made = made.withSymbols([&](uint32_t symbol) { return sizeOf(symbol); });
    auto results = builder.apply(made, operands, op.segments, op.location.describe());
    if (!results)
      return results.takeError();
    for (auto [output, value] : llvm::zip(op.outputs, *results)) {
      numbers[output] = value;
      if (!recording.values()[output].name.empty())
        builder.setName(value, recording.values()[output].name);
    }
  }
  return llvm::Error::success();
}

/// The input whose memory the output may take over; -1: none. Where data decides the output's size there is none.
int GraphWriter::donatedFor(uint32_t output) {
  if (!builder.meta(numbers[output]).isStatic())
    return -1;
  auto fits = llvm::find_if(donated, [&](unsigned argument) {
    uint32_t number = recording.arguments()[argument];
    bool isUpdated = llvm::any_of(recording.updates(), [&](auto &update) { return update.argument == int(argument); });
    return number != output && !isUpdated && recording.values()[number].meta == recording.values()[output].meta;
  });
  if (fits == donated.end())
    return -1;
  int input = *fits;
  donated.erase(fits);
  return input;
}

llvm::Error GraphWriter::writeOutputs() {
  for (auto [i, number] : llvm::enumerate(recording.outputs())) {
    llvm::Expected<ir::GraphBuilder::Value> value = valueOf(number);
    if (!value)
      return value.takeError();
    builder.output(*value, i < options.outputNames.size() ? options.outputNames[i] : "output" + std::to_string(i),
                   donatedFor(number));
  }
  auto isState = [&](const Recording::Update &update) { return options.keepsState && update.variable; };
  for (bool ofState : {false, true})
    for (auto [i, update] : llvm::enumerate(recording.updates()))
      if (isState(update) == ofState)
        if (llvm::Error e = writeUpdate(i))
          return e;
  return llvm::Error::success();
}

llvm::Error GraphWriter::writeUpdate(unsigned index) {
  const Recording::Update &update = recording.updates()[index];
  const TensorMeta &meta = recording.values()[update.value].meta;
  if (options.keepsState && update.variable && !update.variable->hasMeta(meta))
    return invalidArgument("dump: an updated tensor must keep its dtype and shape, got " +
                           toString(update.variable->meta()) + " and " + toString(meta));
  llvm::Expected<ir::GraphBuilder::Value> value = valueOf(update.value);
  if (!value)
    return value.takeError();
  builder.output(*value, "update" + std::to_string(index), inputOf.lookup_or(update.variable.get(), -1));
  return llvm::Error::success();
}

llvm::Expected<ir::Graph> GraphWriter::write() {
  builder.setNumerics(options.numerics);
  for (const ir::NamedDim &dim : options.dims)
    (void)builder.dim(dim);
  writeArguments();
  if (llvm::Error e = writeCaptured())
    return std::move(e);
  if (llvm::Error e = writeOps())
    return std::move(e);
  if (llvm::Error e = writeOutputs())
    return std::move(e);
  return builder.finish();
}

} // namespace

llvm::Expected<std::string> bytesOfConstant(TensorImpl &constant) {
  std::string bytes(constant.numElements() * byteWidth(constant.dtype()), '\0');
  if (constant.storage().device().computes()) {
    if (llvm::Error e = readValue(constant, bytes.data()))
      return std::move(e);
  } else if (constant.data()) {
    std::memcpy(bytes.data(), constant.data(), bytes.size());
  }
  return bytes;
}

bool isUpdated(const Recording &recording, uint32_t number) {
  const TensorImpl *variable = recording.values()[number].tensor.get();
  return llvm::any_of(recording.updates(),
                      [&](const Recording::Update &update) { return update.variable.get() == variable; });
}

llvm::Expected<ir::Graph> buildGraph(const Recording &recording, const GraphOptions &options) {
  return GraphWriter(recording, options).write();
}

} // namespace tess::eager
