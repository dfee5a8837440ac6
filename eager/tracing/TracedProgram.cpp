//===- TracedProgram.cpp - a recording, compiled -------------------------===//
#include "eager/tracing/TracedProgram.h"

#include "compiler/ProgramFile.h"
#include "eager/classes/HostOptions.h"
#include "eager/dispatch/Contiguous.h"
#include "eager/dispatch/InPlace.h"
#include "eager/dispatch/Transfers.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Watcher.h"
#include "eager/tensor/Placement.h"
#include "eager/tensor/ProfiledCalls.h"
#include "eager/tensor/Queue.h"
#include "eager/tracing/Recorder.h"
#include "runtime/bind/FileConstants.h"
#include "runtime/device/Code.h"
#include "runtime/schema/Container.h"
#include "runtime/schema/ExecutableCodec.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

/// Number of shapes for which a program keeps a binding with its arena.
static constexpr size_t kMaxBindings = 8;
/// Limit of the bytes held by all bindings except the latest.
static constexpr uint64_t kMostBindingBytes = uint64_t(256) << 20;

llvm::Error TracedProgram::finish(runtime::Executable exe, runtime::ProgramOptions options) {
  options.name = name;
  options.device = device;
  return runtime::Program::create(std::move(exe), std::move(options)).moveInto(program);
}

compiler::CompileOptions TracedProgram::options() const {
  compiler::CompileOptions options = optionsFor(*device);
  options.fuse = fuses;
  options.memoryLimit = allowed;
  if (allowed)
    options.leastSavedBytes = keepsCheapValues ? std::nullopt : std::optional<int64_t>(1);
  return options;
}

/// Options of the compilation that makes the program, which notes what it tells.
compiler::CompileOptions TracedProgram::optionsToCompile() {
  compiler::CompileOptions options = this->options();
  rewriteLines.clear();
  times.clear();
  options.remark = [this](const std::string &line) { rewriteLines.push_back(line); };
  options.timed = [this](const std::string &name, double seconds) {
    times.emplace_back(name, seconds);
    recordPart(name, seconds);
  };
  return options;
}

/// The device of the tensors of a recording; InvalidArgument where there are several.
static llvm::Expected<runtime::Device *> deviceOf(const Recording &recording) {
  auto [first, apart] = recording.places();
  if (apart)
    return invalidArgument("trace: tensors of a program must be on one device, got " + placeOf(*first) + " and " +
                           placeOf(*apart));
  return first ? first->device : &creationDevice();
}

llvm::Expected<std::shared_ptr<TracedProgram>> TracedProgram::compile(const RecordingRef &recording,
                                                                      const GraphOptions &options, bool fuse) {
  std::shared_ptr<TracedProgram> traced(new TracedProgram);
  BlockingRegion region(/*computes=*/true);
  if (llvm::Error e = deviceOf(*recording).moveInto(traced->device))
    return std::move(e);
  if (llvm::Error e = buildGraph(*recording, options).moveInto(traced->graph))
    return std::move(e);
  traced->fuses = fuse;
  llvm::Expected<runtime::Executable> exe = compiler::compile(*traced->graph, traced->optionsToCompile());
  if (!exe)
    return exe.takeError();
  traced->arguments = recording->arguments().size();
  traced->functionOutputs = recording->outputs().size();
  for (uint32_t number : recording->captured())
    if (!options.captureAsConstants || isUpdated(*recording, number))
      traced->captured.push_back(recording->values()[number].tensor);
  if (!options.captureAsConstants)
    recording->dropSnapshots();
  traced->updates.assign(recording->updates().begin(), recording->updates().end());
  if (options.dims.empty())
    for (uint32_t number : recording->arguments())
      traced->recordedInputs.push_back(recording->values()[number].meta);
  if (llvm::Error e = traced->finish(std::move(*exe), {}))
    return std::move(e);
  if (options.memory)
    if (llvm::Error e = traced->fit(*options.memory))
      return std::move(e);
  return traced;
}

/// Whether the code runs on this machine and `device`, called by this build.
static bool isFor(const runtime::Executable &exe, const runtime::Device &device) {
  return llvm::all_of(exe.images, [&](const runtime::Image &image) {
    return image.kind == device.imageKind() && runtime::hasKnownAbi(image) && runtime::missingFeatures(image).empty();
  });
}

