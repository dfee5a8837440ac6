//===- Jit.cpp - functions compiled whole --------------------------------===//
#include "tessera/Jit.h"

#include "compiler/ProgramFile.h"
#include "eager/classes/HostOptions.h"
#include "eager/gradients/Tape.h"
#include "eager/tensor/Placement.h"
#include "eager/tracing/ArgumentIdentity.h"
#include "eager/tracing/DumpProgram.h"
#include "eager/tracing/FreeDims.h"
#include "eager/tracing/GradEffects.h"
#include "eager/tracing/KeptCalls.h"
#include "eager/tracing/Recorder.h"
#include "eager/tracing/SizedProgram.h"
#include "eager/tracing/TracedProgram.h"
#include "tessera/Apply.h"
#include "tessera/Effects.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <mutex>

namespace tessera::jit {

namespace eager = tess::eager;

static bool runsEagerly() {
  return eager::isTraceDisabled() || eager::Recorder::current() || !eager::activeTapes().empty();
}

using tessera::detail::refs;
using tessera::detail::tensorsOf;

using Match = eager::ArgumentIdentity::Match;

/// The dtypes and shapes of arguments, and which of them are the same variable.
using Signature = llvm::SmallVector<int64_t, 24>;

static Signature signatureOf(llvm::ArrayRef<eager::TensorRef> arguments) {
  Signature signature;
  for (auto [argument, alias] : llvm::zip_equal(arguments, eager::aliasesOf(arguments))) {
    signature.insert(signature.end(), {int64_t(argument->dtype()), int64_t(argument->rank()), int64_t(alias)});
    signature.insert(signature.end(), argument->shape().begin(), argument->shape().end());
  }
  return signature;
}

/// The signature of all calls that differ in sizes only, as far as these may be free.
static Signature withoutSizes(llvm::ArrayRef<eager::TensorRef> arguments) {
  Signature signature = signatureOf(arguments);
  size_t at = 0;
  for (const eager::TensorRef &argument : arguments) {
    at += 3; // dtype, rank, alias
    for (int64_t size : argument->shape())
      signature[at++] = size >= eager::kLeastFreeSize ? -1 : size;
  }
  return signature;
}

namespace {
/// The recording of one call.
struct Recorded {
  eager::RecordingRef recording;
  size_t numResults = 0; // the recording also has gradients
  tessera::detail::Modes modes;
  eager::GradEffects grads;
};
} // namespace

/// Records one call and returns its results.
static std::vector<Tensor> recordCall(llvm::ArrayRef<Tensor> arguments, const Calls::Function &function,
                                      eager::Recorder::Mode mode, Recorded &recorded,
                                      const eager::DataSizes &dataSizes = {}) {
  tessera::detail::Effects effects;
  eager::Tensors given = refs(arguments);
  auto recorder = valueOrThrow(eager::Recorder::begin(given, mode, dataSizes));
  std::vector<Tensor> results;
  try {
    results = function(arguments);
    eager::Tensors all = refs(results);
    recorded.numResults = results.size();
    recorded.modes = effects.modes();
    recorded.grads = eager::GradEffects(*recorder, given, all);
    recorded.recording = recorder->end(all);
  } catch (...) {
    recorder->abandon();
    throw;
  }
  return results;
}

/// A recorded call, and the program that repeats it.
struct Calls::Variant {
  Signature signature, sizeless;
  eager::ArgumentIdentity identity;
  Function function;
  Recorded recorded;
  std::shared_ptr<eager::TracedProgram> program;
  eager::SizedProgram::Ref sized; // to take the program from
  bool isFixed = false;           // it serves one choice of sizes
  bool isEager = false;           // the call cannot be a program
  std::optional<eager::KeptCall> kept;

  Variant(llvm::ArrayRef<eager::TensorRef> given, const Function &function)
      : signature(signatureOf(given)), sizeless(withoutSizes(given)), identity(given), function(function) {}

