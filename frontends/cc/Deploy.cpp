//===- Deploy.cpp - run a .tess file from C++ -----------------------------===//
#include "tessera/deploy.h"
#include "frontends/cc/PickExecutable.h"
#include "ops/custom/RecordFiles.h"
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/Quantization.h"
#include "runtime/Devices.h"
#include "runtime/bind/FileConstants.h"
#include "runtime/device/Allocator.h"
#include "runtime/device/KernelSettings.h"
#include "runtime/device/Profiler.h"
#include "runtime/run/Executor.h"
#include "runtime/schema/TestCases.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/ScopeExit.h"

#include <atomic>
#include <map>
#include <mutex>

using namespace tess;
using namespace tess::runtime;

namespace tessera::deploy {

// The public header repeats the dtypes of ops/ without LLVM's types; values are cast between the two.
#define TESS_DTYPE(ENUMERATOR, ...) static_assert(unsigned(DType::ENUMERATOR) == unsigned(tess::DType::ENUMERATOR));
#include "ops/vocabulary/DType.def"

static Code codeOf(ErrorCode code) {
  switch (code) { // without a default, so that a new code does not compile
  case ErrorCode::InvalidArgument:
    return Code::InvalidArgument;
  case ErrorCode::TypeMismatch:
    return Code::TypeMismatch;
  case ErrorCode::OutOfRange:
    return Code::OutOfRange;
  case ErrorCode::NotFound:
    return Code::NotFound;
  case ErrorCode::Unimplemented:
    return Code::Unimplemented;
  case ErrorCode::ResourceExhausted:
    return Code::ResourceExhausted;
  case ErrorCode::DataLoss:
    return Code::DataLoss;
  case ErrorCode::IoError:
    return Code::IoError;
  case ErrorCode::Internal:
    return Code::Internal;
  }
  return Code::Internal;
}

static Status toStatus(llvm::Error error) {
  if (!error)
    return {};
  auto [code, message] = tess::takeError(std::move(error));
  return {codeOf(code), std::move(message)};
}

size_t byteWidth(DType dtype) { return size_t(tess::byteWidth(tess::DType(dtype))); }
const char *name(DType dtype) { return numpyName(tess::DType(dtype)).data(); }

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

namespace {
/// The state that a model keeps between runs: the buffers of the inputs that hold it, in their order.
struct State {
  std::mutex mutex; // held during a run, which reads and writes the buffers
  std::vector<BufferRef> buffers;
  uint64_t bytes = 0;

  llvm::Error fill(const Program &program);
};
} // namespace

llvm::Error State::fill(const Program &program) {
  const Executable &exe = program.executable();
  for (size_t input = exe.numArguments(); input < exe.inputs.size(); ++input) {
    llvm::Expected<llvm::StringRef> initial = program.initialValue(input);
    if (!initial)
      return initial.takeError();
    llvm::Expected<BufferRef> buffer = Buffer::allocate(program.device(), initial->size());
    if (!buffer)
      return buffer.takeError();
    if (llvm::Error error =
            program.device().defaultStream().copyIn((*buffer)->data(), initial->data(), initial->size()))
      return error;
    bytes += initial->size();
    buffers.push_back(std::move(*buffer));
  }
  return llvm::Error::success();
}

struct Session::Impl {
  std::shared_ptr<Container> file;
  std::shared_ptr<State> state; // null: no state
  BoundRef bound;
  std::vector<Shape> shapes;
  std::vector<size_t> bytes;
  std::vector<size_t> inputBytes;
  Memory memory;
  llvm::SmallVector<void *, 8> inputs, outputs; // of a run; `outputs` is used with state only
  std::atomic<bool> isRunning = false;
  // Where the host does not address the device's memory: there, what a run is given and gives.
  std::vector<BufferRef> givenThere, resultsThere;

