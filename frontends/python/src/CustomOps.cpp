//===- CustomOps.cpp - operators of libraries and of Python functions -----===//
//
// A library's operators are callables like those of the records. One whose functions
// are Python's is declared by the same structs (ops/custom); its functions take the
// interpreter's lock, on whatever thread they run.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/OpFunction.h"

#include "ops/custom/CustomCalls.h"
#include "ops/custom/CustomRow.h"
#include "ops/custom/RecordFiles.h"
#include "ops/custom/Registry.h"
#include "ops/vocabulary/Quantization.h"
#include "runtime/device/CustomChecks.h"
#include "llvm/ADT/STLExtras.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <deque>

namespace tess::python {

namespace {

using custom::Operator;

/// (name of the dtype, tuple of sizes).
nb::object metaTuple(const TessMeta &meta) {
  nb::object sizes = nb::steal(PyTuple_New(meta.rank));
  for (int32_t i = 0; i < meta.rank; ++i)
    PyTuple_SET_ITEM(sizes.ptr(), i, PyLong_FromLongLong(meta.sizes[i]));
  return nb::make_tuple(numpyName(DType(meta.dtype)).str(), sizes);
}

/// Takes over the answer of Python for an output: a name of a dtype and sizes.
void setMeta(nb::handle given, TessMeta &meta) {
  auto [dtype, sizes] = nb::cast<std::tuple<std::string, std::vector<int64_t>>>(given);
  std::optional<DType> found = parseDType(dtype);
  if (!found)
    throw nb::value_error(("infer must give a dtype, got '" + dtype + "'").c_str());
  if (sizes.size() > kMaxRank)
    throw nb::value_error(("infer must give a rank <= 8, got " + std::to_string(sizes.size())).c_str());
  meta.dtype = int32_t(*found);
  meta.rank = int32_t(sizes.size());
  llvm::copy(sizes, meta.sizes);
}

/// An operator whose functions are those of a Python object; it lives for ever.
struct PythonOperator {
  nb::object functions; // has methods infer, forward, backward
  std::deque<std::string> texts;
  std::deque<std::vector<const char *>> choices;
  std::deque<std::vector<int32_t>> reads;
  std::vector<TessValue> inputs, outputs, states;
  std::vector<TessParameter> parameters;
  std::vector<TessPair> inplace;
  TessOperator op = {};
  TessLibrary library = {};
  const TessOperator *operators[1] = {&op};