/// The executable of a file for this machine and `device`; none if there is none, or only of another version.
static llvm::Expected<std::optional<runtime::Executable>> codeOf(const runtime::Container &file,
                                                                 const runtime::Device &device) {
  for (llvm::StringRef target : {device.target(), llvm::StringRef("x86-64-v4"), llvm::StringRef("x86-64-v3")}) {
    if (!file.has(runtime::SectionKind::Executable, target))
      continue;
    llvm::Expected<llvm::StringRef> bytes = file.read(runtime::SectionKind::Executable, target);
    if (!bytes)
      return bytes.takeError();
    llvm::Expected<runtime::Executable> exe =
        runtime::parseExecutable(*bytes, file.path() + ": executable " + target.str());
    if (exe && isFor(*exe, device))
      return std::optional<runtime::Executable>(std::move(*exe));
    if (exe)
      continue;
    auto [code, message] = takeError(exe.takeError());
    if (code != ErrorCode::Unimplemented)
      return makeError(code, message);
  }
  return std::nullopt;
}

llvm::Expected<std::shared_ptr<TracedProgram>> TracedProgram::load(llvm::StringRef path, bool allowCode) {
  std::shared_ptr<TracedProgram> traced(new TracedProgram);
  traced->name = path.str();
  traced->device = &creationDevice();
  BlockingRegion region(/*computes=*/true);
  llvm::Expected<std::shared_ptr<runtime::Container>> file = runtime::Container::open(path);
  if (!file)
    return file.takeError();
  if (llvm::Error e = compiler::readGraph(*file).moveInto(traced->graph))
    return std::move(e);
  std::optional<runtime::Executable> exe;
  if (allowCode)
    if (llvm::Error e = codeOf(**file, *traced->device).moveInto(exe))
      return (*file)->causeOf(std::move(e));
  if (!exe)
    if (llvm::Error e = compiler::compile(*traced->graph, traced->optionsToCompile()).moveInto(exe))
      return std::move(e);
  traced->isFromFile = true;
  traced->arguments = exe->numArguments();
  traced->functionOutputs = exe->numResults();
  if (llvm::Error e = traced->finish(std::move(*exe), runtime::optionsFor(*file)))
    return std::move(e);
  if (llvm::Error e = traced->makeState())
    return std::move(e);
  return traced;
}

/// Makes variables with the initial values of the file; each is updated by the output that donates it.
llvm::Error TracedProgram::makeState() {
  for (size_t input = arguments; input < executable().inputs.size(); ++input) {
    llvm::Expected<llvm::StringRef> bytes = program->initialValue(input);
    if (!bytes)
      return bytes.takeError();
    const TensorMeta &meta = executable().constants[executable().inputs[input].initial].meta;
    if (llvm::Error e = TensorImpl::allocate(meta.dtype, meta.shape, *device).moveInto(captured.emplace_back()))
      return e;
    if (llvm::Error e = copyFromHost(*captured.back(), bytes->data(), bytes->size()))
      return e;
  }
  for (size_t output = functionOutputs; output < executable().outputs.size(); ++output)
    updates.push_back({captured[executable().outputs[output].donates - arguments], -1, 0});
  return llvm::Error::success();
}

template <typename Decl> static std::vector<std::string> namesOf(llvm::ArrayRef<Decl> decls) {
  std::vector<std::string> names;
  for (const Decl &decl : decls)
    names.push_back(decl.name);
  return names;
}

std::vector<std::string> TracedProgram::inputs() const {
  return namesOf(llvm::ArrayRef(executable().inputs).take_front(arguments));
}
std::vector<std::string> TracedProgram::outputs() const {
  return namesOf(llvm::ArrayRef(executable().outputs).take_front(functionOutputs));
}

std::vector<std::pair<std::string, TensorRef>> TracedProgram::state() {
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  std::vector<std::pair<std::string, TensorRef>> values;
  for (size_t index = 0; index < numState(); ++index) {
    captured[index]->storage().noteCopy();
    values.emplace_back(stateName(index), captured[index]->dup());
  }
  return values;
}