  void setShapes(llvm::ArrayRef<TensorMeta> metas) {
    for (auto [shape, meta] : llvm::zip(shapes, metas)) { // updates of state come after the results
      shape.assign(meta.shape.begin(), meta.shape.end());
      llvm::replace(shape, kUnknown, int64_t(-1));
    }
  }
  llvm::Error allocateThere(llvm::ArrayRef<TensorMeta> given);
  llvm::Error checkCounts(size_t numInputs, size_t numOutputs) const;
  llvm::Error checkPointers(llvm::ArrayRef<void *> given) const;
  llvm::Expected<void *> ask(const OutputMemory &memory, size_t output, size_t wanted) const;
  llvm::Error runWithState(llvm::ArrayRef<void *> given, const RunOptions &options);
  llvm::Error runBound(llvm::ArrayRef<void *> given, const RunOptions &options) {
    return state ? runWithState(given, options) : runtime::run(*bound, inputs, given, {}, options);
  }
  llvm::Error runHere(llvm::ArrayRef<void *> given, const OutputMemory &memory);
  llvm::Error copyResults(llvm::ArrayRef<void *> given, const OutputMemory &memory);
  llvm::Error runThere(llvm::ArrayRef<void *> given, const OutputMemory &memory);
};

static size_t bytesOf(const TensorMeta &meta) { return size_t(meta.numElements() * tess::byteWidth(meta.dtype)); }

llvm::Error Session::Impl::allocateThere(llvm::ArrayRef<TensorMeta> given) {
  Device &device = bound->program().device();
  if (device.hostAccessible())
    return llvm::Error::success();
  for (const TensorMeta &meta : given)
    if (llvm::Error error = Buffer::allocate(device, bytesOf(meta)).moveInto(givenThere.emplace_back()))
      return error;
  for (size_t size : bytes)
    if (llvm::Error error = Buffer::allocate(device, size).moveInto(resultsThere.emplace_back()))
      return error;
  return llvm::Error::success();
}

/// The caller's memory for an output whose size the run has told.
llvm::Expected<void *> Session::Impl::ask(const OutputMemory &memory, size_t output, size_t wanted) const {
  void *place = memory(output, wanted);
  if (place || wanted == 0)
    return place;
  return invalidArgument(bound->program().name() + ": output " + bound->program().executable().outputs[output].name +
                         " must get memory for " + llvm::Twine(wanted) + " bytes, got none");
}

llvm::Error Session::Impl::runHere(llvm::ArrayRef<void *> given, const OutputMemory &memory) {
  RunOptions options;
  if (memory)
    options.allocate = [&](size_t output, const TensorMeta &meta) { return ask(memory, output, bytesOf(meta)); };
  return runBound(given, options);
}

/// Copies the results to the host, each to the memory that was given or, where that is too small, asked for.
llvm::Error Session::Impl::copyResults(llvm::ArrayRef<void *> given, const OutputMemory &memory) {
  Stream &stream = bound->program().device().defaultStream();
  for (auto [index, here] : llvm::enumerate(given)) {
    size_t made = bytesOf(bound->outputs()[index]);
    void *place = here;
    if (made > bytes[index])
      if (llvm::Error error = ask(memory, index, made).moveInto(place))
        return error;
    if (llvm::Error error = stream.copyOut(place, resultsThere[index]->data(), made))
      return error;
  }
  return stream.synchronize();
}

/// Runs on copies of the inputs, and copies the results.
llvm::Error Session::Impl::runThere(llvm::ArrayRef<void *> given, const OutputMemory &memory) {
  if (llvm::Error error = checkCounts(inputs.size(), given.size()))
    return error;
  Device &device = bound->program().device();
  for (auto [there, here] : llvm::zip(givenThere, inputs)) {
    if (llvm::Error error = device.defaultStream().copyIn(there->data(), here, there->bytes()))
      return error;
    here = there->data();
  }
  llvm::SmallVector<void *, 8> results;
  for (const BufferRef &there : resultsThere)
    results.push_back(there->data());
  RunOptions options;
  if (memory)
    options.allocate = [&](size_t output, const TensorMeta &meta) -> llvm::Expected<void *> {
      if (llvm::Error error = Buffer::allocate(device, bytesOf(meta)).moveInto(resultsThere[output]))
        return std::move(error);
      return resultsThere[output]->data();
    };
  if (llvm::Error error = runBound(results, options))
    return error;
  return copyResults(given, memory);
}

llvm::Error Session::Impl::checkCounts(size_t numInputs, size_t numOutputs) const {
  const Executable &exe = bound->program().executable();
  if (numInputs == exe.numArguments() && numOutputs == exe.numResults())
    return llvm::Error::success();
  return invalidArgument(bound->program().name() + ": run must get " + llvm::Twine(exe.numArguments()) + " inputs, " +
                         llvm::Twine(exe.numResults()) + " outputs, got " + llvm::Twine(numInputs) + ", " +
                         llvm::Twine(numOutputs));
}

/// InvalidArgument where an input or output that has bytes has no memory.
llvm::Error Session::Impl::checkPointers(llvm::ArrayRef<void *> given) const {
  const Executable &exe = bound->program().executable();
  if (inputs.size() != exe.numArguments() || given.size() != exe.numResults())
    return llvm::Error::success(); // the run refuses it
  auto missing = [&](llvm::StringRef what, llvm::StringRef name, size_t size) {
    return invalidArgument(bound->program().name() + ": " + what + " " + name + " must have memory of " +
                           llvm::Twine(size) + " bytes, got null");
  };
  for (auto [index, place] : llvm::enumerate(inputs))
    if (!place && inputBytes[index])
      return missing("input", exe.inputs[index].name, inputBytes[index]);
  for (auto [index, place] : llvm::enumerate(given))
    if (!place && bytes[index])
      return missing("output", exe.outputs[index].name, bytes[index]);
  return llvm::Error::success();
}

/// Runs with the state's buffers as inputs; an output that updates state takes over the buffer of its input.
llvm::Error Session::Impl::runWithState(llvm::ArrayRef<void *> given, const RunOptions &options) {
  if (llvm::Error error = checkCounts(inputs.size(), given.size()))
    return error;
  std::lock_guard<std::mutex> lock(state->mutex);
  for (const BufferRef &buffer : state->buffers)
    inputs.push_back(buffer->data());
  outputs.assign(given.begin(), given.end());
  outputs.append(state->buffers.size(), nullptr);
  return runtime::run(*bound, inputs, outputs, {}, options);
}

Session::Session() : impl(new Impl) {}
Session::~Session() = default;
Session::Session(Session &&) noexcept = default;
Session &Session::operator=(Session &&) noexcept = default;
const std::vector<Shape> &Session::outputShapes() const { return impl->shapes; }
size_t Session::outputBytes(size_t index) const { return index < impl->bytes.size() ? impl->bytes[index] : 0; }
const Memory &Session::memory() const { return impl->memory; }
uint64_t Session::launches() const { return impl->bound ? impl->bound->launches() : 0; }

Status Session::run(const void *const *inputs, size_t numInputs, void *const *outputs, size_t numOutputs,
                    const OutputMemory &memory) {
  if (!impl || !impl->bound)
    return {Code::InvalidArgument, "run: session must be bound to shapes first, got an empty one"};
  if ((numInputs && !inputs) || (numOutputs && !outputs))
    return {Code::InvalidArgument, "run: inputs and outputs must be lists of pointers, got null"};
  if (impl->isRunning.exchange(true))
    return {Code::InvalidArgument,
            impl->bound->program().name() + ": session is running (on another thread; bind a session for each thread)"};
  llvm::scope_exit ended([&] { impl->isRunning = false; });
  impl->inputs.clear();
  for (size_t i = 0; i < numInputs; ++i)
    impl->inputs.push_back(const_cast<void *>(inputs[i]));
  llvm::ArrayRef<void *> results(outputs, numOutputs);
  bool isHere = impl->bound->program().device().hostAccessible();
  if (llvm::Error error = impl->checkPointers(results))
    return toStatus(std::move(error));
  Status status = toStatus(isHere ? impl->runHere(results, memory) : impl->runThere(results, memory));
  if (impl->file->isDamaged())
    return toStatus(impl->file->checkFile());
  if (status.ok() && impl->bound->dependsOnData())
    impl->setShapes(impl->bound->outputs());
  return status;
}

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

struct Model::Impl {
  std::shared_ptr<Container> file;
  ProgramRef program;
  std::shared_ptr<State> state; // null: no state
  std::string target;
  std::vector<InputInfo> inputs;
  std::vector<OutputInfo> outputs;
  std::map<std::string, std::string> metadata;

