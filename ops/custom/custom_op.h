//===- custom_op.h - operators of a library -----------------------*- C++ -*-===//
//
// A library brings operators to Tessera. Each is a class of static functions:
//
//   struct ScaledRelu {
//     static void declare(Declaration &d) {
//       d.name("demo::scaled_relu").input("x", kFloat32).output("out").parameter("scale", 1.0, "factor above 0");
//       d.backwardReads({"d_out", "x"});
//     }
//     static void infer(Infer &i) { i.output(0) = i.input(0); }
//     static void forward(const Run &r) { ... r.input(0).data<float>() ... r.output(0).data<float>() ... }
//     static void backward(const Run &r) { ... }
//   };
//   TESSERA_LIBRARY("demo", "1.0", ScaledRelu)
//
// Optional functions: inferBack(Infer &), resources(const Infer &, bool isBackward, Resources &), and a type State
// with a constructor State(const Infer &, bool isBackward), which a binding keeps (Run::made<State>()). Errors are
// exceptions. Needs C++17 and no other header of Tessera; what crosses the border is custom_op_abi.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "custom_op_abi.h"

#include <deque>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::custom {

/// Sets of dtypes for Declaration.
constexpr uint32_t kAny = TESS_ANY_DTYPE, kFloat16 = TESS_DTYPE_BIT(TESS_FLOAT16),
                   kBFloat16 = TESS_DTYPE_BIT(TESS_BFLOAT16), kFloat32 = TESS_DTYPE_BIT(TESS_FLOAT32),
                   kFloat64 = TESS_DTYPE_BIT(TESS_FLOAT64), kInt32 = TESS_DTYPE_BIT(TESS_INT32),
                   kInt64 = TESS_DTYPE_BIT(TESS_INT64), kBool = TESS_DTYPE_BIT(TESS_BOOL),
                   kUInt8 = TESS_DTYPE_BIT(TESS_UINT8), kInt8 = TESS_DTYPE_BIT(TESS_INT8),
                   kFloats = kFloat16 | kBFloat16 | kFloat32 | kFloat64;

/// A state that is wrong, rather than an argument: what is thrown becomes a RuntimeError, not a ValueError.
struct StateError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What number() of a size throws that is not known yet.
struct OpenSize : std::invalid_argument {
  OpenSize() : std::invalid_argument("size must be known, got an open one") {}
};

/// A size of a tensor. It may stand for an expression of sizes that are not known yet, with which one may calculate.
class Size {
public:
  Size(int64_t value = TESS_UNKNOWN_SIZE, const TessHost *host = nullptr) : value(value), host(host) {}
  /// Whether it is a number from 0 on.
  bool isNumber() const { return value >= 0; }
  /// The number; throws where there is none yet.
  int64_t number() const {
    if (!isNumber())
      throw OpenSize();
    return value;
  }
  /// What the other side knows it by.
  int64_t raw() const { return value; }
  /// Whether both are the same number or expression.
  bool operator==(const Size &other) const { return value == other.value; }
  /// Whether they are known to differ.
  bool differs(const Size &other) const { return isNumber() && other.isNumber() && value != other.value; }

  friend Size operator+(Size a, Size b) { return combined(TESS_SIZE_ADD, a, b); }
  friend Size operator-(Size a, Size b) { return combined(TESS_SIZE_SUB, a, b); }
  friend Size operator*(Size a, Size b) { return combined(TESS_SIZE_MUL, a, b); }
  /// Rounds towards minus infinity.
  friend Size operator/(Size a, Size b) { return combined(TESS_SIZE_FLOORDIV, a, b); }
  friend Size operator%(Size a, Size b) { return combined(TESS_SIZE_MOD, a, b); }
  friend Size max(Size a, Size b) { return combined(TESS_SIZE_MAX, a, b); }
  friend Size min(Size a, Size b) { return combined(TESS_SIZE_MIN, a, b); }

private:
  static Size combined(TessSizeOp op, Size a, Size b) {
    const TessHost *host = a.host ? a.host : b.host;
    return {host ? host->combine(op, a.value, b.value) : TESS_UNKNOWN_SIZE, host};
  }

  int64_t value;
  const TessHost *host;
};

/// What is known of a tensor: another one may be assigned, and so may its parts.
class Meta {
public:
  Meta(TessMeta &meta, const TessHost *host) : meta(meta), host(host) {}
  Meta &operator=(const Meta &other) {
    meta = other.meta;
    return *this;
  }
  Meta(const Meta &) = default;

  bool hasDType() const { return meta.dtype != TESS_UNKNOWN; }
  int32_t dtype() const { return meta.dtype; }
  bool hasRank() const { return meta.rank != TESS_UNKNOWN; }
  int32_t rank() const { return meta.rank; }
  /// The size of an axis, which counts from the end below 0.
  Size size(int32_t axis) const { return {meta.sizes[place(axis)], host}; }