llvm::Error TracedProgram::setState(llvm::ArrayRef<std::pair<std::string, TensorRef>> values) {
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  std::vector<std::pair<size_t, TensorRef>> copies;
  for (const auto &[key, value] : values) {
    size_t index = 0;
    while (index < numState() && stateName(index) != key)
      ++index;
    if (index == numState())
      return invalidArgument(name + ": state must be one of the program's, got " + key);
    TensorMeta meta = captured[index]->meta();
    if (!(value->meta() == meta))
      return invalidArgument(name + ": state " + key + " must be " + toString(meta) + ", got " +
                             toString(value->meta()));
    llvm::Expected<TensorRef> copy = TensorImpl::allocate(meta.dtype, meta.shape, *device);
    if (!copy)
      return copy.takeError();
    std::vector<char> bytes(size_t(meta.numElements() * byteWidth(meta.dtype)));
    if (llvm::Error e = readValue(*value, bytes.data()))
      return e;
    if (llvm::Error e = copyFromHost(**copy, bytes.data(), bytes.size()))
      return e;
    copies.emplace_back(index, std::move(*copy));
  }
  for (auto &[index, copy] : copies)
    captured[index]->rebind(*copy);
  return llvm::Error::success();
}

TensorImpl &TracedProgram::inputAt(llvm::ArrayRef<TensorRef> given, unsigned index) const {
  return index < arguments ? *given[index] : *captured[index - arguments];
}

/// Keeps the inputs in memory; those that outputs may take over count as written.
llvm::Error TracedProgram::keepInputs(llvm::ArrayRef<TensorRef> given, eviction::Use &use) const {
  for (unsigned i = 0, n = arguments + captured.size(); i < n; ++i)
    if (llvm::Error e = use.add(inputAt(given, i)))
      return e;
  for (const auto &output : executable().outputs)
    if (output.donates >= 0)
      if (llvm::Error e = use.addWritten(inputAt(given, output.donates).storage()))
        return e;
  return llvm::Error::success();
}

llvm::Error TracedProgram::readInputs(llvm::ArrayRef<TensorRef> given, Values &values) const {
  for (unsigned i = 0, n = arguments + captured.size(); i < n; ++i) {
    TensorImpl &tensor = inputAt(given, i);
    if (LLVM_UNLIKELY(&tensor.storage().device() != device))
      return invalidArgument(name + ": tensors must be on " + device->name() + ", for which the program is, got " +
                             placeOf(tensor.name(), tensor.storage().device()));
    llvm::Expected<TensorRef> plain = contiguousNow(tensor, name);
    if (!plain)
      return plain.takeError();
    values.metas.push_back((*plain)->meta());
    values.inputs.push_back((*plain)->data());
    // The variable itself keeps its value alive; holding it here would make it look shared.
    values.kept.push_back(plain->get() == &tensor ? TensorRef() : std::move(*plain));
  }
  return llvm::Error::success();
}

llvm::Expected<runtime::BoundRef> TracedProgram::bind(llvm::ArrayRef<TensorMeta> metas) {
  const auto settings = runtime::BindSettings::now();
  auto known = llvm::find_if(bindings, [&](const Binding &binding) {
    return binding.settings == settings && llvm::ArrayRef<TensorMeta>(binding.inputs) == metas;
  });
  if (known != bindings.end()) {
    bindings.splice(bindings.begin(), bindings, known);
    return bindings.front().bound;
  }
  runtime::BindOptions options;
  options.set(settings);
  auto bound = program->bind(metas, options);
  if (!bound)
    return bound.takeError();
  bindings.push_front({Metas(metas.begin(), metas.end()), settings, *bound});
  trimBindings();
  return *bound;
}

/// Drops old bindings beyond the limits; the latest one stays, whatever its size.
void TracedProgram::trimBindings() {
  uint64_t bytes = 0;
  size_t kept = 0;
  for (auto it = bindings.begin(); it != bindings.end(); ++kept) {
    bytes += kept ? it->bound->heldBytes() : 0;
    it = kept < kMaxBindings && bytes <= kMostBindingBytes ? std::next(it) : bindings.erase(it);
  }
}

