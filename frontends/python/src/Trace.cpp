//===- Trace.cpp - recordings and programs for Python --------------------===//
#include "frontends/python/src/Trace.h"
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/NumpyConversion.h"
#include "frontends/python/src/ProgramFacts.h"
#include "frontends/python/src/TensorObject.h"

#include "eager/classes/HostOptions.h"
#include "eager/gradients/Recomputation.h"
#include "eager/tensor/Placement.h"
#include "eager/tracing/FreeDims.h"
#include "eager/tracing/GradEffects.h"
#include "eager/tracing/GradientRecording.h"
#include "eager/tracing/Recorder.h"
#include "eager/tracing/RecordingText.h"
#include "eager/tracing/Segment.h"
#include "eager/tracing/SizedProgram.h"
#include "eager/tracing/TracedProgram.h"
#include "ops/inference/QuantizedMetas.h"
#include "runtime/Devices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace tess::python {

using namespace eager;

std::vector<TensorRef> tensorsOf(nb::handle sequence, const char *what) {
  std::vector<TensorRef> tensors;
  for (nb::handle item : nb::borrow<nb::iterable>(sequence)) {
    if (!isTensor(item.ptr()))
      throw nb::type_error((std::string(what) + ": items must be Tensor, got " + describeObject(item.ptr())).c_str());
    tensors.push_back(TensorRef(&implOf(item.ptr())));
  }
  return tensors;
}

void addDims(const Recording &recording, const std::vector<FreeDim> &dims, GraphOptions &options) {
  options.argumentDims.resize(recording.arguments().size());
  for (const auto &[argument, axis, name, min, max] : dims) {
    if (argument >= recording.arguments().size() || axis >= recording.argumentMeta(argument).rank())
      throwError(invalidArgument("dump: a free dimension must be an axis of an argument, got axis " +
                                 llvm::Twine(axis) + " of argument " + llvm::Twine(argument)));
    unsigned index = 0;
    while (index < options.dims.size() && options.dims[index].name != name)
      ++index;
    if (index == options.dims.size())
      options.dims.push_back({name, min, max < 0 ? INT64_MAX : max});
    ArgumentDims &axes = options.argumentDims[argument];
    axes.resize(recording.argumentMeta(argument).rank(), -1);
    axes[axis] = int(index);
  }
}

namespace {

/// A program, which is called with tensors and returns a list of tensors.
struct PyProgram {
  std::shared_ptr<TracedProgram> program;