  Meta &setDType(int32_t dtype) {
    meta.dtype = dtype;
    return *this;
  }
  Meta &setShape(const std::vector<Size> &sizes) {
    if (sizes.size() > TESS_MAX_RANK)
      throw std::invalid_argument("rank must be <= 8, got " + std::to_string(sizes.size()));
    meta.rank = int32_t(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i)
      meta.sizes[i] = sizes[i].raw();
    return *this;
  }
  Meta &setSize(int32_t axis, Size size) {
    meta.sizes[place(axis)] = size.raw();
    return *this;
  }
  std::vector<Size> shape() const {
    std::vector<Size> sizes;
    for (int32_t i = 0; i < meta.rank; ++i)
      sizes.emplace_back(meta.sizes[i], host);
    return sizes;
  }
  /// The number of elements, where all sizes are known.
  int64_t elements() const {
    int64_t product = 1;
    for (const Size &size : shape())
      product *= size.number();
    return product;
  }

private:
  int32_t place(int32_t axis) const {
    const int32_t index = axis < 0 ? axis + meta.rank : axis;
    if (index < 0 || index >= meta.rank)
      throw std::invalid_argument("axis must be within rank " + std::to_string(meta.rank) + ", got " +
                                  std::to_string(axis));
    return index;
  }

  TessMeta &meta;
  const TessHost *host;
};

/// Values of parameters, by their number in the declaration.
class Parameters {
public:
  Parameters(const TessHost *host, const TessCall *call) : host(host), call(call) {}
  int64_t integer(uint32_t i) const { return host->int_of(call, i); }
  double number(uint32_t i) const { return host->float_of(call, i); }
  bool boolean(uint32_t i) const { return host->int_of(call, i) != 0; }
  std::string text(uint32_t i) const { return host->text_of(call, i); }
  std::vector<int64_t> integers(uint32_t i) const {
    uint32_t count = 0;
    const int64_t *values = host->ints_of(call, i, &count);
    return {values, values + count};
  }

protected:
  const TessHost *const host;
  const TessCall *const call;
};

/// A question about metas.
class Infer : public Parameters {
public:
  explicit Infer(const TessInfer &infer) : Parameters(infer.host, infer.call), infer(infer) {}
  uint32_t numInputs() const { return infer.num_inputs; }
  uint32_t numOutputs() const { return infer.num_outputs; }
  /// States come behind the inputs.
  Meta input(uint32_t i) const { return {infer.inputs[i], host}; }
  Meta output(uint32_t i) const { return {infer.outputs[i], host}; }
  template <typename T> T &user() const { return *static_cast<T *>(infer.user); }

private:
  const TessInfer &infer;
};

/// An operand or a result of a run.
class Tensor {
public:
  explicit Tensor(const TessTensor &tensor) : tensor(tensor) {}
  template <typename T> T *data() const { return static_cast<T *>(tensor.data); }
  int32_t dtype() const { return tensor.meta->dtype; }
  int32_t rank() const { return tensor.meta->rank; }
  int64_t size(int32_t axis) const { return tensor.meta->sizes[axis < 0 ? axis + tensor.meta->rank : axis]; }
  int64_t elements() const {
    int64_t product = 1;
    for (int32_t i = 0; i < rank(); ++i)
      product *= size(i);
    return product;
  }
  TessRequest request() const { return tensor.request; }

private:
  const TessTensor &tensor;
};

/// A run of an operator.
class Run : public Parameters {
public:
  explicit Run(const TessRun &run) : Parameters(run.host, run.call), run(run) {}
  uint32_t numInputs() const { return run.num_inputs; }
  uint32_t numOutputs() const { return run.num_outputs; }
  Tensor input(uint32_t i) const { return Tensor(run.inputs[i]); }
  Tensor output(uint32_t i) const { return Tensor(run.outputs[i]); }
  Tensor state(uint32_t i) const { return Tensor(run.states[i]); }
  bool isTraining() const { return run.is_training != 0; }
  uint64_t seed() const { return run.seed; }
  uint64_t offset() const { return run.offset; }
  template <typename T> T *workspace() const { return static_cast<T *>(run.workspace); }
  /// What the constructor of State made.
  template <typename T> T &made() const { return *static_cast<T *>(run.made); }
  /// Says how long axis 0 of an output became, whose size data decides.
  void setDataSize(uint32_t output, int64_t size) const { run.data_sizes[output] = size; }
  /// Runs body(begin, end) over parts of [0, count) on the threads of the run.
  void parallelFor(int64_t count, int64_t leastPart, const std::function<void(int64_t, int64_t)> &body) const {
    host->parallel_for(
        call, count, leastPart,
        [](void *context, int64_t begin, int64_t end) {
          (*static_cast<const std::function<void(int64_t, int64_t)> *>(context))(begin, end);
        },
        const_cast<void *>(static_cast<const void *>(&body)));
  }

private:
  const TessRun &run;
};