/// Whether the output may take over the buffer of the variable that it updates, or of a donated argument: nobody else
/// may use that buffer.
bool TracedProgram::mayDonate(llvm::ArrayRef<TensorRef> given, unsigned output) const {
  int32_t input = executable().outputs[output].donates;
  if (input < 0)
    return false;
  const TensorImpl &variable = inputAt(given, input);
  auto isIt = [&](const TensorRef &other) { return other.get() == &variable; };
  if (output < functionOutputs && (llvm::count_if(given, isIt) > 1 || llvm::any_of(captured, isIt)))
    return false;
  return variable.isContiguous() && variable.storage().isUnique() && !variable.storage().isForeign();
}

llvm::Error TracedProgram::makeOutputs(llvm::ArrayRef<TensorRef> given, const runtime::Bound &bound,
                                       Values &values) const {
  for (auto [i, meta] : llvm::enumerate(bound.mostOutputs())) { // outputs() still has the sizes of the last run
    if (mayDonate(given, i) || !meta.isStatic() || bound.isOutputGrown(i)) { // the run allocates what has no bound
      values.outputs.push_back(nullptr);
      values.results.push_back(TensorRef());
      continue;
    }
    llvm::Expected<TensorRef> result = TensorImpl::allocate(meta.dtype, meta.shape, *device);
    if (!result)
      return result.takeError();
    values.outputs.push_back((*result)->data());
    values.results.push_back(std::move(*result));
  }
  return llvm::Error::success();
}

/// Gives results the shapes that the data decided, then updates the variables.
void TracedProgram::update(llvm::ArrayRef<TensorRef> given, const runtime::Bound &bound, Values &values) const {
  for (auto [i, meta] : llvm::enumerate(bound.outputs()))
    if (TensorRef &result = values.results[i]; result && llvm::ArrayRef<int64_t>(meta.shape) != result->shape())
      result = TensorImpl::create(meta.dtype, meta.shape, result->storageRef());
  for (unsigned i = 0; i < functionOutputs; ++i)
    if (TensorRef &result = values.results[i]; !result)
      result = TensorImpl::create(bound.outputs()[i].dtype, bound.outputs()[i].shape,
                                  inputAt(given, executable().outputs[i].donates).storageRef());
  WriteNoteRef note;
  for (auto [k, change] : llvm::enumerate(updates)) {
    TensorImpl &variable = change.argument >= 0 ? *given[change.argument] : *change.variable;
    const TensorRef &result = values.results[functionOutputs + k];
    if (!result)
      variable.storage().noteWrite(note ? note : (note = writeByHere(name)));
    else
      assign(variable, *result);
  }
  values.results.truncate(functionOutputs);
}

llvm::Error TracedProgram::checkCount(size_t given) const {
  if (given == arguments)
    return llvm::Error::success();
  return makeError(ErrorCode::TypeMismatch,
                   name + ": number of inputs must be " + llvm::Twine(arguments) + ", got " + llvm::Twine(given));
}

llvm::Error TracedProgram::bindTo(llvm::ArrayRef<TensorRef> given) {
  if (llvm::Error e = checkCount(given.size()))
    return e;
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  Metas metas;
  for (unsigned i = 0, n = arguments + captured.size(); i < n; ++i)
    metas.push_back(inputAt(given, i).meta());
  return bind(metas).takeError();
}

/// What a run asks for that shapes do not tell. It refers to `running`.
runtime::RunOptions TracedProgram::runOptions(const Running &running) const {
  runtime::RunOptions options;
  options.allocate = [this, &running](size_t output, const TensorMeta &meta) -> llvm::Expected<void *> {
    TensorRef &result = running.values.results[output];
    if (llvm::Error e = TensorImpl::allocate(meta.dtype, meta.shape, *device).moveInto(result))
      return std::move(e);
    return result->data();
  };
  options.takeGrown = [this, &running](size_t output, const runtime::BufferRef &buffer, int64_t trips) {
    const TensorMeta &meta = running.bound.outputs()[output];
    int64_t bytes = trips * meta.numElements() * int64_t(byteWidth(meta.dtype));
    running.values.results[output] =
        TensorImpl::create(meta.dtype, meta.shape, Storage::own(buffer->take(), bytes, *device));
  };
  options.savedTrips = [this, &running](size_t input) { return savedTripsOf(inputAt(running.given, unsigned(input))); };
  return options;
}

