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
// exceptions. Needs C++17 and no other header but its neighbours; custom_op_abi.h crosses the border.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "custom_op_values.h"

#include <deque>
#include <exception>
#include <initializer_list>
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

  /// Says by number which values backward reads; without this it reads all gradients and nothing else.
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

/// The functions of an operator as those of C: exceptions become errors. `Library` is a type that only one file knows,
/// so that what is static here is of one library, whatever others call their classes.
template <typename Op, typename Library> class Adapter {
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
template <typename Library, typename... Ops> const TessLibrary *library(const char *name, const char *version) {
  static const TessOperator *const operators[] = {Adapter<Ops, Library>::make()...};
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
  namespace {                                                                                                          \
  struct TesseraLibrary;                                                                                               \
  }                                                                                                                    \
  TESSERA_EXPORT const TessLibrary *tessera_library(uint32_t) {                                                        \
    return ::tessera::custom::library<TesseraLibrary, __VA_ARGS__>(NAME, VERSION);                                     \
  }