  nb::list call(const nb::args &args) const {
    std::vector<TensorRef> arguments;
    OnDevice here(program->placement());
    for (nb::handle item : args)
      arguments.push_back(isTensor(item.ptr())
                              ? TensorRef(&implOf(item.ptr()))
                              : valueOrThrow(tensorFromData(item.ptr(), inputDType(arguments.size()))));
    Tensors results = valueOrThrow(program->run(arguments));
    nb::list list;
    for (TensorRef &result : results)
      list.append(nb::steal(wrap(std::move(result))));
    return list;
  }
  std::optional<DType> inputDType(size_t index) const {
    const auto &inputs = program->executable().inputs;
    return index < inputs.size() ? std::optional<DType>(inputs[index].dtype) : std::nullopt;
  }
  void bindTo(nb::handle tensors) const { checkOrThrow(program->bindTo(tensorsOf(tensors, "bind"))); }
  std::vector<std::string> rewrites() const { return program->rewrites().vec(); }
  nb::dict state() const {
    nb::dict values;
    for (auto &[name, value] : program->state())
      values[name.c_str()] = nb::steal(wrap(std::move(value)));
    return values;
  }
  void setState(const nb::dict &given) const {
    std::vector<std::pair<std::string, TensorRef>> values;
    for (auto [name, value] : given) {
      if (!isTensor(value.ptr()))
        throw nb::type_error(("load_state_dict: values must be Tensor, got " + describeObject(value.ptr())).c_str());
      values.emplace_back(nb::cast<std::string>(name), TensorRef(&implOf(value.ptr())));
    }
    checkOrThrow(program->setState(values));
  }
  nb::dict dims() const {
    nb::dict dims;
    for (const runtime::SymbolDecl &symbol : program->executable().symbols) {
      nb::object max = symbol.max == INT64_MAX ? nb::none() : nb::object(nb::int_(symbol.max));
      dims[symbol.name.c_str()] = nb::make_tuple(symbol.min, max);
    }
    return dims;
  }
};

/// What a recording is compiled with.
struct ProgramOptions {
  GraphOptions graph;
  bool fuse = true;
};

ProgramOptions optionsOf(const nb::dict &options) {
  ProgramOptions read;
  auto &[graph, fuse] = read;
  if (options.contains("capture_as_const"))
    graph.captureAsConstants = nb::cast<bool>(options["capture_as_const"]);
  if (options.contains("fuse"))
    fuse = nb::cast<bool>(options["fuse"]);
  if (options.contains("numerics"))
    graph.numerics = valueOrThrow(ir::parseNumerics("trace", nb::cast<std::string>(options["numerics"])));
  if (options.contains("memory_limit"))
    graph.memory = MemoryLimit{nb::cast<uint64_t>(options["memory_limit"]), /*isGoal=*/false};
  if (options.contains("memory_goal"))
    graph.memory = MemoryLimit{nb::cast<uint64_t>(options["memory_goal"]), /*isGoal=*/true};
  if (options.contains("donated"))
    for (nb::handle argument : options["donated"])
      graph.donated.push_back(nb::cast<unsigned>(argument));
  return read;
}

PyProgram compile(const PyRecording &self, const nb::dict &options) {
  auto [graph, fuse] = optionsOf(options);
  return {valueOrThrow(TracedProgram::compile(self.recording, graph, fuse))};
}

/// One program for calls of other sizes, as one object of Python.
struct PySizedProgram {
  SizedProgram::Ref sized;
  std::optional<PyProgram> program = std::nullopt;

  PyProgram *get(nb::handle arguments, const nb::dict &given) {
    auto [graph, fuse] = optionsOf(given);
    auto found = valueOrThrow(sized->get(tensorsOf(arguments, "get"), graph, fuse));
    if (found && !program)
      program.emplace(PyProgram{found});
    return found ? &*program : nullptr;
  }
};

/// What serves both recordings and those that `known` serves, perhaps that; else why there is nothing.
nb::object shareProgram(const PyRecording &first, const PyRecording &second, nb::handle known) {
  SizedProgram::Ref before = known.is_none() ? nullptr : nb::cast<PySizedProgram &>(known).sized;
  auto [program, why] = valueOrThrow(SizedProgram::of(first.recording, second.recording, before));
  if (!program)
    return nb::str(why.c_str());
  return program == before ? nb::borrow(known) : nb::cast(PySizedProgram{program});
}

nb::list captured(const PyRecording &self) {
  nb::list list;
  for (uint32_t number : self.recording->captured())
    list.append(nb::steal(wrap(self.recording->values()[number].tensor)));
  return list;
}

struct PySegment {
  Segment segment;