/// The results of a run, and the updates, without values: of a device that keeps shapes only.
llvm::Expected<Tensors> TracedProgram::infer(llvm::ArrayRef<TensorRef> given) {
  Values values;
  for (unsigned i = 0, n = arguments + captured.size(); i < n; ++i)
    values.metas.push_back(inputAt(given, i).meta());
  llvm::Expected<runtime::BoundRef> bound = bind(values.metas);
  if (!bound)
    return bound.takeError();
  for (const TensorMeta &meta : (*bound)->outputs()) {
    if (!meta.isStatic())
      return makeError(ErrorCode::Unimplemented, name + ": sizes must be known without data on " + device->name() +
                                                     ", which has no values, got " + toString(meta));
    values.results.push_back(withoutValue(meta, *device));
  }
  update(given, **bound, values);
  return std::move(values.results);
}

llvm::Expected<Tensors> TracedProgram::run(llvm::ArrayRef<TensorRef> given) {
  if (llvm::Error e = checkCount(given.size()))
    return std::move(e);
  if (isFromFile && Recorder::current())
    return invalidArgument(name + ": a loaded program must run outside of a traced function, whose program would not "
                                  "hold it, got a call within one");
  if (llvm::Error e = program->check())
    return std::move(e);
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  if (LLVM_UNLIKELY(!device->computes()))
    return infer(given);
  std::optional<runtime::profiler::At> place;
  if (LLVM_UNLIKELY(runtime::profiler::on()))
    place.emplace(contextOf(name));
  for (const Recording::Update &change : updates) // a watcher keeps the old values from being overwritten
    noteUpdate(change.argument >= 0 ? *given[change.argument] : *change.variable);
  eviction::Use use;
  if (LLVM_UNLIKELY(eviction::isActive()))
    if (llvm::Error e = keepInputs(given, use))
      return std::move(e);
  Values values;
  if (llvm::Error e = readInputs(given, values))
    return std::move(e);
  llvm::Expected<runtime::BoundRef> bound = bind(values.metas);
  if (!bound)
    return bound.takeError();
  if ((*bound)->needsWorker()) // it comes after queued commands, and the user may interrupt the wait for them
    if (llvm::Error e = awaitAll())
      return std::move(e);
  if (LLVM_UNLIKELY(eviction::isActive())) // evicts values for the arena: the run takes the block that this one leaves
    if (llvm::Error e = Storage::allocate(int64_t((*bound)->memory().arena), *device).takeError())
      return std::move(e);
  if (llvm::Error e = makeOutputs(given, **bound, values))
    return std::move(e);
  {
    BlockingRegion region(/*computes=*/true);
    Running running{given, **bound, values};
    runtime::RunOptions options = runOptions(running);
    auto poll = [&] { return region.poll(); };
    options.poll = poll;
    if (llvm::Error e = runtime::run(**bound, values.inputs, values.outputs, {}, options))
      return std::move(e);
  }
  update(given, **bound, values);
  if (LLVM_UNLIKELY(place.has_value()))
    recordTypes(values.results);
  return std::move(values.results);
}

/// The binding of the latest run, or for the recorded shapes if nothing has run yet; null: there is none.
const runtime::Bound *TracedProgram::latestBound() {
  if (bindings.empty() && (!recordedInputs.empty() || !arguments)) {
    Metas metas = recordedInputs;
    for (const TensorRef &variable : captured)
      metas.push_back(variable->meta());
    llvm::consumeError(bind(metas).takeError()); // a run reports it
  }
  return bindings.empty() ? nullptr : bindings.front().bound.get();
}

uint64_t TracedProgram::launches() {
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  const runtime::Bound *bound = latestBound();
  return bound ? bound->launches() : 0;
}

std::vector<std::string> TracedProgram::kernelChoices() {
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  const runtime::Bound *bound = latestBound();
  return bound ? bound->kernelChoices() : std::vector<std::string>();
}

uint64_t TracedProgram::heldBytes() {
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  uint64_t bytes = program->constantBytes();
  for (const runtime::Image &image : executable().images)
    bytes += image.bytes.size();
  for (const Binding &binding : bindings)
    bytes += binding.bound->heldBytes();
  return bytes;
}

runtime::MemoryEstimate TracedProgram::memory() {
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  const runtime::Bound *bound = latestBound();
  return bound ? bound->memory() : runtime::MemoryEstimate();
}

} // namespace tess::eager