  /// Takes the program of `known`, the same function at other sizes; false where there is none for both.
  bool share(Variant &known) {
    bool isSame = recorded.modes == known.recorded.modes && recorded.grads.lines() == known.recorded.grads.lines();
    if (isSame)
      sized = valueOrThrow(eager::SizedProgram::of(known.recorded.recording, recorded.recording, known.sized)).program;
    if (!sized)
      isFixed = known.isFixed = true;
    else if (!known.program)
      known.sized = sized;
    return !isFixed;
  }
  /// Bytes of the recording, and of a program that no other call counts.
  uint64_t heldBytes() const {
    bool isOwn = program && (!sized || sized->isOf(recorded.recording));
    return recorded.recording->heldBytes() + (isOwn ? program->heldBytes() : 0);
  }

  /// Whether the function would do the same now.
  Match match(llvm::ArrayRef<eager::TensorRef> given) const {
    bool holds = recorded.modes.hold() && recorded.grads.holds(given) && recorded.recording->holds(given);
    return holds ? identity.match(given) : Match::None;
  }
};

/// The recorded calls by signature. The trace of another thread may take one, when all traces keep too much.
struct Calls::Recordings : std::enable_shared_from_this<Recordings> {
  using Variants = llvm::SmallVector<std::shared_ptr<Variant>, 4>;