/// Writes, adds, or leaves an element as an output's request says.
template <typename T> inline void assign(TessRequest request, T &to, T value) {
  if (request == TESS_ADD)
    to += value;
  else if (request != TESS_NULL)
    to = value;
}

using Resources = TessResources;

/// Tells what an operator has. Its texts are kept.
class Declaration {
public:
  Declaration &name(std::string text) { return set(op.name, std::move(text)); }
  Declaration &summary(std::string text) { return set(op.summary, std::move(text)); }
  Declaration &doc(std::string text) { return set(op.doc, std::move(text)); }
  Declaration &onnx(std::string text) { return set(op.onnx, std::move(text)); }
  Declaration &flags(uint32_t flags) {
    op.flags |= flags;
    return *this;
  }
  Declaration &input(std::string name, uint32_t dtypes = kAny, uint32_t flags = 0) {
    return add(inputs, std::move(name), dtypes, flags);
  }
  Declaration &output(std::string name, uint32_t dtypes = kAny, uint32_t flags = 0) {
    return add(outputs, std::move(name), dtypes, flags);
  }
  Declaration &state(std::string name, uint32_t dtypes = kAny) { return add(states, std::move(name), dtypes, 0); }

  /// A parameter without a default must be given.
  Declaration &integer(std::string name, std::string doc, const char *byDefault = nullptr) {
    return parameter(TESS_PARAMETER_INT, std::move(name), std::move(doc), byDefault);
  }
  Declaration &number(std::string name, std::string doc, const char *byDefault = nullptr) {
    return parameter(TESS_PARAMETER_FLOAT, std::move(name), std::move(doc), byDefault);
  }
  Declaration &boolean(std::string name, std::string doc, const char *byDefault = nullptr) {
    return parameter(TESS_PARAMETER_BOOL, std::move(name), std::move(doc), byDefault);
  }
  Declaration &text(std::string name, std::string doc, const char *byDefault = nullptr) {
    return parameter(TESS_PARAMETER_TEXT, std::move(name), std::move(doc), byDefault);
  }
  Declaration &integers(std::string name, std::string doc, const char *byDefault = nullptr) {
    return parameter(TESS_PARAMETER_INTS, std::move(name), std::move(doc), byDefault);
  }
  /// Limits the last parameter, both ends included; lists what a text may be.
  Declaration &within(std::string least, std::string most) {
    set(parameters.back().least, std::move(least));
    return set(parameters.back().most, std::move(most));
  }
  Declaration &oneOf(std::initializer_list<const char *> choices) {
    lists.emplace_back(choices);
    lists.back().push_back(nullptr);
    parameters.back().choices = lists.back().data();
    return *this;
  }

  /// What backward reads, by number; without this it reads all gradients and nothing else.
  Declaration &backwardReads(std::vector<int32_t> gradients, std::vector<int32_t> ofInputs,
                             std::vector<int32_t> ofOutputs) {
    op.reads_gradients = kept(std::move(gradients));
    op.reads_inputs = kept(std::move(ofInputs));
    op.reads_outputs = kept(std::move(ofOutputs));
    return *this;
  }
  /// Lets an output take over the memory of an input.
  Declaration &inPlace(uint32_t input, uint32_t output) {
    pairs.push_back({input, output});
    return *this;
  }
  /// Lets the gradient of an input take over the memory of the value with this number that backward reads.
  Declaration &backwardInPlace(uint32_t value, uint32_t gradient) {
    backwardPairs.push_back({value, gradient});
    return *this;
  }

  /// The operator, with the functions that it has by then.
  TessOperator &finish() {
    op.size = sizeof op;
    op.inputs = inputs.data(), op.num_inputs = uint32_t(inputs.size());
    op.outputs = outputs.data(), op.num_outputs = uint32_t(outputs.size());
    op.states = states.data(), op.num_states = uint32_t(states.size());
    op.parameters = parameters.data(), op.num_parameters = uint32_t(parameters.size());
    op.inplace = pairs.data(), op.num_inplace = uint32_t(pairs.size());
    op.backward_inplace = backwardPairs.data(), op.num_backward_inplace = uint32_t(backwardPairs.size());
    return op;
  }
  TessOperator &functions() { return op; }

private:
  Declaration &set(const char *&place, std::string text) {
    texts.push_back(std::move(text));
    place = texts.back().c_str();
    return *this;
  }
  Declaration &add(std::vector<TessValue> &values, std::string name, uint32_t dtypes, uint32_t flags) {
    values.push_back({nullptr, dtypes, flags});
    return set(values.back().name, std::move(name));
  }
  Declaration &parameter(TessParameterKind kind, std::string name, std::string doc, const char *byDefault) {
    parameters.push_back({nullptr, nullptr, byDefault, nullptr, nullptr, nullptr, kind});
    set(parameters.back().name, std::move(name));
    return set(parameters.back().doc, std::move(doc));
  }
  const int32_t *kept(std::vector<int32_t> numbers) {
    numbers.push_back(-1);
    return reads.emplace_back(std::move(numbers)).data();
  }

