//===- ExecutableParse.cpp - bytes -> Executable --------------------------===//
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/Quantization.h"
#include "runtime/schema/Executable.pb.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/Features.h"
#include "runtime/schema/MessageParse.h"

#include <google/protobuf/arena.h>

namespace tess::runtime {

namespace {

/// Reads one message tree; the first fault ends the reading.
class Reader {
public:
  explicit Reader(llvm::StringRef what) : what(what) {}

  llvm::Expected<Executable> read(const pb::Executable &in);

private:
  llvm::Error bad(const llvm::Twine &message) { return makeError(ErrorCode::DataLoss, what + ": " + message); }
  llvm::Error enumeration(const char *name, uint32_t value, uint32_t count);
  llvm::Error readQuantized(const pb::Executable &in);
  llvm::Error readDType(const char *name, uint32_t value, DType &out);
  llvm::Error read(const pb::Image &in, Image &out);
  llvm::Error read(const pb::Value &in, ValueDecl &out);
  llvm::Error read(const pb::Node &in, ProgramNode &out);
  llvm::Error read(const pb::Step &in, Step &out);
  llvm::Error read(const pb::Loop &in, LoopDecl &out);
  llvm::Error readKernelPart(const pb::Step &in, Step &out);
  llvm::Error readGroups(const google::protobuf::RepeatedPtrField<pb::Group> &in, AxisGroups &out);
  llvm::Error read(const pb::Constant &in, ConstantDecl &out);
  llvm::Error read(const pb::Input &in, InputDecl &out);
  llvm::Error readOp(const std::string &text, OpDef &out);