  /// The best match for a call, which is the latest one from now on if it certainly serves it; null: there is none.
  std::pair<std::shared_ptr<Variant>, Match> find(const Signature &signature, llvm::ArrayRef<eager::TensorRef> given) {
    std::lock_guard lock(mutex);
    const std::shared_ptr<Variant> *open = nullptr;
    auto found = bySignature.find(signature);
    for (const auto &variant :
         found == bySignature.end() ? llvm::ArrayRef<std::shared_ptr<Variant>>() : found->second) {
      Match match = variant->match(given);
      if (match == Match::Certain) {
        if (used != variant)
          used = variant;
        return {variant, match};
      }
      if (match == Match::Open && !open)
        open = &variant;
    }
    return open ? std::pair(*open, Match::Open) : std::pair(nullptr, Match::None);
  }
  /// A call whose program a call of other sizes may share, the one with the most free axes; null: there is none.
  std::shared_ptr<Variant> nearest(const Variant &call, llvm::ArrayRef<eager::TensorRef> given) {
    auto numAxes = [](const Variant &variant) { return variant.sized ? variant.sized->axes().size() : 0; };
    std::lock_guard lock(mutex);
    std::shared_ptr<Variant> best;
    for (const auto &[signature, variants] : bySignature)
      for (const std::shared_ptr<Variant> &variant : variants)
        if (variant->sizeless == call.sizeless && variant->signature != call.signature && !variant->isFixed &&
            !variant->isEager && (!best || numAxes(*variant) > numAxes(*best)) && variant->match(given) != Match::None)
          best = variant;
    return best;
  }
  /// The call recorded or used last, if it is still kept.
  std::shared_ptr<Variant> latest() {
    std::lock_guard lock(mutex);
    return used;
  }
  void add(const std::shared_ptr<Variant> &variant) {
    auto forget = [own = weak_from_this(), call = std::weak_ptr(variant)](eager::KeptCall::Cause) {
      std::shared_ptr<Recordings> recordings = own.lock();
      std::shared_ptr<Variant> gone = call.lock();
      if (recordings && gone)
        recordings->remove(gone);
    };
    {
      std::lock_guard lock(mutex);
      Variants &variants = bySignature[variant->signature];
      variant->kept.emplace(variants.empty() ? nullptr : &*variants.front()->kept, std::move(forget));
      variants.insert(variants.begin(), variant);
      used = variant;
    }
    variant->kept->keep(variant->heldBytes());
  }
  void remove(const std::shared_ptr<Variant> &variant) {
    std::lock_guard lock(mutex);
    if (used == variant)
      used.reset();
    auto found = bySignature.find(variant->signature);
    if (found == bySignature.end())
      return;
    llvm::erase(found->second, variant);
    if (found->second.empty())
      bySignature.erase(found);
  }

private:
  std::mutex mutex;
  std::shared_ptr<Variant> used;
  std::map<Signature, Variants> bySignature; // the latest recorded first
};

Calls::Calls(bool fuse, Numerics numerics)
    : fuse(fuse), numerics(numerics), recordings(std::make_shared<Recordings>()) {}

static eager::GraphOptions optionsOf(Numerics numerics) {
  eager::GraphOptions options;
  options.numerics = numerics == Numerics::Fast ? tess::ir::Numerics::Fast : tess::ir::Numerics::Strict;
  return options;
}

std::vector<Tensor> Calls::call(std::vector<Tensor> arguments, const Function &function) {
  if (runsEagerly())
    return function(arguments);
  for (Tensor &argument : arguments)
    argument = Tensor(argument.ref()); // numbers become tensors
  eager::Tensors given = refs(arguments);
  auto variant = std::make_shared<Variant>(given, function);
  auto [known, match] = recordings->find(variant->signature, given);
  if (match == Match::Certain)
    return run(*known, arguments);
  if (!known)
    if (std::shared_ptr<Variant> shared = resized(*variant, arguments)) {
      recordings->add(shared);
      return run(*shared, arguments);
    }
  std::vector<Tensor> results = recordCall(arguments, function, eager::Recorder::Mode::Run, variant->recorded);
  variant->isEager = variant->recorded.recording->needsData();
  if (known && !known->identity.bindOutside(given, *variant->recorded.recording)) {
    known->identity.learn(given);
    variant->identity = known->identity;
    recordings->remove(known);
  }
  recordings->add(variant);
  return results;
}

/// `call`, recorded by inference, as one that shares the program of calls with other sizes; null where none serves it.
std::shared_ptr<Calls::Variant> Calls::resized(Variant &call, llvm::ArrayRef<Tensor> arguments) const {
  eager::Tensors given = refs(arguments);
  std::shared_ptr<Variant> known = recordings->nearest(call, given);
  if (!known)
    return nullptr;
  auto variant = std::make_shared<Variant>(given, call.function);
  known->recorded.grads.prepare(given);
  try {
    (void)recordCall(arguments, call.function, eager::Recorder::Mode::InferOnly, variant->recorded,
                     {known->recorded.recording});
  } catch (const Error &) { // a run says why, if it fails, too
    return nullptr;
  }
  call.isFixed = variant->recorded.recording->needsData() || !variant->share(*known);
  if (call.isFixed)
    return nullptr;
  known->identity.learn(given);
  variant->identity = known->identity;
  return variant;
}

/// Why the recorded call holds for the sizes that data decided in it only; empty: it holds for others, too.
std::string Calls::whyFixed(const Variant &variant) {
  const eager::RecordingRef &recording = variant.recorded.recording;
  auto moved = [&](const eager::SizeMove &move) -> llvm::Expected<eager::RecordingRef> {
    std::vector<Tensor> arguments;
    for (size_t i = 0; i < recording->arguments().size(); ++i) {
      unsigned alias = variant.identity.aliases()[i];
      arguments.push_back(alias < i ? arguments[alias] : Tensor(eager::valueless(recording->argumentMeta(i))));
    }
    Recorded again;
    try {
      (void)recordCall(arguments, variant.function, eager::Recorder::Mode::InferOnly, again, {recording, move});
    } catch (const Error &error) {
      return tess::invalidArgument(error.what());
    }
    return again.recording;
  };
  return valueOrThrow(eager::whyFixedByData(*recording, moved));
}

/// Gives `variant` its program: that of calls with other sizes where there is one.
void Calls::compile(Variant &variant, llvm::ArrayRef<eager::TensorRef> arguments) const {
  if (!variant.sized && !variant.isFixed)
    if (std::shared_ptr<Variant> known = recordings->nearest(variant, arguments))
      variant.share(*known);
  if (variant.sized)
    variant.program = valueOrThrow(variant.sized->get(arguments, optionsOf(numerics), fuse));
  if (variant.program)
    return;
  variant.isFixed |= variant.sized != nullptr;
  variant.sized = nullptr;
  variant.program = valueOrThrow(eager::TracedProgram::compile(variant.recorded.recording, optionsOf(numerics), fuse));
}

/// The same for a call in which data decides sizes; false where no program serves whatever it decides.
bool Calls::compileForData(Variant &variant, llvm::ArrayRef<eager::TensorRef> arguments) const {
  if (!whyFixed(variant).empty())
    return false;
  try {
    compile(variant, arguments);
  } catch (const Error &error) {
    if (error.code() != ErrorCode::InvalidArgument && error.code() != ErrorCode::Unimplemented)
      throw;
    return false;
  }
  return true;
}

/// The call, eagerly, because its program refused sizes that data decided, with an error: the function may take them.
std::vector<Tensor> Calls::runForData(Variant &variant, llvm::ArrayRef<Tensor> arguments, llvm::Error refused) {
  auto [code, message] = tess::takeError(std::move(refused));
  if (code != ErrorCode::InvalidArgument)
    throw Error(code, message);
  return variant.function(arguments);
}

std::vector<Tensor> Calls::run(Variant &variant, llvm::ArrayRef<Tensor> arguments) {
  const Recorded &recorded = variant.recorded;
  bool isNew = !variant.program && !variant.isEager;
  eager::Tensors given = refs(arguments);
  if (isNew && recorded.recording->hasDataSizes())
    variant.isEager = !compileForData(variant, given);
  else if (isNew)
    compile(variant, given);
  if (variant.isEager)
    return variant.function(arguments);
  recorded.grads.prepare(given);
  llvm::Expected<eager::Tensors> ran = variant.program->run(given);
  if (!ran && recorded.recording->hasDataSizes())
    return runForData(variant, arguments, ran.takeError());
  eager::Tensors all = valueOrThrow(std::move(ran));
  if (isNew)
    variant.kept->recount(variant.heldBytes());
  else
    variant.kept->use();
  recorded.grads.apply(given, llvm::ArrayRef(all).drop_front(recorded.numResults));
  all.resize(recorded.numResults);
  return tensorsOf(std::move(all));
}

std::shared_ptr<eager::TracedProgram> Calls::program() const {
  std::shared_ptr<Variant> latest = recordings->latest();
  return latest ? latest->program : nullptr;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The number of a named dimension, which is added if it is new.
static int numberOf(const Dim &dim, eager::GraphOptions &options) {
  auto known = llvm::find_if(options.dims, [&](const tess::ir::NamedDim &each) { return each.name == dim.name; });
  if (known == options.dims.end()) {
    options.dims.push_back({dim.name, dim.min, dim.max});
    return options.dims.size() - 1;
  }
  if (known->min != dim.min || known->max != dim.max)
    throw Error(ErrorCode::InvalidArgument,
                "dump: a dimension must have the same bounds everywhere, got two of " + dim.name);
  return known - options.dims.begin();
}

static void addDims(const DumpOptions &dump, const eager::Recording &recording, eager::GraphOptions &options) {
  options.argumentDims.resize(recording.arguments().size());
  for (const auto &[input, axes] : dump.dims) {
    size_t argument = llvm::find(dump.inputs, input) - dump.inputs.begin();
    if (argument >= recording.arguments().size())
      throw Error(ErrorCode::InvalidArgument,
                  "dump: dims must be of inputs [" + llvm::join(dump.inputs, ", ") + "], got " + input);
    eager::ArgumentDims &numbers = options.argumentDims[argument];
    numbers.assign(recording.argumentMeta(argument).rank(), -1);
    for (const auto &[axis, dim] : axes) {
      if (axis < 0 || axis >= int64_t(numbers.size()) || dim.min < 0 || dim.max < dim.min)
        throw Error(ErrorCode::InvalidArgument, "dump: a dimension must be an axis of " + input +
                                                    " with 0 <= min <= max, got axis " + std::to_string(axis) + ", " +
                                                    std::to_string(dim.min) + ".." + std::to_string(dim.max));
      numbers[axis] = numberOf(dim, options);
    }
  }
}

/// The call as a file holds it: recorded again with a tensor of its own for each argument, where one stood for several
/// or is read from outside too; else null.
std::shared_ptr<Calls::Variant> Calls::apart(Variant &variant) {
  const eager::Recording &recording = *variant.recorded.recording;
  eager::Tensors given;
  for (uint32_t number : recording.arguments()) {
    eager::OnDevice here(*recording.values()[number].device);
    given.push_back(eager::valueless(recording.values()[number].meta));
  }
  auto separate = std::make_shared<Variant>(given, variant.function);
  bool isOne = variant.identity.aliases() != separate->identity.aliases();
  eager::DataSizes sizes;
  if (recording.hasDataSizes())
    sizes.like = variant.recorded.recording;
  try {
    (void)recordCall(tensorsOf(given), variant.function, eager::Recorder::Mode::InferOnly, separate->recorded, sizes);
  } catch (const Error &error) {
    if (!isOne)
      return nullptr; // the file holds what was recorded
    throw Error(error.code(), std::string("dump: inputs must be different tensors, or the function must run with "
                                          "some, got one for several and then: ") +
                                  error.what());
  }
  bool differs = isOne || variant.identity.bindOutside(given, *separate->recorded.recording);
  return differs ? separate : nullptr;
}

void Calls::checkFree(const Variant &variant, const eager::GraphOptions &options) {
  auto free = valueOrThrow(eager::FreeDims::create(variant.recorded.recording, options));
  auto record = [&](llvm::ArrayRef<eager::TensorRef> given) -> llvm::Expected<eager::RecordingRef> {
    Recorded again;
    try {
      (void)recordCall(tensorsOf(eager::Tensors(given)), variant.function, eager::Recorder::Mode::InferBounds, again);
    } catch (const Error &error) {
      return tess::makeError(error.code(), error.what());
    }
    return again.recording;
  };
  checkOrThrow(free.check("the function", variant.identity.aliases(), record));
}

void Calls::dump(const std::string &path, const DumpOptions &dump) const {
  std::shared_ptr<Variant> latest = recordings->latest();
  if (!latest)
    throw Error(ErrorCode::InvalidArgument, "dump: the function must have been called once traced, got no call");
  if (std::shared_ptr<Variant> separate = apart(*latest))
    latest = separate;
  const Variant &variant = *latest;
  const Recorded &recorded = variant.recorded;
  size_t numArguments = recorded.recording->arguments().size();
  if (dump.inputs.size() > numArguments || dump.outputs.size() > recorded.numResults)
    throw Error(ErrorCode::InvalidArgument, "dump: names must not be more than " + std::to_string(numArguments) +
                                                " inputs and " + std::to_string(recorded.numResults) +
                                                " outputs, got " + std::to_string(dump.inputs.size()) + " and " +
                                                std::to_string(dump.outputs.size()));
  eager::GraphOptions options = optionsOf(numerics);
  options.argumentNames = dump.inputs;
  options.outputNames = dump.outputs;
  addDims(dump, *recorded.recording, options);
  if (!options.dims.empty())
    checkFree(variant, options);
  eager::ProgramFileOptions file;
  file.targets = dump.targets;
  file.metadata = dump.metadata;
  valueOrThrow(eager::dumpProgram(path, recorded.recording, "the function", options, file));
}

} // namespace tessera::jit