  llvm::Error read(llvm::StringRef name, const LoadOptions &given);
  void describe();
  llvm::Error readMetadata();
};

static Quantization describeQuantization(tess::DType dtype) {
  const tess::Quantization *parameters = tess::quantizationOf(dtype);
  if (!parameters)
    return {};
  return {{parameters->scales.begin(), parameters->scales.end()},
          {parameters->zeroPoints.begin(), parameters->zeroPoints.end()},
          parameters->axis};
}

void Model::Impl::describe() {
  const Executable &exe = program->executable();
  for (auto [index, decl] : llvm::enumerate(llvm::ArrayRef(exe.inputs).take_front(exe.numArguments()))) {
    InputInfo info{
        decl.name, DType(kindOf(decl.dtype)), describeQuantization(decl.dtype), {}, program->describeInput(index)};
    for (DimDecl dim : decl.dims) {
      Dim out;
      out.size = dim.size;
      if (dim.symbol >= 0) {
        const SymbolDecl &symbol = exe.symbols[dim.symbol];
        out = {-1, symbol.name, symbol.min, symbol.max};
      }
      info.dims.push_back(std::move(out));
    }
    inputs.push_back(std::move(info));
  }
  for (const OutputDecl &decl : llvm::ArrayRef(exe.outputs).take_front(exe.numResults())) {
    tess::DType dtype = exe.values[decl.value].dtype;
    outputs.push_back({decl.name, DType(kindOf(dtype)), describeQuantization(dtype)});
  }
}

llvm::Error Model::Impl::readMetadata() {
  for (const Container::Section &section : file->sections()) {
    if (section.kind != SectionKind::Meta)
      continue;
    llvm::Expected<llvm::StringRef> text = file->read(section.kind, section.name);
    if (!text)
      return text.takeError();
    metadata[section.name] = text->str();
  }
  return llvm::Error::success();
}

Model::Model() : impl(new Impl) {}
Model::~Model() = default;
Model::Model(Model &&) noexcept = default;
Model &Model::operator=(Model &&) noexcept = default;
const std::vector<InputInfo> &Model::inputs() const { return impl->inputs; }
const std::vector<OutputInfo> &Model::outputs() const { return impl->outputs; }
const std::string &Model::target() const { return impl->target; }

const std::string *Model::metadata(const std::string &key) const {
  auto found = impl->metadata.find(key);
  return found == impl->metadata.end() ? nullptr : &found->second;
}

/// The array of each of `infos`; DataLoss where one is missing.
template <typename Infos>
static llvm::Error inOrder(const Infos &infos, runtime::TestCase::Arrays &arrays, llvm::StringRef file,
                           std::vector<std::string> &ordered) {
  for (const auto &info : infos) {
    auto found = llvm::find_if(arrays, [&](const auto &array) { return array.first == info.name; });
    if (found == arrays.end())
      return makeError(ErrorCode::DataLoss, file + ": a test must have an array for " + info.name + ", got none");
    ordered.push_back(std::move(found->second));
  }
  return llvm::Error::success();
}

Status Model::testCases(TestCases &tests) const {
  if (!impl->file)
    return {Code::InvalidArgument, "testCases: model must be loaded first, got an empty one"};
  llvm::Expected<runtime::TestCases> read = readTests(*impl->file);
  if (!read)
    return toStatus(read.takeError());
  TestCases found{{}, read->maxError, read->verbose};
  for (runtime::TestCase &each : read->cases) {
    TestCase &test = found.cases.emplace_back();
    if (llvm::Error error = inOrder(impl->inputs, each.inputs, impl->file->path(), test.inputs))
      return toStatus(std::move(error));
    if (each.expected.empty())
      continue;
    if (llvm::Error error = inOrder(impl->outputs, each.expected, impl->file->path(), test.expected))
      return toStatus(std::move(error));
  }
  tests = std::move(found);
  return {};
}

/// The name of a file without folder and ending, as in "digits" for "models/digits.tess".
static std::string stem(llvm::StringRef path) {
  llvm::StringRef file = path.rsplit('/').second;
  file = file.empty() ? path : file;
  file.consume_back(".tess");
  return file.str();
}

/// Reads everything from `file`; `name` is the program's.
llvm::Error Model::Impl::read(llvm::StringRef name, const LoadOptions &given) {
  Device *device = &defaultDevice();
  if (!given.device.empty())
    if (llvm::Error error = findDevice(given.device, name).moveInto(device))
      return error;
  llvm::Expected<PickedExecutable> picked = pickExecutable(*file, *device, given.allowCode);
  if (!picked)
    return picked.takeError();
  ProgramOptions options = optionsFor(file);
  options.name = name.str();
  options.device = device;
  llvm::Expected<ProgramRef> created = Program::create(std::move(picked->executable), std::move(options));
  if (!created)
    return created.takeError();
  program = std::move(*created);
  target = picked->name;
  describe();
  if (const Executable &exe = program->executable(); exe.numArguments() < exe.inputs.size()) {
    state = std::make_shared<State>();
    if (llvm::Error error = state->fill(*program))
      return error;
  }
  return readMetadata();
}

Status loadLibrary(const std::string &path) { return toStatus(tess::custom::loadOperators(path)); }

Status Model::load(const std::string &path, Model &model, const LoadOptions &options) {
  auto container = Container::open(path, options.verify);
  if (!container)
    return toStatus(container.takeError());
  auto loaded = std::make_shared<Impl>();
  loaded->file = std::move(*container);
  if (llvm::Error error = loaded->read(stem(path), options))
    return toStatus(loaded->file->causeOf(std::move(error)));
  model.impl = std::move(loaded);
  return {};
}

Status Model::checkFile() const { return impl->file ? toStatus(impl->file->checkFile()) : Status(); }

Status Model::bind(const std::vector<Shape> &inputShapes, Session &session) const {
  if (!impl->program)
    return {Code::InvalidArgument, "bind: model must be loaded first, got an empty one"};
  if (impl->state && inputShapes.size() != impl->inputs.size())
    return toStatus(invalidArgument(impl->program->name() + ": must have " + llvm::Twine(impl->inputs.size()) +
                                    " inputs, got " + llvm::Twine(inputShapes.size())));
  const Executable &exe = impl->program->executable();
  Metas metas;
  for (auto [index, shape] : llvm::enumerate(inputShapes))
    metas.emplace_back(index < impl->inputs.size() ? exe.inputs[index].dtype : tess::DType::Float32, shape);
  for (const InputDecl &input : llvm::ArrayRef(exe.inputs).drop_front(exe.numArguments()))
    metas.push_back(exe.constants[input.initial].meta);
  auto bound = impl->program->bind(metas);
  if (!bound)
    return toStatus(bound.takeError());
  auto fresh = std::make_unique<Session::Impl>();
  fresh->file = impl->file;
  fresh->state = impl->state;
  fresh->bound = std::move(*bound);
  fresh->shapes.resize(impl->outputs.size());
  llvm::ArrayRef<TensorMeta> most = fresh->bound->mostOutputs().take_front(impl->outputs.size());
  fresh->setShapes(most);
  for (const TensorMeta &meta : most)
    fresh->bytes.push_back(meta.isStatic() ? bytesOf(meta) : 0);
  for (const TensorMeta &meta : llvm::ArrayRef(metas).take_front(impl->inputs.size()))
    fresh->inputBytes.push_back(bytesOf(meta));
  if (llvm::Error error = fresh->allocateThere(llvm::ArrayRef(metas).take_front(impl->inputs.size())))
    return toStatus(std::move(error));
  const MemoryEstimate &memory = fresh->bound->memory();
  fresh->memory = {memory.arena, memory.outputs, memory.constants, impl->state ? impl->state->bytes : 0};
  session.impl = std::move(fresh);
  return {};
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

Status setNumThreads(unsigned count) { return toStatus(runtime::setNumThreads(count)); }
unsigned numThreads() { return runtime::numThreads(); }

void setWinograd(bool allowed) {
  KernelSettings settings = kernelSettings();
  settings.winograd = allowed;
  setKernelSettings(settings);
}
bool winograd() { return kernelSettings().winograd; }

void guardMappedFiles() { runtime::guardMappedFiles(); }

AllocatorUse allocatorUse() {
  AllocatorStats stats = defaultDevice().allocator().stats();
  return {stats.inUse, stats.peak, stats.cached};
}

void resetAllocatorPeak() { defaultDevice().allocator().resetPeak(); }
void startProfile() { llvm::cantFail(profiler::start()); } // no counter is asked for

Status saveProfile(const std::string &path) {
  profiler::stop();
  return toStatus(profiler::save(path));
}

} // namespace tessera::deploy