  PyProgram compile(const nb::dict &options) const { return tess::python::compile({segment.recording}, options); }
  std::string key() const { return valueOrThrow(segment.key()); }
  void run(const PyProgram &program) const { checkOrThrow(segment.run(*program.program)); }
  size_t numOps() const { return segment.recording->ops().size(); }
};

nb::list listOf(const std::vector<RecordingLine> &lines) {
  nb::list list;
  for (const RecordingLine &line : lines) {
    std::string place = line.location ? line.location->describe() : "",
                source = line.location ? line.location->source() : "";
    list.append(nb::make_tuple(place, source, line.text));
  }
  return list;
}

nb::object compareRecordings(const PyRecording &first, const PyRecording &second) {
  RecordingWriter writer;
  auto one = valueOrThrow(writer.write(*first.recording)), other = valueOrThrow(writer.write(*second.recording));
  auto same = [](const RecordingLine &a, const RecordingLine &b) { return a.text == b.text; };
  if (llvm::equal(one, other, same))
    return nb::none();
  return nb::make_tuple(listOf(one), listOf(other));
}

/// Why the recording holds only where data decides sizes as it did; none: it holds for others, too.
std::optional<std::string> whyFixedByData(const PyRecording &recorded, const nb::callable &record) {
  auto again = [&](const SizeMove &move) -> llvm::Expected<RecordingRef> {
    try {
      return nb::cast<PyRecording>(record(move)).recording;
    } catch (const nb::python_error &error) {
      if (!error.matches(PyExc_Exception)) // a KeyboardInterrupt says nothing about sizes
        throw;
      return invalidArgument(nb::cast<std::string>(nb::str(error.value())));
    }
  };
  std::string why = valueOrThrow(eager::whyFixedByData(*recorded.recording, again));
  return why.empty() ? std::nullopt : std::optional(why);
}

/// The tensor that the caller's Python uses for a result: `recorded`, if the recording left it without a value.
nb::object giveValue(nb::handle recorded, nb::handle result) {
  TensorImpl &target = implOf(recorded.ptr());
  if (!isValueless(target))
    return nb::borrow(result);
  assign(target, implOf(result.ptr()));
  return nb::borrow(recorded);
}

/// For each captured variable, whether a tape tracks its first value.
nb::tuple capturedTracked(const PyRecording &self) {
  nb::list flags;
  for (uint32_t number : self.recording->captured())
    flags.append(isTracked(*self.recording->values()[number].snapshot));
  return nb::tuple(flags);
}

nb::tuple tracked(nb::handle tensors) {
  nb::list flags;
  for (const TensorRef &tensor : tensorsOf(tensors, "tracked"))
    flags.append(isTracked(*tensor));
  return nb::tuple(flags);
}

/// Takes the tensor's value away; a later use reports the reason.
void giveUp(nb::handle tensor, const std::string &why) {
  TensorImpl &impl = implOf(tensor.ptr());
  OnDevice here(impl.storage().device());
  TensorRef none =
      valueless(impl.meta(), noValue(ErrorCode::InvalidArgument, why + ", got a use of " + toString(impl.meta())));
  impl.rebind(*none);
}

thread_local std::shared_ptr<Recorder> recorder;
/// The point in the recording where the gradient of the function begins.
thread_local Recorder::Boundary boundary;

void traceBegin(nb::handle arguments, bool run, bool bounds, const PyRecording *like, SizeMove move, bool reads,
                const nb::object &between) {
  Recorder::Mode mode = run ? Recorder::Mode::Run : bounds ? Recorder::Mode::InferBounds : Recorder::Mode::InferOnly;
  DataSizes dataSizes{like ? like->recording : nullptr, std::move(move)};
  recorder = valueOrThrow(Recorder::begin(tensorsOf(arguments, "trace_begin"), mode, dataSizes));
  if (reads)
    recorder->allowReads();
  if (!between.is_none())
    recorder->allowInterruptions([between](bool ends) -> llvm::Error {
      nb::object done = nb::steal(PyObject_CallFunctionObjArgs(between.ptr(), ends ? Py_True : Py_False, nullptr));
      return done ? llvm::Error::success() : takePythonError();
    });
}

/// `wanted`, with other tensors of the same value, which tapes know by it, for those that the recorded call updates.
nb::list valuesBefore(const PyRecording &self, nb::handle arguments, nb::handle wanted) {
  llvm::SmallPtrSet<const TensorImpl *, 8> updated;
  std::vector<TensorRef> given = tensorsOf(arguments, "values_before");
  for (const Recording::Update &update : self.recording->updates())
    updated.insert(update.argument < 0 ? update.variable.get() : given[update.argument].get());
  nb::list values;
  for (const TensorRef &tensor : tensorsOf(wanted, "values_before"))
    values.append(nb::steal(wrap(updated.contains(tensor.get()) ? tensor->dup() : tensor)));
  return values;
}

nb::object valuelessTensor(const std::vector<int64_t> &shape, nb::handle dtype, const std::string &device) {
  std::optional<DType> type = valueOrThrow(toDType(dtype.ptr()));
  if (shape.size() > kMaxRank || llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    throwError(invalidArgument("Spec: shape must have at most " + llvm::Twine(kMaxRank) + " sizes of at least 0, got " +
                               toString(shape)));
  TensorMeta meta(type.value_or(DType::Float32), shape);
  checkOrThrow(checkQuantized("Spec", meta));
  OnDevice here(device.empty() ? creationDevice() : *valueOrThrow(runtime::findDevice(device, "Spec")));
  return nb::steal(wrap(valueless(meta)));
}

PyRecording traceEnd(nb::handle outputs) {
  if (!recorder)
    throwError(invalidArgument("trace_end: a recording must have begun on this thread, got none"));
  std::shared_ptr<Recorder> ending = std::move(recorder);
  try {
    return {ending->end(tensorsOf(outputs, "trace_end"))};
  } catch (...) {
    ending->abandon();
    throw;
  }
}

/// The gradients of the function's results, as arguments. None for a result without one, by `mask` or because it is
/// neither a float nor complex.
nb::list traceGradient(nb::handle outputs, nb::handle mask) {
  auto results = tensorsOf(outputs, "trace_gradient");
  boundary = recorder->beginGradient(results);
  nb::list grads;
  for (auto [i, result] : llvm::enumerate(results)) {
    bool gets = mask.is_none() ? isDifferentiable(result->dtype()) : nb::cast<bool>(mask[i]);
    grads.append(gets ? nb::steal(wrap(recorder->addArgument(*result))) : nb::none());
  }
  return grads;
}

/// Ends a recording without using it; true when the function must run to be recorded.
bool traceAbandon() {
  std::shared_ptr<Recorder> ending = std::move(recorder);
  if (!ending)
    return false;
  ending->abandon();
  return ending->mustRun();
}

/// Ends a recording; returns (forward, backward, saved), where saved is a list of (kind, index, value).
nb::tuple traceEndGradient(nb::handle outputs, nb::handle grads) {
  auto results = tensorsOf(outputs, "trace_end_gradient"), all = results;
  for (TensorRef &grad : tensorsOf(grads, "trace_end_gradient"))
    all.push_back(std::move(grad));
  std::shared_ptr<Recorder> ending = std::move(recorder);
  Recording whole = ending->endWhole(all);
  size_t numArguments = llvm::count_if(whole.arguments(), [](uint32_t number) { return number < boundary.values; });
  auto halves = valueOrThrow(splitRecording(std::move(whole), boundary, numArguments, results.size()));
  nb::list saved;
  for (const GradientRecording::Saved &each : halves.saved)
    saved.append(nb::make_tuple(int(each.kind), each.index, each.value));
  return nb::make_tuple(PyRecording{halves.forward}, PyRecording{halves.backward}, saved);
}

PySegment traceEndSegment() {
  std::shared_ptr<Recorder> ending = std::move(recorder);
  return {ending->endSegment()};
}

/// The gradients that the function leaves behind, as further outputs, and what its call does to gradients.
nb::tuple traceGrads(nb::handle arguments) {
  Tensors left;
  GradEffects effects(*recorder, tensorsOf(arguments, "trace_grads"), left);
  nb::list grads;
  for (TensorRef &grad : left)
    grads.append(nb::steal(wrap(std::move(grad))));
  return nb::make_tuple(grads, std::move(effects));
}

PyProgram loadProgram(const std::string &path, bool allowCode) {
  return {valueOrThrow(TracedProgram::load(path, allowCode))};
}

void initRecording(nb::module_ &module) {
  nb::class_<PyRecording>(module, "Recording", "What a traced function did.")
      .def("compile", &compile, nb::arg("options") = nb::dict(),
           "The program; options: capture_as_const, fuse, numerics, donated (arguments by number).")
      .def_prop_ro("captured", &captured, "The variables from outside, in the order of their first use.")
      .def("captured_tracked", &capturedTracked)
      .def("values_before", &valuesBefore, nb::arg("arguments"), nb::arg("wanted"),
           "`wanted` before the call with these arguments: other tensors for those that it updates.")
      .def(
          "valueless_arguments",
          [](PyRecording &self) {
            nb::list arguments;
            for (uint32_t number : self.recording->arguments()) {
              const Recording::Value &value = self.recording->values()[number];
              OnDevice here(*value.device);
              arguments.append(nb::steal(wrap(valueless(value.meta))));
            }
            return arguments;
          },
          "Tensors like its arguments, without values.")
      .def("view", &viewOf, nb::arg("known"), nb::arg("free"),
           "Its operators, values, arguments and results; composites that are not `known` as what they are made of. "
           "`free`: (argument, axis, name) of sizes that are expressions.")
      .def_prop_ro(
          "result_names",
          [](PyRecording &self) {
            std::vector<std::string> names;
            for (uint32_t number : self.recording->results()) {
              const Recording::Value &value = self.recording->values()[number];
              names.push_back(value.kind == Recording::ValueKind::Computed ? value.name : "");
            }
            return names;
          },
          "The names that the function gave its results; \"\": none.")
      .def_prop_ro("has_data_sizes", [](PyRecording &self) { return self.recording->hasDataSizes(); })
      .def_prop_ro("why_taken_for_equal", [](PyRecording &self) { return eager::whyTakenForEqual(*self.recording); })
      .def_prop_ro(
          "why_eager", [](PyRecording &self) { return self.recording->whyEager(); },
          "Why no program does what the function did; \"\": nothing forbids one.")
      .def_prop_ro("num_ops", [](PyRecording &self) { return self.recording->ops().size(); })
      .def_prop_ro("held_bytes", [](PyRecording &self) { return self.recording->heldBytes(); });
}

void initProgram(nb::module_ &module) {
  nb::class_<PyProgram>(module, "TracedProgram", "A compiled function: called with tensors, gives a list of tensors.")
      .def("__call__", &PyProgram::call)
      .def_prop_ro("rewrites", &PyProgram::rewrites, "A line for each rewrite that its numerics allowed.")
      .def_prop_ro("kernel_choices", [](PyProgram &self) { return self.program->kernelChoices(); })
      .def_prop_ro("launches", [](PyProgram &self) { return self.program->launches(); })
      .def_prop_ro("held_bytes", [](PyProgram &self) { return self.program->heldBytes(); })
      .def_prop_ro("planned_bytes", [](PyProgram &self) { return self.program->plannedBytes(); })
      .def("bind", &PyProgram::bindTo)
      .def(
          "account", [](PyProgram &self, bool withBoundaries) { return accountOf(*self.program, withBoundaries); },
          nb::arg("with_boundaries") = true,
          "The latest binding, as JSON (runtime/bind/Account.h); boundaries need a compilation.")
      .def_prop_ro(
          "fitted", [](PyProgram &self) { return fittedOf(*self.program); },
          "Its limit of memory, the bytes of a run without it and now, the factor of time, and what runs again as "
          "(operators, location, bytes). None: it has no limit.")
      .def_prop_ro("memory", [](PyProgram &self) { return memoryOf(*self.program); })
      .def_prop_ro("inputs", [](PyProgram &self) { return self.program->inputs(); })
      .def_prop_ro("outputs", [](PyProgram &self) { return self.program->outputs(); })
      .def("state", &PyProgram::state)
      .def("set_state", &PyProgram::setState)
      .def_prop_ro("dims", &PyProgram::dims)
      .def_prop_ro("bits_version", [](PyProgram &self) { return self.program->bitsVersion(); })
      .def("graph_text", [](PyProgram &self) { return self.program->graphText(); });
}

void initClasses(nb::module_ &module) {
  initRecording(module);
  initProgram(module);
}

} // namespace

void initTrace(nb::module_ &module) {
  initClasses(module);
  module.attr("LEAST_FREE_SIZE") = kLeastFreeSize;
  nb::class_<PySizedProgram>(module, "SizedProgram",
                             "The program of recordings that differ in sizes of arguments only.")
      .def_static("of", &shareProgram, nb::arg("first"), nb::arg("second"), nb::arg("known").none(),
                  "For both recordings, and those that `known` serves; it may be the answer. A text: why no program "
                  "serves them.")
      .def("get", &PySizedProgram::get, nb::arg("arguments"), nb::arg("options"), nb::rv_policy::reference_internal,
           "The program, bound to the sizes of the arguments; None where it cannot be.")
      .def(
          "is_of",
          [](PySizedProgram &self, const PyRecording &recording) { return self.sized->isOf(recording.recording); },
          nb::arg("recording"))
      .def_prop_ro("is_compiled", [](PySizedProgram &self) { return self.sized->isCompiled(); })
      .def_prop_ro("num_axes", [](PySizedProgram &self) { return self.sized->axes().size(); })
      .def_prop_ro("why", [](PySizedProgram &self) { return self.sized->why(); });
  module.def(
      "trace_begin", &traceBegin, nb::arg("arguments"), nb::arg("run") = true, nb::arg("bounds") = false,
      nb::arg("like").none() = nb::none(), nb::arg("move") = SizeMove(), nb::arg("reads") = false,
      nb::arg("between").none() = nb::none(),
      "Records this thread's operators; without `run` they are inferred only, with `bounds` at the upper bounds of "
      "sizes that depend on data. With `reads` values may be read, by which the recording is no program. `between` is "
      "called with True to run what is recorded, before a value is needed, and with False to record on.");
  module.def("valueless_tensor", &valuelessTensor, nb::arg("shape"), nb::arg("dtype"), nb::arg("device") = "",
             "A tensor that has a shape and no memory.");
  module.def("trace_end", &traceEnd, nb::arg("outputs"), "Ends the recording.");
  nb::class_<PySegment>(module, "Segment", "A part of a function, recorded to run later.")
      .def("compile", &PySegment::compile, nb::arg("options") = nb::dict())
      .def("run", &PySegment::run, nb::arg("program"), "Gives its results their values.")
      .def_prop_ro("key", &PySegment::key, "Equal for parts that one program serves.")
      .def_prop_ro("num_ops", &PySegment::numOps);
  nb::class_<StoppedTapes>(module, "StoppedTapes", "Tapes of this thread, which record nothing until start().")
      .def(nb::init<>())
      .def("start", &StoppedTapes::start);
  module.def("trace_end_segment", &traceEndSegment, "Ends a recording that ran nothing, to run it later.");
  module.def("is_trace_disabled", &isTraceDisabled,
             "TESS_DISABLE_TRACE is set, and not to 0; reading os.environ costs more.");
  module.def("num_tapes", &numTapes, "Tapes that record on this thread.");
  module.def("tracked", &tracked, nb::arg("tensors"), "For each tensor whether a tape that records knows it.");
  module.def("trace_abandon", &traceAbandon, "Ends the recording, if one runs; true when the function must run.");
  module.def("trace_gradient", &traceGradient, nb::arg("outputs"), nb::arg("mask") = nb::none(),
             "The function has ended, its gradient follows: gradients of the outputs, as arguments.");
  module.def("trace_end_gradient", &traceEndGradient, nb::arg("outputs"), nb::arg("grads"),
             "Ends the recording: (forward, backward, what is saved between them).");
  module.def("trace_grads", &traceGrads, nb::arg("arguments"),
             "Gradients that the function leaves, as further outputs of its recording, and the GradEffects.");
  module.def(
      "note_grad", [](nb::handle tensor) { noteGrad(implOf(tensor.ptr())); }, nb::arg("tensor"),
      "Must be called before the gradient of `tensor` changes, or is replaced: this thread may record.");
  module.def("compare_recordings", &compareRecordings, nb::arg("first"), nb::arg("second"),
             "None for equal ones, else the lines of both: (place, source, operator).");
  module.def("why_fixed_by_data", &whyFixedByData, nb::arg("recording"), nb::arg("record"),
             "Why the recording holds only where data decides sizes as it did; None: it holds for others. `record` "
             "records the call again with these sizes moved by a number.");
  module.def("give_up", &giveUp, nb::arg("tensor"), nb::arg("why"), "The tensor has no value from now on.");
  module.def("give_value", &giveValue, nb::arg("recorded"), nb::arg("result"),
             "`result`, in the place of a tensor of a call that was recorded only.");
  module.def("load_program", &loadProgram, nb::arg("path"), nb::arg("allow_code") = false);
}

} // namespace tess::python