  const char *kept(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
};

nb::object parametersOf(const PythonOperator &self, const TessHost &host, const TessCall *call, bool isTraining) {
  nb::dict values;
  for (auto [i, parameter] : llvm::enumerate(self.parameters)) {
    const auto number = uint32_t(i);
    switch (parameter.kind) {
    case TESS_PARAMETER_INT:
      values[parameter.name] = host.int_of(call, number);
      break;
    case TESS_PARAMETER_BOOL:
      values[parameter.name] = host.int_of(call, number) != 0;
      break;
    case TESS_PARAMETER_FLOAT:
      values[parameter.name] = host.float_of(call, number);
      break;
    case TESS_PARAMETER_TEXT:
      values[parameter.name] = host.text_of(call, number);
      break;
    case TESS_PARAMETER_INTS: {
      uint32_t count = 0;
      const int64_t *numbers = host.ints_of(call, number, &count);
      values[parameter.name] = nb::cast(std::vector<int64_t>(numbers, numbers + count));
    }
    }
  }
  if (self.op.flags & TESS_USES_TRAINING)
    values[custom::kIsTraining] = isTraining;
  return std::move(values);
}

/// While alive, nothing follows the frames of this thread: what a kernel calls is no part of the function that is
/// traced.
class Untraced {
public:
  Untraced() : state(PyThreadState_Get()) { PyThreadState_EnterTracing(state); }
  ~Untraced() { PyThreadState_LeaveTracing(state); }
  Untraced(const Untraced &) = delete;

private:
  PyThreadState *const state;
};

/// Calls `body` with the interpreter's lock; its exception becomes the call's error.
template <typename Asked, typename Body> int guarded(const Asked &asked, const Body &body) {
  nb::gil_scoped_acquire lock;
  const Untraced untraced;
  try {
    body();
    return 0;
  } catch (nb::python_error &error) {
    nb::object type = nb::borrow(error.type()).attr("__name__");
    const std::string text = nb::cast<std::string>(type) + ": " + nb::cast<std::string>(nb::str(error.value()));
    asked.host->fail(asked.call, text.c_str(), 1);
  } catch (const std::exception &error) {
    asked.host->fail(asked.call, error.what(), 0);
  }
  return 1;
}

int inferBy(TessInfer *infer) {
  bool wantsNumbers = false; // a size is open, and the function needs its number
  const int status = guarded(*infer, [&] {
    const auto &self = *static_cast<const PythonOperator *>(infer->user);
    nb::list metas;
    for (const TessMeta &meta : llvm::ArrayRef(infer->inputs, infer->num_inputs))
      metas.append(metaTuple(meta));
    nb::object given = self.functions.attr("infer")(metas, parametersOf(self, *infer->host, infer->call, false));
    wantsNumbers = given.is_none();
    if (wantsNumbers)
      return;
    auto results = nb::cast<std::vector<nb::object>>(given);
    if (results.size() != infer->num_outputs)
      throw nb::value_error(
          ("infer must give " + std::to_string(infer->num_outputs) + " outputs, got " + std::to_string(results.size()))
              .c_str());
    for (auto [i, meta] : llvm::enumerate(results))
      setMeta(meta, infer->outputs[i]);
  });
  if (!wantsNumbers)
    return status;
  infer->host->fail(infer->call, "sizes must be known, got open ones", 0);
  return TESS_OPEN_SIZES;
}

int64_t combineSizes(int op, int64_t a, int64_t b) { return custom::plainHost().combine(TessSizeOp(op), a, b); }

/// (address, name of the dtype, sizes, request) of each tensor.
nb::list memoryOf(const TessTensor *tensors, uint32_t count) {
  nb::list list;
  for (const TessTensor &tensor : llvm::ArrayRef(tensors, count)) {
    if (!tensor.data && tensor.request == TESS_NULL) {
      list.append(nb::none());
      continue;
    }
    nb::object meta = metaTuple(*tensor.meta);
    list.append(nb::make_tuple(reinterpret_cast<uintptr_t>(tensor.data), meta[0], meta[1], int(tensor.request)));
  }
  return list;
}

int runBy(const TessRun *run, const char *method) {
  return guarded(*run, [&] {
    const auto &self = *static_cast<const PythonOperator *>(run->user);
    nb::object sizes = self.functions.attr(method)(
        memoryOf(run->inputs, run->num_inputs), memoryOf(run->outputs, run->num_outputs),
        memoryOf(run->states, run->num_states), parametersOf(self, *run->host, run->call, run->is_training),
        nb::make_tuple(run->seed, run->offset));
    if (sizes.is_none())
      return;
    for (auto [i, size] : llvm::enumerate(nb::cast<std::vector<int64_t>>(sizes)))
      run->data_sizes[i] = size;
  });
}

int forwardBy(const TessRun *run) { return runBy(run, "forward"); }
int backwardBy(const TessRun *run) { return runBy(run, "backward"); }

/// Kinds of parameters by the names that Python has for them.
constexpr std::pair<llvm::StringLiteral, TessParameterKind> kKinds[] = {{"int", TESS_PARAMETER_INT},
                                                                        {"float", TESS_PARAMETER_FLOAT},
                                                                        {"bool", TESS_PARAMETER_BOOL},
                                                                        {"str", TESS_PARAMETER_TEXT},
                                                                        {"ints", TESS_PARAMETER_INTS}};

TessParameterKind kindOf(const std::string &name) {
  return llvm::find_if(kKinds, [&](const auto &each) { return each.first == name; })->second;
}

llvm::StringRef nameOf(TessParameterKind kind) {
  return llvm::find_if(kKinds, [&](const auto &each) { return each.second == kind; })->first;
}

using Value = std::tuple<std::string, uint32_t, uint32_t>; // name, dtypes, flags
/// name, kind, doc, default, least, most, choices
using Parameter = std::tuple<std::string, std::string, std::string, std::optional<std::string>,
                             std::optional<std::string>, std::optional<std::string>, std::vector<std::string>>;

void addValues(PythonOperator &to, nb::handle given, std::vector<TessValue> &values) {
  for (auto &[name, dtypes, flags] : nb::cast<std::vector<Value>>(given))
    values.push_back({to.kept(name), dtypes, flags});
}

void addParameter(PythonOperator &to, const Parameter &given) {
  const auto &[name, kind, doc, byDefault, least, most, choices] = given;
  auto orNull = [&](const std::optional<std::string> &text) { return text ? to.kept(*text) : nullptr; };
  const char *const *list = nullptr;
  if (!choices.empty()) {
    auto &kept = to.choices.emplace_back();
    for (const std::string &choice : choices)
      kept.push_back(to.kept(choice));
    kept.push_back(nullptr);
    list = kept.data();
  }
  to.parameters.push_back(
      {to.kept(name), to.kept(doc), orNull(byDefault), orNull(least), orNull(most), list, kindOf(kind)});
}

const int32_t *readsOf(PythonOperator &to, nb::handle given) {
  if (given.is_none())
    return nullptr;
  auto &kept = to.reads.emplace_back(nb::cast<std::vector<int32_t>>(given));
  kept.push_back(-1);
  return kept.data();
}

std::unique_ptr<PythonOperator> operatorOf(const nb::dict &spec, nb::object functions) {
  auto made = std::make_unique<PythonOperator>();
  TessOperator &op = made->op;
  op.size = sizeof op;
  op.name = made->kept(nb::cast<std::string>(spec["name"]));
  op.summary = made->kept(nb::cast<std::string>(spec["summary"]));
  op.doc = made->kept(nb::cast<std::string>(spec["doc"]));
  op.flags = nb::cast<uint32_t>(spec["flags"]);
  op.onnx = spec["onnx"].is_none() ? nullptr : made->kept(nb::cast<std::string>(spec["onnx"]));
  addValues(*made, spec["inputs"], made->inputs);
  addValues(*made, spec["outputs"], made->outputs);
  addValues(*made, spec["states"], made->states);
  for (const Parameter &parameter : nb::cast<std::vector<Parameter>>(spec["parameters"]))
    addParameter(*made, parameter);
  for (auto [input, output] : nb::cast<std::vector<std::tuple<uint32_t, uint32_t>>>(spec["inplace"]))
    made->inplace.push_back({input, output});
  op.inputs = made->inputs.data(), op.num_inputs = uint32_t(made->inputs.size());
  op.outputs = made->outputs.data(), op.num_outputs = uint32_t(made->outputs.size());
  op.states = made->states.data(), op.num_states = uint32_t(made->states.size());
  op.parameters = made->parameters.data(), op.num_parameters = uint32_t(made->parameters.size());
  op.inplace = made->inplace.data(), op.num_inplace = uint32_t(made->inplace.size());
  op.reads_gradients = readsOf(*made, spec["reads_gradients"]);
  op.reads_inputs = readsOf(*made, spec["reads_inputs"]);
  op.reads_outputs = readsOf(*made, spec["reads_outputs"]);
  op.infer = inferBy;
  op.forward = forwardBy;
  op.backward = nb::cast<bool>(spec["has_backward"]) ? backwardBy : nullptr;
  op.user = made.get();
  made->functions = std::move(functions);
  made->library = {sizeof(TessLibrary),
                   TESS_CUSTOM_ABI,
                   made->kept(llvm::StringRef(op.name).split("::").first.str()),
                   made->kept(nb::cast<std::string>(spec["version"])),
                   made->operators,
                   1};
  return made;
}

/// The number of the input that is variadic, or None.
nb::object variadicOf(const TessOperator &op) {
  const llvm::ArrayRef inputs(op.inputs, op.num_inputs);
  const auto *found = llvm::find_if(inputs, [](const TessValue &input) { return input.flags & TESS_VARIADIC; });
  return found == inputs.end() ? nb::none() : nb::cast(found - inputs.begin());
}

/// Facts of an operator that Python keeps.
nb::dict described(const Operator &op) {
  const TessOperator &functions = op.functions();
  nb::dict row;
  row["name"] = functions.name;
  row["library"] = op.origin().library;
  row["version"] = op.origin().version;
  row["path"] = op.origin().path;
  row["function"] = nb::steal(addedFunction(op.forward()));
  row["num_inputs"] = functions.num_inputs;
  nb::list states;
  for (const TessValue &state : llvm::ArrayRef(functions.states, functions.num_states))
    states.append(state.name);
  row["states"] = states;
  nb::dict parameters;
  for (const TessParameter &parameter : llvm::ArrayRef(functions.parameters, functions.num_parameters))
    parameters[parameter.name] = nameOf(parameter.kind).data();
  if (op.usesTraining())
    parameters[custom::kIsTraining] = nameOf(TESS_PARAMETER_BOOL).data();
  row["parameters"] = parameters;
  row["variadic"] = variadicOf(functions);
  row["num_returned"] = op.numReturned();
  row["uses_random"] = op.usesRandom();
  row["has_gradient"] = op.backward() != nullptr;
  row["maps_batch"] = (functions.flags & TESS_MAPS_BATCH) != 0;
  row["onnx"] = functions.onnx ? nb::cast(functions.onnx) : nb::none();
  return row;
}

nb::list describedAll(llvm::Expected<std::vector<const Operator *>> operators) {
  nb::list list;
  for (const Operator *op : valueOrThrow(std::move(operators)))
    list.append(described(*op));
  return list;
}

nb::list loadLibrary(const std::string &path) { return describedAll(custom::loadLibrary(path)); }

/// Describes a record of a file so, too.
nb::dict described(const custom::RecordRow &record) {
  const OpInfo &info = record.info();
  auto isReturned = [](const ResultInfo &result) { return !result.hidden; };
  nb::dict row;
  row["name"] = record.origin().library + "::" + info.pythonName;
  row["library"] = record.origin().library;
  row["version"] = record.origin().version;
  row["path"] = record.origin().path;
  row["function"] = nb::steal(addedFunction(info));
  row["num_inputs"] = info.operands.size();
  row["states"] = nb::list();
  row["parameters"] = nb::dict();
  row["variadic"] = nb::none();
  row["num_returned"] = llvm::count_if(info.results, isReturned);
  row["uses_random"] = false;
  row["has_gradient"] = info.gradient != nullptr;
  row["maps_batch"] = false;
  row["onnx"] = nb::none();
  return row;
}

nb::list describedAll(llvm::Expected<std::vector<const custom::RecordRow *>> records) {
  nb::list list;
  for (const custom::RecordRow *record : valueOrThrow(std::move(records)))
    list.append(described(*record));
  return list;
}

nb::list loadRecords(const std::string &path) { return describedAll(custom::loadRecords(path)); }

nb::list addRecords(const std::string &text, const std::string &path) {
  return describedAll(custom::addRecords(text, path));
}

nb::list addCustomOp(const nb::dict &spec, nb::object functions) {
  std::unique_ptr<PythonOperator> made = operatorOf(spec, std::move(functions));
  nb::list list = describedAll(custom::addLibrary(made->library));
  [[maybe_unused]] const PythonOperator *kept = made.release(); // rows point to it for ever
  return list;
}

void setParameter(OpDef &op, llvm::StringRef name, nb::handle value) {
  AttrValue converted; // of a name that is none: trySet says so
  for (const AttrInfo &attr : op.info().attrs)
    if (name == attr.name)
      converted = valueOrThrow(toAttr(op.name(), name, attr, value.ptr()));
  checkOrThrow(op.trySet(name, std::move(converted)));
}

/// Metas of a call's inputs and outputs, each (name of the dtype, sizes with -1 for an unknown one) or None.
nb::tuple inferMetas(const std::string &name, const nb::dict &parameters, const nb::list &inputs,
                     const nb::list &outputs) {
  const OpInfo *info = findOp(name);
  if (!info || !info->custom)
    throwError(makeError(ErrorCode::NotFound, "infer: operator must be one of a library, got '" + name + "'"));
  OpDef op(*info);
  for (auto [key, value] : parameters)
    setParameter(op, nb::cast<std::string>(key), value);
  custom::Known known;
  auto read = [](const nb::list &from, auto &to) {
    for (nb::handle each : from) {
      if (each.is_none()) {
        to.push_back(std::nullopt);
        continue;
      }
      TessMeta meta = {};
      setMeta(each, meta);
      for (int64_t &size : llvm::MutableArrayRef(meta.sizes, size_t(meta.rank)))
        size = size < 0 ? kUnknown : size;
      to.push_back(TensorMeta(DType(meta.dtype), llvm::ArrayRef(meta.sizes, size_t(meta.rank))));
    }
  };
  read(inputs, known.inputs);
  read(outputs, known.outputs);
  const bool isComplete = valueOrThrow(custom::inferBothWays(op, known));
  auto shown = [](const auto &metas) {
    nb::list list;
    for (const std::optional<TensorMeta> &meta : metas) {
      if (!meta) {
        list.append(nb::none());
        continue;
      }
      TessMeta one = custom::metaFor(*meta);
      for (int64_t &size : llvm::MutableArrayRef(one.sizes, size_t(one.rank)))
        size = size == kUnknown ? -1 : size;
      list.append(metaTuple(one));
    }
    return list;
  };
  return nb::make_tuple(shown(known.inputs), shown(known.outputs), isComplete);
}

/// Numbers of custom_op_abi.h that Python's side of an operator uses, by their names there.
nb::dict abiNumbers() {
  nb::dict numbers;
#define TESS_ABI_NUMBER(NAME) numbers[#NAME] = int(NAME)
  TESS_ABI_NUMBER(TESS_CUSTOM_ABI);
  TESS_ABI_NUMBER(TESS_ANY_DTYPE);
  TESS_ABI_NUMBER(TESS_NULL);
  TESS_ABI_NUMBER(TESS_WRITE);
  TESS_ABI_NUMBER(TESS_INPLACE);
  TESS_ABI_NUMBER(TESS_ADD);
  TESS_ABI_NUMBER(TESS_SIZE_ADD);
  TESS_ABI_NUMBER(TESS_SIZE_SUB);
  TESS_ABI_NUMBER(TESS_SIZE_MUL);
  TESS_ABI_NUMBER(TESS_SIZE_FLOORDIV);
  TESS_ABI_NUMBER(TESS_SIZE_MOD);
  TESS_ABI_NUMBER(TESS_OPTIONAL);
  TESS_ABI_NUMBER(TESS_VARIADIC);
  TESS_ABI_NUMBER(TESS_HIDDEN);
  TESS_ABI_NUMBER(TESS_DATA_SIZED);
  TESS_ABI_NUMBER(TESS_USES_RANDOM);
  TESS_ABI_NUMBER(TESS_USES_TRAINING);
  TESS_ABI_NUMBER(TESS_MAPS_BATCH);
#undef TESS_ABI_NUMBER
  return numbers;
}

} // namespace

void initCustomOps(nb::module_ &module) {
  module.def("load_library", &loadLibrary, nb::arg("path"),
             "Opens a library of operators; a dict for each. Errors: FileNotFoundError, ValueError, "
             "NotImplementedError.");
  module.def("load_records", &loadRecords, nb::arg("path"),
             "Adds the operators of records that tess-tblgen wrote; a dict for each. Errors: FileNotFoundError, "
             "ValueError, NotImplementedError.");
  module.def("add_records", &addRecords, nb::arg("text"), nb::arg("path"),
             "The same of the text of such a file, and where it comes from.");
  module.def("add_custom_op", &addCustomOp, nb::arg("spec"), nb::arg("functions"),
             "Adds an operator whose functions are those of a Python object.");
  module.def("infer_custom_op", &inferMetas, nb::arg("name"), nb::arg("parameters"), nb::arg("inputs"),
             nb::arg("outputs"), "What is known of a call, forwards and backwards, and whether that is all.");
  module.def("combine_sizes", &combineSizes, nb::arg("operation"), nb::arg("a"), nb::arg("b"),
             "The result of an operation on two sizes, TESS_SIZE_ADD or another of custom_op_abi().");
  module.def("custom_op_abi", &abiNumbers, "Numbers of custom_op_abi.h by their names.");
  module.def("set_custom_checks", &runtime::setCustomChecks, nb::arg("on"),
             "Whether runs of libraries' operators are checked for writes beyond their outputs.");
  module.def("has_custom_checks", &runtime::hasCustomChecks);
}

} // namespace tess::python