  llvm::StringRef what;
  std::vector<DType> quantized;
};

} // namespace

llvm::Error Reader::enumeration(const char *name, uint32_t value, uint32_t count) {
  if (value < count)
    return llvm::Error::success();
  return bad(llvm::Twine(name) + " must be below " + llvm::Twine(count) + ", got " + llvm::Twine(value));
}

llvm::Error Reader::readQuantized(const pb::Executable &in) {
  for (const std::string &name : in.quantized()) {
    std::optional<DType> dtype = parseDType(name);
    if (!dtype || !parametersOf(*dtype))
      return bad("a quantized dtype must have a kind and a scale, got '" + name + "'");
    quantized.push_back(*dtype);
  }
  return llvm::Error::success();
}

llvm::Error Reader::readDType(const char *name, uint32_t value, DType &out) {
  uint32_t number = parametersOf(DType(value));
  out = kindOf(DType(value));
  if (!number)
    return enumeration(name, value, kNumDTypes);
  if (number > quantized.size() || kindOf(quantized[number - 1]) != out)
    return bad(llvm::Twine(name) + " must be one of " + llvm::Twine(quantized.size()) + " quantized ones, got number " +
               llvm::Twine(number));
  out = quantized[number - 1];
  return llvm::Error::success();
}

llvm::Error Reader::readOp(const std::string &text, OpDef &out) {
  llvm::Expected<OpDef> op = OpDef::parse(text);
  if (!op) {
    auto [code, message] = takeError(op.takeError());
    return makeError(code == ErrorCode::Unimplemented ? code : ErrorCode::DataLoss, what + ": " + message);
  }
  out = std::move(*op);
  return llvm::Error::success();
}

llvm::Error Reader::read(const pb::Image &in, Image &out) {
  out.bytes = in.code();
  out.features = in.features();
  out.hash = in.hash();
  out.abi = std::max(in.abi(), 1u);
  if (llvm::Error e = enumeration("kind of an image", in.kind(), unsigned(ImageKind::Ptx) + 1))
    return e;
  out.kind = ImageKind(in.kind());
  for (const pb::Entry &entry : in.entries()) {
    uint32_t time = entry.picoseconds_per_element();
    out.entries.push_back({entry.name(), entry.offset(), entry.scratch_bytes_per_element(),
                           time ? time : kDefaultPicoseconds, entry.scratch_bytes_per_chunk(),
                           GridEntry{entry.num_pointers(), entry.num_dims(), entry.team()}});
  }
  return llvm::Error::success();
}

llvm::Error Reader::read(const pb::Value &in, ValueDecl &out) {
  if (llvm::Error e = enumeration("kind of a value", in.kind(), unsigned(ValueKind::Argument) + 1))
    return e;
  DType dtype;
  if (llvm::Error e = readDType("dtype of a value", in.dtype(), dtype))
    return e;
  out = {ValueKind(in.kind()), dtype, in.base(), in.constant(), in.name(), in.location()};
  return llvm::Error::success();
}

llvm::Error Reader::read(const pb::Node &in, ProgramNode &out) {
  out.operands.assign(in.operands().begin(), in.operands().end());
  out.segments.assign(in.segments().begin(), in.segments().end());
  out.results.assign(in.results().begin(), in.results().end());
  out.loop = int32_t(in.loop() - 1);
  return in.op().empty() && in.loop() ? llvm::Error::success() : readOp(in.op(), out.op);
}

llvm::Error Reader::read(const pb::Loop &in, LoopDecl &out) {
  out.arguments.assign(in.arguments().begin(), in.arguments().end());
  out.yields.assign(in.yields().begin(), in.yields().end());
  out.numCarried = in.num_carried();
  out.numNodes = in.num_nodes();
  out.numSteps = in.num_steps();
  out.length = in.length();
  out.reverse = in.reverse();
  out.isGuarded = in.guarded();
  return llvm::Error::success();
}

llvm::Error Reader::readGroups(const google::protobuf::RepeatedPtrField<pb::Group> &in, AxisGroups &out) {
  for (const pb::Group &group : in) {
    if (group.first() > kMaxRank || group.last() > kMaxRank)
      return bad("an axis group must end at " + llvm::Twine(kMaxRank) + ", got " + llvm::Twine(group.first()) + ".." +
                 llvm::Twine(group.last()));
    out.push_back({uint8_t(group.first()), uint8_t(group.last())});
  }
  return llvm::Error::success();
}

llvm::Error Reader::readKernelPart(const pb::Step &in, Step &out) {
  out.domain.assign(in.domain().begin(), in.domain().end());
  if (llvm::Error e = readGroups(in.parallel(), out.parallel))
    return e;
  if (llvm::Error e = readGroups(in.reduced(), out.reduced))
    return e;
  out.vectorOnReduced = in.vector_on_reduced();
  for (char inner : in.inner_classes())
    out.innerClasses.push_back(InnerClass(uint8_t(inner)));
  for (const pb::Scalar &scalar : in.scalars()) {
    if (llvm::Error e = enumeration("kind of a scalar", scalar.kind(), ScalarSource::Size + 1))
      return e;
    out.scalars.push_back({ScalarSource::Kind(scalar.kind()), scalar.bits(), scalar.parameter()});
  }
  for (const pb::Lookup &lookup : in.lookups()) {
    if (lookup.operand() > UINT16_MAX || lookup.axis() > UINT8_MAX)
      return bad("a lookup must have an operand below 65536 and an axis below 256, got " +
                 llvm::Twine(lookup.operand()) + ", " + llvm::Twine(lookup.axis()));
    out.lookups.push_back({uint16_t(lookup.operand()), uint8_t(lookup.axis()), lookup.node()});
  }
  out.image = in.image();
  out.entry = in.entry();
  out.fillEntry = in.fill_entry();
  return llvm::Error::success();
}

llvm::Error Reader::read(const pb::Step &in, Step &out) {
  if (llvm::Error e = enumeration("kind of a step", in.kind(), unsigned(StepKind::Loop) + 1))
    return e;
  out.kind = StepKind(in.kind());
  out.operands.assign(in.operands().begin(), in.operands().end());
  out.results.assign(in.results().begin(), in.results().end());
  if (llvm::Error e = readKernelPart(in, out))
    return e;
  if (!in.op().empty())
    if (llvm::Error e = readOp(in.op(), out.op))
      return e;
  out.segments.assign(in.segments().begin(), in.segments().end());
  if (in.epilogue_size())
    return makeError(ErrorCode::Unimplemented, what + ": a call must have no epilogue, got " + in.epilogue(0) +
                                                   ", written by an older Tessera: compile the file's graph again");
  for (const pb::Pair &pair : in.inplace()) {
    if (pair.operand() > UINT16_MAX || pair.result() > UINT16_MAX)
      return bad("an in-place pair must be below 65536, got " + llvm::Twine(pair.operand()) + ", " +
                 llvm::Twine(pair.result()));
    out.inplace.push_back({uint16_t(pair.operand()), uint16_t(pair.result())});
  }
  out.implementation = in.implementation();
  out.location = in.location();
  out.loop = int32_t(in.loop() - 1);
  return llvm::Error::success();
}

llvm::Error Reader::read(const pb::Constant &in, ConstantDecl &out) {
  if (llvm::Error e = readDType("dtype of a constant", in.dtype(), out.meta.dtype))
    return e;
  if (in.shape_size() > int(kMaxRank))
    return bad("rank of a constant must be at most " + llvm::Twine(kMaxRank) + ", got " + llvm::Twine(in.shape_size()));
  out.meta.shape.assign(in.shape().begin(), in.shape().end());
  out.bytes = in.content();
  out.tensor = in.tensor();
  return llvm::Error::success();
}

llvm::Error Reader::read(const pb::Input &in, InputDecl &out) {
  if (llvm::Error e = readDType("dtype of an input", in.dtype(), out.dtype))
    return e;
  out.name = in.name();
  out.value = in.value();
  for (const pb::Dim &dim : in.dims())
    out.dims.push_back({dim.size(), dim.symbol()});
  out.initial = int32_t(in.initial() - 1);
  return llvm::Error::success();
}

llvm::Expected<Executable> Reader::read(const pb::Executable &in) {
  Executable out;
  if (llvm::Error e = readQuantized(in))
    return std::move(e);
  out.target = in.target();
  out.numThreads = in.num_threads();
  out.withoutWinograd = in.without_winograd();
  out.isFast = in.fast();
  out.numScalars = in.num_scalars();
  out.bitsVersion = in.bits_version();
  for (const pb::Symbol &symbol : in.symbols())
    out.symbols.push_back({symbol.name(), symbol.min(), symbol.max()});
  for (const pb::DataSize &size : in.data_sizes())
    out.dataSizes.push_back({size.value(), size.axis()});
  for (const pb::Output &output : in.outputs())
    out.outputs.push_back({output.name(), output.value(), output.donates()});
  auto readAll = [&](const auto &from, auto &to) -> llvm::Error {
    to.reserve(from.size());
    for (const auto &item : from)
      if (llvm::Error e = read(item, to.emplace_back()))
        return e;
    return llvm::Error::success();
  };
  for (int count : {in.nodes_size(), in.steps_size(), in.loops_size()})
    if (count > in.values_size())
      return bad("nodes and steps must define values of their own, got " + llvm::Twine(count) + " for " +
                 llvm::Twine(in.values_size()) + " values");
  if (llvm::Error e = readAll(in.values(), out.values))
    return e;
  if (llvm::Error e = readAll(in.nodes(), out.nodes))
    return e;
  if (llvm::Error e = readAll(in.steps(), out.steps))
    return e;
  if (llvm::Error e = readAll(in.loops(), out.loops))
    return e;
  if (llvm::Error e = readAll(in.images(), out.images))
    return e;
  if (llvm::Error e = readAll(in.constants(), out.constants))
    return e;
  if (llvm::Error e = readAll(in.inputs(), out.inputs))
    return e;
  return out;
}

namespace {

/// A message whose parts are allocated and freed together; that of a small program takes nothing from the heap.
class Message {
public:
  Message() : arena(block, sizeof block), root(google::protobuf::Arena::CreateMessage<pb::Executable>(&arena)) {}
  pb::Executable &operator*() { return *root; }

private:
  alignas(8) char block[16384];
  google::protobuf::Arena arena;
  pb::Executable *root;
};

} // namespace

static llvm::Error checkVersion(const pb::Executable &in, llvm::StringRef what) {
  if (in.version() > kFeatureFormat)
    return makeError(ErrorCode::Unimplemented, what + ": version of the executable must be at most " +
                                                   llvm::Twine(kFeatureFormat) + ", got " + llvm::Twine(in.version()) +
                                                   ", written by a newer Tessera");
  if (in.version() == 0)
    return makeError(ErrorCode::DataLoss, what + ": version of the executable must be at least 1, got 0");
  return llvm::Error::success();
}

llvm::Expected<Executable> parseExecutable(llvm::StringRef bytes, llvm::StringRef what) {
  Message in;
  if (llvm::Error e = parseMessage(bytes, *in, what))
    return std::move(e);
  if (llvm::Error e = checkVersion(*in, what))
    return std::move(e);
  llvm::SmallVector<llvm::StringRef> names((*in).critical_features().begin(), (*in).critical_features().end());
  llvm::Expected<Features> features = readFeatures((*in).version(), names, what);
  if (!features)
    return features.takeError();
  llvm::Expected<Executable> executable = Reader(what).read(*in);
  if (!executable)
    return executable;
  if (llvm::Error e = validate(*executable, what))
    return std::move(e);
  if (llvm::Error e = checkFeatures((*in).version(), *features, featuresOf(*executable), what))
    return std::move(e);
  return executable;
}

} // namespace tess::runtime