  TessOperator op = {};
  std::deque<std::string> texts;
  std::deque<std::vector<const char *>> lists;
  std::deque<std::vector<int32_t>> reads;
  std::vector<TessValue> inputs, outputs, states;
  std::vector<TessParameter> parameters;
  std::vector<TessPair> pairs, backwardPairs;
};

/// The functions of an operator as those of C: exceptions become errors.
template <typename Op> class Adapter {
public:
  static const TessOperator *make() {
    static Declaration declaration;
    static const TessOperator *op = [] {
      Op::declare(declaration);
      TessOperator &functions = declaration.functions();
      functions.infer = [](TessInfer *i) { return guarded(*i, [&] { inferBy(*i); }); };
      functions.forward = [](const TessRun *r) { return guarded(*r, [&] { Op::forward(Run(*r)); }); };
      addOptional<Op>(functions, 0);
      addBack<Op>(functions, 0);
      addResources<Op>(functions, 0);
      addState<Op>(functions, 0);
      return &declaration.finish();
    }();
    return op;
  }

private:
  template <typename Asked, typename Body> static int guarded(const Asked &asked, const Body &body) {
    try {
      body();
      return 0;
    } catch (const OpenSize &) {
      asked.host->fail(asked.call, "sizes must be known, got open ones", 0);
      return TESS_OPEN_SIZES;
    } catch (const StateError &error) {
      asked.host->fail(asked.call, error.what(), 1);
    } catch (const std::exception &error) {
      asked.host->fail(asked.call, error.what(), 0);
    } catch (...) {
      asked.host->fail(asked.call, "an unknown exception was thrown", 1);
    }
    return 1;
  }
  static void inferBy(const TessInfer &i) {
    Infer infer(i);
    Op::infer(infer);
  }

  // Each pair: the first where Op has the function, since 0 is an int before it is a long.
  template <typename T> static auto addOptional(TessOperator &to, int) -> decltype(&T::backward, void()) {
    to.backward = [](const TessRun *r) { return guarded(*r, [&] { T::backward(Run(*r)); }); };
  }
  template <typename T> static void addOptional(TessOperator &, long) {}
  template <typename T> static auto addBack(TessOperator &to, int) -> decltype(&T::inferBack, void()) {
    to.infer_back = [](TessInfer *i) {
      return guarded(*i, [&] {
        Infer infer(*i);
        T::inferBack(infer);
      });
    };
  }
  template <typename T> static void addBack(TessOperator &, long) {}
  template <typename T> static auto addResources(TessOperator &to, int) -> decltype(&T::resources, void()) {
    to.resources = [](const TessInfer *i, int isBackward, TessResources *resources) {
      return guarded(*i, [&] { T::resources(Infer(*i), isBackward != 0, *resources); });
    };
  }
  template <typename T> static void addResources(TessOperator &, long) {}
  template <typename T> static auto addState(TessOperator &to, int) -> std::void_t<typename T::State> {
    to.create = [](const TessInfer *i, int isBackward, void **made) {
      return guarded(*i, [&] { *made = new typename T::State(Infer(*i), isBackward != 0); });
    };
    to.destroy = [](void *made) { delete static_cast<typename T::State *>(made); };
  }
  template <typename T> static void addState(TessOperator &, long) {}
};

/// A library of operators, made once.
template <typename... Ops> const TessLibrary *library(const char *name, const char *version) {
  static const TessOperator *const operators[] = {Adapter<Ops>::make()...};
  static const TessLibrary made = {sizeof(TessLibrary), TESS_CUSTOM_ABI, name, version, operators, sizeof...(Ops)};
  return &made;
}

} // namespace tessera::custom

#ifdef _WIN32
#define TESSERA_EXPORT extern "C" __declspec(dllexport)
#else
#define TESSERA_EXPORT extern "C" __attribute__((visibility("default")))
#endif

/// Exports a library: its name, its version, and its operators.
#define TESSERA_LIBRARY(NAME, VERSION, ...)                                                                            \
  TESSERA_EXPORT const TessLibrary *tessera_library(uint32_t) {                                                        \
    return ::tessera::custom::library<__VA_ARGS__>(NAME, VERSION);                                                     \
  }
